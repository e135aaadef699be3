/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_node.h"

#include <stdlib.h>
#include <string.h>

#include "output/report_table.h"
#include "topology/nic_guess.h"
#include "topology/pci_path.h"
#include "util/text.h"

/* The largest matrix that is readable in 100 columns, in NUMA nodes. */
#define MATRIX_MAX 16

/* So many NICs of short names have a column each in a line of 100 columns. */
#define PATHS_MAX 8

static void print_memory(char *text, size_t size, uint64_t bytes)
{
    double mib = (double)bytes / (1 << 20);
    if (!bytes)
        nuioa_copy(text, size, "-");
    else if (mib < 10240)
        snprintf(text, size, "%.0f MiB", mib);
    else
        snprintf(text, size, "%.0f GiB", mib / 1024);
}

/* Adds a cell with a set: "0-3", or "-" if it is empty. */
static void add_set(struct nuioa_text_table *table, hwloc_const_bitmap_t set)
{
    char text[NUIOA_TEXT_TABLE_CELL];
    nuioa_text_table_add(
        table, "%s", hwloc_bitmap_iszero(set) ? "-" : nuioa_report_set(set, text, sizeof(text)));
}

static void print_numas(const struct nuioa_node *node, FILE *out)
{
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "rrllr");
    nuioa_text_table_add_words(&table, "NUMA|package|CPUs|allowed CPUs|memory");
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    table.lost = table.lost || !allowed;
    for (uint32_t i = 0; allowed && i < node->numa_count; i++) {
        const struct nuioa_numa *numa = &node->numas[i];
        char memory[24];
        print_memory(memory, sizeof(memory), numa->memory_bytes);
        hwloc_bitmap_and(allowed, numa->cpus, node->allowed_cpus);
        nuioa_text_table_add(&table, "%u", numa->os_index);
        nuioa_text_table_add(&table, numa->package < 0 ? "-" : "%d", numa->package);
        add_set(&table, numa->cpus);
        if (hwloc_bitmap_isequal(allowed, numa->cpus))
            nuioa_text_table_add(&table, "all");
        else
            add_set(&table, allowed);
        nuioa_text_table_add(
            &table, "%s%s", memory,
            hwloc_bitmap_isset(node->allowed_numas, numa->os_index) ? "" : " not allowed");
    }
    hwloc_bitmap_free(allowed);
    nuioa_text_table_print(&table, out, 2);
}

static const char *source_text(enum nuioa_distance_source source)
{
    static const char *const texts[] = {
        [NUIOA_DISTANCE_NONE] = "none",
        [NUIOA_DISTANCE_SITE] = "measured, from the site's distance file",
        [NUIOA_DISTANCE_SLIT] = "from the firmware's table (SLIT)",
        [NUIOA_DISTANCE_STRUCTURE] = "guessed from packages and groups: no useful SLIT",
    };
    return texts[source];
}

static void print_distance(const struct nuioa_node *node, FILE *out)
{
    const struct nuioa_distance *d = &node->distance;
    if (node->numa_count < 2 || d->count != node->numa_count)
        return;
    fprintf(out, "\nDistance between NUMA nodes, %s\n", source_text(d->source));
    if (d->count > MATRIX_MAX) {
        fprintf(out, "  %u x %u: see nuioa topo --json\n", d->count, d->count);
        return;
    }
    char align[MATRIX_MAX + 2] = "";
    memset(align, 'r', d->count + 1);
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, align);
    nuioa_text_table_add(&table, "from\\to");
    for (uint32_t j = 0; j < d->count; j++)
        nuioa_text_table_add(&table, "%u", node->numas[j].os_index);
    for (uint32_t i = 0; i < d->count; i++) {
        nuioa_text_table_add(&table, "%u", node->numas[i].os_index);
        for (uint32_t j = 0; j < d->count; j++)
            nuioa_text_table_add(&table, "%u", nuioa_distance_at(d, i, j));
    }
    nuioa_text_table_print(&table, out, 2);
}

