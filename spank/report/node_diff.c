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

/* --- what may differ of a NIC: each writes it into text[size], and returns it or a constant --- */

static const char *kind_of(const struct wire_nic *nic, char *text, size_t size)
{
    (void)text, (void)size;
    return nuioa_nic_kind_name((enum nuioa_nic_kind)nic->kind);
}

static const char *state_of(const struct wire_nic *nic, char *text, size_t size)
{
    (void)text, (void)size;
    return nuioa_nic_state_name((enum nuioa_nic_state)nic->state);
}

/* Such as "NUMA node 1". */
static const char *place_of(const struct wire_nic *nic, char *text, size_t size)
{
    const char *numas = nic->numas;
    if (!*numas)
        return "an unknown NUMA node";
    snprintf(text, size, "NUMA node%s %s", numas[strcspn(numas, ",-")] ? "s" : "", numas);
    return text;
}

static const char *rate_of(const struct wire_nic *nic, char *text, size_t size)
{
    return nic->rate_mbps ? nuioa_report_rate(nic->rate_mbps, text, size) : "an unknown rate";
}

/* Such as "for storage", or "perhaps for storage" if that is a guess. */
static const char *purpose_of(const struct wire_nic *nic, char *text, size_t size)
{
    const char *role = nuioa_nic_role_name((enum nuioa_nic_role)nic->role);
    if (!role)
        return "of an unknown role";
    snprintf(text, size, "%sfor %s", nic->role_source == NUIOA_ROLE_BY_GUESS ? "perhaps " : "",
             role);
    return text;
}

/* Which GPUs it is beside, such as "GPU 0". */
static const char *gpus_of(const struct wire_nic *nic, char *text, size_t size)
{
    if (!*nic->gpus)
        return "no GPU";
    snprintf(text, size, "GPU%s %s", nic->gpus[strcspn(nic->gpus, ",-")] ? "s" : "", nic->gpus);
    return text;
}

/* Where the GPUs are others, those beside a NIC say nothing more. */
static void compare_nic(const struct writer *w, const struct wire_nic *usual,
                        const struct wire_nic *other, bool same_gpus)
{
    static const struct {
        char verb[16];
        const char *(*of)(const struct wire_nic *nic, char *text, size_t size);
    } facts[] = {
        { "is", kind_of },  { "is", state_of },   { "is on", place_of },
        { "has", rate_of }, { "is", purpose_of }, { "is beside", gpus_of },
    };
    unsigned count = sizeof(facts) / sizeof(*facts) - !same_gpus;
    for (unsigned i = 0; i < count; i++) {
        char here[64], there[64];
        const char *is = facts[i].of(other, here, sizeof(here));
        const char *elsewhere = facts[i].of(usual, there, sizeof(there));
        if (strcmp(is, elsewhere))
            put(w, "%s %s %s, elsewhere %s%s", other->label, facts[i].verb, is,
                facts[i].of == place_of ? "on " : "", elsewhere);
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
