/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/rendezvous_stepd.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"
#include "profile/hints.h"
#include "spank/stepd/ending.h"
#include "spank/common/hosts.h"
#include "spank/common/log.h"
#include "spank/rendezvous/client.h"
#include "spank/rendezvous/record.h"
#include "spank/common/rendezvous_wanted.h"
#include "util/number.h"
#include "util/variable.h"

struct rendezvous_stepd {
    struct client call;
    struct ending ending;
    bool calling;                  /* connected; the record is not sent yet */
    bool waiting;                  /* the record is sent; whether srun answers is not known yet */
    bool reported;                 /* srun prints the report */
    unsigned sent;                 /* how many of the context's faults the record holds */
    uint32_t position, node_count; /* over all components of a heterogeneous step */
    bool heterogeneous;
    uint32_t job_tasks; /* tasks of the whole step; UINT32_MAX: not known */
};

/* Finds the position of this node in the step. In a heterogeneous step the nodes of all components
 * count: SPANK items are for one component, the SLURM_STEP_* variables for all. */
static bool find_position(struct stepd_context *c, spank_t spank, struct rendezvous_stepd *g)
{
    char **environment = step_environment(spank), host[64];
    const char *nodes = nuioa_variable(environment, "SLURM_STEP_NUM_NODES");
    const char *tasks = nuioa_variable(environment, "SLURM_STEP_NUM_TASKS");
    const char *list = nuioa_variable(environment, "SLURM_STEP_NODELIST");
    uint32_t here;
    if (spank_get_item(spank, S_JOB_NNODES, &here) != ESPANK_SUCCESS)
        return false;
    if (!nodes || nuioa_parse_u32(nodes, WIRE_NODES_MAX, &g->node_count) < 0)
        g->node_count = here;
    if (!tasks || nuioa_parse_u32(tasks, UINT32_MAX, &g->job_tasks) < 0)
        g->job_tasks = UINT32_MAX;
    int position = (int)c->step.node_id;
    g->heterogeneous = g->node_count != here;
    if (g->heterogeneous)
        position = list ? hosts_find(list, log_host(host, sizeof(host))) : -1;
    g->position = (uint32_t)position;
    return position >= 0 && g->position < g->node_count;
}

/* Handles a failed rendezvous. srun warns the user if it knows this node or was told that the node
 * has no credential; otherwise the first node warns. */
static void add_failure(struct stepd_context *c, const struct rendezvous_stepd *g, const char *text)
{
    if (g->position == 0 && !g->call.told_no_credential && !g->call.authenticated)
        nuioa_warn(&c->faults, "%s: " WIRE_CONSEQUENCE, text);
    else
        slurm_info("nuioa: %s", text);
}

static void call_srun(struct stepd_context *c, spank_t spank, struct rendezvous_stepd *g,
                      const char *token)
{
    char **environment = step_environment(spank);
    const char *job = nuioa_variable(environment, "SLURM_JOB_ID"); /* of the leading component */
    const char *address = nuioa_variable(environment, "SLURM_SRUN_COMM_HOST");
    struct nuioa_error err;
    struct client_call call = {
        .address = address,
        .srun = token,
        .munge = c->options.auth == NUIOA_AUTH_MUNGE,
        .socket = c->options.munge_socket,
        .timeout_ms = c->options.timeout_ms,
        .node = g->position,
        .node_count = g->node_count,
        .task_count = c->step.task_count,
        .ranks = c->active && nuioa_hints_file(c->options.hints) ? c->step.ranks : NULL,
        .is_over = ending_is_requested,
        .arg = &g->ending,
    };
    uint32_t here = 0;
    ending_watch(&g->ending, spank);
    if (spank_get_item(spank, S_JOB_UID, &call.uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &call.gid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ID, &call.job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &call.step_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_NNODES, &here) != ESPANK_SUCCESS || !address ||
        (here != g->node_count && (!job || nuioa_parse_u32(job, UINT32_MAX, &call.job_id) < 0)))
        nuioa_fail(&err, -1,
                   "gather: Slurm did not give this node srun's address and the job's ids");
    else if (!client_call(&g->call, &call, &err))
        g->calling = true;
    if (!g->calling)
        add_failure(c, g, err.text);
}

/* The token that srun has put into the environment; NULL: none. With --async srun does not stay to
 * serve the nodes; its port is then 0. */
static const char *find_token(spank_t spank)
{
    const char *port = nuioa_variable(step_environment(spank), "SLURM_SRUN_COMM_PORT");
    return port && !strcmp(port, "0") ? NULL
                                      : nuioa_variable(step_environment(spank), WIRE_VARIABLE);
}

static void warn_missing_hints(struct stepd_context *c, const struct rendezvous_stepd *g)
{
    if (g->position == 0 && nuioa_hints_file(c->options.hints) && !c->hints.count)
        nuioa_warn(&c->faults, "no hints: srun opened no port from which the nodes could get the "
                               "file (srun --async opens none); give a short list instead");
}

void rendezvous_stepd_decline(spank_t spank, const char *why)
{
    if (find_token(spank))
        slurm_info("nuioa: gather: srun waits for its nodes, but this one does not call: %s", why);
}

