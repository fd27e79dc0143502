// A PAM application small enough for valgrind:
//   labdriver FOLDER SERVICE USER TIMES ANSWER...
// Each time: authenticate, setcred, open and close a session, change the password; prompts take the answers in
// turn, beginning anew each time. Prints the codes of the last time.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <security/pam_appl.h>

static char **answers;
static int answer_count, asked;

static int converse(int count, const struct pam_message **messages, struct pam_response **out, void *data) {
    (void)data;
    struct pam_response *responses = calloc((size_t)count, sizeof *responses);
    if (responses == NULL) return PAM_BUF_ERR;
    for (int i = 0; i < count; i++) {
        int style = messages[i]->msg_style;
        if (style != PAM_PROMPT_ECHO_OFF && style != PAM_PROMPT_ECHO_ON) continue;
        if (asked >= answer_count) {
            free(responses);
            return PAM_CONV_ERR;
        }
        responses[i].resp = strdup(answers[asked++]);
    }
    *out = responses;
    return PAM_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    answers = argv + 5;
    answer_count = argc - 5;
    int codes[6] = {0};
    for (int i = 0; i < atoi(argv[4]); i++) {
        struct pam_conv conversation = {converse, NULL};
        pam_handle_t *pam = NULL;
        asked = 0;
        if (pam_start_confdir(argv[2], argv[3], &conversation, argv[1], &pam) != PAM_SUCCESS) return 2;
        codes[0] = pam_authenticate(pam, 0);
        codes[1] = pam_setcred(pam, PAM_ESTABLISH_CRED);
        codes[2] = pam_open_session(pam, 0);
        codes[3] = pam_close_session(pam, 0);
        codes[4] = pam_chauthtok(pam, 0);
        pam_end(pam, codes[0]);
    }
    printf("%d %d %d %d %d\n", codes[0], codes[1], codes[2], codes[3], codes[4]);
    return 0;
}
