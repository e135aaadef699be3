/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/report.h"
#include "spank/report/host_groups.h"
#include "util/hash.h"
#include "util/text.h"

/* More classes are neither told apart nor printed. */
#define CLASSES_MAX 1024
#define CLASSES_PRINTED 32

/* A class of nodes: their records differ only in names, ranks, weights and costs. */
struct node_class {
    uint64_t digest, inventory;
    uint32_t count;
    const struct record *model; /* the record of its first node, which is kept whole */
};

struct node {
    struct record record; /* a copy, owned; no head: it has not come, or there is no memory */
    const struct node_class *equals; /* NULL: there are too many classes */
};

/* Most of it is never written, and needs no memory. */
struct summary {
    uint32_t node_count; /* highest position seen + 1 */
    struct node nodes[WIRE_NODES_MAX];
    uint32_t class_count;
    struct node_class classes[CLASSES_MAX];
    uint32_t record_count;
    struct nuioa_report_totals totals; /* of the nodes that have a plan */
    double heaviest;                   /* weight of a rank that has a row of its own */
};

struct summary *summary_new(void)
{
    return calloc(1, sizeof(struct summary));
}

void summary_free(struct summary *s)
{
    for (uint32_t i = 0; i < s->node_count; i++)
        free((void *)s->nodes[i].record.head);
    free(s);
}

/* --- classes --- */

/* The digest of everything that nodes of one class have in common. *inventory is that of the
 * numbers of NUMA nodes and cores, and of all that the record says about GPUs and NICs. Equal
 * digests of 64 bits are taken for equal contents. */
static uint64_t digest_of(const struct record *r, uint64_t *inventory)
{
    const struct wire_record *h = r->head;
    const uint32_t things[] = { h->numa_count, h->core_count, h->gpu_count, h->nic_count };
    const uint32_t tasks[] = { h->task_count, h->planned, h->row_count };
    uint64_t digest = nuioa_hash(NUIOA_HASH_START, things, sizeof(things));
    digest = nuioa_hash_text(digest, h->gpus);
    *inventory = nuioa_hash(digest, r->nics, h->nic_count * sizeof(*r->nics));
    digest = nuioa_hash_text(nuioa_hash(*inventory, tasks, sizeof(tasks)), h->distances);
    for (uint32_t i = 0; i < h->row_count; i++) {
        const struct wire_row *l = &r->rows[i];
        const uint32_t facts[] = { l->count, l->level, l->leads, l->gpu_level };
        digest = nuioa_hash(digest, facts, sizeof(facts));
        digest = nuioa_hash_text(nuioa_hash_text(digest, l->cpus), l->numas);
        digest = nuioa_hash_text(nuioa_hash_text(digest, l->nic), l->gpus);
    }
    return digest;
}

/* Returns the class with this digest, or a new one, which has no nodes; or NULL if there is no room
 * for another one. */
static struct node_class *class_of(struct summary *s, uint64_t digest)
{
    uint32_t i = 0;
    while (i < s->class_count && s->classes[i].digest != digest)
        i++;
    if (i == CLASSES_MAX)
        return NULL;
    s->classes[i].digest = digest;
    return &s->classes[i];
}

/* --- collecting --- */

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

/* In a large job only the model of each class keeps what is not printed for each node. */
void summary_add(struct summary *s, const struct record *r)
{
    uint32_t place = r->head->seal.node;
    struct node *node = &s->nodes[place];
    uint64_t inventory;
    struct node_class *c = class_of(s, digest_of(r, &inventory));
    s->node_count = place < s->node_count ? s->node_count : place + 1;
    s->record_count++;
    add_totals(&s->totals, r->head);
    for (uint32_t i = 0; i < r->head->row_count; i++)
        if (r->rows[i].count == 1)
            s->heaviest = fmax(s->heaviest, r->rows[i].weight);
    bool whole = s->totals.ranks <= NUIOA_REPORT_RANKS_MAX || (c && !c->count);
    if (!record_copy(r, whole, &node->record) || !c)
        return;
    if (!c->count++) {
        c->inventory = inventory;
        c->model = &node->record;
        s->class_count++;
    }
    node->equals = c;
}

/* --- the text --- */

/* Returns the record of a node, or NULL. */
static const struct record *record_of(const struct summary *s, uint32_t place)
{
    return s->nodes[place].record.head ? &s->nodes[place].record : NULL;
}

