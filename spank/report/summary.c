/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"
#include "spank/report/host_groups.h"
#include "spank/report/node_diff.h"
#include "util/hash.h"

/* More classes are neither told apart nor printed. */
#define CLASSES_MAX 1024
#define CLASSES_PRINTED 32

/* A class of nodes: their records differ only in names, ranks, weights and costs. */
struct node_class {
    uint64_t digest, inventory;
    uint32_t count;
    uint32_t first; /* lowest position of its nodes */
    char *bytes;    /* a copy of one node's record; `record` points into it */
    struct record record;
};

struct node {
    char host[64], reason[216];
    uint32_t advice;   /* a bit for each enum nuioa_advice */
    uint32_t class_id; /* UINT32_MAX: none; its record has not come, or there are too many */
    /* A copy of its record while the job is small enough for a line per rank, else NULL. */
    char *bytes;
    struct record record;
    char (*warnings)[256];
    uint32_t warning_count;
};

struct summary {
    uint32_t node_count, node_room; /* highest position seen + 1; size of nodes[] */
    struct node *nodes;
    uint32_t class_count, class_room;
    struct node_class *classes;
    uint32_t record_count;
    struct nuioa_report_totals totals; /* of the nodes that have a plan */
    /* The profile that nodes have read: how many ranks it has, how many nodes have read it, the
     * bytes that its ranks send, and those of them that leave a node. */
    uint32_t profile_ranks, read_count;
    double sent, sent_off;
};

struct summary *summary_new(void)
{
    return calloc(1, sizeof(struct summary));
}

void summary_free(struct summary *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->node_count; i++) {
        free(s->nodes[i].bytes);
        free(s->nodes[i].warnings);
    }
    for (uint32_t i = 0; i < s->class_count; i++)
        free(s->classes[i].bytes);
    free(s->nodes);
    free(s->classes);
    free(s);
}

/* --- classes --- */

/* The digest of everything that nodes of one class have in common. Equal digests of 64 bits are
 * taken for equal contents. */
static uint64_t digest_of(const struct record *r)
{
    const struct wire_record *h = r->head;
    const uint32_t numbers[] = { h->task_count, h->planned, h->row_count };
    uint64_t digest = nuioa_hash(node_diff_digest(r), numbers, sizeof(numbers));
    digest = nuioa_hash_text(digest, h->distances);
    for (uint32_t i = 0; i < h->row_count; i++) {
        const struct nuioa_report_row *l = &r->rows[i];
        const uint32_t facts[] = { l->count, l->level, l->leads, l->gpu_level };
        digest = nuioa_hash(digest, facts, sizeof(facts));
        digest = nuioa_hash_text(nuioa_hash_text(digest, l->cpus), l->numas);
        digest = nuioa_hash_text(nuioa_hash_text(digest, l->nic), l->gpus);
    }
    return digest;
}