static void add_nic(struct nuioa_text_table *table, const struct nuioa_nic *nic)
{
    char label[64];
    nuioa_text_table_add(table, "%s", nuioa_nic_label(nic, label, sizeof(label)));
    nuioa_text_table_add(table, "%s", strcmp(nic->netdev, nic->name) ? nic->netdev : "");
    nuioa_text_table_add(table, "%s%s", nuioa_nic_kind_name(nic->kind),
                         nic->is_function ? " vf" : "");
    nuioa_text_table_add(table, "%s", nic->pci);
    nuioa_text_table_add(table, "%s", nuioa_nic_state_name(nic->state));
    nuioa_text_table_add(table, "%s", nuioa_report_rate(nic->rate_mbps, label, sizeof(label)));
    add_set(table, nic->numas);
    nuioa_text_table_add(table, "%s", nuioa_locality_name(nic->locality));
    nuioa_text_table_add(table, "%s", nic->usable ? "yes" : "no");
    const char *role = nuioa_nic_role_name(nic->role);
    nuioa_text_table_add(table, "%s%s", role ? role : "",
                         nic->role_source == NUIOA_ROLE_BY_GUESS ? "?" : "");
}

/* Says who says what NICs are for; one line for each guess, because it may be wrong. */
static void print_roles(const struct nuioa_node *node, FILE *out)
{
    bool said = false, guessed = false;
    char label[64], line[200];
    for (uint32_t i = 0; i < node->nic_count; i++)
        said = said || node->nics[i].role_source == NUIOA_ROLE_BY_SITE;
    if (said)
        fputs("  Roles without a question mark are set by nic-role.\n", out);
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        if (!nic->doubts)
            continue;
        guessed = true;
        snprintf(line, sizeof(line), "%s is perhaps for %s: %s.",
                 nuioa_nic_label(nic, label, sizeof(label)), nuioa_nic_role_name(nic->role),
                 nuioa_nic_doubt_text(nic));
        nuioa_text_table_wrap(out, 2, line);
    }
    if (guessed)
        nuioa_text_table_wrap(out, 2,
                              "Such a guess orders NICs and takes none away; nic-role says what "
                              "they are for.");
}

/* Prints the NUMA nodes by level, such as "{5} {3,6,7} {1,2,4} {0}": the order in which heavy ranks
 * are placed. */
static void print_order(const struct nuioa_node *node, const struct nuioa_nic *nic, FILE *out)
{
    char line[1024], label[64], list[256];
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    struct nuioa_text t = nuioa_text_in(line, sizeof(line));
    nuioa_text_add(&t, "%s, nearest NUMA nodes first:", nuioa_nic_label(nic, label, sizeof(label)));
    for (unsigned level = 0; set && level <= UINT8_MAX; level++) {
        hwloc_bitmap_zero(set);
        for (uint32_t i = 0; i < node->numa_count; i++)
            if (nic->level[i] == level)
                hwloc_bitmap_set(set, node->numas[i].os_index);
        if (!hwloc_bitmap_iszero(set))
            nuioa_text_add(&t, " {%s}", nuioa_report_set(set, list, sizeof(list)));
    }
    if (set)
        nuioa_text_table_wrap(out, 2, line);
    hwloc_bitmap_free(set);
}

static void print_nics(const struct nuioa_node *node, FILE *out)
{
    if (!node->nic_count) {
        fprintf(out, "\nNo NIC found\n");
        return;
    }
    fprintf(out, "\n");
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "lllllrllll");
    nuioa_text_table_add_words(&table, "NIC|netdev|kind|PCI|state|rate|NUMA|known by|used|role");
    for (uint32_t i = 0; i < node->nic_count; i++)
        add_nic(&table, &node->nics[i]);
    nuioa_text_table_print(&table, out, 2);

    fprintf(out, "\n");
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        char label[64];
        if (!nic->usable)
            fprintf(out, "  %s not used: %s\n", nuioa_nic_label(nic, label, sizeof(label)),
                    nic->why);
        else if (!nic->level && !node->cut)
            fprintf(out, "  %s: NUMA locality unknown\n",
                    nuioa_nic_label(nic, label, sizeof(label)));
        else if (nic->level && node->numa_count > 1)
            print_order(node, nic, out);
    }
    print_roles(node, out);
}

