/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "output/exported.h"
#include "output/report.h"
#include "output/report_table.h"
#include "tools/exec/bind_and_exec.h"
#include "tools/exports.h"
#include "tools/json.h"
#include "tools/tool.h"
#include "util/variable.h"

static const char usage[] =
    "usage: nuioa exec [OPTION]... -- PROGRAM [ARGUMENT]...\n"
    "       nuioa exec --print [--json] [--topology FILE.xml|DIR] [OPTION]...\n"
    "\n"
    "Starts a program where its rank belongs, as srun --nuioa does, but without the plugin and\n"
    "with any launcher: srun --cpu-bind=none nuioa exec -- ./app, or\n"
    "mpirun --bind-to none nuioa exec -- ./app. What the launcher has bound stays where it is. It\n"
    "is the same process, with its CPUs, memory policy and environment set; whatever fails, the\n"
    "program runs. Variables SLURM_NUIOA and SLURM_NUIOA_NAME count as for srun: with\n"
    "SLURM_NUIOA=off it only runs the program.\n"
    "\n"
    "  --launcher NAME      openmpi, hydra, mvapich, pals, torchrun, deepspeed, flux, jsm,\n"
    "                       slurm or pmix: whose variables tell the local rank; default: those\n"
    "                       that are there\n"
    "  --local-rank R       this process among those on its node, from 0, instead of a launcher's\n"
    "  --local-size N       how many there are\n"
    "  --ranks LIST|block   which ranks of the job they are: such as 4-7; block: consecutive ones\n"
    "  --cpus-per-task C    as for srun\n"
    "  --explain            as --nuioa=explain: local rank 0 says where all are, and why\n"
    "  --print              show what would be done for this process, and do nothing\n"
    "  --json               with --print: for programs, an entry of tasks in nuioa plan --json\n"
    "\n";

/* The command line. */
struct job {
    bool explain, print, json;
    char **program; /* with its arguments; NULL: none */
    struct launcher_request request;
    struct nuioa_warnings environment; /* wrong options in it */
    struct exec_input input;
    struct exec_plan exec; /* empty: there is nothing to do */
};

/* --- the command line ------------------------------------------------------------------------- */

static int set_option(struct tool_args *args, void *context)
{
    struct job *job = context;
    return tool_set_option(args, &job->input.options);
}

/* Cuts the command line at "--" into options and program. */
static int split(struct job *job, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--")) {
            job->program = argv[i + 1] && *argv[i + 1] ? argv + i + 1 : NULL;
            return i;
        }
    return argc;
}

static int read_arguments(struct job *job, int argc, char **argv)
{
    struct nuioa_options *o = &job->input.options;
    struct launcher_request *request = &job->request;
    struct tool_option options[] = {
        { "launcher", .text = &request->launcher },
        { "local-rank", .number = &request->local_rank, .max = LAUNCHER_TASKS_MAX - 1 },
        { "local-size", .number = &request->local_size, .min = 1, .max = LAUNCHER_TASKS_MAX },
        { "ranks", .text = &request->ranks },
        { "cpus-per-task", .number = &job->input.cpus_per_task, .min = 1, .max = UINT16_MAX },
        { "explain", .flag = &job->explain },
        { "print", .flag = &job->print },
        { "json", .flag = &job->json, .needs = "print" },
        { "help", .flag = &o->help },
        { .name = NULL },
    };
    nuioa_options_init(o);
    o->mode = NUIOA_ON; /* the default is off, but here it was asked for */
    o->asked = true;
    nuioa_options_from_environment(o, environ, &job->environment);
    o->help = false; /* the program runs */
    int rc = tool_args_read(split(job, argc, argv), argv, options, set_option, job);
    if (rc || o->help)
        return rc;
    nuioa_options_finish(o);
    o->explain = o->explain || job->explain;
    if (!job->print && !job->program)
        return tool_usage("exec", "a program is missing: nuioa exec [OPTION]... -- PROGRAM");
    if (*o->topology && !job->print)
        return tool_usage("exec", "--topology requires --print: it describes another machine");
    return 0;
}

/* --- where this process belongs --------------------------------------------------------------- */

/* Finds who this process is, and makes the plan. Returns 0, or an exit status after a message. */
static int make_plan(struct job *job)
{
    struct exec_input *in = &job->input;
    struct nuioa_error err = { "" };
    int rc = exec_input_read_process(in, &job->request, &err);
    if (rc == -EINVAL)
        return tool_usage("exec", "%s", err.text);
    if (rc == -ENOENT && !job->print && !in->place.speaks)
        return TOOL_UNANSWERED; /* another process of this node says it */
    if (rc)
        return tool_fail("%s%s", err.text, job->print ? "" : " (the program runs as it is)");
    if (in->placed && !job->print && nuioa_gpus_given(environ) == NUIOA_GPUS_NONE)
        return 0;
    rc = exec_input_read_node(in);
    return rc ? rc : exec_plan_make(&job->exec, in);
}

/* --- what is said ----------------------------------------------------------------------------- */

static void print_list(FILE *out, const char *name, hwloc_const_bitmap_t set)
{
    char *list = NULL;
    if (hwloc_bitmap_list_asprintf(&list, set) >= 0)
        fprintf(out, "%s%s", name, list);
    free(list);
}

