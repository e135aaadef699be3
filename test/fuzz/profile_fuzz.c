/* SPDX-License-Identifier: BSD-3-Clause */

/* A profile, or two that belong together, in any format. The first byte chooses the format and how
 * files are named, the second what a matrix means; the files are divided by a NUL. What is accepted
 * is made into hints and slices, written, and read again. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "profile/hints.h"
#include "profile/hints_from_profile.h"
#include "profile/profile_read.h"
#include "profile/profile_slice.h"
#include "profile/profile_write.h"

enum { RANKS = 8, RANKS_MAX = 4096 };

static void check_slice(const struct nuioa_profile *profile, enum nuioa_policy policy)
{
    uint32_t ranks[RANKS], count = 0, pair_count;
    double weight[RANKS];
    struct nuioa_pair *pairs;
    struct nuioa_warnings warnings = { .count = 0 };
    for (uint32_t i = 0; i < RANKS; i++)
        if (i * 2 < profile->rank_count + 2) /* one may be beyond the last */
            ranks[count++] = i * 2;
    if (profile->rank_count % 8 == 5) /* for a change, one is there twice */
        ranks[count - 1] = ranks[0];
    if (nuioa_profile_slice(profile, policy, ranks, count, weight, &pairs, &pair_count, &warnings))
        return;
    for (uint32_t i = 0; i < count; i++)
        INPUT_CHECK(weight[i] >= 0);
    for (uint32_t i = 0; i < pair_count; i++)
        INPUT_CHECK(pairs[i].first < pairs[i].second && pairs[i].second < count);
    free(pairs);
}

static void check_hints(const struct nuioa_profile *profile, enum nuioa_policy policy)
{
    struct nuioa_hints hints;
    struct nuioa_error err;
    char *list = malloc(NUIOA_VALUE_MAX + 1);
    INPUT_CHECK(list != NULL);
    if (!nuioa_hints_from_profile(profile, policy, list, NUIOA_VALUE_MAX + 1, &err)) {
        if (INPUT_HOLDS(!nuioa_hints_parse(&hints, list, &err)))
            nuioa_hints_free(&hints);
    }
    free(list);
}

static void check_written(const struct nuioa_profile *profile)
{
    struct nuioa_profile again;
    struct nuioa_error err;
    const char *path = input_file("written", "", 0);
    if (!INPUT_HOLDS(!nuioa_profile_write(path, profile, &err)))
        return;
    if (INPUT_HOLDS(!nuioa_profile_read(path, &again, &err))) {
        INPUT_CHECK(again.rank_count == profile->rank_count);
        nuioa_profile_free(&again);
    }
    if (profile->rank_count > 64)
        return;
    INPUT_HOLDS(!nuioa_profile_write_matrix(path, profile, profile->flow_count % 3, &err));
    if (!nuioa_profile_read(path, &again, &err))
        nuioa_profile_free(&again);
}

/* What is said to be a list of hints is one. */
static void check_list(const char *path)
{
    struct nuioa_hints hints;
    struct nuioa_error err;
    char *list = malloc(NUIOA_VALUE_MAX + 1);
    INPUT_CHECK(list != NULL);
    if (nuioa_profile_list(path, list, NUIOA_VALUE_MAX + 1, &err) == 1) {
        if (INPUT_HOLDS(!nuioa_hints_parse(&hints, list, &err)))
            nuioa_hints_free(&hints);
    }
    free(list);
}

/* The child of slurmstepd reads the flows of its node's ranks. */
static void check_part(const char *path)
{
    static const uint32_t ranks[] = { 1, 3 };
    struct nuioa_profile part;
    struct nuioa_error err;
    if (nuioa_profile_read_part(path, ranks, 2, &part, &err))
        return;
    for (uint32_t i = 0; i < part.flow_count; i++) {
        const struct nuioa_flow *f = &part.flows[i];
        INPUT_CHECK(f->source == 1 || f->source == 3 || f->target == 1 || f->target == 3);
        INPUT_CHECK(f->source < part.rank_count && f->target < part.rank_count);
    }
    nuioa_profile_free(&part);
}

static int load(struct input *input, struct nuioa_profile *profile)
{
    struct nuioa_error err;
    unsigned how = input_byte(input), metric = input_below(input, 3), count = 1;
    bool monitoring = how & 4, directory = how & 8;
    const uint8_t *nul = input->size ? memchr(input->data, '\0', input->size) : NULL;
    size_t first = nul ? (size_t)(nul - input->data) : input->size;
    const char *paths[2] = { input_file(monitoring ? "1/a.1.prof" : "a", input->data, first) };
    input_no_file("1/b.prof");
    if (nul)
        paths[count++] =
            input_file(monitoring ? "1/b.prof" : "b", nul + 1, input->size - first - 1);
    char *whole = strdup(paths[0]);
    INPUT_CHECK(whole != NULL);
    if (directory) {
        *strrchr(whole, '/') = '\0';
        paths[0] = whole;
        count = 1;
    }
    check_list(paths[0]);
    if (!directory)
        check_part(paths[0]);
    int rc = nuioa_profile_load(paths, count, how & 3, metric, profile, &err);
    free(whole);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    struct nuioa_profile profile;
    if (!load(&input, &profile) && profile.rank_count <= RANKS_MAX) {
        check_slice(&profile, NUIOA_POLICY_BANDWIDTH);
        check_slice(&profile, NUIOA_POLICY_LATENCY);
        check_hints(&profile, NUIOA_POLICY_BANDWIDTH);
        check_hints(&profile, NUIOA_POLICY_LATENCY);
        check_written(&profile);
        nuioa_profile_merge(&profile);
    }
    nuioa_profile_free(&profile);
    return 0;
}
