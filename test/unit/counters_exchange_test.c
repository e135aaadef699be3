/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "record_case.h"
#include "spank/rendezvous/client.h"
#include "spank/rendezvous/server.h"
#include "util/clock.h"

/* Nodes keep their connection and tell their counters when the step is over: srun's thread has
 * ended then, and srun reads them itself, and does not wait for ever. */

enum { NODES = 3, WAIT_MS = 300 };

struct srun {
    struct server *server;
    uint32_t counting;   /* nodes whose counters will come */
    uint32_t got[NODES]; /* counters of each node */
    unsigned finished;
    struct client nodes[NODES];
};

static void warn(void *arg, const char *text)
{
    (void)arg;
    fail_msg("%s", text);
}

static void take_record(void *arg, const struct record *record, bool counts)
{
    (void)record;
    ((struct srun *)arg)->counting += counts;
}

static void finish(void *arg)
{
    ((struct srun *)arg)->finished++;
}

static void take_counters(void *arg, const struct counters *counters)
{
    assert_int_equal(counters->head.nic_count, 1);
    assert_string_equal(counters->nics[0].label, "mlx5_0:1");
    ((struct srun *)arg)->got[counters->head.node]++;
}

/* All nodes have their table, and those of `counting` have announced counters. */
static void begin(struct srun *s, const bool counting[NODES], uint64_t counting_max)
{
    struct nuioa_error err;
    uint32_t leaders[NODES];
    memset(s, 0, sizeof(*s));
    const struct server_config config = {
        .timeout_ms = 5000,
        .every_record = true,
        .counting_max = counting_max,
        .arg = s,
        .warn = warn,
        .record = take_record,
        .finish = finish,
        .counters = take_counters,
    };
    assert_int_equal(server_open(&config, &s->server, &err), 0);
    server_expect(s->server, 7, 0, NODES);
    assert_int_equal(server_start(s->server, false), 0);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct client_call call = {
            .address = "127.0.0.1",
            .srun = server_text(s->server),
            .timeout_ms = 5000,
            .job_id = 7,
            .node = i,
            .node_count = NODES,
            .task_count = 2,
            .leader = WIRE_NO_RANK,
        };
        size_t length;
        struct wire_record *record = make_record(i, 2, "0", 2, &length);
        record->counts = counting[i];
        assert_int_equal(client_call(&s->nodes[i], &call, &err), 0);
        assert_int_equal(client_send_record(&s->nodes[i], record, length, &err), 0);
        free(record);
    }
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(client_receive_table(&s->nodes[i], 2 * i, leaders, &err) >= 0);
    server_wait(s->server); /* the thread ends by itself: it waits for nobody's counters */
    assert_int_equal(s->finished, 1);
}

static void end(struct srun *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        client_close(&s->nodes[i]);
    server_close(s->server);
}

static int tell(struct srun *s, uint32_t node, uint32_t as)
{
    struct counters counters = { .head = { .node = as, .nic_count = 1, .time_ms = 1000 } };
    strcpy(counters.nics[0].label, "mlx5_0:1");
    return client_send_counters(&s->nodes[node], &counters, counters_length(&counters));
}

static void all_tell(void **state)
{
    struct srun s;
    (void)state;
    begin(&s, (const bool[]){ true, true, true }, NODES);
    for (uint32_t i = 0; i < NODES; i++)
        assert_int_equal(tell(&s, i, i), 0);
    server_collect(s.server, 60000); /* a limit of time only ends what hangs */
    for (uint32_t i = 0; i < NODES; i++)
        assert_int_equal(s.got[i], 1);
    assert_int_equal(server_counts(s.server).counters, NODES);
    end(&s);
}

/* A node has gone, and another one is silent: the third is heard, and srun goes on. */
static void some_tell(void **state)
{
    struct srun s;
    (void)state;
    begin(&s, (const bool[]){ true, true, true }, NODES);
    client_close(&s.nodes[0]);
    assert_int_equal(tell(&s, 2, 2), 0);
    int64_t start_ms = nuioa_clock_ms();
    server_collect(s.server, WAIT_MS);
    assert_true(nuioa_clock_ms() - start_ms >= WAIT_MS); /* for the silent one */
    assert_int_equal(s.got[0] + s.got[1], 0);
    assert_int_equal(s.got[2], 1);
    end(&s);
}

/* Nobody is waited for who has announced nothing; and who has not cannot tell. */
static void nobody_announces(void **state)
{
    struct srun s;
    (void)state;
    begin(&s, (const bool[]){ false, false, false }, NODES);
    assert_int_equal(tell(&s, 0, 0), -ENOTCONN);
    server_collect(s.server, 60000);
    assert_int_equal(server_counts(s.server).counters, 0);
    end(&s);
}

/* A node speaks for itself only, and once. */
static void one_lies(void **state)
{
    struct srun s;
    (void)state;
    begin(&s, (const bool[]){ true, true, false }, NODES);
    assert_int_equal(tell(&s, 0, 1), 0);
    assert_int_equal(tell(&s, 1, 1), 0);
    assert_int_equal(tell(&s, 1, 1), 0);
    server_collect(s.server, 60000);
    assert_int_equal(s.got[0], 0);
    assert_int_equal(s.got[1], 1);
    end(&s);
}

/* srun cannot keep so many connections: it closes them, and waits for nothing. */
static void too_many_nodes(void **state)
{
    struct srun s;
    (void)state;
    char byte;
    begin(&s, (const bool[]){ true, true, true }, NODES - 1);
    assert_int_equal(s.counting, 0);
    for (uint32_t i = 0; i < NODES; i++) {
        struct pollfd wait = { .fd = s.nodes[i].fd, .events = POLLIN };
        assert_int_equal(poll(&wait, 1, 60000), 1);
        assert_int_equal(recv(s.nodes[i].fd, &byte, 1, MSG_DONTWAIT), 0);
        tell(&s, i, i);
    }
    server_collect(s.server, 60000);
    assert_int_equal(server_counts(s.server).counters, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tell),         cmocka_unit_test(some_tell),
        cmocka_unit_test(nobody_announces), cmocka_unit_test(one_lies),
        cmocka_unit_test(too_many_nodes),
    };
    return cmocka_run_group_tests_name("counters_exchange", tests, NULL, NULL);
}
