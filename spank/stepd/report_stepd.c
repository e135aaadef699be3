/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/report_stepd.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/report.h"
#include "spank/common/hosts.h"
#include "spank/common/log.h"
#include "spank/report/credential.h"
#include "spank/report/listener.h"
#include "spank/report/record.h"
#include "spank/report/sender.h"
#include "spank/stepd/faults.h"
#include "spank/stepd/user_child.h"
#include "util/clock.h"
#include "util/variable.h"

/* The child lives so long: Slurm gives up a launch after ten minutes, and a record that has come is
 * sent, or printed, within a minute and a half. */
#define LIFE_MS 720000

/* How long the exit of the last task waits for the child, and then for its death. */
#define EXIT_MS 500

struct report_stepd {
    struct wire_seal seal; /* position in the step, and ids */
    uint32_t job_tasks;    /* tasks of the whole step; UINT32_MAX: not known */
    uint32_t ended;        /* tasks of this node that have ended */
    struct sender sender;
    struct user_child child;
    char *own; /* what this node prints itself; malloc'd, owned; NULL: nothing so far */
    /* The child has the record and the job's stderr. A thread may set it (launch.c). */
    atomic_bool handed_over;
    bool finished;          /* the child was waited for */
    struct nuioa_error why; /* why it has no record, for the user; "": no reason to tell */
};

static bool is_wanted(const struct nuioa_options *o)
{
    return !nuioa_options_idle(o) && (o->report || o->explain);
}

/* Finds the position of this node in the step. In a heterogeneous step the nodes of all components
 * count: SPANK items are for one component, the SLURM_STEP_* variables for all. */
static bool find_position(spank_t spank, struct report_stepd *g)
{
    char **environment = step_environment(spank), host[64];
    const char *list = nuioa_variable(environment, "SLURM_STEP_NODELIST");
    struct wire_seal *s = &g->seal;
    uint32_t here;
    g->job_tasks =
        nuioa_variable_number(environment, "SLURM_STEP_NUM_TASKS", UINT32_MAX, UINT32_MAX);
    memcpy(s->purpose, WIRE_PURPOSE, sizeof(WIRE_PURPOSE));
    s->version = WIRE_VERSION;
    if (spank_get_item(spank, S_JOB_NNODES, &here) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_NODEID, &s->node) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_ID, &s->job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &s->step_id) != ESPANK_SUCCESS)
        return false;
    s->node_count =
        nuioa_variable_number(environment, "SLURM_STEP_NUM_NODES", WIRE_NODES_MAX, here);
    if (s->node_count != here) {
        int position = list ? hosts_find(list, log_host(host, sizeof(host))) : -1;
        if (position < 0)
            return false;
        s->node = (uint32_t)position;
        /* of the leading component */
        s->job_id = nuioa_variable_number(environment, "SLURM_JOB_ID", UINT32_MAX, 0);
    }
    return s->job_id && s->node < s->node_count;
}

static int start_child(struct step_run *c, spank_t spank, struct report_stepd *g, const char *text)
{
    struct nuioa_user user;
    struct sender_call call = {
        .sender = &g->sender,
        .address = nuioa_variable(step_environment(spank), "SLURM_SRUN_COMM_HOST"),
        .socket = c->facts->options.munge_socket,
    };
    int rc = user_child_user(spank, &user);
    if (rc == -EPERM)
        return rc; /* srun tells root */
    if (rc < 0 || !call.address)
        return nuioa_fail(&g->why, -ENOENT, "Slurm does not tell this node srun's address");
    rc = listener_read_port(text, &call.port, &g->why);
    if (!rc)
        rc = credential_ready(call.socket, &g->why);
    if (rc < 0)
        return rc;
    rc = sender_open(&g->sender);
    struct user_errand errand = { &user, sender_work, &call, g->sender.child_control };
    if (!rc)
        rc = user_child_start(&g->child, &errand, LIFE_MS);
    sender_forked(&g->sender);
    return rc < 0 ? nuioa_fail(&g->why, rc, "%s", strerror(-rc)) : 0;
}

void report_stepd_begin(struct step_run *c, spank_t spank)
{
    const char *text = nuioa_variable(step_environment(spank), WIRE_VARIABLE);
    struct report_stepd *g = is_wanted(&c->facts->options) ? calloc(1, sizeof(*g)) : NULL;
    c->report = g;
    if (!g)
        return;
    g->sender = (struct sender)SENDER_NONE;
    g->child = (struct user_child)USER_CHILD_NONE;
    if (find_position(spank, g) && text && start_child(c, spank, g, text) < 0)
        sender_close(&g->sender);
}

