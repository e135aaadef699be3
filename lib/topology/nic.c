/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/node.h"
#include "topology/policy.h"

static const char *const kind_names[NUIOA_NIC_KINDS] = {
    [NUIOA_NIC_OTHER] = "other",
    [NUIOA_NIC_ETHERNET] = "ethernet",
    [NUIOA_NIC_EFA] = "efa",
    [NUIOA_NIC_SLINGSHOT] = "slingshot",
    [NUIOA_NIC_OMNIPATH] = "omnipath",
    [NUIOA_NIC_ROCE] = "roce",
    [NUIOA_NIC_INFINIBAND] = "infiniband",
};

const char *nuioa_nic_kind_name(enum nuioa_nic_kind kind)
{
    return (unsigned)kind < NUIOA_NIC_KINDS ? kind_names[kind] : kind_names[NUIOA_NIC_OTHER];
}

const char *nuioa_nic_state_name(enum nuioa_nic_state state)
{
    return state == NUIOA_NIC_ACTIVE ? "active" : state == NUIOA_NIC_DOWN ? "down" : "unknown";
}

const char *nuioa_locality_name(enum nuioa_locality locality)
{
    switch (locality) {
    case NUIOA_LOCALITY_HWLOC: return "hwloc";
    case NUIOA_LOCALITY_OVERRIDE: return "override";
    case NUIOA_LOCALITY_SYSFS: return "sysfs";
    case NUIOA_LOCALITY_UNKNOWN: break;
    }
    return "unknown";
}

const char *nuioa_nic_label(const struct nuioa_nic *nic, char *text, size_t size)
{
    if (nic->port)
        snprintf(text, size, "%s:%u", nic->name, nic->port);
    else
        snprintf(text, size, "%s", nic->name);
    return text;
}

/* --- what auto takes -------------------------------------------------------------------------- */

/* Returns why auto cannot take a NIC, before any comparison; NULL if it can. */
static const char *unfit(const struct nuioa_nic *nic)
{
    if (nic->is_virtual)
        return "virtual";
    if (nic->state == NUIOA_NIC_DOWN)
        return "down";
    if (nic->kind == NUIOA_NIC_OTHER)
        return "not a kind of network that MPI uses";
    if (nic->rate_mbps && nic->rate_mbps < NUIOA_NIC_MIN_RATE_MBPS)
        return "slower than 8 Gb/s";
    return NULL;
}

static bool same_fabric(const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    return a->kind == b->kind && !strcmp(a->fabric, b->fabric);
}

/* Drivers round rates differently: FDR InfiniBand is 54.5 or 56 Gb/s. */
static bool same_rate(uint32_t a_mbps, uint32_t b_mbps)
{
    uint64_t low = a_mbps < b_mbps ? a_mbps : b_mbps, high = a_mbps < b_mbps ? b_mbps : a_mbps;
    return high * 10 <= low * 11;
}

static bool is_candidate(const struct nuioa_node *node, const bool *barred, uint32_t index)
{
    return !(barred && barred[index]) && !unfit(&node->nics[index]);
}

static uint32_t fabric_size(const struct nuioa_node *node, const bool *barred, uint32_t of)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < node->nic_count; i++)
        size += is_candidate(node, barred, i) && same_fabric(&node->nics[i], &node->nics[of]) &&
                same_rate(node->nics[i].rate_mbps, node->nics[of].rate_mbps);
    return size;
}

/* Orders kinds of equal or unknown rate: MPI libraries perform best on the kind with the largest
 * number. */
static unsigned preference(enum nuioa_nic_kind kind)
{
    static const unsigned char order[NUIOA_NIC_KINDS] = {
        [NUIOA_NIC_ETHERNET] = 1,  [NUIOA_NIC_ROCE] = 2,     [NUIOA_NIC_EFA] = 3,
        [NUIOA_NIC_SLINGSHOT] = 4, [NUIOA_NIC_OMNIPATH] = 5, [NUIOA_NIC_INFINIBAND] = 6,
    };
    return order[kind];
}

static bool bypasses_kernel(const struct nuioa_nic *nic)
{
    return preference(nic->kind) > preference(NUIOA_NIC_ETHERNET);
}

