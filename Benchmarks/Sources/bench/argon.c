#define _GNU_SOURCE
#include "argon.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "measure.h"
#include "pairs.h"

double argon_us(size_t mebibytes, unsigned passes) {
    static const char passcode[] = "correct horse battery staple";
    unsigned char key[32], salt[crypto_pwhash_SALTBYTES] = {1, 2, 3};
    double began = now_us();
    if (crypto_pwhash(key, sizeof key, passcode, sizeof passcode - 1, salt, passes, mebibytes << 20,
                      crypto_pwhash_ALG_ARGON2ID13) != 0)
        die("Argon2id");
    return now_us() - began;
}

struct share {
    size_t mebibytes;
    unsigned passes;
    atomic_int left;
};

static void *worker(void *argument) {
    struct share *share = argument;
    while (atomic_fetch_sub(&share->left, 1) > 0) argon_us(share->mebibytes, share->passes);
    return NULL;
}

double argon_parallel_us(size_t mebibytes, unsigned passes, size_t count) {
    enum { MOST = 64 };
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = cpus < 1 ? 1 : cpus > MOST ? MOST : (size_t)cpus;
    pthread_t all[MOST];
    struct share share = {mebibytes, passes, (int)count};
    double began = now_us();
    for (size_t each = 0; each < threads; each++) {
        if (pthread_create(&all[each], NULL, worker, &share) != 0) die("pthread_create");
    }
    for (size_t each = 0; each < threads; each++) pthread_join(all[each], NULL);
    return now_us() - began;
}

// Against itself: how far two runs of the same thing lie apart on this machine.
int do_argon(char **words) {
    size_t mebibytes = strtoul(words[0], NULL, 10), rounds = strtoul(words[2], NULL, 10);
    unsigned passes = (unsigned)strtoul(words[1], NULL, 10);
    struct series series[] = {{.name = "ours"}, {.name = "against"}};
    pin(0, 0);
    argon_us(mebibytes, passes);
    for (size_t each = 0; each < rounds; each++) {
        add(&series[0], argon_us(mebibytes, passes));
        add(&series[1], argon_us(mebibytes, passes));
    }
    print_row(series, 2, NULL);
    return 0;
}
