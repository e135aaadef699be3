/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/exec_plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nics/gpu_distance.h"
#include "nics/rail_assign.h"
#include "output/user_variables.h"
#include "plan/plan.h"
#include "tools/tool.h"
#include "topology/node_load.h"
#include "util/number.h"
#include "util/variable.h"
#include "util/word.h"

/* --- the request ------------------------------------------------------------------------------ */

/* Returns true if the Slurm job has only some CPUs of the node, and no cpuset says which. Slurm may
 * count cores as CPUs. */
static bool is_part_of_node(const struct exec_input *in)
{
    uint32_t cpus = nuioa_variable_number(environ, "SLURM_CPUS_ON_NODE", UINT32_MAX, UINT32_MAX);
    return hwloc_bitmap_weight(in->cpus.all) >= (int)in->node.pu_count &&
           cpus < in->node.pu_count && cpus != in->node.core_count;
}

static int list_ranks(struct exec_plan *e)
{
    const struct launcher_place *place = &e->input->place;
    e->ranks = (struct plan_input){
        .command = "exec",
        .task_count = place->count,
        .cpus_per_task = e->input->cpus_per_task,
        .binding = "none",
    };
    struct nuioa_arena *arena = &e->ranks.arena;
    e->ranks.ranks = nuioa_arena_take(arena, place->count, sizeof(*e->ranks.ranks));
    e->ranks.allowed = nuioa_arena_bitmap(arena, e->input->node.allowed_cpus);
    if (arena->failed)
        return tool_fail("out of memory");
    for (uint32_t i = 0; i < place->count; i++)
        e->ranks.ranks[i] = place->ranks ? place->ranks[i] : i;
    return 0;
}

/* Outside of Slurm all GPUs of the node may be used if no variable names some. Another machine is
 * not meant by variables if it has none. */
static bool sees_gpu(const struct exec_input *in)
{
    if (in->node.emulated && !in->node.gpu_count)
        return false;
    return in->gpus.given > NUIOA_GPUS_NONE ||
           (in->gpus.given == NUIOA_GPUS_UNKNOWN && !launcher_is_slurm(&in->place) &&
            in->node.gpu_count);
}

/* Returns true if nobody but the launcher has told which GPU is whose. */
static bool is_implied(const struct exec_gpus *gpus)
{
    return gpus->implied && gpus->order_count;
}

static int fill_request(struct exec_plan *e)
{
    const struct exec_input *in = e->input;
    struct nuioa_request *request = &e->request;
    int rc = list_ranks(e);
    if (!rc)
        rc = plan_input_request(&e->ranks, &in->node, &in->options, request, &e->warnings);
    if (rc)
        return rc;
    /* Where ranks may move in spite of GPUs, all processes must make the same plan. */
    exec_gpus_fill(&in->gpus, &in->node, &in->place, in->options.force && !in->stay,
                   e->ranks.tasks);
    request->allowed_numas = in->node.emulated ? NULL : in->cpus.numas;
    request->threads = nuioa_omp_threads(environ);
    request->threads_by_user = nuioa_threads_are_placed(environ);
    request->memory_by_user = in->cpus.has_memory_policy;
    request->unconfined = !in->options.force && !in->node.emulated && is_part_of_node(in);
    request->overlaps = nuioa_variable(environ, "SLURM_OVERLAP") != NULL;
    request->sees_gpu = sees_gpu(in);
    request->bound_by_user = in->stay;
    request->stay = in->stay;
    if (!in->stay && is_implied(&in->gpus) && !in->options.force)
        request->stay = NUIOA_REASON_EXEC_GPUS;
    return 0;
}

/* --- the NICs --------------------------------------------------------------------------------- */

/* Reads the state of the ports. The node is the input's, but for its NICs. */
static int read_ports(struct exec_plan *e)
{
    const struct nuioa_node *node = &e->input->node;
    e->node = *node;
    e->node.nics = nuioa_arena_take(&e->plan.arena, node->nic_count, sizeof(*node->nics));
    if (!e->node.nics)
        return tool_fail("out of memory");
    memcpy(e->node.nics, node->nics, node->nic_count * sizeof(*node->nics));
    nuioa_node_refresh(&e->node);
    return 0;
}

/* Gives `to` the NICs of `from`. */
static void take_nics(struct nuioa_assignment *to, const struct nuioa_assignment *from)
{
    to->nics = from->nics;
    to->nic_count = from->nic_count;
    to->nic = from->nic;
    to->path = from->path;
    to->level = from->level;
}

/* Returns true if all NICs of an assignment are rails. */
static bool are_up(const struct nuioa_assignment *assignment, const struct nuioa_rails *rails)
{
    bool up = true;
    for (uint32_t k = 0; k < assignment->nic_count; k++)
        up = up && nuioa_rail_of(rails, (int32_t)assignment->nics[k]) >= 0;
    return up;
}

/* Chooses NICs of `rails`, where the plan has put the tasks, for those whose NICs are not up. */
static int choose_nics(struct exec_plan *e, const struct nuioa_rails *rails)
{
    const uint32_t count = e->input->place.count;
    struct nuioa_request now = e->request;
    now.node = &e->node;
    struct nuioa_assignment *all =
        nuioa_rails_assign_all(rails, &now, e->plan.assignments, &e->plan.arena);
    for (uint32_t i = 0; all && i < count; i++) {
        struct nuioa_assignment *a = &e->plan.assignments[i];
        if (!are_up(a, rails))
            take_nics(a, &all[i]);
        a->costs.level_before = nuioa_gpu_nic_level(rails, &e->ranks.tasks[i], a->was);
    }
    return all ? 0 : tool_fail("out of memory");
}

