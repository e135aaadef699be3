/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the measurement, for people and for programs. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/probe/probe.h"
#include "tools/probe/print.h"
#include "topology/numa_distance.h"

static size_t at(const struct probe *p, uint32_t i, uint32_t j)
{
    return (size_t)i * p->count + j;
}

static bool is_link(const struct probe *p, uint32_t i, uint32_t j)
{
    return p->graph.hops[at(p, i, j)] == 1 && !(p->graph.alike_ns[at(p, i, j)] > 0);
}

/* Returns true if `i` and `j` are the first rows of two groups whose pairs are all alike. */
static bool are_alike(const struct probe *p, uint32_t i, uint32_t j)
{
    return p->graph.group[i] == i && p->graph.group[j] == j && p->graph.alike_ns[at(p, i, j)] > 0;
}

static bool is_any_alike(const struct probe *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (are_alike(p, i, j))
                return true;
    return false;
}

/* --- text ------------------------------------------------------------------------------------- */

/* No screen has 512 columns, but a pager shows them. */
static void print_matrix(const struct probe *p)
{
    printf("\n        ");
    for (uint32_t j = 0; j < p->count; j++)
        printf("%6u ", p->numa[j]);
    printf("  memory of NUMA node\n");
    for (uint32_t i = 0; i < p->count; i++) {
        printf("  %6u", p->numa[i]);
        for (uint32_t j = 0; j < p->count; j++)
            printf("%6.*f%c", p->latency.local_ns > 0 ? 1 : 0, nuioa_latency_at(&p->latency, i, j),
                   is_link(p, i, j) ? '*' : ' ');
        putchar('\n');
    }
}

static void print_links(const struct probe *p)
{
    const struct nuioa_link_graph *graph = &p->graph;
    printf("\nlinks (*): %u entries of the matrix are minimal, which makes %u links\n ",
           2 * graph->link_count, graph->link_count);
    int column = 1;
    for (uint32_t k = 0; k < graph->link_count; k++) {
        char text[32];
        int length = snprintf(text, sizeof(text), " %u-%u", p->numa[graph->links[k].a],
                              p->numa[graph->links[k].b]);
        if (column + length > 96)
            column = printf("\n ") - 1;
        column += length;
        printf("%s", text);
    }
    printf("\none link: %.1f ns%s\n", graph->quantum_ns,
           graph->grouped ? " inside of a group of NUMA nodes, more between groups" : "");
}

static void print_group(const struct probe *p, uint32_t group)
{
    for (uint32_t i = group; i < p->count; i++)
        if (p->graph.group[i] == group)
            printf("%s%u", i == group ? "" : ",", p->numa[i]);
}

static void print_alike(const struct probe *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = i + 1; j < p->count; j++) {
            if (!are_alike(p, i, j))
                continue;
            printf("between ");
            print_group(p, i);
            printf(" and ");
            print_group(p, j);
            printf(" all alike, %.1f ns: which of them have a link cannot be told\n",
                   p->graph.alike_ns[at(p, i, j)]);
        }
}

static void print_routes(const struct probe *p)
{
    const struct nuioa_link_graph *graph = &p->graph;
    bool said = false;
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = i + 1; j < p->count; j++) {
            uint32_t there = graph->routed[at(p, i, j)], back = graph->routed[at(p, j, i)];
            if (there == back)
                continue;
            if (!said)
                printf("routes that differ by direction, in links:\n");
            said = true;
            printf("  %u->%u %u, %u->%u %u\n", p->numa[i], p->numa[j], there, p->numa[j],
                   p->numa[i], back);
        }
}

static void print_ports(const struct probe *p)
{
    bool any = false;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t degree = nuioa_link_graph_degree(&p->graph, i);
        if (degree > p->links_per_node)
            printf("NUMA node %u has %u links, more than --links-per-node %u\n", p->numa[i], degree,
                   p->links_per_node);
    }
    if (is_any_alike(p)) {
        puts("free ports: not known, since not all links are");
        return;
    }
    printf("free ports, with %u links a node:", p->links_per_node);
    for (uint32_t i = 0; i < p->count; i++)
        if (nuioa_link_graph_degree(&p->graph, i) < p->links_per_node)
            any = printf(" %u", p->numa[i]) > 0;
    puts(any ? ": I/O may be there" : " none");
}

