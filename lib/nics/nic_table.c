/* SPDX-License-Identifier: BSD-3-Clause */
#include "nics/nic_table.h"

#include <errno.h>

#include "nics/rail_assign.h"

int nuioa_nic_table_make(const struct nuioa_request *r, struct nuioa_nic_table *table)
{
    const uint32_t n = r->node->gpu_count;
    struct nuioa_rails rails = { 0 };
    *table = (struct nuioa_nic_table){ .gpu_count = n };
    struct nuioa_task *tasks = nuioa_arena_take(&table->arena, n, sizeof(*tasks));
    uint32_t *index = nuioa_arena_take(&table->arena, n, sizeof(*index));
    struct nuioa_request each = {
        .node = r->node, .options = r->options, .task_count = n, .tasks = tasks, .sees_gpu = true
    };
    int rc =
        table->arena.failed ? -ENOMEM : nuioa_rails_init(&rails, r->node, r->options, NULL, NULL);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        index[i] = i;
        tasks[i] = (struct nuioa_task){ .rank = i,
                                        .weight = 1,
                                        .cpus = r->allowed_cpus,
                                        .gpus = &index[i],
                                        .gpu_count = 1,
                                        .gpus_known = true };
    }
    if (rc == 0)
        rc = nuioa_usable_find(&table->usable, &rails, &table->arena);
    if (rc == 0 && !(table->gpus = nuioa_rails_assign_all(&rails, &each, NULL, &table->arena)))
        rc = -ENOMEM;
    nuioa_rails_free(&rails);
    return rc;
}
