/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commands.h"
#include "profile/profile_read.h"
#include "profile/profile_write.h"
#include "tools/json.h"
#include "tools/tool.h"
#include "util/arena.h"

static const char usage[] =
    "usage: nuioa profile [OPTION]... IN...\n"
    "\n"
    "nuioa profile prints a summary of what the ranks of a job communicate, or converts it to\n"
    "what --hints and other programs read. The numbers of several IN are added up; - is the\n"
    "standard input.\n"
    "\n"
    "  --from FORMAT               nuioa (our text), matrix (square, as TreeMatch's), openmpi\n"
    "                              (what its monitoring leaves: NAME.RANK.prof, or a directory of\n"
    "                              these); default: what each file looks like\n"
    "  --metric size|msg|avg       what ranks are compared by, and what the numbers of a matrix\n"
    "                              are: bytes (default), messages, bytes for each message\n"
    "  --nodes N                   count only what crosses nodes if there are N of them\n"
    "  --distribution block|cyclic how ranks are laid out on these; default block\n"
    "  --out FILE                  write a profile; a matrix of the metric if FILE ends with .mat\n"
    "  --json                      print JSON, for programs\n";

struct job {
    const char *out;
    bool json;
    uint32_t format, metric; /* enum nuioa_profile_format, enum nuioa_metric */
    uint32_t node_count, cyclic;
    const char **words, **paths; /* [word_count]: what was typed, what is read */
    unsigned word_count;
    struct copy {
        FILE *file;    /* NULL: what was typed is read itself */
        char path[32]; /* of the copy */
    } * copies;        /* [word_count] */
};

/* --- the summary ------------------------------------------------------------------------------ */

enum { HEAVIEST_SHOWN = 10, LAYOUT_SIZES = 8 };

/* The part of the traffic that crosses nodes if the ranks are on `nodes` of them. Ranks are dealt
 * to the nodes in turn if `cyclic`, else in blocks of consecutive ranks. */
struct share {
    uint32_t nodes;
    bool cyclic;
    double bytes, msgs; /* 0 to 1 */
};

/* The summary. Its arena owns traffic and heaviest; the profile is the caller's. */
struct summary {
    const struct nuioa_profile *profile;
    enum nuioa_metric metric;
    uint32_t pair_count;             /* ordered pairs of ranks with traffic */
    double bytes, msgs, large_bytes; /* between ranks, all pairs */
    double coll_bytes;               /* the part of `bytes` that is in `coll` lines */
    bool from_ranks;                 /* no pairs: sums of the `rank` lines (received) */
    struct nuioa_traffic *traffic;   /* [rank_count], off the node in the layout asked for */
    uint32_t *heaviest;              /* [rank_count], ranks in descending order of the metric */
    unsigned share_count;
    struct share shares[2 * LAYOUT_SIZES];
    struct nuioa_arena arena;
};

/* Returns the number by which ranks are compared: the weight for bandwidth, in bytes; the messages
 * in both directions; or the mean bytes of a message. */
