/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_STEP_FACTS_H
#define SPANK_STEPD_STEP_FACTS_H

#include <sys/types.h>

#include "option/option.h"
#include "profile/hints.h"
#include "spank/common/step.h"
#include "topology/node.h"

/* slurmstepd knows this of its step on this node. stepd.c reads it in init_post_opt; afterwards it
 * is const, but for one thing: in user_init publisher.c writes the ranks that PMIx has into
 * step.ranks. */
struct step_facts {
    struct nuioa_options options; /* all option sources together */
    struct step step;
    struct nuioa_node node;
    struct nuioa_hints hints;
    pid_t pid; /* process id of slurmstepd */
};

#endif
