// What `import Glibc` does not show: epoll, prctl, peer credentials, errno for Embedded code, explicit_bzero.
// Header-only, so that one target serves the regular targets and the Embedded module alike.
#ifndef APPVAULT_CLINUX_H
#define APPVAULT_CLINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <malloc.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

static inline int appvault_errno(void) { return errno; }
static inline void appvault_set_errno(int value) { errno = value; }

// A plain zeroing loop is removed by the optimiser; this call stays.
static inline void appvault_wipe(void *memory, size_t count) { explicit_bzero(memory, count); }

static inline int appvault_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}
static inline int appvault_openat(int folder, const char *path, int flags, mode_t mode) {
    return openat(folder, path, flags, mode);
}
static inline int appvault_fcntl(int fd, int command, int argument) {
    return fcntl(fd, command, argument);
}

// A reader that is gone, and a limit on file sizes, are errors of one call, not the end of the daemon.
static inline void appvault_ignore_sigpipe(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
static inline long appvault_cores(void) { return sysconf(_SC_NPROCESSORS_ONLN); }
// Gives back the pages of code and constants that only the start has needed: they are files' pages, unchanged, and
// come back from the page cache when they are called for. Writable segments are not touched.
static inline int appvault_give_back_segment(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const uintptr_t page = 4096;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        uintptr_t from = (start + page - 1) & ~(page - 1);
        uintptr_t end = (start + segment->p_filesz) & ~(page - 1);
        if (end > from) madvise((void *)from, end - from, MADV_DONTNEED);
    }
    return 0;
}
// Gives free heap back and takes room for so much, in one piece. It costs no memory until it is used; without it malloc
// asks the kernel for more again and again while there is much to do, and waits for the memory map each time.
static inline void appvault_give_back_heap(size_t room) {
    malloc_trim(0);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, (int)(2 * room));
    mallopt(M_MMAP_MAX, 0);
    void *volatile taken = malloc(room);
    free(taken);
    mallopt(M_MMAP_MAX, 65536);
}
static inline void appvault_give_back_freed(void) { malloc_trim(0); }
static inline void appvault_give_back_code(void) { dl_iterate_phdr(appvault_give_back_segment, NULL); }
static inline void appvault_give_back(size_t room) {
    appvault_give_back_code();
    appvault_give_back_heap(room);
}

static inline int appvault_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
static inline int appvault_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
// How long the calling thread likes to run at a time, in nanoseconds: with a shorter slice it is let in sooner, with a
// longer one it lets others in. Its share of the processor stays the same. Kernels before 6.12 take no notice.
static inline void appvault_slice(uint64_t nanoseconds) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = 48, .runtime = nanoseconds};
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static inline int appvault_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

// The peer of a connected Unix socket, as the kernel saw it at connect (or at listen, for a client that asks).
struct appvault_peer {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};
static inline int appvault_peer_of(int fd, struct appvault_peer *peer) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
    peer->pid = credentials.pid;
    peer->uid = credentials.uid;
    peer->gid = credentials.gid;
    return 0;
}

// A descriptor of the very process that connected, whatever becomes of its pid; Linux 6.5 and later, else -1.
static inline int appvault_peer_process(int fd) {
    int process = -1;
    socklen_t size = sizeof process;
    // SO_PEERPIDFD, which older headers do not have.
    if (getsockopt(fd, SOL_SOCKET, 77, &process, &size) != 0) return -1;
    return process;
}

// Whether the process of such a descriptor has ended.
static inline int appvault_process_ended(int process) {
    struct pollfd wait = {.fd = process, .events = POLLIN};
    return poll(&wait, 1, 0) != 0;
}

// Whether the other end of a socket is closed, and not only done with sending.
static inline int appvault_hung_up(int fd) {
    struct pollfd wait = {.fd = fd, .events = 0};
    return poll(&wait, 1, 0) != 0 && (wait.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

// A Unix address from a path; -1 where it does not fit (108 bytes with the final NUL).
static inline int appvault_unix_address(const char *path, struct sockaddr_un *address, socklen_t *size) {
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address->sun_path) return -1;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, length + 1);
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    return 0;
}
static inline int appvault_connect(int fd, const struct sockaddr_un *address, socklen_t size) {
    return connect(fd, (const struct sockaddr *)address, size);
}
static inline int appvault_bind(int fd, const struct sockaddr_un *address, socklen_t size) {
    return bind(fd, (const struct sockaddr *)address, size);
}

