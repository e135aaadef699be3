/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/nic_probe.h"

#include <math.h>
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

/* --- the benchmarks --------------------------------------------------------------------------- */

/* Messages are of 1 MiB: large enough for the full rate, small enough for 8 MB of locked memory.
 * perftest means 10^9 bits by Gb, libfabric and cxi 10^6 bytes by MB, UCX 2^20 bytes. With write
 * both ends of fi_rma_bw would write at once; with writedata the client alone does, which
 * Slingshot's provider of libfabric lacks. The options are documented in
 *
 *     ib_*          perftest(1) of github.com/linux-rdma/perftest, man/perftest.1; 6.06 was tried
 *     cxi_write_bw  cxi_write_bw(1) 2.4 of the CXI Diagnostics and Utilities
 *     ucx_perftest  ucx_perftest -h, and openucx.readthedocs.io for UCX_TLS and UCX_NET_DEVICES
 *     fi_rma_bw     fabtests(7) of github.com/ofiwg/libfabric, fabtests/man/fabtests.7.md */
#define BLANK "[[:blank:]]"
#define NUMBER BLANK "+[0-9.]+"
#define THIS "(" NUMBER ")"
#define LINE "^" BLANK "*[0-9]+" NUMBER
#define END BLANK "*$"
#define SIZE BLANK "+[0-9]+[kmg]?"
#define VERBS "infiniband|roce|omnipath|other"
#define IB_BW \
    " -d {nic} -i {ibport} -p {port} -F -s 1048576 -n 1000 --report_gbits --use_cuda={gpu} {host}"
#define CUDA "CUDA_DEVICE_ORDER=PCI_BUS_ID"

/* The end that each quantity is about: the card writes to the one that receives, and reads from
 * the one that sends; a latency is about the client, whose cores start the messages. */
enum { NONE = -1, SERVER, CLIENT };
#define PUSH \
    { \
        SERVER, CLIENT, NONE \
    }
#define PULL \
    { \
        CLIENT, SERVER, NONE \
    }
#define TIME \
    { \
        NONE, NONE, CLIENT \
    }

static const struct benchmark {
    const char *command, *variables; /* with {...} for values */
    const char *number;              /* a regular expression; its last group is the number */
    double factor;                   /* what a unit of it is in MB/s, or nanoseconds */
    int ends[3];                     /* for writes, reads, latency */
    const char *kinds;               /* of NICs, with | between */
} benchmarks[] = {
    { "ib_write_bw" IB_BW, CUDA, LINE NUMBER THIS NUMBER END, 125, PUSH, VERBS },
    { "ib_read_bw" IB_BW, CUDA, LINE NUMBER THIS NUMBER END, 125, PULL, VERBS },
    { "cxi_write_bw -d {cxi} -p {port} -s 1048576 -n 100 {host}", "", LINE THIS NUMBER END, 1, PUSH,
      "slingshot" },
    { "ucx_perftest -t ucp_put_bw -s 1048576 -n 1000 -w 100 -f -p {port} {host}",
      "UCX_NET_DEVICES={nic}:{ibport} UCX_TLS=ib",
      "^" BLANK "*[0-9]+" NUMBER NUMBER NUMBER NUMBER THIS NUMBER NUMBER END, 1.048576, PUSH,
      VERBS },
    { "fi_rma_bw -p {provider} -d {domain} -o writedata -S 1048576 -I 1000 -b={port} {host}", "",
      "^[0-9]+[kmg]?" SIZE SIZE NUMBER "s" THIS, 1, PUSH, VERBS "|efa" },
    { "ib_write_lat -d {nic} -i {ibport} -p {port} -F -s 8 -n 2000 {host}", "",
      LINE NUMBER NUMBER THIS NUMBER, 1000, TIME, VERBS },
};
enum { BENCHMARKS = sizeof(benchmarks) / sizeof(*benchmarks) };

static bool is_named(const struct benchmark *b, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(b->command, name, length) && b->command[length] == ' ';
}

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

