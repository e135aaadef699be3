/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_COLLECTOR_H
#define SPANK_REPORT_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "util/subprocess.h"

/* srun's side of a report (wire.h): a child of srun that owns the port, opens and merges the nodes'
 * records, and prints. srun itself has no descriptor, no thread and no memory for it, and what is
 * wrong with a record, or with munged, concerns that child alone. */

/* Strangers are connections whose record has not come whole: their number, and the time of each.
 * At the limit others wait in the kernel's queue. The port closes after so many were refused. */
#define COLLECTOR_STRANGERS_MAX 64
#define COLLECTOR_STRANGER_MS 1000
#define COLLECTOR_REFUSED_MAX 100

/* The child's task. The texts and functions must stay valid until collector_start() returns;
 * the child has copies. */
struct collector_config {
    int listener;       /* a port of the process's own user (listener.h); the caller's */
    const char *socket; /* the path of munged's socket, "" for the default one */
    uint32_t job_id;    /* UINT32_MAX: that of the first record */
    uint32_t step_id;
    uint32_t node_count;             /* of the step; 0: as the first record says */
    const char *nodes;               /* the list of nodes that the step may have; NULL: not known */
    bool explain;                    /* print the nodes' texts for `explain` too */
    void (*say)(const char *line);   /* prints a line for the user, without a newline */
    void (*print)(const char *text); /* prints a text of many lines */
};

/* Forks the child, which takes records from the listener. It shuts that down when it needs no more
 * connections, for all processes that have a copy of it. It prints when all records are there, or
 * when the step is over; then it ends. It also ends when the calling thread does. Returns 0 and
 * *collector, which collector_end() ends; or -errno. */
int collector_start(struct nuioa_subprocess *collector, struct collector_config *config);

/* When the step is over: waits for a second at most until the child has printed and ended. Returns
 * 0, also without a child; or -ETIMEDOUT: it had not ended, and was killed, which takes 0.1 s more
 * at most. */
int collector_end(struct nuioa_subprocess *collector);

#endif
