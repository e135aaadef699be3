/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_SRUN_SRUN_CONTEXT_H
#define SPANK_SRUN_SRUN_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "option/option.h"
#include "profile/hints.h"
#include "spank/common/flags.h"
#include "spank/srun/trace_file.h"

struct report_srun;

/* The facts by which the ranks in hints are compared with those of the step. */
struct hints_ranks {
    char name[NUIOA_VALUE_MAX + 64]; /* "OPTION: FILE", as the user wrote them; or "OPTION" */
    uint32_t ranks;                  /* number of ranks in a profile; 0: none was read */
    bool at_least;                   /* the profile may be for more ranks than it names */
    struct nuioa_hints list;         /* a list instead of a profile; owned */
    uint32_t task_count;             /* number of tasks in the components that have started */
    unsigned components;             /* of a heterogeneous step; else 1 */
    unsigned started;                /* number of those that have started */
};

/* The state that srun keeps from one hook to the next. All zeros at first, except `flags`. */
struct srun_context {
    const struct flags *flags;    /* what the user typed; not owned */
    struct nuioa_options options; /* all option sources together */
    bool warned;                  /* the warnings were printed, for the first component */
    struct hints_ranks hints_ranks;
    struct trace_file trace;
    struct report_srun *report; /* owned by report_srun.c; NULL: there is none */
};

#endif
