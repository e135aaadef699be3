/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/report_srun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/common/log.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"
#include "spank/report/collector.h"
#include "spank/report/credential.h"
#include "spank/report/listener.h"
#include "spank/report/sender.h"

/* The listener must be open before the launch message is sent, and nodes read its port from the
 * job's environment; but not before the step is known (local_user_init), because srun forks a
 * clean-up process shortly before that, which would keep a copy of the listener as long as the job
 * runs.
 *
 * In a heterogeneous job, what srun sets in local_user_init reaches only the first component.
 * Therefore the listener is opened in init_post_opt of the second component there.
 *
 * With --async srun does not wait for the job and never calls local_user_init: there is no
 * listener. */

struct report_srun {
    int listener; /* -1: not open */
    struct nuioa_subprocess collector;
    unsigned components; /* of a heterogeneous job that have been seen; else 1 */
    bool begun;          /* the child was started, or could not be */
};

/* srun ends if it finds no free port for itself. It takes two for every 48 nodes of a component,
 * and some more for PMI, after this plugin has taken one: so many must be left. */
#define PORTS_MIN 16
#define NODES_PER_PORT 24

static void say(const char *line)
{
    log_line("%s", line);
}

/* Says once why the nodes print their own reports. */
static void decline(const char *why)
{
    log_line(
        "report: %s: each node prints its own (of more than %d only the first; see nuioa-spank(8), "
        "DIAGNOSTICS)",
        why, SENDER_NODES_MAX);
}

/* Returns true if so many ports are free. It holds one at a time: others may need them now. */
static bool are_free(uint16_t first, uint16_t last, uint32_t needed)
{
    uint16_t port;
    for (uint32_t at = first; at <= last && needed; at++) {
        int fd = listener_open((uint16_t)at, (uint16_t)at, &port);
        needed -= fd >= 0;
        if (fd >= 0)
            close(fd);
    }
    return !needed;
}

static int open_port(const char *munge_socket, uint32_t nodes, struct nuioa_error *err)
{
    uint16_t first, last, port;
    uint32_t needed = PORTS_MIN + nodes / NODES_PER_PORT;
    char text[32];
    if (credential_ready(munge_socket, err) < 0)
        return -EIO;
    if (slurm_compat_port_range(&first, &last) && !are_free(first, last, needed))
        return nuioa_fail(err, -ENOSPC,
                          "SrunPortRange in slurm.conf has fewer than %u free ports on this host",
                          needed);
    int fd = listener_open(first, last, &port);
    if (fd < 0)
        return nuioa_fail(err, fd, "srun cannot listen (%s)", strerror(-fd));
    listener_write_port(port, text, sizeof(text));
    setenv(WIRE_VARIABLE, text, 1);
    return fd;
}

/* In a step of one node that node's own report is the whole one, and nobody needs to know why. */
static void begin(struct srun_context *c, uint32_t nodes)
{
    struct report_srun *g = c->report;
    struct nuioa_error err;
    if (geteuid() == 0)
        nuioa_fail(&err, -EPERM, "root's jobs have no common report");
    else
        g->listener = open_port(c->options.munge_socket, nodes, &err);
    if (g->listener < 0 && nodes != 1)
        decline(err.text);
}

void report_srun_prepare(struct srun_context *c)
{
    const struct nuioa_options *o = &c->options;
    if (c->report) {
        if (++c->report->components == 2)
            begin(c, 0);
        return;
    }
    unsetenv(WIRE_VARIABLE); /* it may be from an outer srun */
    if (nuioa_options_idle(o) || !(o->report || o->explain))
        return;
    c->report = malloc(sizeof(*c->report));
    if (c->report)
        *c->report = (struct report_srun){ -1, NUIOA_SUBPROCESS_NONE, 1, false };
}

/* The list of nodes is the allocation's. Of a step on some of its nodes srun does not know which.
 */
static void start(struct srun_context *c, uint32_t job_id, uint32_t step_id, uint32_t nodes)
{
    struct report_srun *g = c->report;
    bool alone = g->components == 1;
    struct collector_config config = {
        .listener = g->listener,
        .socket = c->options.munge_socket,
        .job_id = alone ? job_id : UINT32_MAX,
        .step_id = step_id,
        .node_count = alone ? nodes : 0,
        .nodes = alone ? getenv("SLURM_NODELIST") : NULL,
        .explain = c->options.explain,
        .say = say,
        .print = log_text,
    };
    int rc = collector_start(&g->collector, &config);
    close(g->listener);
    g->listener = -1;
    if (rc < 0) {
        unsetenv(WIRE_VARIABLE);
        decline(strerror(-rc));
    }
}

/* Slurm may call this for each component of a heterogeneous job. Each component has its own job id;
 * the nodes of all of them have the same one, which srun does not know here. */
void report_srun_start(struct srun_context *c, spank_t spank)
{
    uint32_t job_id, step_id, nodes;
    struct report_srun *g = c->report;
    if (!g || g->begun || spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS)
        return;
    if (spank_get_item(spank, S_JOB_NNODES, &nodes) != ESPANK_SUCCESS)
        nodes = 0;
    if (g->components == 1 && step_is_launcher(spank)) /* no node of it reports */
        return;
    g->begun = true;
    if (g->components == 1)
        begin(c, nodes);
    if (g->listener >= 0)
        start(c, job_id, step_id, nodes);
}

void report_srun_end(struct srun_context *c)
{
    struct report_srun *g = c->report;
    if (!g)
        return;
    if (collector_end(&g->collector) < 0)
        log_line("report: not merged in time, so there is none of all nodes: is munged running "
                 "on this host?");
    if (g->listener >= 0)
        close(g->listener);
    free(g);
    c->report = NULL;
}
