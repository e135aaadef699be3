/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/nic_guess.h"
#include "topology/node.h"
#include "topology/pci_path.h"
#include "topology/policy.h"

static const char kind_names[NUIOA_NIC_KINDS][12] = {
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
    static const char names[][12] = { "unknown", "hwloc", "override", "sysfs" };
    return names[locality];
}

const char *nuioa_nic_role_name(enum nuioa_nic_role role)
{
    static const char *const names[NUIOA_ROLES] = { NULL, "compute", "storage", "management" };
    return (unsigned)role < NUIOA_ROLES ? names[role] : NULL;
}

const char *nuioa_role_source_name(enum nuioa_role_source source)
{
    return source == NUIOA_ROLE_BY_SITE ? "site" : source == NUIOA_ROLE_BY_GUESS ? "guess" : NULL;
}

const char *nuioa_nic_label(const struct nuioa_nic *nic, char *text, size_t size)
{
    if (nic->port)
        snprintf(text, size, "%s:%u", nic->name, nic->port);
    else
        snprintf(text, size, "%s", nic->name);
    return text;
}

/* --- fabrics and rates ------------------------------------------------------------------------ */

bool nuioa_nic_prefix_is_default(const char *fabric)
{
    return !strcmp(fabric, "fe80:0000:0000:0000");
}

bool nuioa_nic_same_fabric(const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    if (a->kind != b->kind || strcmp(a->fabric, b->fabric) != 0)
        return false;
    return !nuioa_nic_prefix_is_default(a->fabric) || !a->sm_lid || !b->sm_lid ||
           a->sm_lid == b->sm_lid;
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

/* Returns more than 0 if `a` is better, less than 0 if `b` is, 0 if they are equal. */
static int compare(const struct nuioa_nic *a, const struct nuioa_nic *b)
{
    if (!nuioa_nic_same_rate(a->rate_mbps, b->rate_mbps))
        return a->rate_mbps > b->rate_mbps ? 1 : -1;
    return (int)preference(a->kind) - (int)preference(b->kind);
}

/* NICs that are taken together: of one fabric and, for `nic=auto`, of one rate. */
static bool belongs(const struct nuioa_nic *nic, const struct nuioa_nic *best)
{
    return nuioa_nic_same_fabric(nic, best) && nuioa_nic_same_rate(nic->rate_mbps, best->rate_mbps);
}

/* --- the choice of a fabric ------------------------------------------------------------------- */

static bool is_said_other(const struct nuioa_nic *nic)
{
    return nic->role_source == NUIOA_ROLE_BY_SITE && nic->role != NUIOA_ROLE_COMPUTE;
}

/* Returns why auto cannot take a NIC, before any comparison; NULL if it can. */
static const char *unfit(const struct nuioa_nic *nic, bool all_up)
{
    if (nic->is_virtual)
        return "virtual";
    if (is_said_other(nic))
        return nic->role == NUIOA_ROLE_STORAGE ? "reserved for storage (nic-role)"
                                               : "reserved for management (nic-role)";
    if (nic->state == NUIOA_NIC_DOWN && !all_up)
        return "down";
    if (nic->kind == NUIOA_NIC_OTHER)
        return "not a kind of network that MPI uses";
    if (nic->rate_mbps && nic->rate_mbps < NUIOA_NIC_MIN_RATE_MBPS)
        return "slower than 8 Gb/s";
    return NULL;
}

/* The choice is made from the NICs in `among`. */
struct choice {
    const struct nuioa_node *node;
    const bool *among; /* [node->nic_count] */
    enum nuioa_policy policy;
    bool by_guess; /* the GPUs and the doubts count */
    bool all_up;   /* as if no port were down */
};

/* Returns true if the choice has NIC `nic`, and it is of the group of NIC `of`. */
static bool in_group(const struct choice *c, uint32_t nic, uint32_t of)
{
    return c->among[nic] && belongs(&c->node->nics[nic], &c->node->nics[of]);
}

static uint32_t group_size(const struct choice *c, uint32_t of)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < c->node->nic_count; i++)
        size += in_group(c, i, of);
    return size;
}

/* What speaks for a group on a node with GPUs. */
struct group {
    uint64_t rate; /* sum of the rates of its cards in Mbit/s; 0: unknown */
    uint32_t gpus; /* how many GPUs have one of its NICs beside them */
    bool doubted;  /* all of its NICs are */
};

static struct group group_of(const struct choice *c, uint32_t of)
{
    const struct nuioa_nic *nics = c->node->nics;
    struct group group = { .doubted = true };
    for (uint32_t i = 0; i < c->node->nic_count; i++) {
        bool again = !in_group(c, i, of);
        group.doubted &= again || nics[i].doubts;
        for (uint32_t k = 0; k < i; k++)
            again = again || (nics[k].card == nics[i].card && in_group(c, k, of));
        group.rate += again ? 0 : nics[i].rate_mbps;
    }
    for (uint32_t g = 0; g < c->node->gpu_count; g++) {
        bool beside = false;
        for (uint32_t i = 0; !beside && i < c->node->nic_count; i++)
            beside = in_group(c, i, of) && nuioa_nic_is_beside(c->node, c->among, g, i);
        group.gpus += beside;
    }
    return group;
}