/* Chooses the NICs anew if one that the plan has given is down: only now the state of the ports
 * counts. If none is up, the plan's sentence promises nothing. */
static int check_nics(struct exec_plan *e)
{
    struct nuioa_rails rails;
    bool usable = true;
    int rc = read_ports(e);
    if (rc)
        return rc;
    if (nuioa_rails_init(&rails, &e->node, &e->input->options, &e->plan.warnings, NULL))
        return tool_fail("out of memory");
    for (uint32_t i = 0; i < e->input->place.count; i++)
        usable = usable && are_up(&e->plan.assignments[i], &rails);
    if (rails.count < e->plan.usable.count && e->plan.advice & 1u << NUIOA_ADVICE_NO_OWN_NIC)
        usable = false; /* it may be beside each NIC that is up */
    if (!usable) {
        e->plan.advice &= ~(1u << NUIOA_ADVICE_NO_OWN_NIC);
        rc = choose_nics(e, &rails);
    }
    if (!usable && !rails.count && !e->stays) {
        e->plan.rail_leader_count = 0;
        nuioa_copy(e->plan.reason, sizeof(e->plan.reason),
                   nuioa_reason_text(!rails.down     ? NUIOA_REASON_NO_NIC
                                     : e->plan.moved ? NUIOA_REASON_EXEC_NIC_DOWN
                                                     : NUIOA_REASON_NIC_DOWN));
    }
    /* Variables of other libraries name and count those that are up. */
    if (!rc && nuioa_usable_find(&e->plan.usable, &rails, &e->plan.arena))
        rc = tool_fail("out of memory");
    nuioa_rails_free(&rails);
    return rc;
}

/* --- what the user may type ------------------------------------------------------------------- */

/* Notes that a job of Slurm with other cores would help, if this process may use none that is as
 * near to its GPUs as some of the machine. */
static void advise_on_far(struct exec_plan *e)
{
    const struct nuioa_task *task = &e->ranks.tasks[e->input->place.local];
    uint32_t level = e->plan.assignments[e->input->place.local].gpu_level;
    if (level != NUIOA_NO_LEVEL && nuioa_variable(environ, "SLURM_JOB_ID") &&
        nuioa_gpu_nearest(&e->input->node, task, NULL) <
            nuioa_gpu_nearest(&e->input->node, task, e->input->node.allowed_cpus))
        e->plan.advice |= 1u << NUIOA_ADVICE_GPUS_FAR;
}

/* Outside of Slurm the plan does not know that others see the same GPUs; here it is likely enough
 * for advice. */
static void advise_on_gpus(struct exec_plan *e)
{
    const struct exec_gpus *gpus = &e->input->gpus;
    const bool shared = exec_plan_lacks_gpus(e) && gpus->seen && !gpus->has;
    if (shared && gpus->rule == NUIOA_GPU_AUTO && gpus->seen_count == e->input->place.count)
        e->plan.advice |= 1u << NUIOA_ADVICE_GPUS;
    if (shared && gpus->rule != NUIOA_GPU_AUTO)
        e->plan.advice |= 1u << NUIOA_ADVICE_GPUS_ORDER;
}

/* --- a process that the plugin has placed ----------------------------------------------------- */

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

/* Looks whether the plan of a process that the plugin has placed knows GPUs that the plugin did not
 * know. Else the plan gets the NICs and the level that the plugin has told, so that it says what
 * the process has. In both cases it says why. */
static void settle_placed(struct exec_plan *e)
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

/* --- all of it -------------------------------------------------------------------------------- */

int exec_plan_make(struct exec_plan *e, const struct exec_input *input)
{
    struct nuioa_error err = { "" };
    e->input = input;
    e->warnings = input->warnings;
    e->stays = input->stay;
    int rc = fill_request(e);
    if (rc)
        return rc;
    if (nuioa_plan_make(&e->request, &e->plan, &err))
        return tool_fail("%s", err.text);
    advise_on_gpus(e);
    advise_on_far(e);
    e->plan.advice &= ~(1u << NUIOA_ADVICE_MEMORY); /* it names an option of srun with the plugin */
    rc = check_nics(e);
    for (unsigned i = 0; i < e->plan.warnings.count; i++)
        nuioa_warn(&e->warnings, "%s", e->plan.warnings.text[i]);
    if (!rc && input->placed)
        settle_placed(e);
    return rc;
}

int exec_plan_undo(struct exec_plan *e)
{
    struct nuioa_options options = e->input->options;
    options.leader = NUIOA_LEADER_OFF; /* the others may have moved */
    e->stays = true;
    e->request.options = &options;
    e->request.stay = NUIOA_REASON_EXEC_NOT_SET;
    for (uint32_t i = 0; i < e->input->place.count; i++)
        e->ranks.tasks[i].cpus = e->input->cpus.own;
    int rc = nuioa_plan_undo(&e->request, &e->plan);
    e->request.options = &e->input->options;
    return rc ? tool_fail("out of memory") : check_nics(e);
}

bool exec_plan_lacks_gpus(const struct exec_plan *e)
{
    const struct exec_input *in = e->input;
    if (!in->node.gpu_count)
        return in->gpus.given > NUIOA_GPUS_NONE;
    return !e->plan.assignments[in->place.local].gpus_known;
}

bool exec_plan_filters(const struct exec_plan *e)
{
    return !exec_plan_lacks_gpus(e) && !is_implied(&e->input->gpus);
}

void exec_plan_free(struct exec_plan *e)
{
    nuioa_plan_free(&e->plan);
    plan_input_free(&e->ranks);
}
