/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/flows_answer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile_read.h"
#include "profile/profile_slice.h"

#define MAGIC 0x6e756601u
#define ERRNO_MAX 4095 /* as in the kernel */

/* One program writes and reads this struct, so it is no format. */
struct head {
    uint32_t magic;
    uint32_t error; /* an errno, and nothing follows; 0: none */
    uint32_t weight_count, pair_count;
    /* double weights[weight_count]; struct nuioa_pair pairs[pair_count] */
};

_Static_assert(sizeof(struct head) == 16 && sizeof(struct nuioa_pair) == 16,
               "padding would send uninitialised bytes");

static size_t size_of(uint32_t weight_count, uint32_t pair_count)
{
    return sizeof(struct head) + weight_count * sizeof(double) +
           pair_count * sizeof(struct nuioa_pair);
}

/* --- the child -------------------------------------------------------------------------------- */

static void *put(const struct head *head, const double *weights, const struct nuioa_pair *pairs,
                 size_t *length)
{
    char *answer = malloc(size_of(head->weight_count, head->pair_count));
    *length = size_of(head->weight_count, head->pair_count);
    if (!answer)
        return NULL;
    memcpy(answer, head, sizeof(*head));
    if (head->weight_count)
        memcpy(answer + sizeof(*head), weights, head->weight_count * sizeof(*weights));
    if (head->pair_count)
        memcpy(answer + size_of(head->weight_count, 0), pairs, head->pair_count * sizeof(*pairs));
    return answer;
}

void *flows_answer_make(const char *path, enum nuioa_policy policy, const uint32_t *ranks,
                        uint32_t task_count, size_t *length)
{
    struct head head = { .magic = MAGIC, .weight_count = task_count }, wrong = { .magic = MAGIC };
    struct nuioa_profile profile;
    struct nuioa_pair *pairs = NULL;
    double *weights = calloc(task_count + 1, sizeof(*weights));
    int rc = weights ? nuioa_profile_read_part(path, ranks, task_count, &profile, NULL) : -ENOMEM;
    if (!rc) {
        rc = nuioa_profile_slice(&profile, policy, ranks, task_count, weights, &pairs,
                                 &head.pair_count, NULL);
        nuioa_profile_free(&profile);
    }
    if (!rc && head.pair_count > FLOWS_PAIRS_MAX)
        rc = -E2BIG;
    wrong.error = (uint32_t)-rc;
    void *answer = put(rc ? &wrong : &head, weights, pairs, length);
    free(pairs);
    free(weights);
    return answer;
}

/* --- slurmstepd ------------------------------------------------------------------------------- */

/* The number of different pairs that so many tasks can form, within the limit. */
static uint32_t pairs_max(uint32_t task_count)
{
    uint64_t all = (uint64_t)task_count * (task_count ? task_count - 1 : 0) / 2;
    return all < FLOWS_PAIRS_MAX ? (uint32_t)all : FLOWS_PAIRS_MAX;
}

size_t flows_answer_max(uint32_t task_count)
{
    return size_of(task_count, pairs_max(task_count));
}

/* No sum of a profile's numbers is larger. NaN is no amount either. */
static bool is_amount(double amount)
{
    return amount >= 0 && amount <= 1e30;
}

/* Pairs must be sorted, so that repeated ones are found at no cost: the time for a plan grows with
 * their number. */
static bool are_pairs(const struct nuioa_pair *pairs, uint32_t count, uint32_t task_count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct nuioa_pair *pair = &pairs[i], *last = i ? &pairs[i - 1] : NULL;
        if (pair->first >= pair->second || pair->second >= task_count || !is_amount(pair->bytes))
            return false;
        if (last && (pair->first < last->first ||
                     (pair->first == last->first && pair->second <= last->second)))
            return false;
    }
    return true;
}

static bool is_part(const struct profile_part *part, uint32_t task_count)
{
    for (uint32_t i = 0; i < task_count; i++)
        if (!is_amount(part->weights[i]))
            return false;
    return are_pairs(part->pairs, part->pair_count, task_count);
}

/* Returns 0 if the answer has a part for so many tasks. */
static int check_head(const struct head *head, size_t length, uint32_t task_count)
{
    if (head->magic != MAGIC)
        return -EPROTO;
    if (head->error)
        return head->error <= ERRNO_MAX ? -(int)head->error : -EPROTO;
    return head->weight_count == task_count && head->pair_count <= pairs_max(task_count) &&
                   length == size_of(head->weight_count, head->pair_count)
               ? 0
               : -EPROTO;
}

int flows_answer_read(const void *answer, size_t length, uint32_t task_count,
                      struct profile_part *part)
{
    struct head head;
    *part = (struct profile_part){ 0 };
    if (length < sizeof(head))
        return -EPROTO;
    memcpy(&head, answer, sizeof(head));
    int rc = check_head(&head, length, task_count);
    if (rc)
        return rc;
    *part = (struct profile_part){
        .weights = calloc(task_count + 1, sizeof(*part->weights)),
        .pairs = calloc(head.pair_count + 1, sizeof(*part->pairs)),
        .pair_count = head.pair_count,
    };
    rc = part->weights && part->pairs ? 0 : -ENOMEM;
    if (!rc) {
        const char *weights = (const char *)answer + sizeof(head);
        memcpy(part->weights, weights, task_count * sizeof(*part->weights));
        memcpy(part->pairs, (const char *)answer + size_of(task_count, 0),
               part->pair_count * sizeof(*part->pairs));
        rc = is_part(part, task_count) ? 0 : -EPROTO;
    }
    if (!rc)
        return 0;
    free(part->weights);
    free(part->pairs);
    *part = (struct profile_part){ 0 };
    return rc;
}

const char *flows_answer_reason(int rc)
{
    switch (rc) {
    case -ENOENT: return "no such file (private /tmp, or no shared file system)";
    case -ETIMEDOUT: return "the file server took more than 0.5 s";
    case -EINVAL: return "not a regular file, or not a profile";
    case -EFBIG: return "larger than 256 MB";
    case -E2BIG: return "too many pairs of ranks";
    case -ECHILD: return "it takes more than a second of CPU time, or too much memory";
    case -EPROTO: return "the process that reads it gave a wrong answer";
    case -ESTALE: return "the ranks of this node have changed";
    default: return strerror(-rc);
    }
}