/* Returns more than 0 if `a` is better, less than 0 if `b` is, 0 if they are equal. */
static int compare(const struct nuioa_nic *a, const struct nuioa_nic *b, enum nuioa_policy policy)
{
    if (policy == NUIOA_POLICY_LATENCY && bypasses_kernel(a) != bypasses_kernel(b))
        return bypasses_kernel(a) ? 1 : -1;
    if (!same_rate(a->rate_mbps, b->rate_mbps))
        return a->rate_mbps > b->rate_mbps ? 1 : -1;
    return (int)preference(a->kind) - (int)preference(b->kind);
}

bool nuioa_nic_prefer(const struct nuioa_nic *a, const struct nuioa_nic *b,
                      enum nuioa_policy policy)
{
    return compare(a, b, policy) > 0;
}

/* Returns true if the fabric of NIC `a` is better than that of `b`. If the NICs are equal, the
 * fabric with more ports is better. If those are equal too it returns false, so that the first one
 * in PCI order is kept. */
static bool goes_before(const struct nuioa_node *node, const bool *barred, uint32_t a, uint32_t b,
                        enum nuioa_policy policy)
{
    int order = compare(&node->nics[a], &node->nics[b], policy);
    return order ? order > 0 : fabric_size(node, barred, a) > fabric_size(node, barred, b);
}

/* Returns a NIC of the best fabric and rate, or -1 if there is no candidate. */
static int32_t choose(const struct nuioa_node *node, const bool *barred, enum nuioa_policy policy)
{
    int32_t best = -1;
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (is_candidate(node, barred, i) &&
            (best < 0 || goes_before(node, barred, i, (uint32_t)best, policy)))
            best = (int32_t)i;
    return best;
}

static bool belongs(const struct nuioa_nic *nic, const struct nuioa_nic *best)
{
    return same_fabric(nic, best) && same_rate(nic->rate_mbps, best->rate_mbps);
}

static void explain(struct nuioa_nic *nic, const struct nuioa_nic *best)
{
    const char *why = unfit(nic);
    char label[48];
    nuioa_nic_label(best ? best : nic, label, sizeof(label));
    if (why)
        nuioa_copy(nic->why, sizeof(nic->why), why);
    else if (!best || belongs(nic, best))
        nic->why[0] = '\0';
    else if (best->rate_mbps && !nic->rate_mbps)
        snprintf(nic->why, sizeof(nic->why), "rate unknown, unlike %.40s's", label);
    else if (!same_rate(nic->rate_mbps, best->rate_mbps))
        snprintf(nic->why, sizeof(nic->why), "slower than %.40s", label);
    else
        snprintf(nic->why, sizeof(nic->why), "another fabric than %.40s", label);
    nic->usable = !nic->why[0];
}

void nuioa_nic_judge(struct nuioa_node *node)
{
    int32_t best = choose(node, NULL, NUIOA_POLICY_BANDWIDTH);
    /* All comparisons use unfit(), never `usable`, so the order of this loop does not matter. */
    for (uint32_t i = 0; i < node->nic_count; i++)
        explain(&node->nics[i], best < 0 ? NULL : &node->nics[best]);
}

/* --- patterns --------------------------------------------------------------------------------- */

enum { WORD_MAX = 64 };

/* Copies the next word of a comma list to word[WORD_MAX]. Returns 1, 0 at the end of the list, or
 * -EINVAL with *err. */
static int next_pattern(const char **rest, char *word, struct nuioa_error *err)
{
    if (!*rest)
        return 0;
    size_t length = strcspn(*rest, ",");
    if (!length || length >= WORD_MAX)
        return nuioa_fail(err, -EINVAL,
                          "'%.40s' begins with %s; expected auto, or names, globs or kinds with "
                          "commas between, ^ before one to exclude it",
                          *rest, length ? "a word that is too long" : "an empty word");
    memcpy(word, *rest, length);
    word[length] = '\0';
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return 1;
}

