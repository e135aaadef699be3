/* SPDX-License-Identifier: BSD-3-Clause */

/* What a report says that the user may type: only where it helps, and as doc/report.md has it. */

#include "file.h"
#include "nics/rails.h"
#include "output/report.h"
#include "plan_words.h"
#include "unit.h"

/* Checks that the plan gives this advice and no other one, which is a bit mask, and that its report
 * has the sentences. */
static void advises(struct plan_case *s, uint32_t wanted)
{
    plan_case_make(s);
    if (s->plan.advice != wanted)
        fail_msg("advice %x, wanted %x", s->plan.advice, wanted);
    char *report = nuioa_report_text(&s->plan, &s->node, &s->options, false);
    for (unsigned i = 0; i < NUIOA_ADVICE_COUNT; i++) {
        char begin[32]; /* the report breaks longer texts into lines */
        nuioa_copy(begin, sizeof(begin), nuioa_advice_text((enum nuioa_advice)i));
        assert_int_equal(strstr(report, begin) != NULL, wanted >> i & 1);
    }
    free(report);
}

/* The NIC is on NUMA node 5 of 8, each of two cores. */
static struct plan_case *hagrid5(unsigned tasks, unsigned cpus_per_task)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=%ux%u", tasks, cpus_per_task);
    s->options.asked = true;
    s->request.cpus_typed = s->request.cpus_per_task = cpus_per_task;
    s->options.mem = NUIOA_MEM_INTERLEAVE; /* memory is a case of its own */
    return s;
}

TEST(test_threads)
{
    struct plan_case *s = hagrid5(2, 8);
    advises(s, 1 << NUIOA_ADVICE_THREADS);
    assert_false(s->plan.binds_threads);
    s->request.threads = 8;
    advises(s, 1 << NUIOA_ADVICE_THREADS);
    s->request.threads = 1;
    advises(s, 0);
    s->request.threads = 0;
    s->request.threads_by_user = true;
    advises(s, 0);
    s->request.threads_by_user = false;

    plan_case_option(s, "threads", "on");
    advises(s, 0);
    assert_true(s->plan.binds_threads);
    plan_case_option(s, "threads", "off");
    advises(s, 0);
    assert_false(s->plan.binds_threads);
    plan_case_option(s, "threads", "on");
    plan_case_option(s, "nuioa", "export");
    advises(s, 0);
    assert_false(s->plan.binds_threads);

    s = hagrid5(8, 2); /* cores of one NUMA node are equally near, and have the same memory */
    advises(s, 0);
}

/* -c of sbatch says how many CPUs a rank has for threads; a step wider than its ranks does not. */
TEST(test_no_threads_said)
{
    struct plan_case *s = hagrid5(2, 8);
    s->request.cpus_per_task = 1;
    advises(s, 1 << NUIOA_ADVICE_THREADS);
    plan_case_option(s, "threads", "on");
    advises(s, 0);
    assert_true(s->plan.binds_threads);

    s->request.cpus_typed = 0;
    advises(s, 1 << NUIOA_ADVICE_THREADS_NEED_C);
    assert_false(s->plan.binds_threads);
    s->request.threads = 1;
    advises(s, 0);
    s->request.threads = 0;
    plan_case_option(s, "threads", "auto");
    advises(s, 0);

    s = hagrid5(16, 1); /* ranks of one core have no threads to place */
    plan_case_option(s, "threads", "on");
    advises(s, 0);
}

/* A rank that spans NUMA nodes and has one thread would better have one core. */
TEST(test_memory)
{
    const uint32_t wanted = 1 << NUIOA_ADVICE_MEMORY;
    struct plan_case *s = hagrid5(2, 8);
    s->options.mem = NUIOA_MEM_OFF;
    advises(s, 1 << NUIOA_ADVICE_THREADS); /* -c: they have threads */
    s->request.cpus_typed = s->request.cpus_per_task = 0;
    advises(s, wanted);
    s->request.threads = 1;
    advises(s, wanted);
    s->options.mem = NUIOA_MEM_LOCAL; /* its memory is preferred beside the NIC */
    advises(s, 0);
    s->request.threads = 2;
    advises(s, 0);
    s->request.threads = 0;
    advises(s, wanted);
    s->options.mem = NUIOA_MEM_NIC;
    advises(s, 0);
    s->options.mem = NUIOA_MEM_OFF;
    bool *const facts[] = { &s->request.memory_by_user, &s->request.bound_by_user,
                            &s->request.overlaps, &s->request.unconfined };
    for (unsigned i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        *facts[i] = true;
        advises(s, 0);
        *facts[i] = false;
    }
    s->options.asked = false; /* then no rank moves to a core beside the NIC */
    advises(s, 0);
    s->options.asked = true;
    plan_case_option(s, "nuioa", "export");
    advises(s, 0);
    plan_case_option(s, "nuioa", "on");
    free(s->node.nics[0].level); /* nobody knows where the NIC is */
    s->node.nics[0].level = NULL;
    advises(s, 0);

    s = hagrid5(8, 2); /* a NUMA node each */
    s->options.mem = NUIOA_MEM_OFF;
    advises(s, 0);
}

