/* SPDX-License-Identifier: BSD-3-Clause */

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/tool.h"
#include "output/report.h"
#include "output/report_explain.h"
#include "output/user_variables.h"
#include "tools/exports.h"
#include "topology/gpu_device_file.h"
#include "topology/nic_guess.h"
#include "topology/pci_path.h"

/* If there is no memory for one element, nothing is printed. Containers of jansson take NULL and
 * fail, so that one flag is enough. */

static void put(json_t *object, const char *key, json_t *value, bool *bad)
{
    if (json_object_set_new(object, key, value))
        *bad = true;
}

static void add(json_t *array, json_t *value, bool *bad)
{
    if (json_array_append_new(array, value))
        *bad = true;
}

json_t *tool_json_text(const char *from)
{
    json_t *value = json_string(from);
    if (value)
        return value;
    char ascii[512];
    nuioa_copy(ascii, sizeof(ascii), from);
    for (char *c = ascii; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return json_string(ascii);
}

static json_t *text_or_null(const char *from)
{
    return *from ? tool_json_text(from) : json_null();
}

static json_t *list(hwloc_const_bitmap_t set)
{
    char *from = NULL;
    if (hwloc_bitmap_list_asprintf(&from, set) < 0)
        return NULL;
    json_t *value = json_string(from);
    free(from);
    return value;
}

static json_t *list_or_null(hwloc_const_bitmap_t set)
{
    return hwloc_bitmap_iszero(set) ? json_null() : list(set);
}

static json_t *indexes(hwloc_const_bitmap_t set, bool *bad)
{
    json_t *array = json_array();
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
        add(array, json_integer(i), bad);
    return array;
}

static json_t *warnings_of(const struct nuioa_warnings *first, const struct nuioa_warnings *second,
                           bool *bad)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < first->count; i++)
        add(array, tool_json_text(first->text[i]), bad);
    for (unsigned i = 0; second && i < second->count; i++)
        add(array, tool_json_text(second->text[i]), bad);
    return array;
}

/* Prints each key, and each element of an array of objects or arrays, on a line of its own. */
static int print(json_t *root, bool bad)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15);
    const char *key, *comma = "";
    json_t *value;
    if (!root || bad) {
        json_decref(root);
        return tool_fail("out of memory");
    }
    fputc('{', stdout);
    json_object_foreach (root, key, value) {
        printf("%s\n  \"%s\": ", comma, key);
        json_t *first = json_array_get(value, 0);
        if (json_is_object(first) || json_is_array(first) || json_is_string(first)) {
            size_t i;
            json_t *element;
            fputc('[', stdout);
            json_array_foreach (value, i, element) {
                fputs(i ? ",\n    " : "\n    ", stdout);
                json_dumpf(element, stdout, flags);
            }
            fputs("\n  ]", stdout);
        } else {
            json_dumpf(value, stdout, flags);
        }
        comma = ",";
    }
    fputs("\n}\n", stdout);
    json_decref(root);
    return TOOL_DONE;
}

/* --- topo ------------------------------------------------------------------------------------- */

static json_t *numas_of(const struct nuioa_node *node, bool *bad)
{
    json_t *array = json_array();
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    for (uint32_t i = 0; allowed && i < node->numa_count; i++) {
        const struct nuioa_numa *numa = &node->numas[i];
        hwloc_bitmap_and(allowed, numa->cpus, node->allowed_cpus);
        json_t *o = json_object();
        put(o, "os_index", json_integer(numa->os_index), bad);
        put(o, "cpus", list(numa->cpus), bad);
        put(o, "allowed_cpus", list(allowed), bad);
        put(o, "memory_bytes",
            numa->memory_bytes ? json_integer((json_int_t)numa->memory_bytes) : json_null(), bad);
        put(o, "package", numa->package < 0 ? json_null() : json_integer(numa->package), bad);
        add(array, o, bad);
    }
    if (!allowed)
        *bad = true;
    hwloc_bitmap_free(allowed);
    return array;
}

