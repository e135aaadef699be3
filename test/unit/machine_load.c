/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"
#include "machine.h"
#include "topology/node_load.h"
#include "unit.h"

static void free_node(void *node)
{
    nuioa_node_free(node);
    free(node);
}

struct nuioa_node *machine_new(void)
{
    struct nuioa_node *node = calloc(1, sizeof(*node));
    assert_non_null(node);
    unit_later(free_node, node);
    return node;
}

struct nuioa_node *machine_load(const char *name, const char *distances)
{
    char file[128];
    snprintf(file, sizeof(file), "../topologies/%s.xml", name);
    const struct nuioa_source source = { *name == '/' ? name : file_of_sources(file), distances };
    struct nuioa_node *node = machine_new();
    struct nuioa_error err = { "" };
    if (nuioa_node_load(node, &source, &err))
        fail_msg("%s", err.text);
    return node;
}
