/* What the plugin needs of others: MUNGE, PMIx, its cache, the site's distances. */

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifdef HAVE_MUNGE
#include <munge.h>
#endif

#include "cache.h"
#include "child.h"
#include "doctor.h"
#include "secure.h"

/* Long: on a node whose CPUs are all busy, an answer that comes late is no fault. */
enum { ASK_MS = 5000, ANSWER_MAX = 4096, NOBODY = 65534, PLUGIN_BYTES_MAX = 4 << 20 };

/* An answer is 'y' or 'n' and a text. */
static void answer(int fd, char yes, const char *text)
{
    char line[256];
    line[0] = yes;
    nuioa_copy(line + 1, sizeof(line) - 1, text);
    nuioa_child_write(fd, line, strlen(line) + 1);
}

/* Runs `work` in a child. 'y', 'n', or 0: no answer in time. `text` is what it said. */
static char ask(void (*work)(int fd, void *arg), void *arg, char *text, size_t size)
{
    void *bytes = NULL;
    size_t length = 0;
    char got = 0;
    text[0] = '\0';
    if (!nuioa_child_run(work, arg, ASK_MS, ANSWER_MAX, &bytes, &length) && length > 1 &&
        !((char *)bytes)[length - 1]) {
        got = *(char *)bytes;
        nuioa_copy(text, size, (char *)bytes + 1);
    }
    free(bytes);
    return got;
}

/* Nothing that the child loads or makes should be root's. */
static void become_nobody(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
                           setresuid(NOBODY, NOBODY, NOBODY)))
        _exit(1);
}

/* --- MUNGE ------------------------------------------------------------------------------------ */

#ifdef HAVE_MUNGE

static void encode_and_decode(int fd, void *arg)
{
    const char *socket = arg;
    char *credential = NULL;
    become_nobody();
    munge_ctx_t context = munge_ctx_create();
    munge_err_t code = EMUNGE_NO_MEMORY;
    if (context)
        code = munge_ctx_set(context, MUNGE_OPT_SOCKET, socket);
    if (code == EMUNGE_SUCCESS)
        code = munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, getuid());
    if (code == EMUNGE_SUCCESS)
        code = munge_encode(&credential, context, NULL, 0);
    if (code == EMUNGE_SUCCESS)
        code = munge_decode(credential, context, NULL, NULL, NULL, NULL);
    const char *text = context ? munge_ctx_strerror(context) : NULL;
    answer(fd, code == EMUNGE_SUCCESS ? 'y' : 'n', text ? text : munge_strerror(code));
}

/* libmunge tries for two seconds what this knows at once. 0 or -errno. */
static int knock(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (nuioa_copy(address.sun_path, sizeof(address.sun_path), path))
        return -ENAMETOOLONG;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int rc = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -errno : 0;
    close(fd);
    return rc == -EAGAIN ? 0 : rc; /* its queue is full: alive or not, the child will tell */
}

static void socket_of(const struct doctor *d, char *path, size_t size)
{
    char *built_in = NULL;
    munge_ctx_t context = munge_ctx_create();
    if (context)
        munge_ctx_get(context, MUNGE_OPT_SOCKET, &built_in);
    const char *said = d->options.munge_socket;
    nuioa_copy(path, size, *said ? said : built_in ? built_in : "");
    munge_ctx_destroy(context);
}

static bool is_used(const struct doctor *d)
{
    const char *type = doctor_conf_value(&d->slurm, "AuthType"); /* Slurm's default is MUNGE */
    return !type || doctor_list_has(type, "auth/", "munge") || d->options.auth == NUIOA_AUTH_MUNGE;
}

void doctor_check_munge(struct doctor *d)
{
    char said[256], path[128];
    if (!doctor_is_live(d) || !*d->slurm.path || !is_used(d))
        return;
    socket_of(d, path, sizeof(path));
    int rc = knock(path);
    if (rc) {
        doctor_report(d, "munge-unreachable", "", "munged's socket %s: %s.", path, strerror(-rc));
        return;
    }
    char got = ask(encode_and_decode, path, said, sizeof(said));
    if (!got)
        doctor_report(d, "munge-unreachable", "",
                      "munged does not answer at %s within %d ms.", path, ASK_MS);
    else if (got == 'n')
        doctor_report(d, "munge-unreachable", "", "munged at %s: %s.", path, said);
}

#else

void doctor_check_munge(struct doctor *d)
{
    (void)d;
}

#endif

/* --- whether Slurm can load the plugin -------------------------------------------------------- */

struct loading {
    char slurm[4096];  /* Slurm's own library, whose symbols its programs give to plugins */
    char other[4096];  /* a plugin that came with it */
    char plugin[4096];
};

static const unsigned *version_of(const char *path, int flags)
{
    void *library = dlopen(path, flags | RTLD_LOCAL);
    return library ? dlsym(library, "plugin_version") : NULL;
}

/* As Slurm does it: major and minor version must be its own. Slurm looks for most symbols only when
 * they are called, which is where slurmstepd would die for want of one. */
