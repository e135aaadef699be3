/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"
#include "output/report_table.h"
#include "output/report_node.h"
#include "plan_case.h"
#include "unit.h"

static struct plan_case *s;

/* Makes a plan on the machine; task i starts on CPU i, or on `width` CPUs from there. */
static void make_plan(uint32_t tasks, uint32_t width, bool hinted)
{
    plan_case_on(s, tasks, 0);
    for (uint32_t i = 0; i < tasks; i++) {
        hwloc_bitmap_zero(s->masks[i]);
        hwloc_bitmap_set_range(s->masks[i], i * width, (int)(i * width + width - 1));
        s->tasks[i].rank = 100 + i;
        s->tasks[i].weight = hinted ? i : 0;
    }
    s->request.hinted = hinted;
    plan_case_make(s);
}

static int start(void **state)
{
    (void)state;
    s = plan_case_new();
    machine_hagrid(&s->node, 5);
    return 0;
}

static char *text_of(bool explain)
{
    char *text = nuioa_report_text(&s->plan, &s->node, &s->options, explain);
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

TEST_WITHIN(test_table, start, NULL)
{
    nuioa_copy(s->node.host, sizeof(s->node.host), "n1");
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
    assert_non_null(strstr(text, s->plan.reason));
    free(text);
}

/* How far a rank is from its GPUs stands beside these; unknown it is empty, and so is the column
 * without GPUs. */
TEST_WITHIN(test_to_gpu, start, NULL)
{
    machine_gpu(&s->node, 5);
    make_plan(4, 4, false);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(s->plan.assignments[i].gpu_level, NUIOA_NO_LEVEL);
    char *text = text_of(false);
    assert_null(strstr(text, "GPU"));
    free(text);
    uint32_t gpu = 0;
    for (uint32_t i = 0; i < 3; i++) {
        s->plan.assignments[i].gpus_known = true;
        s->plan.assignments[i].gpu_count = 1;
        s->plan.assignments[i].gpus = &gpu;
        s->plan.assignments[i].gpu_level = i < 2 ? i : NUIOA_NO_LEVEL;
    }
    text = text_of(false);
    assert_non_null(strstr(text, "GPU  to GPU\n"));
    assert_non_null(strstr(text, "  0    0\n"));
    assert_non_null(strstr(text, "  0    1\n"));
    assert_non_null(strstr(text, "  0\n"));
    free(text);
}

TEST_WITHIN(test_aligned, start, NULL)
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

TEST_WITHIN(test_no_hints, start, NULL)
{
    make_plan(16, 1, false);
    char *text = text_of(false);
    check_lines(text);
    assert_null(strstr(text, "cost")); /* weights are unknown: there is no cost */
    assert_null(strstr(text, "weight"));
    assert_non_null(strstr(text, s->plan.reason));
    free(text);
}

TEST_WITHIN(test_no_nic, start, NULL)
{
    nuioa_node_free(&s->node);
    machine_plain(&s->node, 2, 2);
    make_plan(4, 1, true);
    char *text = text_of(true);
    check_lines(text);
    assert_non_null(strstr(text, "No NIC found"));
    free(text);
}

TEST_WITHIN(test_long, start, NULL)
{
    nuioa_node_free(&s->node);
    machine_build(&s->node, &(struct shape){
                                .numas = 4,
                                .cores = 64,
                                .threads = 2,
                                .numas_per_package = 1,
                            });
    struct nuioa_nic *nic = machine_nic(&s->node, "mlx5_0", 1);
    memset(nic->name, 'n', sizeof(nic->name) - 1);
    memset(s->node.host, 'h', sizeof(s->node.host) - 1);
    make_plan(64, 4, true);
    nuioa_copy(s->plan.reason, sizeof(s->plan.reason),
               "a reason that is as long as reasons can be, in many words, so that it does not fit "
               "into one line of a hundred columns and has to be wrapped by the report");
    nuioa_warn(&s->plan.warnings, "%0200d", 7);
    nuioa_warn(&s->plan.warnings, "short \xc3\xa9");
    char *text = text_of(false);
    assert_non_null(strstr(text, ".."));
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, "0000", 4)) /* one long word is not broken */
            assert_true(strcspn(line, "\n") <= 100);
    free(text);
}

/* Above 64 ranks, those that share NUMA node and NIC share one line. */
TEST_WITHIN(test_many, start, NULL)
{
    nuioa_node_free(&s->node);
    machine_plain(&s->node, 4, 32);
    machine_nic(&s->node, "mlx5_0", 1);
    nuioa_copy(s->node.host, sizeof(s->node.host), "n1");
    make_plan(128, 1, false);
    assert_true(s->plan.moved);
    char *text = text_of(false);
    assert_int_equal(check_lines(text), 2 + 4 + 1);
    assert_string_equal(words_of(text, "n1 100-131"), "n1 100-131 * 32-63 1 default mlx5_0:1 0");
    free(text);
}

