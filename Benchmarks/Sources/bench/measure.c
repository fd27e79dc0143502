#define _GNU_SOURCE
#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void pin(pid_t process, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0) {
        CPU_SET(cpu, &set);
    } else {
        for (int each = 0; each < CPU_SETSIZE; each++) CPU_SET(each, &set);
    }
    char path[64];
    snprintf(path, sizeof path, process ? "/proc/%d/task" : "/proc/self/task", (int)process);
    DIR *tasks = opendir(path);
    if (!tasks) die(path);
    for (struct dirent *entry; (entry = readdir(tasks));) {
        int thread = atoi(entry->d_name);
        if (thread > 0 && sched_setaffinity(thread, sizeof set, &set) != 0 && errno != ESRCH) die("sched_setaffinity");
    }
    closedir(tasks);
}

_Noreturn void die(const char *what) {
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

void add(struct series *series, double value) {
    if (series->count == series->room) {
        series->room = series->room ? series->room * 2 : 64;
        series->values = realloc(series->values, series->room * sizeof *series->values);
        if (!series->values) die("memory");
    }
    series->values[series->count++] = value;
}

void print_row(const struct series *series, size_t count, const char *more) {
    printf("{");
    for (size_t row = 0; row < count; row++) {
        printf("%s\"%s\": [", row ? ", " : "", series[row].name);
        for (size_t each = 0; each < series[row].count; each++) {
            printf("%s%.3f", each ? ", " : "", series[row].values[each]);
        }
        printf("]");
    }
    printf("%s%s}\n", more && *more ? ", " : "", more ? more : "");
}

uint64_t next_number(uint64_t *state) {
    uint64_t mixed = (*state += 0x9E3779B97F4A7C15u);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}
