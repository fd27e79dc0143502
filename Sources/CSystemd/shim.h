// libsystemd, imported by VaultService alone: socket activation, sd_notify, the journal, sd-login, logind over sd-bus.
// Wrapped here is what is variadic, which Swift cannot call.
#ifndef APPVAULT_CSYSTEMD_H
#define APPVAULT_CSYSTEMD_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

static const char *const appvault_login = "org.freedesktop.login1";

// A word of sd-login's, copied to `text` and freed: 1, 0 where there is none, negative where nobody knows.
static inline int appvault_login_word(int result, char *found, char *text, size_t room) {
    if (result >= 0 && found && strlen(found) < room) strcpy(text, found);
    else if (result >= 0) result = found ? -ENAMETOOLONG : 0;
    free(found);
    return result < 0 ? result : *text != 0;
}

// The system manager's unit and slice of a process, by its control group.
static inline int appvault_unit_of(pid_t pid, char *text, size_t room) {
    char *found = NULL;
    int result = sd_pid_get_unit(pid, &found);
    return appvault_login_word(result, found, text, room);
}
static inline int appvault_slice_of(pid_t pid, char *text, size_t room) {
    char *found = NULL;
    int result = sd_pid_get_slice(pid, &found);
    return appvault_login_word(result, found, text, room);
}

static inline int appvault_session_class(const char *session, char *text, size_t room) {
    char *found = NULL;
    int result = sd_session_get_class(session, &found);
    return appvault_login_word(result, found, text, room);
}
static inline int appvault_session_state(const char *session, char *text, size_t room) {
    char *found = NULL;
    int result = sd_session_get_state(session, &found);
    return appvault_login_word(result, found, text, room);
}
static inline int appvault_session_seat(const char *session, char *text, size_t room) {
    char *found = NULL;
    int result = sd_session_get_seat(session, &found);
    if (result == -ENODATA) return 0;
    return appvault_login_word(result, found, text, room);
}
// The number of its virtual terminal; 0 where it has none.
static inline unsigned appvault_session_terminal(const char *session) {
    unsigned number;
    return sd_session_get_vt(session, &number) < 0 ? 0 : number;
}
static inline int appvault_display_of(uid_t uid, char *text, size_t room) {
    char *found = NULL;
    int result = sd_uid_get_display(uid, &found);
    return appvault_login_word(result, found, text, room);
}
static inline int appvault_session_type(const char *session, char *text, size_t room) {
    char *found = NULL;
    int result = sd_session_get_type(session, &found);
    return appvault_login_word(result, found, text, room);
}
// The session in front on a seat; 0 where there is none.
static inline int appvault_in_front(const char *seat, char *text, size_t room) {
    char *found = NULL;
    uid_t uid;
    int result = sd_seat_get_active(seat, &found, &uid);
    if (result == -ENODATA || result == -ENXIO) return 0;
    return appvault_login_word(result, found, text, room);
}

static inline void appvault_free_words(char **words) {
    for (char **word = words; word && *word; word++) free(*word);
    free(words);
}

static inline int appvault_login_flag(sd_bus *bus, const char *path, const char *interface, const char *name,
                                      int *value) {
    return sd_bus_get_property_trivial(bus, appvault_login, path, interface, name, NULL, 'b', value);
}

#include "logind.h"
#include "polkit.h"

#endif
