/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks the PMIx library that the PMIx plugin of Slurm opens. */

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/ask.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/pmix.h"

#define SHARE_TOPOLOGY "PMIxShareServerTopology" /* Slurm 25.11 and later */

enum { PLUGIN_BYTES_MAX = 4 << 20 };

struct pmix {
    char slurm[4096];  /* Slurm's own library, whose symbols its programs give to plugins; "" */
    char plugin[4096]; /* mpi_pmix.so */
    char name[4096];   /* the library that it opens, according to its strings */
};

/* Slurm's plugin opens a name that is a string in it, "libpmix.so" or, later, "libpmix.so.2"; where
 * it was built to open the one of a directory, that is the last path before which has it. */
static void library_of(const char *bytes, size_t length, char *name, size_t size)
{
    const char *before = "", *end;
    nuioa_copy(name, size, "libpmix.so");
    for (const char *string = bytes; (end = memchr(string, 0, length - (size_t)(string - bytes)));
         string = end + 1) {
        if (!strncmp(string, "libpmix.so", 10)) {
            int all = snprintf(name, size, "%s/%s", before, string);
            if (!*before || all >= (int)size || access(name, R_OK))
                nuioa_copy(name, size, string);
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
static void search_as_plugin(struct pmix *pmix)
{
    Dl_serinfo head, *info = NULL;
    if (*pmix->slurm)
        dlopen(pmix->slurm, RTLD_LAZY | RTLD_GLOBAL);
    void *plugin = *pmix->name == '/' ? NULL : dlopen(pmix->plugin, RTLD_LAZY | RTLD_LOCAL);
    if (plugin && !dlinfo(plugin, RTLD_DI_SERINFOSIZE, &head))
        info = malloc(head.dls_size);
    if (info && !dlinfo(plugin, RTLD_DI_SERINFOSIZE, info) &&
        !dlinfo(plugin, RTLD_DI_SERINFO, info))
        for (unsigned i = 0; i < info->dls_cnt; i++) {
            char path[sizeof(pmix->name)];
            int all =
                snprintf(path, sizeof(path), "%s/%s", info->dls_serpath[i].dls_name, pmix->name);
            if (all >= (int)sizeof(path) || access(path, R_OK))
                continue;
            nuioa_copy(pmix->name, sizeof(pmix->name), path);
            break;
        }
    free(info);
}

/* Answers "y" and the version; "n" and why the library cannot be opened; or "u" and the version if
 * it cannot publish. */
static void open_pmix(int fd, void *arg)
{
    struct pmix *pmix = arg;
    doctor_become_nobody();
    search_as_plugin(pmix);
    void *library = dlopen(pmix->name, RTLD_LAZY | RTLD_LOCAL);
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

/* Reads a truth value as Slurm does. */
static bool is_true(const char *value)
{
    static const char *const words[] = { "yes", "up", "true", "1" };
    for (unsigned i = 0; value && i < sizeof(words) / sizeof(*words); i++)
        if (!strcasecmp(value, words[i]))
            return true;
    return false;
}

static void check_topology(struct doctor *d)
{
    struct doctor_conf conf = { .count = 0 };
    doctor_conf_read_beside(&conf, &d->slurm, d->top, "mpi.conf");
    const char *value = doctor_conf_value(&conf, SHARE_TOPOLOGY);
    if (!is_true(value))
        doctor_report(d, "pmix-topology", "", "mpi.conf has " SHARE_TOPOLOGY "=%s.",
                      value ? value : "false (the default)");
    doctor_conf_free(&conf);
}

void doctor_check_pmix(struct doctor *d)
{
    struct pmix pmix = { .slurm = "" };
    char said[256];
    size_t length = 0;
    if (!doctor_is_live(d) || !*d->slurm.path)
        return;
    if (!doctor_conf_plugin(&d->slurm, d->top, d->root, "mpi_pmix.so", pmix.plugin,
                            sizeof(pmix.plugin))) {
        doctor_report(d, "pmix-plugin", "", "Slurm has no plugin mpi_pmix.so.");
        return;
    }
    if (!doctor_conf_plugin(&d->slurm, d->top, d->root, "libslurmfull.so", pmix.slurm,
                            sizeof(pmix.slurm)))
        pmix.slurm[0] = '\0';
    char *bytes = load_bytes(pmix.plugin, &length);
    library_of(bytes ? bytes : "", length, pmix.name, sizeof(pmix.name));
    bool shares = bytes && memmem(bytes, length, SHARE_TOPOLOGY, strlen(SHARE_TOPOLOGY));
    free(bytes);
    char got = doctor_ask(open_pmix, &pmix, said, sizeof(said));
    if (got == 'n')
        doctor_report(d, "pmix-library", "", "%s.", said);
    else if (!got)
        doctor_report(d, "pmix-library", "", "Opening %s took more than %d ms, or failed badly.",
                      pmix.name, DOCTOR_ASK_MS);
    else
        nuioa_copy(d->pmix, sizeof(d->pmix), said);
    nuioa_make_printable(d->pmix);
    if (got == 'u')
        doctor_report(d, "pmix-unable", "", "%s has no PMIx_Store_internal.", said);
    if (dies_of_logging(d->pmix))
        doctor_report(d, "pmix-log", "", "Slurm loads %s.", d->pmix);
    if (shares)
        check_topology(d);
}
