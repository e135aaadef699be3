/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_CLIENT_H
#define NUIOA_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An MPI library, a tool or a program can ask here where this process is in relation to the
 * network: which rank should lead the node in hierarchical collectives, which network port this
 * process should use, and how far away that port is. nuioa(7) explains the terms. Link with
 * -lnuioa-client; it needs neither MPI nor hwloc.
 *
 * The answers come from PMIx if this process has initialised it (MPI_Init does) and the job's
 * launcher has stored them there; otherwise from the environment. What `nuioa exec` has told this
 * very process of its GPUs and ports counts before what PMIx says. If there is no advice, a
 * function returns -ENOENT, 0 or NULL, as its comment says. PMIx is asked only for data that are on
 * this node already, so no function waits for another process, and none longer than a second
 * for an answer of PMIx. This library never initialises PMIx and never loads libpmix.
 *
 * Ranks are those of MPI_COMM_WORLD. Ranks of another communicator are translated first
 * (MPI_Group_translate_ranks). Advice is constant for the life of a process.
 *
 * Functions return 0 or a count, or -errno. No function writes anywhere or ends the process. A
 * handle may be read by several threads at once. */

#define NUIOA_CLIENT_API 1

/* A handle: the advice for this process, as it was when nuioa_client_open was called. */
struct nuioa_client;

enum nuioa_client_source {
    NUIOA_CLIENT_NOTHING = 0, /* no advice: no nuioa, switched off, or another launcher's process */
    NUIOA_CLIENT_ENVIRONMENT = 1,
    NUIOA_CLIENT_PMIX = 2
};

/* Reads all advice for this process: from PMIx between MPI_Init and MPI_Finalize, at other times
 * from the environment only. It takes less than a millisecond, but call it once and keep the
 * handle. Several threads may call it. Returns a handle, which nuioa_client_close frees; NULL only
 * if there is no memory. Every function accepts NULL, which means "no advice".
 *
 * It returns within a second if PMIx does not answer. In a child of fork(), such as those of
 * Python's multiprocessing and PyTorch's DataLoader, PMIx has no thread and never answers. There
 * the advice comes from the environment: at once if the child has one thread, after 0.9 s
 * otherwise, and at once in all later calls. The thread that has asked PMIx then stays until the
 * process ends, with all signals blocked, so dlclose() does not unload this library. If no thread
 * can be started, PMIx is not asked. Do not call it from a callback of PMIx. */
struct nuioa_client *nuioa_client_open(void);

/* Frees the handle, and the strings and arrays that it owns, which other functions have returned.
 * NULL is allowed. */
void nuioa_client_close(struct nuioa_client *client);

/* Returns where the advice was read. */
enum nuioa_client_source nuioa_client_source(const struct nuioa_client *client);

/* Returns 1 if the placement was only planned and not carried out (tests and emulation), else 0. */
int nuioa_client_is_planned(const struct nuioa_client *client);

/* --- this process ---------------------------------------------------------------------------- */

/* Returns the network port that this process should use, with the name that UCX uses: "mlx5_0:1",
 * or "hsi0" if there is no verbs device. The handle owns the string. Returns NULL if there is no
 * such port or it is not known. */
const char *nuioa_client_nic(const struct nuioa_client *client);

/* Returns all network ports that this process should use, with commas: "mlx5_0:1,mlx5_1:1". The
 * first one is that of nuioa_client_nic, and the others are as near or were asked for. The handle
 * owns the string. Returns NULL if there is no such port or it is not known. */
const char *nuioa_client_nics(const struct nuioa_client *client);

/* Returns the PCI addresses of the GPUs of this process, with commas: "0000:1b:00.0,0000:2a:00.0".
 * The handle owns the string. Returns NULL if it has no GPU, or if it is not known which ones. */
const char *nuioa_client_gpus(const struct nuioa_client *client);

/* Tells the network ports that are nearest to a GPU of this process, with commas, the best one
 * first: "mlx5_0:1,mlx5_1:1". It is for a process that sees several GPUs and has chosen one of them
 * by itself, so that nuioa_client_gpus does not know it; or it names the only GPU that it has.
 * `gpu` is a PCI address, "0000:1b:00.0", "1b:00.0" or "00000000:1B:00.0" as NVML writes it; or the
 * UUID of a GPU of NVIDIA or AMD, "GPU-8932f937-...", which is looked for in what the driver says
 * of the GPUs that are known here. Returns 0 and *nics, which the handle owns; -ENOENT if nothing
 * is known of this GPU; or -EINVAL if it is no such name. */
int nuioa_client_nics_of_gpu(const struct nuioa_client *client, const char *gpu, const char **nics);

/* Returns the level of this process's distance from that port: 0 is the same NUMA node, 1 the
 * nearest other ones, and so on. Returns -ENOENT if it is not known. */
