/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/client/nuioa-client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pmix/client/advice.h"
#include "util/hash.h"

struct nuioa_client *nuioa_client_open(void)
{
    struct nuioa_client *client = calloc(1, sizeof(*client));
    if (!client)
        return NULL;
    int rc = advice_from_pmix(client);
    if (!rc && client->source == NUIOA_CLIENT_NOTHING)
        rc = advice_from_environment(client);
    else if (!rc && advice_is_own())
        rc = advice_devices_from_environment(client);
    if (!rc)
        rc = advice_name_only_gpu(client);
    if (rc < 0) {
        nuioa_client_close(client);
        return NULL;
    }
    advice_check(client, advice_is_own());
    return client;
}

void nuioa_client_close(struct nuioa_client *client)
{
    if (!client)
        return;
    advice_clear(client);
    free(client);
}

enum nuioa_client_source nuioa_client_source(const struct nuioa_client *client)
{
    return client ? client->source : NUIOA_CLIENT_NOTHING;
}

int nuioa_client_is_planned(const struct nuioa_client *client)
{
    return client && client->planned;
}

/* --- this process ---------------------------------------------------------------------------- */

const char *nuioa_client_nic(const struct nuioa_client *client)
{
    return client ? client->nic : NULL;
}

const char *nuioa_client_nics(const struct nuioa_client *client)
{
    return client ? client->nics : NULL;
}

const char *nuioa_client_gpus(const struct nuioa_client *client)
{
    return client ? client->gpus : NULL;
}

int nuioa_client_nics_of_gpu(const struct nuioa_client *client, const char *gpu, const char **nics)
{
    static const struct gpu_nics none;
    return gpu_nics_find(client ? &client->gpu_nics : &none, "", gpu, nics);
}

int nuioa_client_level(const struct nuioa_client *client)
{
    return client && client->has_level ? (int)client->level : -ENOENT;
}

int nuioa_client_weight(const struct nuioa_client *client, double *weight)
{
    if (!client || !client->has_weight)
        return -ENOENT;
    *weight = client->weight;
    return 0;
}

const char *nuioa_client_cpus(const struct nuioa_client *client)
{
    return client ? client->cpus : NULL;
}

/* --- leaders --------------------------------------------------------------------------------- */

int nuioa_client_leader(const struct nuioa_client *client, uint32_t *rank)
{
    if (!client || !client->has_leader)
        return -ENOENT;
    *rank = client->leader;
    return 0;
}

static size_t give(const struct rank_list *list, const uint32_t **ranks)
{
    *ranks = list ? list->ranks : NULL;
    return list ? list->count : 0;
}

size_t nuioa_client_order(const struct nuioa_client *client, const uint32_t **ranks)
{
    return give(client ? &client->order : NULL, ranks);
}

size_t nuioa_client_rail_leaders(const struct nuioa_client *client, const uint32_t **ranks)
{
    return give(client ? &client->rails : NULL, ranks);
}

static int index_of(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank)
            return (int)i;
    return -ENOENT;
}

/* Searches the order from index *next to `end` for the first rank that is in `ranks`. Returns its
 * index in `ranks`, and moves *next behind it; or -ENOENT. */
static int next_best(const struct rank_list *order, size_t end, size_t *next, const uint32_t *ranks,
                     size_t count)
{
    while (*next < end) {
        int index = index_of(ranks, count, order->ranks[(*next)++]);
        if (index >= 0)
            return index;
    }
    return -ENOENT;
}

int nuioa_client_best(const struct nuioa_client *client, const uint32_t *ranks, size_t count)
{
    size_t next = 0;
    if (!client || !client->has_leader)
        return -ENOENT;
    if (!client->order.count) /* it was too long for the environment */
        return index_of(ranks, count, client->leader);
    return next_best(&client->order, client->order.count, &next, ranks, count);
}

size_t nuioa_client_near(const struct nuioa_client *client, const uint32_t *ranks, size_t count,
                         uint32_t *indexes)
{
    int index = nuioa_client_best(client, ranks, count);
    size_t next = 0, found = 0;
    if (index < 0)
        return 0;
    if (indexes)
        indexes[0] = (uint32_t)index;
    /* an order that somebody else has made may name a rank twice */
    while (client->order.count && found < count &&
           (index = next_best(&client->order, client->near, &next, ranks, count)) >= 0) {
        if (indexes)
            indexes[found] = (uint32_t)index;
        found++;
    }
    return found ? found : 1;
}

/* --- agreeing -------------------------------------------------------------------------------- */

static uint64_t add_list(uint64_t digest, const struct rank_list *list)
{
    digest = nuioa_hash_u32(digest, (uint32_t)list->count);
    for (size_t i = 0; i < list->count; i++)
        digest = nuioa_hash_u32(digest, list->ranks[i]);
    return digest;
}

uint64_t nuioa_client_digest(const struct nuioa_client *client, enum nuioa_client_subject subject)
{
    if (!client || !client->has_leader || subject != NUIOA_CLIENT_NODE)
        return 0;
    uint64_t digest = nuioa_hash_u32(NUIOA_HASH_START, (uint32_t)subject + 1);
    digest = add_list(nuioa_hash_u32(nuioa_hash_u32(digest, client->leader), client->near),
                      &client->order);
    return digest ? digest : 1;
}

void nuioa_client_vote(const struct nuioa_client *client, enum nuioa_client_subject subject,
                       uint64_t vote[2])
{
    vote[0] = nuioa_client_digest(client, subject);
    vote[1] = ~vote[0];
}

int nuioa_client_agreed(const uint64_t vote[2])
{
    return vote[0] && vote[0] == ~vote[1];
}
