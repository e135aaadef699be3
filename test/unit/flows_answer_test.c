/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "file.h"
#include "profile/profile.h"
#include "spank/stepd/flows_answer.h"
#include "unit.h"

/* The answer of the child that reads a hints file, and answers of one that lies. */

enum { TASKS = 4 };

/* The answer's layout, written down once more: an answer of three pairs. */
struct answer {
    uint32_t magic, error, weight_count, pair_count;
    double weights[TASKS];
    struct nuioa_pair pairs[3];
};

static struct answer good;

static int make_good(void **state)
{
    (void)state;
    static const uint32_t ranks[TASKS] = { 5, 0, 1, 2 };
    static const char text[] =
        "nuioa-profile 1\nranks 8\npair 0 1 100 1 0\npair 5 2 7 1 0\n"
        "coll 1 2 30 1 0\npair 0 7 1000 1 0\npair 6 7 9 1 0\npair 2 2 8 1 0\n";
    size_t length;
    const char *path = file_new(text, sizeof(text) - 1);
    void *answer = flows_answer_make(path, NUIOA_POLICY_BANDWIDTH, ranks, TASKS, &length);
    assert_non_null(answer);
    assert_int_equal(length, sizeof(good));
    memcpy(&good, answer, sizeof(good));
    free(answer);
    return 0;
}

static int read_it(const struct answer *answer, size_t length, struct profile_part *part)
{
    void *copy = malloc(length ? length : 1); /* every byte behind it is seen */
    memcpy(copy, answer, length);
    int rc = flows_answer_read(copy, length, TASKS, part);
    free(copy);
    return rc;
}

static void refused(const struct answer *answer, size_t length, int code)
{
    struct profile_part part = { .pair_count = 1 };
    assert_int_equal(read_it(answer, length, &part), code);
    assert_null(part.weights);
    assert_null(part.pairs);
    assert_int_equal(part.pair_count, 0);
}

TEST(test_right)
{
    struct profile_part part;
    assert_int_equal(read_it(&good, sizeof(good), &part), 0);
    assert_float_equal(part.weights[0], 0, 0);
    assert_float_equal(part.weights[1], 50, 1e-9); /* rank 0 sends 1000 bytes to another node */
    assert_int_equal(part.pair_count, 3);
    assert_int_equal(part.pairs[0].first, 0); /* ranks 5 and 2 */
    assert_int_equal(part.pairs[0].second, 3);
    assert_float_equal(part.pairs[0].bytes, 7, 0);
    assert_float_equal(part.pairs[1].bytes, 100, 0);
    assert_float_equal(part.pairs[2].bytes, 30, 0);
    free(part.weights);
    free(part.pairs);
}

TEST(test_length)
{
    assert_true(flows_answer_max(TASKS) >= sizeof(good));
    for (size_t length = 0; length < sizeof(good); length++)
        refused(&good, length, -EPROTO);
    struct answer wrong = good;
    wrong.pair_count = 2;
    refused(&wrong, sizeof(wrong), -EPROTO);
    wrong.pair_count = UINT32_MAX;
    refused(&wrong, sizeof(wrong), -EPROTO);
    wrong = good;
    wrong.weight_count = 2;
    refused(&wrong, sizeof(wrong), -EPROTO);
    wrong = good;
    wrong.magic++;
    refused(&wrong, sizeof(wrong), -EPROTO);
}

/* Four tasks form six pairs, and no more. */
TEST(test_many_pairs)
{
    struct {
        struct answer head;
        struct nuioa_pair more[4];
    } many = { .head = good };
    struct profile_part part;
    size_t length = sizeof(good) + 4 * sizeof(struct nuioa_pair);
    many.head.pair_count = 7;
    assert_int_equal(flows_answer_read(&many, length, TASKS, &part), -EPROTO);
    assert_true(flows_answer_max(TASKS) < length);
    assert_true(flows_answer_max(0) < sizeof(good));
    assert_true(flows_answer_max(4096) < 20 << 20);
}

TEST(test_numbers)
{
    static const double wrong[] = { NAN, -NAN, INFINITY, -INFINITY, -1, 1e31 };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        double *const numbers[] = { &good.weights[0], &good.weights[TASKS - 1],
                                    &good.pairs[0].bytes, &good.pairs[2].bytes };
        for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
            double right = *numbers[k];
            *numbers[k] = wrong[i];
            refused(&good, sizeof(good), -EPROTO);
            *numbers[k] = right;
        }
    }
}

static void refused_pair(unsigned number, uint32_t first, uint32_t second)
{
    struct answer wrong = good;
    wrong.pairs[number].first = first;
    wrong.pairs[number].second = second;
    refused(&wrong, sizeof(wrong), -EPROTO);
}

TEST(test_pairs)
{
    refused_pair(2, 2, TASKS);
    refused_pair(2, UINT32_MAX - 1, UINT32_MAX);
    refused_pair(0, 3, 0);
    refused_pair(2, 3, 3);
    refused_pair(1, good.pairs[0].first, good.pairs[0].second);
    refused_pair(1, good.pairs[0].first, good.pairs[0].second - 1);
    refused_pair(2, 0, 1);
}

TEST(test_error)
{
    uint32_t ranks[TASKS] = { 0, 1, 2, 3 };
    struct profile_part part;
    size_t length;
    void *answer = flows_answer_make("/", NUIOA_POLICY_BANDWIDTH, ranks, TASKS, &length);
    assert_int_equal(flows_answer_read(answer, length, TASKS, &part), -EINVAL);
    free(answer);
    answer = flows_answer_make("/nowhere", NUIOA_POLICY_BANDWIDTH, ranks, TASKS, &length);
    assert_int_equal(flows_answer_read(answer, length, TASKS, &part), -ENOENT);
    free(answer);
    struct answer wrong = good;
    wrong.error = 4095;
    refused(&wrong, sizeof(wrong), -4095);
    wrong.error = 4096;
    refused(&wrong, sizeof(wrong), -EPROTO);
    wrong.error = UINT32_MAX;
    refused(&wrong, sizeof(wrong), -EPROTO);
}

/* Each failure has a text of its own. */
TEST(test_reason)
{
    static const int codes[] = { -ENOENT, -ETIMEDOUT, -EINVAL, -EFBIG, -E2BIG,
                                 -ECHILD, -EPROTO,    -ESTALE, -EACCES };
    for (unsigned i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(flows_answer_reason(codes[i]), flows_answer_reason(codes[k]));
    assert_string_equal(flows_answer_reason(-EPROTO),
                        "the process that reads it gave a wrong answer");
    assert_string_equal(flows_answer_reason(-E2BIG), "too many pairs of ranks");
    assert_string_equal(flows_answer_reason(-ESTALE), "the ranks of this node have changed");
}

ALL_WITHIN(make_good, NULL)
