/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/exported.h"
#include "tools/exports.h"
#include "tools/json.h"
#include "tools/commands.h"
#include "tools/plan_input.h"
#include "tools/tool.h"
#include "output/report.h"
#include "plan/plan.h"
#include "profile/hints.h"
#include "profile/profile.h"
#include "topology/cache.h"
#include "topology/nic_role.h"
#include "topology/nic_subnet.h"

static const char usage[] =
    "usage: nuioa plan --tasks N [OPTION]... [--json | --xml FILE | --format cpu-bind]\n"
    "\n"
    "nuioa plan prints where srun --nuioa would run the ranks of one node, which NIC each would\n"
    "use, and which rank would lead. It binds nothing.\n"
    "\n"
    "  -n, --tasks N               ranks on this node; not needed with --ranks, --binding, --gpus\n"
    "  --cpus-per-task C           as for srun (sbatch with --binding none); default 1\n"
    "  --topology FILE.xml|DIR     another machine: an hwloc XML file, or an extracted sysfs dump\n"
    "  --allowed CPULIST           CPUs the step may use, such as 0-7,16; default: all allowed\n"
    "  --binding FILE|none         where Slurm would put the ranks: one CPU list a line; none:\n"
    "                              all have all CPUs, as in a step wider than its ranks. Default:\n"
    "                              block distribution over the allowed cores, or over\n"
    "                              their CPUs if ranks are more than cores; none with\n"
    "                              --cores share and without --cpus-per-task\n"
    "  --ranks LIST                their ranks in the job, such as 4-7; default 0 to N-1\n"
    "  --gpus '0;1;2,3'            the GPUs of each rank, by their numbers in nuioa topo; empty:\n"
    "                              none; default: no rank has a GPU; a word: see gpus below.\n"
    "                              With --gpus local-rank the list is what each rank sees;\n"
    "                              default: all GPUs\n"
    "  --explain                   say for each rank why it is where it is, and what the cost is\n"
    "  --json                      print JSON, for programs\n"
    "  --xml FILE                  write the topology with ranks, leaders and NICs drawn into it,\n"
    "                              for lstopo -i FILE out.svg\n"
    "  --format cpu-bind           print masks for srun --cpu-bind=mask_cpu:...\n"
    "\n";

/* The command line and its files as they were read, kept until the plan is printed. */
struct job {
    const char *xml, *format;
    bool json, explain;
    struct nuioa_options options;
    struct nuioa_node node;
    struct plan_input input;
};

/* --gpus is the list of the ranks' GPUs, or, with a word, the option of that name. */
static int set_option(struct tool_args *args, void *context)
{
    struct job *job = context;
    if (!strcmp(args->name, "gpus")) {
        if (!args->value)
            args->value = tool_args_value(args);
        if (!args->value)
            return TOOL_USAGE;
        if (!islower((unsigned char)*args->value)) {
            job->input.gpus = args->value;
            return 0;
        }
    }
    return tool_set_option(args, &job->options);
}

static int read_arguments(struct job *job, int argc, char **argv)
{
    struct plan_input *in = &job->input;
    struct tool_option options[] = {
        { "tasks", .number = &in->task_count, .min = 1, .max = PLAN_TASKS_MAX },
        { "cpus-per-task", .number = &in->cpus_per_task, .min = 1, .max = UINT16_MAX },
        { "allowed", .text = &in->text.allowed },
        { "binding", .file = &in->binding },
        { "ranks", .text = &in->text.ranks },
        { "json", .flag = &job->json, .excludes = "xml format" },
        { "xml", .file = &job->xml, .excludes = "format" },
        { "format", .text = &job->format },
        { "help", .flag = &job->options.help },
        { "explain", .flag = &job->explain },
        { .name = NULL },
    };
    job->input.command = argv[0];
    nuioa_exported_forget();
    nuioa_options_init(&job->options);
    job->options.mode = NUIOA_ON; /* the default is off, but here a plan was asked for */
    job->options.asked = true;
    int rc = tool_args_read(argc, argv, options, set_option, job);
    if (rc || job->options.help)
        return rc;
    nuioa_options_finish(&job->options);
    if (job->format && strcmp(job->format, "cpu-bind"))
        return tool_usage(job->input.command,
                          "--format: '%s' is not cpu-bind; for mpirun use nuioa exec", job->format);
    return plan_input_read(&job->input);
}

static int load_node(struct job *job)
{
    const struct nuioa_options *o = &job->options;
    const struct nuioa_source source = { *o->topology ? o->topology : NULL,
                                         *o->distances ? o->distances : NULL };
    struct nuioa_error err = { "" };
    if (*o->cache ? nuioa_cache_read(o->cache, source.distances, &job->node, &err)
                  : nuioa_node_load(&job->node, &source, &err))
        return tool_fail("%s", err.text);
    if (*o->cache)
        nuioa_node_refresh(&job->node);
    const char *unused = source.distances ? nuioa_node_distances_unused(&job->node) : NULL;
    if (unused && job->node.refusals)
        return tool_fail("%s", unused);
    if (unused && !job->json && !job->xml && !job->format) /* they have all warnings */
        fprintf(stderr, "nuioa: warning: %s\n", unused);
    nuioa_nic_roles_set(&job->node, o->nic_role);
    if (o->export_set & (NUIOA_EXPORT_LIBRARIES | NUIOA_EXPORT_AUTO))
        nuioa_nic_subnets_read(&job->node);
    return 0;
}

static int print(const struct job *job, const struct nuioa_plan *plan)
{
    const struct nuioa_options *o = &job->options;
    if (job->json)
        return tool_json_plan(plan, &job->node, o);
    if (!job->xml && !job->format) {
        bool explain = o->explain || job->explain;
        int rc = tool_print(nuioa_report_text(plan, &job->node, o, explain));
        tool_exports_print(plan, &job->node, o, explain);
        return rc;
    }
    tool_warn(&plan->warnings);
    tool_warn(&job->node.warnings);
    if (!plan->moved)
        fprintf(stderr, "nuioa: no rank moves: %s\n", plan->reason);
    if (!job->xml)
        return tool_print(nuioa_report_cpu_bind(plan));
    const struct nuioa_source source = { *o->topology ? o->topology : NULL, NULL };
    struct nuioa_error err = { "" };
    if (nuioa_report_xml(plan, &job->node, &source, job->xml, &err))
        return tool_fail("%s", err.text);
    return TOOL_DONE;
}

static int answer(struct job *job)
{
    struct nuioa_warnings warnings = { 0 };
    struct nuioa_request request;
    struct nuioa_plan plan;
    struct nuioa_error err = { "" };
    int rc = load_node(job);
    if (!rc)
        rc = plan_input_request(&job->input, &job->node, &job->options, &request, &warnings);
    if (!rc)
        rc = plan_input_gpus(&job->input, &job->node, &job->options, &request);
    if (rc)
        return rc;
    if (nuioa_plan_make(&request, &plan, &err))
        return tool_fail("%s", err.text);
    for (unsigned i = 0; i < warnings.count; i++)
        nuioa_warn(&plan.warnings, "%s", warnings.text[i]);
    rc = print(job, &plan);
    nuioa_plan_free(&plan);
    return rc;
}

int tool_plan(int argc, char **argv)
{
    struct job job = { 0 };
    int rc = read_arguments(&job, argc, argv);
    if (!rc)
        rc = job.options.help ? tool_print_options(usage) : answer(&job);
    plan_input_free(&job.input);
    nuioa_node_free(&job.node);
    return rc;
}
