// What the rules worker runs over a candidate, imported by it alone: libpwquality, and libc's regular expressions.
#ifndef APPVAULT_CPWQUALITY_H
#define APPVAULT_CPWQUALITY_H

#include <errno.h>
#include <locale.h>
#include <pwd.h>
#include <pwquality.h>
#include <regex.h>
#include <string.h>

// Patterns are matched by characters, not by bytes, and libpwquality speaks English.
static inline int appvault_utf8(void) { return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1; }

enum appvault_tested { APPVAULT_PASSES, APPVAULT_FAILS, APPVAULT_CANNOT_RUN };

// A POSIX extended regular expression, somewhere in the text.
static inline enum appvault_tested appvault_matches(const char *pattern, const char *text) {
    regex_t compiled;
    if (regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0) return APPVAULT_CANNOT_RUN;
    int found = regexec(&compiled, text, 0, NULL, 0);
    // Not freed: the process ends with its candidate.
    return found == 0 ? APPVAULT_PASSES : found == REG_NOMATCH ? APPVAULT_FAILS : APPVAULT_CANNOT_RUN;
}

// libpwquality's opinion, with everything off that is a rule of ours or needs an account or a former password. Its
// least length, 6, cannot be turned off. The reason is NUL-terminated.
static inline enum appvault_tested appvault_dictionary(const char *text, char *reason, size_t room) {
    static const int off[] = {
        PWQ_SETTING_DIFF_OK,    PWQ_SETTING_DIG_CREDIT,       PWQ_SETTING_UP_CREDIT,   PWQ_SETTING_LOW_CREDIT,
        PWQ_SETTING_OTH_CREDIT, PWQ_SETTING_MIN_CLASS,        PWQ_SETTING_MAX_REPEAT,  PWQ_SETTING_GECOS_CHECK,
        PWQ_SETTING_USER_CHECK, PWQ_SETTING_MAX_CLASS_REPEAT, PWQ_SETTING_MAX_SEQUENCE,
    };
    reason[0] = 0;
    pwquality_settings_t *settings = pwquality_default_settings();
    if (!settings) return APPVAULT_CANNOT_RUN;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (pwquality_set_int_value(settings, off[i], 0) != 0) return APPVAULT_CANNOT_RUN;
    if (pwquality_set_int_value(settings, PWQ_SETTING_MIN_LENGTH, 6) != 0) return APPVAULT_CANNOT_RUN;
    if (pwquality_set_int_value(settings, PWQ_SETTING_DICT_CHECK, 1) != 0) return APPVAULT_CANNOT_RUN;
    void *details = NULL;
    int score = pwquality_check(settings, text, NULL, NULL, &details);
    if (score >= 0) return APPVAULT_PASSES;
    switch (score) {
    case PWQ_ERROR_CRACKLIB_CHECK:
        // cracklib says it in a text, and that the dictionary is missing is one of its texts.
        if (!details || strstr(details, "loading dictionary")) return APPVAULT_CANNOT_RUN;
        strncpy(reason, details, room - 1);
        break;
    case PWQ_ERROR_PALINDROME:
    case PWQ_ERROR_MIN_LENGTH:
    case PWQ_ERROR_BAD_WORDS: {
        char buffer[PWQ_MAX_ERROR_MESSAGE_LEN];
        const char *said = pwquality_strerror(buffer, sizeof buffer, score, details);
        if (said) strncpy(reason, said, room - 1);
        break;
    }
    default: return APPVAULT_CANNOT_RUN;
    }
    reason[room - 1] = 0;
    return APPVAULT_FAILS;
}

#endif
