/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "file.h"
#include "profile/profile_read.h"
#include "profile/profile_slice.h"
#include "rounds.h"
#include "unit.h"

/* A node's part of profiles with many ranks and flows; profile_test.c reads small ones. */

#define MANY 40

/* Computes the expected slice by searching for each flow. */
static void count_slowly(const struct nuioa_profile *p, const uint32_t *ranks, uint32_t n,
                         double *weight, double *bytes)
{
    memset(weight, 0, n * sizeof(*weight));
    memset(bytes, 0, n * n * sizeof(*bytes));
    for (uint32_t i = 0; i < p->flow_count; i++) {
        const struct nuioa_flow *f = &p->flows[i];
        uint32_t from = 0, to = 0;
        while (from < n && ranks[from] != f->source)
            from++;
        while (to < n && ranks[to] != f->target)
            to++;
        if (from < n && to == n)
            weight[from] += 0.05 * f->bytes;
        else if (from == n && to < n)
            weight[to] += f->bytes;
        else if (from < n && from != to)
            bytes[(from < to ? from : to) * n + (from < to ? to : from)] += f->bytes;
    }
}

static void check_slice(const struct nuioa_profile *p, const uint32_t *ranks, uint32_t n)
{
    double weight[MANY], wanted[MANY], bytes[MANY * MANY];
    struct nuioa_pair *pairs;
    uint32_t count, nonzero = 0;
    count_slowly(p, ranks, n, wanted, bytes);
    assert_int_equal(
        nuioa_profile_slice(p, NUIOA_POLICY_BANDWIDTH, ranks, n, weight, &pairs, &count, NULL), 0);
    for (uint32_t i = 0; i < n; i++)
        assert_float_equal(weight[i], wanted[i], 1e-6);
    for (uint32_t i = 0; i < n * n; i++)
        nonzero += bytes[i] > 0;
    assert_int_equal(count, nonzero);
    for (uint32_t k = 0; k < count; k++)
        assert_float_equal(pairs[k].bytes, bytes[pairs[k].first * n + pairs[k].second], 1e-6);
    free(pairs);
}

/* Slices 1 to 40 ranks in several orders. */
TEST(test_slices_of_many)
{
    struct nuioa_profile p = { .rank_count = MANY, .flow_count = 600 };
    p.ranks = calloc(MANY, sizeof(*p.ranks));
    p.flows = calloc(p.flow_count, sizeof(*p.flows));
    uint32_t seed = 7, ranks[MANY];
    for (uint32_t i = 0; i < p.flow_count; i++) {
        seed = seed * 1664525 + 1013904223;
        /* rank 39 has no traffic */
        p.flows[i] = (struct nuioa_flow){ seed >> 8 & 31, (seed >> 16) % 39, 1 + (seed >> 24), 1,
                                          .collective = seed & 1 };
    }
    for (uint32_t n = 1; n <= MANY; n++) {
        for (uint32_t i = 0; i < n; i++)
            ranks[i] = (n % 3 ? 7 * i : MANY - 1 - i) % MANY; /* each once: 7 is prime to 40 */
        check_slice(&p, ranks, n);
    }
    nuioa_profile_free(&p);
}

/* A node lists one rank 4,095 times, and that rank has more than a million flows: their product
 * does not fit into 32 bits. The list is refused before anything is counted. */
TEST(test_repeated_rank)
{
    enum { RANKS = 4096, FLOWS = (1 << 20) + 257 };
    struct nuioa_profile p = { .rank_count = 2, .flow_count = FLOWS };
    struct nuioa_pair *pairs;
    static uint32_t ranks[RANKS];
    static double weight[RANKS];
    uint32_t count;
    p.ranks = calloc(2, sizeof(*p.ranks));
    p.flows = calloc(FLOWS, sizeof(*p.flows));
    for (uint32_t i = 0; i < FLOWS; i++)
        p.flows[i] = (struct nuioa_flow){ 0, 1, 1, 1, 0, false };
    memset(ranks, 0, sizeof(ranks));
    ranks[RANKS - 1] = 1;
    assert_int_equal(
        nuioa_profile_slice(&p, NUIOA_POLICY_BANDWIDTH, ranks, RANKS, weight, &pairs, &count, NULL),
        -EINVAL);
    assert_null(pairs);
    assert_int_equal(count, 0);
    assert_int_equal(nuioa_profile_slice(&p, NUIOA_POLICY_BANDWIDTH, ranks + RANKS - 2, 2, weight,
                                         &pairs, &count, NULL),
                     0);
    assert_int_equal(count, 1);
    assert_float_equal(pairs[0].bytes, FLOWS, 0);
    free(pairs);
    nuioa_profile_free(&p);
}

