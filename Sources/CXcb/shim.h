// libxcb and its X-Resource extension, imported by the program that hides windows alone.
#ifndef APPVAULT_CXCB_H
#define APPVAULT_CXCB_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xcb/res.h>
#include <xcb/xcb.h>

// Whoever started us may have the signal blocked or ignored; then the limit would never come.
static inline void appvault_time_limit(unsigned seconds) {
    sigset_t alarm_only;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    signal(SIGALRM, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    alarm(seconds);
}

// 0 where the server has no X-Resource extension of version 1.2.
static inline int appvault_has_xres(xcb_connection_t *connection) {
    const xcb_query_extension_reply_t *extension = xcb_get_extension_data(connection, &xcb_res_id);
    if (!extension || !extension->present) return 0;
    xcb_res_query_version_reply_t *version =
        xcb_res_query_version_reply(connection, xcb_res_query_version(connection, 1, 2), NULL);
    int known = version && (version->server_major > 1 || (version->server_major == 1 && version->server_minor >= 2));
    free(version);
    return known;
}

// The process of one client, 0 where the server does not know it; `value` is one of a reply's.
static inline uint32_t appvault_client_process(const xcb_res_client_id_value_t *value) {
    if (!(value->spec.mask & XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID)) return 0;
    return xcb_res_client_id_value_value_length(value) < 1 ? 0 : *xcb_res_client_id_value_value(value);
}

#endif
