// Stands in for libfprint's parser, as if a driver had taken the worker over: the template says what it tries. What
// the sandbox refuses makes it a template that is none.
#include "rulespreload.c"

void *fp_print_deserialize(const unsigned char *data, size_t length, void *error) {
    char what[4096] = {0};
    (void)error;
    if (length >= sizeof what) _exit(40);
    memcpy(what, data, length);
    misbehave(what);
    int tried = attempt(what);
    if (tried == REFUSED) return NULL;
    _exit(40 + tried);
}
