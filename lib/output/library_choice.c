/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/library_choice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/user_variables.h"
#include "util/descriptors.h"
#include "util/subprocess.h"
#include "util/sysfs.h"
#include "util/variable.h"
#include "util/word.h"

/* Returns the value of the first setting of a block whose name begins so, or NULL. */
static const char *setting(const char *block, const char *prefix)
{
    char name[64];
    const char *value;
    while ((value = nuioa_block_next(&block, name, sizeof(name))))
        if (!strncmp(name, prefix, strlen(prefix)))
            return value;
    return NULL;
}

/* --- the environment -------------------------------------------------------------------------- */

static bool has_prefix(char *const *environment, const char *prefix)
{
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, prefix, strlen(prefix)))
            return true;
    return false;
}

static bool is_ucx_chosen(char *const *environment)
{
    const char *list = nuioa_variable(environment, "OMPI_MCA_mca_base_env_list");
    return has_prefix(environment, "UCX_") || (list && strstr(list, "UCX_")) ||
           nuioa_variable(environment, "OMPI_MCA_pml_ucx_devices") ||
           nuioa_variable(environment, "OMPI_MCA_opal_common_ucx_devices") ||
           nuioa_variable(environment, "OMPI_MCA_mca_base_param_files") ||
           nuioa_variable(environment, "OMPI_MCA_mca_param_files") ||
           nuioa_variable(environment, "OMPI_MCA_mca_base_param_file_prefix");
}

static bool is_mpich_chosen(char *const *environment)
{
    const char *gpus = nuioa_variable(environment, "MPICH_GPU_SUPPORT_ENABLED");
    return has_prefix(environment, "MPICH_OFI_NIC_") || has_prefix(environment, "MPICH_OFI_NUM_") ||
           !gpus || strcmp(gpus, "1") != 0;
}

/* Pyxis hands its options to the step by such names. */
static bool is_pyxis(char *const *environment)
{
    static const char part[] = "pyxis_container";
    for (; environment && *environment; environment++)
        if (memmem(*environment, strcspn(*environment, "="), part, strlen(part)))
            return true;
    return false;
}

bool nuioa_library_is_chosen(char *const *environment, const char *block)
{
    return nuioa_variable(environment, "SLURM_CONTAINER") || is_pyxis(environment) ||
           (setting(block, "UCX_") && is_ucx_chosen(environment)) ||
           (setting(block, "MPICH_") && is_mpich_chosen(environment));
}

/* --- files ------------------------------------------------------------------------------------ */

/* Longer files are not read: they count as one that chooses. */
#define FILE_MAX ((size_t)1 << 20)

/* Returns true if a line that is no comment names UCX's devices or rails. */
static bool has_words(char *text)
{
    static const char words[][16] = { "NET_DEVICES", "RNDV_RAILS", "ucx_devices" };
    for (char *line; (line = nuioa_next_word(&text, "\r\n"));) {
        line += strspn(line, " \t");
        for (unsigned i = 0; *line != '#' && i < sizeof(words) / sizeof(*words); i++)
            if (strstr(line, words[i]))
                return true;
    }
    return false;
}

/* Returns true if a file chooses, or cannot be read although it may be there. What the user may not
 * read the libraries do not read either. */
static bool chooses(const char *path)
{
    struct stat info;
    bool found = true;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno != ENOENT && errno != ENOTDIR && errno != EACCES;
    char *text = fstat(fd, &info) || !S_ISREG(info.st_mode) ? NULL : malloc(FILE_MAX + 1);
    size_t length = text ? nuioa_read_all(fd, text, FILE_MAX) : FILE_MAX;
    if (length < FILE_MAX && !errno) {
        text[length] = '\0';
        found = has_words(text);
    }
    free(text);
    close(fd);
    return found;
}

/* The child that looks for files gets these. */
struct files {
    char *const *environment;
    const char *root;
};

#define OPENMPI(at) at "/openmpi-mca-params.conf", at "/openmpi-mca-params-override.conf"

/* The directories of the libraries' files: those of a variable, or else named here. */
static const struct {
    const char *variable, *directory;
    const char *names[5];
} places[] = {
    { NULL, "/etc", { "/ucx/ucx.conf", OPENMPI("/openmpi"), OPENMPI("") } },
    { "HOME", NULL, { "/ucx.conf", "/.openmpi/mca-params.conf" } },
    { "OPAL_PREFIX", NULL, { OPENMPI("/etc") } },
    { NULL, ".", { "/ucx.conf" } },
    { "LD_LIBRARY_PATH", NULL, { "/../etc/ucx/ucx.conf", OPENMPI("/../etc") } },
    { "PATH", NULL, { "/../etc/ucx/ucx.conf", OPENMPI("/../etc") } },
};

/* Looks at one of the places. Without memory it counts as one that chooses. */
static bool is_chosen_at(const struct files *files, unsigned place)
{
    const char *value = places[place].variable
                            ? nuioa_variable(files->environment, places[place].variable)
                            : places[place].directory;
    char path[PATH_MAX], *list = value ? strdup(value) : NULL, *rest = list, *directory;
    bool found = value && !list;
    while (!found && list && (directory = nuioa_next_word(&rest, ":")))
        for (unsigned i = 0; !found && i < 5 && places[place].names[i]; i++) {
            int n = snprintf(path, sizeof(path), "%s%s%s", *directory == '/' ? files->root : "",
                             directory, places[place].names[i]);
            found = n > 0 && (size_t)n < sizeof(path) && chooses(path);
        }
    free(list);
    return found;
}

