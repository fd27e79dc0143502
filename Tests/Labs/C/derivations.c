/* Stands before libsodium's derivation: notes each call in $DERIVATIONS, and holds it while $DERIVATIONS.hold is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef int derive(unsigned char *, unsigned long long, const char *, unsigned long long, const unsigned char *,
                   unsigned long long, size_t, int);

static void note(char what)
{
    const char *path = getenv("DERIVATIONS");
    if (path == NULL || path[0] == 0) return;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) abort();
    if (write(fd, &what, 1) != 1) abort();
    close(fd);
}

static void wait_for_leave(void)
{
    char hold[4096];
    const char *path = getenv("DERIVATIONS");
    if (path == NULL || path[0] == 0) return;
    snprintf(hold, sizeof hold, "%s.hold", path);
    while (access(hold, F_OK) == 0) usleep(2000);
}

int crypto_pwhash_argon2id(unsigned char *out, unsigned long long outlen, const char *passwd,
                           unsigned long long passwdlen, const unsigned char *salt, unsigned long long opslimit,
                           size_t memlimit, int alg)
{
    static derive *real;
    if (real == NULL) real = (derive *)dlsym(RTLD_NEXT, "crypto_pwhash_argon2id");
    note('(');
    wait_for_leave();
    int result = real(out, outlen, passwd, passwdlen, salt, opslimit, memlimit, alg);
    note(')');
    return result;
}
