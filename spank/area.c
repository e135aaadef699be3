#include "area.h"

#include <stddef.h>
#include <sys/mman.h>

struct area_task *area_new(uint32_t count)
{
    void *area = mmap(NULL, count * sizeof(struct area_task), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return area == MAP_FAILED ? NULL : area;
}

void area_free(struct area_task *tasks, uint32_t count)
{
    if (tasks)
        munmap(tasks, count * sizeof(*tasks));
}
