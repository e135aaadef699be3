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

#include "machine.h"
#include "output/report.h"
#include "plan_case.h"
#include "spank/rendezvous/client.h"
#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/host_groups.h"
#include "spank/rendezvous/leaders.h"
#include "spank/rendezvous/listener.h"
#include "spank/rendezvous/node_diff.h"
#include "spank/rendezvous/record.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/summary.h"
#include "spank/rendezvous/token.h"
#include "spank/rendezvous/wire.h"

/* The messages between srun and the nodes: tables, records, and the report made of them. */

static void round_trip(const uint32_t *leaders, uint32_t count, uint32_t runs)
{
    size_t length;
    struct wire_table table;
    char *bytes = leaders_serialize(1, 2, leaders, count, &length);
    uint32_t *got = calloc(count, sizeof(*got));
    memcpy(&table, bytes, sizeof(table));
    assert_int_equal(table.run_count, runs);
    assert_int_equal(leaders_parse(bytes, length, 1, 2, got, count), 0);
    assert_memory_equal(got, leaders, count * sizeof(*got));
    assert_int_equal(leaders_parse(bytes, length, 3, 2, got, count), -EINVAL);
    assert_int_equal(leaders_parse(bytes, length, 1, 3, got, count), -EINVAL);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(leaders_parse(bytes, cut, 1, 2, got, count), -EINVAL);
    free(got);
    free(bytes);
}

static void tables(void **state)
{
    static const uint32_t one[] = { 7 }, even[] = { 0, 8, 16, 24, 32 }, down[] = { 9, 6, 3, 0 };
    static const uint32_t mixed[] = { 0, 8, 16, 25, 26, 27, 4000000000u, 5 };
    (void)state;
    round_trip(one, 1, 1);
    round_trip(even, 5, 1);
    round_trip(down, 4, 1);
    round_trip(mixed, 8, 3);
}

/* Each byte in turn is wrong: never another table without notice. */
static void changed_tables(void **state)
{
    static const uint32_t leaders[] = { 0, 8, 16, 25, 26, 27 };
    uint32_t got[6];
    size_t length;
    unsigned char *bytes = leaders_serialize(1, 2, leaders, 6, &length);
    (void)state;
    for (size_t i = 0; i < length; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (unsigned char)(1 << bit);
            assert_int_equal(leaders_parse(bytes, length, 1, 2, got, 6), -EINVAL);
            bytes[i] ^= (unsigned char)(1 << bit);
        }
    free(bytes);
}

/* One NIC, `count` ranks in a line each; the caller frees. */
static void *make_record(uint32_t node, uint32_t state, const char *numa, uint32_t count,
                         size_t *length)
{
    struct wire_record head = {
        .node = node,
        .leader = node * count,
        .near = 1,
        .task_count = count,
        .numa_count = 2,
        .core_count = 8,
        .nic_count = 1,
        .line_count = count,
        .cost_before = 10,
        .cost_after = 8,
        .bound = -1,
        .reason = "why",
        .advice = UINT32_MAX, /* also what this version does not know */
    };
    struct wire_nic nic = { .label = "mlx5_0:1", .state = state, .usable = state == 2 };
    *length = sizeof(head) + sizeof(nic) + count * sizeof(struct nuioa_report_line);
    char *bytes = calloc(1, *length);
    snprintf(head.host, sizeof(head.host), "n%u", node + 1);
    snprintf(nic.numas, sizeof(nic.numas), "%s", numa);
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), &nic, sizeof(nic));
    for (uint32_t i = 0; i < count; i++) {
        struct nuioa_report_line line = {
            .numas = "0",
            .memory = "default",
            .nic = "mlx5_0:1",
            .gpus = "0-1",
            .path = "PIX",
            .count = 1,
            .leads = i == 0,
            .weight = -1,
        };
        snprintf(line.ranks, sizeof(line.ranks), "%u", node * count + i);
        snprintf(line.cpus, sizeof(line.cpus), "%u", i);
        memcpy(bytes + sizeof(head) + sizeof(nic) + i * sizeof(line), &line, sizeof(line));
    }
    return bytes;
}

