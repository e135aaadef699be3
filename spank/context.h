/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_CONTEXT_H
#define SPANK_CONTEXT_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <sys/types.h>

#include "mapping/mapping.h"
#include "plan/option.h"
#include "profile/hints.h"
#include "profile/profile.h"
#include "spank/flags.h"
#include "spank/step.h"
#include "spank/task_memory.h"
#include "topology/node.h"

/* What a hints file is of, and the ranks that there are. */
struct hinted {
    char name[NUIOA_VALUE_MAX + 64]; /* "OPTION: FILE", as the user knows them */
    uint32_t ranks;                  /* of the file; 0: none was read */
    bool at_least;                   /* the file does not say how many there were */
    uint32_t task_count;             /* of the components that have started */
    unsigned components;             /* yet to start: of a heterogeneous job, else 1 */
};

/* What srun remembers from one hook to the next. */
struct srun_context {
    const struct flags *flags;    /* what was typed */
    struct nuioa_options options; /* what it means together with the other option sources */
    bool spoken;                  /* srun has said its warnings (a heterogeneous job asks again) */
    struct nuioa_profile profile; /* of the hints file; no ranks if there is none */
    struct hinted hinted;
    struct rendezvous *rendezvous; /* its part of the rendezvous; NULL: none */
};

/* What slurmstepd remembers. */
struct stepd_context {
    const struct flags *flags;    /* what was typed */
    struct nuioa_options options; /* what it means together with the other option sources */
    bool active;                  /* this step is handled */
    struct nuioa_warnings faults; /* what is wrong here; the job runs without the plugin */
    struct step step;
    struct nuioa_node node;
    struct nuioa_hints hints;
    double *weights;          /* [task_count], instead of `hints`: a profile's, for this node */
    struct nuioa_pair *pairs; /* and what its ranks say to each other */
    uint32_t pair_count;
    struct task_memory *task_memory; /* shared with the tasks; NULL: none */
    pid_t *pids;                     /* by local rank, 0 where not forked yet */
    uint32_t forked;
    uint64_t cpu_us;                   /* processor time that the plugin has used before the plan */
    uint64_t cpu_until_us;             /* when planning is to end, by the clock of its thread */
    struct nuioa_publisher *publisher; /* NULL: nothing is published */
    pid_t pid;                         /* of slurmstepd */
    struct conclusion *conclusion;     /* of stepd.c; NULL: nothing is to be concluded */
    struct rendezvous_node *rendezvous_node; /* this node's part of the rendezvous; NULL: none */
    uint32_t init_us, fork_us, last_fork_us; /* time spent in the hooks */
};

/* One function for each hook of a program. In slurmstepd and slurmd they cannot fail: there is
 * nothing that a launch should fail for. */

/* srun. The check of a flag also is sbatch's and salloc's: in the user's own program, before
 * anything is allocated, it ends the process if the flag is wrong or asks for help. */
void srun_check_flag(int index, const char *value);
void srun_init_post_opt(struct srun_context *context, int argc, char **argv);
void srun_user_init(struct srun_context *context, spank_t spank);
void srun_exit(struct srun_context *context);

/* sbatch, salloc */
void allocator_init_post_opt(const struct flags *flags);

void stepd_init_post_opt(struct stepd_context *context, spank_t spank, int argc, char **argv);
void stepd_user_init(struct stepd_context *context, spank_t spank);
void stepd_task_post_fork(struct stepd_context *context, spank_t spank);
/* Where the time that it took is to be written; NULL: nowhere. */
uint32_t *stepd_task_init(struct stepd_context *context, spank_t spank);
void stepd_exit(struct stepd_context *context);

void slurmd_init(int argc, char **argv);

#endif