static void load_plugin(int fd, void *arg)
{
    const struct loading *loading = arg;
    char text[160];
    become_nobody();
    dlopen(loading->slurm, RTLD_LAZY | RTLD_GLOBAL);
    const unsigned *own = version_of(loading->other, RTLD_LAZY);
    const unsigned *its = version_of(loading->plugin, RTLD_NOW);
    if (!its) {
        const char *why = dlerror();
        answer(fd, 'n', why ? why : "it has no plugin_version");
    } else if (own && *own >> 8 != *its >> 8) {
        snprintf(text, sizeof(text), "%.80s was built for Slurm %u.%02u, this is %u.%02u",
                 loading->plugin, *its >> 16, *its >> 8 & 0xff, *own >> 16, *own >> 8 & 0xff);
        answer(fd, 'n', text);
    } else {
        answer(fd, 'y', "");
    }
}

void doctor_check_loading(struct doctor *d)
{
    struct loading loading;
    char said[256];
    for (unsigned i = 0; i < d->stack.count && doctor_is_live(d); i++) {
        const char *path = d->stack.plugs[i].path, *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, "nuioa.so") || (*path == '/' && access(path, F_OK)))
            continue;
        nuioa_copy(loading.plugin, sizeof(loading.plugin), path);
        if ((*path != '/' && !doctor_conf_plugin(&d->slurm, d->top, d->root, path, loading.plugin,
                                                 sizeof(loading.plugin))) ||
            !doctor_conf_plugin(&d->slurm, d->top, d->root, "libslurmfull.so", loading.slurm,
                                sizeof(loading.slurm)) ||
            !doctor_conf_plugin(&d->slurm, d->top, d->root, "auth_munge.so", loading.other,
                                sizeof(loading.other)))
            continue;
        if (ask(load_plugin, &loading, said, sizeof(said)) == 'n')
            doctor_report(d, "plugin-unloadable", "", "%s.", said);
    }
}

/* --- PMIx ------------------------------------------------------------------------------------- */

/* Slurm's plugin opens a name that is a string in it, "libpmix.so" or, later, "libpmix.so.2", in
 * the directory that it was built for, if any, which is the last path before. */
static void library_of(const char *bytes, size_t length, char *name, size_t size)
{
    const char *before = "", *end;
    nuioa_copy(name, size, "libpmix.so");
    for (const char *string = bytes; (end = memchr(string, 0, length - (size_t)(string - bytes)));
         string = end + 1) {
        if (!strncmp(string, "libpmix.so", 10)) {
            snprintf(name, size, "%s%s%s", before, *before ? "/" : "", string);
            return;
        }
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

/* "y" and the version, "n" and why it cannot be opened, "u" and the version: it cannot publish. */
static void open_pmix(int fd, void *arg)
{
    become_nobody();
    void *library = dlopen(arg, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        answer(fd, 'n', dlerror());
        return;
    }
    const char *(*version)(void) = NULL;
    *(void **)&version = dlsym(library, "PMIx_Get_version");
    bool able = dlsym(library, "PMIx_Store_internal") && dlsym(library, "PMIx_Get");
    answer(fd, able ? 'y' : 'u', version ? version() : "of an unknown version");
}

void doctor_check_pmix(struct doctor *d)
{
    char path[4096], name[4096], said[256];
    size_t length = 0;
    if (!doctor_is_live(d) || !*d->slurm.path)
        return;
    if (!doctor_conf_plugin(&d->slurm, d->top, d->root, "mpi_pmix.so", path, sizeof(path))) {
        doctor_report(d, "pmix-plugin", "", "Slurm has no plugin mpi_pmix.so.");
        return;
    }
    char *bytes = load_bytes(path, &length);
    library_of(bytes ? bytes : "", length, name, sizeof(name));
    free(bytes);
    char got = ask(open_pmix, name, said, sizeof(said));
    if (got == 'n')
        doctor_report(d, "pmix-library", "", "%s.", said);
    else if (!got)
        doctor_report(d, "pmix-library", "", "Opening %s took more than %d ms, or failed badly.",
                      name, ASK_MS);
    else
        nuioa_copy(d->pmix, sizeof(d->pmix), said);
    if (got == 'u')
        doctor_report(d, "pmix-unable", "", "%s has no PMIx_Store_internal.", said);
}

/* --- the cache -------------------------------------------------------------------------------- */

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
    else if (nuioa_cache_path(path, sizeof(path)))
        return;
    int rc = nuioa_cache_read(path, distances, &node, &err);
    if (!rc)
        nuioa_node_free(&node);
    else if (rc == -ENOENT)
        doctor_report(d, "cache-missing", "", "%s is not there.", path);
    else if (rc == -ESTALE)
        doctor_report(d, "cache-stale", "", "%s.", err.text);
    else
        doctor_report(d, "cache-refused", "", "%s.", *err.text ? err.text : strerror(-rc));
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
        doctor_report(d, "distances-refused", "", "%s.", err.text);
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
