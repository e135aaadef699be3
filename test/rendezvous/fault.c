/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "hostile_srun.h"
#include "spank/rendezvous/listener.h"

/* How a node copes with a hostile srun, which is possible because srun belongs to the user, and
 * with a stopped munged. In each case the node goes on in time, and knows that srun tells the user
 * nothing. Prints TAP. Usage:
 * fault SOCKET SOCKET2 PID2 */

#define TIMEOUT_MS 400
/* A node that has not gone on by then never does. */
#define HANG_MS 10000

static unsigned tests, failures;

__attribute__((format(printf, 2, 3))) static void ok(bool good, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("%sok %u - ", good ? "" : "not ", ++tests);
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    failures += !good;
}

/* --- a hostile srun --- */

#define LONG_MS 60000

static bool is_ended(void *arg)
{
    unsigned *asked = arg;
    return ++*asked >= 3;
}

/* This process is the user, so that the hostile srun can decode the credentials. */
static void hostile(const char *socket, bool encrypted, const struct hostile_case *which)
{
    struct token token = { .encrypted = encrypted, .key = "the key of this step, 32 bytes." };
    struct harness harness = { .socket = socket, .timeout_ms = TIMEOUT_MS };
    struct fake_srun srun = { harness.text, listener_open(0, 0, &token.port),
                              encrypted,    socket,
                              which,        false };
    char name[100];
    snprintf(name, sizeof(name), "auth=%s, hostile srun, %s", encrypted ? "munge" : "key",
             which->name);
    token_write(&token, harness.text);
    uint32_t ranks[4] = { 0, 1, 2, 3 }, pair_count;
    struct client_call call = harness_call(&harness, 0, 2);
    struct client node = CLIENT_NONE;
    struct nuioa_pair *pairs;
    struct nuioa_error err = { "" };
    double weights[4];
    unsigned asked = 0;
    pthread_t thread;
    size_t length;
    void *record = harness_record(0, &length);
    call.ranks = which->wants_slice ? ranks : NULL;
    if (which->ends) {
        call.timeout_ms = LONG_MS;
        call.is_over = is_ended;
        call.arg = &asked;
    }
    unsigned fds = harness_fds(), children = harness_children();
    pthread_create(&thread, NULL, hostile_srun_run, &srun);
    int64_t start = harness_ms();
    int rc = client_call(&node, &call, &err);
    if (!rc && which->wants_slice)
        rc = client_receive_slice(&node, weights, &pairs, &pair_count, &err);
    if (!rc)
        rc = client_send_record(&node, record, length, &err);
    if (!rc)
        rc = client_receive_welcome(&node, &err);
    int took = (int)(harness_ms() - start);
    client_close(&node);
    pthread_join(thread, NULL);
    free(record);
    ok(rc < 0 && (!which->error || strstr(err.text, which->error)), "%s: not believed (%s)", name,
       err.text);
    ok(took <= HANG_MS, "%s: it goes on (after %d ms)", name, took);
    ok(!srun.key_exposed, "%s: the step's key was not sent", name);
    ok(node.fd < 0 && harness_fds() == fds && harness_children() == children, "%s: nothing leaks",
       name);
    close(srun.listener);
}

/* --- no srun at all --- */

static void not_there(bool encrypted, const char *socket, const char *what, uint16_t port)
{
    struct token token = { .port = port, .encrypted = encrypted };
    struct harness harness = { .socket = socket, .timeout_ms = TIMEOUT_MS };
    struct node_thread node = { .delay_ms = 0 };
    char name[100];
    snprintf(name, sizeof(name), "auth=%s, %s", encrypted ? "munge" : "key", what);
    token_write(&token, harness.text);
    unsigned fds = harness_fds(), children = harness_children();
    node_thread_start(&node, &harness, 0, 2);
    node_thread_join(&node);
    ok(node.rc < 0, "%s: no answer (%s)", name, node.err.text);
    ok(node.took_ms <= HANG_MS, "%s: it goes on (after %d ms)", name, (int)node.took_ms);
    ok(harness_fds() == fds && harness_children() == children, "%s: nothing leaks", name);
}

/* A listener with a full queue drops connections, as a firewall does; a closed one refuses them. */
static void nobody_there(const char *socket)
{
    uint16_t port;
    int listener = listener_open(0, 0, &port), callers[4];
    struct harness harness = { .socket = socket };
    listen(listener, 0);
    token_write(&(struct token){ .port = port }, harness.text);
    for (int i = 0; i < 4; i++)
        callers[i] = harness_connect_begin(&harness);
    not_there(false, socket, "srun accepts no connection", port);
    not_there(true, socket, "srun accepts no connection", port);
    close(listener);
    for (int i = 0; i < 4; i++)
        close(callers[i]);
    not_there(false, socket, "srun is gone", port);
    not_there(true, socket, "srun is gone", port);
}