static const char *host_of(const struct record *r)
{
    return *r->head->host ? r->head->host : "?";
}

/* Returns the record of the only node, or NULL if there are several. */
static const struct record *only_record(const struct summary *s)
{
    return s->record_count == 1 && s->class_count ? s->classes[0].model : NULL;
}

static void print_ranks(const struct summary *s, FILE *out)
{
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, NUIOA_REPORT_COLUMNS);
    nuioa_report_add_heads(&table);
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct record *r = record_of(s, i);
        for (uint32_t k = 0; r && k < r->head->row_count; k++) {
            const struct nuioa_report_row row = record_row(r, k);
            nuioa_report_add_row(&table, r->head->host, &row, s->heaviest);
        }
    }
    nuioa_text_table_print(&table, out, 2);
}

/* Writes the number of ranks for each level: "0:4 1:12". */
static const char *level_text(const struct record *r, char *text, size_t size)
{
    struct nuioa_text out = nuioa_text_in(text, size);
    for (uint32_t i = 0; i <= UINT8_MAX + 1u; i++) {
        uint32_t count = 0, level = i > UINT8_MAX ? UINT32_MAX : i;
        for (uint32_t k = 0; k < r->head->row_count; k++)
            count += r->rows[k].level == level ? r->rows[k].count : 0;
        if (count && level == UINT32_MAX)
            nuioa_text_add(&out, "%s-:%u", out.used ? " " : "", count);
        else if (count)
            nuioa_text_add(&out, "%s%u:%u", out.used ? " " : "", level, count);
    }
    return text;
}

static const char *nic_text(const struct record *r, char *text, size_t size)
{
    struct nuioa_text out = nuioa_text_in(text, size);
    for (uint32_t i = 0; i < r->head->nic_count; i++)
        if (r->nics[i].usable)
            nuioa_text_add(&out, "%s%s@%s", out.used ? " " : "", r->nics[i].label,
                           *r->nics[i].numas ? r->nics[i].numas : "?");
    return out.used ? text : "-";
}

static void add_class(const struct summary *s, const struct node_class *c,
                      struct nuioa_text_table *table)
{
    struct host_groups groups = { 0 };
    const char *numas = "-";
    char text[128];
    for (uint32_t i = 0; i < s->node_count; i++)
        if (s->nodes[i].equals == c)
            host_groups_add(&groups, host_of(&s->nodes[i].record), "%s", "");
    for (uint32_t i = 0; i < c->model->head->row_count; i++)
        if (c->model->rows[i].leads)
            numas = c->model->rows[i].numas;
    nuioa_text_table_add(table, "%u", c->count);
    host_groups_names(&groups.texts[0], text, NUIOA_TEXT_TABLE_CELL);
    nuioa_text_table_add(table, "%s", text);
    nuioa_text_table_add(table, "%u", c->model->head->task_count);
    nuioa_text_table_add(table, "%s", nic_text(c->model, text, sizeof(text)));
    nuioa_text_table_add(table, "%s", level_text(c->model, text, sizeof(text)));
    nuioa_text_table_add(table, "%s", numas);
    host_groups_free(&groups);
}

/* Returns false for nodes that could not say what they are, and where their ranks are. */
static bool has_plan(const struct node_class *c)
{
    return c->model->head->task_count > 0;
}

static void print_classes(const struct summary *s, FILE *out)
{
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "rlrlll");
    nuioa_text_table_add_words(&table, "nodes|which|ranks|NIC@NUMA|ranks by level|leader's NUMA");
    uint32_t more = s->totals.nodes;
    for (uint32_t i = 0, printed = 0; i < s->class_count && printed < CLASSES_PRINTED; i++)
        if (has_plan(&s->classes[i])) {
            add_class(s, &s->classes[i], &table);
            more -= s->classes[i].count;
            printed++;
        }
    nuioa_text_table_print(&table, out, 2);
    if (more)
        fprintf(out, "  and %u more node%s\n", more, nuioa_report_plural(more));
}

/* Prints a line for each group: the names of its nodes, and their number if these are cut, and the
 * text; or the text alone without `named`. */
static void print_groups(const struct host_groups *groups, bool named, int indent, FILE *out)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct host_group *group = &groups->texts[i];
        char names[64], number[24] = "", line[400];
        if (!host_groups_names(group, names, sizeof(names)))
            snprintf(number, sizeof(number), " (%u nodes)", group->count);
        snprintf(line, sizeof(line), "%s%s: %s", names, number, group->text);
        nuioa_text_table_wrap(out, indent, named ? line : group->text);
    }
    if (groups->omitted)
        fprintf(out, "  and %u more\n", groups->omitted);
}

