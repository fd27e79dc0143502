// What a worker takes away from itself, one that runs an administrator's pattern, one that hears readers and one that
// asks a server: limits, Landlock, a system-call filter. Header-only and without a library: the filter is small enough to be read here, whole.
#ifndef APPVAULT_SANDBOX_H
#define APPVAULT_SANDBOX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

// Root is nobody from here on; 0, or -1 with errno.
static inline int appvault_become_nobody(void) {
    const uid_t nobody = 65534;
    if (geteuid() != 0) return 0;
    if (setgroups(0, NULL) != 0) return -1;
    if (setresgid(nobody, nobody, nobody) != 0) return -1;
    return setresuid(nobody, nobody, nobody);
}

// The connection is the only descriptor that stays, beside three that lead nowhere.
static inline int appvault_only_descriptor(int fd) {
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (none < 0) return -1;
    for (int number = 0; number < 3; number++)
        if (number != fd && dup2(none, number) < 0) return -1;
    if (fd > 3 && syscall(SYS_close_range, 3, fd - 1, 0) != 0) return -1;
    return (int)syscall(SYS_close_range, fd < 3 ? 3 : fd + 1, ~0U, 0);
}

// Standard input and output stay, and nothing else.
static inline int appvault_picture_descriptors(void) {
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (none < 0 || dup2(none, STDERR_FILENO) < 0) return -1;
    return (int)syscall(SYS_close_range, 3, ~0U, 0);
}

static inline int appvault_limit(int which, rlim_t most) {
    struct rlimit limit = {most, most};
    return setrlimit(which, &limit);
}

// One second of the clock and of the processor, and no more of anything else than one candidate needs.
static inline int appvault_limits(void) {
    // Whoever started us may have had these ignored or blocked, and then the second would never end.
    sigset_t none;
    sigemptyset(&none);
    signal(SIGALRM, SIG_DFL);
    signal(SIGXCPU, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_SETMASK, &none, NULL) != 0) return -1;
    struct itimerval second = {{0, 0}, {1, 0}};
    if (setitimer(ITIMER_REAL, &second, NULL) != 0) return -1;
    if (appvault_limit(RLIMIT_CPU, 1) != 0) return -1;
    if (appvault_limit(RLIMIT_AS, 256u << 20) != 0) return -1;
    if (appvault_limit(RLIMIT_NPROC, 0) != 0) return -1;
    if (appvault_limit(RLIMIT_FSIZE, 0) != 0) return -1;
    if (appvault_limit(RLIMIT_NOFILE, 16) != 0) return -1;
    if (appvault_limit(RLIMIT_CORE, 0) != 0) return -1;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Debian 12's headers know Landlock's first version only; the kernel says which one it has.
struct appvault_landlock {
    uint64_t files, network, scopes;
};
struct __attribute__((packed)) appvault_landlock_path {
    uint64_t access;
    int32_t folder;
};

// Files may be read below `folders` (ended by NULL) and nothing else is left of the file system, of TCP, and of other
// processes' abstract sockets and signals. 1 where there is no Landlock to be had, 0, or -1 with errno.
static inline int appvault_landlock(const char *const *folders) {
    const int create = 444, add = 445, restrict_self = 446;
    const uint64_t read_file = 1u << 2;
    long version = syscall(create, NULL, 0, 1u);
    // A container's own filter answers EPERM for what it has never heard of, as systemd-nspawn's does.
    if (version < 0) return errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM ? 1 : -1;
    struct appvault_landlock rules = {
        .files = version < 2 ? 0x1FFF : version < 3 ? 0x3FFF : version < 5 ? 0x7FFF : 0xFFFF,
        .network = version < 4 ? 0 : 3,
        .scopes = version < 6 ? 0 : 3,
    };
    size_t size = version < 4 ? 8 : version < 6 ? 16 : 24;
    int ruleset = (int)syscall(create, &rules, size, 0);
    if (ruleset < 0) return -1;
    for (; *folders; folders++) {
        int folder = open(*folders, O_PATH | O_CLOEXEC | O_DIRECTORY);
        if (folder < 0) continue;
        struct appvault_landlock_path path = {read_file, folder};
        long added = syscall(add, ruleset, 1, &path, 0);
        close(folder);
        if (added != 0) {
            close(ruleset);
            return -1;
        }
    }
    long entered = syscall(restrict_self, ruleset, 0);
    close(ruleset);
    return entered == 0 ? 0 : -1;
}

#if defined(__x86_64__)
#define APPVAULT_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define APPVAULT_ARCH AUDIT_ARCH_AARCH64
#endif

