#ifndef ARGON_H
#define ARGON_H

#include <stddef.h>

double argon_us(size_t mebibytes, unsigned passes);
// So many derivations, as many at once as there are CPUs; the time for all of them.
double argon_parallel_us(size_t mebibytes, unsigned passes, size_t count);

#endif
