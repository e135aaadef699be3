/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_LISTENING_H
#define NUIOA_TOOL_PROBE_LISTENING_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether somebody listens on a TCP port, as /proc says it: to connect would be taken for the
 * client by most benchmarks. */

/* Returns true if the process `pid`, or one that it has started, has a socket that listens; or if
 * any process listens on `port`, unless that is 0. */
bool probe_is_listening(pid_t pid, unsigned port);

/* Returns a TCP port on which nobody listens now; 0 if there is none. */
unsigned probe_free_port(void);

/* Kills all children of this process and waits for their ends, for at most two seconds. */
void probe_kill_children(void);

#endif
