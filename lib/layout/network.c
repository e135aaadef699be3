/* SPDX-License-Identifier: BSD-3-Clause */
#include "layout/network.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/word.h"

#define NONE UINT32_MAX

/* A line of the text: a switch or a block. */
struct element {
    const char *name, *nodes, *below; /* point into the copy of the text; "" if absent */
    bool block;
    uint32_t size;   /* BlockSize; 0 for the blocks of the lowest level */
    uint32_t parent; /* the switch above, or NONE */
    uint32_t height; /* levels of switches below */
};

struct named {
    const char *name;
    uint32_t index;
};

struct parser {
    char *copy; /* of the text, cut into words */
    struct element *elements;
    uint32_t count, room;
    struct named *switches; /* [count], sorted */
    struct named *nodes;    /* [node_count], sorted */
    uint32_t *lowest;       /* [node_count]: the leaf switch or block of each node, or NONE */
    const struct nuioa_host_list *job;
    struct nuioa_error *err;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static uint32_t find(const struct named *list, uint32_t count, const char *name)
{
    struct named wanted = { name, 0 };
    const struct named *hit =
        count ? bsearch(&wanted, list, count, sizeof(wanted), compare_names) : NULL;
    return hit ? hit->index : NONE;
}

static int no_memory(const struct parser *p)
{
    return nuioa_fail(p->err, -ENOMEM, "out of memory");
}

/* --- lines ----------------------------------------------------------------------------------- */

/* Returns the value if `word` is "KEY=value", else NULL. */
static char *value_of(char *word, const char *key)
{
    size_t length = strlen(key);
    return !strncasecmp(word, key, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static void take_word(struct element *e, char *word)
{
    char *value;
    if ((value = value_of(word, "SwitchName")))
        e->name = value;
    else if ((value = value_of(word, "BlockName")) || (value = value_of(word, "AggregatedBlock")))
        e->block = (e->name = value) != NULL;
    else if ((value = value_of(word, "Nodes")))
        e->nodes = value;
    else if ((value = value_of(word, "Switches")))
        e->below = strcmp(value, "(null)") ? value : "";
    else if ((value = value_of(word, "BlockSize")))
        nuioa_parse_u32(value, UINT32_MAX - 1, &e->size);
}

/* Only blocks of blocks have a size that counts: those of the lowest level are together. */
static int take_line(struct parser *p, char *line)
{
    struct element e = { .name = "", .nodes = "", .below = "", .parent = NONE };
    line[strcspn(line, "#")] = '\0';
    bool lowest = !strstr(line, "AggregatedBlock=");
    for (char *word; (word = nuioa_next_word(&line, " \t\r"));)
        take_word(&e, word);
    if (!*e.name)
        return 0;
    if (lowest)
        e.size = 0;
    if (p->count == p->room) {
        uint32_t room = p->room ? 2 * p->room : 16;
        struct element *more = realloc(p->elements, room * sizeof(*more));
        if (!more)
            return no_memory(p);
        p->elements = more;
        p->room = room;
    }
    p->elements[p->count++] = e;
    return 0;
}

static int read_lines(struct parser *p)
{
    char *rest = p->copy, *line;
    int rc = 0;
    while (!rc && (line = nuioa_next_word(&rest, "\n")))
        rc = take_line(p, line);
    for (uint32_t i = 1; i < p->count && !rc; i++)
        if (p->elements[i].block != p->elements[0].block)
            rc = nuioa_fail(p->err, -EINVAL, "both switches and blocks: give one of them");
    return rc;
}

/* --- switches -------------------------------------------------------------------------------- */

static int name_switches(struct parser *p)
{
    p->switches = malloc(p->count * sizeof(*p->switches));
    if (!p->switches)
        return no_memory(p);
    for (uint32_t i = 0; i < p->count; i++)
        p->switches[i] = (struct named){ p->elements[i].name, i };
    qsort(p->switches, p->count, sizeof(*p->switches), compare_names);
    for (uint32_t i = 1; i < p->count; i++)
        if (!compare_names(&p->switches[i - 1], &p->switches[i]))
            return nuioa_fail(p->err, -EINVAL, "switch %.60s is listed twice", p->switches[i].name);
    return 0;
}

static int join_switches(struct parser *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct nuioa_host_list below;
        int rc = 0;
        if (!*p->elements[i].below)
            continue;
        if ((rc = nuioa_host_list_parse(p->elements[i].below, &below, p->err)))
            return rc;
        for (uint32_t k = 0; k < below.count && !rc; k++) {
            uint32_t child = find(p->switches, p->count, below.names[k]);
            if (child == NONE)
                rc = nuioa_fail(p->err, -EINVAL, "switch %s, below %.60s, is not there",
                                below.names[k], p->elements[i].name);
            else if (p->elements[child].parent != NONE && p->elements[child].parent != i)
                rc = nuioa_fail(p->err, -EINVAL, "switch %s is below two others", below.names[k]);
            else
                p->elements[child].parent = i;
        }
        nuioa_host_list_free(&below);
        if (rc)
            return rc;
    }
    return 0;
}

/* A switch is one level above the highest one below it. */
static int find_heights(struct parser *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t height = 0;
        for (uint32_t s = i; s != NONE; s = p->elements[s].parent, height++) {
            if (height == NUIOA_NETWORK_LEVELS_MAX)
                return nuioa_fail(p->err, -EINVAL,
                                  "switch %.60s is below itself, or below more than %d others",
                                  p->elements[i].name, NUIOA_NETWORK_LEVELS_MAX);
            if (p->elements[s].height < height)
                p->elements[s].height = height;
        }
    }
    return 0;
}

/* --- nodes ----------------------------------------------------------------------------------- */

/* Sets group[] to `index` for the nodes of the job that the element lists, unless it is set. */
static int list_nodes(struct parser *p, uint32_t index, uint32_t *group)
{
    struct nuioa_host_list list;
    const char *nodes = p->elements[index].nodes;
    if (!*nodes || !strcmp(nodes, "(null)"))
        return 0;
    int rc = nuioa_host_list_parse(nodes, &list, p->err);
    for (uint32_t k = 0; !rc && k < list.count; k++) {
        uint32_t node = find(p->nodes, p->job->count, list.names[k]);
        if (node != NONE && group[node] == NONE)
            group[node] = index;
    }
    nuioa_host_list_free(&list);
    return rc;
}

static int find_lowest(struct parser *p)
{
    int rc = 0;
    p->nodes = malloc((p->job->count + 1) * sizeof(*p->nodes));
    p->lowest = malloc((p->job->count + 1) * sizeof(*p->lowest));
    if (!p->nodes || !p->lowest)
        return no_memory(p);
    for (uint32_t k = 0; k < p->job->count; k++) {
        p->nodes[k] = (struct named){ p->job->names[k], k };
        p->lowest[k] = NONE;
    }
    if (p->job->count)
        qsort(p->nodes, p->job->count, sizeof(*p->nodes), compare_names);
    /* A switch of switches has the nodes of those below it. */
    for (uint32_t i = 0; i < p->count && !rc; i++)
        if (!*p->elements[i].below && !p->elements[i].size)
            rc = list_nodes(p, i, p->lowest);
    for (uint32_t k = 0; k < p->job->count && !rc; k++)
        if (p->lowest[k] == NONE)
            rc = nuioa_fail(p->err, -EINVAL, "node %s is below no switch and in no block",
                            p->job->names[k]);
    return rc;
}

/* --- levels ---------------------------------------------------------------------------------- */

static bool are_together(const struct nuioa_network *n, uint32_t level)
{
    const uint32_t *group = n->group + (size_t)level * n->node_count;
    for (uint32_t k = 1; k < n->node_count; k++)
        if (group[k] != group[0])
            return false;
    return true;
}

/* The group of a node on a level is the highest switch above it that is not above the level. */
static void fill_tree(const struct parser *p, struct nuioa_network *n)
{
    for (uint32_t level = 0; level < n->level_count; level++)
        for (uint32_t k = 0; k < n->node_count; k++) {
            uint32_t s = level ? n->group[(level - 1) * n->node_count + k] : p->lowest[k];
            uint32_t above = p->elements[s].parent;
            bool rises = level && above != NONE && p->elements[above].height <= level;
            n->group[level * n->node_count + k] = rises ? above : s;
        }
}

/* Returns the least size above `size`, or 0. */
static uint32_t next_size(const struct parser *p, uint32_t size)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->elements[i].size > size && (!next || p->elements[i].size < next))
            next = p->elements[i].size;
    return next;
}

