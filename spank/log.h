/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_LOG_H
#define SPANK_LOG_H

#include <stddef.h>

#include "util/error.h"

/* Where words go. In srun, sbatch and salloc the user reads them. In slurmstepd he does once the
 * job's stderr is connected, which is between init_post_opt and user_init; slurmd.log gets them
 * always. */

/* One line, "nuioa: ..." */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A node's troubles: one line for the user, which begins with the node's name; further ones only
 * for slurmd.log. */
void log_faults(const char *host, const struct nuioa_warnings *faults);

/* A text of many lines on the job's stderr, before any output of the ranks. Gives up on a reader
 * that does not read. */
void log_text(const char *text);

/* This node as people call it: without the domain. Returns name. */
const char *log_host(char *name, size_t size);

#endif
