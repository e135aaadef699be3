/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/rendezvous_srun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profile/profile_slice.h"
#include "spank/common/log.h"
#include "spank/rendezvous/absent.h"
#include "spank/rendezvous/credential.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/summary.h"
#include "spank/common/rendezvous_wanted.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"
#include "spank/srun/off_node.h"
#include "util/descriptors.h"

/* srun opens its listener before the launch, because the nodes read its port from the job's
 * environment; but not before the step is known (local_user_init), because srun forks a clean-up
 * process shortly before that, which would keep a copy of the listener as long as the job runs.
 *
 * In a heterogeneous job, what srun sets in local_user_init reaches only the first component.
 * Therefore the listener is opened in init_post_opt of the second component there.
 *
 * With --async srun does not wait for the job and never calls local_user_init: there is no
 * listener. */

struct rendezvous_srun {
    struct server_config config;
    struct server *server; /* NULL: not opened */
    struct summary *summary;
    struct absent absent;
    uint32_t spare;      /* descriptors that were free when the listener was open */
    unsigned components; /* of a heterogeneous job that have been seen; else 1 */
    bool begun;          /* the server was started, or could not be */
    bool gather_on;      /* the options say gather=on: the user is told why there is none */
    bool report, explain;
    const struct nuioa_profile *profile; /* of the hints file, owned by the context; NULL: none */
    enum nuioa_policy policy;
    struct off_node off_node; /* kept for a report with a profile */
};

static void warn(void *arg, const char *text)
{
    (void)arg;
    log_line("%s", text);
}

/* Returns how many files srun may open: it raises its limit to the hard one before the launch. */
static uint64_t files_max(void)
{
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) ? 0 : files.rlim_max;
}

/* The descriptors that srun and the server open after the listener, besides those for each node. */
#define OPENED_BY_SRUN 24
#define OPENED_BY_SERVER 6
/* To so many nodes srun sends the launch itself, and the others get it from them (TreeWidth). */
#define TREE_WIDTH 50

/* srun would lose the step without a descriptor. For each node it has a connection to the standard
 * files of its tasks, for each to which it sends the launch one more and one to munged at the same
 * time, and for 48 nodes two ports. */
static uint32_t needed_besides(uint32_t node_count)
{
    uint32_t direct = node_count < TREE_WIDTH ? node_count : TREE_WIDTH;
    return OPENED_BY_SRUN + OPENED_BY_SERVER + node_count + node_count / 24 + 2 * direct;
}

static uint32_t room(void *arg, uint32_t node_count)
{
    const struct rendezvous_srun *g = arg;
    uint32_t needed = needed_besides(node_count);
    if (g->spare == UINT32_MAX)
        return UINT32_MAX;
    return g->spare > needed ? g->spare - needed : 0;
}

static void take_record(void *arg, const struct record *record)
{
    struct rendezvous_srun *g = arg;
    summary_add(g->summary, record);
    absent_answered(&g->absent, record->head->host);
}

static void name_absent(void *arg, char *names, uint32_t size)
{
    const struct rendezvous_srun *g = arg;
    absent_names(&g->absent, names, size);
}

/* The body of WIRE_WELCOME: the weights of a node's ranks, and the pairs of ranks of which one at
 * least is on that node. */
static void *slice(void *arg, const uint32_t *ranks, uint32_t count, size_t *length)
{
    struct rendezvous_srun *g = arg;
    double *weights = calloc(count + 1, sizeof(*weights));
    struct nuioa_pair *pairs = NULL;
    struct wire_slice head = { count, 0 };
    char *bytes = NULL;
    off_node_add(&g->off_node, ranks, count);
    if (g->profile && weights &&
        !nuioa_profile_slice(g->profile, g->policy, ranks, count, weights, &pairs, &head.pair_count,
                             NULL) &&
        head.pair_count <= WIRE_PAIRS_MAX) {
        *length =
            sizeof(head) + count * sizeof(double) + head.pair_count * sizeof(struct wire_pair);
        bytes = malloc(*length);
    }
    if (bytes) {
        char *to = bytes + sizeof(head) + count * sizeof(double);
        memcpy(bytes, &head, sizeof(head));
        memcpy(bytes + sizeof(head), weights, count * sizeof(double));
        for (uint32_t i = 0; i < head.pair_count; i++, to += sizeof(struct wire_pair)) {
            struct wire_pair pair = { pairs[i].first, pairs[i].second, pairs[i].bytes };
            memcpy(to, &pair, sizeof(pair));
        }
    }
    free(pairs);
    free(weights);
    return bytes;
}

static void print_off_node(const struct rendezvous_srun *g)
{
    char text[128];
    double share = g->profile ? off_node_share(&g->off_node, g->profile) : -1;
    if (share < 0)
        return;
    snprintf(text, sizeof(text),
             "off node: %.1f %% of the profile's bytes, without collectives (as nuioa layout "
             "counts)\n",
             100 * share);
    log_text(text);
}

static void finish(void *arg)
{
    struct rendezvous_srun *g = arg;
    summary_warnings(g->summary, warn, NULL);
    char *text = g->report || g->explain ? summary_text(g->summary, g->explain) : NULL;
    if (!text)
        return;
    log_text(text);
    print_off_node(g);
    free(text);
}

/* srun ends if it finds no free port for itself, so a range with fewer ports than this is left to
 * srun. */
#define PORTS_MIN 16

/* Slurm gives up a launch whose tasks have not started after ten minutes, so no node calls
 * later. */
#define LISTEN_MS 600000