/* Each size of blocks is a level. A node that is in no block of that size stays in its own. */
static int fill_blocks(struct parser *p, struct nuioa_network *n)
{
    uint32_t size = 0;
    int rc = 0;
    memcpy(n->group, p->lowest, n->node_count * sizeof(*n->group));
    for (uint32_t level = 1; level < n->level_count && !rc; level++) {
        uint32_t *group = n->group + (size_t)level * n->node_count;
        size = next_size(p, size);
        memset(group, 0xff, n->node_count * sizeof(*group));
        for (uint32_t i = 0; i < p->count && !rc; i++)
            if (p->elements[i].size == size)
                rc = list_nodes(p, i, group);
        for (uint32_t k = 0; k < n->node_count; k++)
            if (group[k] == NONE)
                group[k] = group[(ptrdiff_t)k - n->node_count];
    }
    return rc;
}

static int make_levels(struct parser *p, struct nuioa_network *n)
{
    bool blocks = p->elements[0].block;
    n->node_count = p->job->count;
    n->level_count = 1;
    for (uint32_t i = 0; i < p->count && !blocks; i++)
        if (p->elements[i].height >= n->level_count)
            n->level_count = p->elements[i].height + 1;
    for (uint32_t size = next_size(p, 0); blocks && size; size = next_size(p, size))
        if (++n->level_count > NUIOA_NETWORK_LEVELS_MAX)
            return nuioa_fail(p->err, -EINVAL, "more than %d block sizes",
                              NUIOA_NETWORK_LEVELS_MAX);
    n->group = malloc(((size_t)n->level_count * n->node_count + 1) * sizeof(*n->group));
    if (!n->group)
        return no_memory(p);
    int rc = 0;
    if (blocks)
        rc = fill_blocks(p, n);
    else
        fill_tree(p, n);
    while (!rc && n->level_count > 1 && are_together(n, n->level_count - 1))
        n->level_count--;
    return rc;
}

