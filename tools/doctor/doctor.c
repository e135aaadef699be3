/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/doctor/checks.h"
#include "tools/tool.h"
#include "topology/nic_role.h"
#include "topology/cache.h"
#include "util/sysfs.h"

static const char usage[] =
    "usage: nuioa doctor [--json | --brief] [--ignore LIST] [--this-node] [--as compute|login]\n"
    "                    [--root DIR]\n"
    "\n"
    "nuioa doctor finds what on this node keeps ranks from their NIC. It looks at the plugin and\n"
    "its line in plugstack.conf, Slurm's settings, MUNGE, PMIx, NICs and distances between NUMA\n"
    "nodes. Each finding says what is wrong, why it matters, and what to do. Nothing is changed.\n"
    "\n"
    "  --json         print JSON, for programs\n"
    "  --brief        print one line, for monitoring\n"
    "  --ignore LIST  leave out findings that are known: port-down:eth1,pmix-plugin\n"
    "  --this-node    leave out what may be so on other nodes: Slurm's files, what is installed\n"
    "  --as ROLE      check as on a compute node or a login node; default: what this node is\n"
    "  --root DIR     look at files of another node (its sys, proc, etc), not at this one\n"
    "\n"
    "Exit status: 0 nothing found, 1 findings, 2 wrong usage or no result. nuioa-doctor(1) lists\n"
    "what can be found.\n";

static const struct check {
    unsigned roles;
    bool needs_node;
    void (*run)(struct doctor *d);
} checks[] = {
    { DOCTOR_ANY, false, doctor_check_plugin },
    { DOCTOR_SLURM, false, doctor_check_loading },
    { DOCTOR_SLURM, false, doctor_check_arguments },
    { DOCTOR_SLURM, false, doctor_check_task_plugin },
    { DOCTOR_SLURM, false, doctor_check_cpu_bind },
    { DOCTOR_SLURM, false, doctor_check_munge },
    { DOCTOR_COMPUTE, false, doctor_check_pmix },
    { DOCTOR_COMPUTE, false, doctor_check_cache },
    { DOCTOR_COMPUTE, false, doctor_check_distances },
    { DOCTOR_HARDWARE, false, doctor_check_discovery },
    { DOCTOR_COMPUTE, true, doctor_check_missing },
    { DOCTOR_HARDWARE, true, doctor_check_locality },
    { DOCTOR_HARDWARE, true, doctor_check_roles },
    { DOCTOR_COMPUTE, true, doctor_check_exports },
    { DOCTOR_HARDWARE, true, doctor_check_ports },
    { DOCTOR_HARDWARE, true, doctor_check_rates },
    { DOCTOR_HARDWARE, true, doctor_check_slit },
    { DOCTOR_HARDWARE, true, doctor_check_measured },
};

/* --- what the checks look at ------------------------------------------------------------------ */

static bool runs_slurmd(const struct doctor *d)
{
    DIR *processes = nuioa_sysfs_list(d->top, "proc");
    struct dirent *entry;
    bool found = false;
    while (processes && !found && (entry = readdir(processes))) {
        char name[32];
        found =
            isdigit((unsigned char)*entry->d_name) &&
            nuioa_sysfs_text(d->top, name, sizeof(name), "proc/%.20s/comm", entry->d_name) > 0 &&
            !strcmp(name, "slurmd");
    }
    if (processes)
        closedir(processes);
    return found;
}

static void read_name(struct doctor *d)
{
    if (d->live)
        gethostname(d->host, sizeof(d->host) - 1);
    else
        nuioa_sysfs_text(d->top, d->host, sizeof(d->host), "proc/sys/kernel/hostname");
    d->host[strcspn(d->host, ".")] = '\0';
    nuioa_make_printable(d->host);
}

/* Reads the arguments as the plugin does. If it has several lines, the first one counts. */
static void read_options(struct doctor *d)
{
    const struct doctor_plug *plug = d->slurm.plugs;
    while (plug && !plug->ours)
        plug = plug->next;
    nuioa_options_init(&d->options);
    if (plug) {
        nuioa_options_set_line(&d->options, plug->argc, plug->argv, &d->complaints, &d->retired);
        d->where = plug->where;
    }
    d->exports = !d->options.export_given || d->options.export_set & NUIOA_EXPORT_AUTO;
    nuioa_options_finish(&d->options);
}

