/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/hints_from_profile.h"
#include "spank/context.h"
#include "spank/log.h"
#include "spank/option_sources.h"
#include "spank/rendezvous.h"
#include "util/number.h"

/* As srun, sbatch and salloc do it for their own flags: SLURM_EXIT_ERROR is the user's choice of
 * status. */
static void refuse(const char *text)
{
    const char *status = getenv("SLURM_EXIT_ERROR");
    uint32_t code;
    log_line("%s", text);
    exit(status && !nuioa_parse_u32(status, 255, &code) && code ? (int)code : 1);
}

static void print_help(void)
{
    char *help = nuioa_options_help();
    if (help)
        fputs(help, stdout);
    free(help);
    exit(help ? 0 : 1);
}

/* Here, not in a hook: srun insists on a command before it calls one, so "srun --nuioa=help"
 * would not get there. And exit, as srun does when its own flags are wrong: an error that the
 * callback returns brings a second line of srun's that does not say what would be right; one
 * that a hook returns stops srun only if the plugin is "required". */
void srun_check_flag(int index, const char *value)
{
    struct nuioa_options options;
    struct nuioa_error err;
    const char *name = nuioa_option_table[index].name;
    nuioa_options_init(&options);
    if (nuioa_options_set(&options, NUIOA_FROM_COMMAND, name, value, &err) < 0)
        refuse(err.text);
    if (options.help)
        print_help();
}

static void say_all(const struct nuioa_warnings *warnings)
{
    for (unsigned i = 0; i < warnings->count; i++)
        log_line("%s", warnings->text[i]);
}

/* Of the flags only: a site's default policy need not be in use. */
static void say_idle_flags(const struct srun_context *context)
{
    char flag[64];
    if (context->options.mode != NUIOA_OFF || context->flags->typed[0])
        return;
    for (int i = 1; i < FLAGS_MAX && nuioa_option_table[i].name; i++) {
        /* A trace needs no placement. */
        if (!context->flags->typed[i] || !strcmp(nuioa_option_table[i].name, "trace"))
            continue;
        log_line(
            "%s has no effect without --nuioa",
            nuioa_option_spelling(&nuioa_option_table[i], NUIOA_FROM_COMMAND, flag, sizeof(flag)));
        return;
    }
}

/* Once, for the list and for the slices. The components of a heterogeneous job come one after the
 * other; slices are of the first one's file. */
static int read_profile(struct srun_context *context, const char *option, const char *path,
                        char *list, size_t size, struct nuioa_error *err)
{
    struct hinted *hinted = &context->hinted;
    struct nuioa_profile profile;
    struct nuioa_error why;
    int rc = nuioa_profile_read(path, &profile, err);
    if (rc < 0)
        return rc;
    rc = nuioa_hints_from_profile(&profile, context->options.policy, list, size, &why);
    if (rc < 0)
        nuioa_fail(err, rc, "%s: %s", path, why.text);
    if (!hinted->ranks) {
        hinted->ranks = profile.rank_count;
        hinted->at_least = profile.open_ended;
        snprintf(hinted->name, sizeof(hinted->name), "%s: %s", option, path);
    }
    if ((!rc || rc == -E2BIG) && !context->rendezvous && !context->profile.rank_count &&
        !nuioa_profile_index(&profile))
        context->profile = profile;
    else
        nuioa_profile_free(&profile);
    return rc;
}

static void resolve_hints(struct srun_context *context, const struct option_sources *sources)
{
    char list[NUIOA_VALUE_MAX + 1] = "", spelling[64];
    struct nuioa_error err;
    const char *path = nuioa_hints_file(context->options.hints);
    unsetenv(OPTION_SOURCES_HINTS_LIST); /* an outer srun's */
    if (!path)
        return;
    enum nuioa_option_source source = option_sources_of_hints(sources);
    nuioa_option_spelling(nuioa_option_find(source, "hints"), source, spelling, sizeof(spelling));
    int rc = read_profile(context, spelling, path, list, sizeof(list), &err);
    if (rc == -E2BIG && rendezvous_brings_hints(context))
        *list = '\0';
    else if (rc < 0) {
        struct nuioa_error text;
        nuioa_fail(&text, -EINVAL, "%s: %s", spelling, err.text);
        if (source == NUIOA_FROM_COMMAND)
            refuse(text.text);
        if (!context->spoken)
            log_line("%s", text.text);
    }
    setenv(OPTION_SOURCES_HINTS_LIST, list, 1);
}

/* Only now is it known how many there are, and something is allocated: too late to refuse. What the
 * file says of ranks that both have is still used. */
static void say_other_ranks(struct srun_context *context, spank_t spank)
{
    uint32_t tasks;
    struct hinted *h = &context->hinted;
    if (!h->ranks || spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &tasks) != ESPANK_SUCCESS)
        return;
    h->task_count += tasks;
    bool agree = h->task_count == h->ranks || (h->at_least && h->task_count > h->ranks);
    if (h->components > 0 && --h->components == 0 && !agree)
        log_line("%s is of %u ranks, but this step has %u", h->name, h->ranks, h->task_count);
}

void srun_init_post_opt(struct srun_context *context, int argc, char **argv)
{
    struct complaints complaints;
    struct option_sources sources = { argc, argv, environ, context->flags };
    context->hinted.components++;
    option_sources_read(&sources, &context->options, &complaints);
    if (!context->spoken) {
        say_all(&complaints.plugstack);
        say_all(&complaints.environment);
        say_all(&complaints.flags);
        say_idle_flags(context);
    }
    if (context->options.mode != NUIOA_OFF)
        resolve_hints(context, &sources);
    rendezvous_offer(context);
    if (!context->rendezvous)
        nuioa_profile_free(&context->profile);
    context->spoken = true;
}

void srun_user_init(struct srun_context *context, spank_t spank)
{
    say_other_ranks(context, spank);
    rendezvous_start(context, spank);
}

void srun_exit(struct srun_context *context)
{
    rendezvous_end_srun(context);
    nuioa_profile_free(&context->profile);
}
