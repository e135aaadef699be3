/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "spank/stepd/flows_answer.h"

/* The answer of the child that reads a hints file, which slurmstepd reads as root, from a child
 * that lies. The first byte is the number of tasks, the second says what is made right in the head;
 * the rest is the answer. */

enum { RIGHT_HEAD = 1, RIGHT_COUNT = 2 };

/* The head of a right answer, which is written down in flows_answer.c: see make_head(). */
struct head {
    uint32_t magic, error, weight_count, pair_count;
};

/* The magic number is that of an answer which says that a file is not there. */
static uint32_t magic(void)
{
    static uint32_t known;
    size_t length;
    if (known)
        return known;
    fault_pause();
    void *answer = flows_answer_make("/nowhere/file", NUIOA_POLICY_BANDWIDTH, NULL, 0, &length);
    memcpy(&known, answer, sizeof(known));
    free(answer);
    fault_resume();
    return known;
}

static void make_head(char *answer, size_t length, uint32_t tasks, uint8_t flags)
{
    struct head head;
    if (length < sizeof(head))
        return;
    memcpy(&head, answer, sizeof(head));
    size_t rest = length - sizeof(head), weights = tasks * sizeof(double);
    if (flags & RIGHT_HEAD) {
        head.magic = magic();
        head.error = flags & RIGHT_COUNT ? 0 : head.error;
        head.weight_count = tasks;
    }
    if (flags & RIGHT_COUNT && rest >= weights)
        head.pair_count = (uint32_t)((rest - weights) / sizeof(struct nuioa_pair));
    memcpy(answer, &head, sizeof(head));
}

static void check_part(const struct profile_part *part, uint32_t tasks)
{
    for (uint32_t i = 0; i < tasks; i++)
        INPUT_CHECK(part->weights[i] >= 0 && part->weights[i] <= 1e30);
    for (uint32_t i = 0; i < part->pair_count; i++) {
        const struct nuioa_pair *pair = &part->pairs[i], *last = pair - 1;
        INPUT_CHECK(pair->first < pair->second && pair->second < tasks && pair->bytes >= 0);
        INPUT_CHECK(!i || last->first < pair->first ||
                    (last->first == pair->first && last->second < pair->second));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    uint32_t tasks = input_byte(&in) % 64;
    uint8_t flags = input_byte(&in);
    size_t length = in.size;
    char *answer = input_block(&in, &length);
    struct profile_part part;
    make_head(answer, length, tasks, flags);
    int rc = flows_answer_read(answer, length, tasks, &part);
    INPUT_CHECK(rc <= 0 && rc >= -4095);
    if (rc)
        INPUT_CHECK(!part.weights && !part.pairs && !part.pair_count);
    else
        check_part(&part, tasks);
    free(part.weights);
    free(part.pairs);
    free(answer);
    return 0;
}
