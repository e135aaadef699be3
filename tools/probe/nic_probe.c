/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/nic_probe.h"

#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/json.h"
#include "tools/probe/distance_write.h"
#include "tools/probe/heatmap.h"
#include "tools/probe/probe.h"
#include "tools/python.h"
#include "tools/tool.h"
#include "topology/node_load.h"

/* --- the command line ------------------------------------------------------------------------- */

/* Checks --number, and counts its groups. */
static int read_expression(struct probe_nic_options *o)
{
    regex_t expression;
    char why[128];
    int rc = regcomp(&expression, o->number, REG_EXTENDED | REG_NEWLINE);
    if (rc) {
        regerror(rc, &expression, why, sizeof(why));
        return tool_usage("probe", "--number: '%.80s' is not an extended regular expression: %s",
                          o->number, why);
    }
    o->groups = (uint32_t)expression.re_nsub;
    regfree(&expression);
    return 0;
}

/* Checks --tool: a name of the table in probe-nic.py, or a whole command. */
static int read_tool(struct probe_nic_options *o)
{
    static const char *const names[] = { "ib_write_bw",  "ib_read_bw", "cxi_write_bw",
                                         "ucx_perftest", "fi_rma_bw",  "ib_write_lat" };
    if (!o->tool)
        return o->number ? tool_usage("probe", "--number requires --tool 'COMMAND'") : 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(names[i], o->tool))
            return !o->number
                       ? 0
                       : tool_usage("probe", "--number is for --tool 'COMMAND', not for %.40s",
                                    o->tool);
    if (!strpbrk(o->tool, " {"))
        return tool_usage(
            "probe",
            "--tool: '%.40s' is not one of ib_write_bw ib_read_bw cxi_write_bw ucx_perftest "
            "fi_rma_bw ib_write_lat, nor a command with {host}",
            o->tool);
    if (!o->number || !*o->number)
        return tool_usage("probe", "--tool 'COMMAND' needs --number REGEX, which finds its MB/s");
    if (!strstr(o->tool, "{host}"))
        return tool_usage(
            "probe", "--tool: '%.80s' lacks {host}, which stands for the server's name", o->tool);
    if (o->tool[strspn(o->tool, " \t")] == '{')
        return tool_usage("probe", "--tool: '%.80s' must begin with a program", o->tool);
    return read_expression(o);
}

int probe_nic_check(struct probe *p)
{
    struct probe_nic_options *o = &p->nic;
    struct nuioa_error err;
    if (o->names && nuioa_nic_check(o->names, &err))
        return tool_usage("probe", "--nic: %s", err.text);
    if (!o->rounds)
        o->rounds = p->quick ? 5 : 15;
    return read_tool(o);
}

/* --- what the script is told ------------------------------------------------------------------ */

bool probe_nic_is_usable(const struct nuioa_node *node, const struct nuioa_numa *numa)
{
    return numa->memory_bytes && hwloc_bitmap_isset(node->allowed_numas, numa->os_index) &&
           hwloc_bitmap_intersects(numa->cpus, node->allowed_cpus);
}

/* "at": its index, as below; "numa": the OS index; "cpus": those that may be used. */
static json_t *numa_object(const struct nuioa_node *node, uint32_t at)
{
    const struct nuioa_numa *numa = &node->numas[at];
    hwloc_bitmap_t cpus = hwloc_bitmap_dup(numa->cpus);
    if (!cpus || hwloc_bitmap_and(cpus, cpus, node->allowed_cpus))
        return NULL;
    json_t *object = json_pack("{si si so}", "at", (int)at, "numa", (int)numa->os_index, "cpus",
                               tool_json_set(cpus));
    hwloc_bitmap_free(cpus);
    return object;
}

/* "numas": OS indexes of those beside it. */
static json_t *nic_object(const struct nuioa_node *node, uint32_t at)
{
    const struct nuioa_nic *nic = &node->nics[at];
    return json_pack("{si so ss si ss so}", "at", (int)at, "name", tool_json_text(nic->name), "cxi",
                     nic->cxi, "port", (int)nic->port, "kind", nuioa_nic_kind_name(nic->kind),
                     "numas", tool_json_set(nic->numas));
}

