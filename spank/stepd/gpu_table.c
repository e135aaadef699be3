/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/gpu_table.h"

#include "ranks/assignment.h"
#include "nics/nic_table.h"
#include "spank/stepd/task_gpus.h"

#define ROW_MAX (sizeof(((struct task_gpu_nics *)NULL)->nics) / sizeof(uint32_t))

/* Nothing is read back from the row: tasks can write it meanwhile. */
static void write_row(struct task_gpu_nics *row, const struct nuioa_assignment *assignment)
{
    uint32_t count = assignment->nic_count < ROW_MAX ? assignment->nic_count : ROW_MAX;
    for (uint32_t i = 0; i < count; i++)
        row->nics[i] = assignment->nics[i];
    row->count = count;
}

/* The same for programs that choose a GPU by themselves. */
static void write_text(struct step_run *c, const struct nuioa_usable *usable)
{
    uint32_t all[TASK_GPUS_MAX];
    char *text = c->task_memory->gpu_nics;
    for (uint32_t i = 0; i < c->facts->node.gpu_count; i++)
        all[i] = i;
    if (!nuioa_gpu_nics_text(usable, &c->facts->node, all, c->facts->node.gpu_count, text,
                             sizeof(c->task_memory->gpu_nics)))
        *text = '\0';
}

void gpu_table_write(struct step_run *c, const struct nuioa_request *request)
{
    struct nuioa_nic_table table;
    bool open = false;
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        open = open || task_gpus_open(c, i);
    if (!open)
        return;
    int rc = nuioa_nic_table_make(request, &table);
    for (uint32_t i = 0; rc == 0 && i < table.gpu_count; i++)
        write_row(&c->task_memory->table[i], &table.gpus[i]);
    if (rc == 0) {
        write_text(c, &table.usable);
        c->task_memory->connected = table.usable.connected;
        c->task_memory->usable = table.usable.count;
        __atomic_store_n(&c->task_memory->table_ready, 1, __ATOMIC_RELEASE);
    }
    nuioa_arena_free(&table.arena);
}
