/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_LIBRARY_CHOICE_H
#define NUIOA_OUTPUT_LIBRARY_CHOICE_H

#include <stdbool.h>

#include "topology/node.h"

/* Whether the variables of nuioa_library_auto() may be set for a process: nobody else chooses the
 * NICs of the library, and its devices can be opened. Only the process itself can know that, as the
 * user, in its own cgroup, before its program begins. `block` is what nuioa_library_auto() wrote;
 * an empty one may be set. `environment` has the form of util/variable.h; the process must have
 * unset what an outer step has set (exported.h). */

/* Returns true if the environment chooses NICs for the library of the block, or lacks what the
 * block needs: any UCX_*, or a parameter of Open MPI that names UCX's devices or other files; any
 * of MPICH_OFI_NIC_* and MPICH_OFI_NUM_NICS, or no MPICH_GPU_SUPPORT_ENABLED=1; or the process will
 * be in a container of Slurm (SLURM_CONTAINER) or of Pyxis (a name with "pyxis_container"). */
bool nuioa_library_is_chosen(char *const *environment, const char *block);

/* Returns true if a file chooses UCX's devices: ucx.conf or Open MPI's mca-params.conf and its
 * override, where the libraries look for them: below etc, the home and the current directory, and
 * beside the directories of LD_LIBRARY_PATH and PATH. Absolute paths are below `root` ("" for this
 * machine). A child reads them, because a file system may hang. The result is also true if there is
 * no child, if it has no answer after `limit_ms` milliseconds, or if a file has 1 MiB or more, or
 * is there but cannot be read for another reason than permission. */
bool nuioa_library_has_file(char *const *environment, const char *root, unsigned limit_ms);

/* Returns true if the process can open the device file of each NIC that the block names
 * (dev/infiniband/uverbsN), or, for MPICH, of each Slingshot NIC of the node (dev/cxiN). The files
 * are below `root`. They are opened and closed again. Returns false also if memory is short. */
bool nuioa_library_opens(const struct nuioa_node *node, const char *root, const char *block);

/* Returns true if the block may be set on this machine: the environment does not choose, the
 * devices open and, for UCX, no file chooses. `limit_ms` is for files. */
bool nuioa_library_is_free(char *const *environment, const struct nuioa_node *node,
                           const char *block, unsigned limit_ms);

/* Returns true if the program, a name or a path, may choose before it starts another: apptainer and
 * the like, in whose container the devices of this process need not be; a shell, env, or a file
 * that begins with "#!". A name without '/' is looked for in PATH. The file is opened: only the
 * process itself calls this, which is about to execute it. NULL: false. */
bool nuioa_library_is_wrapper(char *const *environment, const char *program);

#endif
