/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/accept.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/probe/judge.h"
#include "tools/probe/listening.h"
#include "tools/probe/process.h"
#include "tools/tool.h"
#include "util/clock.h"
#include "util/word.h"

/* How much longer than a run the other task may take for its answer. */
enum { SLACK_MS = 30000 };

static unsigned patience_ms(const struct probe_accept *a)
{
    return a->plan.limit_s * 1000 + SLACK_MS;
}

static int say(struct probe_accept *a, enum probe_message_kind kind, uint32_t number,
               const char *text, struct nuioa_error *err)
{
    struct probe_message message = { kind, { number }, "" };
    nuioa_copy(message.text, sizeof(message.text), text);
    return probe_peer_send(&a->peer, &message, err);
}

/* --- serving ---------------------------------------------------------------------------------- */

/* Makes the server that was asked for: `request` is changed. Returns 0, or -ENOENT with *err. */
static int make_server(const struct probe_accept *a, struct probe_message *request,
                       struct probe_process *server, struct nuioa_error *err)
{
    const struct nuioa_node *node = a->plan.node;
    char label[48], *rest = request->text, *wanted = nuioa_next_word(&rest, " ");
    *server = (struct probe_process){ .role = "server",
                                      .node = node,
                                      .limit_s = a->plan.limit_s,
                                      .child = NUIOA_SUBPROCESS_NONE,
                                      .numa = node->numa_count,
                                      .words = { NULL, "", 0, -1 } };
    for (uint32_t i = 0; wanted && i < node->nic_count; i++)
        if (a->plan.taken[i] && !strcmp(wanted, nuioa_nic_label(&node->nics[i], label, 48)))
            server->words.nic = &node->nics[i];
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (node->numas[i].os_index == request->numbers[0] && probe_numa_is_usable(node, i))
            server->numa = i;
    if (!server->words.nic || server->numa == node->numa_count)
        return nuioa_fail(err, -ENOENT, "it has no such NIC or NUMA node");
    server->benchmark = a->plan.custom ? a->plan.custom
                                       : probe_benchmark_find(server->words.nic, PROBE_WRITE, rest);
    if (!server->benchmark)
        return nuioa_fail(err, -ENOENT, "'%.40s' is no benchmark that it knows", rest);
    if (strstr(server->benchmark->command, "{port}"))
        server->words.port = probe_free_port();
    return 0;
}

/* Waits for the message that the client has ended, while the server prints. */
static int await_stop(struct probe_accept *a, struct probe_process *server,
                      struct probe_message *message, struct nuioa_error *err)
{
    int64_t end_ms = nuioa_clock_ms() + patience_ms(a);
    for (;;) {
        int rc = probe_peer_receive(&a->peer, 0, message, err);
        if (rc != -EAGAIN)
            return rc;
        if (nuioa_clock_ms() >= end_ms)
            return nuioa_fail(err, -ECONNRESET, "%s said nothing for %u s", a->peer.name,
                              patience_ms(a) / 1000);
        probe_process_wait(server, 10);
    }
}

/* Runs one server, and says what became of it. Returns 0 also if it failed. */
static int serve_one(struct probe_accept *a, struct probe_message *message, struct nuioa_error *err)
{
    struct probe_process server;
    struct nuioa_error why = { "" };
    int rc = make_server(a, message, &server, &why);
    if (!rc)
        rc = probe_process_start(&server, &why);
    if (!rc)
        rc = probe_process_await_server(&server, &why);
    if (rc == -EINTR)
        nuioa_fail(err, rc, "%s", why.text);
    else if (rc)
        rc = say(a, PROBE_CANNOT, 0, why.text, err);
    else
        rc = say(a, PROBE_LISTENS, server.words.port, "", err);
    if (!rc && !*why.text)
        rc = await_stop(a, &server, message, err);
    if (!rc && !*why.text) {
        probe_process_linger(&server);
        if (probe_process_has_ended(&server) && server.status.si_status)
            probe_process_blame(&server, &why);
        rc = say(a, PROBE_STOPPED, 0, why.text, err);
    }
    probe_process_stop(&server);
    probe_kill_children();
    return rc;
}

