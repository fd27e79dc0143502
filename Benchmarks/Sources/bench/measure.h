#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

double now_us(void);
// Every thread of a process; below 0: all CPUs again. 0 as the process: this one.
void pin(pid_t process, int cpu);
_Noreturn void die(const char *what);

// One row's samples, printed as a JSON array.
struct series {
    const char *name;
    double *values;
    size_t count, room;
};
void add(struct series *series, double value);
void print_row(const struct series *series, size_t count, const char *more);

// Numbers that both sides of a pair take in the same order.
uint64_t next_number(uint64_t *state);

#endif
