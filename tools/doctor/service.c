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
#include "tools/doctor/nic.h"
#include "tools/doctor/service.h"
#include "topology/cache.h"
#include "topology/distance_site.h"
#include "util/secure_file.h"
#include "util/sysfs.h"

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
    char text[250];
    doctor_become_nobody();
    dlopen(loading->slurm, RTLD_LAZY | RTLD_GLOBAL);
    const unsigned *own = version_of(loading->other, RTLD_LAZY);
    snprintf(text, sizeof(text),
             "%.150s cannot be loaded: it is cut short or damaged, and srun dies of it; install it "
             "again",
             loading->plugin);
    doctor_answer(fd, 'n', text);
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

/* Reports NICs of the cache whose card has left the PCI bus, or lost its driver, since then.
 * Returns false if there is none. */
static bool report_lost(struct doctor *d, const char *path)
{
    struct nuioa_node node;
    struct nuioa_error err;
    unsigned count = d->count + d->ignored;
    if (nuioa_cache_read_former(path, &node, &err))
        return false;
    for (uint32_t i = 0; i < node.nic_count; i++) {
        const struct nuioa_nic *nic = &node.nics[i];
        bool gone = !nuioa_sysfs_exists(d->top, "sys/bus/pci/devices/%s", nic->pci);
        char name[48];
        if (!doctor_is_port(nic) || !*nic->pci || !(nic->usable || doctor_is_fast(nic->kind)) ||
            (!gone && (doctor_is_fabric_card(d, nic->pci) ||
                       nuioa_sysfs_exists(d->top, "sys/bus/pci/devices/%s/driver", nic->pci))))
            continue;
        doctor_report(d, "nic-missing", doctor_nic_name(nic, name, sizeof(name)),
                      "%s (%s) was here when %s was made; now %s.", name, nic->pci, path,
                      gone ? "the card is gone" : "its card has no driver");
    }
    nuioa_node_free(&node);
    return d->count + d->ignored > count;
}

/* Writes the command that makes the cache that the plugin looks for. */
static void write_command(const struct doctor *d, char *text, size_t size)
{
    const struct nuioa_options *o = &d->options;
    snprintf(text, size, "nuioa cache%s%s%s%s", *o->cache ? " --out " : "", o->cache,
             *o->distances ? " --distances " : "", o->distances);
}

void doctor_check_cache(struct doctor *d)
{
    char path[4096], command[2 * NUIOA_VALUE_MAX + 64];
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    const char *distances = *d->options.distances ? d->options.distances : NULL;
    if (!doctor_is_live(d) || *d->options.topology)
        return;
    if (*d->options.cache)
        nuioa_copy(path, sizeof(path), d->options.cache);
    else
        nuioa_cache_path(path);
    write_command(d, command, sizeof(command));
    int rc = nuioa_cache_read(path, distances, &node, &err);
    if (!rc)
        nuioa_node_free(&node);
    else if (rc == -ENOENT)
        doctor_report(d, "cache-missing", "", "%s is not there. Command: %s.", path, command);
    else if (rc == -ESTALE) {
        if (!report_lost(d, path))
            doctor_report(d, "cache-stale", "", "%s. Command: %s.", err.text, command);
    } else
        doctor_report(d, is_directory_open(path) ? "cache-directory" : "cache-refused", "",
                      "%s. Command: %s.", *err.text ? err.text : strerror(-rc), command);
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
