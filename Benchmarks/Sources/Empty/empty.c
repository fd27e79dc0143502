#include "empty.h"

int appvault_bench_empty(void) { return 0; }
