// What a process that runs an administrator's pattern over a passcode takes away from itself: limits, Landlock, a
// system-call filter. Header-only and without a library: the filter is small enough to be read here, whole.
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
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
// processes' abstract sockets and signals. 1 where the kernel has no Landlock, 0, or -1 with errno.
static inline int appvault_landlock(const char *const *folders) {
    const int create = 444, add = 445, restrict_self = 446;
    const uint64_t read_file = 1u << 2;
    long version = syscall(create, NULL, 0, 1u);
    if (version < 0) return errno == ENOSYS || errno == EOPNOTSUPP ? 1 : -1;
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
