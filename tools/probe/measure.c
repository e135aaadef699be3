/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures the time of a load from memory between each pair of NUMA nodes of this machine.
 *
 * It follows a chain of dependent loads through a buffer far larger than the caches, in random
 * order, so that no prefetcher helps and no loads overlap. The buffer is in huge pages if the
 * system allows them, so that few loads miss the TLB. The buffer is bound to one NUMA node, the
 * thread to one core of another. A chunk of some thousand loads is timed at once, and the median
 * over many is taken: an interrupt or a neighbour spoils some chunks, not the median. The order is
 * memory, repetition, core, so that what changes slowly (frequency, other load) falls on all cores
 * alike. */

#define _GNU_SOURCE

#include <errno.h>
#include <math.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/probe/probe.h"
#include "tools/probe/measure.h"
#include "util/clock.h"

enum { LINE_BYTES = 64, HUGE_BYTES = 2 << 20 };
enum { CHUNK_LOADS = 2000, REPETITIONS_MAX = 9 };

struct scale {
    unsigned caches; /* the buffer is so many times the last cache */
    size_t least_bytes;
    unsigned repetitions; /* odd, so that a median is one of them */
    unsigned chunks;
};

static const struct scale full = { 4, (size_t)256 << 20, 7, 200 };
static const struct scale quick = { 2, (size_t)64 << 20, 3, 60 };

struct line {
    struct line *next;
    char rest[LINE_BYTES - sizeof(struct line *)];
};

/* --- the chain -------------------------------------------------------------------------------- */

/* Makes one cycle through all lines, in place (S. Sattolo, "An algorithm to generate a random
 * cyclic permutation", 1986). */
static void chain(struct line *lines, size_t count)
{
    unsigned short random[3] = { 1, 2, 3 };
    for (size_t i = 0; i < count; i++)
        lines[i].next = &lines[i];
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = (size_t)nrand48(random) % i; /* 2^31 lines are 128 GiB */
        struct line *kept = lines[i].next;
        lines[i].next = lines[j].next;
        lines[j].next = kept;
    }
}

static double median(double *values, unsigned count)
{
    nuioa_latency_sort(values, count);
    return values[count / 2];
}

/* The next call continues where this one ended, which has left its own lines in the caches. */
double probe_buffer_chase(struct probe_buffer *buffer, unsigned chunks)
{
    double times[256];
    const struct line *line = buffer->at;
    chunks = chunks < 256 ? chunks : 256;
    for (unsigned c = 0; c < chunks; c++) {
        int64_t start_ns = nuioa_clock_ns();
        for (unsigned k = 0; k < CHUNK_LOADS / 8; k++) {
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the lines are a ring. */
            line = line->next->next->next->next->next->next->next->next;
            /* The loads must happen, here and in this order. */
            __asm__ volatile("" : "+r"(line));
        }
        times[c] = (double)(nuioa_clock_ns() - start_ns) / CHUNK_LOADS;
    }
    buffer->at = line;
    return median(times, chunks);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void *map_bytes(size_t bytes)
{
    int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_HUGETLB, -1, 0);
    if (map != MAP_FAILED)
        return map;
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind, -1, 0);
    if (map != MAP_FAILED)
        madvise(map, bytes, MADV_HUGEPAGE); /* it may refuse */
    return map;
}

/* Returns true if the memory is on that NUMA node. Bound memory can be on another one if it was
 * allocated before, and a NUMA node may be known and not usable. */
static bool is_on(void *map, size_t bytes, unsigned os_index)
{
    for (size_t offset = 0; offset < bytes; offset += bytes / 16) {
        void *page = (char *)map + offset;
        int where = -1;
        if (numa_move_pages(0, 1, &page, NULL, &where, 0))
            return errno == ENOSYS; /* a kernel without NUMA has one node only */
        if (where != (int)os_index)
            return false;
    }
    return true;
}

static int bind_map(void *map, size_t bytes, unsigned os_index, struct nuioa_error *err)
{
    struct bitmask *mask = numa_allocate_nodemask();
    numa_bitmask_setbit(mask, os_index); /* no bit for one beyond the mask, which mbind refuses */
    long rc = mbind(map, bytes, MPOL_BIND, mask->maskp, mask->size + 1, MPOL_MF_STRICT);
    numa_free_nodemask(mask);
    if (rc && errno != ENOSYS)
        return nuioa_fail(err, -errno, "memory of NUMA node %u cannot be used: %s", os_index,
                          strerror(errno));
    return 0;
}

