/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/pair.h"

#include <string.h>

#include "tools/probe/listening.h"
#include "tools/probe/process.h"

static struct probe_process make(const char *role, const struct probe_pair *pair,
                                 const struct probe_end *end, struct probe_words words)
{
    words.gpu = end->gpu;
    return (struct probe_process){ .role = role,
                                   .node = pair->node,
                                   .benchmark = pair->benchmark,
                                   .numa = end->numa,
                                   .words = words,
                                   .limit_s = pair->limit_s,
                                   .child = NUIOA_SUBPROCESS_NONE };
}

int probe_pair_run(const struct probe_pair *pair, double *number, struct nuioa_error *err)
{
    unsigned port = strstr(pair->benchmark->command, "{port}") ? probe_free_port() : 0;
    struct probe_words words = { pair->nic, "", port, -1 };
    struct probe_process server = make("server", pair, &pair->server, words);
    words.host = "127.0.0.1";
    struct probe_process client = make("client", pair, &pair->client, words);
    int rc = probe_process_start(&server, err);
    if (!rc)
        rc = probe_process_await_server(&server, err);
    if (!rc)
        rc = probe_process_start(&client, err);
    if (!rc)
        rc = probe_process_await_client(&client, &server, err);
    if (!rc)
        rc = probe_process_number(&client, number, err);
    if (!rc)
        probe_process_linger(&server);
    probe_process_stop(&client);
    probe_process_stop(&server);
    probe_kill_children();
    return rc;
}
