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

/* If there is no memory for one element, nothing is printed: json_pack takes NULL and fails. */

json_t *tool_json_add(json_t *array, json_t *value)
{
    if (!json_array_append_new(array, value))
        return array;
    json_decref(array);
    return NULL;
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

json_t *tool_json_text_or_null(const char *from)
{
    return from && *from ? tool_json_text(from) : json_null();
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

static json_t *number_if(bool known, json_int_t value)
{
    return known ? json_integer(value) : json_null();
}

static json_t *real_if(bool known, double value)
{
    return known ? json_real(value) : json_null();
}

json_t *tool_json_set(hwloc_const_bitmap_t set)
{
    json_t *array = json_array();
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i))
        array = tool_json_add(array, json_integer(i));
    return array;
}

static json_t *numbers(const uint32_t *values, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        array = tool_json_add(array, json_integer(values[i]));
    return array;
}

json_t *tool_json_levels(const uint8_t *level, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        array = tool_json_add(array, json_integer(level[i]));
    return array;
}

/* Adds all warnings to an array. */
static json_t *with_warnings(json_t *array, const struct nuioa_warnings *warnings)
{
    for (unsigned i = 0; i < warnings->count; i++)
        array = tool_json_add(array, tool_json_text(warnings->text[i]));
    return array;
}

int tool_json_print(json_t *root, size_t indent)
{
    if (!root)
        return tool_fail("out of memory");
    json_dumpf(root, stdout, JSON_ENSURE_ASCII | JSON_INDENT(indent) | JSON_REAL_PRECISION(15));
    putchar('\n');
    json_decref(root);
    return TOOL_DONE;
}

/* Prints each key, and each element of an array of objects or arrays, on a line of its own. */
static int print(json_t *root)
{
    const size_t flags = JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15);
    const char *key, *comma = "";
    json_t *value;
    if (!root)
        return tool_fail("out of memory");
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

static json_t *numas_of(const struct nuioa_node *node)
{
    json_t *array = json_array();
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    for (uint32_t i = 0; i < node->numa_count; i++) {
        const struct nuioa_numa *numa = &node->numas[i];
        bool done = allowed && !hwloc_bitmap_and(allowed, numa->cpus, node->allowed_cpus);
        array = tool_json_add(
            array,
            json_pack("{s:I, s:o, s:o, s:o, s:o}", "os_index", (json_int_t)numa->os_index, "cpus",
                      list(numa->cpus), "allowed_cpus", done ? list(allowed) : NULL, "memory_bytes",
                      number_if(numa->memory_bytes > 0, (json_int_t)numa->memory_bytes), "package",
                      number_if(numa->package >= 0, numa->package)));
    }
    hwloc_bitmap_free(allowed);
    return array;
}

static json_t *distance_of(const struct nuioa_distance *d)
{
    json_t *matrix = json_array(), *level = json_array();
    for (size_t i = 0; i < d->count; i++) {
        matrix = tool_json_add(matrix, numbers(d->matrix + i * d->count, d->count));
        level = tool_json_add(level, tool_json_levels(d->level + i * d->count, d->count));
    }
    return json_pack("{s:s, s:o, s:o}", "source", nuioa_distance_source_name(d->source), "matrix",
                     matrix, "level", level);
}

static json_t *nics_of(const struct nuioa_node *node)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        array = tool_json_add(
            array,
            json_pack("{s:o, s:o, s:o, s:s, s:o, s:s, s:o, s:b, s:b, s:o,"
                      " s:o, s:o, s:s, s:o, s:b, s:o, s:o, s:o, s:o}",
                      "name", tool_json_text(nic->name), "port",
                      number_if(nic->port > 0, nic->port), "netdev",
                      tool_json_text_or_null(nic->netdev), "kind", nuioa_nic_kind_name(nic->kind),
                      "pci", tool_json_text_or_null(nic->pci), "state",
                      nuioa_nic_state_name(nic->state), "rate_mbps",
                      number_if(nic->rate_mbps > 0, nic->rate_mbps), "virtual", nic->is_virtual,
                      "vf", nic->is_function, "fabric", tool_json_text_or_null(nic->fabric), "numa",
                      tool_json_set(nic->numas), "cpus", list_or_null(nic->cpus), "locality",
                      nuioa_locality_name(nic->locality), "level",
                      tool_json_levels(nic->level, nic->level ? node->numa_count : 0), "usable",
                      nic->usable, "why", tool_json_text(nic->why), "role",
                      tool_json_text_or_null(nuioa_nic_role_name(nic->role)), "role_source",
                      tool_json_text_or_null(nuioa_role_source_name(nic->role_source)), "role_why",
                      tool_json_text_or_null(nuioa_nic_doubt_text(nic))));
    }
    return array;
}

