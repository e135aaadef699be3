/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/hints.h"
#include "util/number.h"
#include "util/variable.h"

#define UNKNOWN UINT32_MAX

/* The numbers that a launcher says. UNKNOWN also stands for a value that is no number. */
struct said {
    uint32_t local, count, rank, size;
};

static uint32_t number(char *const *environment, const char *name)
{
    const char *text = name ? nuioa_variable(environment, name) : NULL;
    uint32_t value = UNKNOWN;
    return text && !nuioa_parse_u32(text, UNKNOWN - 1, &value) ? value : UNKNOWN;
}

static bool is_named(const struct launcher *launcher, const char *name)
{
    return launcher && !strcmp(launcher->name, name);
}

/* --- Slurm ------------------------------------------------------------------------------------ */

/* Reads item `position` of a list like "2(x3),1": the number of tasks on that node. A position that
 * is not known is right only if all nodes have the same number. */
static uint32_t tasks_at(const char *list, uint32_t position)
{
    while (list && *list) {
        char *end;
        unsigned long tasks = strtoul(list, &end, 10), nodes = 1;
        if (end == list)
            return UNKNOWN;
        if (!strncmp(end, "(x", 2))
            nodes = strtoul(end + 2, &end, 10), end += *end == ')';
        if (*end && *end != ',')
            return UNKNOWN;
        if (position < nodes || (position == UNKNOWN && !*end))
            return tasks < UNKNOWN ? (uint32_t)tasks : UNKNOWN;
        if (position == UNKNOWN)
            return UNKNOWN;
        position -= (uint32_t)nodes;
        list = end + (*end == ',');
    }
    return UNKNOWN;
}

/* Reads SLURM_GTIDS, the ranks on this node: "4,5,6". Writes ranks[count]; with NULL it only counts
 * them. Returns their number, 0 if it is no such list. */
static uint32_t slurm_ranks(char *const *environment, uint32_t *ranks, uint32_t count)
{
    const char *at = nuioa_variable(environment, "SLURM_GTIDS");
    uint32_t found = 0;
    while (at && *at) {
        char *end;
        unsigned long rank = strtoul(at, &end, 10);
        if (end == at || (*end && *end != ',') || rank >= UNKNOWN)
            return 0;
        if (ranks && found < count)
            ranks[found] = (uint32_t)rank;
        found++;
        at = end + (*end == ',');
    }
    return found;
}

static uint32_t slurm_count(char *const *environment)
{
    uint32_t count = slurm_ranks(environment, NULL, 0);
    return count ? count
                 : tasks_at(nuioa_variable(environment, "SLURM_STEP_TASKS_PER_NODE"),
                            number(environment, "SLURM_NODEID"));
}

/* PRRTE and others hand on Slurm's variables of the step in which they run themselves. */
static bool slurm_means_another(char *const *environment)
{
    const char *space = nuioa_variable(environment, "PMIX_NAMESPACE");
    return space && strncmp(space, "slurm.", 6) != 0;
}

/* --- the table -------------------------------------------------------------------------------- */

/* With --virtual-local-rank of torchrun each worker sees one GPU and has LOCAL_RANK 0. If all nodes
 * have as many workers, the rank in the job tells which one it is. */
static uint32_t torchrun_local(const struct said *said, char *const *environment)
{
    uint32_t nodes = number(environment, "GROUP_WORLD_SIZE");
    bool equal = nodes != UNKNOWN && said->count != UNKNOWN && said->count &&
                 said->rank != UNKNOWN && (uint64_t)nodes * said->count == said->size;
    return !said->local && equal ? said->rank % said->count : said->local;
}

static struct said read_said(const struct launcher *launcher, char *const *environment)
{
    struct said said = {
        .local = number(environment, launcher->local_rank),
        .count = number(environment, launcher->local_size),
        .rank = number(environment, launcher->rank),
        .size = number(environment, launcher->size),
    };
    if (is_named(launcher, "slurm"))
        said.count = slurm_count(environment);
    if (is_named(launcher, "torchrun"))
        said.local = torchrun_local(&said, environment);
    if (is_named(launcher, "flux") && number(environment, "FLUX_JOB_NNODES") == 1)
        said.count = said.size;
    return said;
}

/* Slurm and PMIx are read only if there is no other: their variables are inherited, or are there
 * beside those of the launcher that uses them. */
static bool is_last_resort(const struct launcher *launcher)
{
    return is_named(launcher, "slurm") || is_named(launcher, "pmix");
}

