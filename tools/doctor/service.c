/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks what the plugin needs: that Slurm can load it, its cache, the distances of the site. */

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/ask.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/service.h"
#include "topology/cache.h"
#include "topology/distance_site.h"
#include "util/secure_file.h"

/* --- whether Slurm can load the plugin -------------------------------------------------------- */

struct loading {
    char slurm[4096]; /* Slurm's own library, whose symbols its programs give to plugins */
    char other[4096]; /* a plugin that comes with every version of it */
    char plugin[4096];
};

static const unsigned *version_of(const char *path, int flags)
{
    void *library = dlopen(path, flags | RTLD_LOCAL);
    return library ? dlsym(library, "plugin_version") : NULL;
}

/* Checks as Slurm does that major and minor version are its own. Slurm looks for most symbols only
 * when they are called; slurmstepd would die there if one were missing. */
static void load_plugin(int fd, void *arg)
{
    const struct loading *loading = arg;
    char text[160];
    doctor_become_nobody();
    dlopen(loading->slurm, RTLD_LAZY | RTLD_GLOBAL);
    const unsigned *own = version_of(loading->other, RTLD_LAZY);
    const unsigned *its = version_of(loading->plugin, RTLD_NOW);
    if (!its) {
        const char *why = dlerror();
        doctor_answer(fd, 'n', why ? why : "it has no plugin_version");
    } else if (own && *own >> 8 != *its >> 8) {
        snprintf(text, sizeof(text), "%.80s was built for Slurm %u.%02u, this is %u.%02u",
                 loading->plugin, *its >> 16, *its >> 8 & 0xff, *own >> 16, *own >> 8 & 0xff);
        doctor_answer(fd, 'n', text);
    } else {
        doctor_answer(fd, 'y', "");
    }
}

void doctor_check_loading(struct doctor *d)
{
    struct loading loading;
    char said[256];
    for (unsigned i = 0; i < d->stack.count && doctor_is_live(d); i++) {
        const char *path = d->stack.plugs[i].path, *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, "nuioa.so"))
            continue;
        if (!doctor_conf_spank(&d->slurm, d->top, d->root, path, loading.plugin,
                               sizeof(loading.plugin)) ||
            !doctor_conf_plugin(&d->slurm, d->top, d->root, "libslurmfull.so", loading.slurm,
                                sizeof(loading.slurm)) ||
            !doctor_conf_plugin(&d->slurm, d->top, d->root, "select_linear.so", loading.other,
                                sizeof(loading.other)))
            continue;
        if (doctor_ask(load_plugin, &loading, said, sizeof(said)) == 'n')
            doctor_report(d, "plugin-unloadable", "", "%s.", said);
    }
}

/* --- the cache -------------------------------------------------------------------------------- */

/* Returns true if it is not the cache that others may change, but a directory above it. */
static bool is_directory_open(const char *path)
{
    const char *name;
    int directory = nuioa_secure_parent(path, &name, NULL);
    if (directory >= 0)
        close(directory);
    return directory == -EPERM;
}

void doctor_check_cache(struct doctor *d)
{
    char path[4096];
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    const char *distances = *d->options.distances ? d->options.distances : NULL;
    if (!doctor_is_live(d) || *d->options.topology)
        return;
    if (*d->options.cache)
        nuioa_copy(path, sizeof(path), d->options.cache);
    else
        nuioa_cache_path(path);
    int rc = nuioa_cache_read(path, distances, &node, &err);
    if (!rc)
        nuioa_node_free(&node);
    else if (rc == -ENOENT)
        doctor_report(d, "cache-missing", "", "%s is not there.", path);
    else if (rc == -ESTALE)
        doctor_report(d, "cache-stale", "", "%s.", err.text);
    else
        doctor_report(d, is_directory_open(path) ? "cache-directory" : "cache-refused", "", "%s.",
                      *err.text ? err.text : strerror(-rc));
}

/* --- the site's distances --------------------------------------------------------------------- */

void doctor_check_distances(struct doctor *d)
{
    char path[8192];
    struct nuioa_error err = { "" };
    if (!*d->options.distances)
        return;
    snprintf(path, sizeof(path), "%s%s", d->root, d->options.distances);
    int fd = nuioa_secure_open(path, &err);
    if (fd < 0) {
        if (!*err.text)
            nuioa_fail(&err, fd, "%s: %s", d->options.distances, strerror(-fd));
        doctor_report(d, "distances-refused", "", "distances=%s: %s.", d->options.distances,
                      err.text);
        return;
    }
    close(fd);
    uint32_t *matrix = calloc((size_t)d->node.numa_count * d->node.numa_count + 1, sizeof(*matrix));
    int rc = matrix && d->node_known ? nuioa_distance_read_site(path, &d->node, matrix, &err) : 0;
    if (rc)
        doctor_report(d, rc == -ENOENT ? "distances-foreign" : "distances-refused", "", "%s.",
                      err.text);
    free(matrix);
}