// epoll_event holds a union, which Swift can only reach unsafely: here it is a descriptor and its events.
struct appvault_event {
    int32_t fd;
    uint32_t events;
};
enum { APPVAULT_EVENTS = 128 };
static inline int appvault_epoll_add(int poll, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = fd}};
    return epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event);
}
static inline int appvault_epoll_change(int poll, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = fd}};
    return epoll_ctl(poll, EPOLL_CTL_MOD, fd, &event);
}
static inline int appvault_epoll_remove(int poll, int fd) {
    return epoll_ctl(poll, EPOLL_CTL_DEL, fd, NULL);
}
static inline int appvault_epoll_wait(int poll, struct appvault_event *found, int timeout) {
    struct epoll_event events[APPVAULT_EVENTS];
    int count = epoll_wait(poll, events, APPVAULT_EVENTS, timeout);
    for (int i = 0; i < count; i++) {
        found[i].fd = events[i].data.fd;
        found[i].events = events[i].events;
    }
    return count;
}
static inline int appvault_wakeup(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
static inline void appvault_wake(int fd) {
    uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}
static inline void appvault_woken(int fd) {
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
}
// What a channel waits for: edges of what is to be read and the peer's leaving; those of room as well where a writer waits.
static const uint32_t APPVAULT_EDGES = EPOLLIN | EPOLLRDHUP | EPOLLET;
static const uint32_t APPVAULT_BOTH_EDGES = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
static const uint32_t APPVAULT_READABLE = EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR;
static const uint32_t APPVAULT_WRITABLE = EPOLLOUT | EPOLLHUP | EPOLLERR;
static const uint32_t APPVAULT_HANGUP = EPOLLRDHUP | EPOLLHUP | EPOLLERR;

static inline int appvault_inotify(void) { return inotify_init1(IN_CLOEXEC | IN_NONBLOCK); }
// What may be another text under the same name; a writer that is not done yet (IN_MODIFY) is told apart.
static const uint32_t APPVAULT_WATCHED = IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                         IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
// What makes a name be there or not.
static const uint32_t APPVAULT_COMING = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
// A timer of the boot clock: it has fired when a machine wakes up after its moment.
static inline int appvault_boot_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }
// At that moment of the boot clock; 0 for never.
static inline int appvault_boot_timer_set(int fd, uint64_t milliseconds) {
    struct itimerspec at = {.it_value = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000}};
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static inline int appvault_accept(int fd) {
    return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}
