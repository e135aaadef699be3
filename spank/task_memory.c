#include "spank/task_memory.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How soon a task notices that slurmstepd is gone. */
#define NAP_MS 100

static size_t size_of(uint32_t count)
{
    return sizeof(struct area) + count * sizeof(struct area_task);
}

struct area *area_new(uint32_t count)
{
    void *area = mmap(NULL, size_of(count), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return area == MAP_FAILED ? NULL : area;
}

void area_free(struct area *area, uint32_t count)
{
    if (area)
        munmap(area, size_of(count));
}

/* --- open and closed ---------------------------------------------------------------------------------- */

/* A futex, for it needs no descriptor, survives the death of who waits, and its time is monotonic. */

void area_close(struct area *area)
{
    __atomic_store_n(&area->closed, 1, __ATOMIC_RELEASE);
}

void area_open(struct area *area)
{
    __atomic_store_n(&area->closed, 0, __ATOMIC_RELEASE);
    syscall(SYS_futex, &area->closed, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_closed(const struct area *area)
{
    return __atomic_load_n(&area->closed, __ATOMIC_ACQUIRE);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_open(struct area *area, unsigned ms)
{
    pid_t parent = getppid();
    int64_t until_ms = now_ms() + ms, left;
    while (is_closed(area) && (left = until_ms - now_ms()) > 0) {
        int64_t nap = left < NAP_MS ? left : NAP_MS;
        struct timespec time = { 0, nap * 1000000 };
        syscall(SYS_futex, &area->closed, FUTEX_WAIT, 1, &time, NULL, 0);
        if (getppid() != parent)
            raise(SIGKILL);
    }
}

/* proctrack/linuxproc signals nobody who is called slurmstepd: a task that waits must be as easy to end as one
 * that runs, and is called so until it does. */
bool area_wait(struct area *area, unsigned ms)
{
    char name[16]; /* of a thread, as the kernel has it */
    bool named = is_closed(area) && !prctl(PR_GET_NAME, name) && !prctl(PR_SET_NAME, "nuioa-wait");
    wait_open(area, ms);
    if (named)
        prctl(PR_SET_NAME, name);
    return !is_closed(area);
}