static void set_u32(char *bytes, size_t offset, uint32_t value)
{
    memcpy(bytes + offset, &value, sizeof(value));
}

static void records(void **state)
{
    struct record record;
    size_t length;
    char *bytes = make_record(0, 2, "0", 4, &length);
    (void)state;
    assert_int_equal(record_read(bytes, length, &record), 0);
    assert_string_equal(record.lines[3].ranks, "3");
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(record_read(bytes, cut, &record), -EINVAL);
    static const size_t doubles[] = { offsetof(struct wire_record, cost_before),
                                      offsetof(struct wire_record, cost_after),
                                      offsetof(struct wire_record, bound),
                                      sizeof(struct wire_record) + sizeof(struct wire_nic) +
                                          3 * sizeof(struct nuioa_report_line) +
                                          offsetof(struct nuioa_report_line, weight) };
    static const double no_numbers[] = { NAN, -NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < sizeof(doubles) / sizeof(*doubles); i++)
        for (size_t k = 0; k < sizeof(no_numbers) / sizeof(*no_numbers); k++) {
            double before;
            memcpy(&before, bytes + doubles[i], sizeof(before));
            memcpy(bytes + doubles[i], &no_numbers[k], sizeof(before));
            assert_int_equal(record_read(bytes, length, &record), -EINVAL);
            memcpy(bytes + doubles[i], &before, sizeof(before));
        }
    assert_int_equal(record_read(bytes, length, &record), 0);
    /* a text without an end, and one that is no text */
    char *last = bytes + sizeof(struct wire_record) + sizeof(struct wire_nic) +
                 3 * sizeof(struct nuioa_report_line);
    assert_string_equal(record.lines[3].gpus, "0-1");
    assert_string_equal(record.lines[3].path, "PIX");
    memset(last + offsetof(struct nuioa_report_line, path), 'x', sizeof(record.lines->path));
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    memset(last + offsetof(struct nuioa_report_line, path), 0, sizeof(record.lines->path));
    last[offsetof(struct nuioa_report_line, gpus)] = '\n';
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    last[offsetof(struct nuioa_report_line, gpus)] = '0';
    assert_int_equal(record_read(bytes, length, &record), 0);
    bytes[offsetof(struct wire_record, host)] = '\n';
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    free(bytes);
}

/* A fact of the first NIC of a record. */
#define NIC(field) (sizeof(struct wire_record) + offsetof(struct wire_nic, field))

/* Every text of the GPUs, of a NIC and of a warning ends within its size. */
static void record_texts(void **state)
{
    static const size_t texts[] = { offsetof(struct wire_record, gpus), NIC(label), NIC(numas),
                                    NIC(gpus), NIC(fabric) };
    struct record record;
    size_t length;
    char *bytes = make_record(0, 2, "0", 1, &length);
    (void)state;
    bytes = realloc(bytes, length + 256);
    strcpy(bytes + length, "a warning");
    set_u32(bytes, offsetof(struct wire_record, warning_count), 1);
    length += 256;
    assert_int_equal(record_read(bytes, length, &record), 0);
    assert_string_equal(record.warnings[0], "a warning");
    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char *text = bytes + texts[i], first = *text;
        *text = '\n';
        assert_int_equal(record_read(bytes, length, &record), -EINVAL);
        *text = first;
    }
    assert_int_equal(record_read(bytes, length, &record), 0);
    memset(bytes + length - 256, 'x', 256);
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    free(bytes);
}

