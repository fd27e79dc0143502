// A camera at standard input where there is none: it plays the frames of a file, in the kernel's words (V4L2), and lies as
// the test wants it. The file is read before the program gives up its rights.
//
//     CAMERA_FRAMES   a line `FOURCC WIDTH HEIGHT STRIDE COUNT`, and behind it COUNT times a 32-bit length and so many bytes
//     CAMERA_LIES     NAME=NUMBER, separated by commas
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 64, BUFFERS = 4 };

static char format[5];
static unsigned width, height, stride, count, played, queued, next_buffer;
static struct {
    uint32_t length;
    uint8_t *bytes;
} frames[MOST];
static uint8_t *buffers[BUFFERS];
static size_t room;
static char lies[512];

// What it says instead; `truth` where it does not lie.
static uint64_t says(const char *name, uint64_t truth) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, ",%s=", name);
    const char *found = strstr(lies, wanted);
    return found ? strtoull(found + strlen(wanted), NULL, 0) : truth;
}

__attribute__((constructor)) static void load(void) {
    const char *path = getenv("CAMERA_FRAMES");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file) return;
    snprintf(lies, sizeof lies, ",%s", getenv("CAMERA_LIES") ? getenv("CAMERA_LIES") : "");
    if (fscanf(file, "%4s %u %u %u %u", format, &width, &height, &stride, &count) != 5 || count > MOST) abort();
    fgetc(file);
    for (unsigned place = 0; place < count; place++) {
        if (fread(&frames[place].length, 4, 1, file) != 1) abort();
        frames[place].bytes = malloc(frames[place].length + 1);
        if (fread(frames[place].bytes, 1, frames[place].length, file) != frames[place].length) abort();
        if (frames[place].length > room) room = frames[place].length;
    }
    fclose(file);
    for (int place = 0; place < BUFFERS; place++) {
        buffers[place] = (uint8_t *)syscall(
            SYS_mmap, NULL, room + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (buffers[place] == MAP_FAILED) abort();
    }
}

static void tell(const char *what, long result) {
    char line[80];
    int length = snprintf(line, sizeof line, "probe %s %d\n", what, result < 0 ? errno : 0);
    if (write(1, line, (size_t)length) != length) _exit(50);
}

// What it could do if a camera's bytes had taken it over.
static void probe(void) {
    struct v4l2_capability able;
    char byte;
    tell("querycap", syscall(SYS_ioctl, 0, VIDIOC_QUERYCAP, &able));
    tell("control", syscall(SYS_ioctl, 0, VIDIOC_S_CTRL, &able));
    tell("overlay", syscall(SYS_ioctl, 0, VIDIOC_S_FBUF, &able));
    tell("output", syscall(SYS_ioctl, 0, VIDIOC_EXPBUF, &able));
    tell("elsewhere", syscall(SYS_ioctl, 1, VIDIOC_QUERYCAP, &able));
    tell("type", syscall(SYS_ioctl, 0, TIOCSTI, &byte));
    tell("open", syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
    tell("socket", syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0));
    tell("exec", syscall(SYS_execve, "/bin/true", NULL, NULL));
    tell("fork", syscall(SYS_clone, 17, 0, 0, 0, 0));
    tell("kill", syscall(SYS_kill, 1, 0));
    tell("read", syscall(SYS_read, 0, &byte, 1));
    tell("errors", syscall(SYS_write, 2, "x", 1));
    tell("code", (long)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static int fails(int number) {
    errno = number;
    return -1;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (fd != 0 || count == 0) return (int)syscall(SYS_ioctl, fd, request, argument);
    switch (request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *able = argument;
        able->capabilities = V4L2_CAP_DEVICE_CAPS;
        able->device_caps = (uint32_t)says("caps", V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING);
        return 0;
    }
    case VIDIOC_ENUM_FMT: {
        struct v4l2_fmtdesc *known = argument;
        if (known->index >= says("formats", 2)) return fails(EINVAL);
        known->pixelformat = known->index == 0 ? v4l2_fourcc('X', 'X', 'X', 'X')
                                               : v4l2_fourcc(format[0], format[1], format[2], format[3]);
        return 0;
    }
    case VIDIOC_S_FMT: {
        if (says("busy", 0)) return fails(EBUSY);
        struct v4l2_pix_format *asked = &((struct v4l2_format *)argument)->fmt.pix;
        asked->width = (uint32_t)says("width", width);
        asked->height = (uint32_t)says("height", height);
        asked->bytesperline = (uint32_t)says("stride", stride);
        asked->pixelformat = (uint32_t)says("format", asked->pixelformat);
        return 0;
    }
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *wanted = argument;
        wanted->count = (uint32_t)says("buffers", BUFFERS);
        return 0;
    }
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *buffer = argument;
        buffer->length = (uint32_t)says("length", room);
        buffer->m.offset = buffer->index * 4096;
        return 0;
    }
    case VIDIOC_QBUF:
        queued++;
        return 0;
    case VIDIOC_DQBUF: {
        if (says("probe", 0) && played == 0) probe();
        if (says("unplugged", 0) && played > 2) return fails(ENODEV);
        struct v4l2_buffer *buffer = argument;
        unsigned frame = played++ % count;
        memcpy(buffers[next_buffer], frames[frame].bytes, frames[frame].length);
        buffer->index = (uint32_t)says("index", next_buffer);
        buffer->bytesused = (uint32_t)says("used", frames[frame].length);
        next_buffer = (next_buffer + 1) % BUFFERS;
        return 0;
    }
    case VIDIOC_STREAMON: return says("refuses", 0) ? fails(EBUSY) : 0;
    case VIDIOC_STREAMOFF: return 0;
    default: return fails(ENOTTY);
    }
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    if (fd != 0 || count == 0) return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
    if (says("maps", 1) == 0 || length > room) return MAP_FAILED;
    return buffers[(offset / 4096) % BUFFERS];
}

// Fifty pictures a second; a silent one sends none.
int poll(struct pollfd *list, nfds_t number, int milliseconds) {
    int isSilent = (int)says("silent", 0);
    if (number != 1 || list->fd != 0 || count == 0) return (int)syscall(SYS_poll, list, number, milliseconds);
    syscall(SYS_poll, NULL, 0, isSilent ? milliseconds : 20);
    list->revents = isSilent ? 0 : POLLIN;
    return isSilent ? 0 : 1;
}