/* Two ranks that see two GPUs, of which nobody knows whose each is. */
TEST(test_gpus)
{
    static const uint32_t seen[] = { 0, 1, 2 };
    static struct nuioa_task tasks[2];
    struct plan_case *s = hagrid5(2, 1);
    struct nuioa_gpu gpus[3], *none = s->node.gpus;
    plan_case_make(s);
    memset(gpus, 0, sizeof(gpus));
    for (unsigned g = 0; g < 3; g++) {
        gpus[g].numas = hwloc_bitmap_alloc();
        gpus[g].cpus = hwloc_bitmap_alloc();
    }
    s->node.gpus = gpus;
    s->node.gpu_count = 3;
    s->request.sees_gpu = true;
    for (unsigned i = 0; i < 2; i++) {
        tasks[i] = s->request.tasks[i];
        tasks[i].gpus_known = false;
        tasks[i].gpus_shared = true;
        tasks[i].seen = seen;
        tasks[i].seen_count = 2;
    }
    s->request.tasks = tasks;
    advises(s, 1 << NUIOA_ADVICE_GPUS);
    tasks[1].seen = seen + 1; /* they see different ones */
    advises(s, 0);
    tasks[1].seen = seen;
    tasks[0].seen_count = tasks[1].seen_count = 3; /* more GPUs than ranks */
    advises(s, 0);
    tasks[0].seen_count = tasks[1].seen_count = 2;
    plan_case_option(s, "gpus", "local-rank"); /* in vain, for their numbers are not known */
    advises(s, 1 << NUIOA_ADVICE_GPUS_ORDER);
    tasks[0].gpus_shared = tasks[1].gpus_shared = false;
    advises(s, 0);
    for (unsigned g = 0; g < 3; g++) {
        hwloc_bitmap_free(gpus[g].numas);
        hwloc_bitmap_free(gpus[g].cpus);
    }
    s->node.gpus = none;
    s->node.gpu_count = 0;
}

/* Slurm gave a rank CPUs of one socket and a GPU of the other: a job with other cores would help,
 * unless the step has them. */
TEST(test_far_gpu)
{
    const uint32_t wanted = 1 << NUIOA_ADVICE_GPUS_FAR;
    struct plan_case *s = plan_case_new();
    machine_build(&s->node, &(struct shape){ 2, 2, 2, 1, NULL });
    machine_nic(&s->node, "mlx5_0", 0);
    for (unsigned g = 0; g < 2; g++)
        machine_gpu(&s->node, g);
    plan_case_on(s, 1, 2);
    hwloc_bitmap_t step = hwloc_bitmap_dup(s->masks[0]);
    s->request.allowed_cpus = step;
    plan_case_gpus(s, "1");
    for (unsigned asked = 0; asked < 2; asked++) {
        s->options.asked = asked;
        advises(s, wanted);
    }
    plan_case_option(s, "gpus", "keep");
    advises(s, wanted);
    plan_case_option(s, "nuioa", "export");
    advises(s, wanted);
    plan_case_option(s, "nuioa", "off");
    advises(s, 0);
    plan_case_option(s, "nuioa", "on");
    hwloc_bitmap_set(step, 2); /* one hardware thread of each core beside the GPU */
    hwloc_bitmap_set(step, 3);
    advises(s, 0);
    hwloc_bitmap_clr(step, 3);
    advises(s, wanted);
    plan_case_gpus(s, "0");
    advises(s, 0);
    plan_case_gpus(s, "0,1"); /* no CPU is beside both */
    advises(s, 0);
    plan_case_gpus(s, "?");
    advises(s, 0);
    plan_case_gpus(s, "1");
    hwloc_bitmap_zero(s->node.gpus[1].numas);
    advises(s, 0);
    hwloc_bitmap_free(step);
    s->request.allowed_cpus = NULL;
}

/* The word that keeps export=auto from naming NICs, where it would name some. */
TEST(test_exports)
{
    const uint32_t connected = 1u << NUIOA_ADVICE_CONNECTED;
    struct plan_case *s = plan_case_new();
    machine_plain(&s->node, 1, 8);
    for (unsigned i = 0; i < 4; i++)
        snprintf(machine_nic(&s->node, "mlx5_0", 0)->fabric, sizeof(s->node.nics[0].fabric),
                 "fe80:0000:0000:0000");
    plan_case_on(s, 4, 1);
    s->options.asked = false;
    nuioa_options_finish(&s->options);
    advises(s, 0); /* the site places everybody, and exports nothing */
    plan_case_option(s, "nuioa", "on");
    nuioa_options_finish(&s->options);
    advises(s, connected);
    s->request.task_count = 3;
    advises(s, 0); /* fewer ranks than ports */
    s->request.task_count = 4;
    plan_case_option(s, "export", "env");
    nuioa_options_finish(&s->options);
    advises(s, 0);
    plan_case_option(s, "export", "auto");
    nuioa_options_finish(&s->options);
    plan_case_option(s, "rails", "connected");
    advises(s, 0);
    s->options.rails_connected = false;
    const struct nuioa_usable doubted = { .count = 4,
                                          .nics = s->plan.usable.nics,
                                          .doubted = true };
    assert_int_equal(nuioa_usable_lacks(&doubted, &s->node), NUIOA_ADVICE_ROLES);
    for (unsigned i = 0; i < 4; i++)
        s->node.nics[i].fabric[0] = '\0'; /* unknown: no word of the site is sure to help */
    advises(s, 0);
}

/* doc/report.md has every sentence, and each fits into a line that nodes send. */
TEST(test_page)
{
    const char *page = file_text(file_of_sources("../../doc/report.md"));
    for (unsigned i = 0; i < NUIOA_ADVICE_COUNT; i++) {
        const char *text = nuioa_advice_text((enum nuioa_advice)i);
        assert_true(strlen(text) < 256);
        if (!strstr(page, text))
            fail_msg("doc/report.md lacks: %s", text);
    }
}