/* A large job has a line for all ranks that share NUMA nodes, NICs and level. */
static void made_records(void **state)
{
    (void)state;
    struct plan_case *s = plan_case_new();
    machine_hagrid(&s->node, 5);
    nuioa_copy(s->node.host, sizeof(s->node.host), "n\n1");
    plan_case_on(s, 16, 1);
    plan_case_make(s);
    for (uint32_t grouped = 0; grouped < 2; grouped++) {
        const struct record_source source = { .plan = &s->plan,
                                              .node = &s->node,
                                              .position = 3,
                                              .job_tasks = NUIOA_REPORT_RANKS_MAX + grouped };
        struct record record;
        size_t length;
        uint32_t ranks = 0;
        void *bytes = record_make(&source, &length);
        assert_int_equal(record_read(bytes, length, &record), 0);
        assert_string_equal(record.head->host, "n?1");
        assert_int_equal(record.head->node, 3);
        assert_int_equal(record.head->line_count, grouped ? 8 : 16); /* NUMA nodes : ranks */
        for (uint32_t i = 0; i < record.head->line_count; i++) {
            ranks += record.lines[i].count;
            assert_int_equal(record.lines[i].count, grouped ? 2 : 1);
            assert_int_equal(!!strpbrk(record.lines[i].ranks, ",-"), grouped);
        }
        assert_int_equal(ranks, 16);
        free(bytes);
    }
    plan_case_free(s);
}

static struct plan_case *gpu_case(void)
{
    struct plan_case *c = plan_case_new();
    machine_quad(&c->node);
    for (unsigned i = 0; i < 4; i++)
        machine_gpu(&c->node, i)->model = 0x10de2330;
    return c;
}

static char *record_of(const struct plan_case *c, struct record *record)
{
    const struct record_source source = { .plan = &c->plan, .node = &c->node };
    size_t length;
    char *bytes = record_make(&source, &length);
    assert_int_equal(record_read(bytes, length, record), 0);
    return bytes;
}

/* GPUs, the NICs beside them, and what NICs are for. */
static void records_of_gpus(void **state)
{
    (void)state;
    struct plan_case *c = gpu_case();
    struct record record;
    char *bytes = record_of(c, &record);
    assert_int_equal(record.head->gpu_count, 4);
    assert_string_equal(record.head->gpus, "nvidia 10de:2330");
    assert_string_equal(record.nics[0].gpus, ""); /* no path is known */
    free(bytes);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 2; k++)
            machine_path(&c->node, i, k,
                         (i == 3) != (k == 0) ? NUIOA_PATH_SYS
                         : i == 1 && k == 1   ? NUIOA_PATH_NODE
                                              : NUIOA_PATH_PXB);
    c->node.gpus[3].model = 0;
    c->node.nics[0].role = NUIOA_ROLE_STORAGE;
    c->node.nics[0].role_source = NUIOA_ROLE_BY_GUESS;
    nuioa_copy(c->node.nics[1].fabric, sizeof(c->node.nics[1].fabric), "fe80:0000:0000:0001");
    bytes = record_of(c, &record);
    assert_string_equal(record.head->gpus, "3 nvidia 10de:2330, 1 nvidia");
    assert_string_equal(record.nics[0].gpus, "3");
    assert_string_equal(record.nics[1].gpus, "0,2");
    assert_int_equal(record.nics[0].role, NUIOA_ROLE_STORAGE);
    assert_int_equal(record.nics[0].role_source, NUIOA_ROLE_BY_GUESS);
    assert_string_equal(record.nics[1].fabric, "fe80:0000:0000:0001");
    free(bytes);
    plan_case_free(c);
}

