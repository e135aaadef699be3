/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/nic_probe.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/probe/cells.h"
#include "tools/probe/heatmap.h"
#include "tools/probe/nic_print.h"
#include "tools/probe/probe.h"
#include "tools/probe/process.h"
#include "tools/tool.h"
#include "tools/probe/distance_write.h"
#include "topology/node_load.h"
#include "util/number.h"

enum { ROUNDS = 15, ROUNDS_QUICK = 5, ROUNDS_MAX = 1000, LIMIT_S = 30, LIMIT_S_MAX = 3600 };

static int read_number(const char *name, const char *text, uint32_t usual, uint32_t most,
                       uint32_t *number)
{
    *number = usual;
    if (text && (nuioa_parse_u32(text, most, number) || !*number))
        return tool_usage("probe", "--%s: '%.40s' is not a number from 1 to %u", name, text, most);
    return 0;
}

/* Sets the benchmark of the command line: a name of the table, or a whole command. */
static int read_tool(struct probe_nic_options *o)
{
    struct nuioa_error err;
    char names[160];
    if (!o->tool)
        return o->number ? tool_usage("probe", "--number goes with --tool 'COMMAND'") : 0;
    bool name = probe_benchmark_known(o->tool);
    if (name && o->number)
        return tool_usage("probe",
                          "--number goes with --tool 'COMMAND': where %.40s prints it is "
                          "known",
                          o->tool);
    if (name)
        return 0;
    if (!strpbrk(o->tool, " {"))
        return tool_usage("probe", "--tool: '%.40s' is none of %s, and no command with {host}",
                          o->tool, probe_benchmark_names(NUIOA_NIC_KINDS, names, sizeof(names)));
    if (!o->number)
        return tool_usage("probe", "--tool 'COMMAND' needs --number REGEX, which finds its MB/s");
    o->custom = (struct probe_benchmark){ .command = o->tool, .number = o->number, .factor = 1 };
    if (probe_benchmark_check(&o->custom, &err))
        return tool_usage("probe", "%s", err.text);
    return 0;
}

int probe_nic_check(struct probe *p)
{
    struct probe_nic_options *o = &p->nic;
    struct nuioa_error err;
    const char *alone = o->gpus           ? "gpus"
                        : o->tool         ? "tool"
                        : o->number       ? "number"
                        : o->rounds_text  ? "rounds"
                        : o->timeout_text ? "timeout"
                                          : NULL;
    if (!o->asked)
        return alone ? tool_usage("probe", "--%s goes with --nic", alone) : 0;
    if (p->matrix || p->check || p->throughput || p->latency_figures || p->links_per_node_text)
        return tool_usage("probe", "--nic measures NICs, and goes with none of --matrix, --check, "
                                   "--links-per-node, --throughput, --latency");
    if (o->names && nuioa_nic_check(o->names, &err))
        return tool_usage("probe", "--nic: %s", err.text);
    int rc = read_tool(o);
    if (!rc)
        rc = read_number("rounds", o->rounds_text, p->quick ? ROUNDS_QUICK : ROUNDS, ROUNDS_MAX,
                         &o->rounds);
    if (!rc)
        rc = read_number("timeout", o->timeout_text, LIMIT_S, LIMIT_S_MAX, &o->limit_s);
    return rc;
}

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
        return tool_fail("no NIC here is one that --nic%s%s takes: nuioa topo lists them",
                         p->nic.names ? "=" : "", p->nic.names ? p->nic.names : "");
    return count ? TOOL_DONE : TOOL_UNANSWERED;
}

static bool any_median(const struct probe_nics *nics)
{
    for (uint32_t i = 0; i < nics->count; i++)
        if (nics->cells[i].median > 0)
            return true;
    return false;
}

