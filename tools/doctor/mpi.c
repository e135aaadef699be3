/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks the settings of MPI libraries in the environment and in the files of the site. */

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/mpi.h"
#include "tools/doctor/nic.h"

#define VALUE_SIZE 256

struct setting {
    const char *name; /* as in the environment */
    char value[VALUE_SIZE];
    char where[128]; /* "the environment", or a file; "" not set */
};

/* --- reading ---------------------------------------------------------------------------------- */

static void set(struct setting *setting, const char *value, size_t length, const char *where)
{
    if (length >= VALUE_SIZE)
        length = VALUE_SIZE - 1;
    memcpy(setting->value, value, length);
    setting->value[length] = '\0';
    nuioa_copy(setting->where, sizeof(setting->where), where);
}

/* Reads "NAME=VALUE" and "export NAME=VALUE", and in the file of Open MPI "btl = tcp,self", which
 * is OMPI_MCA_btl. */
static void read_line(struct setting *settings, const char *line, size_t length, const char *prefix,
                      const char *where)
{
    const char *end = line + length;
    while (line < end && isspace((unsigned char)*line))
        line++;
    if (end - line > 7 && !strncmp(line, "export ", 7))
        line += 7;
    for (struct setting *setting = settings; setting->name; setting++) {
        size_t skip = strlen(prefix), own = strlen(setting->name) - skip;
        if (strncmp(setting->name, prefix, skip) || (size_t)(end - line) <= own ||
            strncmp(line, setting->name + skip, own))
            continue;
        const char *value = line + own;
        while (value < end && *value == ' ')
            value++;
        if (value == end || *value++ != '=')
            continue;
        while (value < end && strchr(" \"'", *value))
            value++;
        size_t room = (size_t)(end - value), size = 0;
        while (size < room && !strchr(" \t\r\"'#;", value[size]))
            size++;
        /* FI_PROVIDER="tcp;ofi_rxm" has the separator of commands in it: what follows is no
         * matter */
        set(setting, value, size, where);
    }
}

static void read_file(const struct doctor *d, struct setting *settings, const char *path,
                      const char *prefix)
{
    char *text = doctor_load(d->top, path);
    for (char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        read_line(settings, line, length, prefix, path);
        line += length + (line[length] == '\n');
    }
    free(text);
}