static bool is_chosen_anywhere(const struct files *files)
{
    bool found = false;
    for (unsigned i = 0; !found && i < sizeof(places) / sizeof(*places); i++)
        found = is_chosen_at(files, i);
    return found;
}

static void look(int fd, void *arg)
{
    const char answer = is_chosen_anywhere(arg) ? 'y' : 'n';
    nuioa_subprocess_write(fd, &answer, 1);
}

bool nuioa_library_has_file(char *const *environment, const char *root, unsigned limit_ms)
{
    struct files files = { environment, root };
    void *bytes = NULL;
    size_t length = 0;
    if (nuioa_subprocess_run(look, &files, limit_ms, 1, &bytes, &length) < 0)
        return true;
    bool found = length != 1 || *(const char *)bytes != 'n';
    free(bytes);
    return found;
}

/* --- devices ---------------------------------------------------------------------------------- */

static bool can_open(const char *root, const char *directory, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/dev/%s%.63s", root, directory, name);
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Returns true if the device, such as "mlx5_0", is that of a uverbs file that can be opened. */
static bool can_open_verbs(const char *root, const char *device)
{
    char path[PATH_MAX], name[64];
    bool opened = false;
    snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs", root);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = nuioa_sysfs_list(dir, ".");
    for (struct dirent *entry; list && !opened && (entry = readdir(list));)
        opened = !strncmp(entry->d_name, "uverbs", 6) &&
                 nuioa_sysfs_text(dir, name, sizeof(name), "%.63s/ibdev", entry->d_name) > 0 &&
                 !strcmp(name, device) && can_open(root, "infiniband/", entry->d_name);
    if (list)
        closedir(list);
    if (dir >= 0)
        close(dir);
    return opened;
}

/* The devices of a list such as "mlx5_0:1,mlx5_1:1". */
static bool can_open_list(const char *root, const char *value)
{
    char *list = strdup(value), *rest = list, *device;
    bool all = list;
    while (all && (device = nuioa_next_word(&rest, ","))) {
        device[strcspn(device, ":")] = '\0';
        all = can_open_verbs(root, device);
    }
    free(list);
    return all;
}

static bool can_open_slingshot(const struct nuioa_node *node, const char *root)
{
    bool all = true;
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (node->nics[i].kind == NUIOA_NIC_SLINGSHOT)
            all = all && *node->nics[i].cxi && can_open(root, "", node->nics[i].cxi);
    return all;
}

bool nuioa_library_opens(const struct nuioa_node *node, const char *root, const char *block)
{
    const char *list = setting(block, "UCX_NET_DEVICES");
    return (!list || can_open_list(root, list)) &&
           (!setting(block, "MPICH_") || can_open_slingshot(node, root));
}

/* --- all of it -------------------------------------------------------------------------------- */

bool nuioa_library_is_free(char *const *environment, const struct nuioa_node *node,
                           const char *block, unsigned limit_ms)
{
    return !nuioa_library_is_chosen(environment, block) && nuioa_library_opens(node, "", block) &&
           (!setting(block, "UCX_") || !nuioa_library_has_file(environment, "", limit_ms));
}

/* --- programs --------------------------------------------------------------------------------- */

/* Returns true for a regular file that begins with "#!". What cannot be read is no script. */
static bool is_script_file(const char *path)
{
    struct stat info;
    char text[2];
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool found = !fstat(fd, &info) && S_ISREG(info.st_mode) &&
                 read(fd, text, sizeof(text)) == sizeof(text) && !memcmp(text, "#!", sizeof(text));
    close(fd);
    return found;
}

/* Writes the path of a program that is a name only, as execvp finds it. Returns false if there is
 * none. */
static bool find_program(char *const *environment, const char *name, char *path, size_t size)
{
    const char *value = nuioa_variable(environment, "PATH");
    char *list = value ? strdup(value) : NULL, *rest = list, *directory;
    bool found = false;
    while (!found && list && (directory = nuioa_next_word(&rest, ":"))) {
        struct stat info;
        int n = snprintf(path, size, "%s/%s", directory, name);
        found = n > 0 && (size_t)n < size && !stat(path, &info) && S_ISREG(info.st_mode) &&
                !faccessat(AT_FDCWD, path, X_OK, AT_EACCESS);
    }
    free(list);
    return found;
}

bool nuioa_library_is_wrapper(char *const *environment, const char *program)
{
    static const char starters[] =
        "apptainer|singularity|podman|podman-hpc|docker|shifter|sarus|enroot|ch-run|udocker|chroot|"
        "unshare|bwrap|proot|nerdctl|charliecloud|sh|bash|dash|ksh|zsh|csh|tcsh|fish|env";
    char path[PATH_MAX];
    const char *slash = program ? strrchr(program, '/') : NULL;
    if (!program)
        return false;
    if (nuioa_word_index(starters, slash ? slash + 1 : program) >= 0)
        return true;
    if (slash)
        return is_script_file(program);
    return find_program(environment, program, path, sizeof(path)) && is_script_file(path);
}
