// libpam for the module. What Embedded Swift cannot say well is wrapped here and nowhere else: variadic
// functions, PAM's arrays of pointers, pam_data's cleanup functions, and system calls with errno as their result.
// Nothing here decides anything.
#ifndef APPVAULT_CPAM_H
#define APPVAULT_CPAM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>
#include <security/pam_ext.h>

static inline int appvault_pam_errno(void) { return errno; }
static inline void appvault_pam_set_errno(int value) { errno = value; }

// --- Options, items, environment

static inline const char *appvault_pam_argument(const char **arguments, int count, int index) {
    return arguments != NULL && index >= 0 && index < count ? arguments[index] : NULL;
}

static inline const char *appvault_pam_item(pam_handle_t *pam, int item) {
    const void *value = NULL;
    return pam_get_item(pam, item, &value) == PAM_SUCCESS ? value : NULL;
}

static inline int appvault_pam_set_token(pam_handle_t *pam, const char *token) {
    return pam_set_item(pam, PAM_AUTHTOK, token);
}

// The account's uid, or UINT32_MAX where it has none.
static inline uint32_t appvault_pam_uid(pam_handle_t *pam, const char *name) {
    const struct passwd *entry = pam_modutil_getpwnam(pam, name);
    return entry != NULL ? (uint32_t)entry->pw_uid : UINT32_MAX;
}

// The account's own spelling of its name, or NULL: a directory may find it under others. Valid until the next look-up.
static inline const char *appvault_pam_canonical(pam_handle_t *pam, const char *name) {
    const struct passwd *entry = pam_modutil_getpwnam(pam, name);
    return entry != NULL ? entry->pw_name : NULL;
}

// Only asked for, never set: a locale belongs to the application.
static inline const char *appvault_pam_language(void) { return setlocale(LC_MESSAGES, NULL); }

// --- The conversation

// One message. With PAM_SUCCESS the answer (or NULL) is the caller's to wipe and to free. What a conversation
// left behind when it failed is not touched: nobody can know whether it was freed already.
static inline int appvault_pam_converse(pam_handle_t *pam, int style, const char *text, char **answer) {
    *answer = NULL;
    const void *item = NULL;
    if (pam_get_item(pam, PAM_CONV, &item) != PAM_SUCCESS || item == NULL) return PAM_CONV_ERR;
    const struct pam_conv *conversation = item;
    if (conversation->conv == NULL) return PAM_CONV_ERR;
    const struct pam_message message = {.msg_style = style, .msg = text};
    const struct pam_message *messages = &message;
    struct pam_response *responses = NULL;
    int result = conversation->conv(1, &messages, &responses, conversation->appdata_ptr);
    if (result != PAM_SUCCESS) return result;
    if (responses != NULL) {
        *answer = responses->resp;
        free(responses);
    }
    return PAM_SUCCESS;
}

// --- The journal

static inline void appvault_pam_log(pam_handle_t *pam, int priority, const char *text) {
    pam_syslog(pam, priority, "%s", text);
}
static inline void appvault_pam_log_number(pam_handle_t *pam, int priority, const char *text, long number) {
    pam_syslog(pam, priority, "%s %ld", text, number);
}
static inline void appvault_pam_log_text(
    pam_handle_t *pam, int priority, const char *text, const char *detail) {
    pam_syslog(pam, priority, "%s %s", text, detail);
}

// True once for each time that the module was loaded.
static inline int appvault_pam_first_complaint(void) {
    static int said;
    return __atomic_exchange_n(&said, 1, __ATOMIC_RELAXED) == 0;
}

// --- pam_data: bytes that are wiped when they are replaced and when the handle ends. libpam runs the cleanup
// before it unloads modules.

struct appvault_pam_data {
    size_t size;
    uint8_t bytes[];
};

static inline void appvault_pam_forget(pam_handle_t *pam, void *data, int status) {
    (void)pam;
    (void)status;
    if (data == NULL) return;
    struct appvault_pam_data *kept = data;
    explicit_bzero(kept->bytes, kept->size);
    free(kept);
}

