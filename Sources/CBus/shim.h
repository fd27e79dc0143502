// sd-bus, imported by Bus alone. Nothing here takes a function of ours: messages are taken out of the connection one by
// one, and Swift decides what becomes of them.
#ifndef APPVAULT_CBUS_H
#define APPVAULT_CBUS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <systemd/sd-bus.h>

// A bus at an address. Like sd_bus_open_user, it does not wait for the bus.
static inline int appvault_bus_open_at(const char *address, sd_bus **bus) {
    *bus = NULL;
    int result = sd_bus_new(bus);
    if (result >= 0) result = sd_bus_set_address(*bus, address);
    if (result >= 0) result = sd_bus_set_bus_client(*bus, 1);
    if (result >= 0) result = sd_bus_start(*bus);
    // Without the flush, which would wait.
    if (result < 0) *bus = sd_bus_close_unref(*bus);
    return result;
}

// A second number of the bus's descriptor, for whoever waits on it and closes it.
static inline int appvault_bus_descriptor(sd_bus *bus) {
    int own = sd_bus_get_fd(bus);
    return own < 0 ? own : fcntl(own, F_DUPFD_CLOEXEC, 3);
}

// A second number of any descriptor.
static inline int appvault_bus_second(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

// Whether libsystemd keeps bytes that the bus had no room for.
static inline int appvault_bus_is_full(sd_bus *bus) {
    int events = sd_bus_get_events(bus);
    return events >= 0 && (events & POLLOUT);
}

// The time by which the connection must be turned, in microseconds of the monotonic clock; UINT64_MAX is none.
static inline uint64_t appvault_bus_deadline(sd_bus *bus) {
    uint64_t at;
    return sd_bus_get_timeout(bus, &at) >= 0 ? at : UINT64_MAX;
}

static inline size_t appvault_bus_length(const char *text) { return strlen(text); }

#endif
