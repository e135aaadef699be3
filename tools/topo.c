/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "tools/json.h"
#include "tools/tool.h"
#include "tools/commands.h"
#include "output/report.h"
#include "output/report_node.h"
#include "topology/nic_role.h"

static const char usage[] =
    "usage: nuioa topo [--topology FILE.xml|DIR] [--distances FILE] [--nic-role LIST] [--json]\n"
    "\n"
    "nuioa topo prints what this node is: its NUMA nodes, NICs, GPUs and distances, and the\n"
    "source of each fact.\n"
    "\n"
    "  --topology FILE.xml|DIR   another machine: an hwloc XML file, or an extracted sysfs dump\n"
    "  --distances FILE          distances that the site measured, instead of the firmware's\n"
    "  --nic-role LIST           what NICs are for: PATTERN:ROLE,..., such as mlx5_8:storage\n"
    "  --json                    print JSON, for programs\n";

int tool_topo(int argc, char **argv)
{
    struct nuioa_source source = { NULL, NULL };
    const char *roles = NULL;
    bool json = false;
    struct tool_option options[] = {
        { "topology", .file = &source.topology },
        { "distances", .file = &source.distances },
        { "nic-role", .text = &roles },
        { "json", .flag = &json },
        { "help", .usage = usage },
        { .name = NULL },
    };
    int rc = tool_args_read(argc, argv, options, NULL, NULL);
    if (rc)
        return rc;

    struct nuioa_node node;
    struct nuioa_error err = { "" };
    if (roles && strcmp(roles, "none") != 0 && nuioa_nic_roles_check(roles, &err))
        return tool_usage("topo", "--nic-role: %s", err.text);
    if (nuioa_node_load(&node, &source, &err))
        return tool_fail("%s", err.text);
    if (roles)
        nuioa_nic_roles_set(&node, roles);
    const char *unused = node.refusals ? nuioa_node_distances_unused(&node) : NULL;
    int status = unused ? tool_fail("%s", unused)
                 : json ? tool_json_topo(&node)
                        : tool_print(nuioa_report_node(&node));
    nuioa_node_free(&node);
    return status;
}
