/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks the line of the plugin in plugstack.conf, and settings of Slurm that work against it. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "profile/hints.h"
#include "profile/profile_read.h"
#include "tools/doctor/ask.h"
#include "tools/doctor/checks.h"

#define PLUGIN "nuioa.so"

/* Returns true if the file's name is the plugin's but for two letters that stand together, or has
 * more beside "nuioa". */
static bool is_nearly_ours(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *own = PLUGIN;
    size_t length = strlen(name), wanted = strlen(own), start = 0, end = 0;
    while (name[start] && name[start] == own[start])
        start++;
    while (end < length - start && end < wanted - start &&
           name[length - 1 - end] == own[wanted - 1 - end])
        end++;
    return (length - start - end <= 2 && wanted - start - end <= 2) || strstr(name, "nuioa");
}

/* Reports that no line loads the plugin, or the line that was to and names a file that is not
 * there. */
static void report_absent(struct doctor *d)
{
    const struct doctor_plug *plug = d->slurm.plugs;
    char path[PATH_MAX];
    while (plug && (!is_nearly_ours(plug->path) || doctor_conf_spank(&d->slurm, plug->path, path)))
        plug = plug->next;
    if (plug)
        doctor_report(d, "plugin-missing", plug->path,
                      "%s names %s, which is not there; did you mean %s?", plug->where, plug->path,
                      PLUGIN);
    else if (d->slurm.stack_found)
        doctor_report(d, "plugin-absent", "", "%s has no line for %s.", d->slurm.stack, PLUGIN);
    else
        doctor_report(d, "plugin-absent", "", "%s, which would name %s, cannot be read.",
                      d->slurm.stack, PLUGIN);
}

/* On a machine that has nothing of Slurm's, only a slurm.conf that is named can be missing. */
static void report_unread(struct doctor *d)
{
    const char *said = getenv("SLURM_CONF");
    if (said && *said)
        doctor_report(d, "slurm-unread", "", "%s, which SLURM_CONF names, cannot be read.", said);
    else if (d->role != DOCTOR_OTHER)
        doctor_report(d, "slurm-unread", "", "No slurm.conf in the usual places.");
}

void doctor_check_plugin(struct doctor *d)
{
    const struct doctor_plug *first = NULL;
    char path[PATH_MAX];
    if (!*d->slurm.path) {
        report_unread(d);
        return;
    }
    for (const struct doctor_plug *plug = d->slurm.plugs; plug; plug = plug->next) {
        if (!plug->ours)
            continue;
        if (first)
            doctor_report(d, "plugin-twice", "", "%s loads the plugin, and %s loads it again.",
                          first->where, plug->where);
        else
            first = plug;
        if (!doctor_conf_spank(&d->slurm, plug->path, path))
            doctor_report(d, "plugin-missing", plug->path, "%s names %s, which is not %s.",
                          plug->where, plug->path,
                          *plug->path == '/' ? "there" : "in Slurm's plugin directory");
        if (plug->required)
            doctor_report(d, "plugin-required", "", "%s says \"required\".", plug->where);
    }
    if (d->slurm.faults.count)
        doctor_report(d, "plugstack-unread", "", "%s.", d->slurm.faults.text[0]);
    else if (!first)
        report_absent(d);
}

/* Reads the site's hints as srun does, as an ordinary user. */
static void read_hints(int fd, void *arg)
{
    const struct doctor *d = arg;
    char path[PATH_MAX + NUIOA_VALUE_MAX], list[NUIOA_VALUE_MAX + 1];
    struct nuioa_profile profile;
    struct nuioa_error err;
    if (d->live)
        doctor_become_nobody();
    snprintf(path, sizeof(path), "%s%s", d->root, nuioa_hints_file(d->options.hints));
    int rc = nuioa_profile_list(path, list, sizeof(list), &err);
    if (!rc)
        rc = nuioa_profile_read(path, &profile, &err);
    doctor_answer(fd, rc < 0 ? 'n' : 'y', rc < 0 ? err.text : "");
}

