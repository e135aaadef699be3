/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/after_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/text_table.h"
#include "spank/rendezvous/counters_judge.h"
#include "spank/rendezvous/host_groups.h"
#include "topology/nic.h"
#include "util/error.h"

/* A table with more lines has two nodes of each kind. */
#define LINES_MAX 32
/* More kinds of nodes are counted, and not printed. */
#define KINDS_MAX 16

struct after_node {
    char host[64];             /* "": not expected */
    struct counters *counters; /* [counters_length]; NULL: they have not come */
};

struct after_step {
    uint32_t count, room; /* highest position + 1; size of nodes[] */
    struct after_node *nodes;
};

struct after_step *after_step_new(void)
{
    return calloc(1, sizeof(struct after_step));
}

void after_step_free(struct after_step *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->count; i++)
        free(a->nodes[i].counters);
    free(a->nodes);
    free(a);
}

void after_step_expect(struct after_step *a, uint32_t node, const char *host)
{
    if (!a || node >= WIRE_NODES_MAX)
        return;
    if (node >= a->room) {
        uint32_t room = a->room * 2 > node ? a->room * 2 : node + 16;
        struct after_node *more = realloc(a->nodes, room * sizeof(*more));
        if (!more)
            return;
        a->nodes = more;
        a->room = room;
    }
    while (a->count <= node)
        a->nodes[a->count++] = (struct after_node){ .counters = NULL };
    nuioa_copy(a->nodes[node].host, sizeof(a->nodes->host), *host ? host : "?");
}

bool after_step_is_expected(const struct after_step *a)
{
    return a && a->count;
}

void after_step_add(struct after_step *a, const struct counters *c)
{
    uint32_t node = c->head.node;
    if (!a || node >= a->count || !*a->nodes[node].host || a->nodes[node].counters)
        return;
    struct counters *copy = malloc(counters_length(c));
    if (copy)
        memcpy(copy, c, counters_length(c));
    a->nodes[node].counters = copy;
}

/* --- the table --- */

static const char *bytes_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    double value = (double)bytes;
    unsigned unit = 0;
    while (value >= 999.5 && unit < 6) {
        value /= 1000;
        unit++;
    }
    snprintf(text, size, "%.*f %s",
             !unit || value >= 99.95 ? 0
             : value >= 9.995        ? 1
                                     : 2,
             value, units[unit]);
    return text;
}

/* Writes a part as "80 %", "3.2 %" or, if it is negative, "-". */
static const char *part_text(double part, char *text, size_t size)
{
    if (part < 0)
        snprintf(text, size, "-");
    else if (part > 0 && part < 0.001)
        snprintf(text, size, "<0.1 %%");
    else
        snprintf(text, size, "%.*f %%", part < 0.0995 && part > 0 ? 1 : 0, 100 * part);
    return text;
}

static void add_nic(struct nuioa_text_table *table, const struct after_node *node,
                    const struct wire_counter *nic, bool first)
{
    const struct counters *c = node->counters;
    uint64_t total = counters_total(c);
    char text[32];
    bool alone = !c->head.others;
    double share = alone && total ? (double)(nic->received + nic->sent) / (double)total : -1;
    nuioa_text_table_add(table, "%s", first ? node->host : "");
    nuioa_text_table_add(table, "%s", nic->label);
    if (nic->unknown) {
        for (int i = 0; i < 3; i++)
            nuioa_text_table_add(table, "?");
    } else {
        nuioa_text_table_add(table, "%s", bytes_text(nic->received, text, sizeof(text)));
        nuioa_text_table_add(table, "%s", bytes_text(nic->sent, text, sizeof(text)));
        nuioa_text_table_add(table, "%s", part_text(share, text, sizeof(text)));
    }
    nuioa_text_table_add(table, "%s", part_text(alone ? nic->planned : -1, text, sizeof(text)));
    nuioa_text_table_add(table, "%s", part_text(counters_busy(c, nic), text, sizeof(text)));
}

static void add_node(struct nuioa_text_table *table, const struct after_node *node)
{
    for (uint32_t i = 0; i < node->counters->head.nic_count; i++)
        add_nic(table, node, &node->counters->nics[i], i == 0);
}