/* Checks that a node does not even connect with this token. */
static void refused(bool encrypted, const char *text, const char *why)
{
    struct harness harness = { .timeout_ms = TIMEOUT_MS };
    struct client_call call = harness_call(&harness, 0, 2);
    struct client node = CLIENT_NONE;
    struct nuioa_error err = { "" };
    call.srun = text;
    call.munge = true;
    int rc = client_call(&node, &call, &err);
    ok(rc < 0 && node.fd < 0 && strstr(err.text, why),
       "auth=munge on the node, %s: not called (%s)", encrypted ? "munge" : "key", err.text);
    client_close(&node);
}

static void not_called(void)
{
    struct token token = { .port = 1 };
    char text[TOKEN_TEXT_MAX];
    token_write(&token, text);
    refused(false, text, "plugstack.conf says auth=munge on this node and auth=key on srun's host");
    refused(true, "4:munge:1:00", "srun speaks wire protocol 4, this node ");
}

/* --- munged --- */

static void one_node(const char *name, struct harness *harness, bool answer)
{
    struct node_thread node = { .delay_ms = 0 };
    struct srun_result result;
    unsigned fds = harness_fds();
    node_thread_start(&node, harness, 0, 1);
    node_thread_join(&node);
    ok(!node.rc == answer, "%s: %s (%s)", name, answer ? "srun answers" : "no answer",
       node.err.text);
    ok(node.took_ms <= HANG_MS, "%s: the node waits %d ms", name, (int)node.took_ms);
    usleep(answer ? 0 : (harness->timeout_ms + 200) * 1000);
    ok(harness_close(harness, &result), "%s: srun goes on", name);
    ok(result.close_ms < 300, "%s: srun ends at once (%u ms)", name, result.close_ms);
    ok(result.warnings == !answer, "%s: warnings: %u %s", name, result.warnings, result.warning);
    ok(result.fds_before == result.fds_after && !result.children_after &&
           result.threads_after == 1 && harness_fds() == fds - 2,
       "%s: nothing leaks", name);
}

static void munged_stops(const char *one, const char *two, pid_t pid)
{
    struct harness harness = {
        .encrypted = true,
        .socket = two,
        .timeout_ms = TIMEOUT_MS,
        .srun_socket = one,
    };
    harness_open(&harness);
    one_node("the node has another munged, with the same key", &harness, true);
    kill(pid, SIGSTOP);
    struct harness plain = { .socket = two, .timeout_ms = TIMEOUT_MS };
    harness_open(&plain);
    one_node("auth=key, munged is stopped", &plain, true);
    harness_open(&harness);
    one_node("the node's munged is stopped", &harness, false);
    struct harness other = {
        .encrypted = true,
        .socket = one,
        .timeout_ms = TIMEOUT_MS,
        .srun_socket = two,
    };
    harness_open(&other);
    struct node_thread node = { .delay_ms = 0 };
    struct srun_result result;
    node_thread_start(&node, &other, 0, 1);
    node_thread_join(&node);
    ok(node.rc < 0, "srun's munged is stopped: no answer (%s)", node.err.text);
    ok(node.took_ms <= HANG_MS, "srun's munged is stopped: the node waits %d ms",
       (int)node.took_ms);
    ok(harness_close(&other, &result) && result.close_ms < 300,
       "srun's munged is stopped: srun ends at once (%u ms)", result.close_ms);
    ok(!result.children_after && result.fds_before == result.fds_after,
       "srun's munged is stopped: nothing leaks");
    kill(pid, SIGCONT);
    struct harness none = {
        .encrypted = true,
        .socket = "/no/such/socket",
        .timeout_ms = TIMEOUT_MS,
        .srun_socket = one,
    };
    harness_open(&none);
    one_node("the node has no munged", &none, false);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    munged_stops(argv[1], argv[2], atoi(argv[3]));
    nobody_there(argv[1]);
    not_called();
    /* From here on this process is the user, as a hostile srun is. */
    if (setresgid(USER_UID, USER_UID, USER_UID) < 0 || setresuid(USER_UID, USER_UID, USER_UID) < 0)
        return 1;
    for (size_t i = 0; i < hostile_case_count; i++) {
        hostile(argv[1], false, &hostile_cases[i]);
        hostile(argv[1], true, &hostile_cases[i]);
    }
    printf("1..%u\n", tests);
    return failures > 0;
}
