// A PAM module for tests: it stands in for the modules in front of ours and behind it.
//   want=TOKEN     succeeds only with this PAM_AUTHTOK; asks for one where there is none, as pam_unix does
//   set=TOKEN      sets PAM_AUTHTOK        setold=TOKEN   sets PAM_OLDAUTHTOK
//   setlong=NUMBER sets a PAM_AUTHTOK of that many characters: a service file's line is 1024 at most
//   look=NAME      puts PAM_AUTHTOK into the PAM environment as NAME, or NAME=(none)
//   env=NAME=VALUE puts that into the PAM environment
//   spill=1        frees a copy of PAM_AUTHTOK unwiped, so that what looks for such is seen to look
//   return=NUMBER  what it answers otherwise (0)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <security/pam_ext.h>
#include <security/pam_modules.h>

static int run(pam_handle_t *pam, int argc, const char **argv) {
    int result = PAM_SUCCESS;
    for (int i = 0; i < argc; i++) {
        const char *value = strchr(argv[i], '=');
        if (value == NULL) return PAM_SERVICE_ERR;
        value++;
        if (strncmp(argv[i], "want=", 5) == 0) {
            const char *token = NULL;
            int found = pam_get_authtok(pam, PAM_AUTHTOK, &token, NULL);
            if (found != PAM_SUCCESS || token == NULL || strcmp(token, value) != 0) result = PAM_AUTH_ERR;
        } else if (strncmp(argv[i], "set=", 4) == 0) {
            pam_set_item(pam, PAM_AUTHTOK, value);
        } else if (strncmp(argv[i], "setold=", 7) == 0) {
            pam_set_item(pam, PAM_OLDAUTHTOK, value);
        } else if (strncmp(argv[i], "setlong=", 8) == 0) {
            size_t count = strtoul(value, NULL, 10);
            char *token = malloc(count + 1);
            if (token == NULL) return PAM_BUF_ERR;
            memset(token, 'x', count);
            token[count] = 0;
            pam_set_item(pam, PAM_AUTHTOK, token);
            free(token);
        } else if (strncmp(argv[i], "env=", 4) == 0) {
            pam_putenv(pam, value);
        } else if (strncmp(argv[i], "look=", 5) == 0) {
            const void *token = NULL;
            pam_get_item(pam, PAM_AUTHTOK, &token);
            const char *text = token != NULL ? token : "(none)";
            size_t size = strlen(value) + strlen(text) + 2;
            char *line = malloc(size);
            if (line == NULL) return PAM_BUF_ERR;
            snprintf(line, size, "%s=%s", value, text);
            pam_putenv(pam, line);
            free(line);
        } else if (strncmp(argv[i], "spill=", 6) == 0) {
            const void *token = NULL;
            pam_get_item(pam, PAM_AUTHTOK, &token);
            if (token != NULL) free(strdup(token));
        } else if (strncmp(argv[i], "return=", 7) == 0) {
            result = atoi(value);
        }
    }
    return result;
}

#define ENTRY(name) \
    int name(pam_handle_t *pam, int flags, int argc, const char **argv) { \
        (void)flags; \
        return run(pam, argc, argv); \
    }

ENTRY(pam_sm_authenticate)
ENTRY(pam_sm_acct_mgmt)
ENTRY(pam_sm_open_session)
ENTRY(pam_sm_close_session)
ENTRY(pam_sm_chauthtok)

int pam_sm_setcred(pam_handle_t *pam, int flags, int argc, const char **argv) {
    (void)pam;
    (void)flags;
    (void)argc;
    (void)argv;
    return PAM_SUCCESS;
}
