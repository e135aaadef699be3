/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/node_diff.h"

#include <stdarg.h>
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

/* Where the texts go, and whose they are. */
struct writer {
    struct host_groups *groups;
    const char *host;
};

__attribute__((format(printf, 2, 3))) static void put(const struct writer *w, const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    host_groups_add(w->groups, w->host, text);
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

/* Such as "NUMA node 1" or "GPUs 0-1". */
static const char *list_of(const char *what, const char *numbers, char *text, size_t size)
{
    snprintf(text, size, "%s%s %s", what, numbers[strcspn(numbers, ",-")] ? "s" : "", numbers);
    return text;
}

/* Returns the fact, which may be written into text[size]. */
static const char *fact_of(const struct wire_nic *nic, enum fact fact, char *text, size_t size)
{
    const char *role = nuioa_nic_role_name((enum nuioa_nic_role)nic->role);
    switch (fact) {
    case KIND: return nuioa_nic_kind_name((enum nuioa_nic_kind)nic->kind);
    case STATE: return nuioa_nic_state_name((enum nuioa_nic_state)nic->state);
    case PLACE:
        return *nic->numas ? list_of("NUMA node", nic->numas, text, size) : "an unknown NUMA node";
    case RATE:
        return nic->rate_mbps ? nuioa_report_rate(nic->rate_mbps, text, size) : "an unknown rate";
    case PURPOSE:
        if (!role)
            return "of an unknown role";
        snprintf(text, size, "%sfor %s", nic->role_source == NUIOA_ROLE_BY_GUESS ? "perhaps " : "",
                 role);
        return text;
    default: return *nic->gpus ? list_of("GPU", nic->gpus, text, size) : "no GPU";
    }
}

/* Where the GPUs are others, those beside a NIC say nothing more. */
static void compare_nic(const struct writer *w, const struct wire_nic *usual,
                        const struct wire_nic *other, bool same_gpus)
{
    for (enum fact i = 0; i < (same_gpus ? FACTS : GPUS); i++) {
        char here[64], there[64];
        const char *is = fact_of(other, i, here, sizeof(here));
        const char *elsewhere = fact_of(usual, i, there, sizeof(there));
        if (strcmp(is, elsewhere))
            put(w, "%s %s %s, elsewhere %s%s", other->label, verbs[i], is, i == PLACE ? "on " : "",
                elsewhere);
    }
    if (strcmp(usual->fabric, other->fabric) && *usual->fabric && *other->fabric)
        put(w, "%s is in InfiniBand subnet %s, elsewhere %s", other->label, other->fabric,
            usual->fabric);
    if (usual->usable != other->usable && usual->state == other->state &&
        usual->role == other->role)
        put(w, "%s is %s", other->label, other->usable ? "usable, elsewhere not" : "not usable");
}

static void compare_count(const struct writer *w, const char *what, uint32_t usual, uint32_t other)
{
    if (usual != other)
        put(w, "%u %s%s, elsewhere %u", other, what, nuioa_report_plural(other), usual);
}

/* Returns true if both have the same GPUs. */
static bool compare_gpus(const struct writer *w, const struct wire_record *usual,
                         const struct wire_record *other)
{
    bool same_kinds = !strcmp(usual->gpus, other->gpus);
    compare_count(w, "GPU", usual->gpu_count, other->gpu_count);
    if (!same_kinds && usual->gpu_count && other->gpu_count)
        put(w, "GPUs are %s, elsewhere %s", other->gpus, usual->gpus);
    return same_kinds && usual->gpu_count == other->gpu_count;
}

void node_diff_add(struct host_groups *groups, const char *host, const struct record *usual,
                   const struct record *other)
{
    const struct writer w = { groups, host };
    compare_count(&w, "NUMA node", usual->head->numa_count, other->head->numa_count);
    compare_count(&w, "core", usual->head->core_count, other->head->core_count);
    bool same_gpus = compare_gpus(&w, usual->head, other->head);
    for (uint32_t i = 0; i < usual->head->nic_count; i++) {
        const struct wire_nic *nic = find(other, usual->nics[i].label);
        if (nic)
            compare_nic(&w, &usual->nics[i], nic, same_gpus);
        else
            put(&w, "no %s", usual->nics[i].label);
    }
    for (uint32_t i = 0; i < other->head->nic_count; i++)
        if (!find(usual, other->nics[i].label))
            put(&w, "has %s, others have not", other->nics[i].label);
}
