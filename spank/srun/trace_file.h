/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_TRACE_FILE_H
#define SPANK_SRUN_TRACE_FILE_H

#include <limits.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <sys/stat.h>

/* srun looks at the file of --nuioa-trace before and after the step, as the user: a program into
 * which nothing is preloaded, or that is killed, cannot say itself that it was not recorded. */
struct trace_look {
    bool there;
    struct stat file; /* if `there` */
    bool writable;    /* its directory is */
};

struct trace_file {
    char path[PATH_MAX]; /* absolute; "": no trace of this step is expected, or nobody can tell */
    struct trace_look before;
};

/* In local_user_init: looks at `file`, an option's value, "" for none. Of a step whose ranks record
 * nothing, because it runs a launcher, it says so instead. It does nothing if *trace has a path
 * already. It waits two seconds at most, as the next function does. */
void trace_file_before(struct trace_file *trace, const char *file, spank_t spank);

/* When the step is over: prints one line if the file is the same as before. It prints nothing where
 * the ranks cannot have written it, because they say so themselves. */
void trace_file_after(const struct trace_file *trace);

#endif