void probe_print_cost(const struct probe_cost *cost)
{
    bool known = !isnan(cost->hop);
    printf("for plugstack.conf: remote_cost=%.2f", cost->remote);
    if (known)
        printf(" hop_cost=%.2f", cost->hop);
    printf("%s\n", known ? "" : " (hop_cost needs a figure from two levels away)");
}

/* --- the firmware ----------------------------------------------------------------------------- */

struct check {
    unsigned merged, inverted, one_way;          /* pairs */
    unsigned firmware_classes, measured_classes; /* the most of any row */
};

static struct check compare(const struct probe *p)
{
    const struct nuioa_distance *f = &p->node.distance, *m = &p->measured;
    struct check check = { 0 };
    for (uint32_t i = 0; i < m->count; i++)
        for (uint32_t j = 0; j < m->count; j++) {
            unsigned fj = nuioa_level_at(f, i, j), mj = nuioa_level_at(m, i, j);
            check.firmware_classes = fj > check.firmware_classes ? fj : check.firmware_classes;
            check.measured_classes = mj > check.measured_classes ? mj : check.measured_classes;
            for (uint32_t k = j + 1; k < m->count && j != i; k++) {
                unsigned fk = nuioa_level_at(f, i, k), mk = nuioa_level_at(m, i, k);
                check.merged += k != i && fj == fk && mj != mk;
                check.inverted += k != i && ((fj < fk && mj > mk) || (fj > fk && mj < mk));
            }
            check.one_way += j > i && nuioa_distance_at(f, i, j) == nuioa_distance_at(f, j, i) &&
                             nuioa_distance_at(m, i, j) != nuioa_distance_at(m, j, i);
        }
    return check;
}

/* Prints in what node.distance (the firmware's table or, without one, the machine's structure)
 * differs from the measurement. */
static void print_check(const struct probe *p)
{
    const struct check c = compare(p);
    bool slit = p->node.distance.source == NUIOA_DISTANCE_SLIT;
    const char *source = slit ? "the firmware (SLIT)" : "the machine's structure";
    if (p->node.numa_count == 1) {
        printf("check: one NUMA node, nothing to compare\n");
        return;
    }
    if (!slit)
        printf("check: the firmware gives no usable distances (SLIT)\n");
    printf("check: %s has %u remote distance%s, %u were measured\n", source, c.firmware_classes,
           c.firmware_classes == 1 ? "" : "s", c.measured_classes);
    if (c.merged)
        printf("check: hidden: in %u cases two NUMA nodes are listed as equally far, but are not\n",
               c.merged);
    if (c.inverted)
        printf("check: wrong: in %u cases the farther of two NUMA nodes is listed as the nearer\n",
               c.inverted);
    if (c.one_way)
        printf("check: hidden: %u pairs are not as far in one direction as in the other\n",
               c.one_way);
    if (!c.merged && !c.inverted && !c.one_way)
        printf("check: %s is right: a site file would change nothing\n", source);
    else
        printf("check: to use the measured distances, add --out FILE, and set distances=FILE in "
               "plugstack.conf\n");
}

/* --- all of it -------------------------------------------------------------------------------- */

