// A client of org.freedesktop.secrets, as plain as it can be: no library of any provider's, and the same calls to each.
//
//     secrets put COUNT FIRST      makes items FIRST to FIRST + COUNT - 1 and prints how long each took
//     secrets search COUNT OF      finds one of OF items by two attributes
//     secrets await COUNT OF       the same, as soon as it is open
//     secrets get COUNT OF         the secret of an item that was found before
//     secrets session COUNT        a session with a key agreement, as libsecret opens one
//     secrets ping COUNT           a call that asks for nothing
//
// Each prints a JSON array of microseconds.
#include <systemd/sd-bus.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME "org.freedesktop.secrets"
#define SERVICE "org.freedesktop.Secret.Service"
#define COLLECTION "org.freedesktop.Secret.Collection"
#define ITEM "org.freedesktop.Secret.Item"
#define ROOT "/org/freedesktop/secrets"
#define DEFAULT ROOT "/aliases/default"

static sd_bus *bus;
static char session[256];

static double now_us(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static _Noreturn void die(const char *what, int result, const sd_bus_error *error) {
    fprintf(stderr, "secrets: %s: %s\n", what, error && error->message ? error->message : strerror(-result));
    exit(1);
}

static void must(const char *what, int result) {
    if (result < 0) die(what, result, NULL);
}

static sd_bus_message *call(const char *what, sd_bus_message *message) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int result = sd_bus_call(bus, message, 0, &error, &reply);
    if (result < 0) die(what, result, &error);
    sd_bus_message_unref(message);
    return reply;
}

static sd_bus_message *method(const char *path, const char *interface, const char *member) {
    sd_bus_message *message = NULL;
    must(member, sd_bus_message_new_method_call(bus, &message, NAME, path, interface, member));
    return message;
}

static void open_session(void) {
    sd_bus_message *message = method(ROOT, SERVICE, "OpenSession");
    must("OpenSession", sd_bus_message_append(message, "sv", "plain", "s", ""));
    sd_bus_message *reply = call("OpenSession", message);
    const char *path;
    must("OpenSession", sd_bus_message_skip(reply, "v"));
    must("OpenSession", sd_bus_message_read(reply, "o", &path));
    snprintf(session, sizeof session, "%s", path);
    sd_bus_message_unref(reply);
}

// A public key of 1,024 bits: the generator, to a power that does not matter here. The session is closed later.
static void agree(char opened[256]) {
    unsigned char key[128];
    memset(key, 0x5a, sizeof key);
    sd_bus_message *message = method(ROOT, SERVICE, "OpenSession");
    must("OpenSession", sd_bus_message_append(message, "s", "dh-ietf1024-sha256-aes128-cbc-pkcs7"));
    must("OpenSession", sd_bus_message_open_container(message, 'v', "ay"));
    must("OpenSession", sd_bus_message_append_array(message, 'y', key, sizeof key));
    must("OpenSession", sd_bus_message_close_container(message));
    sd_bus_message *reply = call("OpenSession", message);
    const char *path;
    must("OpenSession", sd_bus_message_skip(reply, "v"));
    must("OpenSession", sd_bus_message_read(reply, "o", &path));
    snprintf(opened, 256, "%s", path);
    sd_bus_message_unref(reply);
}

static void end(const char *opened) {
    sd_bus_message_unref(call("Close", method(opened, "org.freedesktop.Secret.Session", "Close")));
}

static void append_attributes(sd_bus_message *message, unsigned number) {
    char user[32];
    snprintf(user, sizeof user, "user-%u", number);
    must("attributes", sd_bus_message_append(message, "a{ss}", 3, "xdg:schema", "org.example.Bench", "server",
                                             "mail.example.org", "user", user));
}