/* hwloc would describe another machine, and the cache would seem to be one of other devices. */
static void leave_emulation(struct doctor *d)
{
    static const char *const names[] = { "HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT" };
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *value = getenv(names[i]);
        if (value && *value && d->live)
            doctor_report(d, "hwloc-emulates", names[i],
                          "%s=%s in the environment makes hwloc describe another machine.",
                          names[i], value);
        unsetenv(names[i]);
    }
}

/* The deadline for hwloc, which may take seconds, or hang. It is longer than that of a launch,
 * because being slow is no fault on a node whose CPUs are all busy. */
#define DISCOVERY_MS 10000

static void look_at_hardware(struct doctor *d)
{
    char distances[8192];
    struct nuioa_source source = { d->live ? NULL : d->root, NULL };
    snprintf(distances, sizeof(distances), "%s%s", d->root, d->options.distances);
    if (*d->options.distances && !access(distances, R_OK))
        source.distances = distances;
    d->node_known = !nuioa_cache_discover(&source, DISCOVERY_MS, &d->node, &d->node_error);
    nuioa_nic_roles_set(&d->node, d->options.nic_role);
}

static void examine(struct doctor *d)
{
    doctor_conf_read(&d->slurm, d->top, d->root);
    if (!d->role)
        d->role = runs_slurmd(d) ? DOCTOR_COMPUTE : *d->slurm.path ? DOCTOR_LOGIN : DOCTOR_OTHER;
    read_name(d);
    read_options(d);
    leave_emulation(d);
    look_at_hardware(d);
    for (unsigned i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        if (!(checks[i].roles & d->role) || (checks[i].needs_node && !d->node_known))
            continue;
        checks[i].run(d);
        d->check_count++;
    }
}

static int status_of(const struct doctor *d)
{
    for (unsigned i = 0; i < d->count; i++)
        if (d->findings[i].kind->severity != DOCTOR_UNKNOWN)
            return TOOL_UNANSWERED;
    return TOOL_DONE;
}

static int diagnose(struct doctor *d, const char *root,
                    int (*print)(const struct doctor *d, int status))
{
    char real[PATH_MAX] = "";
    d->top =
        realpath(root ? root : "/", real) ? open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (d->top < 0) {
        tool_fail("%s: %s", root ? root : "/", strerror(errno));
        return TOOL_USAGE;
    }
    d->live = !strcmp(real, "/");
    d->root = d->live ? "" : real;
    examine(d);
    int status = print(d, status_of(d));
    nuioa_arena_free(&d->arena);
    nuioa_node_free(&d->node);
    nuioa_arena_free(&d->slurm.arena);
    close(d->top);
    return status;
}

/* --- the command line ------------------------------------------------------------------------- */

static int check_ignore(const char *command, const char *list)
{
    while (*list) {
        char id[64];
        size_t length = strcspn(list, ",");
        snprintf(id, sizeof(id), "%.*s", (int)strcspn(list, ":,"), list);
        if (doctor_kind_is_retired(id))
            fprintf(stderr, "nuioa: warning: --ignore: %s is no longer a finding: leave it out\n",
                    id);
        else if (!doctor_kind_find(id))
            return tool_usage(
                command, "--ignore: no finding is called '%s'; nuioa-doctor(1) lists them", id);
        list += length + (list[length] == ',');
    }
    return 0;
}

int tool_doctor(int argc, char **argv)
{
    const char *root = NULL, *ignore = "";
    bool json = false, brief = false;
    uint32_t role = 0;
    static struct doctor d;
    struct tool_option options[] = {
        { "root", .file = &root },
        { "as", .number = &role, .min = DOCTOR_COMPUTE, .words = "compute, login" },
        { "ignore", .text = &ignore },
        { "json", .flag = &json, .excludes = "brief" },
        { "brief", .flag = &brief },
        { "this-node", .flag = &d.this_node },
        { "help", .usage = usage },
        { .name = NULL },
    };
    int rc = tool_args_read(argc, argv, options, NULL, NULL);
    if (rc)
        return rc;
    if (check_ignore(argv[0], ignore))
        return TOOL_USAGE;
    d.ignore = ignore;
    d.role = role;
    return diagnose(&d, root,
                    json    ? doctor_print_json
                    : brief ? doctor_print_line
                            : doctor_print_text);
}
