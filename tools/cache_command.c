/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/json.h"
#include "tools/tool.h"
#include "output/report.h"
#include "output/report_node.h"
#include "topology/cache.h"

static const char usage[] =
    "usage: nuioa cache [--out FILE] [--topology FILE.xml|DIR] [--distances FILE]\n"
    "       nuioa cache --show [--out FILE] [--distances FILE] [--json]\n"
    "\n"
    "nuioa cache keeps the description of this node in a file, so that launches need not find it\n"
    "out. Run it as root.\n"
    "\n"
    "  --out FILE         the file; default " NUIOA_CACHE_DIR "/HOST.cache\n"
    "  --show             print what is kept there, as nuioa topo does\n"
    "  --distances FILE   distances that the site measured; as in plugstack.conf\n"
    "  --topology PATH    describe another machine, for tests\n"
    "  --json             with --show: print JSON, for programs\n";

/* The message may name only the directory that is not there; then the file is named, too. */
static int fail(const char *path, const struct nuioa_error *err)
{
    return strstr(err->text, path) ? tool_fail("%s", err->text)
                                   : tool_fail("%s: %s", path, err->text);
}

static int show(const char *path, const struct nuioa_source *source, bool json)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    if (nuioa_cache_read(path, source->distances, &node, &err))
        return fail(path, &err);
    nuioa_node_refresh(&node);
    int status = json ? tool_json_topo(&node) : tool_print(nuioa_report_node(&node));
    nuioa_node_free(&node);
    return status;
}

static int keep(const char *path, const struct nuioa_source *source)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    if (nuioa_node_load(&node, source, &err))
        return tool_fail("%s", err.text);
    int rc = nuioa_cache_write(path, &node, source->distances, &err);
    tool_warn(&node.warnings);
    nuioa_node_free(&node);
    if (rc && geteuid() && !strncmp(path, NUIOA_CACHE_DIR "/", strlen(NUIOA_CACHE_DIR "/")))
        return tool_fail("%s: only root can write there. Run nuioa cache as root, or name another "
                         "file with --out",
                         path);
    return rc ? fail(path, &err) : TOOL_DONE;
}

int tool_cache(int argc, char **argv)
{
    struct nuioa_source source = { NULL, NULL };
    const char *out = NULL;
    bool showing = false, json = false;
    struct tool_option options[] = {
        { "out", .file = &out },
        { "topology", .file = &source.topology },
        { "distances", .file = &source.distances },
        { "show", .flag = &showing },
        { "json", .flag = &json, .needs = "show" },
        { "help", .usage = usage },
        { .name = NULL },
    };
    int rc = tool_args_read(argc, argv, options, NULL, NULL);
    if (rc)
        return rc;
    if (showing && source.topology)
        return tool_usage(argv[0],
                          "--show prints the file of this node, not another machine: leave out "
                          "--topology, or use nuioa topo --topology");

    char path[NUIOA_CACHE_PATH_SIZE];
    nuioa_cache_path(path);
    return showing ? show(out ? out : path, &source, json) : keep(out ? out : path, &source);
}