static json_t *gpus_of(const struct nuioa_node *node)
{
    struct nuioa_gpu_device *devices = calloc(node->gpu_count + 1, sizeof(*devices));
    json_t *array = devices ? json_array() : NULL;
    if (devices)
        nuioa_gpu_devices_read(node, "", devices);
    for (uint32_t i = 0; devices && i < node->gpu_count; i++) {
        const struct nuioa_gpu *gpu = &node->gpus[i];
        array = tool_json_add(
            array, json_pack("{s:I, s:o, s:s, s:o, s:o, s:o}", "index", (json_int_t)i, "pci",
                             tool_json_text(gpu->pci), "vendor", nuioa_gpu_vendor_name(gpu->vendor),
                             "numa", tool_json_set(gpu->numas), "cpus", list_or_null(gpu->cpus),
                             "device", tool_json_text_or_null(devices[i].file)));
    }
    free(devices);
    return array;
}

static json_t *paths_of(const struct nuioa_node *node)
{
    json_t *array = json_array();
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        json_t *row = json_array();
        for (uint32_t n = 0; n < node->nic_count; n++)
            row = tool_json_add(row,
                                tool_json_text_or_null(nuioa_path_name(nuioa_path_at(node, g, n))));
        array = tool_json_add(array, row);
    }
    return array;
}

int tool_json_topo(const struct nuioa_node *node)
{
    return print(json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "nuioa", 1, "host",
                           tool_json_text_or_null(node->host), "numa", numas_of(node), "distance",
                           distance_of(&node->distance), "nics", nics_of(node), "gpus",
                           gpus_of(node), "paths", paths_of(node), "warnings",
                           with_warnings(json_array(), &node->warnings)));
}

/* --- plan ------------------------------------------------------------------------------------- */

static json_t *exports_of(const char *block)
{
    json_t *o = block ? json_object() : NULL;
    const char *value;
    char name[64];
    while (block && (value = nuioa_block_next(&block, name, sizeof(name))))
        if (json_object_set_new(o, name, tool_json_text(value))) {
            json_decref(o);
            return NULL;
        }
    return o;
}

/* Translates local ranks to ranks. */
static json_t *ranks_of(const struct nuioa_plan *plan, const uint32_t *locals, uint32_t count)
{
    json_t *array = json_array();
    for (uint32_t i = 0; i < count; i++)
        array = tool_json_add(array, json_integer(plan->assignments[locals[i]].rank));
    return array;
}

static json_t *task_of(const struct nuioa_plan *plan, const struct nuioa_node *node, uint32_t local,
                       const char *exports)
{
    const struct nuioa_assignment *p = &plan->assignments[local];
    const struct nuioa_rank_costs *a = &p->costs;
    json_t *nics = json_array();
    char places[4096], memory[4096], why[64], label[64] = "";
    for (uint32_t i = 0; i < p->nic_count; i++)
        nics = tool_json_add(
            nics, tool_json_text(nuioa_nic_label(&node->nics[p->nics[i]], label, sizeof(label))));
    if (p->nic >= 0)
        nuioa_nic_label(&node->nics[p->nic], label, sizeof(label));
    return json_pack(
        "{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o,"
        " s:o, s:o, s:o, s:o, s:f, s:f, s:{s:f, s:f, s:f, s:f}, s:o}",
        "local", (json_int_t)local, "rank", (json_int_t)p->rank, "weight",
        real_if(plan->hinted, p->weight), "cpus", list(p->cpus), "numa", tool_json_set(p->numas),
        "nic", tool_json_text_or_null(p->nic < 0 ? NULL : label), "nics", nics, "gpus",
        p->gpus_known ? numbers(p->gpus, p->gpu_count) : json_null(), "to_gpu",
        number_if(p->gpu_level != NUIOA_NO_LEVEL, p->gpu_level), "path",
        tool_json_text_or_null(nuioa_path_name(p->path)), "level",
        number_if(p->level != NUIOA_NO_LEVEL, p->level), "memory",
        tool_json_text(nuioa_memory_text(p, memory, sizeof(memory))), "leader",
        plan->order_count && plan->order[0] == local, "places",
        tool_json_text_or_null(nuioa_places_text(p, places, sizeof(places))), "exports",
        exports_of(exports), "was", list(p->was), "level_was",
        number_if(a->level_before != NUIOA_NO_LEVEL, a->level_before), "heavier",
        number_if(plan->hinted, a->heavier), "partners",
        ranks_of(plan, a->partners, a->partner_count), "on_node", a->local, "beside", a->beside,
        "cost", "slurm_nic", a->before.nic, "slurm_neighbours", a->before.neighbours, "plan_nic",
        a->after.nic, "plan_neighbours", a->after.neighbours, "why",
        tool_json_text(nuioa_report_why(plan, local, why, sizeof(why))));
}

