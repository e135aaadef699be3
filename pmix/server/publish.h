/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_SERVER_PUBLISH_H
#define NUIOA_PMIX_SERVER_PUBLISH_H

#include <stdint.h>

#include "plan/option.h"
#include "plan/plan.h"
#include "topology/node.h"

/* The server side of PMIx: from inside slurmstepd, what a plan says becomes keys that every rank of
 * the node can read (contract: "PMIx keys"). It uses the libpmix that Slurm's mpi/pmix plugin has
 * loaded, found when called: nothing is linked, no second copy is loaded. Under --mpi=none and pmi2
 * there is none, and each of these functions returns 0: nothing to do.
 *
 * What it needs: PMIx_Store_internal and PMIx_Get, in a process where mpi/pmix has registered the
 * step's namespace: from user_init on. The PMIx standard does not promise that values stored like
 * this reach the ranks; with PMIx 4.2, 5.0 and 6.1 they do, if they are stored before a rank
 * connects, so publish at the last task_post_fork. The environment says the same. No function here
 * is thread-safe. */

/* A namespace is a name; candidates are tried in order until PMIx knows one. */
#define NUIOA_NAMESPACE_SIZE 256
#define NUIOA_NAMESPACE_CANDIDATES 3

struct nuioa_namespaces {
    unsigned count;
    char names[NUIOA_NAMESPACE_CANDIDATES][NUIOA_NAMESPACE_SIZE];
};

/* The names under which mpi/pmix may have registered a step. A heterogeneous job uses the leader's
 * job id, which SPANK does not tell: PMIX_SERVER_TMPDIR (in slurmstepd's own environment) does, and
 * SLURM_JOB_ID of the job's `environment` (may be NULL). */
void nuioa_namespaces_guess(struct nuioa_namespaces *namespaces, char *const *environment,
                            uint32_t job_id, uint32_t step_id);

/* The step as this process's PMIx knows it, from user_init on. Returns 1 and *publisher, which the
 * caller closes; 0 and NULL if there is no PMIx; or negative with *err: no candidate is known
 * (-ENOENT), another number of local tasks (-EINVAL), or PMIx does not answer (-ETIMEDOUT).
 *
 * Each call of PMIx is carried out by a thread of its own, and waits for that without end:
 * PMIX_TIMEOUT counts only where a request leaves the process, and these do not. So here, and
 * before anything is stored unless it has answered within `patience_ms`, PMIx is first asked aside,
 * and left alone if it has no answer within `patience_ms`. 0: it is not asked aside, for a process
 * that must not have threads. */
struct nuioa_publisher;
int nuioa_publish_open(const struct nuioa_namespaces *namespaces, uint32_t task_count,
                       unsigned patience_ms, struct nuioa_publisher **publisher,
                       struct nuioa_error *err);
void nuioa_publish_close(struct nuioa_publisher *publisher); /* NULL is fine */

/* The ranks of the local tasks as PMIx and MPI count them, by local rank: task_count, owned by the
 * publisher. In a heterogeneous job SPANK counts them per component. */
const uint32_t *nuioa_publish_ranks(const struct nuioa_publisher *publisher);

/* To be called in init_post_opt, before mpi/pmix starts its server: sees to it that keys of ours
 * reach the ranks under their names. Since version 5 a PMIx process numbers the keys that are not
 * PMIx's own as it meets them, and the job's data in shared memory (gds/shmem2) have the server's
 * numbers: a rank that asks for one such key is given the value of another, its MPI's own keys
 * included. So this server hands out data by messages (gds/hash), through its environment.
 *
 * `rank_count`: of the whole step; `environment`: the job's. Returns 0; or negative with *err if
 * that cannot be had: the job is too large for a copy of its data in each rank (-E2BIG), the user
 * has chosen the other way (-EPERM), the server runs (-EBUSY). nuioa_publish then leaves our keys
 * out. */
int nuioa_publish_prepare(uint32_t rank_count, char *const *environment, struct nuioa_error *err);

/* Ranks of a step up to which each may have its own copy of the job's data, which are 2 KB for each
 * rank of the step: 2 MB in each, and as many to be sent by the node's server. */
#define NUIOA_PUBLISH_RANKS_MAX 1024

struct nuioa_publication {
    const struct nuioa_plan *plan; /* as achieved; places[] by local rank */
    const struct nuioa_node *node;
    const struct nuioa_options *options;
    /* job-wide, when gathered: PMIx ranks, one for each node of the step */
    const uint32_t *leaders;
    uint32_t leader_count; /* 0: not gathered */
};

/* Publish by options->export_set: `pmix` the nuioa.* keys, if nuioa_publish_prepare could see to
 * them, `locality` also PMIX_CPUSET, PMIX_LOCALITY_STRING, PMIX_PACKAGE_RANK and
 * PMIX_DEVICE_DISTANCES, but for those that Slurm gives already, ranks that are not bound, and
 * plans that are not carried out. Ranks in what is published are those of PMIx, whatever
 * plan->places[].rank says.
 *
 * First what is each rank's own, for which the publication's leaders need not be known; then what
 * is the node's and the job's, with nuioa.version: who finds that finds all. Both return 0; or
 * negative with *err: then some keys may be stored already; each of them is true. */
int nuioa_publish_tasks(struct nuioa_publisher *publisher,
                        const struct nuioa_publication *publication, struct nuioa_error *err);
int nuioa_publish_node(struct nuioa_publisher *publisher,
                       const struct nuioa_publication *publication, struct nuioa_error *err);

/* What has been published so far. */
struct nuioa_published {
    const char *nspace;    /* the publisher's */
    unsigned pmix_version; /* 402 for 4.2; 0: unknown */
    uint32_t key_count;
    uint32_t time_us; /* spent in the two functions */
};

struct nuioa_published nuioa_publish_done(const struct nuioa_publisher *publisher);

#endif
