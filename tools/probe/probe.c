/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/json.h"
#include "tools/probe/heatmap.h"
#include "tools/probe/probe.h"
#include "tools/probe/distance_write.h"
#include "tools/probe/measure.h"
#include "tools/probe/nic_probe.h"
#include "tools/probe/print.h"
#include "tools/tool.h"
#include "topology/numa_distance.h"
#include "topology/distance_site.h"
#include "topology/node_load.h"
#include "util/number.h"

#define LOCAL_NS_MAX 1e6

static const char usage[] =
    "usage: nuioa probe [--quick] [--out FILE] [--check] [--heatmap FILE] [--json]\n"
    "       nuioa probe --matrix FILE [--topology FILE.xml|DIR] [OPTION]...\n"
    "       nuioa probe --nic[=NAMES] [--gpus] [--tool NAME|COMMAND] [OPTION]...\n"
    "       nuioa probe --throughput NEAR,FAR[,FARTHER...]\n"
    "\n"
    "nuioa probe measures how far the NUMA nodes of this machine really are from each other: how\n"
    "long a load from memory takes between each pair. From that it finds the links between them.\n"
    "Run it once for each type of node, while nothing else runs there.\n"
    "\n"
    "  --quick                   fewer and shorter measurements\n"
    "  --out FILE                write the distances, or what was measured of the NICs, for\n"
    "                            distances=FILE in plugstack.conf; what else FILE has stays\n"
    "  --check                   say what the firmware's distances (SLIT) hide\n"
    "  --heatmap FILE            draw the matrix, or what was measured of the NICs;\n"
    "                            the end of its name is the format: .svg, .png, .pdf\n"
    "  --matrix FILE             read latencies that were measured elsewhere: a row on each line,\n"
    "                            in nanoseconds above the local access, or in full with the\n"
    "                            local access in the diagonal; - is standard input\n"
    "  --local-ns NS             the local access of a matrix above it; --out and --check need it\n"
    "  --topology FILE.xml|DIR   the machine that the matrix is from, for --out and --check;\n"
    "                            this one if not given\n"
    "  --links-per-node K        how many links a NUMA node can have: say where some are free\n"
    "  --nic[=NAMES]             measure NICs instead: a benchmark that is installed runs between\n"
    "                            two ends on this node, bound to each NUMA node in turn; NAMES as\n"
    "                            for the option nic\n"
    "  --gpus                    with --nic: memory of GPUs too, where the benchmark can\n"
    "  --tool NAME               with --nic: this benchmark, of those in nuioa-probe(1)\n"
    "  --tool 'COMMAND'          any other: {nic} {port} are put in, {host} in the client alone\n"
    "  --number REGEX            which finds its MB/s in what the client prints: the last group\n"
    "  --rounds N                with --nic: so many values for each figure; 15 if not given\n"
    "  --timeout SECONDS         with --nic: the most that one run may take; 30 if not given\n"
    "  --throughput NEAR,FAR...  compute remote_cost and hop_cost from throughputs of a network\n"
    "                            benchmark, with the process beside the NIC, one level away, two\n"
    "                            levels away...; nothing is measured\n"
    "  --latency NEAR,FAR...     the same from latencies\n"
    "  --json                    print JSON, for programs\n";

/* Computes *cost from figures such as "1392,1071,1050": with the process on the NIC's NUMA node,
 * one level away, two levels away and so on. */
static int read_cost(struct probe_cost *cost, const char *figures, bool is_time,
                     struct nuioa_error *err)
{
    double near = 0, sum = 0;
    unsigned count = 0;
    for (const char *rest = figures; rest; count++) {
        char word[32];
        double figure;
        size_t length = strcspn(rest, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), rest);
        rest = rest[length] ? rest + length + 1 : NULL;
        if (length > 31 || nuioa_parse_decimal(word, &figure) || !(figure > 0))
            return nuioa_fail(err, -EINVAL, "--%s: '%.40s' is not NEAR,FAR[,FARTHER...]",
                              is_time ? "latency" : "throughput", figures);
        if (!count)
            near = figure;
        double more = fmax(0, (is_time ? figure / near : near / figure) - 1);
        if (count == 1)
            cost->remote = more;
        else if (count > 1)
            sum += fmax(0, more - cost->remote) / (count - 1);
    }
    if (count < 2)
        return nuioa_fail(err, -EINVAL, "--%s: '%.40s' is one figure: give at least NEAR,FAR",
                          is_time ? "latency" : "throughput", figures);
    cost->hop = count > 2 ? sum / (count - 2) : NAN;
    return 0;
}

static const char at_least_gone[] =
    "--at-least was removed. Measure between nodes with ib_write_bw, ClusterKit or nccl-tests";