static json_t *distance_of(const struct nuioa_distance *d, bool *bad)
{
    json_t *o = json_object(), *matrix = json_array(), *level = json_array();
    for (uint32_t i = 0; i < d->count; i++) {
        json_t *row = json_array(), *levels = json_array();
        for (uint32_t j = 0; j < d->count; j++) {
            add(row, json_integer(nuioa_distance_at(d, i, j)), bad);
            add(levels, json_integer(nuioa_level_at(d, i, j)), bad);
        }
        add(matrix, row, bad);
        add(level, levels, bad);
    }
    put(o, "source", json_string(nuioa_distance_source_name(d->source)), bad);
    put(o, "matrix", matrix, bad);
    put(o, "level", level, bad);
    return o;
}

static json_t *nic_of(const struct nuioa_node *node, const struct nuioa_nic *nic, bool *bad)
{
    json_t *o = json_object(), *level = json_array();
    const char *role = nuioa_nic_role_name(nic->role);
    const char *source = nuioa_role_source_name(nic->role_source);
    for (uint32_t i = 0; nic->level && i < node->numa_count; i++)
        add(level, json_integer(nic->level[i]), bad);
    put(o, "name", tool_json_text(nic->name), bad);
    put(o, "port", nic->port ? json_integer(nic->port) : json_null(), bad);
    put(o, "netdev", text_or_null(nic->netdev), bad);
    put(o, "kind", json_string(nuioa_nic_kind_name(nic->kind)), bad);
    put(o, "pci", text_or_null(nic->pci), bad);
    put(o, "state", json_string(nuioa_nic_state_name(nic->state)), bad);
    put(o, "rate_mbps", nic->rate_mbps ? json_integer(nic->rate_mbps) : json_null(), bad);
    put(o, "virtual", json_boolean(nic->is_virtual), bad);
    put(o, "vf", json_boolean(nic->is_function), bad);
    put(o, "fabric", text_or_null(nic->fabric), bad);
    put(o, "numa", indexes(nic->numas, bad), bad);
    put(o, "cpus", list_or_null(nic->cpus), bad);
    put(o, "locality", json_string(nuioa_locality_name(nic->locality)), bad);
    put(o, "level", level, bad);
    put(o, "usable", json_boolean(nic->usable), bad);
    put(o, "why", tool_json_text(nic->why), bad);
    put(o, "role", text_or_null(role ? role : ""), bad);
    put(o, "role_source", text_or_null(source ? source : ""), bad);
    put(o, "role_why", text_or_null(nuioa_nic_doubt_text(nic)), bad);
    return o;
}

static json_t *gpus_of(const struct nuioa_node *node, bool *bad)
{
    json_t *array = json_array();
    struct nuioa_gpu_device *devices = calloc(node->gpu_count + 1, sizeof(*devices));
    if (devices)
        nuioa_gpu_devices_read(node, "", devices);
    else
        *bad = true;
    for (uint32_t i = 0; devices && i < node->gpu_count; i++) {
        const struct nuioa_gpu *gpu = &node->gpus[i];
        json_t *o = json_object();
        put(o, "index", json_integer(i), bad);
        put(o, "pci", tool_json_text(gpu->pci), bad);
        put(o, "vendor", json_string(nuioa_gpu_vendor_name(gpu->vendor)), bad);
        put(o, "numa", indexes(gpu->numas, bad), bad);
        put(o, "cpus", list_or_null(gpu->cpus), bad);
        put(o, "device", text_or_null(devices[i].file), bad);
        add(array, o, bad);
    }
    free(devices);
    return array;
}

static json_t *paths_of(const struct nuioa_node *node, bool *bad)
{
    json_t *array = json_array();
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        json_t *row = json_array();
        for (uint32_t n = 0; n < node->nic_count; n++) {
            const char *name = nuioa_path_name(nuioa_path_at(node, g, n));
            add(row, name ? json_string(name) : json_null(), bad);
        }
        add(array, row, bad);
    }
    return array;
}

int tool_json_topo(const struct nuioa_node *node)
{
    bool bad = false;
    json_t *root = json_object(), *nics = json_array();
    for (uint32_t i = 0; i < node->nic_count; i++)
        add(nics, nic_of(node, &node->nics[i], &bad), &bad);
    put(root, "nuioa", json_integer(1), &bad);
    put(root, "host", text_or_null(node->host), &bad);
    put(root, "numa", numas_of(node, &bad), &bad);
    put(root, "distance", distance_of(&node->distance, &bad), &bad);
    put(root, "nics", nics, &bad);
    put(root, "gpus", gpus_of(node, &bad), &bad);
    put(root, "paths", paths_of(node, &bad), &bad);
    put(root, "warnings", warnings_of(&node->warnings, NULL, &bad), &bad);
    return print(root, bad);
}