void rendezvous_stepd_call(struct stepd_context *c, spank_t spank)
{
    const char *token = find_token(spank);
    struct rendezvous_stepd *g = c->rendezvous = calloc(1, sizeof(*g));
    if (!g) {
        rendezvous_stepd_decline(spank, "out of memory");
        return;
    }
    g->call = (struct client)CLIENT_NONE;
    /* In a heterogeneous step the options of another component may be why srun listens. */
    if (!c->step.task_count || !find_position(c, spank, g))
        rendezvous_stepd_decline(spank, "Slurm does not say which node of the step it is");
    else if (!rendezvous_is_needed(&c->options, g->node_count) && !(g->heterogeneous && token))
        rendezvous_stepd_decline(spank, "its options, with gather, ask for nothing from srun (is "
                                        "its plugstack.conf that of srun's host?)");
    else if (token)
        call_srun(c, spank, g, token);
    else
        warn_missing_hints(c, g);
}

void rendezvous_stepd_receive_hints(struct stepd_context *c)
{
    struct rendezvous_stepd *g = c->rendezvous;
    struct nuioa_error err;
    if (!g || !g->calling || !nuioa_hints_file(c->options.hints))
        return;
    double *weights = calloc(c->step.task_count, sizeof(*weights));
    int rc = weights ? client_receive_slice(&g->call, weights, &c->profile.pairs,
                                            &c->profile.pair_count, &err)
                     : nuioa_fail(&err, -1, "gather: out of memory");
    if (rc > 0)
        c->profile.weights = weights;
    else
        free(weights);
    if (rc >= 0)
        return;
    g->calling = false;
    add_failure(c, g, err.text);
    if (!c->hints.count && g->position == 0)
        nuioa_warn(&c->faults, "no hints: this node did not get them from srun; a line with "
                               "\"gather:\" says why");
}

static int send_record(struct rendezvous_stepd *g, const struct record_source *source,
                       struct nuioa_error *err)
{
    size_t length;
    struct wire_record *record = record_make(source, &length);
    int rc = record ? client_send_record(&g->call, record, length, err)
                    : nuioa_fail(err, -1, "gather: out of memory");
    free(record);
    return rc;
}

void rendezvous_stepd_send_record(struct stepd_context *c, const struct placement *placement)
{
    const struct nuioa_plan none = { .reason = "no plan: ranks stay where Slurm put them" };
    struct rendezvous_stepd *g = c->rendezvous;
    const struct nuioa_plan *plan = placement ? &placement->plan : &none;
    char host[64];
    struct nuioa_node unknown = { 0 };
    struct nuioa_error err;
    if (!g || !g->calling)
        return;
    nuioa_copy(unknown.host, sizeof(unknown.host), log_host(host, sizeof(host)));
    char *text = placement && c->options.explain
                     ? nuioa_report_text(plan, &c->node, &c->options, true)
                     : NULL;
    struct record_source source = {
        .plan = plan,
        .node = placement ? &c->node : &unknown,
        .warnings = &c->faults,
        .text = text,
        .position = g->position,
        .job_tasks = g->job_tasks,
    };
    g->calling = false;
    g->waiting = !send_record(g, &source, &err);
    if (g->waiting)
        g->sent = c->faults.count < WIRE_WARNINGS_MAX ? c->faults.count : WIRE_WARNINGS_MAX;
    else
        add_failure(c, g, err.text);
    free(text);
}

/* Returns true if this node must know whether srun tells the user, or it has to do so itself. */
static bool needs_answer(const struct stepd_context *c)
{
    return c->options.report || c->options.explain || c->faults.count;
}

void rendezvous_stepd_await_answer(struct stepd_context *c)
{
    struct rendezvous_stepd *g = c->rendezvous;
    struct nuioa_error err;
    if (!g)
        return;
    if (g->waiting && needs_answer(c)) {
        g->reported = !client_receive_welcome(&g->call, &err);
        if (!g->reported)
            add_failure(c, g, err.text);
    }
    g->waiting = false;
}

void rendezvous_stepd_stop_waiting(struct stepd_context *c)
{
    if (c->rendezvous)
        ending_mark_over(&c->rendezvous->ending);
}

unsigned rendezvous_stepd_spare_ms(const struct stepd_context *c)
{
    const struct rendezvous_stepd *g = c->rendezvous;
    return g && g->calling && g->node_count > 1
               ? (unsigned)(deadline_left_us(&g->call.deadline) / 2000)
               : UINT_MAX;
}

bool rendezvous_stepd_is_waiting(const struct stepd_context *c)
{
    const struct rendezvous_stepd *g = c->rendezvous;
    return g && g->waiting && needs_answer(c) && !client_is_answered(&g->call);
}

unsigned rendezvous_stepd_faults_told(const struct stepd_context *c)
{
    return rendezvous_stepd_is_reported(c) ? c->rendezvous->sent : 0;
}

bool rendezvous_stepd_is_reported(const struct stepd_context *c)
{
    return c->rendezvous && c->rendezvous->reported;
}

void rendezvous_stepd_end(struct stepd_context *c)
{
    struct rendezvous_stepd *g = c->rendezvous;
    if (!g)
        return;
    client_close(&g->call);
    free(c->profile.weights);
    free(c->profile.pairs);
    c->profile = (struct profile_part){ 0 };
    free(g);
    c->rendezvous = NULL;
}
