/* SPDX-License-Identifier: BSD-3-Clause */

/* A libpmix that answers as for rank 5 of the step "slurm.pmix.7.0". client_pmix_test.c loads it,
 * and sets what it does by the variable PMIX_STAND_IN. */

#include <pmix_common.h>
#include <stdlib.h>
#include <string.h>

int PMIx_Initialized(void);
pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value);

static int is(const char *word)
{
    const char *does = getenv("PMIX_STAND_IN");
    return does && !strcmp(does, word);
}

int PMIx_Initialized(void)
{
    return !is("not initialized");
}

static void put_ranks(pmix_value_t *value, uint32_t first, uint32_t second)
{
    uint32_t *ranks = malloc(2 * sizeof(*ranks));
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = calloc(1, sizeof(*value->data.darray));
    if (!ranks || !value->data.darray)
        abort();
    ranks[0] = first;
    ranks[1] = second;
    value->data.darray->type = is("other arrays") ? PMIX_UINT32 : PMIX_PROC_RANK;
    value->data.darray->size = 2;
    value->data.darray->array = ranks;
}

/* An array of structs that have texts of their own. */
static void put_distances(pmix_value_t *value)
{
    pmix_device_distance_t *distances = calloc(2, sizeof(*distances));
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = calloc(1, sizeof(*value->data.darray));
    if (!distances || !value->data.darray)
        abort();
    distances[0].uuid = strdup("fab://1");
    distances[0].osname = strdup("mlx5_0");
    distances[1].osname = strdup("mlx5_1");
    value->data.darray->type = PMIX_DEVICE_DIST;
    value->data.darray->size = 2;
    value->data.darray->array = distances;
}

static void put_text(pmix_value_t *value, const char *text)
{
    value->type = PMIX_STRING;
    value->data.string = strdup(text);
}

/* What all ranks of the node share. */
static int put_node(pmix_value_t *value, const char *key)
{
    if (!strcmp(key, "nuioa.version") || !strcmp(key, "nuioa.near")) {
        value->type = is("other types") ? PMIX_UINT64 : PMIX_UINT32;
        value->data.uint32 = is("version 0") ? 0 : 1;
    } else if (!strcmp(key, "nuioa.planned")) {
        value->type = PMIX_BOOL;
        value->data.flag = true;
    } else if (!strcmp(key, "nuioa.leader")) {
        value->type = PMIX_PROC_RANK;
        value->data.rank = 6;
    } else if (!strcmp(key, "nuioa.order") && is("distances")) {
        put_distances(value);
    } else if (!strcmp(key, "nuioa.order")) {
        put_ranks(value, 6, 5);
    } else if (!strcmp(key, "nuioa.rail_leaders")) {
        put_ranks(value, 6, 4);
    } else if (!strcmp(key, "nuioa.leaders")) {
        put_ranks(value, 0, 6);
    } else {
        return 0;
    }
    return 1;
}

static int put_own(pmix_value_t *value, const char *key)
{
    if (!strcmp(key, "nuioa.level")) {
        value->type = PMIX_UINT32;
        value->data.uint32 = 2;
    } else if (!strcmp(key, "nuioa.weight")) {
        value->type = PMIX_DOUBLE;
        value->data.dval = 12.5;
    } else if (!strcmp(key, "nuioa.nic")) {
        put_text(value, "mlx5_1:1");
    } else if (!strcmp(key, "nuioa.nics")) {
        put_text(value, "mlx5_1:1,mlx5_0:1");
    } else if (!strcmp(key, "nuioa.gpus")) {
        put_text(value, "0000:2a:00.0");
    } else if (!strcmp(key, "nuioa.gpu_nics")) {
        put_text(value, "0000:2a:00.0=mlx5_1:1;0000:3b:00.0=mlx5_0:1+mlx5_1:1");
    } else if (!strcmp(key, "nuioa.cpus")) {
        put_text(value, "2-3");
    } else {
        return 0;
    }
    return 1;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value)
{
    pmix_value_t *made = calloc(1, sizeof(*made));
    if (!made || count != 1 || strcmp(info->key, PMIX_OPTIONAL)) /* no question to the server */
        abort();
    int known = !strcmp(proc->nspace, "slurm.pmix.7.0") && !is("knows nothing");
    if (known && proc->rank == PMIX_RANK_WILDCARD)
        known = put_node(made, key);
    else if (known)
        known = proc->rank == 5 && put_own(made, key);
    if (!known)
        free(made);
    else
        *value = made;
    return known ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}
