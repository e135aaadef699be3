/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/node_diff.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/hash.h"

uint64_t node_diff_digest(const struct record *r)
{
    const uint32_t numbers[] = { r->head->numa_count, r->head->core_count, r->head->nic_count };
    uint64_t digest = nuioa_hash(NUIOA_HASH_START, numbers, sizeof(numbers));
    for (uint32_t i = 0; i < r->head->nic_count; i++) {
        const struct wire_nic *n = &r->nics[i];
        const uint32_t facts[] = { n->state, n->kind, n->rate_mbps, n->usable };
        digest = nuioa_hash(digest, facts, sizeof(facts));
        digest = nuioa_hash_text(nuioa_hash_text(digest, n->label), n->numas);
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

static void compare_nic(struct writer *w, const struct wire_nic *usual,
                        const struct wire_nic *other)
{
    char here[64], there[64];
    if (usual->state != other->state)
        put(w, "%s is %s, elsewhere %s", other->label, state_name(other->state),
            state_name(usual->state));
    if (strcmp(usual->numas, other->numas))
        put(w, "%s is on %s, elsewhere on %s", other->label,
            place(other->numas, here, sizeof(here)), place(usual->numas, there, sizeof(there)));
    if (usual->rate_mbps != other->rate_mbps)
        put(w, "%s has %s, elsewhere %s", other->label, rate(other->rate_mbps, here, sizeof(here)),
            rate(usual->rate_mbps, there, sizeof(there)));
    if (usual->usable != other->usable && usual->state == other->state)
        put(w, "%s is %s", other->label, other->usable ? "usable, elsewhere not" : "not usable");
}

static void compare_count(struct writer *w, const char *what, uint32_t usual, uint32_t other)
{
    if (usual != other)
        put(w, "%u %s%s, elsewhere %u", other, what, nuioa_report_plural(other), usual);
}

unsigned node_diff_texts(const struct record *usual, const struct record *other,
                         char (*texts)[NODE_DIFF_TEXT], unsigned max)
{
    struct writer w = { texts, 0, max };
    compare_count(&w, "NUMA node", usual->head->numa_count, other->head->numa_count);
    compare_count(&w, "core", usual->head->core_count, other->head->core_count);
    for (uint32_t i = 0; i < usual->head->nic_count; i++) {
        const struct wire_nic *nic = find(other, usual->nics[i].label);
        if (nic)
            compare_nic(&w, &usual->nics[i], nic);
        else
            put(&w, "no %s", usual->nics[i].label);
    }
    for (uint32_t i = 0; i < other->head->nic_count; i++)
        if (!find(usual, other->nics[i].label))
            put(&w, "has %s, others have not", other->nics[i].label);
    return w.count;
}
