/* SPDX-License-Identifier: BSD-3-Clause */

/* Tasks tell slurmstepd which GPUs they have: in time, late, wrongly or not at all. */

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/stepd/task_gpus.h"
#include "task_gpus_case.h"
#include "unit.h"

#define ROUNDS 1000000 /* of a race that is seldom lost */

/* Starts a task that tells these GPUs, and which one it takes by its local rank (counted from 1, 0:
 * not known), and then lives. */
static void start_telling_rule(unsigned task, uint32_t state, uint64_t bits, uint32_t by_rank)
{
    pids[task] = fork();
    if (pids[task] == 0) {
        struct task_gpu_set set = { state, by_rank, { bits } };
        task_memory_tell(context.task_memory, task, &set);
        for (;;)
            pause();
    }
}

static void start_telling(unsigned task, uint32_t state, uint64_t bits)
{
    start_telling_rule(task, state, bits, 0);
}

static void await_told(uint32_t count)
{
    while (task_memory_told(context.task_memory) < count)
        usleep(1000);
}

static int begin_telling(void **state)
{
    (void)state;
    begin();
    context.task_memory = task_memory_new(TASKS);
    return context.task_memory ? task_gpus_prepare(&context) : -1;
}

static int end_telling(void **state)
{
    (void)state;
    end_all();
    task_memory_free(context.task_memory, TASKS);
    return 0;
}

static void all_tell(const char *wanted)
{
    assert_true(task_gpus_await(&context));
    assert_string_equal(describe(), wanted);
}

TEST_WITHIN(test_all_tell, begin_telling, end_telling)
{
    start_telling(0, TASK_GPUS_KNOWN, 5);
    start_telling(1, TASK_GPUS_KNOWN, 2);
    start_telling(2, TASK_GPUS_KNOWN, 0);
    all_tell("0,2 1 -");
}

/* Whoever sees several has none of them if another task sees one; whoever sees one has it. */
TEST_WITHIN(test_gpus_that_are_seen_twice, begin_telling, end_telling)
{
    start_telling(0, TASK_GPUS_KNOWN, 3);
    start_telling(1, TASK_GPUS_KNOWN, 2);
    start_telling(2, TASK_GPUS_KNOWN, 4);
    all_tell("&0,1 1 2");
}

TEST_WITHIN(test_all_see_all, begin_telling, end_telling)
{
    for (unsigned i = 0; i < TASKS; i++)
        start_telling(i, TASK_GPUS_KNOWN, 7);
    assert_true(task_gpus_await(&context));
    assert_int_equal(task_gpus_count(&context).shared, TASKS);
    assert_int_equal(task_gpus_count(&context).lost, TASKS);
    assert_string_equal(describe(), "&0,1,2 &0,1,2 &0,1,2");
}

/* With gpus=local-rank those who do not have what they see have the GPU of their local rank. */
TEST_WITHIN(test_by_local_rank, begin_telling, end_telling)
{
    start_telling_rule(0, TASK_GPUS_KNOWN, 7, 3);
    start_telling_rule(1, TASK_GPUS_UNKNOWN, 7, 2);
    start_telling_rule(2, TASK_GPUS_KNOWN, 1, 1); /* it has that one in any case */
    assert_true(task_gpus_await(&context));
    assert_int_equal(task_gpus_count(&context).by_rank, 2);
    assert_int_equal(task_gpus_count(&context).lost, 0);
    assert_string_equal(describe(), "2 1 0");
}

/* Several that nobody else sees are a task's own, whatever its local rank is. */
TEST_WITHIN(test_own_before_local_rank, begin_telling, end_telling)
{
    start_telling_rule(0, TASK_GPUS_KNOWN, 3, 1);
    start_telling_rule(1, TASK_GPUS_KNOWN, 4, 3);
    start_telling(2, TASK_GPUS_KNOWN, 0);
    assert_true(task_gpus_await(&context));
    assert_int_equal(task_gpus_count(&context).by_rank, 0);
    assert_string_equal(describe(), "0,1 2 -");
}

/* The task's own word is checked: there is no such GPU. */
TEST_WITHIN(test_a_wrong_local_rank, begin_telling, end_telling)
{
    start_telling_rule(0, TASK_GPUS_KNOWN, 7, GPUS + 1);
    start_telling_rule(1, TASK_GPUS_KNOWN, 7, UINT32_MAX);
    start_telling_rule(2, TASK_GPUS_BY_RANK, 1, 1);
    all_tell("&0,1,2 &0,1,2 ?");
}

/* A task that does not know which of some GPUs it has may have one that another task sees. */
TEST_WITHIN(test_some_of_these, begin_telling, end_telling)
{
    start_telling(0, TASK_GPUS_UNKNOWN, 6);
    start_telling(1, TASK_GPUS_KNOWN, 3);
    start_telling(2, TASK_GPUS_KNOWN, 1);
    all_tell("?1,2 &0,1 0");
}