static void put(unsigned number) {
    char label[64], secret[64];
    snprintf(label, sizeof label, "Password of user %u", number);
    snprintf(secret, sizeof secret, "a secret of number %u", number);
    sd_bus_message *message = method(DEFAULT, COLLECTION, "CreateItem");
    must("CreateItem", sd_bus_message_open_container(message, 'a', "{sv}"));
    must("CreateItem", sd_bus_message_open_container(message, 'e', "sv"));
    must("CreateItem", sd_bus_message_append(message, "sv", ITEM ".Label", "s", label));
    must("CreateItem", sd_bus_message_close_container(message));
    must("CreateItem", sd_bus_message_open_container(message, 'e', "sv"));
    must("CreateItem", sd_bus_message_append(message, "s", ITEM ".Attributes"));
    must("CreateItem", sd_bus_message_open_container(message, 'v', "a{ss}"));
    append_attributes(message, number);
    must("CreateItem", sd_bus_message_close_container(message));
    must("CreateItem", sd_bus_message_close_container(message));
    must("CreateItem", sd_bus_message_close_container(message));
    must("CreateItem", sd_bus_message_open_container(message, 'r', "oayays"));
    must("CreateItem", sd_bus_message_append(message, "o", session));
    must("CreateItem", sd_bus_message_append_array(message, 'y', "", 0));
    must("CreateItem", sd_bus_message_append_array(message, 'y', secret, strlen(secret)));
    must("CreateItem", sd_bus_message_append(message, "s", "text/plain"));
    must("CreateItem", sd_bus_message_close_container(message));
    must("CreateItem", sd_bus_message_append(message, "b", 1));
    sd_bus_message *reply = call("CreateItem", message);
    const char *item, *prompt;
    must("CreateItem", sd_bus_message_read(reply, "oo", &item, &prompt));
    if (strcmp(item, "/") == 0) die("CreateItem wants a prompt", 0, NULL);
    sd_bus_message_unref(reply);
}

// The path of the one that is found, and is not locked, is left in `item`.
static bool finds(unsigned number, char item[256]) {
    sd_bus_message *message = method(ROOT, SERVICE, "SearchItems");
    append_attributes(message, number);
    sd_bus_message *reply = call("SearchItems", message);
    const char *path = NULL;
    must("SearchItems", sd_bus_message_enter_container(reply, 'a', "o"));
    bool found = sd_bus_message_read(reply, "o", &path) > 0;
    if (found) snprintf(item, 256, "%s", path);
    sd_bus_message_unref(reply);
    return found;
}

static void search(unsigned number, char item[256]) {
    if (!finds(number, item)) die("SearchItems has found nothing", 0, NULL);
}

// What opens a store does not wait for the program that hears of it.
static void await(unsigned number, char item[256]) {
    double end = now_us() + 60e6;
    while (!finds(number, item)) {
        if (now_us() > end) die("SearchItems still finds nothing", 0, NULL);
        usleep(500);
    }
}

static void get(const char *item) {
    sd_bus_message *message = method(item, ITEM, "GetSecret");
    must("GetSecret", sd_bus_message_append(message, "o", session));
    sd_bus_message *reply = call("GetSecret", message);
    const void *bytes;
    size_t size;
    must("GetSecret", sd_bus_message_enter_container(reply, 'r', "oayays"));
    must("GetSecret", sd_bus_message_skip(reply, "oay"));
    must("GetSecret", sd_bus_message_read_array(reply, 'y', &bytes, &size));
    if (size < 10) die("GetSecret: too short", 0, NULL);
    sd_bus_message_unref(reply);
}

int main(int count, char **words) {
    if (count < 3) return 2;
    unsigned rounds = strtoul(words[2], NULL, 10), of = count > 3 ? strtoul(words[3], NULL, 10) : 0;
    must("the session bus", sd_bus_open_user(&bus));
    must("the session bus", sd_bus_set_method_call_timeout(bus, 120000000));
    open_session();
    uint64_t state = 88172645463325252ull;
    printf("[");
    for (unsigned round = 0; round < rounds; round++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        unsigned number = of ? state % of : 0;
        char item[256];
        if (strcmp(words[1], "get") == 0) search(number, item);
        double begin = now_us();
        if (strcmp(words[1], "put") == 0)
            put(of + round);
        else if (strcmp(words[1], "search") == 0)
            search(number, item);
        else if (strcmp(words[1], "await") == 0)
            await(number, item);
        else if (strcmp(words[1], "get") == 0)
            get(item);
        else if (strcmp(words[1], "session") == 0)
            agree(item);
        else if (strcmp(words[1], "ping") == 0)
            sd_bus_message_unref(call("Ping", method(ROOT, "org.freedesktop.DBus.Peer", "Ping")));
        else
            return 2;
        printf("%s%.1f", round ? "," : "", now_us() - begin);
        if (strcmp(words[1], "session") == 0) end(item);
    }
    printf("]\n");
    // Without the flush of what nobody waits for.
    sd_bus_close_unref(bus);
    return 0;
}