static int create_server(struct rendezvous_srun *g, struct nuioa_error *err)
{
    struct server_config *config = &g->config;
    if (slurm_compat_port_range(&config->port_first, &config->port_last) &&
        config->port_last - config->port_first + 1 < PORTS_MIN)
        return nuioa_fail(err, -ENOSPC,
                          "gather: SrunPortRange in slurm.conf has %d ports, and needs %d or more, "
                          "because srun takes some for itself",
                          config->port_last - config->port_first + 1, PORTS_MIN);
    g->summary = summary_new();
    return g->summary ? server_open(&g->config, &g->server, err)
                      : nuioa_fail(err, -ENOMEM, "gather: out of memory");
}

static void open_listener(struct rendezvous_srun *g)
{
    struct nuioa_error err;
    if (g->config.encrypted && credential_ready(&err) < 0)
        log_line("%s: " WIRE_CONSEQUENCE, err.text);
    else if (!create_server(g, &err)) {
        g->spare = nuioa_free_descriptors(files_max());
        setenv(WIRE_VARIABLE, server_text(g->server), 1);
    } else if (g->gather_on)
        log_line("%s: " WIRE_CONSEQUENCE, err.text);
}

static void warn_of_limit(const struct rendezvous_srun *g, uint32_t node_count)
{
    unsigned long long limit = files_max();
    log_line("gather: srun needs ulimit -Hn %llu to connect to the nodes, and has %llu: %s",
             limit - g->spare + needed_besides(node_count) + node_count, limit, WIRE_CONSEQUENCE);
}

static void start_server(struct rendezvous_srun *g, uint32_t node_count, bool eager)
{
    int rc = server_start(g->server, eager);
    if (rc < 0)
        unsetenv(WIRE_VARIABLE); /* the port is closed */
    if (rc == -E2BIG)
        warn_of_limit(g, node_count);
    else if (rc < 0)
        log_line("gather: %s: " WIRE_CONSEQUENCE, strerror(-rc));
}

/* In a heterogeneous job the options of the first component count. */
static void configure(const struct srun_context *c, struct rendezvous_srun *g)
{
    g->config = (struct server_config){
        .encrypted = c->options.auth == NUIOA_AUTH_MUNGE,
        .uid = geteuid(),
        .socket = c->options.munge_socket,
        .timeout_ms = c->options.timeout_ms,
        .accept_ms = LISTEN_MS,
        .reports = c->options.report || c->options.explain,
        .asked = c->flags->typed[0],
        .arg = g,
        .room = room,
        .warn = warn,
        .slice = slice,
        .absent = name_absent,
        .record = take_record,
        .finish = finish,
    };
    g->components = 1;
    g->gather_on = c->options.gather == NUIOA_SWITCH_ON;
    g->report = c->options.report;
    g->explain = c->options.explain;
    g->policy = c->options.policy;
    if (c->profile.rank_count)
        g->profile = &c->profile;
    if (g->profile && (g->report || g->explain))
        off_node_begin(&g->off_node, c->profile.rank_count);
}

bool rendezvous_srun_carries_hints(const struct srun_context *c)
{
    return rendezvous_is_wanted(&c->options) && geteuid() != 0;
}

void rendezvous_srun_prepare(struct srun_context *c)
{
    if (c->rendezvous) {
        if (++c->rendezvous->components == 2)
            open_listener(c->rendezvous);
        return;
    }
    unsetenv(WIRE_VARIABLE); /* it may be from an outer srun */
    if (!rendezvous_is_wanted(&c->options))
        return;
    if (geteuid() == 0) {
        if (c->options.gather == NUIOA_SWITCH_ON && !c->warned)
            log_line(
                "gather=on has no effect on root's jobs: their nodes do not call srun; run the job "
                "as another user");
        return;
    }
    c->rendezvous = calloc(1, sizeof(*c->rendezvous));
    if (c->rendezvous)
        configure(c, c->rendezvous);
}

/* Slurm may call this for each component of a heterogeneous job; after the first, the server's
 * thread reads what is set here. Each component has its own job id; the nodes of all of them call
 * with the same one, which srun does not know here. There is no listener if no node will call. */
void rendezvous_srun_start(struct srun_context *c, spank_t spank)
{
    uint32_t job_id, step_id, nodes;
    struct rendezvous_srun *g = c->rendezvous;
    if (!g || g->begun || spank_get_item(spank, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_STEPID, &step_id) != ESPANK_SUCCESS)
        return;
    if (g->components == 1 && step_is_launcher(spank)) /* no node of it calls */
        return;
    if (spank_get_item(spank, S_JOB_NNODES, &nodes) != ESPANK_SUCCESS)
        nodes = 0;
    bool needed = rendezvous_is_needed(&c->options, nodes);
    if (g->components == 1 && needed)
        open_listener(g);
    if (!g->server)
        return;
    g->begun = true;
    /* The list is the allocation's. Of a step on some of its nodes srun does not know which. */
    absent_begin(&g->absent, g->components == 1 ? nodes : 0, getenv("SLURM_NODELIST"));
    if (g->components > 1)
        server_expect(g->server, UINT32_MAX, step_id, 0);
    else
        server_expect(g->server, job_id, step_id, nodes);
    start_server(g, nodes, needed);
}

void rendezvous_srun_end(struct srun_context *c)
{
    if (!c->rendezvous)
        return;
    server_close(c->rendezvous->server);
    summary_free(c->rendezvous->summary);
    absent_free(&c->rendezvous->absent);
    off_node_free(&c->rendezvous->off_node);
    free(c->rendezvous);
    c->rendezvous = NULL;
}
