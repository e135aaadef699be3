/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_SERVER_PUBLISH_H
#define NUIOA_PMIX_SERVER_PUBLISH_H

#include <stdint.h>

#include "option/option.h"
#include "plan/plan.h"
#include "topology/node.h"

/* The server side of PMIx: inside slurmstepd, these functions store a plan as keys that every rank
 * of the node can read (doc/formats.md, "PMIx keys"). They use the libpmix that Slurm's plugin
 * mpi/pmix has loaded, and look for it when they are called: so nothing is linked, and no second
 * copy is loaded. With --mpi=none and --mpi=pmi2 there is no libpmix, and nothing is done.
 *
 * They need PMIx_Store_internal and PMIx_Get in a process in which mpi/pmix has registered the
 * step's namespace, which is so from user_init on. The PMIx standard does not guarantee that values
 * stored in this way reach the ranks. With PMIx 4.2, 5.0 and 6.1 they do if they are stored before
 * a rank connects: so publish at the last task_post_fork. The environment has the same values. No
 * function here is thread-safe. */

/* Limits of the struct below: bytes of a name with its NUL, and number of names. */
#define NUIOA_NAMESPACE_SIZE 256
#define NUIOA_NAMESPACE_CANDIDATES 3

/* The candidates for the name of the step's namespace. They are tried in this order until PMIx
 * knows one. */
struct nuioa_namespaces {
    unsigned count;
    char names[NUIOA_NAMESPACE_CANDIDATES][NUIOA_NAMESPACE_SIZE];
};

/* Fills *namespaces with the names under which mpi/pmix may have registered the step. In a
 * heterogeneous job the name has the job id of the leading component. SPANK does not tell it, but
 * PMIX_SERVER_TMPDIR in slurmstepd's own environment does, and SLURM_JOB_ID in `environment`, which
 * is the job's ("NAME=VALUE" strings ended by NULL; it may be NULL). `job_id` and `step_id` are
 * what SPANK tells. It cannot fail: there is always at least one name. */
void nuioa_namespaces_guess(struct nuioa_namespaces *namespaces, char *const *environment,
                            uint32_t job_id, uint32_t step_id);

/* A step whose keys are stored: struct nuioa_publisher in session.h. */
struct nuioa_publisher;

/* Opens the step with `task_count` local tasks as this process's PMIx knows it. Returns 1 and
 * *publisher, which nuioa_publish_close frees; 0 and NULL if there is no PMIx or no task; or
 * negative with *err, and NULL: -ENOENT if PMIx knows no candidate, -EINVAL if it has another
 * number of local tasks, -ETIMEDOUT if it does not answer, -EAGAIN if there is no thread to ask it,
 * or -ENOMEM.
 *
 * PMIx does each call in its own thread, and the caller waits for it without a limit: PMIX_TIMEOUT
 * is for requests to other nodes only. Therefore another thread asks PMIx a question first: in this
 * function, and before keys are stored if the last answer is older than `patience_ms`. If the
 * answer does not come within `patience_ms`, PMIx is not called. With 0 no such question is asked,
 * for a process that must not have threads. */
int nuioa_publish_open(const struct nuioa_namespaces *namespaces, uint32_t task_count,
                       unsigned patience_ms, struct nuioa_publisher **publisher,
                       struct nuioa_error *err);

/* Frees the publisher. The keys that it stored remain in PMIx. NULL is allowed. */
void nuioa_publish_close(struct nuioa_publisher *publisher);

/* Returns the ranks of the local tasks as PMIx and MPI number them: an array of task_count ranks,
 * by local rank. The publisher owns it, until nuioa_publish_close. SPANK's ranks differ from them
 * in a heterogeneous job, where SPANK numbers the ranks of each component from 0. */
const uint32_t *nuioa_publish_ranks(const struct nuioa_publisher *publisher);

/* Makes sure that the keys nuioa.* reach the ranks under their names. Call it in init_post_opt,
 * before mpi/pmix starts its server. Since version 5 each PMIx process gives numbers to the keys
 * that are not PMIx's own, in the order in which it meets them. The job's data in shared memory
 * (gds/shmem2) have the numbers of the server: so a rank that asks for such a key gets the value of
 * another one, and this is true for the keys of its MPI library too. Therefore a variable in
 * slurmstepd's environment makes this server send the data in messages (gds/hash).
 *
 * `rank_count` is that of the whole step, `environment` is the job's, as above. Returns 0, also if
 * there is no PMIx or nothing is to be done; or negative with *err: -E2BIG if the step is too large
 * for a copy of the data in each rank, -EPERM if the user has chosen another way, -EBUSY if the
 * server runs already, or -ENOMEM. After an error nuioa_publish_tasks and nuioa_publish_node leave
 * the keys nuioa.* out. */
int nuioa_publish_prepare(uint32_t rank_count, char *const *environment, struct nuioa_error *err);

/* The largest number of ranks of a step in which each rank may have its own copy of the job's data.
 * The data are 2 KB for each rank of the step: 2 MB in each rank, which the node's server sends. */
#define NUIOA_PUBLISH_RANKS_MAX 1024

/* The facts that are published. The caller owns all of them; nothing is kept after the call. */
struct nuioa_publication {
    const struct nuioa_plan *plan;       /* as carried out; assignments[] by local rank */
    const struct nuioa_node *node;       /* the node that the plan is for */
    const struct nuioa_options *options; /* `export_set` says which keys are wanted */
};

/* These two functions store the keys that options->export_set asks for. With `pmix` these are the
 * keys nuioa.*, if nuioa_publish_prepare has returned 0. With `locality` these are PMIX_CPUSET,
 * PMIX_LOCALITY_STRING, PMIX_PACKAGE_RANK and PMIX_DEVICE_DISTANCES, except those that Slurm gives
 * already, for the ranks that are bound, if the plan was carried out. All ranks in the keys are
 * those of PMIx, whatever plan->assignments[].rank says.
 *
 * nuioa_publish_tasks comes first: it stores the keys of each rank. nuioa_publish_node stores the
 * keys of the node. nuioa.version is the last of them: a reader who finds it finds all. Both return
 * 0; or negative with *err: -ETIMEDOUT or -EAGAIN as for nuioa_publish_open, -EIO if PMIx refuses a
 * key, -ENOBUFS or -ENOMEM. Then some keys may be stored already, and these are correct. */
int nuioa_publish_tasks(struct nuioa_publisher *publisher,
                        const struct nuioa_publication *publication, struct nuioa_error *err);
int nuioa_publish_node(struct nuioa_publisher *publisher,
                       const struct nuioa_publication *publication, struct nuioa_error *err);

/* How much has been published so far. */
struct nuioa_published {
    const char *nspace;    /* the name of the step's namespace; owned by the publisher */
    unsigned pmix_version; /* 402 for 4.2; 0: unknown */
    uint32_t key_count;    /* number of keys stored */
    uint32_t time_us;      /* microseconds spent in the two functions above */
};

/* Returns how much `publisher` has published. */
struct nuioa_published nuioa_publish_done(const struct nuioa_publisher *publisher);

#endif
