/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/srun.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "spank/common/log.h"
#include "spank/common/option_sources.h"
#include "spank/srun/hints_file.h"
#include "spank/srun/report_srun.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"
#include "util/number.h"

/* Ends srun, sbatch or salloc as they end for a wrong flag of their own: the user chooses the exit
 * status by SLURM_EXIT_ERROR. */
static void exit_with_error(const char *text)
{
    const char *status = getenv("SLURM_EXIT_ERROR");
    uint32_t code;
    log_line("%s", text);
    exit(status && !nuioa_parse_u32(status, 255, &code) && code ? (int)code : 1);
}

/* A flag is checked here and not in a hook, because srun calls hooks only when it has a command,
 * and "srun --nuioa=help" has none. It exits because the alternatives are worse: if this callback
 * returned an error, srun would print a second, misleading line; if a hook returned one, srun would
 * stop only where plugstack.conf says "required". */
bool srun_check_flag(int index, const char *value)
{
    struct nuioa_options options;
    struct nuioa_error err;
    nuioa_options_init(&options);
    int rc = nuioa_options_set(&options, NUIOA_FROM_COMMAND, flags_option(index), value, &err);
    if (rc == NUIOA_RETIRED)
        log_line("%s", err.text);
    if (rc < 0 && rc != -ENOMEM) /* want of memory is no fault of the user's */
        exit_with_error(err.text);
    if (options.help) {
        nuioa_options_help(stdout);
        exit(0);
    }
    return rc != NUIOA_RETIRED;
}

void srun_check_hints(struct flags *flags)
{
    struct nuioa_error err;
    if (hints_file_export(flags, &err) < 0)
        exit_with_error(err.text);
}

static void print_warnings(const struct nuioa_warnings *warnings)
{
    for (unsigned i = 0; i < warnings->count; i++)
        log_line("%s", warnings->text[i]);
}

/* Warns of flags that do nothing. Other option sources are not checked, because a site may set a
 * default policy that a job does not use. */
static void warn_idle_flags(const struct srun_context *context)
{
    char flag[64];
    if (context->options.mode != NUIOA_OFF || context->flags->typed[0] || context->flags->lost)
        return;
    for (int i = 1; *nuioa_option_table[i].name; i++) {
        /* A trace needs no placement. */
        if (!context->flags->typed[i] || !strcmp(nuioa_option_table[i].name, "trace"))
            continue;
        log_line(
            "%s has no effect without --nuioa",
            nuioa_option_spelling(&nuioa_option_table[i], NUIOA_FROM_COMMAND, flag, sizeof(flag)));
        return;
    }
}

/* Tells the nodes. NULL: there is nothing to tell. */
static void tell(const char *variable, const char *value)
{
    unsetenv(variable); /* it may be from an outer srun */
    if (value)
        setenv(variable, value, 1);
}

/* The ranks of a step inherit SLURM_CPU_BIND and SLURM_MEM_BIND with its binding, and an srun among
 * them takes it for its own. Somebody who sets the variable himself sets no _TYPE beside it. */
static bool is_of_outer_step(const char *variable, const char *type_variable, const char *flag)
{
    const char *binding = getenv(variable), *type = getenv(type_variable);
    return binding && type && *type && strstr(binding, type) && !slurm_compat_has_flag(flag);
}

/* Only the rank of a step of one, such as a shell, is taken to wait for this srun. A batch script
 * that was submitted in a rank inherits that rank's variables, too. */
static bool is_in_step(void)
{
    const char *step = getenv("SLURM_STEP_ID"), *where = getenv("ENVIRONMENT");
    const char *ranks = getenv("SLURM_STEP_NUM_TASKS");
    uint32_t id;
    return step && !nuioa_parse_u32(step, SLURM_MAX_NORMAL_STEP_ID, &id) && ranks &&
           !strcmp(ranks, "1") && !(where && !strcmp(where, "BATCH"));
}

/* Tells the nodes what is an outer step's. */
static void tell_outer(void)
{
    char list[16];
    bool cpu = is_of_outer_step("SLURM_CPU_BIND", "SLURM_CPU_BIND_TYPE", "cpu-bind");
    bool mem = is_of_outer_step("SLURM_MEM_BIND", "SLURM_MEM_BIND_TYPE", "mem-bind");
    snprintf(list, sizeof(list), "%s%s%s", is_in_step() ? "step," : "", cpu ? "cpu," : "",
             mem ? "mem" : "");
    tell(NUIOA_VARIABLE_OUTER, *list ? list : NULL);
}