/* Returns 1 if the GPUs and the doubts speak for the group of `a`, -1 for that of `b`, 0 if they
 * say nothing: one must be as fast in sum as the other, and not of a worse kind if nobody knows. */
static int compare_by_gpus(const struct choice *c, uint32_t a, uint32_t b)
{
    const struct nuioa_nic *nics = c->node->nics;
    if (!c->node->gpu_count || belongs(&nics[a], &nics[b]))
        return 0;
    const struct group one = group_of(c, a), other = group_of(c, b);
    int order = (int)other.doubted - (int)one.doubted;
    if (!order)
        order = (one.gpus > other.gpus) - (one.gpus < other.gpus);
    uint32_t winner = order > 0 ? a : b, loser = order > 0 ? b : a;
    if (nuioa_nic_bypasses_kernel(&nics[loser]) && !nuioa_nic_bypasses_kernel(&nics[winner]))
        return 0;
    uint64_t wins = order > 0 ? one.rate : other.rate, loses = order > 0 ? other.rate : one.rate;
    if (!wins || !loses)
        return preference(nics[winner].kind) >= preference(nics[loser].kind) ? order : 0;
    return wins * 11 >= loses * 10 ? order : 0;
}

/* Returns true if the fabric of NIC `a` is better than that of `b`. If the NICs are equal, the
 * fabric with more ports is better. If those are equal too it returns false, so that the first one
 * in PCI order is kept. With policy latency, any network that bypasses the kernel is better than
 * plain Ethernet, because a message through the kernel takes about ten times as long. */
static bool goes_before(const struct choice *c, uint32_t a, uint32_t b)
{
    const struct nuioa_nic *one = &c->node->nics[a], *other = &c->node->nics[b];
    if (c->policy == NUIOA_POLICY_LATENCY &&
        nuioa_nic_bypasses_kernel(one) != nuioa_nic_bypasses_kernel(other))
        return nuioa_nic_bypasses_kernel(one);
    int order = c->by_guess ? compare_by_gpus(c, a, b) : 0;
    if (!order)
        order = compare(one, other);
    return order ? order > 0 : group_size(c, a) > group_size(c, b);
}

/* Returns a NIC of the best fabric and rate, or -1 if there is none to choose from. */
static int32_t choose(const struct choice *c)
{
    int32_t best = -1;
    for (uint32_t i = 0; i < c->node->nic_count; i++)
        if (c->among[i] && (best < 0 || goes_before(c, i, (uint32_t)best)))
            best = (int32_t)i;
    return best;
}

static void explain(struct nuioa_nic *nic, const struct nuioa_nic *best)
{
    const char *why = unfit(nic, false);
    char label[48];
    nuioa_nic_label(best ? best : nic, label, sizeof(label));
    if (why)
        nuioa_copy(nic->why, sizeof(nic->why), why);
    else if (!best || belongs(nic, best))
        nic->why[0] = '\0';
    else if (best->rate_mbps && !nic->rate_mbps)
        snprintf(nic->why, sizeof(nic->why), "rate unknown, unlike %.40s's", label);
    else if (compare(nic, best) > 0)
        snprintf(nic->why, sizeof(nic->why), "farther from the GPUs than %.36s", label);
    else if (!nuioa_nic_same_rate(nic->rate_mbps, best->rate_mbps))
        snprintf(nic->why, sizeof(nic->why), "slower than %.40s", label);
    else
        snprintf(nic->why, sizeof(nic->why), "another fabric than %.40s", label);
    nic->usable = !nic->why[0];
}

void nuioa_nic_judge(struct nuioa_node *node)
{
    bool *fit = calloc(node->nic_count + 1, sizeof(*fit));
    struct choice c = { node, fit, NUIOA_POLICY_BANDWIDTH, true, false };
    int32_t best = -1;
    for (uint32_t i = 0; fit && i < node->nic_count; i++)
        fit[i] = !unfit(&node->nics[i], false);
    if (fit) {
        nuioa_nics_guess(node, fit);
        best = choose(&c);
    }
    for (uint32_t i = 0; i < node->nic_count; i++)
        explain(&node->nics[i], best < 0 ? NULL : &node->nics[best]);
    free(fit);
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
            if (names[i][0] && !fnmatch(word, names[i], FNM_NOESCAPE))
                return BY_CLASS;
    return NO_MATCH;
}

bool nuioa_nic_matches(const struct nuioa_nic *nic, const char *word)
{
    return match(nic, word) != NO_MATCH;
}

static bool is_kind(const char *word)
{
    for (unsigned i = 0; i < NUIOA_NIC_KINDS; i++)
        if (!strcmp(word, kind_names[i]))
            return true;
    return false;
}

