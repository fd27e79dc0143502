// A camera of the kernel's (V4L2), read frame by frame. What it says of itself is a stranger's: sizes, numbers of buffers
// and which one is full are judged before anything is done with them, and a frame is copied before it is looked at.
#ifndef APPVAULT_CAMERA_H
#define APPVAULT_CAMERA_H

#include <errno.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <setjmp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "shim.h"

enum {
    APPVAULT_CAMERA_BUFFERS = 4,
    APPVAULT_CAMERA_MOST_BUFFERS = 8,
    APPVAULT_CAMERA_LEAST_SIDE = 32,
    APPVAULT_CAMERA_MOST_SIDE = 4096,
    APPVAULT_CAMERA_MOST_PIXELS = 8000000,
    APPVAULT_CAMERA_MOST_BYTES = 32 << 20,
    // Of a list that the camera ends.
    APPVAULT_CAMERA_FORMATS = 64,
    APPVAULT_PREVIEW_WIDTH = 160,
    APPVAULT_PREVIEW_HEIGHT = 120,
};

enum appvault_camera_found {
    APPVAULT_CAMERA_DONE,
    // It is none, or none that takes pictures in this way.
    APPVAULT_CAMERA_NONE,
    // It makes pictures of no kind that is known here, or of no size that is sensible.
    APPVAULT_CAMERA_FORMAT,
    // Another program has it.
    APPVAULT_CAMERA_BUSY,
    // It has said what cannot be, or says nothing any more.
    APPVAULT_CAMERA_BROKEN,
    // Nothing yet.
    APPVAULT_CAMERA_LATE,
};

struct appvault_camera_buffer {
    uint8_t *bytes;
    size_t length;
};

struct appvault_camera {
    int fd;
    uint32_t format;
    unsigned width, height;
    // From one row to the next, and how much of a row is looked at.
    size_t stride, row;
    unsigned count;
    struct appvault_camera_buffer buffers[APPVAULT_CAMERA_MOST_BUFFERS];
    // The brightness of the last frame.
    struct appvault_picture frame;
    size_t room;
};

static inline int appvault_camera_call(int fd, unsigned long number, void *argument) {
    int done;
    do done = ioctl(fd, number, argument);
    while (done < 0 && errno == EINTR);
    return done;
}

// The lower, the rather; 0 for what is not known here.
static inline int appvault_camera_liking(uint32_t format) {
    switch (format) {
    case V4L2_PIX_FMT_GREY: return 1;
    case V4L2_PIX_FMT_NV12: return 2;
    case V4L2_PIX_FMT_YUYV: return 3;
    case V4L2_PIX_FMT_MJPEG: return 4;
    default: return 0;
    }
}

static inline enum appvault_camera_found appvault_camera_choose(struct appvault_camera *it) {
    int best = 0;
    for (unsigned index = 0; index < APPVAULT_CAMERA_FORMATS; index++) {
        struct v4l2_fmtdesc known;
        memset(&known, 0, sizeof known);
        known.index = index;
        known.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        if (appvault_camera_call(it->fd, VIDIOC_ENUM_FMT, &known) != 0) break;
        int liking = appvault_camera_liking(known.pixelformat);
        if (liking && (!best || liking < best)) {
            best = liking;
            it->format = known.pixelformat;
        }
    }
    if (!best) return APPVAULT_CAMERA_FORMAT;
    struct v4l2_format asked;
    memset(&asked, 0, sizeof asked);
    asked.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    asked.fmt.pix.width = 640;
    asked.fmt.pix.height = 480;
    asked.fmt.pix.pixelformat = it->format;
    asked.fmt.pix.field = V4L2_FIELD_ANY;
    if (appvault_camera_call(it->fd, VIDIOC_S_FMT, &asked) != 0)
        return errno == EBUSY ? APPVAULT_CAMERA_BUSY : APPVAULT_CAMERA_FORMAT;
    // It may give another one than was asked for.
    const struct v4l2_pix_format *got = &asked.fmt.pix;
    if (got->pixelformat != it->format || got->width < APPVAULT_CAMERA_LEAST_SIDE ||
        got->height < APPVAULT_CAMERA_LEAST_SIDE || got->width > APPVAULT_CAMERA_MOST_SIDE ||
        got->height > APPVAULT_CAMERA_MOST_SIDE ||
        (uint64_t)got->width * got->height > APPVAULT_CAMERA_MOST_PIXELS)
        return APPVAULT_CAMERA_FORMAT;
    it->width = got->width;
    it->height = got->height;
    it->row = it->format == V4L2_PIX_FMT_YUYV ? (size_t)it->width * 2 : it->width;
    it->stride = got->bytesperline ? got->bytesperline : it->row;
    if (it->format != V4L2_PIX_FMT_MJPEG && (it->stride < it->row || it->stride > APPVAULT_CAMERA_MOST_BYTES))
        return APPVAULT_CAMERA_FORMAT;
    return APPVAULT_CAMERA_DONE;
}

