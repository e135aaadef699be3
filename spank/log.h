/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_LOG_H
#define SPANK_LOG_H

#include <stddef.h>

#include "util/error.h"

/* Messages to the user. In srun, sbatch and salloc they go to stderr. In slurmstepd they go to
 * slurmd.log, and also to the job's stderr once Slurm has connected that, which it does between
 * init_post_opt and user_init. */

/* Prints one line, "nuioa: ...". It needs no newline, and is cut at 511 bytes. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints the first of a node's faults as a line that begins with the node's name. Further ones go
 * to slurmd.log only. Prints nothing if there are none. */
void log_faults(const char *host, const struct nuioa_warnings *faults);

/* Writes a text of many lines to stderr, before any output of the ranks. It gives up if the reader
 * does not read for half a second. */
void log_text(const char *text);

/* Writes this node's name without the domain into `name`, which has `size` bytes, and returns
 * it. */
const char *log_host(char *name, size_t size);

#endif