/* "place": its number among the GPUs of its vendor, as CUDA counts them in PCI order. */
static json_t *gpu_object(const struct nuioa_node *node, uint32_t at)
{
    int place = 0;
    for (uint32_t i = 0; i < at; i++)
        place += node->gpus[i].vendor == node->gpus[at].vendor;
    return json_pack("{si si so}", "at", (int)at, "place", place, "numas",
                     tool_json_set(node->gpus[at].numas));
}

/* Returns what the script reads, which the caller frees; NULL: out of memory. "numas": the usable
 * ones; "groups": of --number; 0 if it was not given. */
static char *describe(const struct probe *p, const bool *taken)
{
    const struct nuioa_node *node = &p->node;
    json_t *numas = json_array(), *nics = json_array(), *gpus = json_array();
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (probe_nic_is_usable(node, &node->numas[i]))
            numas = tool_json_add(numas, numa_object(node, i));
    for (uint32_t i = 0; i < node->nic_count; i++)
        nics = taken[i] ? tool_json_add(nics, nic_object(node, i)) : nics;
    for (uint32_t i = 0; p->nic.gpus && i < node->gpu_count; i++)
        gpus = tool_json_add(gpus, gpu_object(node, i));
    json_t *task = json_pack("{si si si so so so}", "rounds", (int)p->nic.rounds, "limit_s",
                             (int)p->nic.limit_s, "groups", (int)p->nic.groups, "numas", numas,
                             "nics", nics, "gpus", gpus);
    char *text = task ? json_dumps(task, JSON_ENSURE_ASCII | JSON_COMPACT) : NULL;
    json_decref(task);
    return text;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Finds the NICs that were named, or those that nic=auto takes. */
static int take_nics(const struct probe *p, bool *taken)
{
    struct nuioa_warnings warnings = { 0 };
    struct nuioa_error err;
    const char *names = p->nic.names ? p->nic.names : "auto";
    int count = nuioa_nic_select(&p->node, names, NUIOA_POLICY_BANDWIDTH, taken, &warnings, &err);
    if (count < 0)
        return tool_fail("%s", err.text);
    for (unsigned i = 0; i < warnings.count; i++)
        tool_fail("%s", warnings.text[i]);
    if (!count && !warnings.count)
        return tool_fail("no NIC matches --nic%s%s: see nuioa topo", p->nic.names ? "=" : "",
                         p->nic.names ? p->nic.names : "");
    return count ? TOOL_DONE : TOOL_UNANSWERED;
}

/* Has the script measure, and tells what it has found. Returns the exit status. */
static int measure(struct probe *p, const bool *taken)
{
    const char *words[] = { "probe", p->nic.tool ? p->nic.tool : "",
                            p->nic.number ? p->nic.number : "" };
    char *task = describe(p, taken), *printed = NULL;
    size_t length = 0;
    int rc = task ? tool_python_run("probe-nic.py", 3, (char **)words, task, &printed, &length)
                  : tool_fail("out of memory");
    if (!rc)
        rc = probe_nic_tell(p, printed, length);
    free(printed);
    free(task);
    return rc;
}

int probe_nic(struct probe *p)
{
    struct nuioa_error err;
    const char *local = getenv("SLURM_LOCALID");
    if (local && strcmp(local, "0"))
        return tool_usage("probe", "another task of this step measures this node, and two would "
                                   "disturb each other: srun --ntasks-per-node=1");
    /* What the site's file has is kept: it is written again. */
    struct nuioa_source here = { NULL, p->out && !access(p->out, F_OK) ? p->out : NULL };
    if (nuioa_node_load(&p->node, &here, &err))
        return tool_fail("%s", err.text);
    if (p->node.emulated)
        return tool_fail("the topology is another machine's: only this one can be measured");
    bool *taken = calloc(p->node.nic_count + 1, sizeof(*taken));
    if (!taken)
        return tool_fail("out of memory");
    int rc = take_nics(p, taken);
    if (!rc && p->out && nuioa_distance_check_site(p->out, &p->node, &err))
        rc = tool_fail("%s", err.text);
    if (!rc && p->heatmap)
        rc = probe_heatmap_check(p->heatmap);
    if (!rc)
        rc = measure(p, taken);
    free(taken);
    return rc;
}
