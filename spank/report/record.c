/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"
#include "output/report_table.h"
#include "topology/nic_guess.h"
#include "util/text.h"

/* The texts of the structs. Those of a row, and its numbers, have the same names in struct wire_row
 * and in struct nuioa_report_row. */
#define HEAD_TEXTS(DO) DO(host) DO(reason) DO(distances) DO(gpus)
#define NIC_TEXTS(DO) DO(label) DO(numas) DO(gpus) DO(fabric)
#define ROW_TEXTS(DO) DO(ranks) DO(cpus) DO(numas) DO(memory) DO(nic) DO(gpus) DO(path)
#define ROW_NUMBERS(DO) DO(count) DO(level) DO(leads) DO(gpu_level) DO(weight)
#define COPY_NUMBER(name) to->name = from->name;

static bool is_printable(char c, bool lines)
{
    return isprint((unsigned char)c) || (lines && c == '\n');
}

/* --- writing --- */

/* Writes a text, of which a file of the user's may be a part; with `lines` it may have several. */
static void put_text(char *to, size_t size, const char *text, bool lines)
{
    nuioa_copy(to, size, text);
    for (size_t i = 0; i < size && to[i]; i++)
        if (!is_printable(to[i], lines))
            to[i] = '?';
}

/* Writes what kinds of GPUs the node has, as struct wire_record describes it. */
static void put_gpus(const struct nuioa_node *node, char *to, size_t size)
{
    const struct nuioa_gpu *gpus = node->gpus;
    struct nuioa_text text = nuioa_text_in(to, size);
    for (uint32_t i = 0, next; i < node->gpu_count; i = next) {
        for (next = i + 1; next < node->gpu_count && gpus[next].vendor == gpus[i].vendor &&
                           gpus[next].model == gpus[i].model;)
            next++;
        char count[16] = "", model[16] = "";
        if (next - i < node->gpu_count)
            snprintf(count, sizeof(count), "%u ", next - i);
        if (gpus[i].model)
            snprintf(model, sizeof(model), " %04x:%04x", gpus[i].model >> 16,
                     gpus[i].model & 0xffff);
        nuioa_text_add(&text, "%s%s%s%s", i ? ", " : "", count,
                       nuioa_gpu_vendor_name(gpus[i].vendor), model);
    }
}

/* Virtual devices such as bridges are left out: there can be many, and they do not matter. */
static uint32_t put_nics(const struct nuioa_node *node, struct wire_nic *nics)
{
    struct wire_nic *to = nics;
    char label[sizeof(nics->label)];
    bool *real = calloc(node->nic_count + 1, sizeof(*real));
    hwloc_bitmap_t gpus = real ? hwloc_bitmap_alloc() : NULL; /* without memory none is beside */
    for (uint32_t i = 0; real && i < node->nic_count; i++)
        real[i] = !node->nics[i].is_virtual;
    for (uint32_t i = 0; i < node->nic_count && to < nics + WIRE_NICS_MAX; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        if (nic->is_virtual)
            continue;
        put_text(to->label, sizeof(to->label), nuioa_nic_label(nic, label, sizeof(label)), false);
        put_text(to->fabric, sizeof(to->fabric), nic->fabric, false);
        if (nic->numas)
            nuioa_report_set(nic->numas, to->numas, sizeof(to->numas));
        for (uint32_t g = 0; gpus && g < node->gpu_count; g++)
            if (nuioa_nic_is_beside(node, real, g, i))
                hwloc_bitmap_set(gpus, g);
        if (gpus) {
            nuioa_report_set(gpus, to->gpus, sizeof(to->gpus));
            hwloc_bitmap_zero(gpus);
        }
        to->state = (uint32_t)nic->state;
        to->kind = (uint32_t)nic->kind;
        to->rate_mbps = nic->rate_mbps;
        to->usable = nic->usable;
        to->role = (uint32_t)nic->role;
        to->role_source = (uint32_t)nic->role_source;
        to++;
    }
    hwloc_bitmap_free(gpus);
    free(real);
    return (uint32_t)(to - nics);
}