int nuioa_client_level(const struct nuioa_client *client);

/* Tells how much this process communicates, in the unit of the user's hints: only ratios between
 * processes matter. Returns 0 and *weight; or -ENOENT if it is not known, and *weight is
 * unchanged. */
int nuioa_client_weight(const struct nuioa_client *client, double *weight);

/* Returns the list of the CPUs that this process was bound to, with the kernel's numbers, such as
 * "2-3,8". The handle owns the string. Returns NULL if it is not known. */
const char *nuioa_client_cpus(const struct nuioa_client *client);

/* --- leaders of this node -------------------------------------------------------------------- */

/* Tells the rank that should lead this node. Returns 0 and *rank; or -ENOENT if it is not known,
 * and *rank is unchanged. */
int nuioa_client_leader(const struct nuioa_client *client, uint32_t *rank);

/* Tells all ranks of this node, the best leader first. Returns how many they are, and *ranks, an
 * array which the handle owns. Returns 0, and *ranks is NULL, if they are not known. */
size_t nuioa_client_order(const struct nuioa_client *client, const uint32_t **ranks);

/* Tells the best rank for each network port in use on this node, for collectives with several
 * leaders. Returns how many they are, and *ranks, an array which the handle owns. Returns 0, and
 * *ranks is NULL, if they are not known, as where the advice comes from the environment. */
size_t nuioa_client_rail_leaders(const struct nuioa_client *client, const uint32_t **ranks);

/* Finds the best leader among the members of a sub-communicator on this node. ranks[count] are
 * their ranks in MPI_COMM_WORLD, in any order; each member passes the same set. Returns an index
 * into `ranks`, or -ENOENT if there is no advice on any of them. */
int nuioa_client_best(const struct nuioa_client *client, const uint32_t *ranks, size_t count);

/* Counts the members ranks[count], as above, that are as near to the network as the best one: a
 * library can let them lead in turns. Returns their number, which is at least 1 if
 * nuioa_client_best finds a leader, or 0 if there is no advice. If `indexes`, which has room for
 * `count`, is not NULL, it receives their indexes into `ranks`, the best first. If none of the
 * node's nearest ranks is a member, only the best member is counted. */
size_t nuioa_client_near(const struct nuioa_client *client, const uint32_t *ranks, size_t count,
                         uint32_t *indexes);

/* --- agreeing -------------------------------------------------------------------------------- */

/* Ranks that act together on advice must have the same advice. A rank may have none, because PMIx
 * answered it late or a wrapper cleaned its environment. So compare before the first use:
 *
 *     uint64_t vote[2];
 *     nuioa_client_vote(client, NUIOA_CLIENT_NODE, vote);
 *     MPI_Allreduce(MPI_IN_PLACE, vote, 2, MPI_UINT64_T, MPI_MAX, node);
 *     if (nuioa_client_agreed(vote)) ... all ranks of this node have the same leader and order
 *
 * The second word is the complement of the first, so that one maximum over both finds the largest
 * and the smallest number. */
enum nuioa_client_subject {
    NUIOA_CLIENT_NODE = 0 /* leader and order of this node; over ranks of one node */
};

/* Returns a 64-bit hash of this process's advice on the subject, which is equal on two processes if
 * their advice is equal, and in practice only then; or 0 if there is no advice. */
uint64_t nuioa_client_digest(const struct nuioa_client *client, enum nuioa_client_subject subject);

/* Fills vote[2] with the digest of this process's advice and its complement, for the MPI_Allreduce
 * in the example above. */
void nuioa_client_vote(const struct nuioa_client *client, enum nuioa_client_subject subject,
                       uint64_t vote[2]);

/* Takes a vote[2] that MPI_Allreduce has made the maximum over all ranks, as in the example above.
 * Returns 1 if all ranks have the same advice; else 0, also if no rank has advice. The result is
 * the same on all ranks. */
int nuioa_client_agreed(const uint64_t vote[2]);

/* --- devices --------------------------------------------------------------------------------- */

/* Returns the number that the kernel gives to the NUMA node of a device of this machine. It reads
 * sysfs and needs no job and no handle. `device` is one of these names:
 *
 *     verbs     mlx5_0, or a port of it: mlx5_0:1
 *     OFI       a domain of libfabric: mlx5_0-rdm, rdmap0s6-dgrm, cxi0, hfi1_0
 *     netdev    ib0, hsi0, eth0
 *     PCI       0000:41:00.0 or 41:00.0
 *
 * Returns -ENOENT if there is no such device; -ENODATA if the kernel does not know its NUMA node,
 * or it has none (bonds, bridges, loopback); or -EINVAL if it is not the name of a device. */
int nuioa_client_device_numa(const char *device);

#ifdef __cplusplus
}
#endif

#endif