/* A node with more kinds of ranks than a record has lines for. */
static void long_records(void **state)
{
    enum { RANKS = WIRE_LINES_MAX + 8 };
    (void)state;
    struct nuioa_assignment ranks[RANKS] = { 0 };
    struct nuioa_node node = { .numa_count = RANKS, .core_count = RANKS };
    struct nuioa_plan plan = { .task_count = RANKS, .assignments = ranks };
    const struct record_source source = { .plan = &plan, .node = &node, .job_tasks = UINT32_MAX };
    struct record record;
    size_t length;
    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].numas = hwloc_bitmap_alloc();
        ranks[i].cpus = hwloc_bitmap_alloc();
        hwloc_bitmap_only(ranks[i].numas, i);
        hwloc_bitmap_only(ranks[i].cpus, i);
    }
    void *bytes = record_make(&source, &length);
    assert_int_equal(record_read(bytes, length, &record), 0);
    assert_int_equal(record.head->line_count, WIRE_LINES_MAX);
    assert_int_equal(record.head->task_count, RANKS);
    assert_string_equal(record.lines[WIRE_LINES_MAX - 1].cpus, "63");
    free(bytes);
    for (uint32_t i = 0; i < RANKS; i++) {
        hwloc_bitmap_free(ranks[i].numas);
        hwloc_bitmap_free(ranks[i].cpus);
    }
}

/* Each number that a report prints has a limit. */
static void record_limits(void **state)
{
    static const struct {
        size_t offset;
        uint32_t most;
    } numbers[] = {
        { offsetof(struct wire_record, task_count), WIRE_TASKS_MAX },
        { offsetof(struct wire_record, moved_count), 4 },
        { offsetof(struct wire_record, numa_count), WIRE_NUMAS_MAX },
        { offsetof(struct wire_record, core_count), WIRE_CORES_MAX },
        { offsetof(struct wire_record, gpu_count), WIRE_GPUS_MAX },
        { offsetof(struct wire_record, policy), NUIOA_POLICY_CPU },
        { NIC(kind), NUIOA_NIC_KINDS - 1 },
        { NIC(role), NUIOA_ROLES - 1 },
        { NIC(role_source), NUIOA_ROLE_BY_SITE },
    };
    struct record record;
    size_t length;
    char *bytes = make_record(0, 2, "0", 4, &length);
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        uint32_t before, more = numbers[i].most + 1;
        memcpy(&before, bytes + numbers[i].offset, sizeof(before));
        memcpy(bytes + numbers[i].offset, &numbers[i].most, sizeof(before));
        assert_int_equal(record_read(bytes, length, &record), 0);
        memcpy(bytes + numbers[i].offset, &more, sizeof(before));
        assert_int_equal(record_read(bytes, length, &record), -EINVAL);
        memcpy(bytes + numbers[i].offset, &before, sizeof(before));
    }
    free(bytes);
}

/* A node's ranks are all different, because a slice has each rank once. */
static void hellos(void **state)
{
    (void)state;
    enum { RANKS = 4 };
    struct wire_hello said, head = {
        .purpose = WIRE_PURPOSE,
        .job_id = 7,
        .node_count = 2,
        .task_count = RANKS,
        .rank_count = RANKS,
    };
    const struct hello_wanted wanted = { .job_id = 7 };
    const uint32_t ranks[][RANKS] = {
        { 4, 5, 6, 7 }, { 9, 1, 5, 3 }, { 4, 5, 5, 6 }, { 3, 8, 1, 3 }
    };
    char bytes[sizeof(head) + sizeof(ranks[0])];
    for (unsigned i = 0; i < 4; i++) {
        memcpy(bytes, &head, sizeof(head));
        memcpy(bytes + sizeof(head), ranks[i], sizeof(ranks[i]));
        assert_int_equal(hello_read(&wanted, bytes, sizeof(bytes), &said), i < 2);
        assert_false(hello_read(&wanted, bytes, sizeof(bytes) - 4, &said));
    }
}

static char *summarize(uint32_t nodes, uint32_t ranks)
{
    struct summary *summary = summary_new();
    for (uint32_t i = nodes; i--;) { /* the last comes first */
        struct record record;
        size_t length;
        char *bytes = make_record(i, i == 3 ? 1 : 2, i == 2 ? "1" : "0", ranks, &length);
        assert_int_equal(record_read(bytes, length, &record), 0);
        summary_add(summary, &record);
        free(bytes);
    }
    char *text = summary_text(summary, false);
    summary_free(summary);
    assert_non_null(text);
    return text;
}