static uint32_t less(size_t a, size_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static uint32_t put_rows(const struct record_source *s, struct wire_row *to)
{
    struct nuioa_report_rows made;
    nuioa_report_rows_make(&made, s->plan, s->node, s->job_tasks > NUIOA_REPORT_RANKS_MAX);
    uint32_t count = less(made.count, WIRE_ROWS_MAX);
    for (uint32_t i = 0; i < count; i++, to++) {
        const struct nuioa_report_row *from = &made.row[i];
#define PUT_TEXT(name) put_text(to->name, sizeof(to->name), from->name, false);
        ROW_TEXTS(PUT_TEXT)
        ROW_NUMBERS(COPY_NUMBER)
    }
    nuioa_arena_free(&made.arena);
    return count;
}

static void put_head(const struct record_source *s, struct wire_record *head)
{
    const struct nuioa_plan *plan = s->plan;
    const struct nuioa_report_totals totals = nuioa_report_totals(plan, s->node);
    head->seal = s->seal;
    head->leader = plan->order_count ? plan->assignments[plan->order[0]].rank : WIRE_NO_RANK;
    head->task_count = plan->task_count;
    head->moved_count = (uint32_t)totals.moved;
    head->numa_count = s->node->numa_count;
    head->core_count = s->node->core_count;
    head->gpu_count = less(s->node->gpu_count, WIRE_GPUS_MAX);
    head->policy = (uint32_t)plan->policy;
    head->planned = plan->planned;
    head->advice = plan->advice;
    head->cost_before = totals.before;
    head->cost_after = totals.after;
    head->bound = totals.bound;
    put_text(head->host, sizeof(head->host), s->node->host, false);
    put_text(head->reason, sizeof(head->reason), plan->reason, false);
    put_text(head->distances, sizeof(head->distances),
             nuioa_distance_source_name(s->node->distance.source), false);
    put_gpus(s->node, head->gpus, sizeof(head->gpus));
}

/* The user's child can change what is written here at any time: nothing is read back but the bytes
 * of texts, within their sizes. */
size_t record_make(const struct record_source *s, void *bytes)
{
    struct wire_record *head = bytes;
    struct wire_nic *nics = (struct wire_nic *)(head + 1);
    uint32_t nic_count = put_nics(s->node, nics);
    struct wire_row *rows = (struct wire_row *)(void *)(nics + nic_count);
    uint32_t row_count = put_rows(s, rows);
    uint32_t warning_count = s->warnings ? less(s->warnings->count, WIRE_WARNINGS_MAX) : 0;
    size_t text = s->text && strlen(s->text) < WIRE_TEXT_MAX ? strlen(s->text) + 1 : 0;
    char *to = (char *)(rows + row_count);
    put_head(s, head);
    head->nic_count = nic_count;
    head->row_count = row_count;
    head->warning_count = warning_count;
    for (uint32_t i = 0; i < warning_count; i++, to += 256)
        put_text(to, 256, s->warnings->text[i], false);
    head->text_length = (uint32_t)text;
    if (text)
        put_text(to, text, s->text, true);
    return (size_t)(to - (char *)bytes) + text;
}

/* --- reading --- */

static bool is_text(const char *text, size_t size, bool lines)
{
    size_t length = strnlen(text, size);
    for (size_t i = 0; i < length; i++)
        if (!is_printable(text[i], lines))
            return false;
    return length < size;
}

static bool are_in_limits(const struct wire_record *h)
{
    return h->nic_count <= WIRE_NICS_MAX && h->row_count <= WIRE_ROWS_MAX &&
           h->warning_count <= WIRE_WARNINGS_MAX && h->text_length <= WIRE_TEXT_MAX &&
           h->task_count <= WIRE_TASKS_MAX && h->moved_count <= h->task_count &&
           h->numa_count <= WIRE_NUMAS_MAX && h->core_count <= WIRE_CORES_MAX &&
           h->gpu_count <= WIRE_GPUS_MAX && h->policy <= NUIOA_POLICY_LATENCY;
}

/* Checks the texts, and the numbers that a report adds up and prints: those of costs must be
 * finite, those of NICs have names. */
static bool is_right(const struct record *r)
{
    const struct wire_record *h = r->head;
    bool good = isfinite(h->cost_before) && isfinite(h->cost_after) && isfinite(h->bound) &&
                (!r->text || is_text(r->text, h->text_length, true));
#define CHECK(name) good = good && is_text(at->name, sizeof(at->name), false);
    for (const struct wire_record *at = h; at < h + 1; at++) {
        HEAD_TEXTS(CHECK)
    }
    for (const struct wire_nic *at = r->nics; at < r->nics + h->nic_count; at++) {
        NIC_TEXTS(CHECK)
        good = good && at->kind < NUIOA_NIC_KINDS && at->role < NUIOA_ROLES &&
               at->role_source <= NUIOA_ROLE_BY_SITE;
    }
    for (const struct wire_row *at = r->rows; at < r->rows + h->row_count; at++) {
        ROW_TEXTS(CHECK)
        good = good && isfinite(at->weight);
    }
    for (uint32_t i = 0; i < h->warning_count; i++)
        good = good && is_text(r->warnings[i], sizeof(r->warnings[i]), false);
    return good;
}

/* Finds the parts of a record, whose counts are within the limits. */
static void lay_out(const struct wire_record *h, struct record *r)
{
    const struct wire_nic *nics = (const void *)(h + 1);
    const struct wire_row *rows = (const void *)(nics + h->nic_count);
    const char(*warnings)[256] = (const void *)(rows + h->row_count);
    const char *text = (const char *)(warnings + h->warning_count);
    size_t length = (size_t)(text - (const char *)h) + h->text_length;
    *r = (struct record){ h, nics, rows, warnings, h->text_length ? text : NULL, length };
}

int record_read(const void *bytes, size_t length, struct record *r)
{
    const struct wire_record *h = bytes;
    if (length < sizeof(*h) || !are_in_limits(h))
        return -EINVAL;
    lay_out(h, r);
    return length == r->length && is_right(r) ? 0 : -EINVAL;
}

struct nuioa_report_row record_row(const struct record *r, uint32_t i)
{
    const struct wire_row *from = &r->rows[i];
    struct nuioa_report_row row = { 0 }, *to = &row;
#define TAKE_TEXT(name) nuioa_copy(to->name, sizeof(to->name), from->name);
    ROW_TEXTS(TAKE_TEXT)
    ROW_NUMBERS(COPY_NUMBER)
    return row;
}

bool record_copy(const struct record *from, bool whole, struct record *to)
{
    size_t warnings = from->head->warning_count * sizeof(*from->warnings);
    size_t head = whole ? from->length : sizeof(*from->head);
    struct wire_record *copy = malloc(whole ? head : head + warnings);
    if (!copy)
        return false;
    memcpy(copy, from->head, head);
    if (!whole) {
        copy->nic_count = copy->row_count = copy->text_length = 0;
        memcpy(copy + 1, from->warnings, warnings);
    }
    lay_out(copy, to);
    return true;
}
