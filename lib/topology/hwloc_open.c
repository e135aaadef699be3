/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/hwloc_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/sysfs.h"

/* Environment variables are the only way to name the directory of a dump to hwloc, and to let it
 * leave the words about a wrong file to us: hwloc 2.15 says them on stderr, too. */
#define VARIABLES 4
static const char variables[VARIABLES][24] = { "HWLOC_FSROOT", "HWLOC_COMPONENTS",
                                               "HWLOC_DUMPED_HWDATA_DIR", "HWLOC_HIDE_ERRORS" };
/* The values for a dump, whose directory takes the place of "", and for a file of XML. */
static const char *const of_dump[VARIABLES] = { "", "linux,stop", "/var/run/hwloc", NULL };
static const char *const of_file[VARIABLES] = { NULL, NULL, NULL, "2" };

/* A value that is NULL changes nothing. */
static void enter(char **saved, const char *const *values, const char *directory)
{
    for (unsigned i = 0; values && i < VARIABLES; i++) {
        const char *old = getenv(variables[i]);
        saved[i] = old && values[i] ? strdup(old) : NULL;
        if (values[i])
            setenv(variables[i], *values[i] ? values[i] : directory, 1);
    }
}

static void leave(char **saved, const char *const *values)
{
    for (unsigned i = 0; values && i < VARIABLES; i++) {
        if (saved[i])
            setenv(variables[i], saved[i], 1);
        else if (values[i])
            unsetenv(variables[i]);
        free(saved[i]);
    }
}

static int configure(hwloc_topology_t topology, bool drawing)
{
    /* Libraries of the GPU vendors can take seconds, and say nothing that the PCI tree does not.
     * Without the component "pci", which uses libpciaccess and leaks memory, hwloc reads that tree
     * from sysfs. */
    static const char unwanted[][12] = {
        "cuda", "nvml", "opencl", "rsmi", "levelzero", "gl", "pci"
    };
    for (unsigned i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                      unwanted[i]);
    /* Misc objects can be added only to a topology that was loaded with this filter. */
    if (drawing &&
        hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_ALL))
        return -1;
    return hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
           hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) ||
           hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
}

/* Fails because hwloc has refused the file. It does so if a later hwloc wrote it; of what else is
 * wrong hwloc speaks on stderr only. */
static int refuse(const char *file, const char *fault, struct nuioa_error *err)
{
    const unsigned reads = hwloc_get_api_version() >> 16;
    char text[4096];
    unsigned major, minor;
    nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "%s", file);
    const char *root = strstr(text, "<topology ");
    if (root && sscanf(root, "<topology version=\"%3u.%3u\"", &major, &minor) == 2 && major > reads)
        return nuioa_fail(err, -EINVAL,
                          "%s: version %u.%u of hwloc's XML, and this hwloc reads up to %u: export "
                          "it again with lstopo --export-xml-flags v%u",
                          file, major, minor, reads, reads);
    return nuioa_fail(err, -EINVAL, "%s: %s (for hwloc's message set HWLOC_XML_VERBOSE=1)", file,
                      fault);
}

static int open_topology(hwloc_topology_t *topology, const char *file, const char *directory,
                         bool drawing, struct nuioa_error *err)
{
    char *saved[VARIABLES] = { NULL };
    const char *const *values = directory ? of_dump : file ? of_file : NULL;
    int rc = 0;
    enter(saved, values, directory);
    bool made = !hwloc_topology_init(topology);
    if (!made)
        rc = nuioa_fail(err, -ENOMEM, "hwloc cannot be initialised");
    else if (file && hwloc_topology_set_xml(*topology, file))
        rc = refuse(file, "not a topology that hwloc reads", err);
    else if (configure(*topology, drawing) || hwloc_topology_load(*topology))
        rc = file ? refuse(file, "hwloc cannot load that topology", err)
                  : nuioa_fail(err, -EINVAL, "%s: hwloc cannot load %s topology",
                               directory ? directory : "this machine", directory ? "that" : "its");
    leave(saved, values);
    if (rc && made)
        hwloc_topology_destroy(*topology);
    return rc;
    /* -Wanalyzer-malloc-leak: leave frees what is saved. */
}

/* Sets *file or *directory to `path`, as it is one or the other. */
static int kind_of_source(const char *path, const char **file, const char **directory,
                          struct nuioa_error *err)
{
    struct stat st;
    char below[PATH_MAX];
    if (!path)
        return 0;
    if (stat(path, &st))
        return nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) {
        *file = path;
        return 0;
    }
    int length = snprintf(below, sizeof(below), "%s/sys/devices/system", path);
    if (length < 0 || (size_t)length >= sizeof(below) || access(below, F_OK))
        return nuioa_fail(err, -EINVAL,
                          "%s: not a dump of a machine: sys/devices/system is missing", path);
    *directory = path;
    return 0;
}

int nuioa_hwloc_open(hwloc_topology_t *topology, const char *path, bool drawing,
                     const char **directory, struct nuioa_error *err)
{
    const char *file = NULL;
    *directory = NULL;
    int rc = kind_of_source(path, &file, directory, err);
    return rc ? rc : open_topology(topology, file, *directory, drawing, err);
}