/* Nodes of one kind have the same NICs, for which the same is planned. */
static bool are_alike(const struct counters *a, const struct counters *b)
{
    if (a->head.nic_count != b->head.nic_count || a->head.others != b->head.others)
        return false;
    for (uint32_t i = 0; i < a->head.nic_count; i++)
        if (strcmp(a->nics[i].label, b->nics[i].label) != 0 ||
            a->nics[i].rate_mbps != b->nics[i].rate_mbps ||
            fabs(a->nics[i].planned - b->nics[i].planned) > 0.01)
            return false;
    return true;
}

/* The nodes of one kind. */
struct kind {
    const struct after_node *least, *most;
    struct host_groups nodes;
};

static void add_to_kind(struct kind *kind, const struct after_node *node)
{
    uint64_t total = counters_total(node->counters);
    if (!kind->least || total < counters_total(kind->least->counters))
        kind->least = node;
    if (!kind->most || total > counters_total(kind->most->counters))
        kind->most = node;
    host_groups_add(&kind->nodes, node->host, "");
}

static void print_kinds(const struct after_step *a, struct nuioa_text_table *table, FILE *out)
{
    struct kind *kinds = calloc(KINDS_MAX, sizeof(*kinds));
    uint32_t count = 0, more = 0;
    char names[64], line[200];
    for (uint32_t i = 0, k; kinds && i < a->count; i++) {
        if (!a->nodes[i].counters)
            continue;
        for (k = 0; k < count; k++)
            if (are_alike(kinds[k].least->counters, a->nodes[i].counters))
                break;
        if (k < KINDS_MAX)
            add_to_kind(&kinds[k], &a->nodes[i]);
        more += k == KINDS_MAX;
        count += k == count && k < KINDS_MAX;
    }
    for (uint32_t k = 0; k < count; k++) {
        add_node(table, kinds[k].least);
        if (kinds[k].most != kinds[k].least)
            add_node(table, kinds[k].most);
    }
    nuioa_text_table_print(table, out, 2);
    for (uint32_t k = 0; k < count; k++) {
        const struct host_group *nodes = &kinds[k].nodes.texts[0];
        if (nodes->count > 2) {
            snprintf(line, sizeof(line),
                     "%s (%u nodes): the ones that carried least and most are shown",
                     host_groups_names(nodes, names, sizeof(names)), nodes->count);
            nuioa_text_table_wrap(out, 2, line);
        }
        host_groups_free(&kinds[k].nodes);
    }
    if (more)
        fprintf(out, "  and %u more nodes of other kinds\n", more);
    free(kinds);
}

static void print_table(const struct after_step *a, FILE *out)
{
    static const char *const heads[] = { "node",  "NIC",     "received", "sent",
                                         "share", "planned", "busy" };
    struct nuioa_text_table table;
    uint32_t lines = 0;
    nuioa_text_table_init(&table, "llrrrrr");
    for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        nuioa_text_table_add(&table, "%s", heads[i]);
    for (uint32_t i = 0; i < a->count; i++)
        lines += a->nodes[i].counters ? a->nodes[i].counters->head.nic_count : 0;
    if (lines > LINES_MAX) {
        print_kinds(a, &table, out);
        return;
    }
    for (uint32_t i = 0; i < a->count; i++)
        if (a->nodes[i].counters)
            add_node(&table, &a->nodes[i]);
    nuioa_text_table_print(&table, out, 2);
}

/* --- what is not known --- */

static const char *const why_unknown[WIRE_UNKNOWNS] = {
    [WIRE_NO_SOURCE] = "its driver has no counters of what it carries",
    [WIRE_LATE] = "its counters could not be read in time",
    [WIRE_GONE] = "its counters could not be read any more at the end",
    [WIRE_FELL] = "its counters fell during the step: somebody has reset them",
};

static void add_unknown(struct host_groups *groups, const struct after_node *node)
{
    const struct counters *c = node->counters;
    char text[256];
    if (!c) {
        if (*node->host)
            host_groups_add(groups, node->host,
                            "not known: the node, its slurmstepd or the connection did not live to "
                            "tell");
        return;
    }
    if (c->head.others)
        host_groups_add(groups, node->host,
                        "of all jobs: this step is perhaps not alone on the node");
    for (uint32_t i = 0; i < c->head.nic_count; i++)
        if (c->nics[i].unknown) {
            snprintf(text, sizeof(text), "%s: not known: %s", c->nics[i].label,
                     why_unknown[c->nics[i].unknown]);
            host_groups_add(groups, node->host, text);
        }
}