/* Serves until the other task gives the turn, or has done. */
static int serve(struct probe_accept *a, struct nuioa_error *err)
{
    struct probe_message message;
    int rc;
    while (!(rc = probe_peer_receive(&a->peer, patience_ms(a), &message, err)) &&
           message.kind == PROBE_SERVE)
        if ((rc = serve_one(a, &message, err)))
            break;
    return rc;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Asks the other task for a server. Returns 0 and its port; -EIO, or that of the connection. */
static int ask(struct probe_accept *a, const struct probe_cell *cell, unsigned *port,
               struct nuioa_error *err)
{
    struct probe_message message;
    char text[112], label[48], program[64];
    snprintf(text, sizeof(text), "%s %s",
             nuioa_nic_label(&a->plan.node->nics[cell->nic], label, sizeof(label)),
             probe_benchmark_name(cell->benchmark, program, sizeof(program)));
    int rc = say(a, PROBE_SERVE, cell->there, text, err);
    if (!rc)
        rc = probe_peer_receive(&a->peer, patience_ms(a), &message, err);
    if (rc)
        return rc == -EINTR ? rc : -ECONNRESET;
    *port = message.numbers[0];
    return message.kind == PROBE_LISTENS
               ? 0
               : nuioa_fail(err, -EIO, "%s: %s", a->peer.name, message.text);
}

/* Says that the client has ended, and why the server did if its own fault was first. */
static int release(struct probe_accept *a, int rc, struct nuioa_error *err)
{
    struct nuioa_error lost, own = *err;
    struct probe_message message;
    int sent = say(a, PROBE_STOP, 0, "", &lost);
    if (!sent)
        sent = probe_peer_receive(&a->peer, patience_ms(a), &message, &lost);
    if (sent)
        return nuioa_fail(err, sent == -EINTR ? sent : -ECONNRESET, "%s", lost.text);
    if (rc && *message.text)
        nuioa_fail(err, rc, "%.120s; on %s: %s", own.text, a->peer.name, message.text);
    return rc;
}

static int measure(const struct probe_nics *nics, struct probe_cell *cell, struct nuioa_error *err)
{
    struct probe_accept *a = nics->plan.context;
    struct probe_process client = { .role = "client",
                                    .node = nics->plan.node,
                                    .benchmark = cell->benchmark,
                                    .numa = cell->numa,
                                    .words = { &nics->plan.node->nics[cell->nic], a->peer.address,
                                               0, -1 },
                                    .limit_s = nics->plan.limit_s,
                                    .child = NUIOA_SUBPROCESS_NONE };
    int rc = ask(a, cell, &client.words.port, err);
    if (rc)
        return rc;
    rc = probe_process_start(&client, err);
    if (!rc)
        rc = probe_process_await_client(&client, NULL, err);
    if (!rc)
        rc = probe_process_number(&client, &cell->values[cell->count], err);
    probe_process_stop(&client);
    probe_kill_children();
    return rc == -EINTR ? rc : release(a, rc, err);
}

/* Adds the pairs of a NIC. */
static int add_pairs(const struct probe_accept *a, struct probe_nics *nics, uint32_t nic,
                     struct nuioa_error *err)
{
    const struct nuioa_node *node = a->plan.node;
    char label[48];
    const struct probe_remote_nic *other =
        probe_remote_find(&a->remote, nuioa_nic_label(&node->nics[nic], label, sizeof(label)));
    int near = probe_near_numa(node, &node->nics[nic]), rc = 0;
    struct probe_cell cell = { .nic = nic, .gpu = -1, .quantity = PROBE_WRITE };
    if (near < 0)
        return 0;
    if (!other) {
        cell.numa = (uint32_t)near;
        nuioa_fail(&cell.err, -ENOENT, "%s has no NIC of that name that is up and taken",
                   a->peer.name);
        return probe_nics_add(nics, cell);
    }
    for (uint32_t i = 0; !rc && i < node->numa_count; i++) {
        cell.numa = i;
        cell.there = other->near;
        if (probe_numa_is_usable(node, i))
            rc = probe_nics_add(nics, cell);
    }
    for (uint32_t i = 0; !rc && i < a->remote.numa_count; i++) {
        cell.numa = (uint32_t)near;
        cell.there = a->remote.numas[i];
        if (cell.there != other->near)
            rc = probe_nics_add(nics, cell);
    }
    return rc ? nuioa_fail(err, rc, "out of memory") : 0;
}

/* Measures and prints. Returns 0, also if pairs fall short, which sets *status. */
static int take_turn(struct probe_accept *a, int *status, struct nuioa_error *err)
{
    struct probe_nics nics;
    char title[160];
    int rc = 0;
    snprintf(title, sizeof(title), "%s to %s: ", a->step->here, a->step->there);
    a->plan.title = title;
    a->plan.measure = measure;
    a->plan.context = a;
    probe_nics_begin(&nics, &a->plan);
    for (uint32_t i = 0; !rc && i < a->plan.node->nic_count; i++)
        if (a->plan.taken[i])
            rc = add_pairs(a, &nics, i, err);
    if (!rc)
        rc = probe_nics_measure(&nics, err);
    if (!rc)
        *status = probe_judge(a, &nics);
    fflush(stdout);
    probe_nics_free(&nics);
    return rc;
}

int probe_accept(struct probe_accept *a)
{
    struct nuioa_error err = { "" };
    int status = TOOL_DONE;
    int rc = probe_remote_exchange(&a->peer, a->plan.node, a->plan.taken, &a->remote, &err);
    if (!rc && !a->step->first)
        rc = serve(a, &err);
    if (!rc)
        rc = take_turn(a, &status, &err);
    if (!rc)
        rc = say(a, a->step->first ? PROBE_TURN : PROBE_BYE, 0, "", &err);
    if (!rc && a->step->first)
        rc = serve(a, &err);
    return rc ? tool_fail("%s", err.text) : status;
}
