// What a worker may still do that looks through a camera: the calls of a picture's worker, and of video devices what reading
// frames takes, on the one descriptor that it was given.
#ifndef APPVAULT_CAMERA_SANDBOX_H
#define APPVAULT_CAMERA_SANDBOX_H

#include <linux/videodev2.h>
#include <poll.h>

#include "sandbox.h"

// Standard input is the camera, standard output what was read; the third is for a preview, and may be none.
enum { APPVAULT_PREVIEW = 3 };

static inline int appvault_camera_descriptors(int previews) {
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (none < 0 || dup2(none, STDERR_FILENO) < 0) return -1;
    if (previews) {
        // Whoever looks at it may be slow: then it gets fewer.
        int flags = fcntl(APPVAULT_PREVIEW, F_GETFL);
        if (flags < 0 || fcntl(APPVAULT_PREVIEW, F_SETFL, flags | O_NONBLOCK) != 0) return -1;
    }
    signal(SIGPIPE, SIG_IGN);
    return (int)syscall(SYS_close_range, previews ? APPVAULT_PREVIEW + 1 : APPVAULT_PREVIEW, ~0U, 0);
}

// One after the other: none of them sets what outlives the descriptor but the format.
#define APPVAULT_CAMERA_CALL(number) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static inline int appvault_camera_seccomp(void) {
#ifdef APPVAULT_ARCH
    struct sock_filter code[] = {
        APPVAULT_OURS,
        APPVAULT_ALLOW_EQUAL(SYS_write, 0, STDOUT_FILENO),
        APPVAULT_ALLOW_EQUAL(SYS_writev, 0, APPVAULT_PREVIEW),
        APPVAULT_DECODING,
        APPVAULT_ALLOW(SYS_rt_sigprocmask),
        APPVAULT_ALLOW(SYS_ppoll),
#if defined(__x86_64__)
        APPVAULT_ALLOW(SYS_poll),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 1, 0),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOENT),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, STDIN_FILENO, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, APPVAULT_LOW(args[1])),
        APPVAULT_CAMERA_CALL(VIDIOC_QUERYCAP),
        APPVAULT_CAMERA_CALL(VIDIOC_ENUM_FMT),
        APPVAULT_CAMERA_CALL(VIDIOC_S_FMT),
        APPVAULT_CAMERA_CALL(VIDIOC_REQBUFS),
        APPVAULT_CAMERA_CALL(VIDIOC_QUERYBUF),
        APPVAULT_CAMERA_CALL(VIDIOC_QBUF),
        APPVAULT_CAMERA_CALL(VIDIOC_DQBUF),
        APPVAULT_CAMERA_CALL(VIDIOC_STREAMON),
        APPVAULT_CAMERA_CALL(VIDIOC_STREAMOFF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    return appvault_filter(code, sizeof code / sizeof code[0]);
#else
    errno = ENOSYS;
    return -1;
#endif
}

#endif