/* --- a part of a file ------------------------------------------------------------------------- */

/* Writes a profile of nuioa or a matrix. Only in some are messages large, and then in few flows. */
static void write_random(FILE *out, uint32_t *seed)
{
    bool matrix = draw(seed, 3) == 0, large = draw(seed, 2);
    uint32_t flows = draw(seed, 200);
    if (!matrix)
        fprintf(out, "nuioa-profile 1\nranks %d\n", MANY);
    for (uint32_t i = 0; matrix && i < MANY * MANY; i++)
        fprintf(out, "%u%c", draw(seed, 3) ? 0 : draw(seed, 1000),
                i % MANY == MANY - 1 ? '\n' : ' ');
    for (uint32_t rank = 0; !matrix && rank < MANY; rank++)
        if (draw(seed, 2))
            fprintf(out, "rank %u %u.1 %u 1 2 %u\n", rank, draw(seed, 100), draw(seed, 100),
                    large && !draw(seed, 50));
    for (uint32_t i = 0; !matrix && i < flows; i++)
        fprintf(out, "%s %u %u %u.7 %u %u\n", draw(seed, 4) ? "pair" : "coll", draw(seed, MANY),
                draw(seed, MANY), draw(seed, 1000), draw(seed, 9), large && !draw(seed, 50));
}

static void same_slice(const struct nuioa_profile *all, const struct nuioa_profile *part,
                       enum nuioa_policy policy, const uint32_t *ranks, uint32_t n)
{
    double weight[2][MANY];
    struct nuioa_pair *pairs[2];
    uint32_t count[2];
    assert_int_equal(
        nuioa_profile_slice(all, policy, ranks, n, weight[0], &pairs[0], &count[0], NULL), 0);
    assert_int_equal(
        nuioa_profile_slice(part, policy, ranks, n, weight[1], &pairs[1], &count[1], NULL), 0);
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(weight[0], weight[1], n * sizeof(double));
    if (count[0])
        assert_memory_equal(pairs[0], pairs[1], count[0] * sizeof(struct nuioa_pair));
    free(pairs[0]);
    free(pairs[1]);
}

/* A node that keeps the flows of its own ranks gets the slice of the whole profile, to the bit. */
TEST(test_part)
{
    uint32_t seed = 11, less = 0;
    const char *path = file_new("", 0);
    for (uint64_t round = 0; round < rounds(400); round++) {
        FILE *out = fopen(path, "w");
        write_random(out, &seed);
        fclose(out);
        uint32_t ranks[MANY], n = 1 + draw(&seed, 8), first = draw(&seed, MANY);
        for (uint32_t i = 0; i < n; i++) /* some are beyond the profile */
            ranks[i] = (first + 5 * i) % (MANY + 2);
        struct nuioa_profile all, part;
        assert_int_equal(nuioa_profile_read(path, &all, NULL), 0);
        assert_int_equal(nuioa_profile_read_part(path, ranks, n, &part, NULL), 0);
        assert_int_equal(part.rank_count, all.rank_count);
        less += part.flow_count < all.flow_count;
        same_slice(&all, &part, NUIOA_POLICY_BANDWIDTH, ranks, n);
        same_slice(&all, &part, NUIOA_POLICY_LATENCY, ranks, n);
        nuioa_profile_free(&all);
        nuioa_profile_free(&part);
    }
    assert_true(less > rounds(400) / 2);
}

/* Ranks that no file can have, and a file that is none. */
TEST(test_no_part)
{
    struct nuioa_profile part;
    struct nuioa_error err;
    uint32_t ranks[] = { UINT32_MAX, NUIOA_PROFILE_RANKS_MAX };
    char path[] = "/tmp/nuioa-part-XXXXXX.x.prof"; /* a digit there would be a rank */
    int fd = mkstemps(path, 7);
    assert_int_equal(write(fd, "0 1\n1 0\n", 8), 8);
    assert_int_equal(nuioa_profile_read_part(path, ranks, 2, &part, &err), 0);
    assert_int_equal(part.flow_count, 0);
    nuioa_profile_free(&part);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(nuioa_profile_read_part(path, ranks, 2, &part, &err), -EINVAL);
    assert_non_null(strstr(err.text, ".prof: no traffic, so no ranks are known"));
    assert_int_equal(nuioa_profile_read_part(file_directory(), ranks, 2, &part, &err), -EINVAL);
    close(fd);
    unlink(path);
    assert_int_equal(nuioa_profile_read_part(path, ranks, 2, &part, &err), -ENOENT);
}