/* Checks --tool: the name of a benchmark, or a whole command. */
static int read_tool(struct probe_nic_options *o)
{
    if (!o->tool)
        return o->number ? tool_usage("probe", "--number requires --tool 'COMMAND'") : 0;
    for (size_t i = 0; i < BENCHMARKS; i++)
        if (is_named(&benchmarks[i], o->tool))
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

/* What takes the place of words in braces. */
static json_t *values_of(const struct nuioa_nic *nic)
{
    static const char *const providers[NUIOA_NIC_KINDS] = { /* of libfabric; else verbs */
                                                            [NUIOA_NIC_EFA] = "efa",
                                                            [NUIOA_NIC_SLINGSHOT] = "cxi",
                                                            [NUIOA_NIC_OMNIPATH] = "opx"
    };
    const char *cxi = *nic->cxi ? nic->cxi : nic->name, *provider = providers[nic->kind];
    char domain[sizeof(nic->name) + sizeof("-rdm")], port[12];
    snprintf(domain, sizeof(domain), "%s%s", nic->kind == NUIOA_NIC_SLINGSHOT ? cxi : nic->name,
             nic->kind == NUIOA_NIC_EFA ? "-rdm" : "");
    snprintf(port, sizeof(port), "%u", nic->port ? nic->port : 1);
    return json_pack("{so so so ss ss}", "nic", tool_json_text(nic->name), "cxi",
                     tool_json_text(cxi), "domain", tool_json_text(domain), "ibport", port,
                     "provider", provider ? provider : "verbs");
}

/* "numas": OS indexes of those beside it. */
static json_t *nic_object(const struct nuioa_node *node, uint32_t at)
{
    const struct nuioa_nic *nic = &node->nics[at];
    return json_pack("{si ss so so}", "at", (int)at, "kind", nuioa_nic_kind_name(nic->kind),
                     "numas", tool_json_set(nic->numas), "values", values_of(nic));
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

/* "groups": of --number, whose last one is the number. */
static json_t *benchmark_object(const struct benchmark *b, uint32_t groups)
{
    return json_pack("{ss ss ss sf s[iii] ss si}", "command", b->command, "variables", b->variables,
                     "number", b->number, "factor", b->factor, "ends", b->ends[0], b->ends[1],
                     b->ends[2], "kinds", b->kinds, "groups", (int)groups);
}

/* The benchmark of --tool, or all. That of --number is told beside it, as it need not be UTF-8. */
static json_t *benchmarks_of(const struct probe_nic_options *o)
{
    static const struct benchmark any = { "", "", "", 1, PUSH, "" };
    json_t *array = json_array();
    if (o->number)
        return tool_json_add(array, benchmark_object(&any, o->groups));
    for (const struct benchmark *b = benchmarks; b < benchmarks + BENCHMARKS; b++)
        if (!o->tool || is_named(b, o->tool))
            array = tool_json_add(array, benchmark_object(b, 1));
    return array;
}

/* Returns what the script reads, which the caller frees; NULL: out of memory. "numas": the usable
 * ones. */
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
    json_t *task = json_pack("{si si so so so so}", "rounds", (int)p->nic.rounds, "limit_s",
                             (int)p->nic.limit_s, "benchmarks", benchmarks_of(&p->nic), "numas",
                             numas, "nics", nics, "gpus", gpus);
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

/* Returns how many processors are busy now, over a fifth of a second; -1 if unknown. */
static double busy_cpus(void)
{
    enum { TICKS = 8, IDLE = 3, IOWAIT = 4 }; /* of /proc/stat, proc(5) */
    double then[TICKS] = { 0 }, now[TICKS], busy = 0, all = 0;
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen("/proc/stat", "re");
        int got = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &now[0], &now[1],
                                &now[2], &now[3], &now[4], &now[5], &now[6], &now[7])
                       : 0;
        if (file)
            fclose(file);
        if (got != TICKS)
            return -1;
        if (i == 0) {
            memcpy(then, now, sizeof(then));
            usleep(200000);
        }
    }
    for (int k = 0; k < TICKS; k++) {
        all += now[k] - then[k];
        busy += k == IDLE || k == IOWAIT ? 0 : now[k] - then[k];
    }
    return (double)sysconf(_SC_NPROCESSORS_ONLN) * busy / fmax(1, all);
}

/* Has the script measure, and tells what it has found. Returns the exit status. */
static int measure(struct probe *p, const bool *taken)
{
    const char *words[] = { "probe", p->nic.tool ? p->nic.tool : "",
                            p->nic.number ? p->nic.number : "" };
    char *task = describe(p, taken), *printed = NULL;
    size_t length = 0;
    p->nic.busy[0] = busy_cpus();
    int rc = task ? tool_python_run("probe-nic.py", 3, (char **)words, task, &printed, &length)
                  : tool_fail("out of memory");
    p->nic.busy[1] = rc ? -1 : busy_cpus();
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
