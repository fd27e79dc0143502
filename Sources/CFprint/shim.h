// libfprint and as much of GLib and GUsb as the fingerprint worker needs, imported by it alone.
#ifndef APPVAULT_CFPRINT_H
#define APPVAULT_CFPRINT_H

#include <fprint.h>
#include <glib-unix.h>
#include <string.h>

// GUsb's own header is not needed for one function.
typedef struct _GUsbDevice GUsbDevice;
const char *g_usb_device_get_platform_id(GUsbDevice *device);

// What Swift does not see: casts, variadic functions, macros.
static inline FpDevice *appvault_device(FpContext *context, guint place) {
    GPtrArray *devices = fp_context_get_devices(context);
    return devices && place < devices->len ? FP_DEVICE(devices->pdata[place]) : NULL;
}
// The one behind a reader, with a reference, or NULL.
static inline GUsbDevice *appvault_usb(FpDevice *device) {
    GUsbDevice *usb = NULL;
    g_object_get(device, "fpi-usb-device", &usb, NULL);
    return usb;
}
// Path of a reader on the SPI bus, to be freed, or NULL.
static inline char *appvault_spi(FpDevice *device) {
    char *path = NULL;
    g_object_get(device, "fpi-udev-data-spidev", &path, NULL);
    return path;
}
static inline gboolean appvault_removed(FpDevice *device) {
    gboolean removed = FALSE;
    g_object_get(device, "removed", &removed, NULL);
    return removed;
}
// The result of a call, of which GIO else says that it was cancelled once a stop has come, whatever it came to.
static inline void appvault_ignore_stop(GAsyncResult *result) {
    g_task_set_check_cancellable(G_TASK(result), FALSE);
}
// The handler gets its data first, and has no use for the rest.
static inline gulong appvault_on(gpointer object, const char *signal, void (*handler)(gpointer), gpointer data) {
    return g_signal_connect_data(object, signal, G_CALLBACK(handler), data, NULL, G_CONNECT_SWAPPED);
}

// What an error is, without its domains.
enum appvault_error { APPVAULT_RETRY, APPVAULT_DEVICE, APPVAULT_IO, APPVAULT_USB, APPVAULT_CLAIMED, APPVAULT_OTHER };
static inline enum appvault_error appvault_error_kind(const GError *error) {
    if (error->domain == FP_DEVICE_RETRY) return APPVAULT_RETRY;
    if (error->domain == FP_DEVICE_ERROR) return APPVAULT_DEVICE;
    if (error->domain == G_IO_ERROR) return APPVAULT_IO;
    const char *domain = g_quark_to_string(error->domain);
    if (g_strcmp0(domain, "g-usb-device-error-quark") != 0) return APPVAULT_OTHER;
    // GUsb has no number for a reader that another program has; these are libusb's words, untranslated.
    return error->message && strstr(error->message, "Resource busy") ? APPVAULT_CLAIMED : APPVAULT_USB;
}

#endif
