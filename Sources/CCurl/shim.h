// libcurl, imported by appvault-fetch alone. What takes any number of arguments is one function here: a whole transfer.
#ifndef APPVAULT_CCURL_H
#define APPVAULT_CCURL_H

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { APPVAULT_FETCH_TAG = 256 };

struct appvault_transfer {
    // Given. Each text ends with a NUL; NULL: there is none.
    const char *url, *tag, *authorities, *certificate, *key;
    // What is posted; NULL where something is fetched.
    const void *report;
    size_t report_count;
    long seconds;
    // The most that is taken.
    size_t most;
    // Whoever asked: when that connection ends, so does the transfer.
    int asker;
    // What sends elsewhere is an answer like any other.
    int follows_none;
    // What is posted is JSON; of plain text that comes back the first `most` bytes are taken, and nothing of anything else.
    int is_said;

    // What came of it. `content` is malloc's.
    CURLcode code;
    long status, proxy_status, verified, system_error;
    int is_too_large;
    unsigned char *content;
    size_t count, room;
    char got_tag[APPVAULT_FETCH_TAG + 1];
};

static inline size_t appvault_take_content(char *bytes, size_t one, size_t count, void *context) {
    struct appvault_transfer *it = (struct appvault_transfer *)context;
    count *= one;
    size_t sent = count;
    if (it->is_said && count > it->most - it->count) count = it->most - it->count;
    if (count > it->most - it->count) {
        it->is_too_large = 1;
        return 0;
    }
    if (it->count + count > it->room) {
        size_t room = it->room ? it->room * 2 : 16384;
        while (room < it->count + count) room *= 2;
        unsigned char *larger = (unsigned char *)realloc(it->content, room);
        if (!larger) return 0;
        it->content = larger;
        it->room = room;
    }
    memcpy(it->content + it->count, bytes, count);
    it->count += count;
    // More than a line of what a server says is read on, and dropped: a page of any length ends with its time.
    return sent;
}

// Headers of a redirect come before those of what it leads to: each status line begins anew.
static inline size_t appvault_take_header(char *bytes, size_t one, size_t count, void *context) {
    struct appvault_transfer *it = (struct appvault_transfer *)context;
    static const char name[] = "etag:";
    count *= one;
    if (count >= 5 && memcmp(bytes, "HTTP/", 5) == 0) it->got_tag[0] = 0;
    if (count < sizeof name || strncasecmp(bytes, name, sizeof name - 1) != 0) return count;
    size_t from = sizeof name - 1, to = count;
    while (from < to && (bytes[from] == ' ' || bytes[from] == '\t')) from++;
    while (to > from && (unsigned char)bytes[to - 1] <= ' ') to--;
    if (to - from > APPVAULT_FETCH_TAG) return count;
    memcpy(it->got_tag, bytes + from, to - from);
    it->got_tag[to - from] = 0;
    return count;
}

// curl asks about once a second, also while nothing comes.
static inline int appvault_goes_on(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
    (void)a, (void)b, (void)c, (void)d;
    struct pollfd asker = {((struct appvault_transfer *)context)->asker, POLLRDHUP, 0};
    return poll(&asker, 1, 0) > 0 && (asker.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

static inline void *appvault_curl_begin(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT) == 0 ? curl_easy_init() : NULL;
}

// The handle keeps its connections for the next transfer.
static inline void appvault_curl_transfer(void *handle, struct appvault_transfer *it) {
    CURL *curl = (CURL *)handle;
    struct curl_slist *headers = NULL;
    char condition[APPVAULT_FETCH_TAG + sizeof "If-None-Match: "];
    long wait = it->seconds < 15 ? it->seconds : 15;
    int failed = 0;
#define APPVAULT_SET(option, value) failed |= curl_easy_setopt(curl, option, value) != CURLE_OK
    curl_easy_reset(curl);
    APPVAULT_SET(CURLOPT_URL, it->url);
    APPVAULT_SET(CURLOPT_PROTOCOLS_STR, "https");
    APPVAULT_SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
    APPVAULT_SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    APPVAULT_SET(CURLOPT_NOSIGNAL, 1L);
    APPVAULT_SET(CURLOPT_CONNECTTIMEOUT, wait);
    APPVAULT_SET(CURLOPT_TIMEOUT, it->seconds);
    APPVAULT_SET(CURLOPT_USERAGENT, "appvault");
    APPVAULT_SET(CURLOPT_WRITEFUNCTION, appvault_take_content);
    APPVAULT_SET(CURLOPT_WRITEDATA, it);
    APPVAULT_SET(CURLOPT_HEADERFUNCTION, appvault_take_header);
    APPVAULT_SET(CURLOPT_HEADERDATA, it);
    APPVAULT_SET(CURLOPT_NOPROGRESS, 0L);
    APPVAULT_SET(CURLOPT_XFERINFOFUNCTION, appvault_goes_on);
    APPVAULT_SET(CURLOPT_XFERINFODATA, it);
    if (it->authorities) {
        APPVAULT_SET(CURLOPT_CAINFO, it->authorities);
        // The system's own would count beside it.
        APPVAULT_SET(CURLOPT_CAPATH, NULL);
    } else if (curl_version_info(CURLVERSION_NOW)->capath) {
        // The same are in one file, too, but all of it would be read to find one of them.
        APPVAULT_SET(CURLOPT_CAINFO, NULL);
    }
    if (it->certificate) APPVAULT_SET(CURLOPT_SSLCERT, it->certificate);
    if (it->key) APPVAULT_SET(CURLOPT_SSLKEY, it->key);
    if (it->report) {
        APPVAULT_SET(CURLOPT_POST, 1L);
        APPVAULT_SET(CURLOPT_POSTFIELDS, it->report);
        APPVAULT_SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)it->report_count);
        headers = curl_slist_append(
            headers, it->is_said ? "Content-Type: application/json" : "Content-Type: application/vnd.fdo.journal");
    } else {
        APPVAULT_SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)it->most);
        APPVAULT_SET(CURLOPT_FOLLOWLOCATION, it->follows_none ? 0L : 1L);
        APPVAULT_SET(CURLOPT_MAXREDIRS, 3L);
        if (it->tag && strlen(it->tag) <= APPVAULT_FETCH_TAG) {
            strcpy(condition, "If-None-Match: ");
            strcat(condition, it->tag);
            headers = curl_slist_append(headers, condition);
        }
    }
    if (headers) APPVAULT_SET(CURLOPT_HTTPHEADER, headers);
#undef APPVAULT_SET
    it->code = failed ? CURLE_FAILED_INIT : curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &it->status);
    curl_easy_getinfo(curl, CURLINFO_HTTP_CONNECTCODE, &it->proxy_status);
    curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &it->verified);
    curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &it->system_error);
    const char *type = NULL;
    curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    if (it->is_said && (!type || strncasecmp(type, "text/plain", 10) != 0)) it->count = 0;
    curl_slist_free_all(headers);
}

#endif