int nuioa_network_parse(const char *text, const struct nuioa_host_list *nodes,
                        struct nuioa_network *network, struct nuioa_error *err)
{
    struct parser p = { .copy = strdup(text), .job = nodes, .err = err };
    *network = (struct nuioa_network){ .node_count = nodes->count };
    int rc = p.copy ? read_lines(&p) : no_memory(&p);
    if (!rc && p.count && !p.elements[0].block) {
        rc = name_switches(&p);
        rc = rc ? rc : join_switches(&p);
        rc = rc ? rc : find_heights(&p);
    }
    if (!rc && p.count)
        rc = find_lowest(&p);
    if (!rc && p.count)
        rc = make_levels(&p, network);
    if (rc)
        nuioa_network_free(network);
    free(p.lowest);
    free(p.nodes);
    free(p.switches);
    free(p.elements);
    free(p.copy);
    return rc;
}

void nuioa_network_free(struct nuioa_network *n)
{
    free(n->group);
    *n = (struct nuioa_network){ 0 };
}

uint32_t nuioa_network_distance(const struct nuioa_network *n, uint32_t a, uint32_t b)
{
    uint32_t cost = a != b;
    for (uint32_t level = 0; a != b && level < n->level_count; level++)
        cost += n->group[(size_t)level * n->node_count + a] !=
                n->group[(size_t)level * n->node_count + b];
    return cost;
}
