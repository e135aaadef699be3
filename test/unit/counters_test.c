/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "spank/rendezvous/after_step.h"
#include "spank/rendezvous/counters.h"
#include "spank/rendezvous/counters_judge.h"
#include "topology/nic.h"

/* What srun makes of the counters of the nodes when the step is over. */

/* A node whose farthest rank is at the next level, and that ran for ten seconds. */
static struct counters node_of(uint32_t node)
{
    return (struct counters){ .head = { .node = node, .time_ms = 10000, .farthest = 0.3 } };
}

/* Adds a NIC of 100 Gb/s. */
static struct wire_counter *add(struct counters *c, const char *label, double planned,
                                uint64_t received, uint64_t sent, uint64_t packets)
{
    struct wire_counter *nic = &c->nics[c->head.nic_count++];
    *nic = (struct wire_counter){
        .kind = NUIOA_NIC_INFINIBAND,
        .rate_mbps = 100000,
        .planned = planned,
        .received = received,
        .sent = sent,
        .received_packets = packets,
        .sent_packets = packets,
    };
    snprintf(nic->label, sizeof(nic->label), "%s", label);
    return nic;
}

static void reading(void **state)
{
    struct counters c = node_of(3), got;
    (void)state;
    add(&c, "mlx5_0:1", 0.5, 10, 20, 1);
    add(&c, "mlx5_1:1", 0.5, 30, 40, 2);
    assert_int_equal(counters_read(&c, counters_length(&c), &got), 0);
    assert_int_equal(got.head.node, 3);
    assert_string_equal(got.nics[1].label, "mlx5_1:1");
    assert_int_equal(got.nics[1].sent, 40);
    /* lengths */
    for (size_t length = 0; length <= counters_length(&c) + 1; length++)
        assert_int_equal(counters_read(&c, length, &got),
                         length == counters_length(&c) ? 0 : -EINVAL);
}

#define REFUSED(change) \
    do { \
        struct counters c = node_of(0), got; \
        struct wire_counter *nic = add(&c, "mlx5_0:1", 1, 10, 20, 1); \
        assert_int_equal(counters_read(&c, counters_length(&c), &got), 0); \
        change; \
        (void)nic; \
        assert_int_equal(counters_read(&c, counters_length(&c), &got), -EINVAL); \
    } while (0)

static void hostile(void **state)
{
    struct counters got;
    struct wire_counters head = { .nic_count = WIRE_NICS_MAX + 1 };
    (void)state;
    assert_int_equal(counters_read(&head, sizeof(head), &got), -EINVAL);
    head.nic_count = UINT32_MAX / sizeof(struct wire_counter) + 1;
    assert_int_equal(counters_read(&head, sizeof(head), &got), -EINVAL);
    REFUSED(c.head.farthest = INFINITY);
    REFUSED(c.head.farthest = NAN);
    REFUSED(c.head.others = 2);
    REFUSED(nic->label[0] = '\0');
    REFUSED(nic->label[3] = '\n');
    REFUSED(nic->label[3] = ' ');
    REFUSED(memset(nic->label, 'x', sizeof(nic->label)));
    REFUSED(nic->kind = NUIOA_NIC_KINDS);
    REFUSED(nic->planned = 1.5);
    REFUSED(nic->planned = -1);
    REFUSED(nic->planned = NAN);
    REFUSED(nic->unknown = WIRE_UNKNOWNS);
    REFUSED(nic->received = UINT64_MAX);
    REFUSED(nic->sent = UINT64_MAX / 64);
}

static void close_to(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9)
        fail_msg("%g, and not %g", got, wanted);
}

static void busy(void **state)
{
    struct counters c = node_of(0);
    (void)state;
    /* 12.5 GB in 10 s are a tenth of 100 Gb/s. */
    struct wire_counter *nic = add(&c, "mlx5_0:1", 1, 12500000000, 1, 1);
    close_to(counters_busy(&c, nic), 0.1);
    nic->sent = 25000000000; /* the busier direction */
    close_to(counters_busy(&c, nic), 0.2);
    nic->rate_mbps = 0;
    assert_true(counters_busy(&c, nic) < 0);
    nic->sent = nic->received = 0; /* at any rate */
    close_to(counters_busy(&c, nic), 0);
    nic->received = 1;
    nic->rate_mbps = 100000;
    c.head.time_ms = 0;
    assert_true(counters_busy(&c, nic) < 0);
    c.head.time_ms = 10000;
    nic->unknown = WIRE_FELL;
    assert_true(counters_busy(&c, nic) < 0);
}

