/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/cells.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- which cells ------------------------------------------------------------------------------ */

bool probe_numa_is_usable(const struct nuioa_node *node, uint32_t numa)
{
    const struct nuioa_numa *it = &node->numas[numa];
    return it->memory_bytes > 0 && hwloc_bitmap_isset(node->allowed_numas, it->os_index) &&
           hwloc_bitmap_intersects(node->allowed_cpus, it->cpus);
}

/* Returns the first NUMA node of `numas` (OS indexes; NULL: all) that can be used, or -1. */
static int first_usable(const struct nuioa_node *node, hwloc_const_bitmap_t numas)
{
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (probe_numa_is_usable(node, i) &&
            (!numas || hwloc_bitmap_isset(numas, node->numas[i].os_index)))
            return (int)i;
    return -1;
}

static int near_numa(const struct nuioa_node *node, const struct nuioa_nic *nic)
{
    int near = first_usable(node, nic->numas);
    return near >= 0 ? near : first_usable(node, NULL);
}

static void find_benchmark(const struct probe_nics *nics, struct probe_cell *cell)
{
    const struct probe_nic_plan *plan = &nics->plan;
    const struct nuioa_nic *nic = &plan->node->nics[cell->nic];
    char names[160];
    if (plan->custom)
        cell->benchmark =
            plan->custom->is_latency == (cell->quantity == PROBE_LATENCY) ? plan->custom : NULL;
    else
        cell->benchmark = probe_benchmark_find(nic, cell->quantity, plan->benchmark);
    if (cell->benchmark && cell->gpu >= 0 && !strstr(cell->benchmark->command, "{gpu}"))
        cell->benchmark = NULL;
    if (cell->benchmark || cell->quantity == PROBE_LATENCY || cell->gpu >= 0 || plan->benchmark)
        return;
    if (*probe_benchmark_names(nic->kind, names, sizeof(names)))
        nuioa_fail(&cell->err, -ENOENT, "none of %s is installed; see --tool for any other", names);
    else
        nuioa_fail(&cell->err, -ENOENT, "no benchmark is known for %s; see --tool for any",
                   nuioa_nic_kind_name(nic->kind));
}

static int add_cell(struct probe_nics *nics, struct probe_cell cell)
{
    find_benchmark(nics, &cell);
    /* What no benchmark tells is not asked for: a latency, or memory of GPUs. */
    if (!cell.benchmark && !*cell.err.text)
        return 0;
    struct probe_cell *more = realloc(nics->cells, (nics->count + 1) * sizeof(*more));
    if (!more)
        return -ENOMEM;
    nics->cells = more;
    cell.values = calloc(nics->plan.rounds, sizeof(double));
    more[nics->count++] = cell;
    return cell.values ? 0 : -ENOMEM;
}

static int add_cells_of(struct probe_nics *nics, uint32_t nic)
{
    const struct nuioa_node *node = nics->plan.node;
    int rc = 0;
    for (uint32_t i = 0; i < node->numa_count; i++)
        for (int q = 0; !rc && q < PROBE_QUANTITIES && probe_numa_is_usable(node, i); q++)
            rc = add_cell(
                nics, (struct probe_cell){
                          .nic = nic, .numa = i, .gpu = -1, .quantity = (enum probe_quantity)q });
    for (uint32_t g = 0; nics->plan.gpus && g < node->gpu_count; g++) {
        int near = first_usable(node, node->gpus[g].numas);
        near = near < 0 ? first_usable(node, NULL) : near;
        for (int q = 0; !rc && q < PROBE_LATENCY && near >= 0; q++)
            rc = add_cell(nics, (struct probe_cell){ .nic = nic,
                                                     .numa = (uint32_t)near,
                                                     .gpu = (int)g,
                                                     .quantity = (enum probe_quantity)q });
    }
    return rc;
}

int probe_nics_init(struct probe_nics *nics, const struct probe_nic_plan *plan)
{
    int rc = 0;
    *nics = (struct probe_nics){ .plan = *plan, .busy_before = -1, .busy_after = -1 };
    for (uint32_t i = 0; !rc && i < plan->node->nic_count; i++)
        if (plan->taken[i])
            rc = add_cells_of(nics, i);
    return rc;
}

void probe_nics_free(struct probe_nics *nics)
{
    for (uint32_t i = 0; i < nics->count; i++)
        free(nics->cells[i].values);
    free(nics->cells);
    *nics = (struct probe_nics){ 0 };
}

const struct probe_cell *probe_cell_at(const struct probe_nics *nics, uint32_t nic,
                                       enum probe_quantity quantity, uint32_t numa)
{
    for (uint32_t i = 0; i < nics->count; i++) {
        const struct probe_cell *cell = &nics->cells[i];
        if (cell->nic == nic && cell->quantity == quantity && cell->numa == numa && cell->gpu < 0 &&
            cell->median > 0)
            return cell;
    }
    return NULL;
}

/* --- one value -------------------------------------------------------------------------------- */

/* Returns the place of a GPU among those of its vendor, as CUDA counts them in PCI order. */
static int place_of(const struct nuioa_node *node, int gpu)
{
    int place = 0;
    for (int i = 0; i < gpu; i++)
        place += node->gpus[i].vendor == node->gpus[gpu].vendor;
    return gpu < 0 ? -1 : place;
}

/* The card writes to the end that receives, and reads from the one that sends: the end that the
 * quantity is about is at the cell's NUMA node, the other one beside the NIC. A latency is about
 * the client, whose cores start the messages. */
