/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/record.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- writing --- */

static void put_text(char *to, size_t size, const char *text)
{
    nuioa_copy(to, size, text);
    for (char *c = to; *c; c++)
        if (!isprint((unsigned char)*c))
            *c = '?';
}

static void put_set(char *to, size_t size, hwloc_const_bitmap_t set)
{
    char *text = NULL;
    *to = '\0';
    if (set && !hwloc_bitmap_iszero(set) && hwloc_bitmap_list_asprintf(&text, set) >= 0)
        nuioa_copy(to, size, text);
    free(text);
}

/* Virtual devices such as bridges are left out: there can be many, and they do not matter. */
static uint32_t put_nics(const struct nuioa_node *node, struct wire_nic *nics)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->nic_count && count < WIRE_NICS_MAX; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        if (nic->is_virtual)
            continue;
        struct wire_nic *to = &nics[count++];
        nuioa_nic_label(nic, to->label, sizeof(to->label));
        put_set(to->numas, sizeof(to->numas), nic->numas);
        to->state = (uint32_t)nic->state;
        to->kind = (uint32_t)nic->kind;
        to->rate_mbps = nic->rate_mbps;
        to->usable = nic->usable;
    }
    return count;
}

static bool same_line(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return nuioa_same_devices(a, b) && a->level == b->level && a->memory == b->memory &&
           hwloc_bitmap_isequal(a->numas, b->numas);
}

struct sets {
    hwloc_bitmap_t ranks, cpus, gpus;
};

/* Describes assignment `first` and, if lines are grouped, all later ones with the same line. */
static void put_line(const struct record_source *s, uint32_t first, bool *done, struct sets *sets,
                     struct wire_line *line)
{
    const struct nuioa_plan *plan = s->plan;
    const struct nuioa_assignment *assignment = &plan->assignments[first];
    bool grouped = s->job_tasks > RECORD_RANKS_MAX;
    double weight = 0;
    hwloc_bitmap_zero(sets->ranks);
    hwloc_bitmap_zero(sets->cpus);
    for (uint32_t i = first; i < plan->task_count; i++) {
        if (i > first && (!grouped || done[i] || !same_line(assignment, &plan->assignments[i])))
            continue;
        done[i] = true;
        hwloc_bitmap_set(sets->ranks, plan->assignments[i].rank);
        hwloc_bitmap_or(sets->cpus, sets->cpus, plan->assignments[i].cpus);
        weight += plan->assignments[i].weight;
        line->count++;
        line->leads = line->leads || (plan->order_count && plan->order[0] == i);
    }
    put_set(line->ranks, sizeof(line->ranks), sets->ranks);
    put_set(line->cpus, sizeof(line->cpus), sets->cpus);
    put_set(line->numas, sizeof(line->numas), assignment->numas);
    nuioa_memory_text(assignment, line->memory, sizeof(line->memory));
    nuioa_nics_brief(assignment, s->node, line->nic, sizeof(line->nic));
    hwloc_bitmap_zero(sets->gpus);
    for (uint32_t i = 0; i < assignment->gpu_count; i++)
        hwloc_bitmap_set(sets->gpus, assignment->gpus[i]);
    put_set(line->gpus, sizeof(line->gpus), sets->gpus);
    const char *path = nuioa_path_name(assignment->path);
    nuioa_copy(line->path, sizeof(line->path), path ? path : "");
    line->level = assignment->level;
    line->weight = plan->hinted ? weight : -1;
}

static uint32_t put_lines(const struct record_source *s, struct wire_line *lines)
{
    uint32_t count = 0;
    bool *done = calloc(s->plan->task_count + 1, sizeof(*done));
    struct sets sets = { hwloc_bitmap_alloc(), hwloc_bitmap_alloc(), hwloc_bitmap_alloc() };
    for (uint32_t i = 0; done && sets.ranks && sets.cpus && sets.gpus && i < s->plan->task_count;
         i++)
        if (!done[i] && count < WIRE_LINES_MAX)
            put_line(s, i, done, &sets, &lines[count++]);
    hwloc_bitmap_free(sets.ranks);
    hwloc_bitmap_free(sets.cpus);
    hwloc_bitmap_free(sets.gpus);
    free(done);
    return count;
}

static void put_head(const struct record_source *s, struct wire_record *head)
{
    const struct nuioa_plan *plan = s->plan;
    const struct nuioa_distance *distance = &s->node->distance;
    head->node = s->position;
    head->leader = plan->order_count ? plan->assignments[plan->order[0]].rank : WIRE_NO_RANK;
    head->near = plan->near;
    head->task_count = plan->task_count;
    for (uint32_t i = 0; i < plan->task_count; i++)
        head->moved_count += plan->assignments[i].moved;
    head->numa_count = s->node->numa_count;
    head->core_count = s->node->core_count;
    head->policy = (uint32_t)plan->policy;
    head->planned = plan->planned;
    head->advice = plan->advice;
    head->cost_before = plan->gpus_left ? -1 : plan->mapping.cost_start;
    head->cost_after = plan->mapping.cost;
    head->bound = plan->bound_known ? plan->mapping.bound : -1;
    put_text(head->host, sizeof(head->host), s->node->host);
    put_text(head->reason, sizeof(head->reason), plan->reason);
    put_text(head->distances, sizeof(head->distances),
             nuioa_distance_source_name(distance->source));
}

