/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/profile_print.h"
#include "tools/tool.h"
#include "util/clock.h"

#define HEAVIEST_SHOWN 10

/* Returns the number by which ranks are compared: the weight for bandwidth, in bytes; the messages
 * in both directions; or the mean bytes of a message. */
static double heaviness(const struct profile_summary *s, const struct nuioa_traffic *t)
{
    enum nuioa_metric metric = s->metric;
    double msgs = t->sent_msgs + t->recv_msgs;
    if (metric == NUIOA_METRIC_MSG)
        return msgs;
    if (metric == NUIOA_METRIC_AVG)
        return msgs > 0 ? (t->sent_bytes + t->recv_bytes) / msgs : 0;
    return nuioa_traffic_weight(t, NUIOA_POLICY_BANDWIDTH, s->profile->has_large);
}

/* --- counting -------------------------------------------------------------------------------- */

/* As with -m of Slurm, blocks differ by one rank at most, and the larger ones come first. */
static void lay_out(uint32_t *node_of, uint32_t ranks, uint32_t nodes, bool cyclic)
{
    uint32_t small = ranks / nodes, large_nodes = ranks % nodes, rank = 0;
    for (uint32_t node = 0; node < nodes && !cyclic; node++)
        for (uint32_t i = 0; i < small + (node < large_nodes); i++)
            node_of[rank++] = node;
    for (; rank < ranks; rank++)
        node_of[rank] = rank % nodes;
}

static void add_share(struct profile_summary *s, uint32_t *node_of, uint32_t nodes, bool cyclic)
{
    struct profile_share *share = &s->shares[s->share_count];
    const struct nuioa_profile *p = s->profile;
    *share = (struct profile_share){ .nodes = nodes, .cyclic = cyclic };
    lay_out(node_of, p->rank_count, nodes, cyclic);
    for (uint32_t i = 0; i < p->flow_count; i++) {
        if (node_of[p->flows[i].source] == node_of[p->flows[i].target])
            continue;
        share->bytes += p->flows[i].bytes;
        share->msgs += p->flows[i].msgs;
    }
    share->bytes = s->bytes > 0 ? share->bytes / s->bytes : 0;
    share->msgs = s->msgs > 0 ? share->msgs / s->msgs : 0;
    s->share_count++;
}

static void add_shares(struct profile_summary *s, uint32_t *node_of, uint32_t asked, bool cyclic)
{
    if (!s->profile->flow_count)
        return;
    if (asked) {
        add_share(s, node_of, asked, cyclic);
        return;
    }
    uint32_t nodes = 2;
    for (int i = 0; i < PROFILE_NODES_MAX && nodes < s->profile->rank_count; i++, nodes *= 2) {
        add_share(s, node_of, nodes, false);
        add_share(s, node_of, nodes, true);
    }
}

static void add_up(struct profile_summary *s)
{
    const struct nuioa_profile *p = s->profile;
    for (uint32_t i = 0; i < p->flow_count; i++) {
        s->bytes += p->flows[i].bytes;
        s->msgs += p->flows[i].msgs;
        s->large_bytes += p->flows[i].large_bytes;
        s->coll_bytes += p->flows[i].collective ? p->flows[i].bytes : 0;
        /* The profile is merged: equal pairs are neighbours. */
        s->pair_count += !i || p->flows[i].source != p->flows[i - 1].source ||
                         p->flows[i].target != p->flows[i - 1].target;
    }
    s->from_ranks = !p->flow_count;
    for (uint32_t i = 0; i < p->rank_count && s->from_ranks; i++) {
        s->bytes += p->ranks[i].recv_bytes;
        s->msgs += p->ranks[i].recv_msgs;
        s->large_bytes += p->ranks[i].large_recv_bytes;
    }
}