// How many bytes of a buffer a whole frame takes; 0 where that is different each time.
static inline size_t appvault_camera_whole(const struct appvault_camera *it) {
    return it->format == V4L2_PIX_FMT_MJPEG ? 0 : it->stride * (it->height - 1) + it->row;
}

static inline int appvault_camera_queue(const struct appvault_camera *it, unsigned index) {
    struct v4l2_buffer buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    buffer.index = index;
    return appvault_camera_call(it->fd, VIDIOC_QBUF, &buffer);
}

static inline enum appvault_camera_found appvault_camera_map(struct appvault_camera *it) {
    struct v4l2_requestbuffers wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.count = APPVAULT_CAMERA_BUFFERS;
    wanted.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    wanted.memory = V4L2_MEMORY_MMAP;
    if (appvault_camera_call(it->fd, VIDIOC_REQBUFS, &wanted) != 0)
        return errno == EBUSY ? APPVAULT_CAMERA_BUSY : APPVAULT_CAMERA_NONE;
    if (wanted.count < 1 || wanted.count > APPVAULT_CAMERA_MOST_BUFFERS) return APPVAULT_CAMERA_BROKEN;
    for (unsigned index = 0; index < wanted.count; index++) {
        struct v4l2_buffer buffer;
        memset(&buffer, 0, sizeof buffer);
        buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
        buffer.memory = V4L2_MEMORY_MMAP;
        buffer.index = index;
        if (appvault_camera_call(it->fd, VIDIOC_QUERYBUF, &buffer) != 0) return APPVAULT_CAMERA_BROKEN;
        if (buffer.length < 1 || buffer.length > APPVAULT_CAMERA_MOST_BYTES ||
            buffer.length < appvault_camera_whole(it))
            return APPVAULT_CAMERA_BROKEN;
        // Some drivers map for reading only together with writing.
        void *mapped = mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, it->fd, buffer.m.offset);
        if (mapped == MAP_FAILED) return APPVAULT_CAMERA_BROKEN;
        it->buffers[index].bytes = (uint8_t *)mapped;
        it->buffers[index].length = buffer.length;
        it->count = index + 1;
        if (appvault_camera_queue(it, index) != 0) return APPVAULT_CAMERA_BROKEN;
    }
    return APPVAULT_CAMERA_DONE;
}

static inline enum appvault_camera_found appvault_camera_start(struct appvault_camera *it, int fd) {
    memset(it, 0, sizeof *it);
    it->fd = fd;
    struct v4l2_capability able;
    memset(&able, 0, sizeof able);
    if (appvault_camera_call(fd, VIDIOC_QUERYCAP, &able) != 0) return APPVAULT_CAMERA_NONE;
    uint32_t is = able.capabilities & V4L2_CAP_DEVICE_CAPS ? able.device_caps : able.capabilities;
    if (!(is & V4L2_CAP_VIDEO_CAPTURE) || !(is & V4L2_CAP_STREAMING)) return APPVAULT_CAMERA_NONE;
    enum appvault_camera_found found = appvault_camera_choose(it);
    if (found == APPVAULT_CAMERA_DONE) found = appvault_camera_map(it);
    if (found != APPVAULT_CAMERA_DONE) return found;
    it->room = (size_t)it->width * it->height;
    it->frame.pixels = (uint8_t *)malloc(it->room);
    if (!it->frame.pixels) return APPVAULT_CAMERA_BROKEN;
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (appvault_camera_call(fd, VIDIOC_STREAMON, &type) != 0)
        return errno == EBUSY ? APPVAULT_CAMERA_BUSY : APPVAULT_CAMERA_BROKEN;
    return APPVAULT_CAMERA_DONE;
}

static inline void appvault_camera_stop(struct appvault_camera *it) {
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    (void)appvault_camera_call(it->fd, VIDIOC_STREAMOFF, &type);
}

// libjpeg ends a picture that it cannot read; a camera makes another one.
struct appvault_frame_errors {
    struct jpeg_error_mgr errors;
    jmp_buf broken;
};

static inline void appvault_frame_error(j_common_ptr it) {
    longjmp(((struct appvault_frame_errors *)it->err)->broken, 1);
}

// Into the room that there is, or not at all: each frame says its own size. Nothing but libjpeg stands between the two jumps.
static inline int appvault_camera_jpeg(struct appvault_camera *it, const uint8_t *bytes, size_t count) {
    struct jpeg_decompress_struct jpeg;
    struct appvault_frame_errors errors;
    volatile int done = 0;
    memset(&jpeg, 0, sizeof jpeg);
    jpeg.err = jpeg_std_error(&errors.errors);
    errors.errors.error_exit = appvault_frame_error;
    errors.errors.output_message = appvault_jpeg_says_nothing;
    if (setjmp(errors.broken) == 0) {
        jpeg_create_decompress(&jpeg);
        jpeg_mem_src(&jpeg, (unsigned char *)bytes, count);
        if (jpeg_read_header(&jpeg, TRUE) == JPEG_HEADER_OK && jpeg.image_width == it->width &&
            jpeg.image_height == it->height) {
            jpeg.out_color_space = JCS_GRAYSCALE;
            jpeg_start_decompress(&jpeg);
            if (jpeg.output_components == 1 && (size_t)jpeg.output_width * jpeg.output_height <= it->room) {
                while (jpeg.output_scanline < jpeg.output_height) {
                    JSAMPROW row = it->frame.pixels + (size_t)jpeg.output_scanline * jpeg.output_width;
                    if (jpeg_read_scanlines(&jpeg, &row, 1) != 1) break;
                }
                done = jpeg.output_scanline == jpeg.output_height;
            }
        }
    }
    jpeg_destroy_decompress(&jpeg);
    return done;
}

