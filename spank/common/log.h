/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_LOG_H
#define SPANK_COMMON_LOG_H

#include <stddef.h>

#include "util/error.h"

/* Messages to the user. In srun, sbatch and salloc they go to stderr. In slurmstepd they go to
 * slurmd.log, and also to the job's stderr once Slurm has connected that, which it does between
 * init_post_opt and user_init. */

/* Prints one line, "nuioa: ...". The text has no newline, is cut at 511 bytes, and
 * nuioa_make_printable() is applied. Any thread may call it. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Writes a text of many lines to stderr, as it is. If the reader of stderr reads nothing for half a
 * second, the rest of the text is lost. */
void log_text(const char *text);

/* Writes this host's name without the domain into `name`, an array of `size` bytes, and returns
 * `name`. It writes "?" if the host's full name does not fit, or the kernel does not tell
 * it. */
const char *log_host(char *name, size_t size);

#endif
