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

/* "numa": the OS index; "cpus": those that may be used; "whole": it has CPUs and memory; "usable":
 * a benchmark may be bound to it. */
static json_t *numa_object(const struct nuioa_node *node, const struct nuioa_numa *numa)
{
    bool whole = numa->memory_bytes && !hwloc_bitmap_iszero(numa->cpus);
    hwloc_bitmap_t cpus = hwloc_bitmap_dup(numa->cpus);
    if (!cpus || hwloc_bitmap_and(cpus, cpus, node->allowed_cpus))
        return NULL;
    bool usable = whole && hwloc_bitmap_isset(node->allowed_numas, numa->os_index) &&
                  !hwloc_bitmap_iszero(cpus);
    json_t *object = json_pack("{si so sb sb}", "numa", (int)numa->os_index, "cpus",
                               tool_json_set(cpus), "whole", whole, "usable", usable);
    hwloc_bitmap_free(cpus);
    return object;
}

/* "at": its index; "numas": OS indexes of those beside it; "levels": its level from each of the
 * node's; null: unknown. */
static json_t *nic_object(const struct nuioa_node *node, uint32_t at)
{
    char label[48];
    const struct nuioa_nic *nic = &node->nics[at];
    json_t *levels = nic->level ? tool_json_levels(nic->level, node->numa_count) : json_null();
    return json_pack("{si so so ss si ss so so}", "at", (int)at, "name", tool_json_text(nic->name),
                     "label", tool_json_text(nuioa_nic_label(nic, label, sizeof(label))), "cxi",
                     nic->cxi, "port", (int)nic->port, "kind", nuioa_nic_kind_name(nic->kind),
                     "numas", tool_json_set(nic->numas), "levels", levels);
}

/* "place": its number among the GPUs of its vendor, as CUDA counts them in PCI order. */
static json_t *gpu_object(const struct nuioa_node *node, uint32_t gpu)
{
    int place = 0;
    for (uint32_t i = 0; i < gpu; i++)
        place += node->gpus[i].vendor == node->gpus[gpu].vendor;
    return json_pack("{ss si so}", "pci", node->gpus[gpu].pci, "place", place, "numas",
                     tool_json_set(node->gpus[gpu].numas));
}

/* Returns what the script reads, which the caller frees; NULL: out of memory. "groups": of
 * --number; 0 if it was not given. */
static char *describe(const struct probe *p, const bool *taken)
{
    const struct nuioa_node *node = &p->node;
    json_t *numas = json_array(), *nics = json_array(), *gpus = json_array();
    for (uint32_t i = 0; i < node->numa_count; i++)
        numas = tool_json_add(numas, numa_object(node, &node->numas[i]));
    for (uint32_t i = 0; i < node->nic_count; i++)
        nics = taken[i] ? tool_json_add(nics, nic_object(node, i)) : nics;
    for (uint32_t i = 0; p->nic.gpus && i < node->gpu_count; i++)
        gpus = tool_json_add(gpus, gpu_object(node, i));
    json_t *task = json_pack("{so si si si so so so}", "host", tool_json_text(node->host), "rounds",
                             (int)p->nic.rounds, "limit_s", (int)p->nic.limit_s, "groups",
                             (int)p->nic.groups, "numas", numas, "nics", nics, "gpus", gpus);
    char *text = task ? json_dumps(task, JSON_ENSURE_ASCII | JSON_COMPACT) : NULL;
    json_decref(task);
    return text;
}

/* --- what it answers -------------------------------------------------------------------------- */

/* Puts medians beside what is known of the NICs. Each of `figures` is five numbers: the indexes of
 * the NIC and the NUMA node, the quantity, the median, and how values spread. Returns false without
 * memory. */
static bool take_figures(struct probe *p, const char *figures)
{
    unsigned at, numa, quantity;
    double median, mad;
    int used;
    while (sscanf(figures, "%u %u %u %lf %lf%n", &at, &numa, &quantity, &median, &mad, &used) > 4) {
        if (at >= p->node.nic_count || numa >= p->node.numa_count)
            return false;
        struct nuioa_nic *nic = &p->node.nics[at];
        if (!nic->measured)
            nic->measured = calloc(p->node.numa_count, sizeof(*nic->measured));
        if (!nic->measured)
            return false;
        struct nuioa_nic_measured *m = &nic->measured[numa];
        *(quantity == 0 ? &m->write_mb_s : quantity == 1 ? &m->read_mb_s : &m->latency_ns) = median;
        m->n = p->nic.rounds;
        m->mad = mad;
        figures += used;
    }
    return true;
}

static int write_files(struct probe *p, const char *figures, const char *json)
{
    struct nuioa_error err;
    if (p->heatmap && probe_heatmap(json, p->heatmap))
        return TOOL_UNANSWERED;
    if (p->out && !take_figures(p, figures))
        return tool_fail("out of memory");
    if (p->out && nuioa_distance_write_site(
                      p->out, &p->node, p->node.distance.matrix,
                      "nuioa probe --nic; distances between NUMA nodes as they were known", &err))
        return tool_fail("%s", err.text);
    return TOOL_DONE;
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

/* Has the script measure, writes the files and prints the answer. Returns the exit status. */
static int measure(struct probe *p, const bool *taken)
{
    enum { FIGURES, JSON, REPORT, WHY, TEXTS }; /* "nothing was measured" says why */
    const char *words[] = { "probe", p->nic.tool ? p->nic.tool : "",
                            p->nic.number ? p->nic.number : "" };
    const char *texts[TEXTS] = { "", "", "", "" };
    char *task = describe(p, taken), *answer = NULL;
    size_t length = 0;
    int rc = task ? tool_python_run("probe-nic.py", 3, (char **)words, task, &answer, &length)
                  : tool_fail("out of memory");
    for (size_t i = 0, at = 0; i < TEXTS && at < length; at += strlen(answer + at) + 1)
        texts[i++] = answer + at;
    if (*texts[WHY])
        rc = tool_fail("%s", texts[WHY]);
    if (!rc)
        rc = write_files(p, texts[FIGURES], texts[JSON]);
    if (length)
        puts(texts[p->json ? JSON : REPORT]);
    if (!rc && p->out && !p->json)
        printf("written: %s, for distances=%s in plugstack.conf\n", p->out, p->out);
    free(answer);
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