static uint32_t less(size_t a, size_t b)
{
    return (uint32_t)(a < b ? a : b);
}

void *record_make(const struct record_source *s, size_t *length)
{
    size_t text = s->text ? strlen(s->text) + 1 : 0;
    uint32_t warnings = s->warnings ? less(s->warnings->count, WIRE_WARNINGS_MAX) : 0;
    text = text <= WIRE_TEXT_MAX ? text : 0;
    struct wire_record *head = calloc(
        1, sizeof(*head) + less(s->node->nic_count, WIRE_NICS_MAX) * sizeof(struct wire_nic) +
               less(s->plan->task_count, WIRE_LINES_MAX) * sizeof(struct wire_line) +
               (size_t)warnings * 256 + text);
    if (!head)
        return NULL;
    put_head(s, head);
    char *to = (char *)(head + 1);
    head->nic_count = put_nics(s->node, (struct wire_nic *)(void *)to);
    to += head->nic_count * sizeof(struct wire_nic);
    head->line_count = put_lines(s, (struct wire_line *)(void *)to);
    to += head->line_count * sizeof(struct wire_line);
    head->warning_count = warnings;
    for (uint32_t i = 0; i < warnings; i++, to += 256)
        put_text(to, 256, s->warnings->text[i]);
    head->text_length = (uint32_t)text;
    if (text)
        memcpy(to, s->text, text);
    *length = (size_t)(to - (char *)head) + text;
    return head;
}

/* --- reading --- */

static bool is_text(const char *text, size_t size, bool lines)
{
    size_t length = strnlen(text, size);
    for (size_t i = 0; i < length; i++)
        if (!isprint((unsigned char)text[i]) && !(lines && text[i] == '\n'))
            return false;
    return length < size;
}

static bool are_in_limits(const struct wire_record *h)
{
    return h->nic_count <= WIRE_NICS_MAX && h->line_count <= WIRE_LINES_MAX &&
           h->warning_count <= WIRE_WARNINGS_MAX && h->text_length <= WIRE_TEXT_MAX &&
           h->task_count <= WIRE_TASKS_MAX && h->moved_count <= h->task_count &&
           h->numa_count <= WIRE_NUMAS_MAX && h->core_count <= WIRE_CORES_MAX &&
           h->policy <= NUIOA_POLICY_CPU;
}

/* Checks the numbers that a report adds up and prints: they must be finite. */
static bool are_numbers(const struct record *r)
{
    const struct wire_record *h = r->head;
    bool good = isfinite(h->cost_before) && isfinite(h->cost_after) && isfinite(h->bound);
    for (uint32_t i = 0; i < h->line_count; i++)
        good = good && isfinite(r->lines[i].weight);
    return good;
}

static bool are_texts(const struct record *r)
{
    const struct wire_record *h = r->head;
    if (!is_text(h->host, sizeof(h->host), false) ||
        !is_text(h->reason, sizeof(h->reason), false) ||
        !is_text(h->distances, sizeof(h->distances), false))
        return false;
    for (uint32_t i = 0; i < h->nic_count; i++)
        if (!is_text(r->nics[i].label, sizeof(r->nics->label), false) ||
            !is_text(r->nics[i].numas, sizeof(r->nics->numas), false))
            return false;
    for (uint32_t i = 0; i < h->line_count; i++) {
        const struct wire_line *l = &r->lines[i];
        if (!is_text(l->ranks, sizeof(l->ranks), false) ||
            !is_text(l->cpus, sizeof(l->cpus), false) ||
            !is_text(l->numas, sizeof(l->numas), false) ||
            !is_text(l->nic, sizeof(l->nic), false) || !is_text(l->gpus, sizeof(l->gpus), false) ||
            !is_text(l->path, sizeof(l->path), false) ||
            !is_text(l->memory, sizeof(l->memory), false))
            return false;
    }
    for (uint32_t i = 0; i < h->warning_count; i++)
        if (!is_text(r->warnings[i], sizeof(r->warnings[i]), false))
            return false;
    return !r->text || is_text(r->text, h->text_length, true);
}

int record_read(const void *bytes, size_t length, struct record *r)
{
    const struct wire_record *h = bytes;
    if (length < sizeof(*h) || !are_in_limits(h))
        return -EINVAL;
    size_t nics = sizeof(*h), lines = nics + h->nic_count * sizeof(struct wire_nic);
    size_t warnings = lines + h->line_count * sizeof(struct wire_line);
    size_t text = warnings + (size_t)h->warning_count * 256;
    if (length != text + h->text_length)
        return -EINVAL;
    const char *base = bytes;
    *r = (struct record){
        .head = h,
        .nics = (const void *)(base + nics),
        .lines = (const void *)(base + lines),
        .warnings = (const void *)(base + warnings),
        .text = h->text_length ? base + text : NULL,
    };
    return are_texts(r) && are_numbers(r) ? 0 : -EINVAL;
}
