/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout/layout.h"
#include "output/user_variables.h"
#include "profile/profile_read.h"
#include "tools/json.h"
#include "tools/layout_input.h"
#include "tools/tool.h"
#include "util/clock.h"
#include "util/new_file.h"

#define INLINE_BYTES_MAX 32768 /* a list that is shorter is printed itself */

static const char usage[] =
    "usage: srun $(nuioa layout PROFILE) [OPTION OF SRUN]... PROGRAM\n"
    "       nuioa layout --hints PROFILE [OPTION]...\n"
    "\n"
    "nuioa layout says which ranks should share a node, and which a switch, so that little of\n"
    "what the profile has is sent between them. It prints options of srun, or nothing where\n"
    "srun's own layout is as good, and says why on stderr.\n"
    "\n"
    "  --hints PROFILE             what --nuioa-trace has recorded, or another profile\n"
    "  --nodes LIST|N              these nodes, or N without names; default: those of the job\n"
    "  --tasks-per-node K[,K...]   ranks on each node: for all, for each, or as 3(x2),1\n"
    "  --network FILE              the output of scontrol show topology; default: it is asked\n"
    "  --hostfile OUT              write the names of the nodes, one for each rank, to a new file\n"
    "  --force                     the file may be there already\n"
    "  --json                      print JSON, for programs\n";

/* The order is not safe (layout/order.h). */
static const char unsafe[] =
    "Open MPI 5.0 may gather wrong data in this order of ranks. Set " NUIOA_HAN_PRIORITY
    "=0; srun --nuioa sets it";

struct job {
    const char *hints, *hostfile;
    struct layout_wish wish;
    bool json, force;
    struct nuioa_layout_traffic traffic;
    struct layout_place place;
    struct nuioa_layout layout;
    int64_t time_us;
};

/* --- what was typed --------------------------------------------------------------------------- */

static int read_arguments(struct job *job, int argc, char **argv)
{
    struct tool_option options[] = {
        { "hints", .file = &job->hints },
        { "nodes", .text = &job->wish.nodes, .needs = "tasks-per-node" },
        { "tasks-per-node", .text = &job->wish.tasks_per_node },
        { "network", .file = &job->wish.network },
        { "hostfile", .file = &job->hostfile },
        { "force", .flag = &job->force, .needs = "hostfile" },
        { "json", .flag = &job->json },
        { "help", .usage = usage },
        { .name = NULL },
    };
    const char **words = calloc((size_t)argc, sizeof(*words));
    unsigned count = 0;
    if (!words)
        return tool_fail("out of memory");
    int rc = tool_args_read_words(argc, argv, options, words, &count);
    if (!rc && count && !job->hints)
        job->hints = words[--count];
    if (!rc && count)
        rc = tool_usage("layout", "'%.80s': one profile is enough", words[count - 1]);
    else if (!rc && !job->hints)
        rc = tool_usage("layout", "a profile is missing");
    free(words);
    return rc;
}

/* --- figures ---------------------------------------------------------------------------------- */

static double share(const struct job *job, double bytes)
{
    return job->traffic.bytes > 0 ? 100 * bytes / job->traffic.bytes : 0;
}