/* --- plan ------------------------------------------------------------------------------------- */

/* Adds the terms of J: "slurm_nic", "slurm_neighbours", "plan_nic", "plan_neighbours". */
static void put_split(json_t *o, const struct nuioa_split *before, const struct nuioa_split *after,
                      bool *bad)
{
    put(o, "slurm_nic", json_real(before->nic), bad);
    put(o, "slurm_neighbours", json_real(before->neighbours), bad);
    put(o, "plan_nic", json_real(after->nic), bad);
    put(o, "plan_neighbours", json_real(after->neighbours), bad);
}

/* Adds why the rank has its slot. */
static void put_account(json_t *o, const struct nuioa_plan *plan, uint32_t local, bool *bad)
{
    const struct nuioa_rank_costs *a = &plan->assignments[local].costs;
    json_t *partners = json_array(), *cost = json_object();
    char why[64];
    for (uint32_t k = 0; k < a->partner_count; k++)
        add(partners, json_integer(plan->assignments[a->partners[k]].rank), bad);
    put_split(cost, &a->before, &a->after, bad);
    put(o, "was", list(plan->assignments[local].was), bad);
    put(o, "level_was",
        a->level_before == NUIOA_NO_LEVEL ? json_null() : json_integer(a->level_before), bad);
    put(o, "heavier", plan->hinted ? json_integer(a->heavier) : json_null(), bad);
    put(o, "partners", partners, bad);
    put(o, "on_node", json_real(a->local), bad);
    put(o, "beside", json_real(a->beside), bad);
    put(o, "cost", cost, bad);
    put(o, "why", tool_json_text(nuioa_report_why(plan, local, why, sizeof(why))), bad);
}

static json_t *own_nics(const struct nuioa_assignment *p, const struct nuioa_node *node, bool *bad)
{
    json_t *array = json_array();
    char label[64];
    for (uint32_t i = 0; i < p->nic_count; i++)
        add(array, tool_json_text(nuioa_nic_label(&node->nics[p->nics[i]], label, sizeof(label))),
            bad);
    return array;
}

static json_t *own_gpus(const struct nuioa_assignment *p, bool *bad)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < p->gpu_count; i++)
        add(array, json_integer(p->gpus[i]), bad);
    return array;
}

static json_t *exports_of(const char *block, bool *bad)
{
    json_t *o = json_object();
    const char *value;
    char name[64];
    if (!block)
        *bad = true;
    while (block && (value = nuioa_block_next(&block, name, sizeof(name))))
        put(o, name, tool_json_text(value), bad);
    return o;
}

static json_t *task_of(const struct nuioa_plan *plan, const struct nuioa_node *node, uint32_t local,
                       const char *exports, bool *bad)
{
    const struct nuioa_assignment *p = &plan->assignments[local];
    char buffer[4096];
    const char *places = nuioa_places_text(p, buffer, sizeof(buffer));
    const char *path = nuioa_path_name(p->path);
    json_t *o = json_object(), *places_value = places ? json_string(places) : json_null();
    put(o, "local", json_integer(local), bad);
    put(o, "rank", json_integer(p->rank), bad);
    put(o, "weight", plan->hinted ? json_real(p->weight) : json_null(), bad);
    put(o, "cpus", list(p->cpus), bad);
    put(o, "numa", indexes(p->numas, bad), bad);
    put(o, "nic",
        p->nic < 0 ? json_null()
                   : tool_json_text(nuioa_nic_label(&node->nics[p->nic], buffer, sizeof(buffer))),
        bad);
    put(o, "nics", own_nics(p, node, bad), bad);
    put(o, "gpus", p->gpus_known ? own_gpus(p, bad) : json_null(), bad);
    put(o, "to_gpu", p->gpu_level == NUIOA_NO_LEVEL ? json_null() : json_integer(p->gpu_level),
        bad);
    put(o, "path", path ? json_string(path) : json_null(), bad);
    put(o, "level", p->level == NUIOA_NO_LEVEL ? json_null() : json_integer(p->level), bad);
    put(o, "memory", tool_json_text(nuioa_memory_text(p, buffer, sizeof(buffer))), bad);
    put(o, "leader", json_boolean(plan->order_count && plan->order[0] == local), bad);
    put(o, "places", places_value, bad);
    put(o, "exports", exports_of(exports, bad), bad);
    put_account(o, plan, local, bad);
    return o;
}

