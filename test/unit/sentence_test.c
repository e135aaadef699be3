/* SPDX-License-Identifier: BSD-3-Clause */

/* Compares the sentences of a report with the plan that they describe. */

#include "output/report.h"
#include "plan_words.h"
#include "unit.h"

static const double weights[16] = { 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1 };

/* Makes the plan and returns its report on one line, which the caller frees. */
static char *report_of(struct plan_case *s, bool explain)
{
    plan_case_make(s);
    char *text = nuioa_report_text(&s->plan, &s->node, &s->options, explain);
    assert_non_null(text);
    for (char *c = text; *c; c++) /* a sentence may be broken into lines */
        *c = *c == '\n' ? ' ' : *c;
    return text;
}

static void says(struct plan_case *s, bool explain, const char *sentence, bool wanted)
{
    char *text = report_of(s, explain);
    if (!strstr(text, sentence) == wanted)
        fail_msg("'%s' is %sin: %s", sentence, wanted ? "not " : "", text);
    free(text);
}

static double cost_of_exchange(const struct plan_case *s, const unsigned *mask_of)
{
    double cost = 0;
    for (unsigned i = 0; i < s->request.task_count; i++) {
        int numa = hwloc_bitmap_first(s->masks[mask_of[i]]) / 2;
        unsigned level = s->node.nics[0].level[numa];
        cost += s->tasks[i].weight * (level ? 1.3 + 0.05 * (level - 1) : 1);
    }
    return cost;
}

/* Tries all exchanges of the masks, and sets *least to the lowest cost of them. */
static void try_all(const struct plan_case *s, unsigned *mask_of, unsigned at, double *least)
{
    if (at == s->request.task_count) {
        double cost = cost_of_exchange(s, mask_of);
        *least = cost < *least ? cost : *least;
        return;
    }
    for (unsigned k = at; k < s->request.task_count; k++) {
        unsigned kept = mask_of[at];
        mask_of[at] = mask_of[k];
        mask_of[k] = kept;
        try_all(s, mask_of, at + 1, least);
        mask_of[k] = mask_of[at];
        mask_of[at] = kept;
    }
}

/* Six ranks are far from the NIC: exchanges gain little, and other cores would gain more. */
TEST(test_bound_is_of_exchanges)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=6x1");
    unsigned mask_of[] = { 0, 1, 2, 3, 4, 5 };
    double least = 1e9, far = 0;
    plan_case_weigh(s, weights + 10);
    char *text = report_of(s, false);
    try_all(s, mask_of, 0, &least);
    assert_float_equal(s->plan.bound, least, 1e-9);
    assert_non_null(strstr(text, "no exchange of Slurm's masks can be below"));
    assert_null(strstr(text, "no placement"));
    free(text);
    /* on the cores of the NIC's NUMA node and of its neighbours they are below that bound */
    for (unsigned i = 0; i < 6; i++)
        far += weights[10 + i] * (i < 2 ? 1 : 1.3);
    assert_true(far < s->plan.bound);
    says(s, true, "in Slurm's closest masks", true);
}

/* Rank 0 has a larger mask. No other rank may have it, and then the bound is not valid. */
TEST(test_no_bound_of_unequal_masks)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=4x1");
    plan_case_weigh(s, weights);
    plan_case_bind(s, "14-15;1;2;3");
    says(s, true, "can be below", false);
    says(s, true, "the bound", false);
    assert_false(s->plan.bound_known);
}

/* There are more NUMA nodes than ranks, so better CPUs exist, but not among Slurm's masks. */
TEST(test_nothing_better_is_of_masks)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=2x1 step=0-1");
    plan_case_weigh(s, weights);
    says(s, false, "no better exchange of Slurm's masks was found", true);
    says(s, false, "no placement", false);
    s->request.hinted = false;
    says(s, false, "the step has no free cores nearer the NIC", true);
}

/* All ranks have the first GPU. */
static const char all_first[] = "0;0;0;0;0;0;0;0;0;0;0;0;0;0;0;0";

static void says_of_gpus(struct plan_case *s, bool left)
{
    for (int explain = 0; explain < 2; explain++) {
        says(s, explain, "which the cost does not count", left);
        says(s, explain, "% less", !left);
        says(s, explain, "cost ", true); /* at least this sentence is there */
        says(s, explain, " can be below", !left);
    }
    says(s, true, "of the gain", !left);
    says(s, true, "the cost does not count how far ranks are from their GPUs", left);
    assert_true(s->plan.moved);
    assert_int_equal(s->plan.gpus_left > 0, left);
    assert_true(strlen(s->plan.reason) + 1 < sizeof(s->plan.reason));
}

TEST(test_gpu_left)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1");
    plan_case_weigh(s, weights);
    plan_case_option(s, "nuioa", "force");
    says_of_gpus(s, false); /* a step without GPUs */

    s->request.sees_gpu = true;
    for (unsigned i = 0; i < 16; i++)
        s->tasks[i].gpus_known = false;
    says_of_gpus(s, true); /* it is unknown which rank has which GPU */

    /* all ranks have the GPU on the first NUMA node; those that leave it are counted */
    plan_case_option(s, "gpus", "keep");
    machine_gpu(&s->node, 0);
    plan_case_gpus(s, all_first);
    says_of_gpus(s, true);
}

/* Only ranks that are farther from their GPU than before are counted. */
TEST(test_gpu_not_left)
{
    static const double two[12] = { 5, 5 };
    struct plan_case *s = plan_case_of("hagrid=5 ranks=12x1");
    plan_case_weigh(s, two);
    plan_case_option(s, "nuioa", "force");
    plan_case_option(s, "gpus", "keep");
    machine_gpu(&s->node, 5);
    plan_case_gpus(s, all_first);
    plan_case_make(s);
    assert_int_equal(s->plan.gpus_left, 2); /* ranks 10 and 11 were near it and moved */
    for (unsigned i = 10; i < 12; i++)
        assert_true(s->plan.assignments[i].moved);

    s = plan_case_of("hagrid=5 ranks=16x1");
    plan_case_weigh(s, weights);
    plan_case_option(s, "nuioa", "force");
    plan_case_option(s, "gpus", "keep");
    machine_gpu(&s->node, 0);
    hwloc_bitmap_copy(s->node.gpus[0].numas, s->node.allowed_numas); /* equally near everywhere */
    plan_case_gpus(s, all_first);
    says_of_gpus(s, false);
}
