/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/client/advice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"

static void clear_list(struct rank_list *list)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): each list has an array of its own. */
    free(list->ranks);
    *list = (struct rank_list){ 0 };
}

void advice_clear(struct nuioa_client *advice)
{
    clear_list(&advice->order);
    clear_list(&advice->rails);
    free(advice->nic);
    free(advice->nics);
    free(advice->gpus);
    free(advice->cpus);
    gpu_nics_clear(&advice->gpu_nics);
    *advice = (struct nuioa_client){ 0 };
}

static bool holds(const struct rank_list *list, uint32_t rank)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->ranks[i] == rank)
            return true;
    return false;
}

bool advice_own_rank(uint32_t *rank)
{
    const char *text = getenv("PMIX_RANK");
    if (!text)
        text = getenv("SLURM_PROCID");
    return text && !nuioa_parse_u32(text, UINT32_MAX, rank);
}

/* Returns false if the advice contradicts itself. A process that srun did not start may have
 * inherited the variables of a rank, perhaps of one on another node. Then its own rank is rarely in
 * the order. */
static bool is_sound(const struct nuioa_client *advice, bool certain)
{
    const struct rank_list *order = &advice->order;
    uint32_t own;
    if (!order->count)
        return advice->near <= 1;
    return advice->has_leader && order->ranks[0] == advice->leader &&
           advice->near <= order->count && (certain || !advice_own_rank(&own) || holds(order, own));
}

int advice_name_only_gpu(struct nuioa_client *advice)
{
    if (advice->gpu_nics.count || !advice->gpus || !advice->nics || strchr(advice->gpus, ','))
        return 0;
    size_t size = strlen(advice->gpus) + strlen(advice->nics) + 2;
    char *text = malloc(size);
    if (!text)
        return -ENOMEM;
    snprintf(text, size, "%s=%s", advice->gpus, advice->nics);
    for (char *c = text; (c = strchr(c, ','));)
        *c = '+';
    int rc = gpu_nics_parse(&advice->gpu_nics, text);
    free(text);
    return rc;
}

void advice_check(struct nuioa_client *advice, bool own)
{
    if (advice->has_leader && !advice->near)
        advice->near = 1;
    if (!advice->order.count && advice->near > 1)
        advice->near = 1; /* the order was too long for the environment */
    if (!is_sound(advice, own))
        advice_clear(advice);
}