static char *copy_record(const struct record *from, struct record *to)
{
    char *bytes = malloc(from->length);
    if (bytes)
        memcpy(bytes, from->head, from->length);
    if (bytes && record_read(bytes, from->length, to) < 0) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static uint32_t new_class(struct summary *s, uint32_t place, const struct record *r,
                          uint64_t digest)
{
    if (s->class_count == s->class_room) {
        uint32_t room = s->class_room ? s->class_room * 2 : 16;
        struct node_class *more = realloc(s->classes, room * sizeof(*more));
        if (!more)
            return UINT32_MAX;
        s->classes = more;
        s->class_room = room;
    }
    struct node_class *c = &s->classes[s->class_count];
    *c = (struct node_class){
        .digest = digest,
        .inventory = node_diff_digest(r),
        .first = place,
    };
    c->bytes = copy_record(r, &c->record);
    return c->bytes ? s->class_count++ : UINT32_MAX;
}

/* Returns the class of a node, or UINT32_MAX if there is no room for another one. */
static uint32_t class_of(struct summary *s, uint32_t place, const struct record *r)
{
    uint64_t digest = digest_of(r);
    for (uint32_t i = 0; i < s->class_count; i++)
        if (s->classes[i].digest == digest)
            return i;
    return s->class_count < CLASSES_MAX ? new_class(s, place, r, digest) : UINT32_MAX;
}

/* --- collecting --- */

static struct node *node_at(struct summary *s, uint32_t place)
{
    if (place >= s->node_room) {
        uint32_t room = s->node_room ? s->node_room * 2 : 16;
        room = room > place ? room : place + 1;
        struct node *more = realloc(s->nodes, room * sizeof(*more));
        if (!more)
            return NULL;
        s->nodes = more;
        s->node_room = room;
    }
    while (s->node_count <= place)
        s->nodes[s->node_count++] = (struct node){ .class_id = UINT32_MAX };
    return &s->nodes[place];
}

static void keep_warnings(struct node *node, const struct record *r)
{
    if (!r->head->warning_count || !(node->warnings = malloc((size_t)r->head->warning_count * 256)))
        return;
    memcpy(node->warnings, r->warnings, (size_t)r->head->warning_count * 256);
    node->warning_count = r->head->warning_count;
}

static void forget_records(struct summary *s)
{
    for (uint32_t i = 0; i < s->node_count; i++) {
        free(s->nodes[i].bytes);
        s->nodes[i].bytes = NULL;
    }
}

/* Returns the sum; it is unknown, which is below 0, where a part of it is. */
static double sum(double a, double b)
{
    return a < 0 || b < 0 ? -1 : a + b;
}

/* A node without a plan is not counted: nobody knows where its ranks are. */
static void add_totals(struct nuioa_report_totals *t, const struct wire_record *h)
{
    t->nodes += h->task_count > 0;
    t->ranks += h->task_count;
    t->moved += h->moved_count;
    t->before = sum(t->before, h->cost_before);
    t->after = sum(t->after, h->cost_after);
    t->bound = sum(t->bound, h->bound);
    t->planned = t->planned || h->planned;
    t->leads = t->leads || h->leader != WIRE_NO_RANK;
    t->policy = (enum nuioa_policy)h->policy;
}

static void add_flows(struct summary *s, const struct wire_record *h)
{
    s->sent += h->sent;
    s->sent_off += h->sent_off;
    s->profile_ranks = h->profile_ranks > s->profile_ranks ? h->profile_ranks : s->profile_ranks;
    s->read_count += h->profile_ranks > 0;
}

void summary_add(struct summary *s, uint32_t place, const struct record *r)
{
    const struct wire_record *h = r->head;
    struct node *node = s ? node_at(s, place) : NULL;
    if (!node)
        return;
    nuioa_copy(node->host, sizeof(node->host), *h->host ? h->host : "?");
    nuioa_copy(node->reason, sizeof(node->reason), h->reason);
    node->advice = h->advice;
    node->class_id = class_of(s, place, r);
    keep_warnings(node, r);
    if (node->class_id != UINT32_MAX) {
        struct node_class *c = &s->classes[node->class_id];
        c->count++;
        c->first = place < c->first ? place : c->first;
    }
    s->record_count++;
    add_totals(&s->totals, h);
    add_flows(s, h);
    if (s->totals.ranks <= NUIOA_REPORT_RANKS_MAX)
        node->bytes = copy_record(r, &node->record);
    else
        forget_records(s);
}

/* --- the text --- */

/* Returns the record of the only node, or NULL if there are several. */
static const struct record *only_record(const struct summary *s)
{
    return s->record_count == 1 && s->class_count ? &s->classes[0].record : NULL;
}

static void print_head(const struct summary *s, FILE *out)
{
    struct nuioa_report_totals totals = s->totals;
    const struct record *only = only_record(s);
    if (only)
        totals.host = only->head->host;
    nuioa_report_head(&totals, out);
}

/* Returns the record of a node in a table of ranks, or NULL. */
static const struct record *shown(const struct summary *s, uint32_t place)
{
    const struct node *node = &s->nodes[place];
    return node->bytes ? &node->record : *node->host ? only_record(s) : NULL;
}

static void print_ranks(const struct summary *s, FILE *out)
{
    struct nuioa_text_table table;
    double heaviest = 0;
    nuioa_text_table_init(&table, NUIOA_REPORT_COLUMNS);
    nuioa_report_add_heads(&table);
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct record *r = shown(s, i);
        if (r)
            heaviest = fmax(heaviest, nuioa_report_heaviest(r->rows, r->head->row_count));
    }
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct record *r = shown(s, i);
        for (uint32_t k = 0; r && k < r->head->row_count; k++)
            nuioa_report_add_row(&table, r->head->host, &r->rows[k], heaviest);
    }
    nuioa_text_table_print(&table, out, 2);
}