static bool is_there(const struct launcher *launcher, char *const *environment)
{
    if (is_named(launcher, "slurm") && slurm_means_another(environment))
        return false;
    return nuioa_variable(environment,
                          launcher->local_rank ? launcher->local_rank : launcher->rank);
}

static int disagree(const struct launcher *a, const struct launcher *b, char *const *environment,
                    struct nuioa_error *err)
{
    return nuioa_fail(
        err, -ENOENT,
        "%s=%.10s and %s=%.10s contradict each other, or their numbers of local ranks "
        "do: --launcher %s or --launcher %s says which one counts",
        a->local_rank, nuioa_variable(environment, a->local_rank), b->local_rank,
        nuioa_variable(environment, b->local_rank), a->name, b->name);
}

/* Finds the launcher whose variables are there. 0 with *found, NULL if there is none; or -ENOENT if
 * two say different things. */
static int detect(char *const *environment, const struct launcher **found, struct nuioa_error *err)
{
    *found = NULL;
    for (const struct launcher *l = launcher_table; l->name; l++) {
        if (!is_there(l, environment) || (*found && is_last_resort(l)))
            continue;
        if (!*found) {
            *found = l;
            continue;
        }
        struct said a = read_said(*found, environment), b = read_said(l, environment);
        if (a.local != b.local || (a.count != b.count && a.count != UNKNOWN && b.count != UNKNOWN))
            return disagree(*found, l, environment, err);
        if (a.count == UNKNOWN)
            *found = l;
    }
    return 0;
}

static int by_name(const char *name, const struct launcher **found, struct nuioa_error *err)
{
    char names[160] = "";
    for (const struct launcher *l = launcher_table; l->name; l++) {
        if (!strcmp(l->name, name)) {
            *found = l;
            return 0;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", l->name);
    }
    return nuioa_fail(err, -EINVAL, "--launcher: '%.40s' is not one of %s", name, names);
}

/* --- what is not said ------------------------------------------------------------------------- */

static int say_nothing_found(struct nuioa_error *err)
{
    char names[200] = "";
    for (const struct launcher *l = launcher_table; l->name; l++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
                 l->local_rank ? l->local_rank : l->rank);
    }
    return nuioa_fail(err, -ENOENT,
                      "no local rank: none of %s is set; --local-rank and --local-size give it",
                      names);
}

static int say_missing(const struct launcher *launcher, const struct said *said,
                       struct nuioa_error *err)
{
    if (is_named(launcher, "pmix"))
        return nuioa_fail(err, -ENOENT,
                          "PMIx says the rank in the job only (PMIX_RANK): --local-size N --ranks "
                          "block, for N consecutive ranks on each node, or --local-rank and "
                          "--local-size");
    if (!launcher)
        return say_nothing_found(err);
    if (said->local == UNKNOWN)
        return nuioa_fail(err, -ENOENT,
                          "no local rank: %s is missing or no number; --local-rank gives it",
                          launcher->local_rank);
    return nuioa_fail(err, -ENOENT,
                      "no number of local ranks: %s is missing or no number; --local-size gives it",
                      is_named(launcher, "slurm")  ? "SLURM_GTIDS or SLURM_STEP_TASKS_PER_NODE"
                      : is_named(launcher, "flux") ? "FLUX_JOB_NNODES=1 with FLUX_JOB_SIZE"
                                                   : launcher->local_size);
}

/* --- ranks in the job ------------------------------------------------------------------------- */

static int number_from(struct launcher_place *place, uint32_t first)
{
    place->ranks = malloc(place->count * sizeof(*place->ranks));
    for (uint32_t i = 0; place->ranks && i < place->count; i++)
        place->ranks[i] = first + i;
    return place->ranks ? 0 : -ENOMEM;
}

static int read_list(struct launcher_place *place, const char *list, struct nuioa_error *err)
{
    struct nuioa_error why;
    place->ranks = malloc(LAUNCHER_TASKS_MAX * sizeof(*place->ranks));
    if (!place->ranks)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    int count = nuioa_ranks_parse(list, place->ranks, LAUNCHER_TASKS_MAX, &why);
    if (count < 0)
        return nuioa_fail(err, -EINVAL, "--ranks: %.200s", why.text);
    if ((uint32_t)count != place->count)
        return nuioa_fail(err, -EINVAL, "--ranks names %d ranks, but %u are on this node", count,
                          place->count);
    return 0;
}

