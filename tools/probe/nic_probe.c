/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "tools/probe/nic_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/json.h"
#include "tools/probe/distance_write.h"
#include "tools/probe/heatmap.h"
#include "tools/probe/probe.h"
#include "tools/python.h"
#include "tools/tool.h"
#include "topology/node_load.h"
#include "util/new_file.h"

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

/* "numas": OS indexes of those beside it; "levels": its level from each of the node's; null:
 * unknown. */
static json_t *nic_object(const struct nuioa_node *node, const struct nuioa_nic *nic, bool taken)
{
    char label[48];
    json_t *levels = nic->level ? tool_json_levels(nic->level, node->numa_count) : json_null();
    return json_pack("{sb so so ss si ss so so}", "taken", taken, "name", tool_json_text(nic->name),
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

/* "out", "heatmap": descriptors of the directories of these files, -1 if there are none; "groups":
 * of --number; 0 if it was not given. */
static json_t *describe(const struct probe *p, const bool *taken, int out, int heatmap)
{
    const struct nuioa_node *node = &p->node;
    json_t *numas = json_array(), *nics = json_array(), *gpus = json_array();
    for (uint32_t i = 0; i < node->numa_count; i++)
        numas = tool_json_add(numas, numa_object(node, &node->numas[i]));
    for (uint32_t i = 0; i < node->nic_count; i++)
        nics = tool_json_add(nics, nic_object(node, &node->nics[i], taken[i]));
    for (uint32_t i = 0; p->nic.gpus && i < node->gpu_count; i++)
        gpus = tool_json_add(gpus, gpu_object(node, i));
    return json_pack("{so sb si si si si si so so so}", "host", tool_json_text(node->host), "json",
                     p->json, "rounds", (int)p->nic.rounds, "limit_s", (int)p->nic.limit_s, "out",
                     out, "heatmap", heatmap, "groups", (int)p->nic.groups, "numas", numas, "nics",
                     nics, "gpus", gpus);
}

/* Makes what the script reads its standard input. */
static int give(const struct probe *p, const bool *taken, int out, int heatmap)
{
    json_t *task = describe(p, taken, out, heatmap);
    char *text = task ? json_dumps(task, JSON_ENSURE_ASCII | JSON_COMPACT) : NULL;
    json_decref(task);
    int fd = text ? memfd_create("nuioa", 0) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!file)
        return tool_fail("nuioa probe: %s", strerror(text ? errno : ENOMEM));
    fprintf(file, "%s\n", text);
    free(text);
    nuioa_distance_print_section(
        &p->node, p->node.distance.matrix,
        "nuioa probe --nic; distances between NUMA nodes as they were known", file);
    if (fflush(file) || lseek(fd, 0, SEEK_SET) || dup2(fd, STDIN_FILENO) < 0)
        return tool_fail("nuioa probe: %s", strerror(errno));
    if (fd != STDIN_FILENO)
        fclose(file);
    return 0;
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

/* Makes sure that a file can be written; *directory and *name say where. Without a file they are -1
 * and "". */
static int find_place(const char *path, int *directory, char name[NAME_MAX + 1],
                      struct nuioa_error *err)
{
    struct nuioa_new_file file;
    *directory = -1;
    *name = '\0';
    int rc = path ? nuioa_new_file_open(&file, path, err) : 0;
    if (!path || rc)
        return rc;
    strcpy(name, file.name);
    *directory = fcntl(file.directory, F_DUPFD, 3);
    nuioa_new_file_close(&file, false, path, NULL);
    return *directory < 0 ? nuioa_fail(err, -errno, "%s: %s", path, strerror(errno)) : 0;
}

/* Becomes the script, or returns the exit status. */
static int become_script(struct probe *p, const bool *taken)
{
    struct nuioa_error err;
    int out, picture;
    char out_name[NAME_MAX + 1], picture_name[NAME_MAX + 1], none[] = "";
    if ((p->out && nuioa_distance_check_site(p->out, &p->node, &err)) ||
        find_place(p->out, &out, out_name, &err) ||
        find_place(p->heatmap, &picture, picture_name, &err))
        return tool_fail("%s", err.text);
    if (p->heatmap && probe_heatmap_check(p->heatmap))
        return TOOL_UNANSWERED;
    const char *words[] = { "probe",
                            p->out ? p->out : none,
                            out_name,
                            p->heatmap ? p->heatmap : none,
                            picture_name,
                            p->nic.tool ? p->nic.tool : none,
                            p->nic.number ? p->nic.number : none };
    int rc = give(p, taken, out, picture);
    return rc ? rc : tool_python_exec("probe-nic.py", 7, (char **)words);
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
    if (!rc)
        rc = become_script(p, taken);
    free(taken);
    return rc;
}
