/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks what the plugin needs: that Slurm can load it, MUNGE, PMIx, its cache, the distances of
 * the site. */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "spank/report/credential.h"
#include "tools/doctor/ask.h"
#include "tools/doctor/checks.h"
#include "topology/cache.h"
#include "topology/distance_site.h"
#include "util/secure_file.h"
#include "util/sysfs.h"

/* --- whether Slurm can load the plugin -------------------------------------------------------- */

/* What a child opens. */
struct libraries {
    char slurm[PATH_MAX];  /* Slurm's own, whose symbols its programs give to plugins; "": none */
    char plugin[PATH_MAX]; /* nuioa.so; mpi_pmix.so */
    char other[PATH_MAX];  /* a plugin of every version of Slurm; the PMIx that mpi_pmix.so opens */
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
    const struct libraries *loading = arg;
    char text[250];
    doctor_become_nobody();
    dlopen(loading->slurm, RTLD_LAZY | RTLD_GLOBAL);
    const unsigned *own = version_of(loading->other, RTLD_LAZY);
    snprintf(text, sizeof(text),
             "%.150s is cut short or damaged, and crashes srun: install it again", loading->plugin);
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
    struct libraries loading;
    char said[256];
    for (const struct doctor_plug *plug = d->slurm.plugs; plug && d->live; plug = plug->next)
        if (plug->ours && doctor_conf_spank(&d->slurm, plug->path, loading.plugin) &&
            doctor_conf_plugin(&d->slurm, "libslurmfull.so", loading.slurm) &&
            doctor_conf_plugin(&d->slurm, "select_linear.so", loading.other) &&
            doctor_ask(load_plugin, &loading, said, sizeof(said)) == 'n')
            doctor_report(d, "plugin-unloadable", "", "%s.", said);
}

/* --- MUNGE ------------------------------------------------------------------------------------ */

/* Answers "y", also in a build without MUNGE; "m" and why there is no library; or "n" and why it
 * cannot sign and check. */
static void encode_and_decode(int fd, void *arg)
{
    const char *socket = arg;
    struct nuioa_error err = { "" };
    char *credential = NULL;
    void *bytes = NULL;
    size_t length;
    uid_t uid;
    doctor_become_nobody();
    int rc = credential_make(socket, "", 0, &credential, &err);
    if (!rc)
        rc = credential_decode(socket, credential, &uid, &bytes, &length, &err);
    if (rc == -ENOENT)
        doctor_answer(fd, 'm', err.text);
    else
        doctor_answer(fd, !rc || rc == -EOPNOTSUPP ? 'y' : 'n', err.text + strlen("MUNGE: "));
}

/* The socket is that of plugstack.conf, else that of AuthInfo in slurm.conf, else the library's. */
void doctor_check_munge(struct doctor *d)
{
    const char *type = doctor_conf_value(&d->slurm, "AuthType"); /* Slurm's default is MUNGE */
    const char *info = doctor_conf_value(&d->slurm, "AuthInfo");
    char path[256], said[256];
    if (!d->live || !*d->slurm.path || (type && !doctor_list_has(type, "auth/", "munge")))
        return;
    const char *socket = info ? strstr(info, "socket=") : NULL;
    nuioa_copy(path, sizeof(path), socket ? socket + strlen("socket=") : "");
    path[strcspn(path, ",")] = '\0';
    if (*d->options.munge_socket)
        nuioa_copy(path, sizeof(path), d->options.munge_socket);
    char got = doctor_ask(encode_and_decode, path, said, sizeof(said));
    if (got == 'm')
        doctor_report(d, "munge-missing", "", "%s.", said);
    else if (got == 'n')
        doctor_report(d, "munge-unreachable", "", "%s.", said);
    else if (!got)
        doctor_report(d, "munge-unreachable", "", "munged does not answer within %d ms.",
                      DOCTOR_ASK_MS);
}

/* --- PMIx ------------------------------------------------------------------------------------- */