/* Writes the number of ranks for each level: "0:4 1:12". */
static void level_text(const struct record *r, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (uint32_t level = 0; level <= UINT8_MAX + 1u && used < size; level++) {
        uint32_t count = 0, wanted = level > UINT8_MAX ? UINT32_MAX : level;
        char name[12] = "-";
        if (wanted != UINT32_MAX)
            snprintf(name, sizeof(name), "%u", level);
        for (uint32_t i = 0; i < r->head->row_count; i++)
            count += r->rows[i].level == wanted ? r->rows[i].count : 0;
        if (count)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s:%u", used ? " " : "", name, count);
    }
}

static void nic_text(const struct record *r, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (uint32_t i = 0; i < r->head->nic_count && used < size; i++)
        if (r->nics[i].usable)
            used += (size_t)snprintf(text + used, size - used, "%s%s@%s", used ? " " : "",
                                     r->nics[i].label, *r->nics[i].numas ? r->nics[i].numas : "?");
}

static void add_class(const struct summary *s, uint32_t class_id, struct nuioa_text_table *table)
{
    const struct node_class *c = &s->classes[class_id];
    struct host_groups groups = { 0 };
    const char *numas = "-";
    char names[NUIOA_TEXT_TABLE_CELL] = "?", text[128];
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].class_id == class_id)
            host_groups_add(&groups, s->nodes[i].host, "");
    if (groups.count)
        host_groups_names(&groups.texts[0], names, sizeof(names));
    host_groups_free(&groups);
    for (uint32_t i = 0; i < c->record.head->row_count; i++)
        if (c->record.rows[i].leads)
            numas = c->record.rows[i].numas;
    nuioa_text_table_add(table, "%u", c->count);
    nuioa_text_table_add(table, "%s", names);
    nuioa_text_table_add(table, "%u", c->record.head->task_count);
    nic_text(&c->record, text, sizeof(text));
    nuioa_text_table_add(table, "%s", *text ? text : "-");
    level_text(&c->record, text, sizeof(text));
    nuioa_text_table_add(table, "%s", text);
    nuioa_text_table_add(table, "%s", numas);
}

/* Returns false for nodes that could not say what they are, and where their ranks are. */
static bool has_plan(const struct node_class *c)
{
    return c->record.head->task_count > 0;
}

static void print_classes(const struct summary *s, FILE *out)
{
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "rlrlll");
    nuioa_text_table_add_words(&table, "nodes|which|ranks|NIC@NUMA|ranks by level|leader's NUMA");
    uint32_t more = s->totals.nodes;
    for (uint32_t i = 0, printed = 0; i < s->class_count && printed < CLASSES_PRINTED; i++)
        if (has_plan(&s->classes[i])) {
            add_class(s, i, &table);
            more -= s->classes[i].count;
            printed++;
        }
    nuioa_text_table_print(&table, out, 2);
    if (more)
        fprintf(out, "  and %u more node%s\n", more, nuioa_report_plural(more));
}

/* Writes the names of a group's nodes, and their number if these are cut. */
static const char *names_text(const struct host_group *group, char *text, size_t size)
{
    char names[64];
    size_t length = strlen(host_groups_names(group, names, sizeof(names)));
    if (length > 2 && !strcmp(names + length - 2, ".."))
        snprintf(text, size, "%s (%u nodes)", names, group->count);
    else
        nuioa_copy(text, size, names);
    return text;
}

/* Prints a line for each group: names of nodes and text, or the text alone without `named`. */
static void print_groups(const struct host_groups *groups, bool named, int indent, FILE *out)
{
    char names[96], line[400];
    for (uint32_t i = 0; i < groups->count; i++) {
        names_text(&groups->texts[i], names, sizeof(names));
        snprintf(line, sizeof(line), "%s%s%s", named ? names : "", named ? ": " : "",
                 groups->texts[i].text);
        nuioa_text_table_wrap(out, indent, line);
    }
    if (groups->omitted)
        fprintf(out, "  and %u more\n", groups->omitted);
}

