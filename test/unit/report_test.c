/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "output/report.h"
#include "output/report_table.h"
#include "output/report_node.h"
#include "plan/plan_make.h"
#include "unit.h"

#define TASKS_MAX 256

/* A plan on a machine built by hand; task i starts on CPU i, or on `width` CPUs from there. */
static struct nuioa_node node;
static struct nuioa_options options;
static struct nuioa_plan plan;

static void make_plan(uint32_t tasks, uint32_t width, bool hinted)
{
    struct nuioa_task task[TASKS_MAX];
    hwloc_bitmap_t cpus[TASKS_MAX];
    for (uint32_t i = 0; i < tasks; i++) {
        cpus[i] = hwloc_bitmap_alloc();
        hwloc_bitmap_set_range(cpus[i], i * width, (int)(i * width + width - 1));
        task[i] = (struct nuioa_task){
            .rank = 100 + i,
            .weight = hinted ? i : 0,
            .cpus = cpus[i],
            .gpus_known = true,
        };
    }
    nuioa_options_init(&options);
    options.mode = NUIOA_ON;
    nuioa_options_finish(&options);
    const struct nuioa_request request = {
        .node = &node,
        .options = &options,
        .task_count = tasks,
        .tasks = task,
        .hinted = hinted,
    };
    struct nuioa_error err = { "" };
    if (nuioa_plan_make(&request, &plan, &err))
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < tasks; i++)
        hwloc_bitmap_free(cpus[i]);
}

static int start(void **state)
{
    (void)state;
    machine_hagrid(&node, 5);
    memset(&plan, 0, sizeof(plan));
    return 0;
}

static int finish(void **state)
{
    (void)state;
    nuioa_plan_free(&plan);
    nuioa_node_free(&node);
    return 0;
}

static char *text_of(bool explain)
{
    char *text = nuioa_report_text(&plan, &node, &options, explain);
    assert_non_null(text);
    return text;
}

/* Checks that every line is ASCII, has at most 100 columns, and ends without blanks. Returns the
 * number of lines. */
static unsigned check_lines(const char *text)
{
    unsigned lines = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length > 100 || (length && text[length - 1] == ' '))
            fail_msg("%zu columns: '%.*s'", length, (int)length, text);
        for (size_t i = 0; i < length; i++)
            assert_true(text[i] >= ' ' && text[i] <= '~');
        assert_int_equal(text[length], '\n'); /* the last line is whole */
        text += length + 1;
        lines++;
    }
    return lines;
}

/* Copies a line without the blanks at its beginning; each run of blanks becomes one. */
static void squeeze(const char *line, char *words, size_t size)
{
    char *to = words;
    for (line += strspn(line, " "); *line && *line != '\n' && to < words + size - 1; line++)
        if (*line != ' ' || line[-1] != ' ')
            *to++ = *line;
    *to = '\0';
}