/* A task that knows nothing may have any. */
TEST_WITHIN(test_one_knows_nothing, begin_telling, end_telling)
{
    start_telling(0, TASK_GPUS_KNOWN, 5);
    start_telling(1, TASK_GPUS_UNKNOWN, 0);
    start_telling(2, TASK_GPUS_KNOWN, 2);
    all_tell("&0,2 ? 1");
}

TEST_WITHIN(test_one_task_alone, begin_telling, end_telling)
{
    facts.step.task_count = 1;
    start_telling(0, TASK_GPUS_KNOWN, 7);
    all_tell("0,1,2");
}

/* A task that looks up its own NICs sees what the others have told, and those of whom slurmstepd
 * knows it; it does not wait for ever for the rest. */
TEST_WITHIN(test_tasks_see_each_other, begin_telling, end_telling)
{
    struct task_gpu_set sets[TASKS];
    struct task_memory *memory = context.task_memory;
    memory->tasks[2].gpus = (struct task_gpu_set){ TASK_GPUS_KNOWN, 0, { 4 } };
    memory->tasks[2].ready = 1;
    start_telling(0, TASK_GPUS_KNOWN, 3);
    task_memory_see(memory, TASKS, 20, sets);
    assert_int_equal(sets[1].state, TASK_GPUS_OPEN);
    start_telling(1, TASK_GPUS_UNKNOWN, 2);
    task_memory_see(memory, TASKS, 600000, sets);
    assert_int_equal(sets[0].state, TASK_GPUS_KNOWN);
    assert_int_equal(sets[0].bits[0], 3);
    assert_int_equal(sets[1].state, TASK_GPUS_UNKNOWN);
    assert_int_equal(sets[1].bits[0], 2);
    assert_int_equal(sets[2].bits[0], 4);
}

TEST_WITHIN(test_nonsense_is_not_believed, begin_telling, end_telling)
{
    start_telling(0, TASK_GPUS_KNOWN, 1 << GPUS); /* no such GPU */
    start_telling(1, 7, 1);
    start_telling(2, TASK_GPUS_KNOWN, 1);
    all_tell("? ? 0");
}

/* A task that changes what it tells, again and again. What was checked is what counts, so the state
 * is read once only. */
TEST_WITHIN(test_told_while_it_changes, begin_telling, end_telling)
{
    volatile struct task_gpu_set *told = &context.task_memory->tasks[0].told.gpus;
    facts.step.task_count = 1;
    pids[0] = fork();
    if (pids[0] == 0) {
        task_memory_tell(context.task_memory, 0,
                         &(struct task_gpu_set){ TASK_GPUS_KNOWN, 0, { 1 } });
        for (;;)
            told->state ^= TASK_GPUS_KNOWN;
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        context.gpus[0].state = TASK_GPUS_OPEN;
        assert_true(task_gpus_await(&context));
        assert_int_not_equal(context.gpus[0].state, TASK_GPUS_OPEN);
    }
}

/* What the kernel has said counts. */
TEST_WITHIN(test_what_is_known_stays, begin_telling, end_telling)
{
    context.gpus[0] = (struct task_gpu_set){ TASK_GPUS_KNOWN, 0, { 4 } };
    for (unsigned i = 0; i < TASKS; i++)
        start_telling(i, TASK_GPUS_KNOWN, 1);
    all_tell("2 0 0");
}

TEST_WITHIN(test_a_late_task, begin_telling, end_telling)
{
    start_telling(0, TASK_GPUS_KNOWN, 1);
    start_telling(2, TASK_GPUS_KNOWN, 4);
    pids[1] = fork();
    if (pids[1] == 0)
        for (;;)
            pause();
    await_told(2);
    facts.options.deadline_ms = 50;
    assert_false(task_gpus_await(&context));
    assert_string_equal(describe(), "0 ? 2");
}

/* The others do not wait for it until the deadline, which would be minutes. Its status is left to
 * those who wait for it. */
TEST_WITHIN(test_a_task_that_ends, begin_telling, end_telling)
{
    int status;
    facts.options.deadline_ms = 600000;
    start_telling(0, TASK_GPUS_KNOWN, 1);
    start_telling(1, TASK_GPUS_KNOWN, 1);
    await_told(2);
    if ((pids[2] = fork()) == 0)
        raise(SIGKILL);
    assert_false(task_gpus_await(&context));
    assert_int_equal(waitpid(pids[2], &status, 0), pids[2]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    pids[2] = 0;
    assert_string_equal(describe(), "0 0 ?");
}