/* Prints the GPUs, and their paths to the NICs that are not virtual. */
static void print_gpus(const struct nuioa_node *node, FILE *out)
{
    char align[PATHS_MAX + 5] = "llll", label[64];
    uint32_t shown[PATHS_MAX], count = 0;
    if (!node->gpu_count)
        return;
    for (uint32_t n = 0; n < node->nic_count && count < PATHS_MAX; n++)
        if (!node->nics[n].is_virtual)
            shown[count++] = n;
    memset(align + 4, 'l', count);
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, align);
    nuioa_text_table_add_words(&table, "GPU|vendor|PCI|NUMA");
    for (uint32_t n = 0; n < count; n++)
        nuioa_text_table_add(&table, "%s",
                             nuioa_nic_label(&node->nics[shown[n]], label, sizeof(label)));
    for (uint32_t g = 0; g < node->gpu_count; g++) {
        nuioa_text_table_add(&table, "%u", g);
        nuioa_text_table_add(&table, "%s", nuioa_gpu_vendor_name(node->gpus[g].vendor));
        nuioa_text_table_add(&table, "%s", node->gpus[g].pci);
        add_set(&table, node->gpus[g].numas);
        for (uint32_t n = 0; n < count; n++) {
            const char *path = nuioa_path_name(nuioa_path_at(node, g, shown[n]));
            nuioa_text_table_add(&table, "%s", path ? path : "?");
        }
    }
    fprintf(out, "\n");
    nuioa_text_table_print(&table, out, 2);
    if (count)
        nuioa_text_table_wrap(out, 2,
                              "Path from a GPU to a NIC: PIX one PCIe switch, PXB several, PHB one "
                              "host bridge, NODE one NUMA node, SYS between NUMA nodes.");
    if (count == PATHS_MAX)
        fprintf(out, "  All NICs: nuioa topo --json\n");
}

void report_facts(const struct nuioa_node *node, FILE *out)
{
    fputs("\nThe node (all of it: nuioa topo)\n", out);
    if (node->numa_count > 1)
        fprintf(out, "  distance between NUMA nodes: %s\n", source_text(node->distance.source));
    print_nics(node, out);
}

static void print_head(const struct nuioa_node *node, FILE *out)
{
    char gpus[32] = "", head[400];
    if (node->gpu_count)
        snprintf(gpus, sizeof(gpus), ", %u GPU%s", node->gpu_count,
                 nuioa_report_plural(node->gpu_count));
    snprintf(head, sizeof(head), "%s: %u package%s, %u NUMA node%s, %u core%s, %u CPU%s%s%s%s%s",
             *node->host ? node->host : "a node without a name", node->package_count,
             nuioa_report_plural(node->package_count), node->numa_count,
             nuioa_report_plural(node->numa_count), node->core_count,
             nuioa_report_plural(node->core_count), node->pu_count,
             nuioa_report_plural(node->pu_count), gpus, *node->model ? "; " : "", node->model,
             node->emulated ? " (read from a file)" : "");
    nuioa_text_table_wrap(out, 0, head);
}

void report_warnings(const struct nuioa_warnings *warnings, FILE *out)
{
    for (unsigned i = 0; i < warnings->count; i++) {
        char line[300];
        snprintf(line, sizeof(line), "warning: %s", warnings->text[i]);
        nuioa_text_table_wrap(out, 0, line);
    }
}

char *nuioa_report_node(const struct nuioa_node *node)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_head(node, out);
    fprintf(out, "\n");
    print_numas(node, out);
    print_distance(node, out);
    print_nics(node, out);
    print_gpus(node, out);
    if (node->warnings.count)
        fputc('\n', out);
    report_warnings(&node->warnings, out);
    return nuioa_text_close(out, &text);
}
