#ifndef NUIOA_ENVIRONMENT_H
#define NUIOA_ENVIRONMENT_H

#include "plan.h"

/* What a rank finds in its environment. Blocks of "NAME=value" strings, each NUL-terminated, one after the
 * other, the last followed by an empty one: plain data that can be carried in shared memory. */

/* Ours (contract: "A rank's environment"). A value that is not known is absent; one above 4 KB is left
 * out. Returns the bytes used, or -ENOSPC. */
int nuioa_environment(const struct nuioa_plan *plan, const struct nuioa_node *node,
                      const struct nuioa_options *options, uint32_t local, char *env, size_t size);

/* Other programs' variables, by `export` and `threads`: the caller sets only those that the user did not
 * set. OMP_PLACES, OMP_PROC_BIND; UCX_NET_DEVICES; FI_*; NCCL_IB_HCA or NCCL_SOCKET_IFNAME; HFI_UNIT;
 * MPICH_OFI_NIC_POLICY. Same form, same return. */
int nuioa_environment_foreign(const struct nuioa_plan *plan, const struct nuioa_node *node,
                              const struct nuioa_options *options, uint32_t local, char *env,
                              size_t size);

/* The names that nuioa_environment may set, ends with NULL: what an outer step left is removed. */
extern const char *const nuioa_environment_names[];

#endif