static void invitations(void **state)
{
    (void)state;
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        struct token made, again, other;
        char text[TOKEN_TEXT_MAX];
        assert_int_equal(token_make(&made, 65535, encrypted), 0);
        assert_int_equal(token_make(&other, 65535, encrypted), 0);
        assert_memory_not_equal(made.key, other.key, WIRE_KEY_SIZE);
        token_write(&made, text);
        assert_true(strlen(text) < TOKEN_TEXT_MAX);
        assert_int_equal(token_read(&again, text), 0);
        assert_int_equal(again.port, 65535);
        assert_int_equal(again.encrypted, encrypted);
        assert_memory_equal(again.key, made.key, WIRE_KEY_SIZE);
    }
}

static void wrong_invitation(const char *text, int rc)
{
    struct token token;
    assert_int_equal(token_read(&token, text), rc);
}

/* Every way to cut one short or to add to it, and every character that is not of it. */
static void wrong_invitations(void **state)
{
    struct token token;
    char text[TOKEN_TEXT_MAX + 8];
    (void)state;
    assert_int_equal(token_make(&token, 40000, false), 0);
    token_write(&token, text);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        text[i] = '\0';
        wrong_invitation(text, -EINVAL);
        text[i] = 'G';
        wrong_invitation(text, -EINVAL);
        text[i] = c;
    }
    wrong_invitation(text, 0);
    strcpy(text + length, ":");
    wrong_invitation(text, -EINVAL);
    strcpy(text + length, "00");
    wrong_invitation(text, -EINVAL);
    text[length] = '\0';
    text[0]++;
    wrong_invitation(text, -EPROTONOSUPPORT);
    text[0]--;
    char *port = strstr(text, "40000");
    memcpy(port, "70000", 5);
    wrong_invitation(text, -EINVAL);
    memcpy(port, "00000", 5);
    wrong_invitation(text, -EINVAL);
    memcpy(port, "40000", 5);
    memcpy(strstr(text, ":key:"), ":kez:", 5);
    wrong_invitation(text, -EINVAL);
    assert_int_equal(token_read(&token, "6:key:1:00"), -EPROTONOSUPPORT);
    assert_int_equal(token.version, 6);
    wrong_invitation("40000:", -EPROTONOSUPPORT); /* an older version's began with the port */
}

static void report(void **state)
{
    char *text = summarize(6, 2);
    (void)state;
    assert_non_null(strstr(text, "nuioa: 6 nodes, 12 ranks"));
    assert_true(strstr(text, "\n  n1") < strstr(text, "\n  n6"));
    assert_non_null(strstr(text, "n3: mlx5_0:1 is on NUMA node 1, elsewhere on NUMA node 0"));
    assert_non_null(strstr(text, "n4: mlx5_0:1 is down, elsewhere active"));
    assert_null(strstr(text, "n5: "));
    assert_non_null(strstr(text, " 0-1  PIX"));
    assert_non_null(strstr(text, "cost 60 -> 48 (20.0 % less)"));
    assert_non_null(strstr(text, "\nn[1-6]: OpenMP threads run where the kernel puts them"));
    free(text);
    text = summarize(200, 2);
    assert_non_null(strstr(text, "n[1-2,5-200]"));
    assert_null(strstr(text, "\n  n1 "));
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 100);
    free(text);
}

/* Returns srun's report of the plans' nodes, each of which sends its record. */
static char *report_of(struct plan_case *const *cases, uint32_t count, bool explain)
{
    struct summary *summary = summary_new();
    uint32_t tasks = 0;
    for (uint32_t i = 0; i < count; i++)
        tasks += cases[i]->plan.task_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_case *c = cases[i];
        char *own = nuioa_report_text(&c->plan, &c->node, &c->options, true);
        const struct record_source source = {
            .plan = &c->plan,
            .node = &c->node,
            .text = explain ? own : NULL,
            .position = i,
            .job_tasks = tasks,
        };
        struct record record;
        size_t length;
        void *bytes = record_make(&source, &length);
        assert_int_equal(record_read(bytes, length, &record), 0);
        summary_add(summary, &record);
        free(bytes);
        free(own);
    }
    char *text = summary_text(summary, explain);
    summary_free(summary);
    assert_non_null(text);
    return text;
}