/* --- telling ---------------------------------------------------------------------------------- */

/* Returns true if this node prints its own report where there is no common one. */
static bool prints_own(const struct report_stepd *g)
{
    return g->seal.node == 0 || g->seal.node_count <= SENDER_NODES_MAX;
}

/* Returns the text that this node prints itself: its first fault, and its report (malloc'd, caller
 * frees; NULL without memory). */
static char *own_text(const struct step_run *c, const struct placement *placement)
{
    char line[512] = "", *text = NULL;
    if (!prints_own(c->report))
        return strdup("");
    char *report = placement ? nuioa_report_text(&placement->plan, &c->facts->node,
                                                 &c->facts->options, c->facts->options.explain)
                             : strdup("");
    faults_line(c, line, sizeof(line));
    if (report &&
        asprintf(&text, "%s%s%s%s", *line ? "nuioa: " : "", line, *line ? "\n" : "", report) < 0)
        text = NULL;
    free(report);
    return text;
}

/* Writes the record into the memory of the sender, and returns its length. */
static size_t make_record(const struct step_run *c, const struct placement *placement)
{
    const struct nuioa_plan none = { .reason = "no plan: ranks stay where Slurm put them" };
    const struct nuioa_plan *plan = placement ? &placement->plan : &none;
    struct nuioa_node unknown = { 0 };
    char host[64];
    nuioa_copy(unknown.host, sizeof(unknown.host), log_host(host, sizeof(host)));
    char *text = placement && c->facts->options.explain
                     ? nuioa_report_text(plan, &c->facts->node, &c->facts->options, true)
                     : NULL;
    struct record_source source = {
        .seal = c->report->seal,
        .plan = plan,
        .node = placement ? &c->facts->node : &unknown,
        .warnings = &c->faults,
        .text = text,
        .job_tasks = c->report->job_tasks,
    };
    size_t length = record_make(&source, c->report->sender.memory->record);
    free(text);
    return length;
}

static void hand_over(struct step_run *c, const struct placement *placement)
{
    struct report_stepd *g = c->report;
    int rc = -ENOMEM;
    if (g->own)
        rc = sender_hand_over(&g->sender, make_record(c, placement), g->own, STDERR_FILENO);
    if (rc < 0)
        nuioa_fail(&g->why, rc, "%s",
                   rc == -EPIPE ? "the process that sends it has ended" : strerror(-rc));
    g->handed_over = !rc;
}

static void print_own(const struct report_stepd *g)
{
    const char *text = g->own;
    if (!g->seal.node && g->seal.node_count > 1 && *g->why.text)
        log_line("report: %s: %s prints its own", g->why.text,
                 g->seal.node_count > SENDER_NODES_MAX ? "the first node alone" : "each node");
    log_text(text ? text : "nuioa: no report: out of memory\n");
}

void report_stepd_tell(struct step_run *c, const struct placement *placement)
{
    struct report_stepd *g = c->report;
    if (!g) {
        faults_print(c);
        return;
    }
    g->own = own_text(c, placement);
    if (g->sender.memory)
        hand_over(c, placement);
    if (!g->handed_over)
        print_own(g);
    faults_log(c);
}

/* Lets the child finish, and kills it: Slurm waits until nobody has the job's stderr, and until no
 * process of the step is left. Prints what a child that is late, or has died, has not. */
static void finish(struct report_stepd *g)
{
    struct pollfd done = { .fd = g->child.process.fd, .events = POLLIN };
    int64_t until_ms = nuioa_clock_ms() + EXIT_MS, left_ms;
    g->finished = true;
    sender_tell_end(&g->sender);
    while ((left_ms = until_ms - nuioa_clock_ms()) > 0 && poll(&done, 1, (int)left_ms) < 0 &&
           errno == EINTR)
        ;
    bool late = sender_decide(&g->sender);
    user_child_kill(&g->child, EXIT_MS);
    if (late)
        log_text(g->own);
}

/* Tasks that end before the record is handed over were killed while they waited for their plan. */
void report_stepd_task_exit(struct step_run *c)
{
    struct report_stepd *g = c->report;
    if (g && ++g->ended >= c->facts->step.task_count && g->handed_over && !g->finished)
        finish(g);
}

void report_stepd_end(struct step_run *c)
{
    if (!c->report)
        return;
    if (c->report->handed_over && !c->report->finished)
        finish(c->report);
    user_child_end(&c->report->child);
    sender_close(&c->report->sender);
    free(c->report->own);
    free(c->report);
    c->report = NULL;
}