static void saving(void **state)
{
    struct counters c = node_of(0);
    (void)state;
    struct wire_counter *nic = add(&c, "mlx5_0:1", 1, 12500000000, 1, 0);
    close_to(counters_saving(&c), 0.1 * 0.3);
    add(&c, "mlx5_1:1", 0, 25000000000, 1, 0); /* the busier one */
    close_to(counters_saving(&c), 0.2 * 0.3);
    c.head.nic_count = 1;
    c.head.farthest = 0; /* all are beside the NIC */
    close_to(counters_saving(&c), 0);
    nic->rate_mbps = 0; /* then it does not matter */
    close_to(counters_saving(&c), 0);
    c.head.farthest = 0.3;
    assert_true(counters_saving(&c) < 0);
    nic->rate_mbps = 100000;
    /* A ping-pong of 2 us a round: 5 million packets in 10 s, 0.3 us each. */
    nic->received = nic->sent = 0;
    nic->received_packets = 5000000;
    close_to(counters_saving(&c), 0.15);
    nic->kind = NUIOA_NIC_ETHERNET; /* and ten times as much in the kernel, of 20 us a round */
    nic->received_packets = 500000;
    close_to(counters_saving(&c), 0.15);
    nic->received_packets = UINT64_MAX;
    assert_true(counters_saving(&c) < 0);
    nic->received_packets = 1;
    assert_true(counters_saving(&c) >= 0);
    c.head.others = 1;
    assert_true(counters_saving(&c) < 0);
    c.head.others = 0;
    c.head.farthest = -1;
    assert_true(counters_saving(&c) < 0);
    c.head.farthest = 0.3;
    nic->unknown = WIRE_LATE;
    assert_true(counters_saving(&c) < 0);
    c.head.nic_count = 0;
    assert_true(counters_saving(&c) < 0);
}

static void idle(void **state)
{
    struct counters c = node_of(0);
    (void)state;
    add(&c, "mlx5_0:1", 0.5, 400000000, 0, 1);
    struct wire_counter *second = add(&c, "mlx5_1:1", 0.5, 100000000, 0, 1);
    assert_null(counters_idle(&c)); /* 20 % are more than a fifth of 50 % */
    second->received = 40000000;    /* 9 % */
    assert_ptr_equal(counters_idle(&c), second);
    c.head.others = 1;
    assert_null(counters_idle(&c));
    c.head.others = 0;
    second->planned = 0; /* nobody meant it to carry anything */
    assert_null(counters_idle(&c));
    second->planned = 0.5;
    c.nics[0].unknown = WIRE_GONE;
    assert_null(counters_idle(&c));
    c.nics[0].unknown = WIRE_KNOWN;
    c.nics[0].received = 400000; /* hardly anybody talks */
    second->received = 0;
    assert_null(counters_idle(&c));
}

static void has(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("no \"%s\" in:\n%s", words, text);
}

static void lacks(const char *text, const char *words)
{
    if (strstr(text, words))
        fail_msg("\"%s\" in:\n%s", words, text);
}

/* Returns the text for nodes that are expected; those with time_ms 0 do not answer. */
static char *text_of(const struct counters *nodes, uint32_t count)
{
    struct after_step *after = after_step_new();
    char host[16];
    for (uint32_t i = 0; i < count; i++) {
        snprintf(host, sizeof(host), "n%u", i + 1);
        after_step_expect(after, i, host);
    }
    assert_true(after_step_is_expected(after));
    for (uint32_t i = count; i--;) /* the last comes first */
        if (nodes[i].head.time_ms)
            after_step_add(after, &nodes[i]);
    char *text = after_step_text(after);
    after_step_free(after);
    assert_non_null(text);
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strcspn(line, "\n") <= 100);
    return text;
}

