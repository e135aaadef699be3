/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "pmix/client/advice.h"
#include "util/number.h"
#include "ranks/rank_id.h"

/* This file reads the variables of a rank: see "A rank's environment" in doc/formats.md. */

/* Appends the ranks of one piece of a list: of "4", "0-7", or "0-39992:8", where 8 is the stride.
 * Returns 0, or -EINVAL if the piece is malformed or has more than `room` ranks. */
static int add_piece(struct rank_list *list, size_t room, char *piece)
{
    uint32_t first, last, step = 1;
    char *stride = piece, *end = strsep(&stride, ":"), *begin = strsep(&end, "-");
    if ((stride && !end) || nuioa_parse_u32(begin, UINT32_MAX - 2, &first) < 0 ||
        (stride && (nuioa_parse_u32(stride, UINT32_MAX, &step) < 0 || !step)))
        return -EINVAL;
    last = first;
    if (end && (nuioa_parse_u32(end, UINT32_MAX - 2, &last) < 0 || last < first))
        return -EINVAL;
    if ((last - first) / step >= room - list->count)
        return -EINVAL;
    for (uint64_t rank = first; rank <= last; rank += step)
        list->ranks[list->count++] = (uint32_t)rank;
    return 0;
}

/* The largest number of ranks in a list. A longer list counts as absent, like a malformed one. */
#define LIST_MAX 1000000

/* Returns the largest number of ranks that the list can have, so that one allocation is enough. */
static size_t room_for(const char *text)
{
    size_t commas = 1;
    if (strchr(text, '-'))
        return LIST_MAX;
    for (; *text; text++)
        commas += *text == ',';
    return commas;
}

/* Reads a list of ranks from the variable `name`. A malformed list counts as absent. Returns 0 or
 * -ENOMEM. */
static int read_list(const char *name, struct rank_list *list)
{
    const char *value = getenv(name);
    int rc = 0;
    if (!value || !*value)
        return 0;
    size_t room = room_for(value);
    char *text = strdup(value), *rest = text, *piece;
    list->ranks = malloc(room * sizeof(*list->ranks));
    if (!text || !list->ranks) {
        free(text);
        return -ENOMEM;
    }
    while (!rc && (piece = strsep(&rest, ",")))
        rc = add_piece(list, room, piece);
    free(text);
    if (rc || !list->count) {
        free(list->ranks);
        *list = (struct rank_list){ 0 };
    }
    return 0;
}

static bool read_u32(const char *name, uint32_t max, uint32_t *number)
{
    const char *text = getenv(name);
    return text && !nuioa_parse_u32(text, max, number);
}

static int read_string(const char *name, char **copy)
{
    const char *text = getenv(name);
    free(*copy);
    *copy = NULL;
    if (!text || !*text)
        return 0;
    *copy = strdup(text);
    return *copy ? 0 : -ENOMEM;
}

/* Returns whether two variables are there and differ. */
static bool differ(const char *name, const char *other)
{
    const char *a = getenv(name), *b = getenv(other);
    return a && b && strcmp(a, b);
}

/* Returns whether another launcher than srun started this process. Launchers such as mpirun pass
 * on the variables of the process that called them, but they number their ranks differently, or
 * start another number of them. In a heterogeneous step Slurm counts the tasks of a component. */
static bool is_foreign(void)
{
    const char *nspace = getenv("PMIX_NAMESPACE");
    if (nspace && strncmp(nspace, "slurm.pmix.", 11))
        return true;
    if (getenv("OMPI_COMM_WORLD_RANK") && !nspace)
        return true;
    return differ("PMI_RANK", "SLURM_PROCID") ||
           (!getenv("SLURM_HET_SIZE") && differ("PMI_SIZE", "SLURM_STEP_NUM_TASKS"));
}

bool advice_is_own(void)
{
    const char *told = getenv("NUIOA_EXEC");
    char id[NUIOA_RANK_ID_SIZE];
    nuioa_rank_id(environ, id);
    return told && !strcmp(told, id);
}

int advice_devices_from_environment(struct nuioa_client *advice)
{
    const char *table = getenv("NUIOA_GPU_NICS");
    advice->has_level = read_u32("NUIOA_LEVEL", INT32_MAX, &advice->level);
    gpu_nics_clear(&advice->gpu_nics);
    if (read_string("NUIOA_NIC", &advice->nic) < 0 ||
        read_string("NUIOA_NICS", &advice->nics) < 0 ||
        read_string("NUIOA_GPUS", &advice->gpus) < 0)
        return -ENOMEM;
    return table && *table ? gpu_nics_parse(&advice->gpu_nics, table) : 0;
}

int advice_from_environment(struct nuioa_client *advice)
{
    uint32_t version;
    const char *weight = getenv("NUIOA_WEIGHT");
    if (!read_u32("NUIOA_VERSION", UINT32_MAX, &version) || !version ||
        (is_foreign() && !advice_is_own()))
        return 0;
    advice->source = NUIOA_CLIENT_ENVIRONMENT;
    advice->planned = getenv("NUIOA_PLANNED") != NULL;
    advice->has_leader = read_u32("NUIOA_LEADER", UINT32_MAX - 2, &advice->leader);
    read_u32("NUIOA_NEAR", UINT32_MAX, &advice->near);
    advice->has_weight = weight && !nuioa_parse_decimal(weight, &advice->weight);
    if (read_list("NUIOA_ORDER", &advice->order) < 0 ||
        read_string("NUIOA_CPUS", &advice->cpus) < 0)
        return -ENOMEM;
    return advice_devices_from_environment(advice);
}
