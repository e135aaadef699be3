/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/node_diff.h"

#include <stdio.h>
#include <string.h>

#include "util/hash.h"

uint64_t node_diff_digest(const struct record *r)
{
    const uint32_t numbers[] = { r->head->numa_count, r->head->core_count, r->head->gpu_count,
                                 r->head->nic_count };
    uint64_t digest = nuioa_hash(NUIOA_HASH_START, numbers, sizeof(numbers));
    digest = nuioa_hash_text(digest, r->head->gpus);
    return nuioa_hash(digest, r->nics, r->head->nic_count * sizeof(*r->nics));
}

static const struct wire_nic *find(const struct record *r, const char *label)
{
    for (uint32_t i = 0; i < r->head->nic_count; i++)
        if (!strcmp(r->nics[i].label, label))
            return &r->nics[i];
    return NULL;
}

/* A NIC may differ in these facts; each has its words in front of it. */
enum fact { KIND, STATE, PLACE, RATE, PURPOSE, GPUS, FACTS };
static const char verbs[FACTS][16] = { "is", "is", "is on", "has", "is", "is beside" };
typedef char facts[FACTS][64];

/* Writes such as "NUMA node 1" or "GPUs 0-1". */
static void put_list(char text[64], const char *what, const char *numbers, const char *none)
{
    if (*numbers)
        snprintf(text, 64, "%s%s %s", what, numbers[strcspn(numbers, ",-")] ? "s" : "", numbers);
    else
        nuioa_copy(text, 64, none);
}

static void put_facts(facts facts, const struct wire_nic *nic)
{
    const char *role = nuioa_nic_role_name((enum nuioa_nic_role)nic->role);
    bool guessed = nic->role_source == NUIOA_ROLE_BY_GUESS;
    nuioa_copy(facts[KIND], 64, nuioa_nic_kind_name((enum nuioa_nic_kind)nic->kind));
    nuioa_copy(facts[STATE], 64, nuioa_nic_state_name((enum nuioa_nic_state)nic->state));
    put_list(facts[PLACE], "NUMA node", nic->numas, "an unknown NUMA node");
    nuioa_copy(facts[RATE], 64, "an unknown rate");
    if (nic->rate_mbps)
        nuioa_report_rate(nic->rate_mbps, facts[RATE], 64);
    nuioa_copy(facts[PURPOSE], 64, "of an unknown role");
    if (role)
        snprintf(facts[PURPOSE], 64, "%sfor %s", guessed ? "perhaps " : "", role);
    put_list(facts[GPUS], "GPU", nic->gpus, "no GPU");
}

/* Where the GPUs are others, those beside a NIC say nothing more. */
static void compare_nic(struct host_groups *groups, const char *host, const struct wire_nic *usual,
                        const struct wire_nic *other, bool same_gpus)
{
    facts here, there;
    put_facts(here, other);
    put_facts(there, usual);
    for (enum fact i = 0; i < (same_gpus ? FACTS : GPUS); i++)
        if (strcmp(here[i], there[i]))
            host_groups_add(groups, host, "%s %s %s, elsewhere %s%s", other->label, verbs[i],
                            here[i], i == PLACE ? "on " : "", there[i]);
    if (strcmp(usual->fabric, other->fabric) && *usual->fabric && *other->fabric)
        host_groups_add(groups, host, "%s is in InfiniBand subnet %s, elsewhere %s", other->label,
                        other->fabric, usual->fabric);
    if (usual->usable != other->usable && usual->state == other->state &&
        usual->role == other->role)
        host_groups_add(groups, host, "%s is %s", other->label,
                        other->usable ? "usable, elsewhere not" : "not usable");
}

static void compare_count(struct host_groups *groups, const char *host, const char *what,
                          uint32_t usual, uint32_t other)
{
    if (usual != other)
        host_groups_add(groups, host, "%u %s%s, elsewhere %u", other, what,
                        nuioa_report_plural(other), usual);
}

void node_diff_add(struct host_groups *groups, const char *host, const struct record *usual,
                   const struct record *other)
{
    const struct wire_record *a = usual->head, *b = other->head;
    bool same_gpus = !strcmp(a->gpus, b->gpus);
    compare_count(groups, host, "NUMA node", a->numa_count, b->numa_count);
    compare_count(groups, host, "core", a->core_count, b->core_count);
    compare_count(groups, host, "GPU", a->gpu_count, b->gpu_count);
    if (!same_gpus && a->gpu_count && b->gpu_count)
        host_groups_add(groups, host, "GPUs are %s, elsewhere %s", b->gpus, a->gpus);
    same_gpus = same_gpus && a->gpu_count == b->gpu_count;
    for (uint32_t i = 0; i < usual->head->nic_count; i++) {
        const struct wire_nic *nic = find(other, usual->nics[i].label);
        if (nic)
            compare_nic(groups, host, &usual->nics[i], nic, same_gpus);
        else
            host_groups_add(groups, host, "no %s", usual->nics[i].label);
    }
    for (uint32_t i = 0; i < other->head->nic_count; i++)
        if (!find(usual, other->nics[i].label))
            host_groups_add(groups, host, "has %s, others have not", other->nics[i].label);
}
