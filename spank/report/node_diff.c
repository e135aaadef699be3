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
    for (uint32_t i = 0; i < r->head->nic_count; i++) {
        const struct wire_nic *n = &r->nics[i];
        const uint32_t facts[] = { n->state,  n->kind, n->rate_mbps,
                                   n->usable, n->role, n->role_source };
        digest = nuioa_hash(digest, facts, sizeof(facts));
        digest = nuioa_hash_text(nuioa_hash_text(digest, n->label), n->numas);
        digest = nuioa_hash_text(nuioa_hash_text(digest, n->gpus), n->fabric);
    }
    return digest;
}

struct writer {
    char (*texts)[NODE_DIFF_TEXT];
    unsigned count, max;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *fmt, ...)
{
    va_list args;
    if (w->count == w->max)
        return;
    va_start(args, fmt);
    vsnprintf(w->texts[w->count++], NODE_DIFF_TEXT, fmt, args);
    va_end(args);
}

static const struct wire_nic *find(const struct record *r, const char *label)
{
    for (uint32_t i = 0; i < r->head->nic_count; i++)
        if (!strcmp(r->nics[i].label, label))
            return &r->nics[i];
    return NULL;
}

static const char *state_name(uint32_t state)
{
    return state <= NUIOA_NIC_ACTIVE ? nuioa_nic_state_name((enum nuioa_nic_state)state) : "?";
}

/* Writes the place of a NIC, such as "NUMA node 1". */
static const char *place(const char *numas, char *text, size_t size)
{
    if (*numas)
        snprintf(text, size, "NUMA node%s %s", numas[strcspn(numas, ",-")] ? "s" : "", numas);
    else
        nuioa_copy(text, size, "an unknown NUMA node");
    return text;
}

static const char *rate(uint32_t mbps, char *text, size_t size)
{
    return mbps ? nuioa_report_rate(mbps, text, size) : "an unknown rate";
}

static const char *kind_name(uint32_t kind)
{
    return kind < NUIOA_NIC_KINDS ? nuioa_nic_kind_name((enum nuioa_nic_kind)kind) : "?";
}

/* Writes what a NIC is for, such as "for storage", or "perhaps for storage" if that is a guess. */
static const char *purpose(const struct wire_nic *nic, char *text, size_t size)
{
    const char *role = nuioa_nic_role_name((enum nuioa_nic_role)nic->role);
    if (role)
        snprintf(text, size, "%sfor %s", nic->role_source == NUIOA_ROLE_BY_GUESS ? "perhaps " : "",
                 role);
    else
        nuioa_copy(text, size, "of an unknown role");
    return text;
}

/* Writes which GPUs a NIC is beside, such as "GPU 0". */
static const char *neighbours(const char *gpus, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s", *gpus ? "GPU" : "no GPU",
             gpus[strcspn(gpus, ",-")] ? "s "
             : *gpus                   ? " "
                                       : "",
             gpus);
    return text;
}

/* Where the GPUs are others, those beside a NIC say nothing more. */
static void compare_nic(struct writer *w, const struct wire_nic *usual,
                        const struct wire_nic *other, bool same_gpus)
{
    char here[64], there[64];
    if (usual->kind != other->kind)
        put(w, "%s is %s, elsewhere %s", other->label, kind_name(other->kind),
            kind_name(usual->kind));
    if (usual->state != other->state)
        put(w, "%s is %s, elsewhere %s", other->label, state_name(other->state),
            state_name(usual->state));
    if (strcmp(usual->numas, other->numas))
        put(w, "%s is on %s, elsewhere on %s", other->label,
            place(other->numas, here, sizeof(here)), place(usual->numas, there, sizeof(there)));
    if (usual->rate_mbps != other->rate_mbps)
        put(w, "%s has %s, elsewhere %s", other->label, rate(other->rate_mbps, here, sizeof(here)),
            rate(usual->rate_mbps, there, sizeof(there)));
    if (usual->role != other->role || usual->role_source != other->role_source)
        put(w, "%s is %s, elsewhere %s", other->label, purpose(other, here, sizeof(here)),
            purpose(usual, there, sizeof(there)));
    if (strcmp(usual->gpus, other->gpus) && same_gpus)
        put(w, "%s is beside %s, elsewhere %s", other->label,
            neighbours(other->gpus, here, sizeof(here)),
            neighbours(usual->gpus, there, sizeof(there)));
    if (strcmp(usual->fabric, other->fabric) && *usual->fabric && *other->fabric)
        put(w, "%s is in InfiniBand subnet %s, elsewhere %s", other->label, other->fabric,
            usual->fabric);
    if (usual->usable != other->usable && usual->state == other->state &&
        usual->role == other->role)
        put(w, "%s is %s", other->label, other->usable ? "usable, elsewhere not" : "not usable");
}

static void compare_count(struct writer *w, const char *what, uint32_t usual, uint32_t other)
{
    if (usual != other)
        put(w, "%u %s%s, elsewhere %u", other, what, nuioa_report_plural(other), usual);
}

/* Returns true if both have the same GPUs. */
static bool compare_gpus(struct writer *w, const struct wire_record *usual,
                         const struct wire_record *other)
{
    bool same_kinds = !strcmp(usual->gpus, other->gpus);
    compare_count(w, "GPU", usual->gpu_count, other->gpu_count);
    if (!same_kinds && usual->gpu_count && other->gpu_count)
        put(w, "GPUs are %s, elsewhere %s", other->gpus, usual->gpus);
    return same_kinds && usual->gpu_count == other->gpu_count;
}

unsigned node_diff_texts(const struct record *usual, const struct record *other,
                         char (*texts)[NODE_DIFF_TEXT], unsigned max)
{
    struct writer w = { texts, 0, max };
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
    return w.count;
}