/* Prints why ranks moved or did not, and what the user may type. */
static void print_reasons(const struct summary *s, FILE *out)
{
    struct host_groups groups = { 0 };
    for (uint32_t i = 0; i < s->node_count; i++)
        if (*s->nodes[i].host)
            host_groups_add(&groups, s->nodes[i].host, s->nodes[i].reason);
    for (uint32_t k = 0; k < NUIOA_ADVICE_COUNT; k++)
        for (uint32_t i = 0; i < s->node_count; i++)
            if (s->nodes[i].advice & 1u << k)
                host_groups_add(&groups, s->nodes[i].host, nuioa_advice_text((enum nuioa_advice)k));
    print_groups(&groups, !only_record(s), 0, out);
    host_groups_free(&groups);
}

/* Returns the class whose inventory most nodes share; the others are compared with it. NULL: no
 * node has a plan. */
static const struct node_class *usual_class(const struct summary *s)
{
    const struct node_class *best = NULL;
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->class_count; i++) {
        const struct node_class *c = &s->classes[i];
        uint32_t count = 0;
        if (!has_plan(c))
            continue;
        for (uint32_t k = 0; k < s->class_count; k++)
            if (s->classes[k].inventory == c->inventory)
                count += s->classes[k].count;
        if (!best || count > most || (count == most && c->first < best->first)) {
            most = count;
            best = c;
        }
    }
    return best;
}

static void print_differences(const struct summary *s, FILE *out)
{
    char texts[2 * WIRE_NICS_MAX][NODE_DIFF_TEXT];
    struct host_groups groups = { 0 };
    const struct node_class *usual = usual_class(s);
    for (uint32_t i = 0; usual && i < s->node_count; i++) {
        const struct node_class *c =
            s->nodes[i].class_id < s->class_count ? &s->classes[s->nodes[i].class_id] : usual;
        if (c->inventory == usual->inventory || !has_plan(c))
            continue;
        unsigned count = node_diff_texts(&usual->record, &c->record, texts, 2 * WIRE_NICS_MAX);
        for (unsigned k = 0; k < count; k++)
            host_groups_add(&groups, s->nodes[i].host, texts[k]);
    }
    if (groups.count)
        fputs("nodes that differ from the others:\n", out);
    print_groups(&groups, true, 2, out);
    host_groups_free(&groups);
}

static void print_explanations(const struct summary *s, FILE *out)
{
    for (uint32_t i = 0; i < s->class_count && i < CLASSES_PRINTED; i++)
        if (s->classes[i].record.text)
            fprintf(out, "\n%s", s->classes[i].record.text);
}

/* Only where each node has read the profile, and the step has all its ranks. */
static void print_off_node(const struct summary *s, FILE *out)
{
    if (s->record_count > 1 && s->read_count == s->record_count &&
        s->totals.ranks >= s->profile_ranks && s->sent > 0)
        fprintf(out,
                "off node: %.1f %% of the profile's bytes, without collectives (as nuioa layout "
                "counts)\n",
                100 * s->sent_off / s->sent);
}

char *summary_text(struct summary *s, bool explain)
{
    const struct record *only = s ? only_record(s) : NULL;
    char *text = NULL;
    size_t size;
    if (only && explain && only->text)
        return strdup(only->text);
    FILE *out = s ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    print_head(s, out);
    if (s->totals.ranks <= NUIOA_REPORT_RANKS_MAX || only)
        print_ranks(s, out);
    else
        print_classes(s, out);
    print_differences(s, out);
    print_reasons(s, out);
    nuioa_report_cost(&s->totals, out);
    print_off_node(s, out);
    if (explain)
        print_explanations(s, out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

void summary_warnings(struct summary *s, void (*say)(void *arg, const char *line), void *arg)
{
    char names[64], line[400];
    struct host_groups groups = { 0 };
    for (uint32_t i = 0; s && i < s->node_count; i++)
        for (uint32_t k = 0; k < s->nodes[i].warning_count; k++)
            host_groups_add(&groups, s->nodes[i].host, s->nodes[i].warnings[k]);
    for (uint32_t i = 0; i < groups.count; i++) {
        snprintf(line, sizeof(line), "%s: %s",
                 host_groups_names(&groups.texts[i], names, sizeof(names)), groups.texts[i].text);
        say(arg, line);
    }
    host_groups_free(&groups);
}