int tool_json_task(const struct nuioa_plan *plan, const struct nuioa_node *node, uint32_t local,
                   const char *exports, struct tool_json_known known)
{
    json_t *root = task_of(plan, node, local, exports);
    if (!known.rank)
        json_object_set_new(root, "rank", json_null());
    if (!known.leader)
        json_object_set_new(root, "leader", json_null());
    return print(root);
}

static json_t *cost_of(const struct nuioa_plan *plan)
{
    const struct nuioa_load_term *before = &plan->before.load, *after = &plan->after.load;
    return json_pack(
        "{s:f, s:f, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:{s:o, s:o}}", "slurm", plan->before.j,
        "plan", plan->after.j, "bound", real_if(plan->bound_known, plan->bound), "bound_over",
        tool_json_text_or_null(plan->bound_known ? "masks" : NULL), "slurm_nic", plan->before.nic,
        "slurm_neighbours", plan->before.neighbours, "plan_nic", plan->after.nic, "plan_neighbours",
        plan->after.neighbours, "slurm_load", before->cost, "plan_load", after->cost, "load",
        "slurm", real_if(before->ratio > 0, before->ratio), "plan",
        real_if(after->ratio > 0, after->ratio));
}

static json_t *advice_of(const struct nuioa_plan *plan)
{
    json_t *array = json_array();
    for (unsigned i = 0; i < NUIOA_ADVICE_COUNT; i++)
        if (plan->advice & 1u << i)
            array = tool_json_add(array, json_string(nuioa_advice_text((enum nuioa_advice)i)));
    return array;
}

int tool_json_plan(const struct nuioa_plan *plan, const struct nuioa_node *node,
                   const struct nuioa_options *options)
{
    bool led = plan->order_count > 0;
    json_t *tasks = json_array();
    for (uint32_t i = 0; i < plan->task_count; i++) {
        char *exports = tool_exports_of(plan, node, options, i, TOOL_EXPORTS_THERE);
        tasks = tool_json_add(tasks, task_of(plan, node, i, exports));
        free(exports);
    }
    return print(json_pack(
        "{s:i, s:o, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:s, s:s, s:I, s:I, s:o}",
        "nuioa", 1, "host", tool_json_text_or_null(node->host), "policy",
        nuioa_policy_name(plan->policy), "moved", plan->moved, "planned", plan->planned, "reason",
        tool_json_text(plan->reason), "advice", advice_of(plan), "tasks", tasks, "order",
        ranks_of(plan, plan->order, plan->order_count), "near", number_if(led, plan->near),
        "leader", number_if(led, led ? plan->assignments[plan->order[0]].rank : 0), "rail_leaders",
        ranks_of(plan, plan->rail_leaders, plan->rail_leader_count), "cost", cost_of(plan),
        "distance_source", nuioa_distance_source_name(node->distance.source), "mapper",
        plan->mapper ? plan->mapper : "keep", "evaluations", (json_int_t)plan->evaluations,
        "time_us", (json_int_t)plan->time_us, "warnings",
        with_warnings(with_warnings(json_array(), &plan->warnings), &node->warnings)));
}
