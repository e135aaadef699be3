/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/exec/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/hints.h"
#include "util/variable.h"

#define UNKNOWN UINT32_MAX

/* The numbers that a launcher says. UNKNOWN also stands for a value that is no number. */
struct said {
    const struct launcher *launcher; /* NULL: none */
    uint32_t local, count, rank, size;
};

static uint32_t number(char *const *environment, const char *name)
{
    return name ? nuioa_variable_number(environment, name, UNKNOWN - 1, UNKNOWN) : UNKNOWN;
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

/* Returns true if the launcher says that all nodes have as many ranks as this one. */
static bool is_equal(const struct said *said, char *const *environment)
{
    uint32_t nodes = number(environment, said->launcher->nodes);
    return nodes != UNKNOWN && said->count != UNKNOWN && said->count &&
           (uint64_t)nodes * said->count == said->size;
}

static struct said read_said(const struct launcher *launcher, char *const *environment)
{
    struct said said = {
        .launcher = launcher,
        .local = number(environment, launcher->local_rank),
        .count = number(environment, launcher->local_size),
        .rank = number(environment, launcher->rank),
        .size = number(environment, launcher->size),
    };
    if (said.count == UNKNOWN)
        said.count = number(environment, launcher->local_size_too);
    if (is_named(launcher, "slurm"))
        said.count = slurm_count(environment);
    /* With --virtual-local-rank of torchrun each worker sees one GPU and has LOCAL_RANK 0. If all
     * nodes have as many workers, the rank in the job tells which one it is. */
    if (is_named(launcher, "torchrun") && !said.local && said.rank != UNKNOWN &&
        is_equal(&said, environment))
        said.local = said.rank % said.count;
    if (is_named(launcher, "flux") && number(environment, launcher->nodes) == 1)
        said.count = said.size;
    return said;
}

static bool is_there(const struct launcher *launcher, char *const *environment)
{
    if ((is_named(launcher, "slurm") && slurm_means_another(environment)) ||
        (launcher->sized && !nuioa_variable(environment, launcher->local_size)))
        return false;
    return nuioa_variable(environment,
                          launcher->local_rank ? launcher->local_rank : launcher->rank);
}

/* --- two launchers ---------------------------------------------------------------------------- */

/* A number that two launchers say differently, in variables of these names; NULL: none. */
struct contradiction {
    const char *name_x, *name_y;
    bool whole; /* it is the same for all processes of the node */
};

static bool differ(uint32_t a, uint32_t b)
{
    return a != b && a != UNKNOWN && b != UNKNOWN;
}

static struct contradiction compare(const struct said *x, const struct said *y)
{
    const struct launcher *a = x->launcher, *b = y->launcher;
    if (differ(x->count, y->count))
        return (struct contradiction){ a->local_size, b->local_size, true };
    if (differ(x->size, y->size))
        return (struct contradiction){ a->size, b->size, true };
    if (x->local != y->local)
        return (struct contradiction){ a->local_rank, b->local_rank, false };
    if (differ(x->rank, y->rank))
        return (struct contradiction){ a->rank, b->rank, false };
    return (struct contradiction){ .name_x = NULL };
}

/* Returns the rank in the job of local rank 0, for local rank 1; UNKNOWN if it is not known. */
static uint32_t first_rank(const struct said *said, char *const *environment)
{
    uint32_t ranks[2] = { 0, 1 };
    if (said->rank == UNKNOWN ||
        (is_named(said->launcher, "slurm") && slurm_ranks(environment, ranks, 2) < 2))
        return UNKNOWN;
    return said->rank - (ranks[1] - ranks[0]);
}

/* Chooses the process that says a contradiction that all of the node see. If only one of the two
 * launchers has started more than one of them, it is that one's local rank 0. Otherwise the numbers
 * of either may be the same in all processes, inherited from another launch, and this one cannot
 * know of which: for each number that is the same one process is chosen, seldom more. */
static bool is_speaker_of_all(const struct said *x, const struct said *y)
{
    if (y->count == UNKNOWN) /* a script's copy, where that has no number of local ranks */
        return !x->local;
    if (!x->count || !y->count || (x->count == 1 && y->count == 1))
        return true;
    if (x->count == 1)
        return !y->local || y->local >= y->count;
    if (y->count == 1)
        return !x->local || x->local >= x->count;
    return (!x->local && !y->local) || x->local == (y->local + 1) % x->count ||
           (x->local > y->count && y->local == (x->local - 1) % y->count);
}

/* Chooses the process that says it: the local rank 0; or where the second numbers are the same in
 * all processes, and by chance those of local rank 0, the local rank 1. */
static bool is_speaker(bool whole, const struct said *x, const struct said *y,
                       char *const *environment)
{
    if (x->local == UNKNOWN || y->local == UNKNOWN)
        return !x->local || !y->local || x->local == y->local;
    if (whole)
        return is_speaker_of_all(x, y);
    /* A number is the same in all, or right in this process and so in local rank 0. */
    uint32_t first = first_rank(x, environment);
    bool is_firsts = y->local <= 1 && (!differ(y->rank, first) || !differ(y->rank, x->rank));
    return !x->local || (x->local == 1 && is_firsts);
}

/* Completes what a job script has copied from Slurm, without the number of local ranks: Slurm
 * counts if all the rest is there and agrees. */
static bool is_copied(const struct said *copy, const struct said *slurm)
{
    return copy->count == UNKNOWN && copy->rank != UNKNOWN && copy->size != UNKNOWN &&
           copy->local == slurm->local && copy->rank == slurm->rank && copy->size == slurm->size;
}

/* Returns true if a launcher is not compared with the one that is found: LOCAL_RANK alone among
 * several ranks of another launcher, and Slurm but where a script may have copied its numbers. */
static bool is_passed_over(const struct said *said, const struct said *had)
{
    if (is_named(said->launcher, "torchrun"))
        return said->count == UNKNOWN && said->rank == UNKNOWN && said->size == UNKNOWN &&
               had->local < had->count && had->count != UNKNOWN && had->count > 1;
    if (!said->launcher->last_resort)
        return false;
    return !is_named(said->launcher, "slurm") || !is_named(had->launcher, "torchrun") ||
           had->count != UNKNOWN || said->local == UNKNOWN || said->rank == UNKNOWN ||
           said->size == UNKNOWN;
}

/* Finds the launcher whose variables are there. 0 with place->launcher, NULL if there is none; or
 * -ENOENT if two say different things. */
static int detect(char *const *environment, bool has_count, struct launcher_place *place,
                  struct nuioa_error *err)
{
    const struct launcher **found = &place->launcher;
    for (const struct launcher *l = launcher_table; l->name; l++) {
        if (!is_there(l, environment) || (*found && has_count && l->last_resort))
            continue;
        if (!*found) {
            *found = l;
            continue;
        }
        struct said had = read_said(*found, environment), said = read_said(l, environment);
        if (is_passed_over(&said, &had))
            continue;
        /* The numbers of the first one are taken for those that differ from process to process. */
        const struct said *x = l->last_resort ? &said : &had, *y = x == &had ? &said : &had;
        struct contradiction c = compare(x, y);
        if (c.name_x) {
            const char *a = nuioa_variable(environment, c.name_x);
            const char *b = nuioa_variable(environment, c.name_y);
            place->speaks = is_speaker(c.whole, x, y, environment);
            return nuioa_fail(err, -ENOENT,
                              "%s=%.10s and %s=%.10s contradict each other: use --launcher %s or "
                              "--launcher %s to say which counts",
                              c.name_x, a ? a : "", c.name_y, b ? b : "", x->launcher->name,
                              y->launcher->name);
        }
        if (l->last_resort ? is_copied(&had, &said) : had.count == UNKNOWN)
            *found = l;
    }
    return 0;
}

/* Lists the names of all launchers. */
static const char *list_names(char names[160])
{
    *names = '\0';
    for (const struct launcher *l = launcher_table; l->name; l++) {
        size_t used = strlen(names);
        snprintf(names + used, 160 - used, "%s%s", used ? ", " : "", l->name);
    }
    return names;
}

static int by_name(const char *name, const struct launcher **found, struct nuioa_error *err)
{
    char names[160];
    for (const struct launcher *l = launcher_table; l->name; l++)
        if (!strcmp(l->name, name)) {
            *found = l;
            return 0;
        }
    return nuioa_fail(err, -EINVAL, "--launcher: '%.40s' is not one of %s", name,
                      list_names(names));
}

/* --- what is not said ------------------------------------------------------------------------- */

/* Says which number is missing. Local rank 0 speaks; if nobody knows which one that is, rank 0 of
 * the job; if nobody knows that either, everybody. So does a local rank of which nothing else is
 * said: there may be no others. */
static int say_missing(struct launcher_place *place, const struct said *said,
                       char *const *environment, struct nuioa_error *err)
{
    const struct launcher *launcher = place->launcher;
    const bool is_alone = said->rank == UNKNOWN && said->size == UNKNOWN &&
                          number(environment, "SLURM_LOCALID") != said->local;
    char names[160];
    place->speaks =
        said->local != UNKNOWN ? !said->local || is_alone : !said->rank || said->rank == UNKNOWN;
    if (!launcher)
        return nuioa_fail(err, -ENOENT,
                          "no launcher found of %s: use --local-rank R --local-size N",
                          list_names(names));
    if (is_named(launcher, "pmix"))
        return nuioa_fail(
            err, -ENOENT,
            "PMIx gives only the rank in the job (PMIX_RANK): use --local-size N --ranks block for "
            "N consecutive ranks on each node, or --local-rank and --local-size");
    if (said->local == UNKNOWN)
        return nuioa_fail(err, -ENOENT,
                          "no local rank: %s is unset or not a number: use --local-rank R",
                          launcher->local_rank);
    return nuioa_fail(err, -ENOENT,
                      "no number of local ranks: %s is unset or not a number: use --local-size N",
                      launcher->size_from ? launcher->size_from : launcher->local_size);
}

/* Returns true for a process that another one has spawned: the launcher counts only those that were
 * spawned with it, and where the others of the job run is unknown. */
static bool is_spawned(const struct launcher *launcher, char *const *environment)
{
    const char *text =
        launcher && launcher->spawned ? nuioa_variable(environment, launcher->spawned) : NULL;
    return text && strcmp(text, "0") != 0;
}

static int say_spawned(struct launcher_place *place, const struct said *said,
                       struct nuioa_error *err)
{
    place->speaks = !said->local || said->local == UNKNOWN;
    return nuioa_fail(err, -ENOENT,
                      "spawned ranks are not placed: %s does not say which ranks started them. Use "
                      "--local-rank R --local-size N to count all",
                      place->launcher->name);
}

/* Says that the local rank cannot be. Each that cannot speaks: there may be no lower one. */
static int say_impossible(struct launcher_place *place, const struct said *said, bool by_hand,
                          struct nuioa_error *err)
{
    place->speaks = !said->local || said->local >= said->count;
    return nuioa_fail(
        err, by_hand ? -EINVAL : -ENOENT,
        "local rank %u of %u is not possible%s%s: --local-rank is below --local-size, which is at "
        "most %d",
        said->local, said->count, place->launcher ? " with " : "",
        place->launcher ? place->launcher->name : "", LAUNCHER_TASKS_MAX);
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

static bool has_consecutive(const struct said *said, char *const *environment)
{
    enum launcher_order order = said->launcher ? said->launcher->order : LAUNCHER_ANY_ORDER;
    return order == LAUNCHER_BLOCKS ||
           (order == LAUNCHER_EQUAL_BLOCKS && is_equal(said, environment));
}

/* Finds the ranks of all local ranks, if they are known for sure. */
static int find_ranks(const struct launcher_request *request, char *const *environment,
                      const struct said *said, struct launcher_place *place,
                      struct nuioa_error *err)
{
    bool block = request->ranks && !strcmp(request->ranks, "block");
    if (request->ranks && !block)
        return read_list(place, request->ranks, err);
    if (block && (place->rank == UNKNOWN || place->rank < place->local))
        return nuioa_fail(
            err, -ENOENT,
            "--ranks block: the launcher gives no valid rank in the job. Use --ranks LIST to name "
            "the ranks on this node");
    int rc = 0;
    if (place->rank != UNKNOWN && place->rank >= place->local &&
        (block || has_consecutive(said, environment)))
        rc = number_from(place, place->rank - place->local);
    else if (said->size == place->count && place->rank == place->local)
        rc = number_from(place, 0);
    else if (launcher_is_slurm(place))
        rc = read_gtids(place, environment);
    return rc ? nuioa_fail(err, rc, "out of memory") : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Replaces what the launcher says by what was requested. */
static void apply_request(const struct launcher_request *request, struct said *said)
{
    if (request->local_size != UNKNOWN)
        said->count = request->local_size;
    if (request->local_rank != UNKNOWN)
        said->local = request->local_rank;
    if (said->local == UNKNOWN && request->ranks && !strcmp(request->ranks, "block") &&
        said->rank != UNKNOWN && said->count != UNKNOWN && said->count)
        said->local = said->rank % said->count;
}

static int find(const struct launcher_request *request, char *const *environment,
                struct launcher_place *place, struct nuioa_error *err)
{
    struct said said = { NULL, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN };
    bool sized = request->local_size != UNKNOWN;
    bool by_hand = sized && request->local_rank != UNKNOWN;
    *place = (struct launcher_place){ .rank = UNKNOWN };
    int rc = request->launcher ? by_name(request->launcher, &place->launcher, err)
                               : detect(environment, sized, place, err);
    if (rc == -ENOENT && by_hand)
        place->launcher = NULL; /* the launchers contradict each other, but that does not matter */
    else if (rc)
        return rc;
    if (place->launcher)
        said = read_said(place->launcher, environment);
    apply_request(request, &said);
    if (!by_hand && is_spawned(place->launcher, environment))
        return say_spawned(place, &said, err);
    if (said.local == UNKNOWN || said.count == UNKNOWN)
        return say_missing(place, &said, environment, err);
    if (said.local >= said.count || said.count > LAUNCHER_TASKS_MAX)
        return say_impossible(place, &said, by_hand, err);
    place->speaks = !said.local;
    place->local = said.local;
    place->count = said.count;
    place->rank = said.rank;
    rc = find_ranks(request, environment, &said, place, err);
    if (!rc && place->ranks)
        place->rank = place->ranks[place->local];
    return rc;
}

int launcher_find(const struct launcher_request *request, char *const *environment,
                  struct launcher_place *place, struct nuioa_error *err)
{
    int rc = find(request, environment, place, err);
    /* A rank on whose command line a number is prints every error. */
    place->speaks =
        place->speaks || request->local_rank != UNKNOWN || request->local_size != UNKNOWN;
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