/* To touch bound memory that is not there kills the process, so this asks first. */
static int check_room(unsigned os_index, size_t bytes, struct nuioa_error *err)
{
    long long free_bytes = 0;
    if (numa_available() < 0 || numa_node_size64((int)os_index, &free_bytes) < 0)
        return 0;
    if ((unsigned long long)free_bytes < bytes + bytes / 4)
        return nuioa_fail(err, -ENOMEM,
                          "NUMA node %u has only %lld MB of free memory, %zu MB are "
                          "needed%s",
                          os_index, free_bytes >> 20, (bytes + bytes / 4) >> 20,
                          bytes > quick.least_bytes ? "; try --quick" : "");
    return 0;
}

int probe_buffer_open(struct probe_buffer *buffer, size_t bytes, int os_index,
                      struct nuioa_error *err)
{
    size_t unit = bytes < HUGE_BYTES ? LINE_BYTES : HUGE_BYTES;
    *buffer = (struct probe_buffer){ .bytes = bytes / unit * unit };
    int rc = os_index >= 0 ? check_room((unsigned)os_index, buffer->bytes, err) : 0;
    if (rc)
        return rc;
    void *map = map_bytes(buffer->bytes);
    if (map == MAP_FAILED)
        return nuioa_fail(err, -errno, "%zu MB of memory: %s", buffer->bytes >> 20,
                          strerror(errno));
    buffer->map = map;
    if (os_index >= 0)
        rc = bind_map(map, buffer->bytes, (unsigned)os_index, err);
    if (!rc) {
        chain(map, buffer->bytes / LINE_BYTES);
        buffer->at = map;
        if (os_index >= 0 && !is_on(map, buffer->bytes, (unsigned)os_index))
            rc = nuioa_fail(err, -EIO, "memory bound to NUMA node %d came from another", os_index);
    }
    if (rc)
        probe_buffer_close(buffer);
    return rc;
}

void probe_buffer_close(struct probe_buffer *buffer)
{
    if (buffer->map)
        munmap(buffer->map, buffer->bytes);
    *buffer = (struct probe_buffer){ 0 };
}

/* --- cores ------------------------------------------------------------------------------------ */

static int pin(unsigned cpu, struct nuioa_error *err)
{
    struct bitmask *mask = numa_allocate_cpumask();
    numa_bitmask_setbit(mask, cpu);
    int rc = numa_sched_setaffinity(0, mask) < 0 ? -errno : 0;
    numa_free_cpumask(mask);
    return rc ? nuioa_fail(err, rc, "CPU %u cannot be used: %s", cpu, strerror(-rc)) : 0;
}

static bool has_memory(const struct nuioa_node *node, uint32_t index)
{
    return node->numas[index].memory_bytes > 0 &&
           hwloc_bitmap_isset(node->allowed_numas, node->numas[index].os_index);
}

/* --- all pairs -------------------------------------------------------------------------------- */

struct run {
    const struct nuioa_node *node;
    const struct scale *scale;
    double *ns;     /* n * n */
    double *differ; /* n * n: half of what the middle half of the repetitions spans */
    double *times;  /* n * REPETITIONS_MAX, of one memory */
    int *cpu; /* n: its last allowed CPU, because the first ones serve most interrupts; or -1 */
    unsigned done, all;
    bool bar; /* on a terminal; else a line for each NUMA node */
};

static void show_bar(const struct run *run)
{
    enum { WIDTH = 40 };
    if (!run->bar)
        return;
    unsigned filled = run->done * WIDTH / run->all;
    fprintf(stderr, "\r[%.*s%*s] %3u %%", (int)filled, "########################################",
            (int)(WIDTH - filled), "", run->done * 100 / run->all);
    if (run->done == run->all)
        fprintf(stderr, "\r%*s\r", WIDTH + 8, "");
    fflush(stderr);
}

static int measure_memory(struct run *run, uint32_t j, size_t bytes, struct nuioa_error *err)
{
    const struct nuioa_node *node = run->node;
    const unsigned count = run->scale->repetitions;
    struct probe_buffer buffer;
    int rc = run->cpu[j] >= 0 ? pin((unsigned)run->cpu[j], err) : 0; /* it sets up fastest */
    if (!rc)
        rc = probe_buffer_open(&buffer, bytes, (int)node->numas[j].os_index, err);
    if (rc)
        return rc;
    for (unsigned r = 0; !rc && r < count; r++)
        for (uint32_t i = 0; !rc && i < node->numa_count; i++) {
            if (run->cpu[i] < 0)
                continue;
            rc = pin((unsigned)run->cpu[i], err);
            if (rc)
                break;
            probe_buffer_chase(&buffer, 4); /* fills the TLB, raises the frequency */
            run->times[(size_t)i * REPETITIONS_MAX + r] =
                probe_buffer_chase(&buffer, run->scale->chunks);
            run->done++;
            show_bar(run);
        }
    probe_buffer_close(&buffer);
    for (uint32_t i = 0; !rc && i < node->numa_count; i++) {
        double *times = &run->times[(size_t)i * REPETITIONS_MAX];
        size_t cell = (size_t)i * node->numa_count + j;
        if (run->cpu[i] < 0)
            continue;
        run->ns[cell] = median(times, count);
        run->differ[cell] = (times[count - 1 - count / 4] - times[count / 4]) / 2;
    }
    return rc;
}