static struct plan_case *weighed_case(const char *host, uint32_t tasks, double unit)
{
    struct plan_case *c = plan_case_new();
    double weights[80];
    for (uint32_t i = 0; i < tasks; i++)
        weights[i] = unit * (tasks - i);
    machine_build(&c->node, &(struct shape){
                                .numas = 4,
                                .cores = 20,
                                .threads = 1,
                                .numas_per_package = 1,
                            });
    machine_nic(&c->node, "mlx5_0", 2);
    nuioa_copy(c->node.host, sizeof(c->node.host), host);
    plan_case_on(c, tasks, 1);
    plan_case_weigh(c, weights);
    plan_case_make(c);
    return c;
}

/* Of one node srun says what nuioa plan and nuioa exec say. */
static void report_of_one_node(void **state)
{
    static const struct {
        const char *host;
        uint32_t tasks;
        double unit;
    } nodes[] = { { "n1", 8, 1 }, { "n1", 80, 1 }, { "n1", 1, 1e6 / 3 }, { "", 8, 1234567 } };
    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(*nodes); i++)
        for (int explain = 0; explain < 2; explain++) {
            struct plan_case *c = weighed_case(nodes[i].host, nodes[i].tasks, nodes[i].unit);
            char *of_srun = report_of(&c, 1, explain);
            char *of_node = nuioa_report_text(&c->plan, &c->node, &c->options, explain);
            assert_string_equal(of_srun, of_node);
            free(of_srun);
            free(of_node);
            plan_case_free(c);
        }
}

/* Numbers have one format, words their plural, and a node without a plan only its reason. */
static void report_of_nodes(void **state)
{
    (void)state;
    struct plan_case *cases[] = { weighed_case("n1", 1, 1234567), weighed_case("n2", 1, 1e6),
                                  plan_case_new() };
    nuioa_copy(cases[2]->node.host, sizeof(cases[2]->node.host), "n3");
    nuioa_copy(cases[2]->plan.reason, sizeof(cases[2]->plan.reason), "no plan");
    char *text = report_of(cases, 2, false);
    assert_memory_equal(text, "nuioa: 2 nodes, 2 ranks, ", 25);
    assert_non_null(strstr(text, " 1234567  ####################\n"));
    free(text);
    text = report_of(cases + 1, 2, false);
    assert_memory_equal(text, "nuioa: 1 node, 1 rank, ", 23);
    assert_non_null(strstr(text, "\nn3: no plan\n"));
    assert_null(strstr(text, "differ"));
    assert_null(strstr(text, "\n  n3"));
    free(text);
    text = report_of(cases + 2, 1, false);
    assert_string_equal(text, "nuioa: no node has a plan\nno plan\n");
    free(text);
    for (size_t i = 0; i < 3; i++)
        plan_case_free(cases[i]);
}

/* 40 nodes with two ranks each. Node 5 is in a class of its own for its level, node 6 for a NIC
 * that is usable or not as no other node's, and the nodes from 7 on for their rates. */
