#ifndef PAIRS_H
#define PAIRS_H

// Each takes the words behind its name and prints one JSON object.
int pair_load(char **words);
int pair_login(char **words);
int pair_logins(char **words);
int pair_get(char **words);
int pair_set(char **words);
int pair_sets(char **words);
int pair_written(char **words);
int pair_reopen(char **words);
int measure_rekey(char **words);
int measure_follow(char **words);
int measure_watch(char **words);
int do_create(char **words);
int do_fill(char **words);
int do_argon(char **words);

#endif