/* Prints one line: what this process alone gets. */
static void print_own(const struct exec_plan *e, FILE *out)
{
    const struct nuioa_assignment *own = &e->plan.assignments[e->input->place.local];
    const struct launcher_place *place = &e->input->place;
    char text[256];
    fprintf(out, "nuioa: %s: local rank %u of %u", e->node.host, place->local, place->count);
    if (place->launcher)
        fprintf(out, " (%s)", place->launcher->name);
    if (place->rank != UINT32_MAX)
        fprintf(out, ", rank %u", place->rank);
    print_list(out, ": CPUs ", own->cpus);
    if (!own->moved)
        fputs(" kept", out);
    if (own->gpu_count)
        fprintf(out, ", GPU %s", nuioa_gpus_text(own, &e->node, text, sizeof(text)) ? text : "..");
    if (own->gpu_level != NUIOA_NO_LEVEL)
        fprintf(out, ", to GPU %u", own->gpu_level);
    fprintf(out, ", memory %s", nuioa_memory_text(own, text, sizeof(text)));
    if (own->nic >= 0)
        fprintf(out, ", NIC %s", nuioa_report_nics(own, &e->node, text, sizeof(text)));
    if (own->level != NUIOA_NO_LEVEL)
        fprintf(out, ", level %u", own->level);
    fprintf(out, ": %s", e->plan.reason);
    if (e->plan.advice & 1u << NUIOA_ADVICE_NO_OWN_NIC)
        fprintf(out, "; %s", nuioa_advice_text(NUIOA_ADVICE_NO_OWN_NIC));
    fputc('\n', out);
}

/* Returns true if the plugin has preloaded the libraries of nuioa. */
static bool is_preloaded(void)
{
    const char *list = nuioa_variable(environ, "LD_PRELOAD");
    return list && strstr(list, "libnuioa-preload.so");
}

/* Local rank 0 speaks for all processes of the node. */
static void report(const struct job *job)
{
    const struct exec_input *in = &job->input;
    const struct exec_plan *e = &job->exec;
    const struct nuioa_options *o = &in->options;
    if (in->place.local > 0)
        return;
    if (*o->trace && !is_preloaded())
        fputs(
            "nuioa: warning: trace ignored: it requires the plugin. Use srun --nuioa-trace=FILE\n",
            stderr);
    if (!o->report && !o->explain) {
        tool_warn(&e->warnings);
        if (*o->distances)
            tool_warn(&e->node.warnings);
        return;
    }
    if (!in->placed && o->export_set & NUIOA_EXPORT_LIBRARIES && !exec_plan_filters(e))
        fprintf(stderr, "nuioa: export: no variable chooses NICs: %s\n",
                exec_plan_lacks_gpus(e)
                    ? "this process' GPUs are unknown"
                    : "the GPU of each rank is only assumed. Use --gpus=local-rank");
    if (in->placed && !e->plan.task_count) {
        fputs("nuioa: the plugin has placed this rank: nothing is left to do\n", stderr);
    } else if (e->stays) {
        print_own(e, stderr);
    } else {
        char *text = nuioa_report_text(&e->plan, &e->node, o, o->explain);
        fputs(text ? text : "nuioa: no report: out of memory\n", stderr);
        free(text);
    }
}

static int print(struct job *job)
{
    const struct exec_plan *e = &job->exec;
    if (!job->input.placed || e->retold)
        nuioa_exported_forget(); /* as a run does */
    const struct launcher_place *place = &job->input.place;
    const struct tool_json_known known = { place->rank != UINT32_MAX,
                                           e->plan.order_count || (place->ranks && !e->stays) };
    char *exports = exec_exports(e, job->program ? *job->program : NULL, true);
    int rc = TOOL_DONE;
    tool_warn(&e->warnings);
    if (job->json) {
        rc = tool_json_task(&e->plan, &e->node, place->local, exports, known);
    } else {
        print_own(e, stdout);
        tool_exports_print_one(exports, "", stdout);
    }
    free(exports);
    return rc;
}

/* --- the program ------------------------------------------------------------------------------ */

/* Takes the part of the plan that belongs to this process. Whatever fails, the program runs. */
static void take_part(struct job *job)
{
    struct exec_plan *e = &job->exec;
    bool on = job->input.options.mode != NUIOA_OFF;
    if (on && !job->input.placed) {
        exec_unset_outer();
        if (exec_bind(e) && exec_plan_undo(e))
            return;
    }
    if (on && (!job->input.placed || e->retold))
        exec_apply(e, *job->program);
    report(job);
}

static int run(struct job *job)
{
    bool off = nuioa_options_idle(&job->input.options) && !job->print;
    int rc = off ? 0 : make_plan(job);
    if (!off && !job->input.place.local)
        tool_warn(&job->environment);
    if (rc == TOOL_USAGE || (rc && job->print))
        return rc;
    if (job->print)
        return print(job);
    if (!rc && !off)
        take_part(job);
    else if (!off && !exec_input_is_told())
        nuioa_exported_forget(); /* NICs of an outer step may be wrong here */
    return exec_become(job->program);
}

int tool_exec(int argc, char **argv)
{
    struct job job = { .request = LAUNCHER_NOTHING_REQUESTED };
    int rc = read_arguments(&job, argc, argv);
    if (!rc)
        rc = job.input.options.help ? tool_print_options(usage) : run(&job);
    exec_plan_free(&job.exec);
    exec_input_free(&job.input);
    return rc;
}
