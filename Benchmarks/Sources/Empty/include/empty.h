/* A module that does nothing: what loading alone costs. */
int appvault_bench_empty(void);
