/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/layout_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout/figures.h"
#include "tools/program.h"
#include "util/descriptors.h"
#include "util/number.h"

enum { NETWORK_BYTES_MAX = 16 << 20 };

/* --- nodes and places ------------------------------------------------------------------------- */

static int no_memory(struct nuioa_error *err)
{
    return nuioa_fail(err, -ENOMEM, "out of memory");
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Makes the list n0, n1, ... if `text` is a number. */
static int read_nodes(const char *text, struct layout_place *place, struct nuioa_error *err)
{
    char list[32];
    uint32_t count;
    if (!*text || text[strspn(text, "0123456789")])
        return nuioa_host_list_parse(text, &place->hosts, err);
    if (nuioa_parse_u32(text, NUIOA_HOSTS_MAX, &count) || !count)
        return nuioa_fail(err, -EINVAL, "--nodes: '%.40s' is not a number from 1 to %u", text,
                          NUIOA_HOSTS_MAX);
    place->unnamed = true;
    snprintf(list, sizeof(list), "n[0-%u]", count - 1);
    return nuioa_host_list_parse(list, &place->hosts, err);
}

static uint64_t sum(const struct layout_place *place)
{
    uint64_t tasks = 0;
    for (uint32_t k = 0; k < place->hosts.count; k++)
        tasks += place->tasks[k];
    return tasks;
}

/* The job's number of tasks on each node, if srun would start as many as the profile has. A job
 * that was not told a number has as many places as CPUs, and srun starts what it is told. */
static int read_job(uint32_t ranks, struct layout_place *place, struct nuioa_error *err)
{
    const char *ntasks = variable("SLURM_NTASKS"), *each = variable("SLURM_TASKS_PER_NODE");
    const char *cpus = variable("SLURM_JOB_CPUS_PER_NODE");
    const char *per_task = variable("SLURM_CPUS_PER_TASK");
    uint32_t count, nodes = place->hosts.count, task_cpus = 1;
    if (ntasks && (nuioa_parse_u32(ntasks, UINT32_MAX, &count) || count != ranks))
        return nuioa_fail(err, -EINVAL, "the profile is of %u ranks, but the job has %s task%s",
                          ranks, ntasks, strcmp(ntasks, "1") ? "s" : "");
    if (ntasks && each && !nuioa_task_counts_parse(each, nodes, place->tasks, NULL) &&
        sum(place) == ranks)
        return 0;
    if (!cpus)
        return nuioa_fail(err, -EINVAL, "SLURM_JOB_CPUS_PER_NODE is not set: use --tasks-per-node");
    if (per_task && (nuioa_parse_u32(per_task, UINT32_MAX, &task_cpus) || !task_cpus))
        task_cpus = 1;
    uint32_t *room = malloc((nodes + 1) * sizeof(*room));
    if (!room)
        return no_memory(err);
    int rc = nuioa_task_counts_parse(cpus, nodes, room, err);
    for (uint32_t k = 0; k < nodes && !rc; k++)
        room[k] /= task_cpus;
    if (!rc && !nuioa_layout_spread(ranks, nodes, room, place->tasks))
        rc = nuioa_fail(err, -EINVAL, "the %u ranks of the profile do not fit the job's CPUs (%s)",
                        ranks, cpus);
    free(room);
    return rc;
}

static int read_typed(const char *text, uint32_t ranks, struct layout_place *place,
                      struct nuioa_error *err)
{
    int rc = nuioa_task_counts_parse(text, place->hosts.count, place->tasks, err);
    if (!rc && sum(place) != ranks)
        rc = nuioa_fail(err, -EINVAL, "the profile is of %u ranks, but --tasks-per-node gives %llu",
                        ranks, (unsigned long long)sum(place));
    return rc;
}

static int read_places(const struct layout_wish *wish, uint32_t ranks, struct layout_place *place,
                       struct nuioa_error *err)
{
    const char *nodes = wish->nodes ? wish->nodes : variable("SLURM_JOB_NODELIST");
    if (!nodes)
        return nuioa_fail(err, -EINVAL, "not in a Slurm job: use --nodes and --tasks-per-node");
    if (!wish->nodes && variable("SLURM_HET_SIZE"))
        return nuioa_fail(err, -EINVAL, "heterogeneous jobs are not supported");
    int rc = read_nodes(nodes, place, err);
    if (rc)
        return rc;
    place->tasks = malloc((place->hosts.count + 1) * sizeof(*place->tasks));
    if (!place->tasks)
        return no_memory(err);
    return wish->tasks_per_node ? read_typed(wish->tasks_per_node, ranks, place, err)
                                : read_job(ranks, place, err);
}

/* --- the network ------------------------------------------------------------------------------ */

/* Sets *text to the file's content, which the caller frees. */
static int read_file(const char *path, char **text, struct nuioa_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
    size_t length = 0;
    if (fd < 0 || fstat(fd, &st))
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode) || st.st_size > NETWORK_BYTES_MAX)
        rc = nuioa_fail(err, -EINVAL, "%s: not a regular file of at most %d MB", path,
                        NETWORK_BYTES_MAX >> 20);
    *text = rc ? NULL : calloc(1, (size_t)st.st_size + 1);
    if (!rc && !*text)
        rc = no_memory(err);
    if (!rc)
        length = nuioa_read_all(fd, *text, (size_t)st.st_size);
    if (!rc && errno)
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (!rc && strlen(*text) != length)
        rc = nuioa_fail(err, -EINVAL, "%s: not a text file", path);
    if (fd >= 0)
        close(fd);
    return rc;
}