static void many_classes(void **state)
{
    (void)state;
    for (uint32_t usable = 0; usable < 2; usable++) {
        struct summary *summary = summary_new();
        for (uint32_t i = 0; i < 40; i++) {
            struct record record;
            size_t length;
            char *bytes = make_record(i, 2, "0", 2, &length);
            char *lines = bytes + sizeof(struct wire_record) + sizeof(struct wire_nic);
            for (uint32_t k = 0; i == 4 && k < 2; k++)
                set_u32(lines + k * sizeof(struct nuioa_report_line),
                        offsetof(struct nuioa_report_line, level), UINT32_MAX);
            set_u32(bytes, NIC(usable), (i == 5) == usable);
            set_u32(bytes, NIC(rate_mbps), i < 6 ? 100 : 100 + i);
            assert_int_equal(record_read(bytes, length, &record), 0);
            summary_add(summary, &record);
            free(bytes);
        }
        char *text = summary_text(summary, false);
        assert_non_null(strstr(text, "n[1-4]  "));
        char *line = strstr(text, " n5  ");
        assert_non_null(line);
        *strchr(line, '\n') = ' ';
        char *end = strchr(line, '\n'), *level = strstr(line, " -:2 ");
        assert_true(level && level < end);
        assert_non_null(strstr(text, "\n  and 5 more nodes\n"));
        assert_non_null(strstr(text, usable ? "n6: mlx5_0:1 is usable, elsewhere not\n"
                                            : "n6: mlx5_0:1 is not usable\n"));
        assert_non_null(strstr(text, "n7: mlx5_0:1 has 106 Mb/s, elsewhere 100 Mb/s\n"));
        free(text);
        summary_free(summary);
    }
}

/* Slurm made no list of the hosts. */
static void unnamed_hosts(void **state)
{
    (void)state;
    const struct host_group group = { .count = 3 };
    char names[8];
    assert_string_equal(host_groups_names(&group, names, sizeof(names)), "?");
}

/* More differences than there is room for. */
static void differences(void **state)
{
    (void)state;
    struct record usual, other;
    size_t length;
    char *a = make_record(0, 2, "0", 1, &length), *b = make_record(1, 1, "1", 1, &length);
    char texts[4][NODE_DIFF_TEXT] = { "", "", "", "" };
    set_u32(b, NIC(rate_mbps), 7);
    assert_int_equal(record_read(a, length, &usual), 0);
    assert_int_equal(record_read(b, length, &other), 0);
    assert_int_equal(node_diff_texts(&usual, &other, texts, 2), 2);
    assert_string_equal(texts[1], "mlx5_0:1 is on NUMA node 1, elsewhere on NUMA node 0");
    assert_string_equal(texts[2], "");
    assert_int_equal(node_diff_texts(&usual, &other, texts, 4), 3);
    assert_string_equal(texts[2], "mlx5_0:1 has 7 Mb/s, elsewhere an unknown rate");
    free(a);
    free(b);
}

/* The texts of the differences of `b` from `a`, whose first NIC `change` has made different. */
static void one_difference(void (*change)(struct wire_record *head, struct wire_nic *nic),
                           const char *wanted)
{
    struct record usual, other;
    size_t length;
    char texts[4][NODE_DIFF_TEXT] = { "", "", "", "" };
    char *a = make_record(0, 2, "0", 1, &length), *b = make_record(0, 2, "0", 1, &length);
    struct wire_record *head = (void *)b;
    set_u32(a, offsetof(struct wire_record, gpu_count), 8);
    strcpy(a + offsetof(struct wire_record, gpus), "nvidia 10de:2330");
    strcpy(a + NIC(gpus), "0-1");
    strcpy(a + NIC(fabric), "fe80:0000:0000:0001");
    memcpy(b, a, length);
    change(head, (void *)(head + 1));
    assert_int_equal(record_read(a, length, &usual), 0);
    assert_int_equal(record_read(b, length, &other), 0);
    assert_true(node_diff_digest(&usual) != node_diff_digest(&other));
    assert_int_equal(node_diff_texts(&usual, &other, texts, 4), *wanted ? 1 : 0);
    assert_string_equal(texts[0], wanted);
    free(a);
    free(b);
}

