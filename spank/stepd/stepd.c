/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/stepd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "option/option_environment.h"
#include "spank/common/log.h"
#include "spank/common/option_sources.h"
#include "spank/stepd/launch.h"
#include "spank/stepd/flows.h"
#include "spank/stepd/publisher.h"
#include "spank/stepd/rank_settings.h"
#include "spank/stepd/report_stepd.h"
#include "spank/stepd/task_gpus.h"
#include "topology/cache.h"
#include "topology/nic_role.h"
#include "topology/nic_subnet.h"
#include "util/clock.h"
#include "util/variable.h"

/* Gives up the placement of this step on this node. */
static void deactivate(struct step_run *c, const char *why)
{
    nuioa_warn(&c->faults, "%s", why);
    c->active = false;
}

/* --- init_post_opt: before PMIx, before the job's stderr is connected ------------------------- */

static void read_options(struct step_facts *f, const struct option_sources *sources)
{
    struct option_warnings warnings;
    option_sources_read(sources, &f->options, &warnings);
    /* They go to slurmd.log only, because srun has printed those that concern the user. */
    for (unsigned i = 0; i < warnings.plugstack.count; i++)
        slurm_error("nuioa: %s", warnings.plugstack.text[i]);
    for (unsigned i = 0; i < warnings.user.count; i++)
        slurm_verbose("nuioa: %s", warnings.user.text[i]);
}

static void read_hints(struct step_facts *f, struct nuioa_warnings *faults, spank_t spank)
{
    struct nuioa_error err;
    const char *value = f->options.hints;
    if (nuioa_hints_file(value)) {
        value = nuioa_variable(step_environment(spank), NUIOA_VARIABLE_HINTS_LIST);
        if (!value)
            nuioa_warn(faults,
                       "no hints: srun's host has no nuioa plugin to read %.120s; install it there",
                       f->options.hints);
    }
    if (value && *value && nuioa_hints_parse(&f->hints, value, &err) < 0)
        nuioa_warn(faults, "hints: %s", err.text);
}