int tool_json_task(const struct nuioa_plan *plan, const struct nuioa_node *node, uint32_t local,
                   const char *exports, struct tool_json_known known)
{
    bool bad = false;
    json_t *root = task_of(plan, node, local, exports, &bad);
    if (!known.rank)
        put(root, "rank", json_null(), &bad);
    if (!known.leader)
        put(root, "leader", json_null(), &bad);
    return print(root, bad);
}

/* Translates local ranks to ranks. */
static json_t *ranks_of(const struct nuioa_plan *plan, const uint32_t *locals, uint32_t count,
                        bool *bad)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        add(array, json_integer(plan->assignments[locals[i]].rank), bad);
    return array;
}

static json_t *ratio_of(const struct nuioa_load_term *load)
{
    return load->ratio > 0 ? json_real(load->ratio) : json_null();
}

static json_t *cost_of(const struct nuioa_plan *plan, bool *bad)
{
    const struct nuioa_split before = { plan->before.nic, plan->before.neighbours };
    const struct nuioa_split after = { plan->after.nic, plan->after.neighbours };
    json_t *o = json_object(), *load = json_object();
    put(o, "slurm", json_real(plan->before.j), bad);
    put(o, "plan", json_real(plan->after.j), bad);
    put(o, "bound", plan->bound_known ? json_real(plan->bound) : json_null(), bad);
    put(o, "bound_over", plan->bound_known ? json_string("masks") : json_null(), bad);
    put_split(o, &before, &after, bad);
    put(o, "slurm_load", json_real(plan->before.load.cost), bad);
    put(o, "plan_load", json_real(plan->after.load.cost), bad);
    put(load, "slurm", ratio_of(&plan->before.load), bad);
    put(load, "plan", ratio_of(&plan->after.load), bad);
    put(o, "load", load, bad);
    return o;
}

static json_t *advice_of(const struct nuioa_plan *plan, bool *bad)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < NUIOA_ADVICE_COUNT; i++)
        if (plan->advice & 1u << i)
            add(array, json_string(nuioa_advice_text((enum nuioa_advice)i)), bad);
    return array;
}

int tool_json_plan(const struct nuioa_plan *plan, const struct nuioa_node *node,
                   const struct nuioa_options *options)
{
    bool bad = false, led = plan->order_count > 0;
    json_t *root = json_object(), *tasks = json_array();
    for (uint32_t i = 0; i < plan->task_count; i++) {
        char *exports = tool_exports_of(plan, node, options, i, TOOL_EXPORTS_THERE);
        add(tasks, task_of(plan, node, i, exports, &bad), &bad);
        free(exports);
    }
    put(root, "nuioa", json_integer(1), &bad);
    put(root, "host", text_or_null(node->host), &bad);
    put(root, "policy", json_string(nuioa_policy_name(plan->policy)), &bad);
    put(root, "moved", json_boolean(plan->moved), &bad);
    put(root, "planned", json_boolean(plan->planned), &bad);
    put(root, "reason", tool_json_text(plan->reason), &bad);
    put(root, "advice", advice_of(plan, &bad), &bad);
    put(root, "tasks", tasks, &bad);
    put(root, "order", ranks_of(plan, plan->order, plan->order_count, &bad), &bad);
    put(root, "near", led ? json_integer(plan->near) : json_null(), &bad);
    put(root, "leader", led ? json_integer(plan->assignments[plan->order[0]].rank) : json_null(),
        &bad);
    put(root, "rail_leaders", ranks_of(plan, plan->rail_leaders, plan->rail_leader_count, &bad),
        &bad);
    put(root, "cost", cost_of(plan, &bad), &bad);
    put(root, "distance_source", json_string(nuioa_distance_source_name(node->distance.source)),
        &bad);
    put(root, "mapper", json_string(plan->mapper ? plan->mapper : "keep"), &bad);
    put(root, "evaluations", json_integer((json_int_t)plan->evaluations), &bad);
    put(root, "time_us", json_integer(plan->time_us), &bad);
    put(root, "warnings", warnings_of(&plan->warnings, &node->warnings, &bad), &bad);
    return print(root, bad);
}