static int read_arguments(struct probe *p, int argc, char **argv)
{
    const char *local_ns = NULL;
    struct probe_nic_options *nic = &p->nic;
    struct tool_option options[] = {
        { "nic", .flag = &nic->asked, .text = &nic->names,
          .excludes = "matrix check links-per-node throughput latency" },
        { "gpus", .flag = &nic->gpus, .needs = "nic" },
        { "tool", .text = &nic->tool, .needs = "nic" },
        { "number", .text = &nic->number, .needs = "nic" },
        { "rounds", .number = &nic->rounds, .min = 1, .max = 1000, .needs = "nic" },
        { "timeout", .number = &nic->limit_s, .min = 1, .max = 3600, .needs = "nic" },
        { "matrix", .file = &p->matrix },
        { "topology", .file = &p->topology, .needs = "matrix: only this machine can be measured" },
        { "local-ns", .text = &local_ns, .needs = "matrix: this machine's is measured" },
        { "quick", .flag = &p->quick, .excludes = "matrix" },
        { "out", .file = &p->out },
        { "heatmap", .file = &p->heatmap },
        { "throughput", .text = &p->throughput, .excludes = "latency" },
        { "latency", .text = &p->latency_figures },
        { "links-per-node", .number = &p->links_per_node, .min = 1, .max = 1024 },
        { "check", .flag = &p->check },
        { "json", .flag = &p->json },
        { "at-least", .gone = at_least_gone },
        { "help", .usage = usage },
        { .name = NULL },
    };
    struct nuioa_error err;
    int rc = tool_args_read(argc, argv, options, NULL, NULL);
    if (!rc && nic->asked)
        rc = probe_nic_check(p);
    if (rc)
        return rc;
    if (local_ns && (nuioa_parse_decimal(local_ns, &p->local_ns) ||
                     !(p->local_ns >= 1 && p->local_ns <= LOCAL_NS_MAX)))
        return tool_usage(argv[0], "--local-ns: '%.40s' is not a number from 1 to 1000000",
                          local_ns);
    const char *figures = p->throughput ? p->throughput : p->latency_figures;
    if (figures && read_cost(&p->cost, figures, !p->throughput, &err))
        return tool_usage(argv[0], "%s", err.text);
    return 0;
}

/* --- the matrix ------------------------------------------------------------------------------- */

static int load_node(struct probe *p, struct nuioa_error *err)
{
    /* Without a site file: what is known without having measured. */
    struct nuioa_source source = { p->topology, NULL };
    return nuioa_node_load(&p->node, &source, err);
}

static int read_latency(struct probe *p, struct nuioa_error *err)
{
    int rc = nuioa_latency_read(&p->latency, p->matrix, err);
    if (rc)
        return rc;
    bool relative = !(p->latency.local_ns > 0);
    if (p->local_ns > 0 && !relative)
        return nuioa_fail(err, -EINVAL,
                          "%s has the local access in its diagonal: leave out --local-ns",
                          p->matrix);
    if ((p->out || p->check) && relative && !(p->local_ns > 0))
        return nuioa_fail(err, -EINVAL,
                          "%s has times over the local access only, so how many times farther a "
                          "NUMA node is cannot be told: give the local access with --local-ns",
                          p->matrix);
    if (relative)
        p->latency.local_ns = p->local_ns;
    return 0;
}

static int read_matrix(struct probe *p, struct nuioa_error *err)
{
    int rc = read_latency(p, err);
    if (!rc && (p->topology || p->out || p->check))
        rc = load_node(p, err);
    if (rc)
        return rc;
    p->count = p->latency.count;
    if (p->node.numa_count && p->node.numa_count != p->count)
        return nuioa_fail(err, -EINVAL, "%s has %u rows, but %s has %u NUMA node%s%s", p->matrix,
                          p->count, p->topology ? p->topology : "this machine", p->node.numa_count,
                          p->node.numa_count == 1 ? "" : "s",
                          p->topology ? "" : ": --topology gives the machine that it is from");
    p->numa = nuioa_arena_take(&p->arena, p->count, sizeof(*p->numa));
    p->index = nuioa_arena_take(&p->arena, p->count, sizeof(*p->index));
    if (p->arena.failed)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < p->count; i++) {
        p->index[i] = i;
        p->numa[i] = p->node.numa_count ? p->node.numas[i].os_index : i;
    }
    return 0;
}

/* --- distances for the site's file ------------------------------------------------------------ */

static uint32_t scaled(double over_ns, double local_ns)
{
    return (uint32_t)(10.5 + 10 * fmax(0, fmin(over_ns / local_ns, 1e5 - 1)));
}

static void fill_measured(const struct probe *p, uint32_t *matrix)
{
    uint32_t n = p->node.numa_count;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double there = p->full_ns[(size_t)i * n + j], back = p->full_ns[(size_t)j * n + i];
            double known = isnan(there) ? back : there;
            if (i != j && !isnan(known))
                matrix[(size_t)i * n + j] =
                    scaled(known - p->latency.local_ns, p->latency.local_ns);
        }
}