/* root parses this file, so only root may be able to write it. */
static int check_topology(const char *path, struct nuioa_error *err)
{
    struct stat info;
    if (!*path)
        return 0;
    if (*path != '/')
        return nuioa_fail(err, -EINVAL, "topology=%.150s: the path must begin with /", path);
    if (stat(path, &info) < 0)
        return nuioa_fail(err, -errno, "topology=%s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return nuioa_fail(err, -EINVAL, "topology=%.150s: it is not a regular file", path);
    if ((info.st_uid != 0 && info.st_uid != geteuid()) || (info.st_mode & (S_IWGRP | S_IWOTH)))
        return nuioa_fail(
            err, -EPERM,
            "topology=%.120s: others than root can write it; use chown root and chmod go-w", path);
    return 0;
}

/* A file of the administrator's that is refused is told to the users who asked for nuioa. */
static int read_node(struct step_facts *f, struct nuioa_warnings *faults, struct nuioa_error *err)
{
    const struct nuioa_options *o = &f->options;
    bool asked = o->asked || o->report || o->explain;
    struct nuioa_source source = { *o->topology ? o->topology : NULL,
                                   *o->distances ? o->distances : NULL };
    int rc = check_topology(o->topology, err);
    if (!rc)
        rc = nuioa_cache_get(*o->cache ? o->cache : NULL, &source, o->deadline_ms, &f->node, err);
    if (rc < 0)
        return rc;
    if (*o->nic_role)
        nuioa_nic_roles_set(&f->node, o->nic_role);
    if (o->export_set & (NUIOA_EXPORT_LIBRARIES | NUIOA_EXPORT_AUTO))
        nuioa_nic_subnets_read(&f->node);
    for (unsigned i = 0; i < f->node.warnings.count; i++)
        if (asked && f->node.refusals & 1u << i)
            nuioa_warn(faults, "%s", f->node.warnings.text[i]);
        else if (f->node.refusals & 1u << i)
            slurm_info("nuioa: %s", f->node.warnings.text[i]);
        else
            slurm_verbose("nuioa: %s", f->node.warnings.text[i]);
    if (f->node.emulated) /* the file may name the machine where it was made */
        log_host(f->node.host, sizeof(f->node.host));
    return 0;
}

static void prepare_step(struct step_run *c, struct step_facts *f, spank_t spank)
{
    struct nuioa_error err;
    if (step_read(spank, &f->step, &err) < 0 || read_node(f, &c->faults, &err) < 0) {
        deactivate(c, err.text);
        return;
    }
    read_hints(f, &c->faults, spank);
    c->forked.pids = calloc(f->step.task_count, sizeof(*c->forked.pids));
    c->task_memory = task_memory_new(f->step.task_count);
    if (!c->forked.pids || !c->task_memory || task_gpus_prepare(c) < 0) {
        deactivate(c, "out of memory");
        return;
    }
    c->active = true;
    publisher_prepare(c, spank);
}

static void begin_step(struct step_run *c, struct step_facts *f, spank_t spank, int argc,
                       char **argv)
{
    const struct option_sources sources = { argc, argv, step_environment(spank), c->flags };
    f->pid = getpid();
    read_options(f, &sources);
    if (nuioa_options_idle(&f->options))
        return;
    if (f->options.mode != NUIOA_OFF)
        rank_settings_unset_outer(spank);
    if (!step_is_launcher(spank)) {
        prepare_step(c, f, spank);
        flows_begin(c, spank);
        report_stepd_begin(c, spank);
    }
}

/* Removes what srun has set for the nodes, so that the user's program never sees it. */
static void unset_private(spank_t spank)
{
    static const char *const names[] = {
        NUIOA_VARIABLE_HINTS_LIST, NUIOA_VARIABLE_HINTS_PATH, NUIOA_VARIABLE_OVERLAP,
        NUIOA_VARIABLE_OUTER,      NUIOA_VARIABLE_SWITCH,     NUIOA_VARIABLE_COLLECTOR,
        NUIOA_VARIABLE_FORMER,
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (nuioa_variable(step_environment(spank), names[i]))
            spank_unsetenv(spank, names[i]);
}

void stepd_init_post_opt(struct step_run *c, struct step_facts *f, spank_t spank, int argc,
                         char **argv)
{
    uint64_t since_us = nuioa_cpu_us();
    c->facts = f;
    rank_settings_unset_exported(spank);
    if (step_is_ordinary(spank))
        begin_step(c, f, spank, argc, argv);
    unset_private(spank);
    c->times.cpu_us = nuioa_cpu_us() - since_us;
}

/* --- user_init: the job's stderr is connected ------------------------------------------------- */

/* As much as possible is done before the tasks are forked, because the kernel copies each page that
 * is written after that (copy-on-write). With a plan, faults are printed after it; without one they
 * are printed here. */
void stepd_user_init(struct step_run *c, spank_t spank)
{
    if (c->active) {
        uint64_t since_us = nuioa_cpu_us();
        publisher_open(c, spank);
        c->times.cpu_us += nuioa_cpu_us() - since_us;
        return;
    }
    report_stepd_tell(c, NULL);
}

/* --- task_post_fork: all tasks exist, none runs ----------------------------------------------- */

void stepd_task_post_fork(struct step_run *c, spank_t spank)
{
    int local = -1;
    pid_t pid = 0;
    if (!c->active || spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_TASK_PID, &pid) != ESPANK_SUCCESS || local < 0 ||
        (uint32_t)local >= c->facts->step.task_count || pid <= 0 || c->forked.pids[local])
        return;
    c->forked.pids[local] = pid;
    if (++c->forked.count < c->facts->step.task_count)
        return;
    launch_begin(c);
}

void stepd_task_exit(struct step_run *c)
{
    report_stepd_task_exit(c);
}

void stepd_exit(struct step_run *c, struct step_facts *f)
{
    uint32_t task_us = 0;
    launch_end(c);
    for (uint32_t i = 0; c->task_memory && i < c->facts->step.task_count; i++)
        if (c->task_memory->tasks[i].init_us > task_us)
            task_us = c->task_memory->tasks[i].init_us;
    if (!nuioa_options_idle(&c->facts->options))
        slurm_debug("nuioa: timing init_post_opt=%uus task_post_fork=%uus last_task_post_fork=%uus "
                    "task_init=%uus (longest)",
                    c->times.init_us, c->times.fork_us, c->times.last_fork_us, task_us);
    task_memory_free(c->task_memory, c->facts->step.task_count);
    free(c->forked.pids);
    c->task_memory = NULL;
    c->forked.pids = NULL;
    c->active = false;
    task_gpus_free(c);
    publisher_close(c);
    flows_end(c);
    report_stepd_end(c);
    step_free(&f->step);
    nuioa_hints_free(&f->hints);
    nuioa_node_free(&f->node);
}
