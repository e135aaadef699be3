/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/environment.h"
#include "output/user_variables.h"
#include "plan_words.h"
#include "unit.h"

static const char *thread_variable(struct plan_case *s, unsigned local, unsigned omp_threads,
                                   const char *name)
{
    static char env[16384];
    assert_true(nuioa_environment_threads(&s->plan, local, omp_threads, env, sizeof(env)) > 0);
    return plan_case_variable(env, name);
}

static const char *block_of_threads(struct plan_case *s, unsigned omp_threads)
{
    static char env[16384];
    assert_true(nuioa_environment_threads(&s->plan, 0, omp_threads, env, sizeof(env)) > 0);
    return env;
}

TEST(test_threads)
{
    struct plan_case *s = plan_case_of("quad ranks=2x8");
    char text[256];
    /* NUMA nodes 0-1, 2-3 */
    s->request.cpus_per_task = 8;
    plan_case_make(s);
    /* It would bind a program that only links libgomp to one core, with all that it forks. */
    assert_string_equal(block_of_threads(s, 0), "");
    plan_case_option(s, "threads", "on");
    plan_case_make(s);
    /* NIC on NUMA node 1 = cores 2 and 3, which come first */
    assert_string_equal(nuioa_places_text(&s->plan.assignments[0], text, sizeof(text)),
                        "{2,10},{3,11},{0,8},{1,9}");
    assert_string_equal(thread_variable(s, 0, 0, "OMP_PLACES"), "{2,10},{3,11},{0,8},{1,9}");
    assert_string_equal(thread_variable(s, 0, 0, "OMP_PROC_BIND"), "close");
    plan_case_option(s, "threads", "off");
    plan_case_make(s);
    assert_null(nuioa_places_text(&s->plan.assignments[0], text, sizeof(text)));

    /* An unbound rank alone gets places, unless the user asked for no binding. */
    s = plan_case_of("quad ranks=1x16");
    s->request.cpus_typed = 16;
    plan_case_option(s, "threads", "on");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].place_count, 8);
    assert_string_equal(thread_variable(s, 0, 0, "OMP_PROC_BIND"), "spread");
    s->request.bound_by_user = true;
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].place_count, 0);
}

/* Two ranks have two cores of both NUMA nodes each, and each NUMA node has a NIC. The threads of a
 * rank begin near the NIC of the rank. */
TEST(test_threads_own_nic)
{
    struct plan_case *s = plan_case_new();
    char text[256];
    machine_plain(&s->node, 2, 4);
    machine_nic(&s->node, "mlx5_0", 0);
    machine_nic(&s->node, "mlx5_1", 1);
    plan_case_on(s, 2, 4);
    plan_case_bind(s, "0-1,4-5;2-3,6-7");
    plan_case_make(s);
    assert_int_equal(s->plan.assignments[0].nic, 0);
    assert_int_equal(s->plan.assignments[1].nic, 1);
    assert_string_equal(nuioa_places_text(&s->plan.assignments[0], text, sizeof(text)),
                        "{0},{1},{4},{5}");
    assert_string_equal(nuioa_places_text(&s->plan.assignments[1], text, sizeof(text)),
                        "{6},{7},{2},{3}");
    int used = nuioa_environment(&s->plan, &s->node, &s->options, 1, text, sizeof(text));
    assert_true(used > 0);
    assert_string_equal(plan_case_variable(text, "NUIOA_COMM_CPUS"), "6");
}

static const char *const progress[] = { "MPIR_CVAR_PROGRESS_THREAD_AFFINITY",
                                        "I_MPI_ASYNC_PROGRESS_PIN" };

/* A progress thread gets the core after those of the OpenMP threads, then the second hardware
 * thread of the nearest; else it is not pinned. */
TEST(test_progress)
{
    struct plan_case *s = plan_case_of("quad ranks=2x8");
    /* places {2,10},{3,11},{0,8},{1,9} and those of NUMA nodes 2-3 */
    s->request.cpus_per_task = 8;
    plan_case_make(s);
    assert_string_equal(block_of_threads(s, 3), "");
    plan_case_option(s, "threads", "on");
    plan_case_make(s);
    for (unsigned i = 0; i < 2; i++) {
        assert_string_equal(thread_variable(s, 1, 1, progress[i]), "3,7,4,5");
        assert_string_equal(thread_variable(s, 0, 3, progress[i]), "1,5,0,1");
        assert_string_equal(thread_variable(s, 0, 4, progress[i]), "10,14,0,1");
        assert_null(thread_variable(s, 0, 5, progress[i]));
        assert_null(thread_variable(s, 0, 0, progress[i]));
    }

    s = plan_case_of("hagrid=5 ranks=1x16"); /* one rank, one hardware thread a core */
    s->request.cpus_per_task = 16;
    plan_case_option(s, "threads", "on");
    plan_case_make(s);
    assert_string_equal(thread_variable(s, 0, 8, progress[0]),
                        "11,11,6,7,12,13,14,15,2,3,4,5,8,9,0,1");
    assert_string_equal(thread_variable(s, 0, 8, "OMP_PROC_BIND"), "spread");
    assert_null(thread_variable(s, 0, 16, progress[0]));
}