static void text(void **state)
{
    struct counters nodes[3];
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        nodes[i] = node_of(i);
        add(&nodes[i], "mlx5_0:1", 0.5, 400000000, 396000000, 1);
        add(&nodes[i], "mlx5_1:1", 0.5, 100000000, 99000000, 1);
    }
    char *said = text_of(nodes, 3);
    has(said, "nuioa: what the NICs carried in 10.0 s, with file systems and all else\n");
    has(said, "  node  NIC       received     sent  share  planned    busy\n");
    has(said, "  n1    mlx5_0:1    400 MB   396 MB   80 %     50 %   0.3 %\n"
              "        mlx5_1:1    100 MB  99.0 MB   20 %     50 %  <0.1 %\n  n2 ");
    has(said, "\nnearer ranks can save at most 0.1 % of this step\n");
    lacks(said, "fifth");
    free(said);

    nodes[1].nics[1].received = nodes[1].nics[1].sent = 1000;
    nodes[2].nics[1].received = nodes[2].nics[1].sent = 999600;
    said = text_of(nodes, 3);
    has(said, "1.00 kB");
    has(said, " 1.00 MB ");
    has(said, "n[2-3]: mlx5_1:1 carried less than a fifth of what was planned for it");
    has(said, "UCX_NET_DEVICES or NCCL_IB_HCA");
    free(said);

    nodes[1].nics[0].received = 125000000000; /* all of the time */
    said = text_of(nodes, 3);
    has(said, " 100 %\n");
    has(said, "\nwhether nearer ranks would save time, only runs can tell: nuioa compare -- srun");
    lacks(said, "at most");
    free(said);
}

static void unknown(void **state)
{
    struct counters nodes[3];
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        nodes[i] = node_of(i);
        add(&nodes[i], "mlx5_0:1", 1, 1000, 1000, 1);
    }
    nodes[1].nics[0].unknown = WIRE_FELL;
    nodes[2].head.time_ms = 0; /* it does not answer */
    char *said = text_of(nodes, 3);
    has(said, "  n2    mlx5_0:1         ?        ?      ?    100 %");
    has(said, "  n2: mlx5_0:1: not known: its counters fell during the step");
    has(said, "  n3: not known: the node, its slurmstepd or the connection did not live to tell\n");
    has(said, "only runs can tell");
    free(said);

    nodes[1].nics[0].unknown = WIRE_KNOWN;
    nodes[2].head.time_ms = 10000;
    nodes[2].head.others = 1;
    said = text_of(nodes, 3);
    has(said, "  n3: of all jobs");
    lacks(said, "nearer ranks");
    has(said, "  n3    mlx5_0:1   1.00 kB  1.00 kB      -        -");
    free(said);
}

static void many(void **state)
{
    enum { NODES = 200 };
    struct counters *nodes = calloc(NODES, sizeof(*nodes));
    (void)state;
    for (uint32_t i = 0; i < NODES; i++) {
        nodes[i] = node_of(i);
        add(&nodes[i], i < 150 ? "mlx5_0:1" : "hsn0", 1, 1000000 * (i + 1), 0, 1);
    }
    char *said = text_of(nodes, NODES);
    has(said, "  n1    mlx5_0:1   1.00 MB");
    has(said, "  n150  mlx5_0:1    150 MB");
    has(said, "  n151  hsn0        151 MB");
    has(said, "  n200  hsn0        200 MB");
    lacks(said, "  n2 ");
    has(said, "n[1-150] (150 nodes): the ones that carried least and most are shown");
    has(said, "n[151-200] (50 nodes)");
    free(said);
    free(nodes);
}

static void unexpected(void **state)
{
    struct after_step *after = after_step_new();
    struct counters c = node_of(5);
    (void)state;
    assert_false(after_step_is_expected(after));
    assert_null(after_step_text(after));
    after_step_add(after, &c); /* nobody has announced them */
    assert_null(after_step_text(after));
    after_step_expect(after, WIRE_NODES_MAX, "far");
    assert_false(after_step_is_expected(after));
    after_step_expect(after, 7, "n8");
    after_step_add(after, &c);
    char *said = after_step_text(after);
    has(said, "n8: not known");
    free(said);
    after_step_free(after);
    after_step_expect(NULL, 0, "n1");
    after_step_add(NULL, &c);
    assert_null(after_step_text(NULL));
    after_step_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading), cmocka_unit_test(hostile), cmocka_unit_test(busy),
        cmocka_unit_test(saving),  cmocka_unit_test(idle),    cmocka_unit_test(text),
        cmocka_unit_test(unknown), cmocka_unit_test(many),    cmocka_unit_test(unexpected),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
