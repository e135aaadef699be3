/* SPDX-License-Identifier: BSD-3-Clause */

/* A plan that the kernel has refused is what the mode export would have made: CPUs, memory,
 * variables and report, byte for byte; only the reason is another one. */

#include "output/environment.h"
#include "output/library_variables.h"
#include "output/report.h"
#include "plan/bind.h"
#include "plan/plan.h"
#include "plan_words.h"
#include "unit.h"

/* The texts of one rank: its variables, those of other programs, and of its threads. */
struct texts {
    char own[8192], libraries[8192], threads[8192];
    struct nuioa_mempolicy memory;
};

static struct texts *texts_of(const struct plan_case *s, uint32_t local)
{
    struct texts *t = calloc(1, sizeof(*t));
    const struct nuioa_plan *plan = &s->plan;
    assert_true(t && nuioa_environment(plan, &s->node, &s->options, local, t->own, 8192) > 0);
    assert_true(nuioa_library_variables(plan, &s->node, &s->options, local, t->libraries, 8192) >
                0);
    assert_true(nuioa_environment_threads(plan, local, 2, t->threads, 8192) > 0);
    assert_int_equal(nuioa_mempolicy_of(&plan->assignments[local], &t->memory), 0);
    return t;
}

static char *report_of(struct plan_case *s)
{
    nuioa_copy(s->plan.reason, sizeof(s->plan.reason), "the same");
    char *text = nuioa_report_text(&s->plan, &s->node, &s->options, true);
    assert_non_null(text);
    return text;
}

/* Undoes the plan of a case, in which ranks move, and compares it with that of export. */
static void check(struct plan_case *s)
{
    struct texts *undone[PLAN_CASE_TASKS_MAX];
    const uint32_t n = s->request.task_count;
    plan_case_make(s);
    assert_true(s->plan.moved);
    assert_int_equal(nuioa_plan_undo(&s->request, &s->plan), 0);
    assert_string_equal(s->plan.reason, nuioa_reason_text(NUIOA_REASON_BIND_FAILED));
    assert_false(s->plan.moved);
    assert_string_equal(s->plan.mapper, "keep");
    char *report = report_of(s);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(hwloc_bitmap_isequal(s->plan.assignments[i].cpus, s->masks[i]));
        undone[i] = texts_of(s, i);
    }
    s->options.mode = NUIOA_EXPORT;
    plan_case_make(s);
    char *other = report_of(s);
    assert_string_equal(report, other);
    for (uint32_t i = 0; i < n; i++) {
        struct texts *exported = texts_of(s, i);
        assert_memory_equal(undone[i], exported, sizeof(*exported));
        free(undone[i]);
        free(exported);
    }
    free(report);
    free(other);
    plan_case_free(s);
}

static struct plan_case *begin(unsigned tasks, unsigned cpus_per_task)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=%ux%u", tasks, cpus_per_task);
    s->options.asked = true;
    plan_case_option(s, "export", "env,ucx,ofi,nccl,psm,mpich,nvshmem");
    return s;
}

TEST(test_hints)
{
    struct plan_case *s = begin(16, 1);
    plan_case_weigh_by(s, plan_case_descending);
    check(s);
}

TEST(test_no_hints)
{
    check(begin(2, 1));
}

/* An undone plan leaves no memory policy, and binds no threads. */
TEST(test_memory_and_threads)
{
    static const char *const mem[] = { "local", "nic", "interleave" };
    for (unsigned i = 0; i < 3; i++) {
        struct plan_case *s = begin(4, 2);
        plan_case_option(s, "mem", mem[i]);
        plan_case_option(s, "threads", "on");
        plan_case_weigh_by(s, plan_case_descending);
        check(s);
    }
}

TEST(test_divided)
{
    struct plan_case *s = begin(4, 1);
    plan_case_unbind(s);
    check(s);
}

TEST(test_gpus)
{
    struct plan_case *s = begin(4, 1);
    machine_gpu(&s->node, 7);
    machine_gpu(&s->node, 6);
    s->request.sees_gpu = true;
    plan_case_gpus(s, "0;0;1;1");
    check(s);
}