static inline int appvault_pam_keep(pam_handle_t *pam, const char *name, const void *bytes, size_t size) {
    struct appvault_pam_data *kept = NULL;
    if (size > 4096) return PAM_BUF_ERR;
    if (size > 0) {
        kept = malloc(sizeof *kept + size);
        if (kept == NULL) return PAM_BUF_ERR;
        kept->size = size;
        memcpy(kept->bytes, bytes, size);
    }
    int result = pam_set_data(pam, name, kept, appvault_pam_forget);
    if (result != PAM_SUCCESS) appvault_pam_forget(pam, kept, 0);
    return result;
}

// How many bytes were copied out: `size`, or 0 where that many are not kept.
static inline size_t appvault_pam_kept(pam_handle_t *pam, const char *name, void *bytes, size_t size) {
    const void *data = NULL;
    if (pam_get_data(pam, name, &data) != PAM_SUCCESS || data == NULL) return 0;
    const struct appvault_pam_data *kept = data;
    if (kept->size != size) return 0;
    memcpy(bytes, kept->bytes, size);
    return size;
}

// --- The socket. Each call answers its result, or the negated errno.

static inline uint64_t appvault_pam_now(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

// Never 0, 1 or 2: an application that closed those may still print there.
static inline int appvault_pam_above_stdio(int low) {
    if (low < 0) return -errno;
    if (low > 2) return low;
    int high = fcntl(low, F_DUPFD_CLOEXEC, 3);
    int reason = errno;
    close(low);
    return high < 0 ? -reason : high;
}

static inline int appvault_pam_socket(void) {
    return appvault_pam_above_stdio(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

static inline int appvault_pam_connect(int fd, const char *path) {
    struct sockaddr_un address;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path, length + 1);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    return connect(fd, (const struct sockaddr *)&address, size) == 0 ? 0 : -errno;
}

// 1 when `events` came (or the peer hung up), 0 when the time passed. A negative `fd` only waits.
static inline int appvault_pam_wait(int fd, short events, int milliseconds) {
    struct pollfd descriptor = {.fd = fd, .events = events};
    int result = poll(&descriptor, 1, milliseconds);
    return result < 0 ? -errno : result;
}

static inline int appvault_pam_send(int fd, const void *bytes, size_t count) {
    ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent < 0 ? -errno : (int)sent;
}

static inline int appvault_pam_receive(int fd, void *bytes, size_t count) {
    ssize_t received = recv(fd, bytes, count, MSG_DONTWAIT);
    return received < 0 ? -errno : (int)received;
}

// The uid that the kernel recorded when the peer began to listen; UINT32_MAX where it does not say.
static inline uint32_t appvault_pam_peer(int fd) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return UINT32_MAX;
    return size == sizeof credentials ? (uint32_t)credentials.uid : UINT32_MAX;
}

// --- The terminal: whether somebody is there

enum { APPVAULT_PAM_UNSEEN = 0, APPVAULT_PAM_ASIDE = 1, APPVAULT_PAM_IN_FRONT = 2 };

// In front: this process's input is its controlling terminal, and it is in the foreground there. Aside: there is such a
// terminal, and the input is something else. Only looked at.
static inline int appvault_pam_presence(void) {
    // No other terminal than the controlling one answers.
    if (tcgetpgrp(STDIN_FILENO) == getpgrp()) return APPVAULT_PAM_IN_FRONT;
    int terminal = appvault_pam_above_stdio(open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (terminal < 0) return APPVAULT_PAM_UNSEEN;
    int found = tcgetpgrp(terminal) == getpgrp() ? APPVAULT_PAM_ASIDE : APPVAULT_PAM_UNSEEN;
    close(terminal);
    return found;
}

// --- The terminal, while a reader waits for a finger

struct appvault_pam_terminal {
    int keys;
    // Readable when a signal waits that would end or stop this process: the terminal goes back first.
    int signals;
    sigset_t mask;
    struct termios before, during;
};

// The controlling terminal, where this process is in its foreground: each key as it is pressed, none shown, none a
// signal; what was typed before is dropped, as every prompt drops it. NULL where there is none.
static inline struct appvault_pam_terminal *appvault_pam_terminal_open(void) {
    static const int ending[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGALRM, SIGTSTP};
    struct appvault_pam_terminal *terminal = malloc(sizeof *terminal);
    if (terminal == NULL) return NULL;
    terminal->keys = appvault_pam_above_stdio(open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (terminal->keys < 0) goto none;
    if (tcgetpgrp(terminal->keys) != getpgrp() || tcgetattr(terminal->keys, &terminal->before) != 0) goto no_keys;

    sigset_t held, blocked;
    sigemptyset(&held);
    if (pthread_sigmask(SIG_SETMASK, NULL, &terminal->mask) != 0) goto no_keys;
    // One that the application holds back itself would never come, and never be out of our way.
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (!sigismember(&terminal->mask, ending[i])) sigaddset(&held, ending[i]);
    blocked = held;
    // Without it, giving the terminal back from the background would stop us.
    sigaddset(&blocked, SIGTTOU);
    terminal->signals = appvault_pam_above_stdio(signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK));
    if (terminal->signals < 0) goto no_keys;
    if (pthread_sigmask(SIG_BLOCK, &blocked, NULL) != 0) goto no_signals;

    terminal->during = terminal->before;
    terminal->during.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | ISIG | IEXTEN);
    terminal->during.c_cc[VMIN] = 0;
    terminal->during.c_cc[VTIME] = 0;
    // Never the variants that wait for output: a terminal that is held up would hold us.
    tcflush(terminal->keys, TCIFLUSH);
    if (tcsetattr(terminal->keys, TCSANOW, &terminal->during) != 0) goto no_mask;
    // As the terminal understood it: what is compared later.
    if (tcgetattr(terminal->keys, &terminal->during) == 0) return terminal;
    tcsetattr(terminal->keys, TCSANOW, &terminal->before);
no_mask:
    pthread_sigmask(SIG_SETMASK, &terminal->mask, NULL);
no_signals:
    close(terminal->signals);
no_keys:
    close(terminal->keys);
none:
    free(terminal);
    return NULL;
}

// As it was, unless somebody set it otherwise since: then it is theirs. Half of a passcode that was typed is dropped.
static inline void appvault_pam_terminal_close(struct appvault_pam_terminal *terminal) {
    if (terminal == NULL) return;
    struct termios now;
    if (tcgetattr(terminal->keys, &now) == 0 && now.c_lflag == terminal->during.c_lflag) {
        tcflush(terminal->keys, TCIFLUSH);
        tcsetattr(terminal->keys, TCSANOW, &terminal->before);
    }
    close(terminal->keys);
    close(terminal->signals);
    // Signals that came meanwhile act now.
    pthread_sigmask(SIG_SETMASK, &terminal->mask, NULL);
    free(terminal);
}

enum { APPVAULT_PAM_FRAME = 1, APPVAULT_PAM_KEY = 2, APPVAULT_PAM_SIGNAL = 4 };

// Which of the three is there, 0 when the time passed, or the negated errno. Without a terminal: the socket alone.
static inline int appvault_pam_wait_scan(int fd, const struct appvault_pam_terminal *terminal, int milliseconds) {
    struct pollfd found[3] = {
        {.fd = fd, .events = POLLIN},
        {.fd = terminal != NULL ? terminal->keys : -1, .events = POLLIN},
        {.fd = terminal != NULL ? terminal->signals : -1, .events = POLLIN},
    };
    if (poll(found, 3, milliseconds) < 0) return -errno;
    return (found[0].revents ? APPVAULT_PAM_FRAME : 0) | (found[1].revents ? APPVAULT_PAM_KEY : 0)
         | (found[2].revents ? APPVAULT_PAM_SIGNAL : 0);
}

static inline int appvault_pam_keys(const struct appvault_pam_terminal *terminal, void *bytes, size_t count) {
    if (terminal == NULL) return -EBADF;
    ssize_t pressed = read(terminal->keys, bytes, count);
    return pressed < 0 ? -errno : (int)pressed;
}

// A plain zeroing loop is removed by the optimiser; this call stays.
static inline void appvault_pam_wipe(void *memory, size_t count) { explicit_bzero(memory, count); }

#endif