/* A bound that is below the cost is no failure of the plan. */
TEST_WITHIN(test_bound, start, NULL)
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

TEST_WITHIN(test_explain, start, NULL)
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
TEST_WITHIN(test_explain_unmoved, start, NULL)
{
    make_plan(16, 1, false);
    char *text = text_of(true);
    check_lines(text);
    assert_null(strstr(text, "of the gain"));
    free(text);

    /* the last ranks are the heaviest, and the NIC is near them already */
    nuioa_node_free(&s->node);
    machine_hagrid(&s->node, 7);
    make_plan(16, 1, true);
    text = text_of(true);
    check_lines(text);
    assert_string_equal(words_of(text, "115 *"), "115 * 15 7 mlx4_0:1 0 15 1 beside its NIC");
    free(text);
}

TEST_WITHIN(test_explain_many, start, NULL)
{
    nuioa_node_free(&s->node);
    machine_plain(&s->node, 4, 32);
    machine_nic(&s->node, "mlx5_0", 1);
    make_plan(128, 1, true);
    char *text = text_of(true);
    assert_true(check_lines(text) < 40);
    assert_string_equal(words_of(text, "196-227 *"),
                        "196-227 * 32-63 1 mlx5_0:1 0 3568 32 nearer, 0 farther, 0 equally far");
    free(text);
}

TEST_WITHIN(test_leader_off, start, NULL)
{
    make_plan(4, 1, true);
    s->plan.order_count = 0;
    char *text = text_of(true);
    assert_null(strstr(text, "*"));
    assert_null(strstr(text, "leader"));
    free(text);
}

/* A machine that was captured without its name, and one rank. */
TEST_WITHIN(test_one, start, NULL)
{
    *s->node.host = '\0';
    make_plan(1, 1, true);
    char *text = text_of(false);
    check_lines(text);
    assert_memory_equal(text, "nuioa: 1 rank, 0 moved, policy ", 31);
    assert_memory_equal(words_of(text, "rank"), "rank CPUs", 9);
    free(text);
}

/* Weights in bytes are long, and fractions have no end. */
TEST_WITHIN(test_digits, start, NULL)
{
    nuioa_copy(s->node.host, sizeof(s->node.host), "n1");
    make_plan(16, 1, true);
    s->plan.assignments[0].weight = 483919214.8;
    s->plan.assignments[1].weight = 1.0 / 3;
    s->plan.assignments[2].weight = 12345.678;
    s->plan.before.j = 41931837404.525;
    s->plan.after.j = 1e-7 / 3;
    char *text = text_of(false);
    check_lines(text);
    assert_non_null(strstr(words_of(text, "n1 100 "), " 483919215 #"));
    assert_non_null(strstr(words_of(text, "n1 101 "), " 0.333333"));
    assert_non_null(strstr(words_of(text, "n1 102 "), " 12345.7"));
    assert_non_null(strstr(text, "cost 41931837405 -> 3.33333e-08 (100.0 % less)"));
    free(text);
}

TEST_WITHIN(test_cpu_bind, start, NULL)
{
    make_plan(3, 1, true);
    hwloc_bitmap_list_sscanf(s->plan.assignments[0].cpus, "0,4-7");
    hwloc_bitmap_list_sscanf(s->plan.assignments[1].cpus, "64");
    hwloc_bitmap_list_sscanf(s->plan.assignments[2].cpus, "3,33,130");
    char *text = nuioa_report_cpu_bind(&s->plan);
    assert_string_equal(text, "0xf1,0x10000000000000000,0x400000000000000000000000200000008\n");
    free(text);
}

TEST_WITHIN(test_node, start, NULL)
{
    nuioa_copy(s->node.host, sizeof(s->node.host), "n1");
    hwloc_bitmap_clr(s->node.allowed_cpus, 3);
    struct nuioa_nic *nic = machine_nic(&s->node, "eth0", 2);
    nic->usable = false;
    nuioa_copy(nic->why, sizeof(nic->why), "too slow");
    nuioa_warn(&s->node.warnings, "something to know");
    char *text = nuioa_report_node(&s->node);
    check_lines(text);
    assert_string_equal(words_of(text, "1 1 "), "1 1 2-3 2 1024 MiB");
    assert_string_equal(words_of(text, "5 39 "), "5 39 29 29 20 31 10 20 21");
    assert_non_null(strstr(text, "eth0:1 not used: too slow\n"));
    assert_non_null(strstr(text, "warning: something to know\n"));
    free(text);
}

/* A table that no screen has room for. */
TEST_WITHIN(test_many_numas, start, NULL)
{
    nuioa_node_free(&s->node);
    machine_plain(&s->node, 17, 1);
    char *text = nuioa_report_node(&s->node);
    assert_string_equal(words_of(text, "17 x"), "17 x 17: see nuioa topo --json");
    free(text);
}
