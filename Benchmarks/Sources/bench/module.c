// What PAM sees: loading the module, and whole transactions through the real libpam.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "argon.h"
#include "measure.h"
#include "pairs.h"
#include "wire.h"

int pam_start_confdir(const char *, const char *, const struct pam_conv *, const char *, pam_handle_t **);

static double load_us(const char *path, size_t batch) {
    double began = now_us();
    for (size_t each = 0; each < batch; each++) {
        void *module = dlopen(path, RTLD_NOW);
        if (!module) {
            fprintf(stderr, "bench: %s\n", dlerror());
            exit(1);
        }
        dlclose(module);
    }
    return (now_us() - began) / (double)batch;
}

int pair_load(char **words) {
    enum { BATCH = 50 };
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    pin(0, 0);
    for (size_t round = strtoul(words[2], NULL, 10); round > 0; round--) {
        add(&series[0], load_us(words[0], BATCH));
        add(&series[1], load_us(words[1], BATCH));
        add(&series[2], load_us(words[1], BATCH));
    }
    print_row(series, 3, NULL);
    return 0;
}

static int converse(int count, const struct pam_message **messages, struct pam_response **answers, void *passcode) {
    struct pam_response *all = calloc((size_t)count, sizeof *all);
    if (!all) return PAM_BUF_ERR;
    for (int each = 0; each < count; each++) {
        int style = messages[each]->msg_style;
        if (style == PAM_PROMPT_ECHO_OFF || style == PAM_PROMPT_ECHO_ON) all[each].resp = strdup(passcode);
    }
    *answers = all;
    return PAM_SUCCESS;
}

static int log_in(const char *folder, const char *user, char *passcode, double *took) {
    struct pam_conv conversation = {converse, passcode};
    pam_handle_t *pam = NULL;
    double began = now_us();
    int status = pam_start_confdir("bench", user, &conversation, folder, &pam);
    if (status == PAM_SUCCESS) status = pam_authenticate(pam, 0);
    pam_end(pam, status);
    *took = now_us() - began;
    return status;
}

int pair_login(char **words) {
    size_t mebibytes = strtoul(words[3], NULL, 10), rounds = strtoul(words[5], NULL, 10);
    unsigned passes = (unsigned)strtoul(words[4], NULL, 10);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}};
    double took;
    pin(0, 0);
    pin(atoi(words[6]), 0);
    argon_us(mebibytes, passes);
    for (size_t round = 0; round <= rounds; round++) {
        int status = log_in(words[0], words[1], words[2], &took);
        if (status != PAM_SUCCESS) {
            fprintf(stderr, "bench: the login ended with %d\n", status);
            return 1;
        }
        if (round == 0) continue;  // the first one finds everything cold
        add(&series[0], took);
        add(&series[1], argon_us(mebibytes, passes));
        add(&series[2], argon_us(mebibytes, passes));
    }
    pin(atoi(words[6]), -1);
    print_row(series, 3, NULL);
    return 0;
}

// Every login is a process of its own, as sshd's and sudo's are; all of them wait at the same pipe.
static double many(const char *folder, size_t count, char *passcode, int *failed, struct link *other, size_t records,
                   struct series *gets) {
    int gate[2];
    if (pipe(gate) != 0) die("pipe");
    pid_t *children = calloc(count, sizeof *children);
    for (size_t each = 0; each < count; each++) {
        children[each] = fork();
        if (children[each] < 0) die("fork");
        if (children[each] == 0) {
            char user[32], byte;
            double took;
            snprintf(user, sizeof user, "bench%zu", each);
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) _exit(99);
            _exit(log_in(folder, user, passcode, &took) == PAM_SUCCESS ? 0 : 1);
        }
    }
    close(gate[0]);
    usleep(300000);
    double began = now_us(), ended = began;
    close(gate[1]);
    uint64_t numbers = 7;
    for (size_t left = count; left > 0;) {
        int status;
        while (left > 0 && waitpid(-1, &status, WNOHANG) > 0) {
            left--;
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++*failed;
            ended = now_us();
        }
        if (left == 0) break;
        double asked = now_us();
        get_record(other, next_number(&numbers) % records);
        add(gets, now_us() - asked);
        usleep(1000);
    }
    free(children);
    return ended - began;
}

int pair_logins(char **words) {
    size_t count = strtoul(words[1], NULL, 10), mebibytes = strtoul(words[3], NULL, 10);
    size_t rounds = strtoul(words[5], NULL, 10), records = strtoul(words[7], NULL, 10);
    unsigned passes = (unsigned)strtoul(words[4], NULL, 10);
    struct series series[] = {{.name = "ours"}, {.name = "against"}, {.name = "control"}, {.name = "gets"}};
    struct link *other = link_open(words[6]);
    open_store(other, words[2]);
    int failed = 0;
    for (size_t round = 0; round < rounds; round++) {
        double seconds = (double)count * 1e6;
        add(&series[0], seconds / many(words[0], count, words[2], &failed, other, records, &series[3]));
        add(&series[1], seconds / argon_parallel_us(mebibytes, passes, count));
        add(&series[2], seconds / argon_parallel_us(mebibytes, passes, count));
    }
    char more[32];
    snprintf(more, sizeof more, "\"failed\": %d", failed);
    print_row(series, 4, more);
    return 0;
}