static int compare_ranks(const void *a, const void *b, void *context)
{
    const struct profile_summary *s = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double left = heaviness(s, &s->traffic[x]);
    double right = heaviness(s, &s->traffic[y]);
    if (left != right)
        return left > right ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Lists the ranks of one node; `ranks` has room for all. */
static uint32_t ranks_on(const uint32_t *node_of, uint32_t count, uint32_t node, uint32_t *ranks)
{
    uint32_t found = 0;
    for (uint32_t rank = 0; rank < count; rank++)
        /* The caller has filled them.
         * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        if (node_of[rank] == node)
            ranks[found++] = rank;
    return found;
}

/* A node's slice is two counts, a weight for each of its ranks, and the pairs among them. */
static int add_slice(struct profile_summary *s, const uint32_t *ranks, uint32_t count,
                     double *weight)
{
    struct profile_slices *sum = &s->slices;
    struct nuioa_pair *pairs;
    uint32_t pair_count;
    int64_t start_ns = nuioa_clock_ns();
    if (nuioa_profile_slice(s->profile, NUIOA_POLICY_BANDWIDTH, ranks, count, weight, &pairs,
                            &pair_count, NULL))
        return -ENOMEM;
    sum->slice_s += 1e-9 * (double)(nuioa_clock_ns() - start_ns) / sum->nodes;
    free(pairs);
    uint64_t bytes =
        2 * sizeof(uint32_t) + count * sizeof(*weight) + (uint64_t)pair_count * sizeof(*pairs);
    sum->all_bytes += bytes;
    if (bytes > sum->largest_bytes) {
        sum->largest_bytes = bytes;
        sum->ranks = count;
        sum->pairs = pair_count;
    }
    return 0;
}

static int add_slices(struct profile_summary *s, const uint32_t *node_of, uint32_t nodes)
{
    uint32_t count = s->profile->rank_count;
    uint32_t *ranks = nuioa_arena_take(&s->arena, count, sizeof(*ranks));
    double *weight = nuioa_arena_take(&s->arena, count, sizeof(*weight));
    int rc = weight ? 0 : -ENOMEM;
    s->slices.nodes = nodes;
    for (uint32_t node = 0; node < nodes && !rc; node++)
        rc = add_slice(s, ranks, ranks_on(node_of, count, node, ranks), weight);
    return rc;
}

int profile_summarise(struct profile_summary *s, struct nuioa_profile *profile,
                      enum nuioa_metric metric, uint32_t nodes, bool cyclic)
{
    uint32_t ranks = profile->rank_count;
    *s = (struct profile_summary){ .profile = profile, .metric = metric };
    uint32_t *node_of = nuioa_arena_take(&s->arena, ranks, sizeof(*node_of));
    s->traffic = nuioa_arena_take(&s->arena, ranks, sizeof(*s->traffic));
    s->heaviest = nuioa_arena_take(&s->arena, ranks, sizeof(*s->heaviest));
    if (s->arena.failed)
        return -ENOMEM;
    add_up(s);
    add_shares(s, node_of, nodes, cyclic);
    if (nodes)
        lay_out(node_of, ranks, nodes, cyclic);
    if (nuioa_profile_traffic(profile, nodes ? node_of : NULL, s->traffic) ||
        nuioa_profile_index(profile) || (nodes && add_slices(s, node_of, nodes)))
        return -ENOMEM;
    for (uint32_t i = 0; i < ranks; i++)
        s->heaviest[i] = i;
    qsort_r(s->heaviest, ranks, sizeof(*s->heaviest), compare_ranks, s);
    return 0;
}

/* --- for a person ---------------------------------------------------------------------------- */

static void print_heaviest(const struct profile_summary *s)
{
    static const char *const by[] = { "received bytes, mostly of large messages",
                                      "messages both ways", "bytes a message" };
    char sent[24], received[24];
    double all = 0;
    for (uint32_t i = 0; i < s->profile->rank_count; i++)
        all += heaviness(s, &s->traffic[i]);
    printf("\nheaviest ranks (%s)\n", by[s->metric]);
    printf("%8s %12s %12s %12s %12s %7s\n", "rank", "received", "sent", "msgs in", "msgs out",
           s->metric == NUIOA_METRIC_AVG ? "B/msg" : "share");
    for (uint32_t i = 0; i < s->profile->rank_count && i < HEAVIEST_SHOWN; i++) {
        const struct nuioa_traffic *t = &s->traffic[s->heaviest[i]];
        double value = heaviness(s, t);
        if (value <= 0)
            break;
        printf("%8u %12s %12s %12.0f %12.0f ", s->heaviest[i], tool_bytes(t->recv_bytes, received),
               tool_bytes(t->sent_bytes, sent), t->recv_msgs, t->sent_msgs);
        if (s->metric == NUIOA_METRIC_AVG)
            printf("%7.0f\n", value);
        else
            printf("%5.1f %%\n", 100 * value / all);
    }
}

static void print_shares(const struct profile_summary *s)
{
    if (!s->share_count)
        return;
    printf("\nshare off the node\n%8s %-12s %8s %8s\n", "nodes", "distribution", "bytes", "msgs");
    for (unsigned i = 0; i < s->share_count; i++)
        printf("%8u %-12s %6.1f %% %6.1f %%\n", s->shares[i].nodes,
               s->shares[i].cyclic ? "cyclic" : "block", 100 * s->shares[i].bytes,
               100 * s->shares[i].msgs);
}

static void print_slices(const struct profile_summary *s)
{
    const struct profile_slices *l = &s->slices;
    char largest[24], all[24];
    if (!l->nodes)
        return;
    printf(
        "\nwhat nodes take of it: at most %s a node (%u ranks, %u pairs among them), %s in all\n",
        tool_bytes((double)l->largest_bytes, largest), l->ranks, l->pairs,
        tool_bytes((double)l->all_bytes, all));
    printf("read in %.0f ms, sliced in %.3f ms a node\n", 1e3 * l->read_s, 1e3 * l->slice_s);
}

int profile_print_text(const struct profile_summary *s)
{
    char bytes[24], large[24], coll[24];
    const struct nuioa_profile *p = s->profile;
    printf("%u ranks, %u pairs, %s", p->rank_count, s->pair_count, tool_bytes(s->bytes, bytes));
    if (s->msgs > 0)
        printf(" in %.0f messages", s->msgs);
    if (s->large_bytes > 0)
        printf(", %s of it in messages of 32 KiB and more", tool_bytes(s->large_bytes, large));
    if (s->coll_bytes > 0)
        printf(", %s in collectives", tool_bytes(s->coll_bytes, coll));
    char why[NUIOA_PROFILE_WHY_MAX];
    printf("%s%s\n", p->partial ? "\npartial: " : "", p->partial ? nuioa_profile_why(p, why) : "");
    if (s->from_ranks)
        puts("off the node only, as recorded: pairs of ranks are unknown");
    print_heaviest(s);
    print_shares(s);
    print_slices(s);
    return TOOL_DONE;
}

/* --- for programs ---------------------------------------------------------------------------- */

/* Counts of bytes are printed as integers as long as doubles are exact. */
static json_t *number(double value)
{
    return value < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *rank_json(const struct profile_summary *s, uint32_t rank)
{
    const struct nuioa_traffic *t = &s->traffic[rank];
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:f}", "rank", (json_int_t)rank, "sent_bytes",
                     number(t->sent_bytes), "recv_bytes", number(t->recv_bytes), "sent_msgs",
                     number(t->sent_msgs), "recv_msgs", number(t->recv_msgs), "large_recv_bytes",
                     number(t->large_recv_bytes), "weight", heaviness(s, t));
}

static json_t *slices_json(const struct profile_slices *l)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f}", "nodes", (json_int_t)l->nodes,
                     "largest_bytes", (json_int_t)l->largest_bytes, "ranks", (json_int_t)l->ranks,
                     "pairs", (json_int_t)l->pairs, "bytes", (json_int_t)l->all_bytes, "read_ms",
                     1e3 * l->read_s, "slice_ms", 1e3 * l->slice_s);
}

