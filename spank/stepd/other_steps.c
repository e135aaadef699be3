/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/other_steps.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "steps/step_load.h"

struct other_steps {
    struct nuioa_step_directory directory;
    struct nuioa_step_load own;
    bool told;     /* the file of this step is there */
    double *ranks; /* [node.nic_count] */
};

static void identify(struct other_steps *o, spank_t spank)
{
    uid_t uid = 0;
    spank_get_item(spank, S_JOB_ID, &o->own.job);
    spank_get_item(spank, S_JOB_STEPID, &o->own.step);
    spank_get_item(spank, S_JOB_UID, &uid);
    o->own.uid = uid;
    o->own.pid = (uint32_t)getpid();
}

void other_steps_open(struct stepd_context *c, spank_t spank)
{
    struct nuioa_error err;
    const char *path = *c->options.steps ? c->options.steps : NUIOA_STEP_LOAD_DIR;
    if (!strcmp(path, "off"))
        return;
    struct other_steps *o = calloc(1, sizeof(*o));
    if (!o)
        return;
    if (nuioa_step_directory_open(&o->directory, path, true, &err) < 0) {
        slurm_info("nuioa: steps: %s: the NIC load of other steps is not known", err.text);
        free(o);
        return;
    }
    identify(o, spank);
    c->other_steps = o;
}

const double *other_steps_read(struct stepd_context *c)
{
    struct other_steps *o = c->other_steps;
    struct nuioa_step_load *loads;
    struct nuioa_error err;
    uint32_t count;
    if (!o)
        return NULL;
    int rc = nuioa_step_loads_read(&o->directory, &loads, &count, &err);
    if (*err.text)
        slurm_info("nuioa: steps: %s", err.text);
    if (rc < 0)
        return NULL;
    free(o->ranks);
    o->ranks = count ? calloc(c->node.nic_count + 1, sizeof(*o->ranks)) : NULL;
    if (o->ranks)
        nuioa_step_loads_sum(loads, count, &c->node, o->ranks);
    free(loads);
    return o->ranks;
}

/* Returns the entry of a NIC in `load`, which it adds if there is room, else NULL. */
static struct nuioa_nic_load *entry_of(struct nuioa_step_load *load, const struct nuioa_nic *nic)
{
    char label[sizeof(load->nics[0].nic)];
    nuioa_nic_label(nic, label, sizeof(label));
    for (uint32_t i = 0; i < load->nic_count; i++)
        if (!strcmp(load->nics[i].nic, label))
            return &load->nics[i];
    if (load->nic_count == NUIOA_STEP_LOAD_NICS)
        return NULL;
    struct nuioa_nic_load *fresh = &load->nics[load->nic_count++];
    memcpy(fresh->nic, label, sizeof(label));
    fresh->ranks = 0;
    return fresh;
}

/* Returns the part of a rank that counts for one of its NICs. Its first NIC counts double, because
 * some libraries use only that one. */
static double part_of(const struct nuioa_assignment *a, uint32_t nic)
{
    return (nic ? 1.0 : 2.0) / (a->nic_count + 1);
}

/* Returns the next core on which a rank may run, and moves *pu behind it; -1: there is none. */
static int64_t next_core(const struct nuioa_assignment *a, const struct nuioa_node *node,
                         uint32_t *pu)
{
    while (*pu < node->pu_count) {
        const struct nuioa_pu *here = &node->pus[(*pu)++];
        if (!hwloc_bitmap_isset(a->cpus, here->os_index))
            continue;
        while (*pu < node->pu_count && node->pus[*pu].core == here->core)
            ++*pu;
        return here->core;
    }
    return -1;
}

/* Returns for how much a rank counts: for its part of the cores that it shares with others, since
 * ranks take turns on a core, and at most for 1. */
static double active_part(const struct nuioa_assignment *a, const struct nuioa_node *node,
                          const uint32_t *ranks_on)
{
    double cores = 0;
    int64_t core;
    for (uint32_t pu = 0; (core = next_core(a, node, &pu)) >= 0;)
        cores += 1.0 / ranks_on[core];
    return cores > 0 && cores < 1 ? cores : 1;
}

/* Shares the ranks that are active out in proportion to their weights; without weights each counts
 * for itself. `ranks_on` is [node->core_count] zeros. */
static void add_up(struct nuioa_step_load *load, const struct nuioa_plan *plan,
                   const struct nuioa_node *node, uint32_t *ranks_on)
{
    double sum = 0, active = 0;
    int64_t core;
    for (uint32_t i = 0; i < plan->task_count; i++)
        for (uint32_t pu = 0; (core = next_core(&plan->assignments[i], node, &pu)) >= 0;)
            ranks_on[core]++;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        sum += plan->assignments[i].weight;
        active += active_part(&plan->assignments[i], node, ranks_on);
    }
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct nuioa_assignment *a = &plan->assignments[i];
        double ranks = sum > 0 ? a->weight / sum * active : active_part(a, node, ranks_on);
        for (uint32_t k = 0; k < a->nic_count; k++) {
            struct nuioa_nic_load *entry = entry_of(load, &node->nics[a->nics[k]]);
            if (entry)
                entry->ranks += ranks * part_of(a, k);
        }
    }
}

void other_steps_tell(struct stepd_context *c, const struct nuioa_plan *plan)
{
    struct other_steps *o = c->other_steps;
    struct nuioa_error err;
    uint32_t *ranks_on = o ? calloc(c->node.core_count + 1, sizeof(*ranks_on)) : NULL;
    if (!ranks_on)
        return;
    memset(o->own.nics, 0, sizeof(o->own.nics));
    o->own.nic_count = 0;
    add_up(&o->own, plan, &c->node, ranks_on);
    free(ranks_on);
    if (!o->own.nic_count)
        return;
    o->told = true;
    if (nuioa_step_load_write(&o->directory, &o->own, &err) < 0)
        slurm_info("nuioa: steps: %s", err.text);
}

void other_steps_close(struct stepd_context *c)
{
    struct other_steps *o = c->other_steps;
    if (!o)
        return;
    if (o->told)
        nuioa_step_load_remove(&o->directory, &o->own);
    nuioa_step_directory_close(&o->directory);
    free(o->ranks);
    free(o);
    c->other_steps = NULL;
}