TEST(test_environment)
{
    struct plan_case *s = plan_case_of("hagrid=5 ranks=16x1");
    char env[16384];
    for (unsigned i = 0; i < 16; i++)
        s->tasks[i].rank = 100 + i;
    s->request.planned = true;
    plan_case_make(s);
    int used = nuioa_environment(&s->plan, &s->node, &s->options, 0, env, sizeof(env));
    assert_true(used > 0);
    assert_string_equal(plan_case_variable(env, "NUIOA_VERSION"), "1");
    assert_string_equal(plan_case_variable(env, "NUIOA_LEADER"), "100");
    assert_string_equal(plan_case_variable(env, "NUIOA_NEAR"), "2");
    assert_string_equal(plan_case_variable(env, "NUIOA_NIC"), "mlx4_0:1");
    assert_string_equal(plan_case_variable(env, "NUIOA_LEVEL"), "0");
    assert_string_equal(plan_case_variable(env, "NUIOA_CPUS"), "10");
    assert_string_equal(plan_case_variable(env, "NUIOA_PLANNED"), "1");
    assert_null(plan_case_variable(env, "NUIOA_WEIGHT")); /* without hints it is unknown */
    assert_int_equal(nuioa_environment(&s->plan, &s->node, &s->options, 0, env, (size_t)used),
                     used);
    assert_int_equal(nuioa_environment(&s->plan, &s->node, &s->options, 0, env, (size_t)used - 1),
                     -ENOSPC);
    plan_case_option(s, "export", "none");
    nuioa_options_finish(&s->options);
    assert_int_equal(nuioa_environment(&s->plan, &s->node, &s->options, 0, env, sizeof(env)), 1);
    assert_int_equal(env[0], '\0');
}

/* A rank is told all its NICs, the first of which is NUIOA_NIC, and its GPUs if they are known. */
TEST(test_several_nics)
{
    struct plan_case *s = plan_case_new();
    char env[16384];
    machine_plain(&s->node, 1, 4);
    for (unsigned n = 0; n < 3; n++) {
        machine_nic(&s->node, (const char *[]){ "a", "b", "c" }[n], 0);
        machine_gpu(&s->node, 0);
    }
    plan_case_on(s, 1, 1);
    plan_case_make(s);
    assert_true(nuioa_environment(&s->plan, &s->node, &s->options, 0, env, sizeof(env)) > 0);
    assert_string_equal(plan_case_variable(env, "NUIOA_NIC"), "a:1");
    assert_string_equal(plan_case_variable(env, "NUIOA_NICS"), "a:1,b:1,c:1");
    assert_null(plan_case_variable(env, "NUIOA_GPUS"));
    machine_path(&s->node, 2, 1, NUIOA_PATH_PIX);
    machine_path(&s->node, 0, 2, NUIOA_PATH_PIX);
    plan_case_gpus(s, "2,0");
    plan_case_make(s);
    assert_true(nuioa_environment(&s->plan, &s->node, &s->options, 0, env, sizeof(env)) > 0);
    assert_string_equal(plan_case_variable(env, "NUIOA_NIC"), "b:1");
    assert_string_equal(plan_case_variable(env, "NUIOA_NICS"), "b:1,c:1");
    assert_string_equal(plan_case_variable(env, "NUIOA_GPUS"), "0000:12:00.0,0000:10:00.0");
    plan_case_gpus(s, "?");
    plan_case_make(s);
    assert_true(nuioa_environment(&s->plan, &s->node, &s->options, 0, env, sizeof(env)) > 0);
    assert_string_equal(plan_case_variable(env, "NUIOA_NICS"), "a:1");
    assert_null(plan_case_variable(env, "NUIOA_GPUS"));
}

/* One variable of a program's says what another one would: then ours is not set. */
TEST(test_set_otherwise)
{
    char mpich[] = "MPICH_PROGRESS_THREAD_AFFINITY=1", intel[] = "I_MPI_ASYNC_PROGRESS_THREADS=2";
    char *const set[][2] = { { mpich, NULL }, { intel, NULL } };
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            assert_int_equal(nuioa_is_set_otherwise(set[k], progress[i]), i == k);
    assert_false(nuioa_is_set_otherwise(set[0], "MPICH_OFI_NIC_POLICY"));
}

/* A setting without a name, or with one that is too long, is left out. */
TEST(test_block)
{
    static const char settings[] = "A=1\0without\0ABCDEFGH=long\0ABCDEFG==\0B=\0";
    const char *rest = settings;
    char name[8];
    assert_string_equal(nuioa_block_next(&rest, name, sizeof(name)), "1");
    assert_string_equal(name, "A");
    assert_string_equal(nuioa_block_next(&rest, name, sizeof(name)), "=");
    assert_string_equal(name, "ABCDEFG");
    assert_string_equal(nuioa_block_next(&rest, name, sizeof(name)), "");
    assert_string_equal(name, "B");
    assert_null(nuioa_block_next(&rest, name, sizeof(name)));
}