static int measure(const struct probe_nics *nics, struct probe_cell *cell, struct nuioa_error *err)
{
    const struct nuioa_node *node = nics->plan.node;
    struct probe_pair pair = { .node = node, .nic = &node->nics[cell->nic] };
    struct probe_end near = { (uint32_t)near_numa(node, pair.nic), -1 };
    struct probe_end swept = { cell->numa, place_of(node, cell->gpu) };
    bool server_receives = !cell->benchmark->from_server;
    bool is_server = cell->quantity == PROBE_WRITE  ? server_receives
                     : cell->quantity == PROBE_READ ? !server_receives
                                                    : false;
    pair.benchmark = cell->benchmark;
    pair.server = is_server ? swept : near;
    pair.client = is_server ? near : swept;
    pair.limit_s = nics->plan.limit_s;
    return probe_pair_run(&pair, &cell->values[cell->count], err);
}

/* --- all of them ------------------------------------------------------------------------------ */

struct progress {
    uint32_t done, all;
    bool bar; /* on a terminal; else a line for each round */
};

static void show(const struct progress *progress, uint32_t round, uint32_t rounds)
{
    enum { WIDTH = 40 };
    if (!progress->bar && progress->done % (progress->all / rounds) == 0 && progress->done)
        fprintf(stderr, "nuioa: %u of %u rounds measured\n", round + 1, rounds);
    if (!progress->bar)
        return;
    unsigned filled = progress->done * WIDTH / progress->all;
    fprintf(stderr, "\r[%.*s%*s] %3u %%", (int)filled, "########################################",
            (int)(WIDTH - filled), "", progress->done * 100 / progress->all);
    if (progress->done == progress->all)
        fprintf(stderr, "\r%*s\r", WIDTH + 8, "");
    fflush(stderr);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* What changes slowly, temperature say, falls on all cells alike. */
static void shuffle(uint32_t *order, uint32_t count, uint64_t *random)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = (uint32_t)(next_random(random) % i), kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* Returns how many processors are busy now, over a fifth of a second; -1 if /proc does not say. */
static double busy_cpus(void)
{
    double busy[2] = { 0 }, all[2] = { 0 };
    struct timespec nap = { .tv_nsec = 200000000 };
    for (int i = 0; i < 2; i++) {
        double t[8] = { 0 };
        FILE *file = fopen("/proc/stat", "re");
        int found = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &t[0], &t[1], &t[2],
                                  &t[3], &t[4], &t[5], &t[6], &t[7])
                         : 0;
        if (file)
            fclose(file);
        if (found < 5)
            return -1;
        busy[i] = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
        all[i] = busy[i] + t[3] + t[4];
        if (!i)
            nanosleep(&nap, NULL);
    }
    double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    return all[1] > all[0] ? cpus * (busy[1] - busy[0]) / (all[1] - all[0]) : -1;
}

static bool any_left(const struct probe_nics *nics)
{
    for (uint32_t i = 0; i < nics->count; i++)
        if (!*nics->cells[i].err.text)
            return true;
    return false;
}

static int measure_round(struct probe_nics *nics, uint32_t *order, struct progress *progress,
                         uint32_t round, struct nuioa_error *err)
{
    for (uint32_t i = 0; i < nics->count; i++) {
        struct probe_cell *cell = &nics->cells[order[i]];
        if (!*cell->err.text) {
            int rc = measure(nics, cell, &cell->err);
            if (rc == -EINTR)
                return nuioa_fail(err, rc, "%s", cell->err.text);
            if (!rc)
                cell->count++;
        }
        progress->done++;
        show(progress, round, nics->plan.rounds);
    }
    return 0;
}

int probe_nics_measure(struct probe_nics *nics, struct nuioa_error *err)
{
    uint64_t random = 88172645463325252u;
    uint32_t *order = calloc(nics->count + 1, sizeof(*order));
    struct progress progress = { 0, nics->count * nics->plan.rounds, isatty(STDERR_FILENO) };
    if (!order)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < nics->count; i++)
        order[i] = i;
    int rc = 0;
    nics->busy_before = busy_cpus();
    for (uint32_t round = 0; !rc && any_left(nics) && round < nics->plan.rounds; round++) {
        shuffle(order, nics->count, &random);
        rc = measure_round(nics, order, &progress, round, err);
    }
    nics->busy_after = busy_cpus();
    free(order);
    probe_nics_settle(nics);
    return rc;
}

/* --- medians ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Returns the median of how far values are from the median of their cell, over that median: of all
 * cells of a quantity, since a few values tell little of their spread. Where the median is one of
 * the values, that one tells nothing. */
static double pooled_mad(const struct probe_nics *nics, enum probe_quantity quantity)
{
    double *all = calloc((size_t)nics->count * nics->plan.rounds + 1, sizeof(*all));
    uint32_t count = 0;
    for (uint32_t i = 0; all && i < nics->count; i++) {
        const struct probe_cell *cell = &nics->cells[i];
        bool odd = cell->count % 2;
        for (uint32_t k = 0; cell->quantity == quantity && cell->median > 0 && k < cell->count; k++)
            if (!odd || k != cell->count / 2)
                all[count++] = fabs(cell->values[k] - cell->median) / cell->median;
    }
    double mad = count ? median(all, count) : 0;
    free(all);
    return mad;
}

void probe_nics_settle(struct probe_nics *nics)
{
    for (uint32_t i = 0; i < nics->count; i++) {
        struct probe_cell *cell = &nics->cells[i];
        bool whole = cell->count && !*cell->err.text;
        cell->median = whole ? median(cell->values, cell->count) : 0;
    }
    for (int q = 0; q < PROBE_QUANTITIES; q++)
        nics->mad[q] = pooled_mad(nics, (enum probe_quantity)q);
}
