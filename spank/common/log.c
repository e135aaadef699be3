/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/log.h"

#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/descriptors.h"

/* slurm_spank_log() prints at every log level and adds nothing to the line. */
void log_line(const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    nuioa_make_printable(text);
    slurm_spank_log("nuioa: %s", text);
}

void log_text(const char *text)
{
    nuioa_write_text(STDERR_FILENO, text);
}

const char *log_host(char *name, size_t size)
{
    if (gethostname(name, size) < 0)
        snprintf(name, size, "?");
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
    return name;
}
