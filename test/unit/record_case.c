/* SPDX-License-Identifier: BSD-3-Clause */
#include "record_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"
#include "spank/report/record.h"

void *make_record(uint32_t node, uint32_t state, const char *numa, uint32_t count, size_t *length)
{
    struct wire_record head = {
        .seal = { .node = node },
        .leader = node * count,
        .task_count = count,
        .numa_count = 2,
        .core_count = 8,
        .nic_count = 1,
        .row_count = count,
        .cost_before = 10,
        .cost_after = 8,
        .bound = -1,
        .reason = "why",
        .advice = UINT32_MAX, /* also what this version does not know */
    };
    struct wire_nic nic = { .label = "mlx5_0:1", .state = state, .usable = state == 2 };
    *length = sizeof(head) + sizeof(nic) + count * sizeof(struct wire_row);
    char *bytes = calloc(1, *length);
    snprintf(head.host, sizeof(head.host), "n%u", node + 1);
    snprintf(nic.numas, sizeof(nic.numas), "%s", numa);
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), &nic, sizeof(nic));
    for (uint32_t i = 0; i < count; i++) {
        struct wire_row row = {
            .numas = "0",
            .memory = "default",
            .nic = "mlx5_0:1",
            .gpus = "0-1",
            .path = "PIX",
            .count = 1,
            .leads = i == 0,
            .gpu_level = 2,
            .weight = -1,
        };
        snprintf(row.ranks, sizeof(row.ranks), "%u", node * count + i);
        snprintf(row.cpus, sizeof(row.cpus), "%u", i);
        memcpy(bytes + sizeof(head) + sizeof(nic) + i * sizeof(row), &row, sizeof(row));
    }
    return bytes;
}

void set_u32(char *bytes, size_t offset, uint32_t value)
{
    memcpy(bytes + offset, &value, sizeof(value));
}