int profile_print_json(const struct profile_summary *s)
{
    static const char *const metrics[] = { "size", "msg", "avg" };
    json_t *ranks = json_array(), *shares = json_array();
    const struct nuioa_profile *p = s->profile;
    for (uint32_t i = 0; i < p->rank_count; i++)
        ranks = tool_json_add(ranks, rank_json(s, s->heaviest[i]));
    for (unsigned i = 0; i < s->share_count; i++)
        shares = tool_json_add(shares, json_pack("{s:I, s:s, s:f, s:f}", "nodes",
                                                 (json_int_t)s->shares[i].nodes, "distribution",
                                                 s->shares[i].cyclic ? "cyclic" : "block", "bytes",
                                                 s->shares[i].bytes, "msgs", s->shares[i].msgs));
    json_t *o =
        json_pack("{s:i, s:I, s:I, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "nuioa", 1, "ranks",
                  (json_int_t)p->rank_count, "pairs", (json_int_t)s->pair_count, "partial",
                  p->partial, "metric", metrics[s->metric], "bytes", number(s->bytes), "msgs",
                  number(s->msgs), "large_bytes", number(s->large_bytes), "coll_bytes",
                  number(s->coll_bytes), "heaviest", ranks, "off_node", shares);
    if (s->slices.nodes)
        json_object_set_new(o, "slices", slices_json(&s->slices));
    return tool_json_print(o, 1);
}
