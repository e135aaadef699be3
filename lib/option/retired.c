/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/retired.h"

#include <stddef.h>

/* Other names that went: functions, variables, programs, files. test/lint finds the words of this
 * list, and the flags and variables of the table, in no other file but NEWS:
 *
 *     NUIOA_POLICY_CPU interrupt_cpus nuioa_interrupt_avoid nuioa_interrupt_cpus
 *     NUIOA_HINT_ADDRESS NUIOA_HINT_MOUNT NUIOA_HINT_ROUTE nuioa_report_rankfile nuioa_route_to
 *     nuioa_routes_read
 *     NUIOA_STEP_LOAD_DIR nic_ranks nics_shifted nuioa_step_load nuioa_step_directory_open
 *     nuioa_step_load_decode nuioa_step_load_write nuioa_step_loads_read other_steps
 *     other_steps_open other_steps_read other_steps_tell step_load topo_load
 *     libnuioa-coll nuioa-bench nuioa-bench-openmpi nuioa-bench-mpich NUIOA_COLL NUIOA_COLL_TABLE
 *     NUIOA_COLL_ALGORITHM NUIOA_COLL_STATS NUIOA_COLL_NODES coll_map coll_table NUIOA_LEADERS
 *     nuioa.leaders nuioa_client_leaders NUIOA_CLIENT_LEADERS WIRE_TABLE WIRE_STOP early_leader
 *     WIRE_COUNTERS after_step beside_find beside_is_any counters_judge counters_read
 *     listener_keep_alive nuioa_subprocess_start_unseen run_print_table server_collect
 *     slurm_spank_task_exit step_job_cpus traffic_open
 */

const struct nuioa_retired nuioa_retired_table[] = {
    { "auth", NULL, true, "remove it (reports travel under MUNGE)" },
    { "coll", NULL, false, "remove it (your MPI library's own broadcasts run)" },
    { "gather", NULL, false, "remove it (only a report needs srun: --nuioa=report)" },
    { "policy", "cpu", false, "use --nuioa=export to move no rank" },
    { "steps", NULL, true, "remove it (steps no longer tell each other their NICs)" },
    { "timeout_max_ms", NULL, true, "remove it (no node waits for srun)" },
    { "timeout_ms", NULL, false, "remove it (no node waits for srun)" },
    { NULL, NULL, false, NULL },
};
