// zbar, libpng and libjpeg, imported by appvault-scan alone. Each picture is a stranger's: what it claims to be is judged
// before any of it is decoded, and libjpeg's errors end the process, which is there for this one picture.
#ifndef APPVAULT_CZBAR_H
#define APPVAULT_CZBAR_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// These two want the former.
#include <jpeglib.h>
#include <png.h>
#include <zbar.h>

enum {
    // A camera of today makes 50 million; a side of a banner may be long.
    APPVAULT_MOST_PIXELS = 64000000,
    APPVAULT_MOST_SIDE = 20000,
    // Of so many pixels a code in a corner can still be read.
    APPVAULT_ENOUGH_PIXELS = 4000000,
};

enum appvault_scan {
    APPVAULT_SCAN_NO_PICTURE,
    APPVAULT_SCAN_TOO_LARGE,
    APPVAULT_SCAN_NO_ROOM,
    APPVAULT_SCAN_DONE,
};

// Of the brightness of each pixel; `pixels` is malloc's.
struct appvault_picture {
    uint8_t *pixels;
    unsigned width, height;
};

// All of standard input, in malloc's memory; NULL where there is none to be had. One byte more than the most is read, so
// that too many are seen.
static inline uint8_t *appvault_read_all(size_t most, size_t *count) {
    uint8_t *bytes = (uint8_t *)malloc(most + 1);
    *count = 0;
    while (bytes && *count <= most) {
        ssize_t got = read(STDIN_FILENO, bytes + *count, most + 1 - *count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        *count += (size_t)got;
    }
    return bytes;
}

static inline enum appvault_scan appvault_judge(uint64_t width, uint64_t height) {
    if (width == 0 || height == 0) return APPVAULT_SCAN_NO_PICTURE;
    if (width > APPVAULT_MOST_SIDE || height > APPVAULT_MOST_SIDE) return APPVAULT_SCAN_TOO_LARGE;
    return width * height > APPVAULT_MOST_PIXELS ? APPVAULT_SCAN_TOO_LARGE : APPVAULT_SCAN_DONE;
}

static inline enum appvault_scan appvault_read_png(const uint8_t *bytes, size_t count, struct appvault_picture *it) {
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes, count)) return APPVAULT_SCAN_NO_PICTURE;
    enum appvault_scan judged = appvault_judge(image.width, image.height);
    if (judged == APPVAULT_SCAN_DONE) {
        image.format = PNG_FORMAT_GRAY;
        it->width = image.width;
        it->height = image.height;
        it->pixels = (uint8_t *)malloc((size_t)image.width * image.height);
        // Where nothing is painted there is paper.
        png_color paper = {255, 255, 255};
        if (!it->pixels) judged = APPVAULT_SCAN_NO_ROOM;
        else if (!png_image_finish_read(&image, &paper, it->pixels, (png_int_32)image.width, NULL))
            judged = APPVAULT_SCAN_NO_PICTURE;
    }
    png_image_free(&image);
    return judged;
}

// What libjpeg cannot go on with goes there, and does not come back.
typedef void (*appvault_broken)(void);

static inline void appvault_jpeg_error(j_common_ptr it) {
    ((appvault_broken)it->client_data)();
    _exit(1);
}
static inline void appvault_jpeg_says_nothing(j_common_ptr it) { (void)it; }

static inline enum appvault_scan appvault_read_jpeg(
    const uint8_t *bytes, size_t count, struct appvault_picture *it, appvault_broken broken) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    errors.error_exit = appvault_jpeg_error;
    errors.output_message = appvault_jpeg_says_nothing;
    jpeg_create_decompress(&jpeg);
    jpeg.client_data = (void *)broken;
    jpeg_mem_src(&jpeg, (unsigned char *)bytes, count);
    if (jpeg_read_header(&jpeg, TRUE) != JPEG_HEADER_OK) return APPVAULT_SCAN_NO_PICTURE;
    enum appvault_scan judged = appvault_judge(jpeg.image_width, jpeg.image_height);
    if (judged != APPVAULT_SCAN_DONE) return judged;
    jpeg.out_color_space = JCS_GRAYSCALE;
    // libjpeg makes it smaller on the way, for less than the whole costs.
    uint64_t pixels = (uint64_t)jpeg.image_width * jpeg.image_height;
    jpeg.scale_num = 1;
    jpeg.scale_denom = pixels > 16ull * APPVAULT_ENOUGH_PIXELS ? 4 : pixels > APPVAULT_ENOUGH_PIXELS ? 2 : 1;
    jpeg_start_decompress(&jpeg);
    if (jpeg.output_components != 1) return APPVAULT_SCAN_NO_PICTURE;
    it->width = jpeg.output_width;
    it->height = jpeg.output_height;
    it->pixels = (uint8_t *)malloc((size_t)it->width * it->height);
    if (!it->pixels) return APPVAULT_SCAN_NO_ROOM;
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = it->pixels + (size_t)jpeg.output_scanline * it->width;
        if (jpeg_read_scanlines(&jpeg, &row, 1) != 1) break;
    }
    jpeg_destroy_decompress(&jpeg);
    return APPVAULT_SCAN_DONE;
}

// Half as wide and as high: of each four pixels what they are together.
static inline void appvault_halve(struct appvault_picture *it) {
    unsigned width = it->width / 2, height = it->height / 2;
    for (unsigned y = 0; y < height; y++) {
        const uint8_t *above = it->pixels + (size_t)2 * y * it->width, *below = above + it->width;
        for (unsigned x = 0; x < width; x++)
            it->pixels[(size_t)y * width + x] =
                (uint8_t)((above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1] + 2) / 4);
    }
    it->width = width;
    it->height = height;
}

static inline void appvault_invert(struct appvault_picture *it) {
    size_t count = (size_t)it->width * it->height;
    for (size_t place = 0; place < count; place++) it->pixels[place] = (uint8_t)~it->pixels[place];
}

// What the codes say: how many different ones there are, 2 for more. The first is put into `text`, at most `room` bytes of
// it; `length` is all that it has.
static inline int appvault_codes(const struct appvault_picture *it, char *text, size_t room, size_t *length) {
    int found = 0;
    zbar_image_scanner_t *scanner = zbar_image_scanner_create();
    zbar_image_t *image = zbar_image_create();
    if (!scanner || !image) return -1;
    zbar_image_scanner_set_config(scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0);
    zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_ENABLE, 1);
    // As it is: otherwise zbar asks libc for character sets, which are files.
    zbar_image_scanner_set_config(scanner, ZBAR_QRCODE, ZBAR_CFG_BINARY, 1);
    zbar_image_set_format(image, zbar_fourcc('Y', '8', '0', '0'));
    zbar_image_set_size(image, it->width, it->height);
    zbar_image_set_data(image, it->pixels, (size_t)it->width * it->height, NULL);
    if (zbar_scan_image(scanner, image) < 0) found = -1;
    for (const zbar_symbol_t *code = found < 0 ? NULL : zbar_image_first_symbol(image); code;
         code = zbar_symbol_next(code)) {
        if (zbar_symbol_get_type(code) != ZBAR_QRCODE) continue;
        const char *data = zbar_symbol_get_data(code);
        size_t count = zbar_symbol_get_data_length(code);
        if (found == 0) {
            found = 1;
            *length = count;
            memcpy(text, data, count < room ? count : room);
        } else if (count != *length || memcmp(text, data, count < room ? count : room) != 0) {
            found = 2;
        }
    }
    zbar_image_destroy(image);
    zbar_image_scanner_destroy(scanner);
    return found;
}

#endif
