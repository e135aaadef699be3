/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/task_memory.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

/* A task notices after this time that slurmstepd is gone, and slurmstepd that a task is. */
#define NAP_MS 100

static size_t size_of(uint32_t count)
{
    return sizeof(struct task_memory) + count * sizeof(struct task_memory_part);
}

struct task_memory *task_memory_new(uint32_t count)
{
    void *task_memory = mmap(NULL, size_of(count), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return task_memory == MAP_FAILED ? NULL : task_memory;
}

void task_memory_free(struct task_memory *task_memory, uint32_t count)
{
    if (task_memory)
        munmap(task_memory, size_of(count));
}

/* proctrack/linuxproc never signals a process named slurmstepd, which a task still is. It has
 * another name while it waits, so that it can be ended like one that runs. Returns true if the
 * former one, which has up to 16 bytes, is to be set again. */
static bool take_name(char *name)
{
    return !prctl(PR_GET_NAME, name) && !prctl(PR_SET_NAME, "nuioa-wait");
}

/* --- the GPUs of tasks ------------------------------------------------------------------------ */

void task_memory_tell(struct task_memory *task_memory, uint32_t local,
                      const struct task_gpu_set *gpus)
{
    struct task_told *told = &task_memory->tasks[local].told;
    told->gpus = *gpus;
    __atomic_store_n(&told->ready, 1, __ATOMIC_RELEASE);
    __atomic_fetch_add(&task_memory->told, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &task_memory->told, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t task_memory_told(const struct task_memory *task_memory)
{
    return __atomic_load_n(&task_memory->told, __ATOMIC_ACQUIRE);
}

bool task_memory_await_told(struct task_memory *task_memory, uint32_t seen)
{
    struct timespec time = { 0, NAP_MS * 1000000L };
    syscall(SYS_futex, &task_memory->told, FUTEX_WAIT, seen, &time, NULL, 0);
    return task_memory_told(task_memory) != seen;
}

/* Returns true if all sets are known. */
static bool copy_sets(const struct task_memory *task_memory, uint32_t count,
                      struct task_gpu_set *sets)
{
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct task_memory_part *task = &task_memory->tasks[i];
        sets[i] = (struct task_gpu_set){ .state = TASK_GPUS_OPEN };
        if (__atomic_load_n(&task->ready, __ATOMIC_ACQUIRE) && task->gpus.state)
            sets[i] = task->gpus;
        else if (__atomic_load_n(&task->told.ready, __ATOMIC_ACQUIRE))
            sets[i] = task->told.gpus;
        else
            all = false;
    }
    return all;
}

void task_memory_see(struct task_memory *task_memory, uint32_t count, unsigned ms,
                     struct task_gpu_set *sets)
{
    char name[16];
    int64_t until_ms = nuioa_clock_ms() + ms;
    bool named = take_name(name);
    uint32_t told = task_memory_told(task_memory);
    while (!copy_sets(task_memory, count, sets) && nuioa_clock_ms() < until_ms) {
        task_memory_await_told(task_memory, told);
        told = task_memory_told(task_memory);
    }
    if (named)
        prctl(PR_SET_NAME, name);
}

/* --- open and closed -------------------------------------------------------------------------- */

/* The tasks wait on a futex: it needs no descriptor, is not harmed when a task that waits dies, and
 * measures its timeout with the monotonic clock. */

void task_memory_close(struct task_memory *task_memory, int64_t until_ms)
{
    task_memory->until_ms = until_ms;
    __atomic_store_n(&task_memory->closed, 1, __ATOMIC_RELEASE);
}

void task_memory_open(struct task_memory *task_memory)
{
    __atomic_store_n(&task_memory->closed, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, &task_memory->closed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_closed(const struct task_memory *task_memory)
{
    return __atomic_load_n(&task_memory->closed, __ATOMIC_ACQUIRE);
}

static void wait_open(struct task_memory *task_memory)
{
    pid_t parent = getppid();
    int64_t left;
    while (is_closed(task_memory) && (left = task_memory->until_ms - nuioa_clock_ms()) > 0) {
        int64_t nap = left < NAP_MS ? left : NAP_MS;
        struct timespec time = { 0, nap * 1000000 };
        syscall(SYS_futex, &task_memory->closed, FUTEX_WAIT, 1, &time, NULL, 0);
        if (getppid() != parent)
            raise(SIGKILL);
    }
}

bool task_memory_wait(struct task_memory *task_memory)
{
    char name[16]; /* as long as the kernel's names of threads */
    bool named = is_closed(task_memory) && take_name(name);
    wait_open(task_memory);
    if (named)
        prctl(PR_SET_NAME, name);
    return !is_closed(task_memory);
}
