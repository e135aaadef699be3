#include "coll_memory.h"

#include <sched.h>
#include <stdbool.h>
#include <string.h>

void coll_copy(void *to, const void *from, size_t bytes, int owner, enum coll_direction direction)
{
    (void)owner, (void)direction;
    memcpy(to, from, bytes);
}

int coll_fold(const void *shared, void *into, int count, MPI_Datatype type, MPI_Op op, int owner)
{
    (void)owner;
    return PMPI_Reduce_local(shared, into, count, type, op);
}

void coll_flag_post(uint64_t *flag, uint64_t value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Whoever waits lets MPI go on, since a rank that this one once sent to may depend on it before it
 * comes here; and lets others run, where there are more ranks than CPUs. */
void coll_flag_wait(const uint64_t *flag, uint64_t value)
{
    for (unsigned tries = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) < value; tries++) {
        relax();
        if (tries % 256 == 0) {
            int found;
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE);
            sched_yield();
        }
    }
}

int coll_numa(void)
{
    unsigned cpu, numa;
    return getcpu(&cpu, &numa) ? -1 : (int)numa;
}