void probe_print(const struct probe *p)
{
    printf("%s: %u NUMA node%s", p->matrix ? p->matrix : p->node.host, p->count,
           p->count == 1 ? "" : "s");
    if (p->latency.local_ns > 0)
        printf(", a load from local memory takes %.1f ns", p->latency.local_ns);
    if (p->latency.noise_ns > 0)
        printf(", +- %.1f ns", p->latency.noise_ns);
    putchar('\n');
    if (p->count > 1) {
        printf("\nmore than a load from local memory, ns, by the NUMA node of the core\n");
        print_matrix(p);
    }
    if (p->graph.accepted && p->count > 1) {
        print_links(p);
        print_alike(p);
        print_routes(p);
        if (p->links_per_node)
            print_ports(p);
    }
    if (!isnan(p->cost.remote))
        probe_print_cost(&p->cost);
    if (p->check && p->graph.accepted)
        print_check(p);
    if (p->out && p->graph.accepted)
        printf("written: %s, for distances=%s in plugstack.conf\n", p->out, p->out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

/* Rounds to tenths, because further digits mean nothing. */
static json_t *tenth(double value)
{
    double rounded = round(value * 10) / 10;
    return rounded == round(rounded) ? json_integer((json_int_t)rounded) : json_real(rounded);
}

/* Returns the matrix of latencies, or of `hops`, which has their form. */
static json_t *square(const struct probe *p, const uint32_t *hops)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < p->count; i++) {
        json_t *row = json_array();
        for (uint32_t j = 0; j < p->count; j++)
            row = tool_json_add(row, hops ? json_integer(hops[at(p, i, j)])
                                          : tenth(nuioa_latency_at(&p->latency, i, j)));
        rows = tool_json_add(rows, row);
    }
    return rows;
}

static json_t *links(const struct probe *p)
{
    json_t *list = json_array();
    for (uint32_t k = 0; k < p->graph.link_count; k++)
        list = tool_json_add(list, json_pack("[ii]", (int)p->numa[p->graph.links[k].a],
                                             (int)p->numa[p->graph.links[k].b]));
    return list;
}

static json_t *group_of(const struct probe *p, uint32_t group)
{
    json_t *list = json_array();
    for (uint32_t i = group; i < p->count; i++)
        if (p->graph.group[i] == group)
            list = tool_json_add(list, json_integer(p->numa[i]));
    return list;
}

static json_t *alike(const struct probe *p)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t j = i + 1; j < p->count; j++)
            if (are_alike(p, i, j))
                list = tool_json_add(list, json_pack("[oo]", group_of(p, i), group_of(p, j)));
    return list;
}

static json_t *free_ports(const struct probe *p)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < p->count; i++)
        if (nuioa_link_graph_degree(&p->graph, i) < p->links_per_node)
            list = tool_json_add(list, json_integer(p->numa[i]));
    return list;
}

static json_t *tenth_if(bool known, double value)
{
    return known ? tenth(value) : json_null();
}

static json_t *graph_of(const struct probe *p)
{
    bool known = p->graph.accepted, ports = known && p->links_per_node && !is_any_alike(p);
    json_t *numa = json_array();
    for (uint32_t i = 0; i < p->count; i++)
        numa = tool_json_add(numa, json_integer(p->numa[i]));
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}", "nuioa", 1, "numa",
        numa, "local_ns", tenth_if(p->latency.local_ns > 0, p->latency.local_ns), "noise_ns",
        tenth_if(p->latency.noise_ns > 0, p->latency.noise_ns), "latency_ns", square(p, NULL),
        "quantum_ns", tenth_if(known && p->count > 1, p->graph.quantum_ns), "links",
        known ? links(p) : json_null(), "alike", known ? alike(p) : json_null(), "hops",
        known ? square(p, p->graph.hops) : json_null(), "routed",
        known ? square(p, p->graph.routed) : json_null(), "free_ports",
        ports ? free_ports(p) : json_null(), "accepted", known, "reason", p->graph.reason);
}

static json_t *hundredth(double value)
{
    return isnan(value) ? json_null() : json_real(round(value * 100) / 100);
}

json_t *probe_json(const struct probe *p)
{
    json_t *object = p->count ? graph_of(p) : json_pack("{si}", "nuioa", 1);
    const struct check c = compare(p);
    if (p->check && p->graph.accepted)
        json_object_set_new(object, "check",
                            json_pack("{si si si si si}", "firmware_distances",
                                      (int)c.firmware_classes, "measured_distances",
                                      (int)c.measured_classes, "merged", (int)c.merged, "inverted",
                                      (int)c.inverted, "one_way", (int)c.one_way));
    if (!isnan(p->cost.remote)) {
        json_object_set_new(object, "remote_cost", hundredth(p->cost.remote));
        json_object_set_new(object, "hop_cost", hundredth(p->cost.hop));
    }
    return object;
}