/* Returns the words of the first line that begins with `begin`. The text is static. */
static const char *words_of(const char *text, const char *begin)
{
    static char words[256];
    while (text && *text) {
        squeeze(text, words, sizeof(words));
        if (!strncmp(words, begin, strlen(begin)))
            return words;
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    fail_msg("no line begins with '%s'", begin);
    return "";
}

TEST_WITHIN(test_table, start, finish)
{
    nuioa_copy(node.host, sizeof(node.host), "n1");
    make_plan(16, 1, true);
    char *text = text_of(false);
    check_lines(text);
    assert_string_equal(words_of(text, "nuioa:"),
                        "nuioa: n1, 16 ranks, 8 moved, policy bandwidth, leader *");
    assert_string_equal(words_of(text, "node"), "node rank CPUs NUMA memory NIC level weight");
    assert_string_equal(words_of(text, "n1 115 "),
                        "n1 115 * 10 5 default mlx4_0:1 0 15 ####################");
    assert_string_equal(words_of(text, "n1 114 "),
                        "n1 114 11 5 default mlx4_0:1 0 14 ###################");
    assert_string_equal(words_of(text, "n1 100 "), "n1 100 0 0 default mlx4_0:1 3 0");
    assert_null(strstr(strchr(strstr(text, "115"), '*') + 1, "*")); /* one leader */
    assert_string_equal(words_of(text, "cost "),
                        "cost 151.35 -> 148.75 (1.7 % less), " NUIOA_BOUND " 148.75");
    assert_non_null(strstr(text, plan.reason));
    free(text);
}

/* How far a rank is from its GPUs stands beside these; unknown it is empty, and so is the column
 * without GPUs. */
TEST_WITHIN(test_to_gpu, start, finish)
{
    machine_gpu(&node, 5);
    make_plan(4, 4, false);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(plan.assignments[i].gpu_level, NUIOA_NO_LEVEL);
    char *text = text_of(false);
    assert_null(strstr(text, "GPU"));
    free(text);
    const uint32_t gpu = 0;
    for (uint32_t i = 0; i < 3; i++) {
        nuioa_assignment_set_gpus(&plan.assignments[i], &gpu, 1, true);
        plan.assignments[i].gpu_level = i < 2 ? i : NUIOA_NO_LEVEL;
    }
    text = text_of(false);
    assert_non_null(strstr(text, "GPU  to GPU\n"));
    assert_non_null(strstr(text, "  0    0\n"));
    assert_non_null(strstr(text, "  0    1\n"));
    assert_non_null(strstr(text, "  0\n"));
    free(text);
}

TEST_WITHIN(test_aligned, start, finish)
{
    make_plan(16, 1, true);
    char *text = text_of(false);
    const char *head = strstr(text, "  node ");
    size_t nic = (size_t)(strstr(head, "NIC") - head), rows = 0;
    for (const char *row = strchr(head, '\n') + 1; row[0] == ' '; row = strchr(row, '\n') + 1) {
        assert_int_equal(strncmp(row + nic, "mlx4_0:1 ", 9), 0);
        assert_int_equal(row[nic - 1], ' ');
        rows++;
    }
    assert_int_equal(rows, 16);
    free(text);
}

TEST_WITHIN(test_no_hints, start, finish)
{
    make_plan(16, 1, false);
    char *text = text_of(false);
    check_lines(text);
    assert_null(strstr(text, "cost")); /* weights are unknown: there is no cost */
    assert_null(strstr(text, "weight"));
    assert_non_null(strstr(text, plan.reason));
    free(text);
}

TEST_WITHIN(test_no_nic, start, finish)
{
    nuioa_node_free(&node);
    machine_plain(&node, 2, 2);
    make_plan(4, 1, true);
    char *text = text_of(true);
    check_lines(text);
    assert_non_null(strstr(text, "No NIC found"));
    free(text);
}

TEST_WITHIN(test_long, start, finish)
{
    nuioa_node_free(&node);
    machine_build(&node, &(struct shape){
                             .numas = 4,
                             .cores = 64,
                             .threads = 2,
                             .numas_per_package = 1,
                         });
    struct nuioa_nic *nic = machine_nic(&node, "mlx5_0", 1);
    memset(nic->name, 'n', sizeof(nic->name) - 1);
    memset(node.host, 'h', sizeof(node.host) - 1);
    make_plan(64, 4, true);
    nuioa_copy(plan.reason, sizeof(plan.reason),
               "a reason that is as long as reasons can be, in many words, so that it does not fit "
               "into one line of a hundred columns and has to be wrapped by the report");
    nuioa_warn(&plan.warnings, "%0200d", 7);
    nuioa_warn(&plan.warnings, "short \xc3\xa9");
    char *text = text_of(false);
    assert_non_null(strstr(text, ".."));
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, "0000", 4)) /* one long word is not broken */
            assert_true(strcspn(line, "\n") <= 100);
    free(text);
}

/* Above 64 ranks, those that share NUMA node and NIC share one line. */
TEST_WITHIN(test_many, start, finish)
{
    nuioa_node_free(&node);
    machine_plain(&node, 4, 32);
    machine_nic(&node, "mlx5_0", 1);
    nuioa_copy(node.host, sizeof(node.host), "n1");
    make_plan(128, 1, false);
    assert_true(plan.moved);
    char *text = text_of(false);
    assert_int_equal(check_lines(text), 2 + 4 + 1);
    assert_string_equal(words_of(text, "n1 100-131"), "n1 100-131 * 32-63 1 default mlx5_0:1 0");
    free(text);
}

