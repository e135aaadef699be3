/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_CLIENT_H
#define NUIOA_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an MPI library, a tool or a program may ask about its place near the network: who should
 * lead the node in hierarchical collectives, which network port is this process's own, how far it
 * is. nuioa(7) has the words. Link with -lnuioa-client; it needs neither MPI nor hwloc.
 *
 * The answers come from PMIx where this process has initialised it (MPI_Init does) and the job's
 * launcher put them there; else from the environment; else there are none, and every function says
 * so: "no advice" is -ENOENT. PMIx is asked only for what is on this node already: nothing here
 * waits for anybody. PMIx is never initialised by this library, and libpmix is never loaded by it.
 *
 * Ranks are those of MPI_COMM_WORLD. Ranks of another communicator are translated first
 * (MPI_Group_translate_ranks). Advice is constant for the life of a process.
 *
 * Functions return 0 or a count, or -errno. No function writes anywhere or ends the process. A
 * handle may be read by several threads at once. */

#define NUIOA_CLIENT_API 1

struct nuioa_client;

enum nuioa_client_source {
    NUIOA_CLIENT_NOTHING = 0, /* no advice: no nuioa, switched off, or another launcher's process */
    NUIOA_CLIENT_ENVIRONMENT = 1,
    NUIOA_CLIENT_PMIX = 2,
};

/* Reads all that this process is told. Between MPI_Init and MPI_Finalize PMIx is asked, at other
 * times the environment alone. Cheap (below a millisecond), but meant to be called once: keep the
 * handle. Never blocks. Returns NULL only without memory; every function takes NULL for "no
 * advice". */
struct nuioa_client *nuioa_client_open(void);
void nuioa_client_close(struct nuioa_client *client);

enum nuioa_client_source nuioa_client_source(const struct nuioa_client *client);

/* 1 if the placement was only planned and not carried out (tests and emulation), else 0. */
int nuioa_client_is_planned(const struct nuioa_client *client);

/* --- this process ---------------------------------------------------------------------------- */

/* Its network port as UCX names it: "mlx5_0:1", or "hsi0" where there is no verbs device. Owned by
 * the handle. NULL: none or not known. */
const char *nuioa_client_nic(const struct nuioa_client *client);

/* Its distance from that port: 0 = same NUMA node, 1 = the nearest others, ... -ENOENT: unknown. */
int nuioa_client_level(const struct nuioa_client *client);

/* How much it communicates, as the user's hints say, in their unit: only ratios matter. 0 and
 * *weight, or -ENOENT. */
int nuioa_client_weight(const struct nuioa_client *client, double *weight);

/* Its CPUs, "2-3,8". Owned by the handle. NULL: not known. */
const char *nuioa_client_cpus(const struct nuioa_client *client);

/* --- leaders of this node -------------------------------------------------------------------- */

/* The rank that should speak for this node. 0 and *rank, or -ENOENT. */
int nuioa_client_leader(const struct nuioa_client *client, uint32_t *rank);

/* All ranks of this node, best leader first. Returns how many, with *ranks owned by the handle; 0
 * and NULL if not known. */
size_t nuioa_client_order(const struct nuioa_client *client, const uint32_t **ranks);

/* The first rank of each network port in use, for collectives with several leaders. As above. */
size_t nuioa_client_rail_leaders(const struct nuioa_client *client, const uint32_t **ranks);

/* The best leader among the members of a sub-communicator on this node: ranks[count] are their
 * ranks in MPI_COMM_WORLD, in any order, the same set on each of them. Returns an index into
 * `ranks`; -ENOENT if there is no advice on any of them. */
int nuioa_client_best(const struct nuioa_client *client, const uint32_t *ranks, size_t count);

/* How many of them are as near to the network as the best one: a library that wants to share the
 * work of leading may rotate among them. Returns that number (at least 1 where nuioa_client_best
 * finds somebody) and, if `indexes` is not NULL, puts that many indexes into `ranks` there, best
 * first; it has room for `count`. Where none of the node's nearest is a member, only the best one
 * is counted. 0: no advice. */
size_t nuioa_client_near(const struct nuioa_client *client, const uint32_t *ranks, size_t count,
                         uint32_t *indexes);

/* --- leaders of all nodes -------------------------------------------------------------------- */

/* One rank for each node of the job step, in the step's order of nodes. Returns how many, with
 * *ranks owned by the handle; 0 and NULL if not known, which may be so on some nodes only: agree
 * first. */
size_t nuioa_client_leaders(const struct nuioa_client *client, const uint32_t **ranks);

/* --- agreeing -------------------------------------------------------------------------------- */

/* Ranks that act together on advice must have the same. One may have none: a node that answered
 * late, a wrapper that cleaned the environment. So vote, reduce, compare, before the first use:
 *
 *     uint64_t vote[2];
 *     nuioa_client_vote(client, NUIOA_CLIENT_LEADERS, vote);
 *     MPI_Allreduce(MPI_IN_PLACE, vote, 2, MPI_UINT64_T, MPI_MAX, comm);
 *     if (nuioa_client_agreed(vote)) ... all ranks of comm have the same table
 *
 * The second word is the complement of the first, so that one maximum over both finds largest and
 * least. */
enum nuioa_client_subject {
    NUIOA_CLIENT_NODE,    /* leader and order of this node; over ranks of one node */
    NUIOA_CLIENT_LEADERS, /* leaders of all nodes; over any ranks of the step */
};

/* A number that is equal where the advice is equal; 0: no advice. */
uint64_t nuioa_client_digest(const struct nuioa_client *client, enum nuioa_client_subject subject);

void nuioa_client_vote(const struct nuioa_client *client, enum nuioa_client_subject subject,
                       uint64_t vote[2]);

/* 1 if all who voted have the same advice, else 0, also if none has any. Equal on all of them. */
int nuioa_client_agreed(const uint64_t vote[2]);

/* --- devices --------------------------------------------------------------------------------- */

/* The NUMA node (as the kernel numbers them) of a device of this machine, from sysfs; also without
 * a job. `device` as others name it:
 *
 *     verbs     mlx5_0, or a port of it: mlx5_0:1
 *     OFI       a domain of libfabric: mlx5_0-rdm, rdmap0s6-dgrm, cxi0, hfi1_0
 *     netdev    ib0, hsi0, eth0
 *     PCI       0000:41:00.0 or 41:00.0
 *
 * -ENOENT: no such device; -ENODATA: the kernel does not know its NUMA node, or it has none (bonds,
 * bridges, loopback); -EINVAL: not the name of a device. */
int nuioa_client_device_numa(const char *device);

#ifdef __cplusplus
}
#endif

#endif
