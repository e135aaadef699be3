/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/subprocess.h"

enum { PROGRAM_MS = 2000, OUTPUT_BYTES_MAX = 16 << 20 };

static void become_program(int fd, void *arg)
{
    const char *const *words = arg;
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 2) < 0 || dup2(fd, 1) < 0)
        return;
    close(fd);
    if (null > 2)
        close(null);
    execvp(words[0], (char *const *)words);
}

int program_output(const char *const *words, char **text)
{
    void *bytes = NULL;
    size_t length = 0;
    int rc = nuioa_subprocess_run(become_program, (void *)words, PROGRAM_MS, OUTPUT_BYTES_MAX,
                                  &bytes, &length);
    *text = rc || !length ? NULL : strndup(bytes, length);
    free(bytes);
    return rc ? rc : *text ? 0 : -ENOENT;
}