/* A bound that is below the cost is no failure of the plan. */
TEST_WITHIN(test_bound, start, finish)
{
    static const struct {
        double after, bound;
        const char *wanted;
    } rows[] = {
        { 2.3, 1.3, "cost 2.3 -> 2.3, " NUIOA_BOUND " 1.3, and perhaps none is as low\n" },
        { 1.5, 1.3,
          "cost 2.3 -> 1.5 (34.8 % less), " NUIOA_BOUND " 1.3, and perhaps none is as low\n" },
        { 1.3, 1.3, "cost 2.3 -> 1.3 (43.5 % less), " NUIOA_BOUND " 1.3\n" },
        { 2.3, -1, "cost 2.3 -> 2.3\n" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct nuioa_report_totals totals = { .before = 2.3,
                                              .after = rows[i].after,
                                              .bound = rows[i].bound };
        char text[160] = "";
        FILE *out = fmemopen(text, sizeof(text), "w");
        assert_non_null(out);
        nuioa_report_cost(&totals, out);
        fclose(out);
        assert_string_equal(text, rows[i].wanted);
    }
}

TEST_WITHIN(test_explain, start, finish)
{
    make_plan(16, 1, true);
    char *text = text_of(true);
    check_lines(text);
    static const char *const wanted[] = {
        "The parts of the cost",
        "100 % of the gain",
        "the bound is the cost of heavier ranks in Slurm's closest masks",
        "  before    the level where Slurm put the rank",
        "  order     the rank's position by weight",
        "mapper hopsort",
        "leader rank 115",
        "from the firmware's table",
        "mlx4_0:1, nearest NUMA nodes first: {5} {3,6-7} {1-2,4} {0}",
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
        if (!strstr(text, wanted[i]))
            fail_msg("'%s' is not in:\n%s", wanted[i], text);
    assert_string_equal(words_of(text, "115 *"), "115 * 10 5 mlx4_0:1 0 15 1 1 nearer its NIC");
    assert_string_equal(words_of(text, "110"), "110 6 3 mlx4_0:1 1 10 0 6 gave way to rank 115");
    assert_string_equal(words_of(text, "113"), "113 13 6 mlx4_0:1 1 13 3 not moved");
    free(text);
}

/* If no rank moves, each line still says so. */
TEST_WITHIN(test_explain_unmoved, start, finish)
{
    make_plan(16, 1, false);
    char *text = text_of(true);
    check_lines(text);
    assert_null(strstr(text, "of the gain"));
    free(text);
    nuioa_plan_free(&plan);

    /* the last ranks are the heaviest, and the NIC is near them already */
    nuioa_node_free(&node);
    machine_hagrid(&node, 7);
    make_plan(16, 1, true);
    text = text_of(true);
    check_lines(text);
    assert_string_equal(words_of(text, "115 *"), "115 * 15 7 mlx4_0:1 0 15 1 beside its NIC");
    free(text);
}

TEST_WITHIN(test_explain_many, start, finish)
{
    nuioa_node_free(&node);
    machine_plain(&node, 4, 32);
    machine_nic(&node, "mlx5_0", 1);
    make_plan(128, 1, true);
    char *text = text_of(true);
    assert_true(check_lines(text) < 40);
    assert_string_equal(words_of(text, "196-227 *"),
                        "196-227 * 32-63 1 mlx5_0:1 0 3568 32 nearer, 0 farther, 0 equally far");
    free(text);
}

TEST_WITHIN(test_leader_off, start, finish)
{
    make_plan(4, 1, true);
    plan.order_count = 0;
    char *text = text_of(true);
    assert_null(strstr(text, "*"));
    assert_null(strstr(text, "leader"));
    free(text);
}

/* A machine that was captured without its name, and one rank. */
TEST_WITHIN(test_one, start, finish)
{
    *node.host = '\0';
    make_plan(1, 1, true);
    char *text = text_of(false);
    check_lines(text);
    assert_memory_equal(text, "nuioa: 1 rank, 0 moved, policy ", 31);
    assert_memory_equal(words_of(text, "rank"), "rank CPUs", 9);
    free(text);
}

/* Weights in bytes are long, and fractions have no end. */
TEST_WITHIN(test_digits, start, finish)
{
    nuioa_copy(node.host, sizeof(node.host), "n1");
    make_plan(16, 1, true);
    plan.assignments[0].weight = 483919214.8;
    plan.assignments[1].weight = 1.0 / 3;
    plan.assignments[2].weight = 12345.678;
    plan.before.j = 41931837404.525;
    plan.after.j = 1e-7 / 3;
    char *text = text_of(false);
    check_lines(text);
    assert_non_null(strstr(words_of(text, "n1 100 "), " 483919215 #"));
    assert_non_null(strstr(words_of(text, "n1 101 "), " 0.333333"));
    assert_non_null(strstr(words_of(text, "n1 102 "), " 12345.7"));
    assert_non_null(strstr(text, "cost 41931837405 -> 3.33333e-08 (100.0 % less)"));
    free(text);
}

TEST_WITHIN(test_cpu_bind, start, finish)
{
    make_plan(3, 1, true);
    hwloc_bitmap_list_sscanf(plan.assignments[0].cpus, "0,4-7");
    hwloc_bitmap_list_sscanf(plan.assignments[1].cpus, "64");
    hwloc_bitmap_list_sscanf(plan.assignments[2].cpus, "3,33,130");
    char *text = nuioa_report_cpu_bind(&plan);
    assert_string_equal(text, "0xf1,0x10000000000000000,0x400000000000000000000000200000008\n");
    free(text);
}

TEST_WITHIN(test_node, start, finish)
{
    nuioa_copy(node.host, sizeof(node.host), "n1");
    hwloc_bitmap_clr(node.allowed_cpus, 3);
    struct nuioa_nic *nic = machine_nic(&node, "eth0", 2);
    nic->usable = false;
    nuioa_copy(nic->why, sizeof(nic->why), "too slow");
    nuioa_warn(&node.warnings, "something to know");
    char *text = nuioa_report_node(&node);
    check_lines(text);
    assert_string_equal(words_of(text, "1 1 "), "1 1 2-3 2 1024 MiB");
    assert_string_equal(words_of(text, "5 39 "), "5 39 29 29 20 31 10 20 21");
    assert_non_null(strstr(text, "eth0:1 not used: too slow\n"));
    assert_non_null(strstr(text, "warning: something to know\n"));
    free(text);
}

/* A table that no screen has room for. */
TEST_WITHIN(test_many_numas, start, finish)
{
    nuioa_node_free(&node);
    machine_plain(&node, 17, 1);
    char *text = nuioa_report_node(&node);
    assert_string_equal(words_of(text, "17 x"), "17 x 17: see nuioa topo --json");
    free(text);
}