/* Prints why ranks moved or did not, and what the user may type. */
static void print_reasons(const struct summary *s, FILE *out)
{
    struct host_groups groups = { 0 };
    const struct record *r;
    for (uint32_t i = 0; i < s->node_count; i++)
        if ((r = record_of(s, i)))
            host_groups_add(&groups, host_of(r), "%s", r->head->reason);
    for (uint32_t k = 0; k < NUIOA_ADVICE_COUNT; k++)
        for (uint32_t i = 0; i < s->node_count; i++)
            if ((r = record_of(s, i)) && r->head->advice & 1u << k)
                host_groups_add(&groups, host_of(r), "%s", nuioa_advice_text((enum nuioa_advice)k));
    print_groups(&groups, !only_record(s), 0, out);
    host_groups_free(&groups);
}

/* --- in what nodes differ --- */

static const struct wire_nic *find(const struct record *r, const char *label)
{
    for (uint32_t i = 0; i < r->head->nic_count; i++)
        if (!strcmp(r->nics[i].label, label))
            return &r->nics[i];
    return NULL;
}

/* A NIC may differ in these facts; each has its words in front of it. */
enum fact { KIND, STATE, PLACE, RATE, PURPOSE, GPUS, FACTS };
static const char verbs[FACTS][16] = { "is", "is", "is on", "has", "is", "is beside" };
typedef char facts[FACTS][64];

/* Writes such as "NUMA node 1" or "GPUs 0-1". */
static void put_list(char text[64], const char *what, const char *numbers, const char *none)
{
    if (*numbers)
        snprintf(text, 64, "%s%s %s", what, numbers[strcspn(numbers, ",-")] ? "s" : "", numbers);
    else
        nuioa_copy(text, 64, none);
}

static void put_facts(facts facts, const struct wire_nic *nic)
{
    const char *role = nuioa_nic_role_name((enum nuioa_nic_role)nic->role);
    bool guessed = nic->role_source == NUIOA_ROLE_BY_GUESS;
    nuioa_copy(facts[KIND], 64, nuioa_nic_kind_name((enum nuioa_nic_kind)nic->kind));
    nuioa_copy(facts[STATE], 64, nuioa_nic_state_name((enum nuioa_nic_state)nic->state));
    put_list(facts[PLACE], "NUMA node", nic->numas, "an unknown NUMA node");
    nuioa_copy(facts[RATE], 64, "an unknown rate");
    if (nic->rate_mbps)
        nuioa_report_rate(nic->rate_mbps, facts[RATE], 64);
    nuioa_copy(facts[PURPOSE], 64, "of an unknown role");
    if (role)
        snprintf(facts[PURPOSE], 64, "%sfor %s", guessed ? "perhaps " : "", role);
    put_list(facts[GPUS], "GPU", nic->gpus, "no GPU");
}

/* Where the GPUs are others, those beside a NIC say nothing more. */
static void compare_nic(struct host_groups *groups, const char *host, const struct wire_nic *usual,
                        const struct wire_nic *other, bool same_gpus)
{
    facts here, there;
    put_facts(here, other);
    put_facts(there, usual);
    for (enum fact i = 0; i < (same_gpus ? FACTS : GPUS); i++)
        if (strcmp(here[i], there[i]))
            host_groups_add(groups, host, "%s %s %s, elsewhere %s%s", other->label, verbs[i],
                            here[i], i == PLACE ? "on " : "", there[i]);
    if (strcmp(usual->fabric, other->fabric) && *usual->fabric && *other->fabric)
        host_groups_add(groups, host, "%s is in InfiniBand subnet %s, elsewhere %s", other->label,
                        other->fabric, usual->fabric);
    if (usual->usable != other->usable && usual->state == other->state &&
        usual->role == other->role)
        host_groups_add(groups, host, "%s is %s", other->label,
                        other->usable ? "usable, elsewhere not" : "not usable");
}

static void compare_count(struct host_groups *groups, const char *host, const char *what,
                          uint32_t usual, uint32_t other)
{
    if (usual != other)
        host_groups_add(groups, host, "%u %s%s, elsewhere %u", other, what,
                        nuioa_report_plural(other), usual);
}