static size_t buffer_bytes(const struct scale *scale)
{
    long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (cache <= 0)
        cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
    size_t bytes = cache > 0 ? (size_t)cache * scale->caches : 0;
    return bytes > scale->least_bytes ? bytes : scale->least_bytes;
}

/* The first memory alone may take seconds to set up. */
static void show_start(const struct run *run, unsigned memories)
{
    show_bar(run);
    if (!run->bar)
        fprintf(stderr, "nuioa: measuring the memory of %u NUMA node%s, %zu MB%s\n", memories,
                memories == 1 ? "" : "s", buffer_bytes(run->scale) >> 20,
                memories == 1 ? "" : " of each");
}

static int measure_all(struct run *run, struct nuioa_error *err)
{
    uint32_t n = run->node->numa_count;
    unsigned cores = 0, memories = 0;
    cpu_set_t before;
    bool restore = !sched_getaffinity(0, sizeof(before), &before);
    for (uint32_t i = 0; i < n; i++) {
        cores += run->cpu[i] >= 0;
        memories += has_memory(run->node, i);
    }
    if (!cores || !memories)
        return nuioa_fail(err, -EINVAL, "no NUMA node with CPUs and memory may be used");
    run->all = cores * memories * run->scale->repetitions;
    show_start(run, memories);
    unsigned measured = 0;
    int rc = 0;
    for (uint32_t j = 0; j < n && !rc; j++) {
        if (!has_memory(run->node, j))
            continue;
        rc = measure_memory(run, j, buffer_bytes(run->scale), err);
        if (!rc && !run->bar && ++measured < memories)
            fprintf(stderr, "nuioa: %u of %u NUMA nodes measured\n", measured, memories);
    }
    if (restore)
        sched_setaffinity(0, sizeof(before), &before);
    if (rc && run->bar)
        fputs("\n", stderr);
    return rc;
}

/* --- the part that has both cores and memory -------------------------------------------------- */

static int take_part(struct probe *p, const struct run *run, struct nuioa_error *err)
{
    uint32_t n = run->node->numa_count;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(run->ns[(size_t)i * n + i])) {
            p->numa[p->count] = run->node->numas[i].os_index;
            p->index[p->count++] = i;
        }
    size_t cells = (size_t)p->count * p->count, k = 0;
    double *part = nuioa_arena_take(&p->arena, cells, sizeof(*part));
    if (!part || !p->count || nuioa_latency_init(&p->latency, p->count))
        return nuioa_fail(err, -ENOMEM, "no NUMA node with CPUs and memory was measured");
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < p->count; j++, k++) {
            size_t cell = (size_t)p->index[i] * n + p->index[j];
            part[k] = run->ns[cell];
            run->differ[k] = run->differ[cell]; /* k is not beyond the cell */
        }
    nuioa_latency_from_full(&p->latency, part);
    p->latency.noise_ns = median(run->differ, p->count * p->count);
    return 0;
}

int probe_measure(struct probe *p, struct nuioa_error *err)
{
    uint32_t n = p->node.numa_count;
    size_t cells = (size_t)n * n;
    struct run run = {
        .node = &p->node,
        .scale = p->quick ? &quick : &full,
        .ns = nuioa_arena_take(&p->arena, cells, sizeof(*run.ns)),
        .differ = nuioa_arena_take(&p->arena, cells, sizeof(*run.differ)),
        .times = nuioa_arena_take(&p->arena, n, sizeof(*run.times) * REPETITIONS_MAX),
        .cpu = nuioa_arena_take(&p->arena, n, sizeof(*run.cpu)),
        .bar = isatty(STDERR_FILENO),
    };
    hwloc_bitmap_t cpus = nuioa_arena_bitmap(&p->arena, NULL);
    p->full_ns = run.ns;
    p->numa = nuioa_arena_take(&p->arena, n, sizeof(*p->numa));
    p->index = nuioa_arena_take(&p->arena, n, sizeof(*p->index));
    if (p->arena.failed)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    for (size_t cell = 0; cell < cells; cell++)
        run.ns[cell] = NAN;
    for (uint32_t i = 0; i < n; i++) {
        hwloc_bitmap_and(cpus, p->node.numas[i].cpus, p->node.allowed_cpus);
        run.cpu[i] = hwloc_bitmap_last(cpus);
    }
    int rc = measure_all(&run, err);
    return rc ? rc : take_part(p, &run, err);
}
