#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "pairs.h"

static const struct {
    const char *name;
    int words;
    int (*work)(char **);
    const char *usage;
} commands[] = {
    {"load", 3, pair_load, "MODULE EMPTY ROUNDS"},
    {"login", 7, pair_login, "CONFDIR USER PASSCODE MIB PASSES ROUNDS DAEMON"},
    {"logins", 8, pair_logins, "CONFDIR COUNT PASSCODE MIB PASSES ROUNDS SOCKET RECORDS"},
    {"get", 6, pair_get, "SOCKET DAEMON RECORDS CPU ROUNDS BATCH"},
    {"set", 7, pair_set, "SOCKET DAEMON RECORDS STORED FOLDER ROUNDS BATCH"},
    {"sets", 6, pair_sets, "SOCKET RECORDS STORED FOLDER CONNECTIONS ROUNDS"},
    {"written", 6, pair_written, "SOCKET DAEMON RECORDS STORED FOLDER COUNT"},
    {"reopen", 5, pair_reopen, "ROUNDS RECORDS SOCKET RECORDS SOCKET ..."},
    {"rekey", 3, measure_rekey, "SOCKET RECORDS ROUNDS"},
    {"follow", 3, measure_follow, "SOCKET STORES ROUNDS"},
    {"watch", 4, measure_watch, "SOCKET DAEMON PEOPLE ROUNDS"},
    {"create", 5, do_create, "SOCKET WAY PASSCODE USER UID (USER - for oneself)"},
    {"fill", 2, do_fill, "SOCKET RECORDS"},
    {"argon", 3, do_argon, "MIB PASSES ROUNDS"},
};

int main(int count, char **words) {
    if (sodium_init() < 0) return 1;
    for (size_t each = 0; each < sizeof commands / sizeof *commands; each++) {
        if (count > 1 && strcmp(words[1], commands[each].name) == 0 && count - 2 >= commands[each].words) {
            return commands[each].work(words + 2);
        }
    }
    for (size_t each = 0; each < sizeof commands / sizeof *commands; each++) {
        fprintf(stderr, "bench %s %s\n", commands[each].name, commands[each].usage);
    }
    return 2;
}