/* Sets p->measured: the distances between all NUMA nodes of p->node, on the scale of a SLIT (10 is
 * local), and their levels. Values come from the graph of links, which is accepted; for a NUMA node
 * without CPUs or without memory, from what was measured, in the other direction if need be; and
 * where nothing was, from p->node. Returns 0 or -ENOMEM. */
static int find_distances(struct probe *p)
{
    uint32_t n = p->node.numa_count;
    size_t cells = (size_t)n * n;
    uint32_t *matrix = nuioa_arena_take(&p->arena, cells, sizeof(*matrix));
    uint32_t *part = nuioa_arena_take(&p->arena, (size_t)p->count * p->count, sizeof(*part));
    p->measured = (struct nuioa_distance){
        .count = n,
        .matrix = matrix,
        .level = nuioa_arena_take(&p->arena, cells, sizeof(*p->measured.level)),
    };
    if (p->arena.failed)
        return -ENOMEM;
    memcpy(matrix, p->node.distance.matrix, cells * sizeof(*matrix));
    for (uint32_t i = 0; i < n; i++)
        matrix[(size_t)i * n + i] = 10;
    if (p->full_ns)
        fill_measured(p, matrix);
    nuioa_link_graph_distances(&p->graph, &p->latency, part);
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++)
            matrix[(size_t)p->index[i] * n + p->index[j]] = part[(size_t)i * p->count + j];
    nuioa_distance_levels(&p->measured, &p->node);
    return 0;
}

static int write_out(struct probe *p, struct nuioa_error *err)
{
    char how[96];
    /* What the file has of NICs stays; if it cannot be read, writing says why. */
    nuioa_distance_read_site(p->out, &p->node, NULL, p->node.nics, NULL);
    snprintf(how, sizeof(how), "nuioa probe: local access %.1f ns, one link %.1f ns",
             p->latency.local_ns, p->graph.quantum_ns);
    return nuioa_distance_write_site(p->out, &p->node, p->measured.matrix, how, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Makes sure, before anything is measured, that files can be written. Returns the exit status. */
static int check_files(const struct probe *p)
{
    struct nuioa_error err;
    if (p->out && nuioa_distance_check_site(p->out, &p->node, &err))
        return tool_fail("%s", err.text);
    return p->heatmap ? probe_heatmap_check(p->heatmap) : TOOL_DONE;
}

static int draw(const struct probe *p)
{
    json_t *json = probe_json(p);
    char *text = json ? json_dumps(json, JSON_ENSURE_ASCII) : NULL;
    int rc = text ? probe_heatmap(text, p->heatmap) : tool_fail("out of memory");
    free(text);
    json_decref(json);
    return rc;
}

/* Prints what was found, and writes the files. Returns the exit status. */
static int tell(struct probe *p)
{
    struct nuioa_error err;
    int rc = TOOL_DONE;
    if (p->heatmap)
        rc = draw(p);
    if (!rc && p->out && p->graph.accepted && write_out(p, &err))
        rc = tool_fail("%s", err.text);
    if (rc)
        return rc;
    if (p->json)
        rc = tool_json_print(probe_json(p), 2);
    else
        probe_print(p);
    if (!p->graph.accepted)
        return tool_fail("the matrix cannot be trusted: %s", p->graph.reason);
    return rc;
}

static int answer(struct probe *p)
{
    struct nuioa_error err = { "" };
    bool only_figures = !isnan(p->cost.remote) && !p->matrix && !p->out && !p->check && !p->heatmap;
    if (only_figures) {
        if (p->json)
            return tool_json_print(probe_json(p), 2);
        probe_print_cost(&p->cost);
        return TOOL_DONE;
    }
    if (p->matrix ? read_matrix(p, &err) : load_node(p, &err))
        return tool_fail("%s", err.text);
    int rc = check_files(p);
    if (rc)
        return rc;
    if ((!p->matrix && probe_measure(p, &err)) ||
        nuioa_link_graph_infer(&p->graph, &p->latency, &err))
        return tool_fail("%s", err.text);
    if (p->graph.accepted && (p->out || p->check) && find_distances(p))
        return tool_fail("out of memory");
    return tell(p);
}

int tool_probe(int argc, char **argv)
{
    struct probe probe = { .nic = { .limit_s = 30 }, .cost = { NAN, NAN } };
    int status = read_arguments(&probe, argc, argv);
    if (!status)
        status = probe.nic.asked ? probe_nic(&probe) : answer(&probe);
    nuioa_node_free(&probe.node);
    nuioa_latency_free(&probe.latency);
    nuioa_arena_free(&probe.graph.arena);
    nuioa_arena_free(&probe.arena);
    return status;
}