/* Sets marked[i] for the NICs that one word of the pattern matches. */
static void mark(const struct choice *c, const char *word, bool excluding, bool *marked,
                 struct nuioa_warnings *warnings)
{
    bool any = false;
    for (uint32_t i = 0; i < c->node->nic_count; i++) {
        const struct nuioa_nic *nic = &c->node->nics[i];
        bool down = nic->state == NUIOA_NIC_DOWN && !c->all_up;
        enum match how = match(nic, word);
        any = any || how != NO_MATCH;
        if (how == NO_MATCH || marked[i])
            continue;
        if (excluding)
            marked[i] = true;
        else if (down && how == BY_NAME)
            nuioa_warn(warnings, "nic: %s port is down, not used", word);
        else
            marked[i] = !down && (how == BY_NAME || (!nic->is_virtual && !is_said_other(nic)));
    }
    /* Excluding a NIC that does not exist is no mistake. */
    if (!excluding && !any && !is_kind(word) && !strpbrk(word, "*?["))
        nuioa_warn(warnings, "nic: no \"%s\" here", word);
}

/* Adds what auto takes of the NICs that are not barred. Returns false without memory. */
static bool take_auto(struct choice *c, const bool *barred, bool *taken)
{
    const struct nuioa_node *node = c->node;
    bool *fit = calloc(node->nic_count + 1, sizeof(*fit));
    for (uint32_t i = 0; fit && i < node->nic_count; i++)
        fit[i] = !barred[i] && !unfit(&node->nics[i], c->all_up);
    c->among = fit;
    int32_t best = fit ? choose(c) : -1;
    for (uint32_t i = 0; best >= 0 && i < node->nic_count; i++)
        if (fit[i] && belongs(&node->nics[i], &node->nics[best]))
            taken[i] = true;
    bool done = fit != NULL;
    free(fit);
    return done;
}

/* Does what nuioa_nic_select does; `c` says from what, and how. */
static int take(struct choice *c, const char *pattern, bool *taken, struct nuioa_warnings *warnings,
                struct nuioa_error *err)
{
    const struct nuioa_node *node = c->node;
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
            mark(c, word + excluding, excluding, excluding ? barred : taken, warnings);
    }
    bool done = (!automatic && includes) || take_auto(c, barred, taken);
    int count = 0;
    for (uint32_t i = 0; i < node->nic_count; i++) {
        taken[i] = done && taken[i] && !barred[i];
        count += taken[i];
    }
    free(barred);
    return done ? count : nuioa_fail(err, -ENOMEM, "nic: out of memory");
}

static int32_t narrow(struct choice *c, bool *taken)
{
    c->among = taken;
    int32_t best = choose(c);
    for (uint32_t i = 0; best >= 0 && i < c->node->nic_count; i++)
        taken[i] = taken[i] && nuioa_nic_same_fabric(&c->node->nics[i], &c->node->nics[best]);
    return best;
}

int nuioa_nic_select(const struct nuioa_node *node, const char *pattern, enum nuioa_policy policy,
                     bool *taken, struct nuioa_warnings *warnings, struct nuioa_error *err)
{
    struct choice c = { node, NULL, policy, true, false };
    return take(&c, pattern, taken, warnings, err);
}

bool nuioa_nic_is_down(const struct nuioa_node *node, const char *pattern, enum nuioa_policy policy)
{
    struct choice c = { node, NULL, policy, true, true };
    bool *taken = calloc(node->nic_count + 1, sizeof(*taken));
    bool any = taken && take(&c, pattern, taken, NULL, NULL) > 0;
    free(taken);
    return any;
}

int32_t nuioa_nic_narrow(const struct nuioa_node *node, enum nuioa_policy policy, bool *taken)
{
    struct choice c = { node, NULL, policy, true, false };
    return narrow(&c, taken);
}

/* Whether some doubted NIC is as near to a GPU as the nearest of the others that are taken: then
 * only the doubt keeps it from being that GPU's. */
static bool doubt_decides(const struct nuioa_node *node, const bool *taken)
{
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        unsigned nearest[2] = { NUIOA_PATHS + 1, NUIOA_PATHS + 1 };
        for (uint32_t i = 0; i < node->nic_count; i++) {
            if (!taken[i])
                continue;
            unsigned path = nuioa_path_at(node, g, i);
            unsigned *of = &nearest[node->nics[i].doubts != 0];
            path = path == NUIOA_PATH_UNKNOWN ? NUIOA_PATHS : path;
            *of = path < *of ? path : *of;
        }
        if (nearest[1] <= nearest[0] && nearest[1] <= NUIOA_PATHS)
            return true;
    }
    return false;
}

bool nuioa_nic_is_guessed(const struct nuioa_node *node, const char *pattern,
                          enum nuioa_policy policy, const bool *taken)
{
    struct choice c = { node, NULL, policy, false, false };
    bool guessed = false;
    if (!node->gpu_count)
        return false;
    bool *plain = calloc(node->nic_count + 1, sizeof(*plain));
    if (plain && take(&c, pattern, plain, NULL, NULL) > 0) {
        narrow(&c, plain);
        for (uint32_t i = 0; i < node->nic_count; i++)
            guessed = guessed || taken[i] != plain[i];
    }
    free(plain);
    return guessed || doubt_decides(node, taken);
}