static double heaviness(const struct summary *s, const struct nuioa_traffic *t)
{
    double msgs = t->sent_msgs + t->recv_msgs;
    if (s->metric == NUIOA_METRIC_MSG)
        return msgs;
    if (s->metric == NUIOA_METRIC_AVG)
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

static void add_share(struct summary *s, uint32_t *node_of, uint32_t nodes, bool cyclic)
{
    struct share *share = &s->shares[s->share_count];
    const struct nuioa_profile *p = s->profile;
    *share = (struct share){ .nodes = nodes, .cyclic = cyclic };
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

static void add_shares(struct summary *s, uint32_t *node_of, uint32_t asked, bool cyclic)
{
    if (!s->profile->flow_count)
        return;
    if (asked) {
        add_share(s, node_of, asked, cyclic);
        return;
    }
    uint32_t nodes = 2;
    for (int i = 0; i < LAYOUT_SIZES && nodes < s->profile->rank_count; i++, nodes *= 2) {
        add_share(s, node_of, nodes, false);
        add_share(s, node_of, nodes, true);
    }
}

static void add_up(struct summary *s)
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
    const struct summary *s = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    double left = heaviness(s, &s->traffic[x]);
    double right = heaviness(s, &s->traffic[y]);
    if (left != right)
        return left > right ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Computes the summary of a profile, which is merged. If `nodes` is 0, no layout was asked for:
 * each rank is a node in `traffic`, and shares are for several usual layouts. Returns 0 or -ENOMEM.
 * In both cases the caller frees the arena. */
static int summarise(struct summary *s, const struct nuioa_profile *profile,
                     enum nuioa_metric metric, uint32_t nodes, bool cyclic)
{
    uint32_t ranks = profile->rank_count;
    *s = (struct summary){ .profile = profile, .metric = metric };
    uint32_t *node_of = nuioa_arena_take(&s->arena, ranks, sizeof(*node_of));
    s->traffic = nuioa_arena_take(&s->arena, ranks, sizeof(*s->traffic));
    s->heaviest = nuioa_arena_take(&s->arena, ranks, sizeof(*s->heaviest));
    if (s->arena.failed)
        return -ENOMEM;
    add_up(s);
    add_shares(s, node_of, nodes, cyclic);
    if (nodes)
        lay_out(node_of, ranks, nodes, cyclic);
    if (nuioa_profile_traffic(profile, nodes ? node_of : NULL, s->traffic))
        return -ENOMEM;
    for (uint32_t i = 0; i < ranks; i++)
        s->heaviest[i] = i;
    qsort_r(s->heaviest, ranks, sizeof(*s->heaviest), compare_ranks, s);
    return 0;
}

/* --- for a person ---------------------------------------------------------------------------- */

static void print_heaviest(const struct summary *s)
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

static void print_shares(const struct summary *s)
{
    if (!s->share_count)
        return;
    printf("\nshare off the node\n%8s %-12s %8s %8s\n", "nodes", "distribution", "bytes", "msgs");
    for (unsigned i = 0; i < s->share_count; i++)
        printf("%8u %-12s %6.1f %% %6.1f %%\n", s->shares[i].nodes,
               s->shares[i].cyclic ? "cyclic" : "block", 100 * s->shares[i].bytes,
               100 * s->shares[i].msgs);
}

static int print_text(const struct summary *s)
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
    return TOOL_DONE;
}

/* --- for programs ---------------------------------------------------------------------------- */

/* Counts of bytes are printed as integers as long as doubles are exact. */
static json_t *number(double value)
{
    return value < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *rank_json(const struct summary *s, uint32_t rank)
{
    const struct nuioa_traffic *t = &s->traffic[rank];
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:f}", "rank", (json_int_t)rank, "sent_bytes",
                     number(t->sent_bytes), "recv_bytes", number(t->recv_bytes), "sent_msgs",
                     number(t->sent_msgs), "recv_msgs", number(t->recv_msgs), "large_recv_bytes",
                     number(t->large_recv_bytes), "weight", heaviness(s, t));
}

static int print_json(const struct summary *s)
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
    return tool_json_print(o, 1);
}

/* --- the command line ------------------------------------------------------------------------- */

static int read_arguments(struct job *job, int argc, char **argv)
{
    struct tool_option options[] = {
        { "from", .number = &job->format, .min = NUIOA_PROFILE_TEXT,
          .words = "nuioa, matrix, openmpi" },
        { "metric", .number = &job->metric, .words = "size, msg, avg" },
        { "nodes", .number = &job->node_count, .min = 1, .max = NUIOA_PROFILE_RANKS_MAX },
        { "distribution", .number = &job->cyclic, .words = "block, cyclic", .needs = "nodes" },
        { "out", .file = &job->out },
        { "json", .flag = &job->json },
        { "help", .usage = usage },
        { .name = NULL },
    };
    int rc = tool_args_read_words(argc, argv, options, job->words, &job->word_count);
    if (!rc && !job->word_count)
        rc = tool_usage("profile", "a profile is missing: nuioa profile FILE");
    return rc;
}

