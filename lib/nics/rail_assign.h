/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_NICS_RAIL_ASSIGN_H
#define NUIOA_NICS_RAIL_ASSIGN_H

#include "nics/rails.h"
#include "ranks/request.h"

/* Which rank uses which rails. Private to the library.
 *
 * Every GPU of a rank, or the rank itself if it has none, gets one of its nearest rails. The
 * nearest rails of a GPU are those with the shortest path (topology/pci_path.h) or, if no path is
 * known, those nearest to the GPU's CPUs; those of a rank are nearest to its CPUs, or outrun these
 * (nics/rails.h). Of equally near rails it gets one that is not doubted (topology/nic_guess.h), if
 * there is one, and so that the cards are loaded evenly, by weight over rate (nics/rail_match.h),
 * then one beside some CPUs of a rank that spans NUMA nodes, and then the one that belongs to the
 * GPU or the first in PCI order: equal nodes choose equally. A GPU has an equal part of its rank's
 * weight. If some ranks' GPUs are unknown, they are taken to have those that no other rank has:
 * these GPUs choose together with the known ones, each with the mean weight. So the processes of a
 * node, each of which knows its own GPUs alone, choose different rails.
 *
 * Steps that start at the same moment do not see each other. So a rail belongs to the GPU that
 * would have it if all GPUs of the node were in use, one rank on each: of a switch's equal NICs its
 * k-th GPU has the k-th one. This follows from the node alone: each step finds the same.
 *
 * With the option rails=auto, rails that nobody got then go to those to which they are equally
 * near, evenly by weight. A rail that belongs to a GPU which no rank of the step has is left to
 * it, because another step may use it. A rank whose GPUs are unknown gets one rail. A rank that is
 * known to have some of the GPUs that it sees, and not which, gets only rails that are nearest to
 * one of these. With rails=K each rank gets the K nearest rails, of equally near ones the least
 * loaded. If it has more than K GPUs, K of them get one of their nearest rails, such that no GPU
 * is farther from its rank's rails than it must be. */

/* Sets `nic`, `nics`, `nic_count`, `gpus`, `gpu_count`, `gpus_known`, `seen`, `seen_count`, `near`,
 * `near_count`, `path` and `level` of every assignment: assignments[request->task_count], by local
 * rank, with their CPUs and weights. The arrays belong to `arena`. `nics` begins with the rail of
 * the rank's first GPU, then come those of its other GPUs, then further ones in PCI order; the
 * level is from the first one to the rank's CPUs. Returns 0; or -ENOMEM, and some assignments may
 * have no NIC. */
int nuioa_rails_assign(const struct nuioa_rails *rails, const struct nuioa_request *request,
                       struct nuioa_assignment *assignments, struct nuioa_arena *arena);

/* Does the same for new assignments of ranks on the CPUs of placed[task_count], or where Slurm put
 * them (NULL). Returns them, which belong to `arena`, too, with the caller's CPUs; or NULL: out of
 * memory. */
struct nuioa_assignment *nuioa_rails_assign_all(const struct nuioa_rails *rails,
                                                const struct nuioa_request *request,
                                                const struct nuioa_assignment *placed,
                                                struct nuioa_arena *arena);

#endif
