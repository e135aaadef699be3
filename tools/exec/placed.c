/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/placed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/exported.h"
#include "tools/exec/bind_and_exec.h"
#include "util/number.h"
#include "util/variable.h"
#include "util/word.h"

static int nic_named(const struct nuioa_node *node, const char *name)
{
    char label[48];
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (!strcmp(nuioa_nic_label(&node->nics[i], label, sizeof(label)), name))
            return (int)i;
    return -1;
}

/* Sets the NICs of the plan to those of a list such as "mlx5_0:1,mlx5_1:1". A name that this node
 * does not have is left out. */
static void set_nics(struct exec_plan *e, const char *list, struct nuioa_assignment *own)
{
    const struct nuioa_node *node = &e->node;
    char *copy = strdup(list), *rest = copy, *name;
    uint32_t *nics = nuioa_arena_take(&e->plan.arena, node->nic_count, sizeof(*nics)), count = 0;
    while (copy && nics && (name = nuioa_next_word(&rest, ","))) {
        int nic = nic_named(node, name);
        if (nic >= 0 && count < node->nic_count)
            nics[count++] = (uint32_t)nic;
    }
    free(copy);
    if (!nics)
        return;
    own->nics = nics;
    own->nic_count = count;
    own->nic = count ? (int32_t)nics[0] : -1;
}

/* Gives the plan what the plugin has told. */
static void recall(struct exec_plan *e, struct nuioa_assignment *own)
{
    const char *nics = nuioa_variable(environ, "NUIOA_NICS");
    const char *level = nuioa_variable(environ, "NUIOA_LEVEL");
    uint32_t number;
    set_nics(e, nics ? nics : "", own);
    own->level = level && !nuioa_parse_u32(level, INT32_MAX, &number) ? number : NUIOA_NO_LEVEL;
    nuioa_assignment_find_path(own, &e->node);
}

void exec_placed_settle(struct exec_plan *e)
{
    struct nuioa_assignment *own = &e->plan.assignments[e->input->place.local];
    const char *told = nuioa_variable(environ, "NUIOA_GPUS");
    char gpus[4096];
    bool known = own->gpus_known && nuioa_gpus_text(own, &e->node, gpus, sizeof(gpus));
    e->retold = known && own->nic_count && (!told || strcmp(told, gpus));
    if (!e->retold) {
        recall(e, own);
        e->plan.advice = 0; /* it is about the NICs of another plan */
    }
    nuioa_copy(e->plan.reason, sizeof(e->plan.reason),
               e->retold
                   ? "the plugin placed this rank without knowing its GPUs: it gets their NICs"
                   : "the plugin has placed this rank: nothing is left to do");
}

/* Takes back what the plugin has set for other libraries, but what places threads, because the
 * process stays where it is. Notes that in *kept. */
static void forget_nics(struct nuioa_exported *kept)
{
    static const char *const threads[] = { "OMP_PLACES", "OMP_PROC_BIND",
                                           "MPIR_CVAR_PROGRESS_THREAD_AFFINITY",
                                           "I_MPI_ASYNC_PROGRESS_PIN" };
    char names[2048], *rest = nuioa_exported_outer(environ, names, sizeof(names)), *name;
    while ((name = nuioa_next_word(&rest, " "))) {
        bool keeps = false;
        for (unsigned i = 0; i < sizeof(threads) / sizeof(*threads); i++)
            keeps = keeps || !strcmp(name, threads[i]);
        if (!keeps || !nuioa_exported_add(kept, name, nuioa_variable(environ, name)))
            unsetenv(name);
    }
}

void exec_placed_tell(const struct exec_plan *e, const char *program)
{
    static const char *const names[] = { "NUIOA_NIC", "NUIOA_NICS", "NUIOA_GPUS", "NUIOA_LEVEL",
                                         "NUIOA_GPU_NICS" };
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        unsetenv(names[i]);
    struct nuioa_exported exported = { "", "" };
    forget_nics(&exported);
    exec_set_nics(e, program, &exported);
}