// A peer that is gone is an error, never SIGPIPE.
static inline ssize_t appvault_send(int fd, const void *bytes, size_t count) {
    return send(fd, bytes, count, MSG_NOSIGNAL);
}
static inline int appvault_unix_socket(void) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static inline uint64_t appvault_clock_ms(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static inline uint64_t appvault_clock_ns(clockid_t clock) {
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// A file of memory that the kernel takes out of its own map: only a process that maps it reads it. -1 where the kernel has
// none to give. Its number, which older headers do not have, is the same on all machines that we know.
static inline int appvault_secret_file(size_t size) {
    int fd = (int)syscall(447, O_CLOEXEC);
    if (fd < 0) return -1;
    if (size == 0 || ftruncate(fd, (off_t)size) == 0) return fd;
    int failed = errno;
    close(fd);
    errno = failed;
    return -1;
}
// The size of such a file if this process's user has made it; -1 for any other descriptor. Once set it never changes.
static inline int64_t appvault_secret_file_size(int fd) {
    struct stat facts;
    struct statfs kind;
    if (fstatfs(fd, &kind) != 0 || kind.f_type != 0x5345434d) return -1;
    if (fstat(fd, &facts) != 0 || facts.st_uid != geteuid()) return -1;
    return facts.st_size;
}
static inline void *appvault_secret_file_map(int fd, size_t size) {
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return start == MAP_FAILED ? NULL : start;
}

// Pages for a secret: locked where the limit allows it, kept out of core files and children; NULL where there are none.
static inline void *appvault_secret_map(size_t size) {
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return NULL;
    (void)mlock(pages, size);
    (void)madvise(pages, size, MADV_DONTDUMP);
    return pages;
}
static inline void appvault_secret_unmap(void *pages, size_t used, size_t size) {
    explicit_bzero(pages, used);
    (void)munmap(pages, size);
}

// Zeroes that cost memory only where they are used, kept out of core files, and locked where the limit allows it.
static inline void *appvault_locked_map(size_t size) {
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    (void)madvise(start, size, MADV_DONTDUMP);
    (void)mlock2(start, size, MLOCK_ONFAULT);
    return start;
}

// Room for the stacks of threads, one above another, each with a page below it that ends the process when it is touched.
static inline void *appvault_stacks(size_t size, size_t count) {
    const size_t page = 4096;
    char *start = mmap(NULL, count * (size + page), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (start == MAP_FAILED) return NULL;
    for (size_t number = 0; number < count; number++) (void)mprotect(start + number * (size + page), page, PROT_NONE);
    return start + page;
}
// A NULL stack lets the thread bring its own.
static inline int appvault_start_thread(void *stack, size_t size, void *(*body)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return -1;
    int failed = stack ? pthread_attr_setstack(&attributes, stack, size) : 0;
    if (failed == 0) failed = pthread_create(&thread, &attributes, body, argument);
    (void)pthread_attr_destroy(&attributes);
    return failed;
}
// What the calling thread has left on its stack goes, and its pages with it, down to a little below where it is now.
static inline void appvault_clear_stack(void *stack) {
    const uintptr_t page = 4096, here = (uintptr_t)__builtin_frame_address(0) & ~(page - 1);
    if (here > (uintptr_t)stack + page) (void)madvise(stack, here - page - (uintptr_t)stack, MADV_DONTNEED);
}

// Rows of memory with a page between them that no code may touch, in one piece, kept out of core files. It is locked, but
// a page costs memory only from its first use on. NULL where it cannot be made or not be locked.
static inline void *appvault_guarded_rows(size_t row, size_t rows) {
    const size_t page = 4096, size = rows * (row + page) + page;
    char *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return NULL;
    int failed = madvise(start, size, MADV_DONTDUMP);
    for (size_t number = 0; number <= rows && failed == 0; number++)
        failed = mprotect(start + number * (row + page), page, PROT_NONE);
    if (failed == 0) failed = mlock2(start, size, MLOCK_ONFAULT);
    if (failed == 0) return start + page;
    (void)munmap(start, size);
    return NULL;
}

// How long a blocking connect, send or receive on a socket may take.
static inline int appvault_socket_waits(int fd, int milliseconds) {
    struct timeval wait = {milliseconds / 1000, (milliseconds % 1000) * 1000};
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) != 0) return -1;
    return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

static inline int appvault_columns(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
static inline int appvault_rows(int fd) {
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}
// Each key as it is pressed and none shown; Ctrl-C, Ctrl-backslash and Ctrl-Z stay signals.
static inline void appvault_key_by_key(struct termios *settings) {
    settings->c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
    settings->c_lflag |= ISIG;
    settings->c_iflag |= ICRNL;
    settings->c_cc[VMIN] = 1;
    settings->c_cc[VTIME] = 0;
}
// The signals that would leave a terminal without echo, but for those that whoever started us has ignored.
static inline void appvault_prompt_signals(sigset_t *set) {
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(set, signals[i]);
    }
}
static inline int appvault_next_signal(int fd) {
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}
// A server that is a process a connection, and whose processes end with it.
static inline int appvault_fork(void) { return fork(); }
static inline void appvault_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }
static inline int appvault_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }
// polkit's agent for a terminal, which asks for this process; -1 where there is none. It closes `ready` once it asks, and
// ends with this process. A desktop's own agent goes before it.
static inline pid_t appvault_start_polkit_agent(int ready) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    char number[16];
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() == parent && fcntl(ready, F_SETFD, 0) == 0) {
        snprintf(number, sizeof number, "%d", ready);
        execl("/usr/bin/pkttyagent", "pkttyagent", "--notify-fd", number, "--fallback", (char *)NULL);
    }
    _exit(127);
}
// The signals that a program which waits for another does not take for itself. What stops a job at a terminal stops both,
// and what says that we are broken ends us.
static inline void appvault_hold_signals(sigset_t *held, sigset_t *before) {
    static const int ours[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigfillset(held);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) sigdelset(held, ours[i]);
    pthread_sigmask(SIG_BLOCK, held, before);
}
// Whoever ignores the end of its children, and has become us, would keep it from us too. True if that was so.
static inline int appvault_hear_of_children(void) {
    struct sigaction before, usual = {.sa_handler = SIG_DFL};
    return sigaction(SIGCHLD, &usual, &before) == 0 && before.sa_handler == SIG_IGN;
}
// Starts a command with the signals and the core limit that whoever started us had. `failure` is the end of a pipe: it
// gets errno if the command could not be executed, and is closed by the execution if it could. Where `output` is not -1,
// all that the command writes goes there, signals of the terminal pass it by, and it is told to end when we have ended.
static inline pid_t appvault_start_command(char *const arguments[], const sigset_t *signals, int ignores_children,
                                           const struct rlimit *core, int output, int failure) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    setrlimit(RLIMIT_CORE, core);
    if (output >= 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
        if (getppid() != parent) _exit(127);
        setpgid(0, 0);
        // What came for us before is not for this command.
        for (int number = 1; number < NSIG; number++) {
            struct sigaction usual, ignored = {.sa_handler = SIG_IGN};
            if (sigaction(number, &ignored, &usual) == 0) sigaction(number, &usual, NULL);
        }
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
    } else if (ignores_children) {
        signal(SIGCHLD, SIG_IGN);
    }
    sigprocmask(SIG_SETMASK, signals, NULL);
    execvp(arguments[0], arguments);
    int number = errno;
    (void)!write(failure, &number, sizeof number);
    _exit(127);
}
// The same, without a process of its own: this one becomes the command. Returns errno if it cannot.
static inline int appvault_become_command(char *const arguments[], const sigset_t *signals, int ignores_children,
                                          const struct rlimit *core) {
    struct rlimit none;
    sigset_t held;
    getrlimit(RLIMIT_CORE, &none);
    setrlimit(RLIMIT_CORE, core);
    if (ignores_children) signal(SIGCHLD, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, signals, &held);
    execvp(arguments[0], arguments);
    int number = errno;
    pthread_sigmask(SIG_SETMASK, &held, NULL);
    setrlimit(RLIMIT_CORE, &none);
    return number;
}
// A file in memory that a command inherits.
static inline int appvault_sealable_file(void) {
    return memfd_create("appvault", MFD_ALLOW_SEALING);
}
static inline int appvault_seal_file(int fd) {
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}
// What a command leaves running becomes our child, not init's, so that we see its end.
static inline int appvault_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
// The next signal, and whether a process sent it; the kernel's come from the terminal.
static inline int appvault_sent_signal(int fd, int *is_sent) {
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof info) != (ssize_t)sizeof info) return 0;
    *is_sent = info.ssi_code <= 0;
    return (int)info.ssi_signo;
}
// Programs expect their first three descriptors; without them, one of ours would be taken for the output.
static inline void appvault_fill_standard_descriptors(void) {
    int number;
    do number = open("/dev/null", O_RDWR);
    while (number >= 0 && number <= 2);
    if (number > 2) close(number);
}
// A program that this process talks to by two pipes. It gets nothing else of ours, leads a group of its own, and the kernel
// ends it with us, also if we have ended already by then. `failure` as above.
static inline pid_t appvault_start_piped(
    const char *path, const char *argument, char *const environment[], int input, int output, int third, int failure) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    char *const arguments[] = {(char *)path, (char *)argument, NULL};
    sigset_t none;
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(input, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    // What whoever started us has left open is not for this program.
    syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
    if (third >= 0) {
        if (failure == 3) failure = fcntl(failure, F_DUPFD_CLOEXEC, 4);
        if (third == 3) fcntl(third, F_SETFD, 0); else dup2(third, 3);
    }
    execve(path, arguments, environment);
    int number = errno;
    (void)!write(failure, &number, sizeof number);
    _exit(127);
}
// A program that writes into `output` and reads nothing. It stays in this process's group, so that Ctrl-C reaches both;
// what it says of errors is dropped. `terminal` is for GnuPG, whose agent asks there.
static inline pid_t appvault_start_writing(char *const arguments[], const char *terminal, int output, int failure) {
    pid_t parent = getpid(), child = fork();
    if (child != 0) return child;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != parent) _exit(127);
    dup2(nothing, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    syscall(SYS_close_range, 3u, ~0u, CLOSE_RANGE_CLOEXEC);
    if (terminal) setenv("GPG_TTY", terminal, 0);
    execv(arguments[0], arguments);
    int number = errno;
    (void)!write(failure, &number, sizeof number);
    _exit(127);
}
static inline int appvault_is_device(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode);
}
static inline int appvault_is_executable(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}
// How a process ended, as a shell says it.
static inline int appvault_ended_by_signal(int status) { return WIFSIGNALED(status); }
static inline int appvault_exit_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
static inline int appvault_unnamed_file(void) { return O_TMPFILE; }

#endif
