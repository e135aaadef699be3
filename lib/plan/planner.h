/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_PLANNER_H
#define NUIOA_PLAN_PLANNER_H

#include "plan/plan.h"
#include "slots/slot.h"

/* The steps in which a plan is made, and the state that they read and write. Private to the
 * library. */
struct planner {
    struct nuioa_basis basis;
    struct nuioa_plan *plan;  /* the caller's */
    struct nuioa_arena arena; /* basis.arena */
    uint32_t *slot_of; /* [task_count]: the slot (slots/slot.h) of each task, at first its own */
    bool acts;         /* ranks are bound: with mode on, unless that has failed */
    /* Why no rank may move to free cores (slots/free_cores.h), or NUIOA_REASON_NONE; and the CPUs
     * among which they may be free, NULL if no rank may. */
    enum nuioa_reason refused;
    hwloc_const_bitmap_t free_among;
};

/* The first step chooses on which CPUs each rank runs. It reads planner->basis, and sets in
 * planner->plan the CPUs of every assignment and its part of J, J before and after, the mapper, its
 * work and bound, and the reason; and may add warnings. It also changes planner->slot_of. Returns
 * 0; -ENOMEM; or -ETIME if the thread's processor time is past request->cpu_until_us. After an
 * error some CPUs may have been set. */
int nuioa_plan_choose(struct planner *planner);

/* Computes the cost J (mapping/problem.h) with the NICs that ranks would get, and the part of each
 * rank in it. With `before` it is of the CPUs that Slurm gave: plan->before, and `costs.before` of
 * the assignments. Else it is of the CPUs in the assignments: plan->after, and `costs.after`.
 * Mappers have a J of their own, which estimates the NICs of ranks that may have several, or GPUs.
 * Returns 0; or -ENOMEM, and what it sets is undefined. */
int nuioa_plan_cost(struct planner *planner, bool before);

enum nuioa_verdict {
    NUIOA_NOBODY_MOVES, /* the assignments have the CPUs that Slurm gave */
    NUIOA_COSTS_MORE,   /* J would rise: all ranks have the CPUs again that Slurm gave */
    NUIOA_STANDS,       /* J does not rise: the CPUs in the assignments are the plan */
};

/* Decides on the CPUs in the assignments, after plan->before is known, and sets plan->after and
 * plan->mapper: `mapper` has found these CPUs. Returns the verdict or -ENOMEM. */
int nuioa_plan_judge(struct planner *planner, const char *mapper);

/* Gives all ranks the CPUs again that Slurm gave, with their cost. Returns 0 or -ENOMEM. */
int nuioa_plan_keep(struct planner *planner);

/* Makes `why` the reason of the plan, with its sentence. */
void nuioa_planner_say(struct planner *planner, enum nuioa_reason why);

/* Placement that needs no weights: of the only rank of a node, and of several without hints. The
 * functions that place set the plan's CPUs and reason, and leave ranks where they are if J would
 * rise. They return -ENOMEM, or a number that is not negative. */

/* Moves the only rank, which Slurm bound, nearer the NIC, to free cores of the step
 * (slots/free_cores.h); or to these and its own, if it spans NUMA nodes. */
int nuioa_alone_place(struct planner *planner);

/* Gives the only rank, which has all CPUs of the step, as many of them as the user asked for, those
 * nearest the NIC; and all of them if the user did not say how many. */
int nuioa_alone_unbound(struct planner *planner);

/* Returns true if the CPUs of the only rank span NUMA nodes. */
bool nuioa_alone_is_wide(const struct planner *planner);

/* Without hints: moves the block of the lowest rank near the NIC (slots/rank_block.h), also to
 * free cores where it may. `slots` are the masks that Slurm gave, priced. */
int nuioa_rank_block_place(struct planner *planner, const struct nuioa_slots *slots);

/* The second step derives everything that follows from plan->usable and the CPUs of every
 * assignment: its rank, weight, `moved`, NUMA nodes, NICs, GPUs, path, levels, memory, OMP places
 * and the rest of its costs; and of the plan `moved`, `advice`, `binds_threads`, `gpus_left` and
 * the leaders. It may be called again after CPUs have changed. Returns 0; or -ENOMEM, and some of
 * these may be unset. */
int nuioa_plan_derive(struct planner *planner);

/* Sets `memory` and `memory_numas` of an assignment, which has its CPUs, NUMA nodes and NICs; and
 * may add to plan->advice. A policy of the user's is kept. There is none where ranks are not bound,
 * where NUMA nodes cut through cores, or when an allocation fails. It names only NUMA nodes whose
 * memory the step may use. mem=off sets none: a thread's first touch keeps memory beside it, also
 * if the program binds itself. mem=local prefers the memory of the rank's CPUs, if that is one NUMA
 * node, or if the user said that there is one thread; not if the user bound the ranks. mem=nic
 * prefers the memory of its NIC, interleaved over those of all its NICs if it is alone.
 * mem=interleave interleaves over the NUMA nodes of all rails: data that arrives by two rails is
 * faster there than in either NUMA node ([PDCS 2007] in doc/design.md, section 5.3). */
void nuioa_plan_memory(const struct planner *planner, struct nuioa_assignment *assignment);

/* Sets `places` of an assignment, and may add to plan->advice: one OMP place for each core, the
 * core nearest the rank's NIC first, because thread 0, which communicates, belongs there. A rank
 * gets none if it has one core, with threads=off, with the mode off, and if it did not move and
 * shares its CPUs or was left unbound by the user. Returns 0 or -ENOMEM.
 *
 * Also sets plan->binds_threads: with threads=on, if ranks are bound, and somebody said that they
 * have CPUs for several. */
int nuioa_plan_threads(struct planner *planner, struct nuioa_assignment *assignment);

/* The choice of leaders: the local ranks that communicate for their node in hierarchical
 * collectives. Ranks nearest the NIC are best (B. Goglin and S. Moreaud, "Dodging Non-Uniform I/O
 * Access in Hierarchical Collective Operations for Multicore Clusters", CASS 2011, section 3). */

struct nuioa_candidate {
    uint32_t local; /* local rank */
    uint32_t level; /* level of distance from its NIC (ranks/assignment.h); UINT32_MAX if unknown */
    double weight;  /* the rank's traffic with other nodes, in any unit: it is only compared */
    uint32_t nic_count;
    const uint32_t *nics; /* [nic_count]: indexes into node->nics, the one it uses most first */
};

/* Sorts candidates[count] in place, the best leader first: by level, then by descending weight (a
 * heavy rank uses the NIC anyway), then by local rank. Returns how many share the best level, 0
 * only if count is 0; a library may use each of these as leader in turn. It cannot fail. */
unsigned nuioa_leader_order(struct nuioa_candidate *candidates, unsigned count);

/* Writes to `locals` local ranks that together lead all NICs in use, for collectives with several
 * leaders: first, in ascending order of the NICs' indexes, the best leader of each NIC that is the
 * first one of a rank; then those of NICs that none of these uses. No rank is written twice.
 * `candidates` are in order, the best leader first, and are not changed; the caller allocates
 * locals[count]. Returns how many were written; 0 if no candidate has a NIC, or if memory is
 * short. */
unsigned nuioa_rail_leaders(const struct nuioa_candidate *candidates, unsigned count,
                            uint32_t *locals);

#endif