/* Puts what was measured into the description of the node, for the site's file. */
static int keep_measured(struct probe *p, const struct probe_nics *nics, struct nuioa_error *err)
{
    for (uint32_t i = 0; i < nics->count; i++) {
        const struct probe_cell *cell = &nics->cells[i];
        struct nuioa_nic *nic = &p->node.nics[cell->nic];
        if (!(cell->median > 0) || cell->gpu >= 0)
            continue;
        if (!nic->measured)
            nic->measured = calloc(p->node.numa_count, sizeof(*nic->measured));
        if (!nic->measured)
            return nuioa_fail(err, -ENOMEM, "out of memory");
        struct nuioa_nic_measured *m = &nic->measured[cell->numa];
        *(cell->quantity == PROBE_WRITE  ? &m->write_mb_s
          : cell->quantity == PROBE_READ ? &m->read_mb_s
                                         : &m->latency_ns) = cell->median;
        m->n = cell->count;
        m->mad =
            fmax(nics->mad[PROBE_WRITE], fmax(nics->mad[PROBE_READ], nics->mad[PROBE_LATENCY]));
    }
    return 0;
}

static int write_out(struct probe *p, const struct probe_nics *nics)
{
    struct nuioa_error err;
    int rc = keep_measured(p, nics, &err);
    if (!rc)
        rc = nuioa_distance_write_site(
            p->out, &p->node, p->node.distance.matrix,
            "nuioa probe --nic; distances between NUMA nodes as they were known", &err);
    return rc ? tool_fail("%s", err.text) : TOOL_DONE;
}

static int answer(struct probe *p, struct probe_nics *nics)
{
    int rc = TOOL_DONE;
    if (p->json)
        rc = probe_nics_json(nics);
    else
        probe_nics_print(nics, stdout);
    if (!any_median(nics))
        return tool_fail("nothing was measured: %s",
                         nics->count ? nics->cells[0].err.text
                                     : "no NUMA node has memory and CPUs that may be used");
    struct nuioa_error err;
    if (p->heatmap && !rc && probe_nics_heatmap(nics, p->heatmap, &err))
        rc = tool_fail("%s", err.text);
    if (p->out && !rc)
        rc = write_out(p, nics);
    if (p->out && !rc && !p->json)
        printf("written: %s, for distances=%s in plugstack.conf\n", p->out, p->out);
    return rc;
}

static struct probe_nic_plan make_plan(const struct probe *p, const bool *taken)
{
    return (struct probe_nic_plan){
        .node = &p->node,
        .taken = taken,
        .gpus = p->nic.gpus,
        .benchmark = p->nic.custom.command ? NULL : p->nic.tool,
        .custom = p->nic.custom.command ? &p->nic.custom : NULL,
        .rounds = p->nic.rounds,
        .limit_s = p->nic.limit_s,
    };
}

static int measure(struct probe *p, const bool *taken)
{
    struct probe_nics nics;
    struct nuioa_error err = { "" };
    struct probe_nic_plan plan = make_plan(p, taken);
    int rc = probe_nics_init(&nics, &plan);
    if (rc)
        nuioa_fail(&err, rc, "out of memory");
    else
        rc = probe_nics_measure(&nics, &err);
    rc = rc ? tool_fail("%s", err.text) : answer(p, &nics);
    probe_nics_free(&nics);
    return rc;
}

/* Loads this node, takes its NICs, and measures them. */
static int measure_node(struct probe *p)
{
    struct nuioa_error err;
    /* What the site's file has is kept: it is written again. */
    struct nuioa_source here = { NULL, p->out && !access(p->out, F_OK) ? p->out : NULL };
    int rc = nuioa_node_load(&p->node, &here, &err);
    if (rc)
        return tool_fail("%s", err.text);
    p->has_node = true;
    if (p->node.emulated)
        return tool_fail("the topology is another machine's: only this one can be measured");
    bool *taken = calloc(p->node.nic_count + 1, sizeof(*taken));
    rc = taken ? take_nics(p, taken) : tool_fail("out of memory");
    if (!rc)
        rc = measure(p, taken);
    free(taken);
    return rc;
}

int probe_nic(struct probe *p)
{
    const char *local = getenv("SLURM_LOCALID");
    if (local && strcmp(local, "0"))
        return tool_usage("probe", "another task of this step measures this node, and two would "
                                   "disturb each other: srun --ntasks-per-node=1");
    probe_processes_begin();
    int rc = measure_node(p);
    probe_processes_end();
    return rc;
}
