/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/host_list.h"
#include "util/number.h"

#define HOW "srun -N2 -n2 --exclusive nuioa probe --nic --at-least 90%%"

/* Reads a number of the environment. */
static bool read_variable(const char *name, uint32_t *value)
{
    const char *text = getenv(name);
    return text && !nuioa_parse_u32(text, UINT32_MAX, value);
}

static int name_nodes(struct probe_step *step, const struct nuioa_host_list *nodes,
                      struct nuioa_error *err)
{
    const char *here = getenv("SLURMD_NODENAME");
    bool is_second = here && nodes->count == 2 && !strcmp(nodes->names[1], here);
    if (nodes->count != 2)
        return nuioa_fail(err, -EINVAL,
                          "this step has %u node%s, and --at-least measures between "
                          "two: " HOW,
                          nodes->count, nodes->count == 1 ? "" : "s");
    if (!here || (!is_second && strcmp(nodes->names[0], here)))
        return nuioa_fail(err, -EINVAL,
                          "SLURMD_NODENAME is '%.63s', which is none of the step's nodes %.63s "
                          "and %.63s: did another launcher than srun start this?",
                          here ? here : "", nodes->names[0], nodes->names[1]);
    nuioa_copy(step->here, sizeof(step->here), here);
    nuioa_copy(step->there, sizeof(step->there), nodes->names[!is_second]);
    step->first = !is_second;
    return 0;
}

int probe_step_read(struct probe_step *step, struct nuioa_error *err)
{
    const char *list = getenv("SLURM_STEP_NODELIST");
    struct nuioa_host_list nodes = { 0 };
    uint32_t tasks = 0;
    *step = (struct probe_step){ 0 };
    if (!list || !read_variable("SLURM_STEP_NUM_TASKS", &tasks) ||
        !read_variable("SLURM_JOB_ID", &step->job) || !read_variable("SLURM_STEP_ID", &step->step))
        return nuioa_fail(
            err, -EINVAL,
            "--at-least measures between the two nodes of a step, and this is none: " HOW);
    int rc = nuioa_host_list_parse(list, &nodes, err);
    if (!rc)
        rc = name_nodes(step, &nodes, err);
    if (!rc && tasks != 2)
        rc = nuioa_fail(err, -EINVAL,
                        "this step has %u tasks, and --at-least takes one on each "
                        "of two nodes: " HOW,
                        tasks);
    nuioa_host_list_free(&nodes);
    return rc;
}
