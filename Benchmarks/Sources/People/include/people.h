/* Accounts that exist in the bench alone: bench0, bench1 ... with the uids from here on. */
enum { BENCH_UID = 200000, BENCH_PEOPLE = 100000 };