static void read_glob(const struct doctor *d, struct setting *settings, const char *pattern)
{
    char full[PATH_MAX];
    glob_t found;
    if (snprintf(full, sizeof(full), "%s%s", d->root, pattern) >= (int)sizeof(full) ||
        glob(full, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_file(d, settings, found.gl_pathv[i] + strlen(d->root), "");
    globfree(&found);
}

/* A later file overrides an earlier one, as it does when a job starts. */
static void read_settings(const struct doctor *d, struct setting *settings)
{
    char path[PATH_MAX];
    const char *prefix = getenv("OPAL_PREFIX"), *home = getenv("HOME");
    read_file(d, settings, "/etc/openmpi/openmpi-mca-params.conf", "OMPI_MCA_");
    if (prefix) {
        snprintf(path, sizeof(path), "%s/etc/openmpi-mca-params.conf", prefix);
        read_file(d, settings, path, "OMPI_MCA_");
    }
    if (home) {
        snprintf(path, sizeof(path), "%s/.openmpi/mca-params.conf", home);
        read_file(d, settings, path, "OMPI_MCA_");
    }
    read_file(d, settings, "/etc/ucx/ucx.conf", "");
    read_file(d, settings, "/etc/environment", "");
    read_glob(d, settings, "/etc/profile.d/*.sh");
    for (struct setting *setting = settings; setting->name; setting++) {
        const char *value = getenv(setting->name);
        if (value)
            set(setting, value, strlen(value), "the environment");
    }
}

static const struct setting *find(const struct setting *settings, const char *name)
{
    while (strcmp(settings->name, name))
        settings++;
    return settings;
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool is_word_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (!strcasecmp(word, *words))
            return true;
    return false;
}

/* Copies the next word of a list with commas to `word`. */
static bool next(const char **list, char *word, size_t size)
{
    size_t length = strcspn(*list, ",");
    if (!**list)
        return false;
    snprintf(word, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

/* Returns true if the list names tcp, and besides it only transports inside the node. */
static bool only_tcp(const char *list, const char *const *local)
{
    char word[64];
    bool tcp = false;
    if (*list == '^')
        return false;
    while (next(&list, word, sizeof(word)))
        if (!strcmp(word, "tcp"))
            tcp = true;
        else if (!is_word_of(word, local) && strncmp(word, "cuda", 4) && strncmp(word, "rocm", 4))
            return false;
    return tcp;
}

static void complain(struct doctor *d, const struct setting *setting, const char *more)
{
    doctor_report(d, "mpi-ethernet", setting->name, "%s=%s in %s%s.", setting->name, setting->value,
                  setting->where, more);
}

/* In Open MPI the point-to-point layers ucx and cm do not use the byte transports of btl. */
static void judge_open_mpi(struct doctor *d, const struct setting *settings)
{
    static const char *const local[] = { "self", "vader", "sm", "smcuda", NULL };
    static const char *const others[] = { "ucx", "cm", "yalla", NULL };
    const struct setting *btl = find(settings, "OMPI_MCA_btl");
    const struct setting *pml = find(settings, "OMPI_MCA_pml");
    const char *list = pml->value;
    char word[64];
    if (!*btl->where || !only_tcp(btl->value, local))
        return;
    while (*list != '^' && next(&list, word, sizeof(word)))
        if (is_word_of(word, others))
            return;
    complain(d, btl, *pml->value ? "" : " (where Open MPI has no UCX)");
}

static void judge_ucx(struct doctor *d, const struct setting *settings)
{
    static const char *const local[] = { "self", "sm",   "shm",   "mm",       "posix", "sysv",
                                         "cma",  "knem", "xpmem", "gdr_copy", NULL };
    const struct setting *tls = find(settings, "UCX_TLS");
    if (*tls->where && (only_tcp(tls->value, local) ||
                        (*tls->value == '^' && doctor_list_has(tls->value + 1, "", "ib"))))
        complain(d, tls, "");
}

static const struct nuioa_nic *nic_of(const struct doctor *d, const char *device)
{
    char label[48];
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        if (!strcmp(nuioa_nic_label(nic, label, sizeof(label)), device) ||
            !strcmp(nic->netdev, device) || !strcmp(nic->name, device))
            return nic;
    }
    return NULL;
}

/* "mlx5_0:1" is a verbs port; "eth0" and "ib0" are interfaces of the kernel's, for TCP. */
static void judge_devices(struct doctor *d, const struct setting *settings)
{
    const struct setting *devices = find(settings, "UCX_NET_DEVICES");
    const char *list = devices->value;
    char word[64];
    bool fast = false, slow = false;
    if (strpbrk(list, "^*[") || !strcmp(list, "all"))
        return;
    while (next(&list, word, sizeof(word))) {
        const struct nuioa_nic *nic = nic_of(d, word);
        if (!strncmp(word, "cuda", 4) || !strncmp(word, "rocm", 4) || !strcmp(word, "lo"))
            continue;
        if (!nic)
            doctor_report(d, "mpi-device", word, "%s=%s in %s: there is no %s here.", devices->name,
                          devices->value, devices->where, word);
        else if (nic->port && strcmp(nic->netdev, word))
            fast = true;
        else
            slow = true;
    }
    if (slow && !fast)
        complain(d, devices, "");
}

static void judge_words(struct doctor *d, const struct setting *settings)
{
    static const char *const slow[] = { "tcp", "sockets", "udp", "net", "shm:tcp", NULL };
    static const char *const names[] = { "FI_PROVIDER", "I_MPI_OFI_PROVIDER", "I_MPI_FABRICS",
                                         "MPIR_CVAR_OFI_USE_PROVIDER" };
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct setting *setting = find(settings, names[i]);
        char word[VALUE_SIZE];
        nuioa_copy(word, sizeof(word), setting->value);
        word[strcspn(word, ";")] = '\0'; /* "tcp;ofi_rxm" */
        if (*setting->where && is_word_of(word, slow))
            complain(d, setting, "");
    }
    const struct setting *nccl = find(settings, "NCCL_IB_DISABLE");
    if (!strcmp(nccl->value, "1"))
        complain(d, nccl, "");
}

void doctor_check_mpi(struct doctor *d)
{
    struct setting settings[] = {
        { .name = "OMPI_MCA_btl" },    { .name = "OMPI_MCA_pml" },
        { .name = "UCX_TLS" },         { .name = "UCX_NET_DEVICES" },
        { .name = "FI_PROVIDER" },     { .name = "I_MPI_OFI_PROVIDER" },
        { .name = "I_MPI_FABRICS" },   { .name = "MPIR_CVAR_OFI_USE_PROVIDER" },
        { .name = "NCCL_IB_DISABLE" }, { .name = NULL }
    };
    bool fast = false;
    for (uint32_t i = 0; i < d->node.nic_count; i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        fast = fast ||
               (doctor_is_port(nic) && doctor_is_fast(nic->kind) && nic->state == NUIOA_NIC_ACTIVE);
    }
    if (!fast)
        return;
    read_settings(d, settings);
    judge_open_mpi(d, settings);
    judge_ucx(d, settings);
    judge_devices(d, settings);
    judge_words(d, settings);
}
