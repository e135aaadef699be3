/* SPDX-License-Identifier: BSD-3-Clause */
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
#include "record_case.h"
#include "spank/report/host_groups.h"
#include "spank/report/record.h"
#include "spank/report/summary.h"

/* The report of a job, which srun makes of the records of its nodes, and how nodes differ. */

/* Returns the report (caller frees), and frees the summary. */
static char *text_of(struct summary *summary)
{
    char *text = summary_text(summary, false);
    summary_free(summary);
    assert_non_null(text);
    return text;
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
    return text_of(summary);
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
    assert_non_null(strstr(text, " 0-1  2       PIX"));
    assert_non_null(strstr(text, "cost 60 -> 48 (20.0 % less)"));
    assert_non_null(strstr(text, "\nn[1-6]: OpenMP threads are not bound"));
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
            .seal = { .node = i },
            .plan = &c->plan,
            .node = &c->node,
            .text = explain ? own : NULL,
            .job_tasks = tasks,
        };
        struct record record;
        void *bytes = calloc(1, WIRE_RECORD_MAX);
        assert_int_equal(record_read(bytes, record_make(&source, bytes), &record), 0);
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
            char *rows = bytes + sizeof(struct wire_record) + sizeof(struct wire_nic);
            for (uint32_t k = 0; i == 4 && k < 2; k++)
                set_u32(rows + k * sizeof(struct nuioa_report_row),
                        offsetof(struct nuioa_report_row, level), UINT32_MAX);
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

/* Checks which lines the report has for n3, whose record is `b`, where n1 and n2 have `a`. */
static void check_differences(char *a, char *b, size_t length, const char *lines)
{
    static const char title[] = "nodes that differ from the others:\n";
    struct summary *summary = summary_new();
    struct record record;
    for (uint32_t i = 0; i < 3; i++) {
        struct wire_record *head = (void *)(i < 2 ? a : b);
        head->seal.node = i;
        snprintf(head->host, sizeof(head->host), "n%u", i + 1);
        assert_int_equal(record_read(head, length, &record), 0);
        summary_add(summary, &record);
    }
    char *text = text_of(summary), *found = strstr(text, title), *end = strstr(text, "\nn[1-3]: ");
    assert_true(end && !found == !*lines);
    end[1] = '\0';
    assert_string_equal(found ? found + strlen(title) : "", lines);
    free(text);
    free(a);
    free(b);
}

/* Several differences of one node. */
static void differences(void **state)
{
    (void)state;
    size_t length;
    char *a = make_record(0, 2, "0", 1, &length), *b = make_record(1, 1, "1", 1, &length);
    set_u32(b, NIC(rate_mbps), 7);
    check_differences(a, b, length,
                      "  n3: mlx5_0:1 is down, elsewhere active\n"
                      "  n3: mlx5_0:1 is on NUMA node 1, elsewhere on NUMA node 0\n"
                      "  n3: mlx5_0:1 has 7 Mb/s, elsewhere an unknown rate\n");
}

/* More texts than there is room for. */
static void many_texts(void **state)
{
    (void)state;
    struct host_groups groups = { 0 };
    char text[16];
    for (unsigned i = 0; i < 2 * HOST_GROUPS_MAX; i++) {
        snprintf(text, sizeof(text), "%u", i);
        host_groups_add(&groups, "n1", "%s", text);
    }
    assert_int_equal(groups.count, HOST_GROUPS_MAX);
    assert_int_equal(groups.omitted, HOST_GROUPS_MAX);
    host_groups_free(&groups);
}

/* The report names nodes that have not answered only where the list is that of the step. */
static void others(void **state)
{
    (void)state;
    static const struct {
        const char *all;
        uint32_t count;
        const char *names;
    } rows[] = {
        { "n[1-4]", 4, "n[1,3]" }, { "n[1-4]", 3, "" }, { "n[3-6]", 4, "" },
        { "n2,n4", 2, "" },        { NULL, 4, "" },
    };
    struct host_groups groups = { 0 };
    char names[16];
    host_groups_add(&groups, "n2", "%s", "");
    host_groups_add(&groups, "n4", "%s", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        host_groups_others(&groups.texts[0], rows[i].all, rows[i].count, names, sizeof(names));
        assert_string_equal(names, rows[i].names);
    }
    host_groups_free(&groups);
    host_groups_others(&groups.texts[0], "n[1-4]", 4, names, sizeof(names));
    assert_string_equal(names, "n[1-4]");
}

/* What the report says where `change` has made the last node's first NIC different. */
static void one_difference(void (*change)(struct wire_record *head, struct wire_nic *nic),
                           const char *wanted)
{
    size_t length;
    char *a = make_record(0, 2, "0", 1, &length), *b = make_record(0, 2, "0", 1, &length);
    char line[128] = "";
    struct wire_record *head = (void *)b;
    set_u32(a, offsetof(struct wire_record, gpu_count), 8);
    strcpy(a + offsetof(struct wire_record, gpus), "nvidia 10de:2330");
    strcpy(a + NIC(gpus), "0-1");
    strcpy(a + NIC(fabric), "fe80:0000:0000:0001");
    memcpy(b, a, length);
    change(head, (void *)(head + 1));
    if (*wanted)
        snprintf(line, sizeof(line), "  n3: %s\n", wanted);
    check_differences(a, b, length, line);
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

static void no_place(struct wire_record *head, struct wire_nic *nic)
{
    (void)head;
    *nic->numas = '\0';
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
    one_difference(no_place, "mlx5_0:1 is on an unknown NUMA node, elsewhere on NUMA node 0");
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
        cmocka_unit_test(report),
        cmocka_unit_test(many_classes),
        cmocka_unit_test(report_of_one_node),
        cmocka_unit_test(report_of_nodes),
        cmocka_unit_test(differences),
        cmocka_unit_test(many_texts),
        cmocka_unit_test(others),
        cmocka_unit_test(differences_of_gpus),
        cmocka_unit_test(many_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
