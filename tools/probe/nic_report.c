/* SPDX-License-Identifier: BSD-3-Clause */

/* What `nuioa probe --nic` has found: medians, what distance from the NIC costs, and how it is
 * said. The script prints
 *
 *     [{"nic", "numa", "gpu": indexes of the node's, or -1,
 *       "cells": [for each quantity [program or "", error or "", [a value each round]]]}]
 *
 * where each byte of a text is a character. */

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/probe/distance_write.h"
#include "tools/probe/heatmap.h"
#include "tools/probe/nic_probe.h"
#include "tools/probe/print.h"
#include "tools/probe/probe.h"
#include "tools/tool.h"

enum { WRITES, READS, LATENCY, QUANTITIES };
enum { LEVELS = 8 };      /* farther ones are not looked at */
enum { REASONS_MAX = 6 }; /* that are said */
#define BUSY_CPUS 0.5     /* more is another program, and not the one that looks for it */
#define ERRORS 4.0        /* standard errors of their difference by which medians must differ */

static const char *const names[] = { "writes", "reads", "latency" };

/* What was measured between a NIC and a NUMA node or a GPU. */
struct row {
    struct nuioa_nic *nic;
    const struct nuioa_gpu *gpu; /* or NULL */
    uint32_t numa;               /* its index */
    int level;                   /* from the NIC; -1: unknown, or a GPU */
    char label[48], place[40];   /* of the NIC; of the other end */
    struct cell {
        const char *program, *error; /* "": not measured; none */
        bool said;                   /* the error was */
        double *values;              /* [count], sorted if there is a median */
        size_t count;
        double median; /* 0: there is an error, or no value */
    } cells[QUANTITIES];
};

struct found {
    struct probe *p;
    struct row *rows; /* [count] */
    size_t count;
    double mads[QUANTITIES];
    double error; /* standard error of a median of writes */
    double least; /* difference that is believed; NAN: there is nothing to compare */
    double mean[LEVELS], n[LEVELS]; /* of rates of writes over that beside the NIC; how many */
};

/* Returns the first error of a row; "": there is none. */
static const char *why(const struct row *r)
{
    size_t q = 0;
    while (q < LATENCY && !*r->cells[q].error)
        q++;
    return r->cells[q].error;
}

static struct cell *cell_at(const struct found *f, size_t i)
{
    return &f->rows[i / QUANTITIES].cells[i % QUANTITIES];
}

/* --- what the script has printed -------------------------------------------------------------- */

/* Returns the bytes of a text, which the arena owns; NULL: it is none, or there is no memory. */
static const char *text_of(struct probe *p, const json_t *value)
{
    const unsigned char *from = (const unsigned char *)json_string_value(value);
    char *text = nuioa_arena_take(&p->arena, json_string_length(value) + 1, 1), *to = text;
    while (text && from && *from && *from <= 0xc3) { /* of U+00FF */
        unsigned byte = *from++;
        *to++ = (char)(byte < 0x80 ? byte : byte << 6 | (*from++ & 0x3fu));
    }
    return from && !*from ? text : NULL;
}

