/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/option_table.h"

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
 *     step_job_cpus traffic_open result_print_json result_seconds run_said verdict_best
 *     verdict_judge verdict_level verdict_next_look verdict_test
 *     NUIOA_WIRE_VERSION NUIOA_BUILD_TEXT NUIOA_BUILD_WIRE NUIOA_VARIABLE_SRUN NUIOA_AUTH_KEY
 *     NUIOA_AUTH_MUNGE nuioa_auth nuioa_free_descriptors rendezvous_wanted rendezvous_has_use
 *     rendezvous_is_needed rendezvous_is_wanted RENDEZVOUS_AUTO_NODES_MAX rendezvous_srun
 *     rendezvous_srun_prepare rendezvous_srun_start rendezvous_srun_end
 *     rendezvous_srun_carries_hints rendezvous_stepd rendezvous_stepd_await_answer
 *     rendezvous_stepd_call rendezvous_stepd_decline rendezvous_stepd_end
 *     rendezvous_stepd_faults_told rendezvous_stepd_is_reported rendezvous_stepd_is_waiting
 *     rendezvous_stepd_receive_hints rendezvous_stepd_send_record rendezvous_stepd_spare_ms
 *     rendezvous_stepd_stop_waiting WIRE_HELLO WIRE_HELLO_MAX WIRE_WELCOME WIRE_NO_CREDENTIAL
 *     WIRE_CREDENTIAL WIRE_RECORD WIRE_FROM_NODE WIRE_FROM_SRUN WIRE_LINES_MAX WIRE_MAGIC
 *     WIRE_TAG_SIZE WIRE_KEY_SIZE WIRE_SESSION WIRE_RANKS_MAX WIRE_PAIRS_MAX WIRE_CONSEQUENCE
 *     wire_frame wire_hello wire_pair wire_session wire_slice wire_tagged wire_type client_call
 *     client_is_answered client_receive_slice client_receive_welcome client_send_record
 *     credential_make_as deadline_begin deadline_check deadline_left_us deadline_resume
 *     deadline_wait ending_is_requested ending_mark_over ending_watch hello_make hello_process
 *     hello_read hello_wanted hmac_key hmac_key_set hmac_sha256 sha256_add sha256_begin sha256_end
 *     sha256_of munge_worker munge_worker_answer munge_worker_ask munge_worker_close
 *     munge_worker_start munge_worker_stop off_node_add off_node_begin off_node_free off_node_share
 *     peer_new peer_close peer_expect_body peer_forget_body peer_free_all peer_list peer_move
 *     peer_receive peer_send peer_unsent server_private server_protocol server_connections
 *     server_open server_start server_close server_config server_counts server_expect server_end
 *     server_text server_receive server_send server_stop server_take_decoded slice_read
 *     tag_is_right tag_make tag_session token_make token_read token_write TOKEN_TEXT_MAX
 *     SERVER_UNAUTHENTICATED_MAX SERVER_UNAUTHENTICATED_MS
 *     probe_accept probe_judge probe_message probe_peer probe_peer_meet probe_remote probe_step
 *     probe_benchmark probe_cell probe_is_listening probe_kill_children probe_nics probe_nics_print
 *     probe_pair_run probe_process probe_process_start probe_processes_begin
 *     NUIOA_HAN_PRIORITY NUIOA_VARIABLE_HAN SLURM_NUIOA_HAN nuioa_han_is_decided step_layout
 *     nuioa_layout nuioa_network nuioa_host_list nuioa_task_counts_parse nuioa_start tool_layout
 *     slurm_compat_has_argument program_output nuioa_pairs_merge
 */

const struct nuioa_option nuioa_retired_table[] = {
    { .name = "auth", .admin = true, .help = "remove it (reports travel under MUNGE)" },
    { .name = "coll", .help = "remove it (your MPI library's own broadcasts run)" },
    { .name = "gather", .help = "remove it (only a report needs srun: --nuioa=report)" },
    { .name = "policy", .values = "cpu", .help = "use --nuioa=export to move no rank" },
    { .name = "steps",
      .admin = true,
      .help = "remove it (steps no longer tell each other their NICs)" },
    { .name = "timeout_max_ms", .admin = true, .help = "remove it (no node waits for srun)" },
    { .name = "timeout_ms", .help = "remove it (no node waits for srun)" },
    { .name = "" },
};