static int check_word(const char *word, struct nuioa_error *err)
{
    const char *name = word + (word[0] == '^');
    if (!*name)
        return nuioa_fail(err, -EINVAL,
                          "'%s' excludes nothing; the name, glob or kind of a NIC follows ^", word);
    if (!strcmp(word, "^auto"))
        return nuioa_fail(err, -EINVAL, "^auto leaves nothing; exclude NICs by name, glob or kind");
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._:-*?[]!@", *c))
            return nuioa_fail(err, -EINVAL, "'%c' in \"%s\" is in no device name or glob", *c,
                              name);
    /* Classes such as [:alpha:] and [.a.] are refused: root reads the user's globs, and should not
     * run libc's parser of these. */
    if (strstr(name, "[:") || strstr(name, "[."))
        return nuioa_fail(err, -EINVAL, "'[' before ':' or '.' in \"%s\"", name);
    return 0;
}

int nuioa_nic_check(const char *pattern, struct nuioa_error *err)
{
    char word[WORD_MAX];
    const char *rest = pattern;
    int more;
    while ((more = next_pattern(&rest, word, err)) > 0)
        if (check_word(word, err))
            return -EINVAL;
    return more;
}

enum match { NO_MATCH, BY_CLASS, BY_NAME };

static enum match match(const struct nuioa_nic *nic, const char *word)
{
    char label[48];
    nuioa_nic_label(nic, label, sizeof(label));
    const char *const names[] = { nic->name, label, nic->netdev, nic->pci };
    for (unsigned i = 0; i < 4; i++)
        if (names[i][0] && !strcmp(names[i], word))
            return BY_NAME;
    if (!strcmp(nuioa_nic_kind_name(nic->kind), word))
        return BY_CLASS;
    if (strpbrk(word, "*?["))
        for (unsigned i = 0; i < 4; i++)
            if (names[i][0] && !fnmatch(word, names[i], 0))
                return BY_CLASS;
    return NO_MATCH;
}

static bool is_kind(const char *word)
{
    for (unsigned i = 0; i < NUIOA_NIC_KINDS; i++)
        if (!strcmp(word, kind_names[i]))
            return true;
    return false;
}

/* Sets marked[i] for the NICs that one word of the pattern matches. */
static void mark(const struct nuioa_node *node, const char *word, bool excluding, bool *marked,
                 struct nuioa_warnings *warnings)
{
    bool any = false;
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        enum match how = match(nic, word);
        any = any || how != NO_MATCH;
        if (how == NO_MATCH || marked[i])
            continue;
        if (excluding)
            marked[i] = true;
        else if (nic->state == NUIOA_NIC_DOWN && how == BY_NAME)
            nuioa_warn(warnings, "nic: %s port is down, not used", word);
        else
            marked[i] = nic->state != NUIOA_NIC_DOWN && (how == BY_NAME || !nic->is_virtual);
    }
    /* Excluding a NIC that does not exist is no mistake. */
    if (!excluding && !any && !is_kind(word) && !strpbrk(word, "*?["))
        nuioa_warn(warnings, "nic: no \"%s\" here", word);
}

static void take_auto(const struct nuioa_node *node, const bool *barred, enum nuioa_policy policy,
                      bool *taken)
{
    int32_t best = choose(node, barred, policy);
    for (uint32_t i = 0; best >= 0 && i < node->nic_count; i++)
        if (is_candidate(node, barred, i) && belongs(&node->nics[i], &node->nics[best]))
            taken[i] = true;
}

int nuioa_nic_select(const struct nuioa_node *node, const char *pattern, enum nuioa_policy policy,
                     bool *taken, struct nuioa_warnings *warnings, struct nuioa_error *err)
{
    char word[WORD_MAX];
    bool includes = false, automatic = false;
    memset(taken, 0, node->nic_count * sizeof(*taken));
    if (nuioa_nic_check(pattern, err))
        return -EINVAL;
    bool *barred = calloc(node->nic_count + 1, sizeof(*barred));
    if (!barred)
        return nuioa_fail(err, -ENOMEM, "nic: out of memory");
    for (const char *rest = pattern; next_pattern(&rest, word, err) > 0;) {
        bool excluding = word[0] == '^', is_auto = !strcmp(word, "auto");
        includes = includes || !excluding;
        automatic = automatic || is_auto;
        if (!is_auto)
            mark(node, word + excluding, excluding, excluding ? barred : taken, warnings);
    }
    if (automatic || !includes)
        take_auto(node, barred, policy, taken);
    int count = 0;
    for (uint32_t i = 0; i < node->nic_count; i++) {
        taken[i] = taken[i] && !barred[i];
        count += taken[i];
    }
    free(barred);
    return count;
}
