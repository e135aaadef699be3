/* SPDX-License-Identifier: BSD-3-Clause */

/* A task that waits until slurmstepd has written what it needs. */

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/stepd/task_memory.h"
#include "unit.h"
#include "util/clock.h"

/* A limit for what hangs, and how long a task waits that nobody wakes. */
#define HANG_MS 20000
#define LONG_MS 10000

static struct task_memory *memory;

static int begin(void **state)
{
    (void)state;
    memory = task_memory_new(2);
    return !memory;
}

static int end(void **state)
{
    (void)state;
    task_memory_free(memory, 2);
    return 0;
}

/* Returns true if the process has the name of a task that waits, and sleeps. */
static bool waits(pid_t pid)
{
    char path[64], name[32] = "", how = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    int read = fscanf(file, "%*d (%31[^)]) %c", name, &how);
    fclose(file);
    return read == 2 && !strcmp(name, "nuioa-wait") && how == 'S';
}

static bool await_waiting(pid_t pid)
{
    for (int i = 0; i < HANG_MS; i++, usleep(1000))
        if (waits(pid))
            return true;
    return false;
}

/* In a task: 0 if it has gone on, with its own name, because the memory is open. */
static int be_task(void)
{
    char name[16] = "";
    prctl(PR_SET_NAME, "slurmstepd");
    bool open = task_memory_wait(memory);
    prctl(PR_GET_NAME, name);
    return strcmp(name, "slurmstepd") ? 2 : !open;
}

TEST_WITHIN(test_opened, begin, end)
{
    int status = -1;
    task_memory_close(memory, nuioa_clock_ms() + LONG_MS);
    pid_t task = fork();
    if (task == 0)
        _exit(be_task());
    assert_true(await_waiting(task));
    task_memory_open(memory);
    assert_int_equal(waitpid(task, &status, 0), task);
    assert_int_equal(status, 0);
    assert_int_equal(be_task(), 0); /* it is open, and nobody waits */
}

TEST_WITHIN(test_never_opened, begin, end)
{
    task_memory_close(memory, 0);
    assert_false(task_memory_wait(memory));
    task_memory_close(memory, nuioa_clock_ms() + 1);
    assert_false(task_memory_wait(memory));
}

/* In slurmstepd: starts a task and dies while it waits. */
static int be_stepd(int to)
{
    pid_t task = fork();
    if (task == 0) {
        close(to);
        _exit(be_task());
    }
    return !await_waiting(task) || write(to, &task, sizeof(task)) != sizeof(task);
}

/* Nobody else would end the task, which is still a copy of slurmstepd. */
TEST_WITHIN(test_orphan, begin, end)
{
    int ends[2], status = -1;
    pid_t task = -1;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    task_memory_close(memory, nuioa_clock_ms() + LONG_MS);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t stepd = fork();
    if (stepd == 0)
        _exit(be_stepd(ends[1]));
    close(ends[1]);
    assert_int_equal(waitpid(stepd, &status, 0), stepd);
    assert_int_equal(status, 0);
    assert_int_equal(read(ends[0], &task, sizeof(task)), sizeof(task));
    assert_int_equal(waitpid(task, &status, 0), task);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(ends[0]);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}
