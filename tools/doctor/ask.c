/* SPDX-License-Identifier: BSD-3-Clause */

#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/doctor/ask.h"
#include "util/error.h"
#include "util/subprocess.h"

enum { ANSWER_MAX = 4096, NOBODY = 65534 };

void doctor_answer(int fd, char letter, const char *text)
{
    char line[256];
    line[0] = letter;
    nuioa_copy(line + 1, sizeof(line) - 1, text);
    nuioa_subprocess_write(fd, line, strlen(line) + 1);
}

char doctor_ask(void (*work)(int fd, void *arg), void *arg, char *text, size_t size)
{
    void *bytes = NULL;
    size_t length = 0;
    char got = 0;
    text[0] = '\0';
    if (!nuioa_subprocess_run(work, arg, DOCTOR_ASK_MS, ANSWER_MAX, &bytes, &length) &&
        length > 1 && !((char *)bytes)[length - 1]) {
        const char *answers = bytes, *before = memrchr(answers, '\0', length - 1);
        const char *last = before ? before + 1 : answers;
        got = *last;
        nuioa_copy(text, size, last + 1);
    }
    free(bytes);
    return got;
}

void doctor_become_nobody(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
                           setresuid(NOBODY, NOBODY, NOBODY)))
        _exit(1);
}
