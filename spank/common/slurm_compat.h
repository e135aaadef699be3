/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_COMMON_SLURM_COMPAT_H
#define SPANK_COMMON_SLURM_COMPAT_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions for those parts of Slurm that no header or manual of Slurm describes. With a new
 * release of Slurm, check the functions here first, and then the files that rely on something
 * which cannot be put behind a function:
 *
 *     common/flags.c              Slurm gives a flag without a value to the nodes as an empty one
 *     common/step.c               the words in SLURM_CPU_BIND_TYPE and SLURM_MEM_BIND_TYPE; the
 *                                 SLURM_STEP_* variables; how Slurm numbers cores
 *     stepd/report_stepd.c        SLURM_SRUN_COMM_HOST
 *     stepd/stepd.c               the order of hooks, and the process they run in (contain_spank)
 *     stepd/task_memory.c         proctrack/linuxproc never signals a process named slurmstepd
 *     report/host_groups.c        hostlist_t, which is a pointer in some releases only
 */

/* In srun: sets *first and *last to the first and the last TCP port that srun may listen on
 * (SrunPortRange of slurm.conf) and returns true. Returns false, and sets both to 0, if srun may
 * listen on any port, or this release of libslurm cannot tell. */
bool slurm_compat_port_range(uint16_t *first, uint16_t *last);

/* In init_post_opt of sbatch and salloc: Slurm hands the flag `name` (without "--") neither to the
 * batch step nor to the sruns inside. It does nothing if Slurm would not. */
void slurm_compat_unset_flag(spank_t spank, const char *name);

/* In srun, sbatch and salloc, while they read their options: returns true if the flag `name`
 * (without "--") stands with this value on the command line. For sbatch a flag may stand in a line
 * #SBATCH of the script instead, and Slurm does not tell which. `value` is NULL for a flag without
 * a value. */
bool slurm_compat_is_typed(const char *name, const char *value);

/* In srun, after it has read its options: returns true if the flag `name` ("overlap", "cpu-bind" or
 * "mem-bind") stands on the command line. Slurm tells it neither to plugins nor to nodes, so the
 * command line is read again. In a heterogeneous step a flag of any component, or of its command,
 * counts. */
bool slurm_compat_has_flag(const char *name);

/* In salloc, after it has read its options: returns the words of its command with a blank behind
 * each, "" for the user's shell (malloc'd, caller frees). NULL in sbatch, or without memory. */
char *slurm_compat_salloc_command(void);

/* In srun, after it has read its options: returns the directory of the ranks (--chdir, -D) on the
 * command line (malloc'd, caller frees); or NULL if there is none, in a heterogeneous step, or
 * without memory. Slurm does not tell plugins. */
char *slurm_compat_chdir(void);

/* Returns true if this release of Slurm chooses the GPUs of a task in the task itself, for
 * --gpu-bind=closest and single by the CPUs that it runs on then: until every task has come so far,
 * that is to task_init, it may not be bound otherwise than Slurm bound it. */
bool slurm_compat_chooses_gpus_late(void);

#endif