// The brightness of what lies in a buffer; 0 where it is no whole frame. The camera may write into it meanwhile: then the
// picture is wrong, and no more than that.
static inline int appvault_camera_copy(struct appvault_camera *it, unsigned index, size_t used) {
    const uint8_t *bytes = it->buffers[index].bytes;
    if (used > it->buffers[index].length) return 0;
    it->frame.width = it->width;
    it->frame.height = it->height;
    if (it->format == V4L2_PIX_FMT_MJPEG) {
        // libjpeg reads what it judges twice, so it gets bytes that stay.
        uint8_t *own = used > 0 ? (uint8_t *)malloc(used) : NULL;
        if (!own) return 0;
        memcpy(own, bytes, used);
        int done = appvault_camera_jpeg(it, own, used);
        free(own);
        return done;
    }
    if (used < appvault_camera_whole(it)) return 0;
    const size_t step = it->format == V4L2_PIX_FMT_YUYV ? 2 : 1;
    for (unsigned y = 0; y < it->height; y++) {
        const uint8_t *from = bytes + y * it->stride;
        uint8_t *to = it->frame.pixels + (size_t)y * it->width;
        if (step == 1) memcpy(to, from, it->width);
        else
            for (unsigned x = 0; x < it->width; x++) to[x] = from[x * step];
    }
    return 1;
}

// Waits for a frame so long. LATE: there was none, or none that was whole.
static inline enum appvault_camera_found appvault_camera_frame(struct appvault_camera *it, int milliseconds) {
    struct pollfd wanted = {it->fd, POLLIN, 0};
    int ready = poll(&wanted, 1, milliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) return APPVAULT_CAMERA_LATE;
    if (ready < 0 || !(wanted.revents & POLLIN)) return APPVAULT_CAMERA_BROKEN;
    struct v4l2_buffer buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    buffer.memory = V4L2_MEMORY_MMAP;
    if (appvault_camera_call(it->fd, VIDIOC_DQBUF, &buffer) != 0)
        return errno == EAGAIN || errno == EIO ? APPVAULT_CAMERA_LATE : APPVAULT_CAMERA_BROKEN;
    if (buffer.index >= it->count) return APPVAULT_CAMERA_BROKEN;
    int whole = !(buffer.flags & V4L2_BUF_FLAG_ERROR) && appvault_camera_copy(it, buffer.index, buffer.bytesused);
    if (appvault_camera_queue(it, buffer.index) != 0) return APPVAULT_CAMERA_BROKEN;
    return whole ? APPVAULT_CAMERA_DONE : APPVAULT_CAMERA_LATE;
}

// What somebody sees meanwhile: `AVG1`, width and height of two bytes each, and so many bytes of brightness.
struct appvault_preview {
    uint8_t bytes[8 + APPVAULT_PREVIEW_WIDTH * APPVAULT_PREVIEW_HEIGHT];
    size_t count, written;
};

// The middle of each part of the frame. Only where the former one is gone: whoever reads slowly gets fewer.
static inline void appvault_preview_take(struct appvault_preview *it, const struct appvault_picture *frame) {
    if (it->written < it->count) return;
    const unsigned width = frame->width < APPVAULT_PREVIEW_WIDTH ? frame->width : APPVAULT_PREVIEW_WIDTH;
    unsigned height = (unsigned)((uint64_t)frame->height * width / frame->width);
    if (height < 1) height = 1;
    if (height > APPVAULT_PREVIEW_HEIGHT) height = APPVAULT_PREVIEW_HEIGHT;
    memcpy(it->bytes, "AVG1", 4);
    it->bytes[4] = (uint8_t)width;
    it->bytes[5] = (uint8_t)(width >> 8);
    it->bytes[6] = (uint8_t)height;
    it->bytes[7] = (uint8_t)(height >> 8);
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++) {
            size_t down = (size_t)(2 * y + 1) * frame->height / (2 * height);
            size_t there = (size_t)(2 * x + 1) * frame->width / (2 * width);
            it->bytes[8 + (size_t)y * width + x] = frame->pixels[down * frame->width + there];
        }
    it->count = 8 + (size_t)width * height;
    it->written = 0;
}

// As much of it as there is room for. writev, because that call is all that this descriptor may have.
static inline void appvault_preview_write(struct appvault_preview *it, int fd) {
    if (it->written >= it->count) return;
    struct iovec rest = {it->bytes + it->written, it->count - it->written};
    ssize_t wrote = writev(fd, &rest, 1);
    if (wrote > 0) it->written += (size_t)wrote;
}

#endif