/* Adds to the groups a text for each difference of the node `other` from the node `usual`, such as
 * "no mlx5_0:1" or "4 GPUs, elsewhere 8", as one of `host`. */
static void add_differences(struct host_groups *groups, const char *host,
                            const struct record *usual, const struct record *other)
{
    const struct wire_record *a = usual->head, *b = other->head;
    bool same_gpus = !strcmp(a->gpus, b->gpus);
    compare_count(groups, host, "NUMA node", a->numa_count, b->numa_count);
    compare_count(groups, host, "core", a->core_count, b->core_count);
    compare_count(groups, host, "GPU", a->gpu_count, b->gpu_count);
    if (!same_gpus && a->gpu_count && b->gpu_count)
        host_groups_add(groups, host, "GPUs are %s, elsewhere %s", b->gpus, a->gpus);
    same_gpus = same_gpus && a->gpu_count == b->gpu_count;
    for (uint32_t i = 0; i < usual->head->nic_count; i++) {
        const struct wire_nic *nic = find(other, usual->nics[i].label);
        if (nic)
            compare_nic(groups, host, &usual->nics[i], nic, same_gpus);
        else
            host_groups_add(groups, host, "no %s", usual->nics[i].label);
    }
    for (uint32_t i = 0; i < other->head->nic_count; i++)
        if (!find(usual, other->nics[i].label))
            host_groups_add(groups, host, "has %s, others have not", other->nics[i].label);
}

/* Compares nodes with the first one whose inventory most nodes share. */
static void print_differences(const struct summary *s, FILE *out)
{
    struct host_groups groups = { 0 };
    const struct node_class *usual = NULL, *c;
    for (uint32_t i = 0, most = 0, count = 0; i < s->node_count; i++, count = 0) {
        if (!(c = s->nodes[i].equals) || !has_plan(c))
            continue;
        for (uint32_t k = 0; k < s->class_count; k++)
            count += s->classes[k].inventory == c->inventory ? s->classes[k].count : 0;
        usual = count > most ? c : usual;
        most = count > most ? count : most;
    }
    for (uint32_t i = 0; i < s->node_count; i++)
        if ((c = s->nodes[i].equals) && has_plan(c) && c->inventory != usual->inventory)
            add_differences(&groups, host_of(&s->nodes[i].record), usual->model, c->model);
    if (groups.count)
        fputs("nodes that differ from the others:\n", out);
    print_groups(&groups, true, 2, out);
    host_groups_free(&groups);
}

char *summary_text(const struct summary *s, bool explain)
{
    const struct record *only = only_record(s);
    struct nuioa_report_totals totals = s->totals;
    char *text = NULL;
    size_t size;
    if (only && explain && only->text)
        return strdup(only->text);
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    totals.host = only ? only->head->host : NULL;
    nuioa_report_head(&totals, out);
    if (totals.ranks <= NUIOA_REPORT_RANKS_MAX || only)
        print_ranks(s, out);
    else
        print_classes(s, out);
    print_differences(s, out);
    print_reasons(s, out);
    nuioa_report_cost(&totals, out);
    for (uint32_t i = 0; explain && i < s->class_count && i < CLASSES_PRINTED; i++)
        if (s->classes[i].model->text)
            fprintf(out, "\n%s", s->classes[i].model->text);
    return nuioa_text_close(out, &text);
}

void summary_warnings(const struct summary *s, void (*say)(const char *line))
{
    char names[64], line[400];
    struct host_groups groups = { 0 };
    for (uint32_t i = 0; i < s->node_count; i++) {
        const struct record *r = record_of(s, i);
        for (uint32_t k = 0; r && k < r->head->warning_count; k++)
            host_groups_add(&groups, host_of(r), "%s", r->warnings[k]);
    }
    for (uint32_t i = 0; i < groups.count; i++) {
        host_groups_names(&groups.texts[i], names, sizeof(names));
        snprintf(line, sizeof(line), "%s: %s", names, groups.texts[i].text);
        say(line);
    }
    host_groups_free(&groups);
}

void summary_absent(const struct summary *s, const char *nodes, uint32_t node_count, char *names,
                    uint32_t size)
{
    struct host_groups answered = { 0 };
    for (uint32_t i = 0; i < s->node_count; i++)
        if (record_of(s, i))
            host_groups_add(&answered, host_of(record_of(s, i)), "%s", "");
    host_groups_others(&answered.texts[0], nodes, node_count, names, size);
    host_groups_free(&answered);
}