/* Slurm counts the ranks in SLURM_GTIDS from 0 in each component of a heterogeneous step, and those
 * in SLURM_PROCID over all of them. */
static int read_gtids(struct launcher_place *place, char *const *environment)
{
    if (place->rank == UNKNOWN || slurm_ranks(environment, NULL, 0) != place->count)
        return 0;
    int rc = number_from(place, 0);
    if (rc)
        return rc;
    slurm_ranks(environment, place->ranks, place->count);
    uint32_t shift = place->rank - place->ranks[place->local];
    for (uint32_t i = 0; i < place->count; i++)
        place->ranks[i] += shift;
    return 0;
}

/* Finds the ranks of all local ranks, if they are known for sure. */
static int find_ranks(const struct launcher_request *request, char *const *environment,
                      uint32_t size, struct launcher_place *place, struct nuioa_error *err)
{
    bool block = request->ranks && !strcmp(request->ranks, "block");
    if (request->ranks && !block)
        return read_list(place, request->ranks, err);
    if (block && (place->rank == UNKNOWN || place->rank < place->local))
        return nuioa_fail(err, -ENOENT,
                          "--ranks block: the launcher does not say this process' rank in the job, "
                          "or one that is possible: --ranks LIST names the ranks on this node");
    int rc = 0;
    if (place->rank != UNKNOWN && place->rank >= place->local &&
        (block || (place->launcher && place->launcher->consecutive)))
        rc = number_from(place, place->rank - place->local);
    else if (size == place->count && place->rank == place->local)
        rc = number_from(place, 0);
    else if (launcher_is_slurm(place))
        rc = read_gtids(place, environment);
    return rc ? nuioa_fail(err, rc, "out of memory") : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Replaces what the launcher says by what was requested. */
static void apply_request(const struct launcher_request *request, struct said *said)
{
    if (request->has_local_size)
        said->count = request->local_size;
    if (request->has_local_rank)
        said->local = request->local_rank;
    if (said->local == UNKNOWN && request->ranks && !strcmp(request->ranks, "block") &&
        said->rank != UNKNOWN && said->count != UNKNOWN && said->count)
        said->local = said->rank % said->count;
}

int launcher_find(const struct launcher_request *request, char *const *environment,
                  struct launcher_place *place, struct nuioa_error *err)
{
    struct said said = { UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
    bool by_hand = request->has_local_rank && request->has_local_size;
    *place = (struct launcher_place){ .rank = UNKNOWN };
    int rc = request->launcher ? by_name(request->launcher, &place->launcher, err)
                               : detect(environment, &place->launcher, err);
    if (rc == -ENOENT && by_hand)
        place->launcher = NULL; /* the launchers contradict each other, but that does not matter */
    else if (rc)
        return rc;
    if (place->launcher)
        said = read_said(place->launcher, environment);
    apply_request(request, &said);
    if (said.local == UNKNOWN || said.count == UNKNOWN)
        return say_missing(place->launcher, &said, err);
    if (said.local >= said.count || said.count > LAUNCHER_TASKS_MAX)
        return nuioa_fail(
            err, by_hand ? -EINVAL : -ENOENT,
            "local rank %u of %u is not possible%s%s: --local-rank takes 0 to N-1 for "
            "--local-size N, which is at most %d",
            said.local, said.count, place->launcher ? ", which is what it is with " : "",
            place->launcher ? place->launcher->name : "", LAUNCHER_TASKS_MAX);
    place->local = said.local;
    place->count = said.count;
    place->rank = said.rank;
    rc = find_ranks(request, environment, said.size, place, err);
    if (!rc && place->ranks)
        place->rank = place->ranks[place->local];
    return rc;
}

bool launcher_is_slurm(const struct launcher_place *place)
{
    return is_named(place->launcher, "slurm");
}

void launcher_place_free(struct launcher_place *place)
{
    free(place->ranks);
    *place = (struct launcher_place){ .rank = UNKNOWN };
}

int launcher_is_first(char *const *environment, struct nuioa_error *err)
{
    const struct launcher_request any = { .has_local_size = true,
                                          .local_size = LAUNCHER_TASKS_MAX };
    struct launcher_place place;
    int rc = launcher_find(&any, environment, &place, err);
    int first = !place.launcher || (!rc && place.local == 0);
    if (rc && place.launcher)
        first = nuioa_fail(err, -ENOENT, "the launcher does not say who is local rank 0");
    launcher_place_free(&place);
    return first;
}