static void compare_ranks(const struct hints_ranks *h)
{
    uint32_t rank, most = h->task_count;
    if (!h->ranks && nuioa_hints_beyond(&h->list, most, &rank))
        log_line("%s names rank %u, but the ranks of this step are 0 to %u", h->name, rank,
                 most - 1);
    else if (h->ranks && most != h->ranks && !(h->at_least && most > h->ranks))
        log_line("%s is for %u ranks, but this step has %u", h->name, h->ranks, most);
}

/* Warns if the hints are not for the ranks of this step. Their number is known only now, when
 * resources are allocated and it is too late to refuse the job; the hints for ranks that exist are
 * used. */
static void warn_rank_count(struct srun_context *context, spank_t spank)
{
    uint32_t tasks;
    struct hints_ranks *h = &context->hints_ranks;
    if ((!h->ranks && !h->list.count) ||
        spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS)
        return;
    h->task_count += tasks;
    if (++h->started == h->components && h->task_count)
        compare_ranks(h);
}

void srun_init_post_opt(struct srun_context *context, int argc, char **argv)
{
    struct option_warnings warnings;
    struct nuioa_error err;
    /* It may move `environ`. */
    tell(NUIOA_VARIABLE_SWITCH, context->flags->merged ? context->flags->typed[0] : NULL);
    struct option_sources sources = { argc, argv, environ, context->flags };
    context->hints_ranks.components++;
    option_sources_read(&sources, &context->options, &warnings);
    if (!context->warned) {
        print_warnings(&warnings.plugstack);
        print_warnings(&warnings.user);
        if (context->flags->lost)
            log_line("out of memory: srun takes no part, so each node reports by itself");
        warn_idle_flags(context);
    }
    if (context->flags->lost) {
        context->options.mode = NUIOA_OFF;
        context->options.report = false;
    }
    if (!nuioa_options_idle(&context->options)) {
        if (hints_file_send(context, &sources, &err) < 0)
            exit_with_error(err.text);
        tell(NUIOA_VARIABLE_OVERLAP, slurm_compat_has_flag("overlap") ? "1" : NULL);
        tell_outer();
    }
    report_srun_prepare(context);
    context->warned = true;
}

/* Not for a plain SLURM_NUIOA=on: each mpirun of a job would say it. */
static void warn_launcher(const struct srun_context *context, spank_t spank)
{
    const struct nuioa_options *o = &context->options;
    bool reports = o->report || o->explain;
    if (context->hints_ranks.components == 1 && (context->flags->typed[0] || reports) &&
        !nuioa_options_idle(o) && step_is_launcher(spank))
        log_line(
            "%s: this step runs a launcher. Put nuioa exec before the program to place its ranks%s",
            reports ? "no report" : "no rank is placed", reports ? ", and to report" : "");
}

/* "srun --nuioa on ./app" runs a program "on". One that is there has become its path by now. */
static void warn_value(const struct srun_context *context, spank_t spank)
{
    struct nuioa_options unused;
    struct nuioa_error err;
    const char *program = step_program(spank);
    nuioa_options_init(&unused);
    if (context->flags->typed[0] && program &&
        !nuioa_options_set(&unused, NUIOA_FROM_COMMAND, flags_option(0), program, &err))
        log_line("'%s' is not a program: write --nuioa=%s", program, program);
}

void srun_user_init(struct srun_context *context, spank_t spank)
{
    bool alone = context->hints_ranks.components == 1;
    warn_value(context, spank);
    warn_launcher(context, spank);
    warn_rank_count(context, spank);
    if (alone || *context->options.trace == '/') /* each component may have its own --chdir */
        trace_file_before(&context->trace, context->options.trace, spank);
    report_srun_start(context, spank);
}

void srun_exit(struct srun_context *context)
{
    report_srun_end(context);
    trace_file_after(&context->trace);
    nuioa_hints_free(&context->hints_ranks.list);
}