/* What there is to say of the whole, on one line of stderr. */
static void say(const struct job *job, const char *what)
{
    const struct nuioa_layout *l = &job->layout;
    const struct nuioa_layout_traffic *t = &job->traffic;
    const struct nuioa_layout_figures *f[] = { &l->block, &l->cyclic, &l->layout };
    char switches[96] = "", busiest[64] = "", flat[96] = "";
    if (job->place.network.level_count)
        snprintf(switches, sizeof(switches), ", off switch %.1f, %.1f, %.1f %%",
                 share(job, f[0]->off_switch_bytes), share(job, f[1]->off_switch_bytes),
                 share(job, f[2]->off_switch_bytes));
    else
        snprintf(flat, sizeof(flat), "; %s", job->place.flat ? job->place.flat : "one level");
    if (l->block.busiest_bytes > 0)
        snprintf(busiest, sizeof(busiest), ", the busiest node has %.0f %% of block's bytes",
                 100 * l->layout.busiest_bytes / l->block.busiest_bytes);
    tool_fail("layout: %s: off node %.1f %% by block, %.1f by cyclic, %.1f in this layout%s%s, "
              "counted %.0f %% of all%s",
              what, share(job, f[0]->off_node_bytes), share(job, f[1]->off_node_bytes),
              share(job, f[2]->off_node_bytes), switches, busiest,
              t->all_bytes > 0 ? 100 * t->bytes / t->all_bytes : 0, flat);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *three(double block, double cyclic, double layout)
{
    return json_pack("{s:f, s:f, s:f}", "block", block, "cyclic", cyclic, "layout", layout);
}

static int print_json(const struct job *job)
{
    const struct nuioa_layout *l = &job->layout;
    const struct nuioa_layout_traffic *t = &job->traffic;
    json_t *nodes = json_array(), *node_of = json_array(), *warnings = json_array();
    for (uint32_t k = 0; k < job->place.hosts.count; k++)
        nodes = tool_json_add(nodes, json_string(job->place.hosts.names[k]));
    for (uint32_t i = 0; i < t->rank_count; i++)
        node_of = tool_json_add(node_of, json_integer(l->node_of[i]));
    if (job->place.flat)
        warnings = tool_json_add(warnings, json_string(job->place.flat));
    if (!l->safe)
        warnings = tool_json_add(warnings, json_string(unsafe));
    json_t *o = json_pack(
        "{s:i, s:o, s:o, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "nuioa", 1, "nodes", nodes,
        "node_of", node_of, "use", l->use ? "layout" : "block", "mapper", l->mapper, "time_us",
        (json_int_t)job->time_us, "off_node_bytes",
        three(l->block.off_node_bytes, l->cyclic.off_node_bytes, l->layout.off_node_bytes),
        "off_switch_bytes",
        job->place.network.level_count
            ? three(l->block.off_switch_bytes, l->cyclic.off_switch_bytes,
                    l->layout.off_switch_bytes)
            : json_null(),
        "busiest_bytes",
        three(l->block.busiest_bytes, l->cyclic.busiest_bytes, l->layout.busiest_bytes),
        "counted_share", t->all_bytes > 0 ? json_real(t->bytes / t->all_bytes) : json_null(),
        "warnings", warnings);
    return tool_json_print(o, 0);
}

/* --- for srun --------------------------------------------------------------------------------- */

/* Returns the names of all ranks' nodes, with commas between, which the caller frees; or NULL. */
static char *list_names(const struct job *job)
{
    size_t bytes = 1;
    for (uint32_t i = 0; i < job->traffic.rank_count; i++)
        bytes += strlen(job->place.hosts.names[job->layout.node_of[i]]) + 1;
    char *text = calloc(bytes, 1), *end = text;
    for (uint32_t i = 0; text && i < job->traffic.rank_count; i++) {
        const char *name = job->place.hosts.names[job->layout.node_of[i]];
        if (i)
            *end++ = ',';
        end = stpcpy(end, name);
    }
    return text;
}

/* Sets path[] to the absolute name of the new file: the one that was named, or one that nobody has
 * in the working directory, which is that of the job's script. Returns 0, or -errno with *err. */
static int name_hostfile(const struct job *job, char path[PATH_MAX], struct nuioa_error *err)
{
    const char *name = job->hostfile ? job->hostfile : "nuioa-layout-XXXXXX";
    char here[PATH_MAX - 64] = "";
    struct stat st;
    int fd = -1, code = 0;
    if (*name != '/' && !getcwd(here, sizeof(here)))
        code = errno;
    else if (snprintf(path, PATH_MAX, "%s%s%s", here, *name == '/' ? "" : "/", name) >= PATH_MAX)
        code = ENAMETOOLONG;
    else if (!job->hostfile && (fd = mkostemp(path, O_CLOEXEC)) < 0)
        code = errno;
    if (fd >= 0)
        close(fd);
    if (!code && job->hostfile && !job->force && !lstat(path, &st))
        return nuioa_fail(err, -EEXIST, "%s: File exists; --force replaces it", name);
    return code ? nuioa_fail(err, -code, "%s: %s", name, strerror(code)) : 0;
}

/* Writes the list to that file, a name on each line. Returns 0, or -errno with *err. */
static int write_hostfile(const struct job *job, const char *list, char path[PATH_MAX],
                          struct nuioa_error *err)
{
    struct nuioa_new_file file;
    int rc = name_hostfile(job, path, err);
    if (rc)
        return rc;
    rc = nuioa_new_file_open(&file, path, err);
    if (!rc) {
        for (const char *c = list; *c; c++)
            fputc(*c == ',' ? '\n' : *c, file.stream);
        fputc('\n', file.stream);
        rc = nuioa_new_file_close(&file, true, path, err);
    }
    if (rc && !job->hostfile)
        unlink(path); /* name_hostfile() has made it */
    return rc;
}

/* Prints what srun is to be told. Returns 0, or -errno after a message. */
static int print_options(const struct job *job)
{
    struct nuioa_error err;
    char path[PATH_MAX], what[PATH_MAX + 64] = "these options of srun are worth it";
    char *list = list_names(job);
    int rc = list ? 0 : nuioa_fail(&err, -ENOMEM, "out of memory");
    bool file = job->hostfile || (list && strlen(list) >= INLINE_BYTES_MAX);
    if (!rc && file)
        rc = write_hostfile(job, list, path, &err);
    if (rc) {
        tool_fail("layout: the list of nodes: %s", err.text);
    } else {
        if (file)
            snprintf(what, sizeof(what), "the list is in %s", path);
        if (!job->layout.safe)
            tool_fail("layout: %s", unsafe);
        say(job, what);
        if (!job->json)
            printf("-m arbitrary -w %s\n", file ? path : list);
    }
    free(list);
    return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

static int read_traffic(struct job *job, struct nuioa_error *err)
{
    struct nuioa_profile profile;
    int rc = nuioa_profile_read(job->hints, &profile, err);
    if (rc)
        return rc;
    if (nuioa_layout_traffic_take(&profile, &job->traffic))
        rc = nuioa_fail(err, -ENOMEM, "out of memory");
    nuioa_profile_free(&profile);
    return rc;
}

static int find(struct job *job, struct nuioa_error *err)
{
    int rc = read_traffic(job, err);
    rc = rc ? rc : layout_place_find(&job->wish, job->traffic.rank_count, &job->place, err);
    if (!rc && !job->json)
        rc = layout_place_check(&job->place, err);
    if (rc)
        return rc;
    int64_t start_us = nuioa_clock_us();
    rc = nuioa_layout_make(&job->traffic, &job->place.network, job->place.tasks, &job->layout);
    job->time_us = nuioa_clock_us() - start_us;
    return rc ? nuioa_fail(err, rc, "out of memory") : 0;
}

static const char *why_block(const struct job *job)
{
    if (job->place.hosts.count == 1)
        return "one node: nothing to lay out";
    if (job->traffic.bytes <= 0)
        return "the profile has nothing that a layout could change";
    return "srun's block is as good";
}

/* A script must run as ever, whatever fails: without --json and --hostfile, the status is 0. */
static int answer(struct job *job)
{
    struct nuioa_error err;
    bool script = !job->json && !job->hostfile;
    int rc = find(job, &err);
    if (rc) {
        tool_fail("layout: %s", err.text);
    } else if (!job->layout.use) {
        say(job, why_block(job));
    } else if (job->place.unnamed && !job->json) {
        say(job, "worth it, for nodes with names");
    } else if (!job->json || job->hostfile) {
        rc = print_options(job);
    }
    if (!rc && job->json)
        rc = print_json(job);
    return rc && !script ? TOOL_UNANSWERED : TOOL_DONE;
}

int tool_layout(int argc, char **argv)
{
    struct job job = { 0 };
    int rc = read_arguments(&job, argc, argv);
    if (!rc)
        rc = answer(&job);
    nuioa_layout_free(&job.layout);
    layout_place_free(&job.place);
    nuioa_layout_traffic_free(&job.traffic);
    return rc;
}