#define APPVAULT_LOW(field) offsetof(struct seccomp_data, field)
#define APPVAULT_ALLOW(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
// Allowed where none of `bits` is set in the argument; refused otherwise. The low half is what the kernel looks at too.
#define APPVAULT_ALLOW_WITHOUT(number, argument, bits)                          \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),                          \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[argument])),       \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0),                       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define APPVAULT_ALLOW_EQUAL(number, argument, value)                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),                          \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[argument])),       \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, 1),           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
// Another architecture's numbers mean other calls.
#define APPVAULT_OURS                                                           \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(arch)),                     \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, APPVAULT_ARCH, 1, 0),               \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),                    \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(nr))

static inline int appvault_filter(struct sock_filter *code, size_t count) {
    struct sock_fprog program = {(unsigned short)count, code};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

// So many seconds of the clock and of the processor, and room for one large picture or a few frames. It ends with who has
// started it.
static inline int appvault_picture_limits(pid_t parent, unsigned most, unsigned processor) {
    sigset_t none;
    // The kernel drops this where a process becomes somebody else, and who has started this one may have gone already.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) return -1;
    sigemptyset(&none);
    signal(SIGALRM, SIG_DFL);
    signal(SIGXCPU, SIG_DFL);
    if (sigprocmask(SIG_SETMASK, &none, NULL) != 0) return -1;
    alarm(most);
    if (appvault_limit(RLIMIT_CPU, processor) != 0) return -1;
    if (appvault_limit(RLIMIT_AS, (rlim_t)768 << 20) != 0) return -1;
    if (appvault_limit(RLIMIT_CORE, 0) != 0) return -1;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// What may still be called: memory that is not code, reading, writing to the one connection, the clock, the end.
// Everything else, and what later kernels bring, is refused: sockets, files for writing, programs, processes, threads,
// tracing, signals.
static inline int appvault_seccomp(int connection) {
#ifdef APPVAULT_ARCH
    // Landlock does not look at O_PATH.
    const uint32_t more = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE | O_DIRECTORY | O_PATH;
    struct sock_filter code[] = {
        APPVAULT_OURS,
        APPVAULT_ALLOW(SYS_read),
        APPVAULT_ALLOW(SYS_pread64),
        APPVAULT_ALLOW(SYS_lseek),
        APPVAULT_ALLOW(SYS_close),
        APPVAULT_ALLOW(SYS_newfstatat),
        APPVAULT_ALLOW(SYS_fstat),
        APPVAULT_ALLOW_WITHOUT(SYS_openat, 2, more),
        APPVAULT_ALLOW_WITHOUT(SYS_mmap, 2, PROT_EXEC),
        APPVAULT_ALLOW_WITHOUT(SYS_mprotect, 2, PROT_EXEC),
        APPVAULT_ALLOW(SYS_munmap),
        APPVAULT_ALLOW(SYS_mremap),
        APPVAULT_ALLOW(SYS_madvise),
        APPVAULT_ALLOW(SYS_mlock),
        APPVAULT_ALLOW(SYS_brk),
        APPVAULT_ALLOW(SYS_futex),
        APPVAULT_ALLOW(SYS_getrandom),
        APPVAULT_ALLOW(SYS_clock_gettime),
        APPVAULT_ALLOW(SYS_getuid),
        APPVAULT_ALLOW(SYS_rt_sigreturn),
        APPVAULT_ALLOW(SYS_exit),
        APPVAULT_ALLOW(SYS_exit_group),
        APPVAULT_ALLOW(SYS_seccomp),
        APPVAULT_ALLOW_EQUAL(SYS_sendto, 0, connection),
        APPVAULT_ALLOW_EQUAL(SYS_recvfrom, 0, connection),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return appvault_filter(code, sizeof code / sizeof code[0]);
#else
    (void)connection;
    errno = ENOSYS;
    return -1;
#endif
}

// What decoding takes: memory that is not code, the clock, the end.
#define APPVAULT_DECODING                                 \
    APPVAULT_ALLOW(SYS_fstat),                            \
    APPVAULT_ALLOW_WITHOUT(SYS_mmap, 2, PROT_EXEC),       \
    APPVAULT_ALLOW_WITHOUT(SYS_mprotect, 2, PROT_EXEC),   \
    APPVAULT_ALLOW(SYS_munmap),                           \
    APPVAULT_ALLOW(SYS_mremap),                           \
    APPVAULT_ALLOW(SYS_madvise),                          \
    APPVAULT_ALLOW(SYS_brk),                              \
    APPVAULT_ALLOW(SYS_futex),                            \
    APPVAULT_ALLOW(SYS_getrandom),                        \
    APPVAULT_ALLOW(SYS_clock_gettime),                    \
    APPVAULT_ALLOW(SYS_rt_sigreturn),                     \
    APPVAULT_ALLOW(SYS_exit),                             \
    APPVAULT_ALLOW(SYS_exit_group)

// Whoever decodes a stranger's picture reads it, has memory, and writes to standard output. There are no files: whoever
// asks for one hears that it is not there, as zbar and libc do for character sets.
static inline int appvault_picture_seccomp(void) {
#ifdef APPVAULT_ARCH
    struct sock_filter code[] = {
        APPVAULT_OURS,
        APPVAULT_ALLOW_EQUAL(SYS_read, 0, STDIN_FILENO),
        APPVAULT_ALLOW_EQUAL(SYS_write, 0, STDOUT_FILENO),
        APPVAULT_DECODING,
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
#else
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return appvault_filter(code, sizeof code / sizeof code[0]);
#else
    errno = ENOSYS;
    return -1;
#endif
}

#define APPVAULT_REFUSE(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
// Refused where the bits are set in the argument, or where they are not.
#define APPVAULT_REFUSE_IF(number, argument, bits, set)                         \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),                          \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[argument])),       \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, (set) ? 0 : 1, (set) ? 1 : 0), \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),                   \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define APPVAULT_REFUSE_WITH(number, argument, bits) APPVAULT_REFUSE_IF(number, argument, bits, 1)
#define APPVAULT_REFUSE_WITHOUT(number, argument, bits) APPVAULT_REFUSE_IF(number, argument, bits, 0)

static inline int appvault_libraries_limits(void) {
    // A file of the disk cannot grow; devices and sockets are none.
    if (appvault_limit(RLIMIT_FSIZE, 0) != 0) return -1;
    if (appvault_limit(RLIMIT_CORE, 0) != 0) return -1;
    if (appvault_limit(RLIMIT_NOFILE, 256) != 0) return -1;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

// Which sockets a worker may make. Drivers hear the kernel by netlink. With paths of their own tests play readers. Who
// asks a server asks libc for its address first, which may ask the kernel or a service of the machine.
enum appvault_sockets { APPVAULT_NETLINK, APPVAULT_OWN_PATHS, APPVAULT_INTERNET };

// Which calls a driver, libusb, NSS, GLib and OpenSSL make differs from machine to machine, and most readers cannot be
// tried here: so the filter names what none of them has a use for, and the unit names what is allowed.
static inline int appvault_libraries_seccomp(enum appvault_sockets sockets) {
#ifdef APPVAULT_ARCH
    const uint32_t making = O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
    const uint32_t none = 0x3FFFFFFF;
    const int with_internet = sockets == APPVAULT_INTERNET, removes = sockets == APPVAULT_OWN_PATHS;
    const int with_paths = with_internet || removes;
    struct sock_filter code[] = {
        APPVAULT_OURS,
#if defined(__x86_64__)
        // x32: the same calls under other numbers.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        // Older ways to do what is refused below.
        APPVAULT_REFUSE(SYS_fork),
        APPVAULT_REFUSE(SYS_vfork),
        APPVAULT_REFUSE(SYS_creat),
        APPVAULT_REFUSE(SYS_mkdir),
        APPVAULT_REFUSE(SYS_rmdir),
        APPVAULT_REFUSE(SYS_rename),
        APPVAULT_REFUSE(SYS_link),
        APPVAULT_REFUSE(SYS_symlink),
        APPVAULT_REFUSE(SYS_mknod),
        APPVAULT_REFUSE(SYS_chmod),
        APPVAULT_REFUSE(SYS_chown),
        APPVAULT_REFUSE(SYS_lchown),
        APPVAULT_REFUSE_WITH(SYS_open, 1, making),
#endif
        // Programs and processes; a thread is none.
        APPVAULT_REFUSE(SYS_execve),
        APPVAULT_REFUSE(SYS_execveat),
        APPVAULT_REFUSE_WITHOUT(SYS_clone, 0, CLONE_THREAD),
        // Its flags are in memory, where a filter cannot look: glibc goes on with clone.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        // Others' memory and lives. glibc's abort signals by tgkill.
        APPVAULT_REFUSE(SYS_ptrace),
        APPVAULT_REFUSE(SYS_process_vm_readv),
        APPVAULT_REFUSE(SYS_process_vm_writev),
        APPVAULT_REFUSE(SYS_kill),
        APPVAULT_REFUSE(SYS_tkill),
        APPVAULT_REFUSE(SYS_pidfd_open),
        // glibc asks for its own.
        APPVAULT_REFUSE_WITH(SYS_prlimit64, 0, 0xFFFFFFFF),
        APPVAULT_REFUSE(SYS_setrlimit),
        // The file system.
        APPVAULT_REFUSE_WITH(SYS_openat, 2, making),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        APPVAULT_REFUSE(SYS_mkdirat),
        APPVAULT_REFUSE(SYS_renameat),
        APPVAULT_REFUSE(SYS_renameat2),
        APPVAULT_REFUSE(SYS_linkat),
        APPVAULT_REFUSE(SYS_symlinkat),
        APPVAULT_REFUSE(SYS_mknodat),
        APPVAULT_REFUSE(SYS_fchmodat),
        APPVAULT_REFUSE(SYS_fchmod),
        APPVAULT_REFUSE(SYS_fchownat),
        APPVAULT_REFUSE(SYS_fchown),
        APPVAULT_REFUSE(SYS_truncate),
        APPVAULT_REFUSE(SYS_ftruncate),
        APPVAULT_REFUSE(SYS_fallocate),
        APPVAULT_REFUSE(SYS_setxattr),
        APPVAULT_REFUSE(SYS_lsetxattr),
        APPVAULT_REFUSE(SYS_fsetxattr),
        APPVAULT_REFUSE(SYS_mount),
        APPVAULT_REFUSE(SYS_umount2),
        APPVAULT_REFUSE(SYS_pivot_root),
        APPVAULT_REFUSE(SYS_chroot),
        APPVAULT_REFUSE(SYS_unshare),
        APPVAULT_REFUSE(SYS_setns),
        // The kernel's own surfaces.
        APPVAULT_REFUSE(SYS_bpf),
        APPVAULT_REFUSE(SYS_perf_event_open),
        APPVAULT_REFUSE(SYS_io_uring_setup),
        APPVAULT_REFUSE(SYS_userfaultfd),
        APPVAULT_REFUSE(SYS_keyctl),
        APPVAULT_REFUSE(SYS_add_key),
        APPVAULT_REFUSE(SYS_request_key),
        APPVAULT_REFUSE(SYS_init_module),
        APPVAULT_REFUSE(SYS_finit_module),
        APPVAULT_REFUSE(SYS_delete_module),
        APPVAULT_REFUSE(SYS_kexec_load),
        APPVAULT_REFUSE(SYS_reboot),
        APPVAULT_REFUSE(SYS_swapon),
        APPVAULT_REFUSE(SYS_settimeofday),
        APPVAULT_REFUSE(SYS_clock_settime),
        APPVAULT_REFUSE(SYS_clock_adjtime),
        APPVAULT_REFUSE(SYS_memfd_create),
        APPVAULT_REFUSE(SYS_seccomp),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_DUMPABLE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        // Who we are.
        APPVAULT_REFUSE(SYS_setuid),
        APPVAULT_REFUSE(SYS_setresuid),
        APPVAULT_REFUSE(SYS_setgid),
        APPVAULT_REFUSE(SYS_setresgid),
        APPVAULT_REFUSE(SYS_setgroups),
        APPVAULT_REFUSE(SYS_capset),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_paths ? AF_UNIX : AF_NETLINK, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_internet ? AF_INET : AF_NETLINK, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_internet ? AF_INET6 : AF_NETLINK, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        // Whoever has nothing to connect to does not, and only paths of one's own are to be removed.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, with_paths ? none : SYS_connect, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, removes ? none : SYS_unlinkat, 1, 0),
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, removes ? none : SYS_unlink, 0, 1),
#else
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, none, 0, 1),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return appvault_filter(code, sizeof code / sizeof code[0]);
#else
    (void)sockets;
    errno = ENOSYS;
    return -1;
#endif
}

// A keeper of keys starts no program and no process, and looks into nobody's memory; a thread is no process. systemd
// cannot refuse execve itself, which is how it starts us.
static inline int appvault_keeper_seccomp(void) {
#ifdef APPVAULT_ARCH
    struct sock_filter code[] = {
        APPVAULT_OURS,
#if defined(__x86_64__)
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        APPVAULT_REFUSE(SYS_fork),
        APPVAULT_REFUSE(SYS_vfork),
#endif
        APPVAULT_REFUSE(SYS_execve),
        APPVAULT_REFUSE(SYS_execveat),
        APPVAULT_REFUSE_WITHOUT(SYS_clone, 0, CLONE_THREAD),
        // Its flags are in memory, where a filter cannot look: glibc goes on with clone.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        APPVAULT_REFUSE(SYS_ptrace),
        APPVAULT_REFUSE(SYS_process_vm_readv),
        APPVAULT_REFUSE(SYS_process_vm_writev),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return appvault_filter(code, sizeof code / sizeof code[0]);
#else
    return 0;
#endif
}

// The last filter: no further one, and no file either where no rule needs a dictionary.
static inline int appvault_seccomp_last(int files) {
#ifdef APPVAULT_ARCH
    struct sock_filter code[] = {
        APPVAULT_OURS,
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, files ? SYS_seccomp : SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    return appvault_filter(code, sizeof code / sizeof code[0]);
#else
    (void)files;
    errno = ENOSYS;
    return -1;
#endif
}

#endif