static int read_network(const char *path, struct layout_place *place, struct nuioa_error *err)
{
    struct nuioa_error why;
    char *text;
    int rc = read_file(path, &text, err);
    if (!rc && (rc = nuioa_network_parse(text, &place->hosts, &place->network, &why)))
        nuioa_fail(err, rc, "%s: %s", path, why.text);
    if (!rc && !place->network.level_count)
        rc = nuioa_fail(err, -EINVAL,
                        "%s: no line with SwitchName= or BlockName=, as scontrol show topology has",
                        path);
    free(text);
    return rc;
}

/* What scontrol does not say, or says of other nodes, is no reason not to lay out. */
static void ask_network(struct layout_place *place)
{
    const char *const words[] = { "scontrol", "show", "topology", NULL };
    char *text;
    int rc = program_output(words, &text);
    place->network.node_count = place->hosts.count;
    if (rc) {
        place->flat = rc == -ETIMEDOUT ? "scontrol took more than two seconds"
                                       : "scontrol printed no network";
    } else if (nuioa_network_parse(text, &place->hosts, &place->network, NULL)) {
        place->network = (struct nuioa_network){ .node_count = place->hosts.count };
        place->flat = "scontrol's list of switches cannot be read";
    } else if (!place->network.level_count) {
        place->flat = "scontrol lists no switches";
    }
    free(text);
}

int layout_place_find(const struct layout_wish *wish, uint32_t ranks, struct layout_place *place,
                      struct nuioa_error *err)
{
    *place = (struct layout_place){ 0 };
    int rc = read_places(wish, ranks, place, err);
    if (rc)
        return rc;
    if (wish->network)
        return read_network(wish->network, place, err);
    place->network.node_count = place->hosts.count;
    if (place->unnamed)
        place->flat = "--network was not given";
    else if (place->hosts.count > 1)
        ask_network(place);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

int layout_place_check(const struct layout_place *place, struct nuioa_error *err)
{
    const char *nodes = variable("SLURM_JOB_NODELIST");
    struct nuioa_host_list job;
    int rc = 0;
    if (!nodes || place->unnamed || nuioa_host_list_parse(nodes, &job, NULL))
        return 0;
    qsort(job.names, job.count, sizeof(*job.names), compare_names);
    for (uint32_t k = 0; k < place->hosts.count && !rc; k++)
        if (!bsearch(place->hosts.names[k], job.names, job.count, sizeof(*job.names),
                     compare_names))
            rc = nuioa_fail(err, -EINVAL, "--nodes: %s is not a node of this job, which has %.80s",
                            place->hosts.names[k], nodes);
    nuioa_host_list_free(&job);
    return rc;
}

void layout_place_free(struct layout_place *place)
{
    nuioa_host_list_free(&place->hosts);
    nuioa_network_free(&place->network);
    free(place->tasks);
    *place = (struct layout_place){ 0 };
}