static int write_out(const struct job *job, const struct nuioa_profile *profile)
{
    struct nuioa_error err;
    size_t length = strlen(job->out);
    bool matrix = length > 4 && !strcmp(job->out + length - 4, ".mat");
    int rc = matrix ? nuioa_profile_write_matrix(job->out, profile, job->metric, &err)
                    : nuioa_profile_write(job->out, profile, &err);
    return rc ? tool_fail("%s", err.text) : TOOL_DONE;
}

/* The library reads no pipe, because a launch must not wait for one. So that the command can, a
 * pipe is copied to a file without a name first. Returns 0 or an exit status. */
static int copy_pipe(struct copy *copy, const char *word)
{
    struct stat st;
    bool is_stdin = !strcmp(word, "-");
    if (!is_stdin && (stat(word, &st) || !S_ISFIFO(st.st_mode)))
        return 0;
    char block[65536];
    size_t sum = 0, got;
    copy->file = tmpfile();
    /* -Wanalyzer-malloc-leak: tool_profile closes it. */
    FILE *in = !copy->file ? NULL : is_stdin ? stdin : fopen(word, "re");
    if (!in)
        return tool_fail("%s: %s", word, strerror(errno));
    while (sum <= NUIOA_PROFILE_BYTES_MAX && (got = fread(block, 1, sizeof(block), in)) > 0)
        sum += fwrite(block, 1, got, copy->file);
    bool failed = ferror(in) || fflush(copy->file) || ferror(copy->file);
    int error = errno;
    if (!is_stdin)
        fclose(in);
    snprintf(copy->path, sizeof(copy->path), "/proc/self/fd/%d", fileno(copy->file));
    return failed ? tool_fail("%s: %s", word, strerror(error)) : 0;
}

/* Reads all files. An error names what was typed, not the copy. Returns 0 or an exit status. */
static int load(const struct job *job, struct nuioa_profile *profile)
{
    struct nuioa_error err;
    int rc = 0;
    for (unsigned i = 0; i < job->word_count && !rc; i++) {
        rc = copy_pipe(&job->copies[i], job->words[i]);
        job->paths[i] = job->copies[i].file ? job->copies[i].path : job->words[i];
    }
    if (rc ||
        !nuioa_profile_load(job->paths, job->word_count, job->format, job->metric, profile, &err))
        return rc;
    for (unsigned i = 0; i < job->word_count; i++) {
        size_t length = strlen(job->copies[i].path);
        char next = err.text[length];
        if (length && !strncmp(err.text, job->copies[i].path, length) && next == ':')
            return tool_fail("%s%s", job->words[i], err.text + length);
    }
    return tool_fail("%s", err.text);
}

static int answer(const struct job *job)
{
    struct nuioa_profile profile;
    struct summary summary;
    int rc = load(job, &profile);
    if (rc)
        return rc;
    nuioa_profile_merge(&profile);
    if (job->node_count > profile.rank_count)
        rc = tool_fail("--nodes: %u nodes are more than the %u ranks", job->node_count,
                       profile.rank_count);
    if (!rc && job->out)
        rc = write_out(job, &profile);
    /* If a file was asked for, no summary is printed. */
    if (!rc && (!job->out || job->json)) {
        if (summarise(&summary, &profile, job->metric, job->node_count, job->cyclic))
            rc = tool_fail("out of memory");
        if (!rc)
            rc = job->json ? print_json(&summary) : print_text(&summary);
        nuioa_arena_free(&summary.arena);
    }
    nuioa_profile_free(&profile);
    return rc;
}

int tool_profile(int argc, char **argv)
{
    struct nuioa_arena arena = { 0 };
    struct job job = { .words = nuioa_arena_take(&arena, (size_t)argc, sizeof(*job.words)),
                       .paths = nuioa_arena_take(&arena, (size_t)argc, sizeof(*job.paths)),
                       .copies = nuioa_arena_take(&arena, (size_t)argc, sizeof(*job.copies)) };
    int rc = arena.failed ? tool_fail("out of memory") : read_arguments(&job, argc, argv);
    if (!rc)
        rc = answer(&job);
    for (unsigned i = 0; i < job.word_count; i++)
        if (job.copies[i].file)
            fclose(job.copies[i].file);
    nuioa_arena_free(&arena);
    return rc;
}