/* The first line of several counts. */
void doctor_check_arguments(struct doctor *d)
{
    const char *file = nuioa_hints_file(d->options.hints);
    char said[256];
    for (unsigned i = 0; i < d->complaints.count; i++)
        doctor_report(d, "plugin-argument", "", "%s: %s", d->where, d->complaints.text[i]);
    for (unsigned i = 0; i < d->retired.count; i++)
        doctor_report(d, "plugin-retired", "", "%s: %s", d->where, d->retired.text[i]);
    if (file && *file == '/' && doctor_ask(read_hints, d, said, sizeof(said)) == 'n')
        doctor_report(d, "plugin-argument", "", "%s: hints: %s", d->where, said);
    if (*d->options.topology)
        doctor_report(d, "plugin-emulates", "", "topology=%s", d->options.topology);
}

/* --- settings --------------------------------------------------------------------------------- */

static bool has_task_plugin(const struct doctor *d, const char *name)
{
    return doctor_list_has(doctor_conf_value(&d->slurm, "TaskPlugin"), "task/", name);
}

/* Ranks that a cgroup confines to their step share its CPUs, and can divide them. Where jobs have
 * whole nodes (select/linear), that they are not confined disturbs nobody. */
void doctor_check_task_plugin(struct doctor *d)
{
    const char *plugins = doctor_conf_value(&d->slurm, "TaskPlugin");
    const char *select = doctor_conf_value(&d->slurm, "SelectType");
    const char *constrain = doctor_conf_value(&d->slurm, "ConstrainCores");
    bool cgroup = has_task_plugin(d, "cgroup");
    bool constrained = cgroup && constrain && !strcasecmp(constrain, "yes");
    if (!*d->slurm.path)
        return;
    if (!has_task_plugin(d, "affinity") && !constrained)
        doctor_report(d, "task-plugin", "", "TaskPlugin=%s: nothing binds ranks to CPUs.",
                      plugins ? plugins : "task/none (the default)");
    if (constrained || (select && !strcasecmp(select, "select/linear")))
        return;
    if (!cgroup)
        doctor_report(d, "cores-unconstrained", "", "TaskPlugin has no task/cgroup.");
    else
        doctor_report(d, "cores-unconstrained", "", "cgroup.conf has ConstrainCores=%s.",
                      constrain ? constrain : "no (the default)");
}

/* Returns true if a list such as "node[1-4],login" may name this host. Only the part before a
 * bracket is compared, which is enough to exclude other kinds of nodes. */
static bool may_name(const char *list, const char *host)
{
    size_t length = strlen(host);
    while (*list) {
        size_t own = strcspn(list, ",["), rest = own;
        if (list[own] == '[')
            rest += strcspn(list + own, "]");
        rest += strcspn(list + rest, ",");
        if ((list[own] == '[' ? own <= length : own == length) && !strncmp(list, host, own))
            return true;
        list += rest;
        list += *list == ',';
    }
    return false;
}

/* Returns true if a line of slurm.conf says CpuBind=none, and may be about this node. */
static bool unbinds(const struct doctor *d, const struct doctor_entry *entry)
{
    return !strcasecmp(entry->key, "CpuBind") &&
           (!strcasecmp(entry->value, "none") || !strcasecmp(entry->value, "no")) &&
           (d->role != DOCTOR_COMPUTE || strcasecmp(entry->block, "NodeName") ||
            !strcasecmp(entry->name, "DEFAULT") || may_name(entry->name, d->host));
}

void doctor_check_cpu_bind(struct doctor *d)
{
    const char *param = doctor_conf_value(&d->slurm, "TaskPluginParam");
    /* For users who type --nuioa, ranks divide the CPUs that they share. */
    if (d->options.mode != NUIOA_ON || d->options.cores == NUIOA_CORES_SHARE)
        return;
    if (has_task_plugin(d, "cgroup") && !has_task_plugin(d, "affinity"))
        doctor_report(d, "cpu-bind-default", "TaskPlugin", "TaskPlugin=%s.",
                      doctor_conf_value(&d->slurm, "TaskPlugin"));
    if (doctor_list_has(param, "", "None"))
        doctor_report(d, "cpu-bind-default", "TaskPluginParam", "TaskPluginParam=%s.", param);
    for (const struct doctor_entry *entry = d->slurm.entries; entry; entry = entry->next)
        if (unbinds(d, entry))
            doctor_report(d, "cpu-bind-default", entry->name, "%s=%s has CpuBind=%s.", entry->block,
                          entry->name, entry->value);
}