static void fewer_gpus(struct wire_record *head, struct wire_nic *nic)
{
    head->gpu_count = 7;
    strcpy(nic->gpus, "0");
}
static void only_fewer_gpus(struct wire_record *head, struct wire_nic *nic)
{
    (void)nic;
    head->gpu_count = 7;
}
static void other_gpus(struct wire_record *head, struct wire_nic *nic)
{
    (void)nic;
    strcpy(head->gpus, "4 nvidia 10de:2330, 4 nvidia 10de:20b0");
}
static void no_gpus(struct wire_record *head, struct wire_nic *nic)
{
    head->gpu_count = 0;
    *head->gpus = *nic->gpus = '\0';
}
static void other_rail(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    strcpy(nic->gpus, "2");
}
static void no_rail(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    *nic->gpus = '\0';
}
static void said_role(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    nic->role = NUIOA_ROLE_STORAGE;
    nic->role_source = NUIOA_ROLE_BY_SITE;
    nic->usable = 0;
}
static void guessed_role(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    nic->role = NUIOA_ROLE_MANAGEMENT;
    nic->role_source = NUIOA_ROLE_BY_GUESS;
}
static void other_kind(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    nic->kind = NUIOA_NIC_ROCE;
}
static void other_fabric(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    strcpy(nic->fabric, "fe80:0000:0000:0002");
}
static void no_fabric(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    *nic->fabric = '\0';
}

/* One thing that is different is one line. */
static void differences_of_gpus(void **state)
{
    (void)state;
    one_difference(fewer_gpus, "7 GPUs, elsewhere 8");
    one_difference(only_fewer_gpus, "7 GPUs, elsewhere 8");
    one_difference(no_gpus, "0 GPUs, elsewhere 8");
    one_difference(other_gpus,
                   "GPUs are 4 nvidia 10de:2330, 4 nvidia 10de:20b0, elsewhere nvidia 10de:2330");
    one_difference(other_rail, "mlx5_0:1 is beside GPU 2, elsewhere GPUs 0-1");
    one_difference(no_rail, "mlx5_0:1 is beside no GPU, elsewhere GPUs 0-1");
    one_difference(said_role, "mlx5_0:1 is for storage, elsewhere of an unknown role");
    one_difference(guessed_role,
                   "mlx5_0:1 is perhaps for management, elsewhere of an unknown role");
    one_difference(other_kind, "mlx5_0:1 is roce, elsewhere other");
    one_difference(other_fabric, "mlx5_0:1 is in InfiniBand subnet fe80:0000:0000:0002, elsewhere "
                                 "fe80:0000:0000:0001");
    one_difference(no_fabric, ""); /* what is not known is no difference */
}

/* Where a thousand nodes are of two kinds, the rarer ones are named up to a width, and counted. */
static void many_that_differ(void **state)
{
    (void)state;
    struct summary *summary = summary_new();
    for (uint32_t i = 0; i < 1000; i++) {
        struct record record;
        size_t length;
        char *bytes = make_record(i, i % 3 ? 2 : 1, "0", 1, &length);
        assert_int_equal(record_read(bytes, length, &record), 0);
        summary_add(summary, &record);
        free(bytes);
    }
    char *text = summary_text(summary, false);
    char *line = strstr(text, "others:\n  n[1,4,7,");
    assert_non_null(line);
    assert_non_null(strstr(line, ".. (334 nodes): mlx5_0:1 is down,"));
    free(text);
    summary_free(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(changed_tables),
        cmocka_unit_test(records),
        cmocka_unit_test(record_limits),
        cmocka_unit_test(record_texts),
        cmocka_unit_test(made_records),
        cmocka_unit_test(records_of_gpus),
        cmocka_unit_test(long_records),
        cmocka_unit_test(hellos),
        cmocka_unit_test(invitations),
        cmocka_unit_test(wrong_invitations),
        cmocka_unit_test(report),
        cmocka_unit_test(many_classes),
        cmocka_unit_test(report_of_one_node),
        cmocka_unit_test(report_of_nodes),
        cmocka_unit_test(unnamed_hosts),
        cmocka_unit_test(differences),
        cmocka_unit_test(differences_of_gpus),
        cmocka_unit_test(many_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