/* Sorts values, and returns their median; 0: there are none. */
static double median(double *values, size_t count)
{
    nuioa_latency_sort(values, count);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

static bool read_cell(struct probe *p, struct cell *c, json_t *from)
{
    json_t *program, *error, *values, *value;
    size_t i;
    if (json_unpack(from, "[ooo!]", &program, &error, &values) || !json_is_array(values) ||
        json_array_size(values) > p->nic.rounds)
        return false;
    c->program = text_of(p, program);
    c->error = text_of(p, error);
    c->count = json_array_size(values);
    c->values = nuioa_arena_take(&p->arena, c->count + 1, sizeof(*c->values));
    if (!c->program || !c->error || !c->values)
        return false;
    json_array_foreach (values, i, value) {
        c->values[i] = json_number_value(value);
        if (!(c->values[i] > 0))
            return false;
    }
    c->median = *c->error ? 0 : median(c->values, c->count);
    return true;
}

static bool read_row(struct probe *p, struct row *r, json_t *from)
{
    struct nuioa_node *node = &p->node;
    json_int_t nic, numa, gpu;
    json_t *cells;
    if (json_unpack(from, "{sI sI sI so}", "nic", &nic, "numa", &numa, "gpu", &gpu, "cells",
                    &cells) ||
        nic < 0 || nic >= node->nic_count || numa < 0 || numa >= node->numa_count || gpu < -1 ||
        gpu >= node->gpu_count || json_array_size(cells) != QUANTITIES)
        return false;
    r->nic = &node->nics[nic];
    r->numa = (uint32_t)numa;
    r->gpu = gpu < 0 ? NULL : &node->gpus[gpu];
    r->level = r->gpu || !r->nic->level ? -1 : r->nic->level[numa];
    nuioa_nic_label(r->nic, r->label, sizeof(r->label));
    if (r->gpu)
        snprintf(r->place, sizeof(r->place), "GPU %s", r->gpu->pci);
    else
        snprintf(r->place, sizeof(r->place), "NUMA node %u", node->numas[numa].os_index);
    for (size_t q = 0; q < QUANTITIES; q++)
        if (!read_cell(p, &r->cells[q], json_array_get(cells, q)))
            return false;
    return true;
}

static bool read_found(struct found *f, json_t *rows)
{
    if (!json_is_array(rows))
        return false;
    f->rows = nuioa_arena_take(&f->p->arena, json_array_size(rows) + 1, sizeof(*f->rows));
    for (; f->rows && f->count < json_array_size(rows); f->count++)
        if (!read_row(f->p, &f->rows[f->count], json_array_get(rows, f->count)))
            return false;
    return f->rows;
}

/* --- what it means ---------------------------------------------------------------------------- */

/* Returns the median distance of values from the median of their cell, over that median. Where the
 * median is one of the values, that one tells nothing. */
static double pooled_mad(const struct found *f, unsigned quantity)
{
    double *far = nuioa_arena_take(&f->p->arena, f->count * f->p->nic.rounds + 1, sizeof(*far));
    size_t count = 0;
    if (!far)
        return 0;
    for (size_t r = 0; r < f->count; r++) {
        const struct cell *c = &f->rows[r].cells[quantity];
        for (size_t i = 0; c->median > 0 && i < c->count; i++)
            if (c->count % 2 == 0 || i != c->count / 2)
                far[count++] = fabs(c->values[i] - c->median) / c->median;
    }
    return median(far, count);
}

/* Returns the mean rate of writes beside a NIC; 0: unknown. */
static double rate_beside(const struct found *f, const struct nuioa_nic *nic)
{
    double sum = 0, count = 0;
    for (const struct row *r = f->rows; r < f->rows + f->count; r++)
        if (r->nic == nic && r->level == 0 && r->cells[WRITES].median > 0) {
            sum += r->cells[WRITES].median;
            count++;
        }
    return count > 0 ? sum / count : 0;
}

static void take_levels(struct found *f)
{
    for (const struct row *r = f->rows; r < f->rows + f->count; r++) {
        double beside = rate_beside(f, r->nic), rate = r->cells[WRITES].median;
        if (beside > 0 && rate > 0 && r->level >= 0 && r->level < LEVELS) {
            f->mean[r->level] += rate / beside;
            f->n[r->level]++;
        }
    }
    for (size_t k = 0; k < LEVELS; k++)
        f->mean[k] /= f->n[k];
}

/* Returns the least difference of two levels that is believed, with normal noise. */
static double doubt(const struct found *f, unsigned a, unsigned b)
{
    return ERRORS * f->error * sqrt(1 / f->n[a] + 1 / f->n[b]);
}

/* Returns what level a has more than b, over b; 0 unless it is believed. */
static double more(const struct found *f, unsigned a, unsigned b)
{
    double difference = f->mean[a] - f->mean[b];
    return difference > 0 && difference >= doubt(f, a, b) ? f->mean[a] / f->mean[b] - 1 : 0;
}

/* Finds what distance from the NIC costs, from the rates at which cards write: the mean of the NUMA
 * nodes beside them against that of each level, over all NICs. A difference below four standard
 * errors is none, and one round does not tell these. */
static void find_gap(struct found *f)
{
    struct probe_cost *cost = &f->p->cost;
    double hops = 0, count = 0;
    f->error = 1.2533 * 1.4826 * f->mads[WRITES] / sqrt(f->p->nic.rounds);
    f->least = cost->remote = cost->hop = NAN;
    take_levels(f);
    if (!(f->n[0] > 0 && f->n[1] > 0) || f->p->nic.rounds < 2)
        return;
    f->least = doubt(f, 0, 1);
    cost->remote = more(f, 0, 1);
    for (unsigned k = 2; k < LEVELS; k++) {
        count += f->n[k] > 0;
        if (f->n[k] > 0 && more(f, 1, k) > 0)
            hops += fmax(0, more(f, 0, k) - cost->remote) / (k - 1);
    }
    cost->hop = hops / count; /* NAN without any */
}

/* --- for people ------------------------------------------------------------------------------- */

static void print_head(const struct found *f)
{
    printf("%s:", f->p->node.host);
    for (size_t q = 0; q < QUANTITIES; q++) {
        const struct row *r = f->rows, *end = f->rows + f->count;
        while (r < end && !*r->cells[q].program)
            r++;
        if (r < end)
            printf(" %s by %s,", names[q], r->cells[q].program);
    }
    printf(" %u round%s\n\n", f->p->nic.rounds, f->p->nic.rounds == 1 ? "" : "s");
}

/* Prints a number in a column; "-" unless it is above 0. */
static void print_number(int width, double value, const char *unit)
{
    char text[400] = "-";
    if (value > 0)
        snprintf(text, sizeof(text), "%.0f%s", value, unit);
    printf(" %*s", width, text);
}

static void print_table(const struct found *f)
{
    printf("%-16s %-16s %5s %12s %12s %12s %8s\n", "NIC", "memory", "level", "writes MB/s",
           "reads MB/s", "latency ns", "of best");
    for (const struct row *r = f->rows; r < f->rows + f->count; r++) {
        double best = 0;
        for (const struct row *o = f->rows; o < f->rows + f->count; o++)
            best = o->nic == r->nic ? fmax(best, o->cells[WRITES].median) : best;
        printf("%-16s %-16s ", r->label, r->place);
        printf(r->level < 0 ? "    -" : "%5d", r->level);
        for (size_t q = 0; q < QUANTITIES; q++)
            print_number(12, r->cells[q].median, "");
        print_number(8, 100 * r->cells[WRITES].median / best, " %");
        putchar('\n');
    }
}

/* Says why cells are empty: each reason once, and few of them. */
static void print_reasons(const struct found *f)
{
    size_t reasons = 0, left = 0;
    for (size_t i = 0; i < f->count * QUANTITIES; i++) {
        const struct row *r = &f->rows[i / QUANTITIES];
        const struct cell *c = cell_at(f, i);
        size_t alike = 0;
        if (!*c->error || c->said)
            continue;
        for (size_t k = i; k < f->count * QUANTITIES; k++)
            if (!strcmp(cell_at(f, k)->error, c->error)) {
                cell_at(f, k)->said = true;
                alike++;
            }
        if (++reasons > REASONS_MAX) {
            left += alike;
            continue;
        }
        printf("%s, %s, %s: %s", r->label, r->place, names[i % QUANTITIES], c->error);
        if (alike > 1)
            printf(" (and %zu more)", alike - 1);
        putchar('\n');
    }
    if (left)
        printf("and %zu more figures are missing\n", left);
}

bool probe_nic_is_usable(const struct nuioa_node *node, const struct nuioa_numa *numa)
{
    return numa->memory_bytes && hwloc_bitmap_isset(node->allowed_numas, numa->os_index) &&
           hwloc_bitmap_intersects(numa->cpus, node->allowed_cpus);
}

static void print_left_out(const struct nuioa_node *node)
{
    unsigned whole = 0, left_out = 0;
    for (const struct nuioa_numa *n = node->numas; n < node->numas + node->numa_count; n++)
        if (n->memory_bytes && !hwloc_bitmap_iszero(n->cpus)) {
            whole++;
            left_out += !probe_nic_is_usable(node, n);
        }
    if (left_out)
        printf("%u of the %u NUMA nodes may not be used here and are left out. In a job, use srun "
               "--exclusive\n",
               left_out, whole);
}

/* Says which differences are believed. */
static void print_believed(const struct found *f)
{
    if (f->p->nic.rounds < 2) {
        puts("one round gives no variance, so no difference is believed: use --rounds 5");
        return;
    }
    printf("values spread by %.1f %% (median absolute deviation), so that a median has a standard "
           "error of %.1f %%\n",
           100 * f->mads[WRITES], 100 * f->error);
    double remote = f->p->cost.remote;
    if (isnan(remote))
        return;
    if (remote > 0)
        printf("leaving the NIC's NUMA node costs %.1f %% of the rate; from %.1f %% on a "
               "difference is believed\n",
               100 * remote / (1 + remote), 100 * f->least);
    else
        printf("distance from the NIC costs nothing here: a difference of %.1f %% would have been "
               "believed\n",
               100 * f->least);
    probe_print_cost(&f->p->cost);
}

static void print_report(const struct found *f)
{
    print_head(f);
    print_table(f);
    putchar('\n');
    print_reasons(f);
    print_left_out(&f->p->node);
    if (fmax(f->p->nic.busy[0], f->p->nic.busy[1]) > BUSY_CPUS)
        printf("other load: %.1f CPUs before, %.1f after; figures may be too low\n",
               fmax(0, f->p->nic.busy[0]), fmax(0, f->p->nic.busy[1]));
    for (size_t i = 0; i < f->count; i++)
        if (f->rows[i].cells[WRITES].median > 0) {
            print_believed(f);
            return;
        }
}

/* --- for programs ----------------------------------------------------------------------------- */

/* Returns the value as `format` prints it; null if it is less than `least` or unknown. */
static json_t *number(double value, double least, const char *format)
{
    char text[400];
    snprintf(text, sizeof(text), format, value);
    return value >= least ? json_real(strtod(text, NULL)) : json_null();
}

static json_t *figure(const struct cell *c)
{
    return number(c->median, DBL_MIN, "%.9g");
}

static json_t *cells_of(const struct found *f)
{
    json_t *array = json_array();
    for (const struct row *r = f->rows; r < f->rows + f->count; r++) {
        uint32_t os_index = f->p->node.numas[r->numa].os_index;
        array = tool_json_add(
            array, json_pack("{so so so so so so so so}", "nic", tool_json_text(r->label), "numa",
                             r->gpu ? json_null() : json_integer(os_index), "gpu",
                             tool_json_text_or_null(r->gpu ? r->gpu->pci : NULL), "level",
                             r->level < 0 ? json_null() : json_integer(r->level), "write_mb_s",
                             figure(&r->cells[WRITES]), "read_mb_s", figure(&r->cells[READS]),
                             "latency_ns", figure(&r->cells[LATENCY]), "why",
                             tool_json_text_or_null(why(r))));
    }
    return array;
}

static json_t *rounded(double value)
{
    return number(value, 0, "%.4f");
}

/* Returns all of it as JSON (doc/formats.md), which the caller frees; NULL: out of memory. */
static char *json_of(const struct found *f)
{
    json_t *root = json_pack("{si so si so so so so s[oo] so so}", "nuioa", 1, "cells", cells_of(f),
                             "rounds", (int)f->p->nic.rounds, "write_mad", rounded(f->mads[WRITES]),
                             "read_mad", rounded(f->mads[READS]), "latency_mad",
                             rounded(f->mads[LATENCY]), "believed", rounded(f->least), "busy_cpus",
                             rounded(f->p->nic.busy[0]), rounded(f->p->nic.busy[1]), "remote_cost",
                             rounded(f->p->cost.remote), "hop_cost", rounded(f->p->cost.hop));
    char *text =
        root ? json_dumps(root, JSON_ENSURE_ASCII | JSON_INDENT(2) | JSON_REAL_PRECISION(15))
             : NULL;
    json_decref(root);
    return text;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Puts medians beside what is known of the NICs. Returns false without memory. */
static bool take_medians(const struct found *f)
{
    for (size_t i = 0; i < f->count * QUANTITIES; i++) {
        const struct row *r = &f->rows[i / QUANTITIES];
        double median = cell_at(f, i)->median;
        if (r->gpu || !(median > 0))
            continue;
        if (!r->nic->measured)
            r->nic->measured = calloc(f->p->node.numa_count, sizeof(*r->nic->measured));
        if (!r->nic->measured)
            return false;
        struct nuioa_nic_measured *m = &r->nic->measured[r->numa];
        double *const figures[] = { &m->write_mb_s, &m->read_mb_s, &m->latency_ns };
        *figures[i % QUANTITIES] = median;
        m->n = f->p->nic.rounds;
        m->mad = fmax(fmax(f->mads[WRITES], f->mads[READS]), f->mads[LATENCY]);
    }
    return true;
}

static int write_files(const struct found *f, const char *json)
{
    struct probe *p = f->p;
    struct nuioa_error err;
    if (p->heatmap && probe_heatmap(json, p->heatmap))
        return TOOL_UNANSWERED;
    if (p->out && !take_medians(f))
        return tool_fail("out of memory");
    if (p->out && nuioa_distance_write_site(
                      p->out, &p->node, p->node.distance.matrix,
                      "nuioa probe --nic; distances between NUMA nodes as they were known", &err))
        return tool_fail("%s", err.text);
    return TOOL_DONE;
}

/* Says why there are no figures at all: the first error. Returns TOOL_DONE if there is one. */
static int check_any(const struct found *f)
{
    for (size_t i = 0; i < f->count * QUANTITIES; i++)
        if (cell_at(f, i)->median > 0)
            return TOOL_DONE;
    return tool_fail("nothing was measured: %s",
                     f->count ? why(f->rows) : "no NUMA node has memory and CPUs that may be used");
}

int probe_nic_tell(struct probe *p, const char *printed, size_t length)
{
    json_error_t error = { 0 };
    struct found f = { .p = p };
    json_t *root = json_loadb(printed, length, 0, &error);
    bool right = root && read_found(&f, root);
    json_decref(root);
    for (unsigned q = 0; right && q < QUANTITIES; q++)
        f.mads[q] = pooled_mad(&f, q);
    if (p->arena.failed)
        return tool_fail("out of memory");
    if (!right)
        return tool_fail("probe-nic.py has printed something else than figures%s%s",
                         *error.text ? ": " : "", error.text);
    find_gap(&f);
    char *json = json_of(&f);
    if (!json)
        return tool_fail("out of memory");
    int rc = check_any(&f);
    if (!rc)
        rc = write_files(&f, json);
    if (p->json)
        puts(json);
    else
        print_report(&f);
    free(json);
    if (!rc && p->out && !p->json)
        printf("written: %s, for distances=%s in plugstack.conf\n", p->out, p->out);
    return rc;
}
