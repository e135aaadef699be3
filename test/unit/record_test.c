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
#include "output/report_table.h"
#include "plan_case.h"
#include "record_case.h"
#include "spank/report/record.h"

/* What a node tells srun of itself, and which records srun refuses. */

static void records(void **state)
{
    struct record record;
    size_t length;
    char *bytes = make_record(0, 2, "0", 4, &length);
    (void)state;
    assert_int_equal(record_read(bytes, length, &record), 0);
    assert_string_equal(record.rows[3].ranks, "3");
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(record_read(bytes, cut, &record), -EINVAL);
    static const size_t doubles[] = { offsetof(struct wire_record, cost_before),
                                      offsetof(struct wire_record, cost_after),
                                      offsetof(struct wire_record, bound),
                                      sizeof(struct wire_record) + sizeof(struct wire_nic) +
                                          3 * sizeof(struct wire_row) +
                                          offsetof(struct wire_row, weight) };
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
    char *last =
        bytes + sizeof(struct wire_record) + sizeof(struct wire_nic) + 3 * sizeof(struct wire_row);
    assert_string_equal(record.rows[3].gpus, "0-1");
    assert_string_equal(record.rows[3].path, "PIX");
    assert_int_equal(record.rows[3].gpu_level, 2);
    memset(last + offsetof(struct wire_row, path), 'x', sizeof(record.rows->path));
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    memset(last + offsetof(struct wire_row, path), 0, sizeof(record.rows->path));
    last[offsetof(struct wire_row, gpus)] = '\n';
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    last[offsetof(struct wire_row, gpus)] = '0';
    assert_int_equal(record_read(bytes, length, &record), 0);
    bytes[offsetof(struct wire_record, host)] = '\n';
    assert_int_equal(record_read(bytes, length, &record), -EINVAL);
    free(bytes);
}

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

/* A large job has a row for all ranks that share NUMA nodes, NICs and level. */
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
                                              .job_tasks = NUIOA_REPORT_RANKS_MAX + grouped };
        struct record record;
        size_t length;
        uint32_t ranks = 0;
        void *bytes = calloc(1, WIRE_RECORD_MAX);
        length = record_make(&source, bytes);
        assert_int_equal(record_read(bytes, length, &record), 0);
        assert_string_equal(record.head->host, "n?1");
        assert_int_equal(record.head->row_count, grouped ? 8 : 16); /* NUMA nodes : ranks */
        for (uint32_t i = 0; i < record.head->row_count; i++) {
            ranks += record.rows[i].count;
            assert_int_equal(record.rows[i].count, grouped ? 2 : 1);
            assert_int_equal(!!strpbrk(record.rows[i].ranks, ",-"), grouped);
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
    char *bytes = calloc(1, WIRE_RECORD_MAX);
    length = record_make(&source, bytes);
    assert_int_equal(record_read(bytes, length, record), 0);
    return bytes;
}

/* Of what its own report has, a node sends all. */
static void rows_and_lines(void **state)
{
    (void)state;
    struct plan_case *c = plan_case_new();
    machine_quad(&c->node);
    for (unsigned i = 0; i < 4; i++)
        machine_gpu(&c->node, i);
    for (unsigned i = 0; i < 4; i++)
        machine_path(&c->node, i, i % 2, NUIOA_PATH_PXB);
    plan_case_on(c, 4, 1);
    plan_case_gpus(c, "0;1;2;3");
    plan_case_weigh(c, (double[]){ 1, 2, 3, 4 });
    plan_case_make(c);
    struct nuioa_report_rows rows;
    struct record record;
    char *bytes = record_of(c, &record);
    nuioa_report_rows_make(&rows, &c->plan, &c->node, false);
    assert_int_equal(record.head->row_count, rows.count);
    assert_true(rows.count > 0);
    for (uint32_t i = 0; i < rows.count; i++) {
        const struct nuioa_report_row got = record_row(&record, i);
        assert_memory_equal(&got, &rows.row[i], sizeof(got));
        assert_true(*got.gpus && *got.path && *got.memory && got.weight > 0);
    }
    nuioa_arena_free(&rows.arena);
    free(bytes);
    plan_case_free(c);
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

/* A node with more kinds of ranks than a record has rows for. */
static void long_records(void **state)
{
    enum { RANKS = WIRE_ROWS_MAX + 8 };
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
    void *bytes = calloc(1, WIRE_RECORD_MAX);
    length = record_make(&source, bytes);
    assert_int_equal(record_read(bytes, length, &record), 0);
    assert_int_equal(record.head->row_count, WIRE_ROWS_MAX);
    assert_int_equal(record.head->task_count, RANKS);
    assert_string_equal(record.rows[WIRE_ROWS_MAX - 1].cpus, "63");
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
        { offsetof(struct wire_record, policy), NUIOA_POLICY_LATENCY },
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),         cmocka_unit_test(record_limits),
        cmocka_unit_test(record_texts),    cmocka_unit_test(made_records),
        cmocka_unit_test(records_of_gpus), cmocka_unit_test(long_records),
        cmocka_unit_test(rows_and_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