static void print_unknown(const struct after_step *a, FILE *out)
{
    struct host_groups groups = { 0 };
    char names[64], line[400];
    for (uint32_t i = 0; i < a->count; i++)
        add_unknown(&groups, &a->nodes[i]);
    for (uint32_t i = 0; i < groups.count; i++) {
        host_groups_names(&groups.texts[i], names, sizeof(names));
        snprintf(line, sizeof(line), "%s: %s", names, groups.texts[i].text);
        nuioa_text_table_wrap(out, 2, line);
    }
    if (groups.omitted)
        fprintf(out, "  and %u more\n", groups.omitted);
    host_groups_free(&groups);
}

/* --- the sentences --- */

/* Returns the variables that choose NICs of this kind (nuioa(7)). */
static const char *variables_of(const struct wire_counter *nic)
{
    switch (nic->kind) {
    case NUIOA_NIC_EFA: return "FI_EFA_IFACE";
    case NUIOA_NIC_SLINGSHOT: return "MPICH_OFI_NIC_POLICY or FI_CXI_DEVICE_NAME";
    case NUIOA_NIC_OMNIPATH: return "FI_OPX_HFI_SELECT or HFI_UNIT";
    case NUIOA_NIC_ROCE:
    case NUIOA_NIC_INFINIBAND: return "UCX_NET_DEVICES or NCCL_IB_HCA";
    default: return "UCX_NET_DEVICES, FI_TCP_IFACE or NCCL_SOCKET_IFNAME";
    }
}

static void print_idle(const struct after_step *a, FILE *out)
{
    struct host_groups groups = { 0 };
    char names[64], text[256], line[400];
    uint32_t most = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct counters *c = a->nodes[i].counters;
        const struct wire_counter *idle = c ? counters_idle(c) : NULL;
        if (!idle)
            continue;
        snprintf(text, sizeof(text),
                 "%s carried less than a fifth of what was planned for it: the program, or its "
                 "library, chose others, which %s would change",
                 idle->label, variables_of(idle));
        host_groups_add(&groups, a->nodes[i].host, text);
    }
    for (uint32_t i = 1; i < groups.count; i++)
        most = groups.texts[i].count > groups.texts[most].count ? i : most;
    if (groups.count) {
        host_groups_names(&groups.texts[most], names, sizeof(names));
        snprintf(line, sizeof(line), "%s: %s", names, groups.texts[most].text);
        nuioa_text_table_wrap(out, 0, line);
    }
    host_groups_free(&groups);
}

/* Below this a bound is worth telling. */
#define SMALL_PART 0.02

static void print_saving(const struct after_step *a, FILE *out)
{
    double most = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!*a->nodes[i].host)
            continue;
        double saving = a->nodes[i].counters ? counters_saving(a->nodes[i].counters) : -1;
        most = most < 0 || saving < 0 ? -1 : fmax(most, saving);
    }
    if (most < 0 || most >= SMALL_PART)
        fputs("whether nearer ranks would save time, only runs can tell: nuioa compare -- srun "
              "...\n",
              out);
    else
        fprintf(out, "nearer ranks can save at most %.1f %% of this step\n",
                fmax(ceil(most * 1000) / 10, 0.1));
}

static bool is_shared(const struct after_step *a)
{
    for (uint32_t i = 0; i < a->count; i++)
        if (a->nodes[i].counters && a->nodes[i].counters->head.others)
            return true;
    return false;
}

char *after_step_text(const struct after_step *a)
{
    char *text = NULL;
    size_t size;
    uint32_t time_ms = 0;
    FILE *out = after_step_is_expected(a) ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->nodes[i].counters && a->nodes[i].counters->head.time_ms > time_ms)
            time_ms = a->nodes[i].counters->head.time_ms;
    fprintf(out, "nuioa: what the NICs carried in %.1f s, with file systems and all else\n",
            time_ms / 1e3);
    print_table(a, out);
    print_unknown(a, out);
    if (!is_shared(a)) {
        print_idle(a, out);
        print_saving(a, out);
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