#define SHARE_TOPOLOGY "PMIxShareServerTopology" /* Slurm 25.11 and later */

enum { PLUGIN_BYTES_MAX = 4 << 20 };

/* Slurm's plugin opens a name that is a string in it, "libpmix.so" or, later, "libpmix.so.2"; where
 * it was built to open the one of a directory, that is the last path before which has it. */
static void library_of(const char *bytes, size_t length, char name[PATH_MAX])
{
    const char *before = "", *end;
    nuioa_copy(name, PATH_MAX, "libpmix.so");
    for (const char *string = bytes; (end = memchr(string, 0, length - (size_t)(string - bytes)));
         string = end + 1) {
        if (!strncmp(string, "libpmix.so", 10)) {
            int all = snprintf(name, PATH_MAX, "%s/%s", before, string);
            if (!*before || all >= PATH_MAX || access(name, R_OK))
                nuioa_copy(name, PATH_MAX, string);
            return;
        }
        /* -Wanalyzer-use-of-uninitialized-value: load_bytes has read them.
         * NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
        if (*string == '/' && !access(string, X_OK))
            before = string;
    }
}

static char *load_bytes(const char *path, size_t *length)
{
    char *bytes = malloc(PLUGIN_BYTES_MAX);
    FILE *file = bytes ? fopen(path, "re") : NULL;
    *length = file ? fread(bytes, 1, PLUGIN_BYTES_MAX, file) : 0;
    if (file)
        fclose(file);
    return bytes;
}

/* Finds a name without directory where the linker finds it for the plugin: that has a search path
 * of its own (RUNPATH) where PMIx has a prefix of its own. */
static void search_as_plugin(struct libraries *pmix)
{
    Dl_serinfo head, *info = NULL;
    char path[PATH_MAX];
    if (*pmix->slurm)
        dlopen(pmix->slurm, RTLD_LAZY | RTLD_GLOBAL);
    void *plugin = *pmix->other == '/' ? NULL : dlopen(pmix->plugin, RTLD_LAZY | RTLD_LOCAL);
    if (plugin && !dlinfo(plugin, RTLD_DI_SERINFOSIZE, &head))
        info = malloc(head.dls_size);
    if (!info || dlinfo(plugin, RTLD_DI_SERINFOSIZE, info) || dlinfo(plugin, RTLD_DI_SERINFO, info))
        return; /* the child ends soon, and frees nothing */
    for (unsigned i = 0; i < info->dls_cnt; i++) {
        int all = snprintf(path, PATH_MAX, "%s/%s", info->dls_serpath[i].dls_name, pmix->other);
        if (all < PATH_MAX && !access(path, R_OK)) {
            nuioa_copy(pmix->other, PATH_MAX, path);
            return;
        }
    }
}

/* Answers "y" and the version; "n" and why the library cannot be opened; or "u" and the version if
 * it cannot publish. */
static void open_pmix(int fd, void *arg)
{
    struct libraries *pmix = arg;
    doctor_become_nobody();
    search_as_plugin(pmix);
    void *library = dlopen(pmix->other, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        doctor_answer(fd, 'n', dlerror());
        return;
    }
    const char *(*version)(void) = NULL;
    *(void **)&version = dlsym(library, "PMIx_Get_version");
    bool able = dlsym(library, "PMIx_Store_internal") && dlsym(library, "PMIx_Get");
    doctor_answer(fd, able ? 'y' : 'u', version ? version() : "of an unknown version");
}

/* Takes "OpenPMIx 6.1.0 (PMIx Standard: ...", and candidates of that release. */
static bool dies_of_logging(const char *version)
{
    const char *number = version + strcspn(version, "0123456789");
    return !strncmp(number, "6.1.0", 5) || !strncmp(number, "6.1.1rc", 7);
}

static bool is_true(const char *value) /* as Slurm reads it */
{
    return value && (!strcasecmp(value, "yes") || !strcasecmp(value, "up") ||
                     !strcasecmp(value, "true") || !strcmp(value, "1"));
}

void doctor_check_pmix(struct doctor *d)
{
    struct libraries pmix;
    char said[256];
    size_t length = 0;
    if (!d->live || !*d->slurm.path)
        return;
    if (!doctor_conf_plugin(&d->slurm, "mpi_pmix.so", pmix.plugin)) {
        doctor_report(d, "pmix-plugin", "", "Slurm has no plugin mpi_pmix.so.");
        return;
    }
    if (!doctor_conf_plugin(&d->slurm, "libslurmfull.so", pmix.slurm))
        pmix.slurm[0] = '\0';
    char *bytes = load_bytes(pmix.plugin, &length);
    library_of(bytes ? bytes : "", length, pmix.other);
    const char *shares = doctor_conf_value(&d->slurm, SHARE_TOPOLOGY);
    if (bytes && memmem(bytes, length, SHARE_TOPOLOGY, strlen(SHARE_TOPOLOGY)) && !is_true(shares))
        doctor_report(d, "pmix-topology", "", "mpi.conf has " SHARE_TOPOLOGY "=%s.",
                      shares ? shares : "false (the default)");
    free(bytes);
    char got = doctor_ask(open_pmix, &pmix, said, sizeof(said));
    if (got == 'n' || !got) {
        doctor_report(d, "pmix-library", "", got ? "%s." : "Opening %s takes too long, or fails.",
                      got ? said : pmix.other);
        return;
    }
    nuioa_copy(d->pmix, sizeof(d->pmix), said);
    nuioa_make_printable(d->pmix);
    if (got == 'u')
        doctor_report(d, "pmix-unable", "", "%s has no PMIx_Store_internal.", said);
    if (dies_of_logging(d->pmix))
        doctor_report(d, "pmix-log", "", "Slurm loads %s.", d->pmix);
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

void doctor_check_cache(struct doctor *d)
{
    const struct nuioa_options *o = &d->options;
    char path[PATH_MAX], command[2 * NUIOA_VALUE_MAX + 64];
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    if (!d->live || *o->topology)
        return;
    nuioa_cache_path(path);
    if (*o->cache)
        nuioa_copy(path, sizeof(path), o->cache);
    snprintf(command, sizeof(command), "nuioa cache%s%s%s%s", *o->cache ? " --out " : "", o->cache,
             *o->distances ? " --distances " : "", o->distances);
    int rc = nuioa_cache_read(path, *o->distances ? o->distances : NULL, &node, &err);
    if (!rc)
        nuioa_node_free(&node);
    else if (rc == -ENOENT)
        doctor_report(d, "cache-missing", "", "%s is not there. Command: %s.", path, command);
    else if (rc != -ESTALE)
        doctor_report(d, is_directory_open(path) ? "cache-directory" : "cache-refused", "",
                      "%s. Command: %s.", *err.text ? err.text : strerror(-rc), command);
    else if (!report_lost(d, path))
        doctor_report(d, "cache-stale", "", "%s. Command: %s.", err.text, command);
}

/* --- the site's distances --------------------------------------------------------------------- */

void doctor_check_distances(struct doctor *d)
{
    char path[2 * PATH_MAX];
    struct nuioa_error err = { "" };
    if (!*d->options.distances)
        return;
    snprintf(path, sizeof(path), "%s%s", d->root, d->options.distances);
    int fd = nuioa_secure_open(path, &err);
    if (fd < 0) {
        doctor_report(d, "distances-refused", "", "distances=%s: %s.", d->options.distances,
                      *err.text ? err.text : strerror(-fd));
        return;
    }
    close(fd);
    int rc = d->node_known ? nuioa_distance_read_site(path, &d->node, NULL, NULL, &err) : 0;
    if (rc)
        doctor_report(d, rc == -ENOENT ? "distances-foreign" : "distances-refused", "", "%s.",
                      err.text);
}
