/* SPDX-License-Identifier: BSD-3-Clause */

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/doctor/conf.h"
#include "util/descriptors.h"
#include "util/error.h"
#include "util/word.h"

enum { FILE_BYTES_MAX = 4 << 20, DEPTH_MAX = 8, ARGUMENTS_MAX = 64 };

/* Without these limits, a file that includes itself ten times is read 10^DEPTH_MAX times. */
enum { FILES_MAX = 1000, BYTES_MAX = 16 << 20 };

/* Returns the text of a regular file, which the arena owns; NULL if it cannot be opened, or if too
 * much was read already. It never waits. */
static char *load(struct doctor_conf *conf, const char *path)
{
    struct stat st;
    char *text = NULL;
    if (conf->files++ >= FILES_MAX || conf->bytes >= BYTES_MAX)
        return NULL;
    int fd = openat(conf->top, path + (*path == '/'), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < FILE_BYTES_MAX)
        text = nuioa_arena_take(&conf->arena, (size_t)st.st_size + 1, 1);
    if (text)
        conf->bytes += nuioa_read_all(fd, text, (size_t)st.st_size);
    close(fd);
    return text;
}

static bool exists(const struct doctor_conf *conf, const char *path)
{
    struct stat st;
    return !fstatat(conf->top, path + (*path == '/'), &st, 0) && S_ISREG(st.st_mode);
}

/* Makes the path of `name` beside the file `path`, unless it is absolute. False: it is too long. */
static bool beside(char to[PATH_MAX], const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    int directory = *name == '/' || !slash ? 0 : (int)(slash - path) + 1;
    int length = snprintf(to, PATH_MAX, "%.*s%s", directory, path, name);
    return length > 0 && length < PATH_MAX;
}

/* Finds the files below the top that match a pattern. Returns false if there is none; otherwise the
 * caller skips the root in each path, and frees *found. */
static bool find_all(const struct doctor_conf *conf, const char *pattern, glob_t *found)
{
    char full[PATH_MAX];
    return snprintf(full, sizeof(full), "%s%s", conf->root, pattern) < (int)sizeof(full) &&
           !glob(full, 0, NULL, found);
}

/* Finds the file `name` in one of the directories, which have colons between, and may be
 * patterns. */
static bool take(const struct doctor_conf *conf, char path[PATH_MAX], const char *directories,
                 const char *name)
{
    glob_t found;
    for (size_t length; directories && *directories;
         directories += length + !!directories[length]) {
        length = strcspn(directories, ":");
        int all = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, directories, name);
        if (all > 0 && all < PATH_MAX && strchr(path, '*') && find_all(conf, path, &found)) {
            nuioa_copy(path, PATH_MAX, found.gl_pathv[0] + strlen(conf->root));
            globfree(&found);
        }
        if (all > 0 && all < PATH_MAX && exists(conf, path))
            return true;
    }
    return false;
}

/* --- slurm.conf ------------------------------------------------------------------------------- */

static const char blanks[] = " \t\r";

/* Returns the next line with its continuation lines, without its comment. NULL: there is none. */
static char *next_line(char **rest)
{
    char *line = *rest, *to = line;
    if (!line || !*line)
        return NULL;
    bool comment = false;
    for (char *c = line;; c++) {
        if (*c == '\\' && c[1] == '\n') {
            c++;
        } else if (*c == '\\' && c[1] == '#' && !comment) {
            *to++ = *++c;
        } else if (*c == '\n' || !*c) {
            *rest = *c ? c + 1 : c;
            break;
        } else {
            comment = comment || *c == '#';
            if (!comment)
                *to++ = *c;
        }
    }
    *to = '\0';
    return line;
}

/* Reads the next "Key=Value", "Key = Value" or "Key=\"a value\"". False: there is none. */
static bool next_pair(char **rest, const char **key, const char **value)
{
    char *c = *rest + strspn(*rest, blanks);
    *key = c;
    c += strcspn(c, " \t\r=");
    char *end = c;
    c += strspn(c, blanks);
    if (c == *key || *c != '=')
        return false;
    if (end > *key && strchr("-+*/", end[-1]))
        end--; /* Slurm has operators, as in "Key+=Value" */
    *end = '\0';
    c++;
    c += strspn(c, blanks);
    bool quoted = *c == '"';
    *value = c += quoted;
    c += strcspn(c, quoted ? "\"" : blanks);
    *rest = *c ? c + 1 : c;
    *c = '\0';
    return true;
}

static void add_entries(struct doctor_conf *conf, char *line)
{
    const char *key, *value, *block = NULL, *name = NULL;
    struct doctor_entry *entry;
    while (next_pair(&line, &key, &value) &&
           (entry = nuioa_arena_take(&conf->arena, 1, sizeof(*entry)))) {
        block = block ? block : key;
        name = name ? name : value;
        *entry = (struct doctor_entry){ key, value, block, name, NULL };
        *conf->last_entry = entry;
        conf->last_entry = &entry->next;
    }
}

static bool read_file(struct doctor_conf *conf, const char *path, int depth)
{
    char *text = load(conf, path), *rest = text, *line, other[PATH_MAX];
    while ((line = next_line(&rest))) {
        line += strspn(line, blanks);
        if (strncasecmp(line, "include", 7) || !strchr(" \t", line[7])) {
            add_entries(conf, line);
            continue;
        }
        line += 7;
        char *file = nuioa_next_word(&line, blanks);
        if (file && depth < DEPTH_MAX && beside(other, path, file))
            read_file(conf, other, depth + 1);
    }
    return text;
}

/* Looks where Slurm is built to look for slurm.conf, then in the usual places. */
static void find_slurm_conf(struct doctor_conf *conf)
{
    static const char usual[] =
        SLURM_PREFIX "/etc:" SLURM_PREFIX "/etc/slurm:" SYSCONFDIR "/slurm:/etc/slurm:"
                     "/etc/slurm-llnl:/run/slurm/conf:/var/spool/slurmd/conf-cache:"
                     "/var/spool/slurm/conf-cache:/var/spool/slurm/d/conf-cache:"
                     "/usr/local/etc:/opt/slurm/etc";
    const char *said = getenv("SLURM_CONF");
    if (said && *said == '/')
        nuioa_copy(conf->path, sizeof(conf->path), said);
    else if (!take(conf, conf->path, usual, "slurm.conf"))
        *conf->path = '\0';
}

const char *doctor_conf_value(const struct doctor_conf *conf, const char *key)
{
    const char *value = NULL;
    for (const struct doctor_entry *entry = conf->entries; entry; entry = entry->next)
        if (!strcasecmp(entry->key, key) && !strcasecmp(entry->block, key))
            value = entry->value;
    return value;
}

bool doctor_list_has(const char *list, const char *prefix, const char *word)
{
    for (const char *end; list && *list; list = end + (*end == ',')) {
        end = list + strcspn(list, ",");
        if (!strncasecmp(list, prefix, strlen(prefix)))
            list += strlen(prefix);
        if ((size_t)(end - list) == strlen(word) && !strncasecmp(list, word, strlen(word)))
            return true;
    }
    return false;
}

/* --- plugstack.conf --------------------------------------------------------------------------- */

/* Here Slurm knows no continuation lines, and a carriage return is no blank. */
static const char gaps[] = " \t";

/* Slurm reads the file as the user who calls srun. `path` may be a pattern: then each user must be
 * able to list the directories that it matches names in. */
static void check_readable(struct doctor_conf *conf, const char *path)
{
    char part[PATH_MAX];
    struct stat st;
    for (const char *end = path; *end;) {
        end += 1 + strcspn(end + 1, "/");
        size_t next = *end ? 1 + strcspn(end + 1, "/") : 0;
        mode_t wanted = next ? S_IXOTH : S_IROTH;
        if (strcspn(end, "*?[") < next)
            wanted |= S_IROTH;
        snprintf(part, sizeof(part), "%.*s", (int)(end - path), path);
        if (!fstatat(conf->top, part + 1, &st, 0) && (st.st_mode & wanted) != wanted)
            nuioa_warn(&conf->faults, "%s has mode %03o, so not every user can %s it", part,
                       (unsigned)st.st_mode & 07777,
                       S_ISDIR(st.st_mode) ? "enter and list" : "read");
    }
}

static void add_plug(struct doctor_conf *conf, const char *where, bool required, const char *path,
                     char *rest)
{
    struct doctor_plug *plug = nuioa_arena_take(&conf->arena, 1, sizeof(*plug));
    char **argv = nuioa_arena_take(&conf->arena, ARGUMENTS_MAX, sizeof(*argv)), *word;
    const char *slash = strrchr(path, '/');
    if (!plug || !argv)
        return;
    *plug = (struct doctor_plug){ .path = path, .required = required, .argv = argv };
    plug->ours = !strcmp(slash ? slash + 1 : path, "nuioa.so");
    nuioa_copy(plug->where, sizeof(plug->where), where);
    while (plug->argc < ARGUMENTS_MAX && (word = nuioa_next_word(&rest, gaps)))
        argv[plug->argc++] = word;
    *conf->last_plug = plug;
    conf->last_plug = &plug->next;
}

static bool read_stack(struct doctor_conf *conf, const char *path, int depth)
{
    char *text = load(conf, path), *rest = text, *line, where[PATH_MAX + 16], other[PATH_MAX];
    glob_t found;
    check_readable(conf, path);
    for (unsigned number = 1; (line = strsep(&rest, "\n")); number++) {
        line[strcspn(line, "#")] = '\0';
        char *word = nuioa_next_word(&line, gaps), *name = nuioa_next_word(&line, gaps);
        if (!word)
            continue;
        snprintf(where, sizeof(where), "%s:%u", path, number);
        if (name && strchr(name, '\r'))
            nuioa_warn(&conf->faults,
                       "%s: the name ends with a carriage return, so Slurm finds no such file",
                       where);
        if (name && (!strcmp(word, "required") || !strcmp(word, "optional"))) {
            add_plug(conf, where, !strcmp(word, "required"), name, line);
        } else if (!name || strcmp(word, "include")) {
            nuioa_warn(&conf->faults,
                       "%s: Slurm ignores this line: '%s' is not include, optional or required, or "
                       "stands alone",
                       where, word);
        } else if (depth < DEPTH_MAX && beside(other, path, name)) {
            check_readable(conf, other);
            if (!find_all(conf, other, &found))
                continue;
            for (size_t i = 0; i < found.gl_pathc; i++)
                read_stack(conf, found.gl_pathv[i] + strlen(conf->root), depth + 1);
            globfree(&found);
        }
    }
    return text;
}

/* --- all of them ------------------------------------------------------------------------------ */

void doctor_conf_read(struct doctor_conf *conf, int top, const char *root)
{
    char path[PATH_MAX];
    *conf = (struct doctor_conf){ .top = top, .root = root };
    conf->last_entry = &conf->entries;
    conf->last_plug = &conf->plugs;
    find_slurm_conf(conf);
    if (*conf->path && !read_file(conf, conf->path, 0))
        *conf->path = '\0';
    if (!*conf->path)
        return;
    const char *stack = doctor_conf_value(conf, "PlugStackConfig");
    conf->files = conf->bytes = 0;
    if (beside(path, conf->path, stack ? stack : "plugstack.conf")) {
        nuioa_copy(conf->stack, sizeof(conf->stack), path);
        conf->stack_found = read_stack(conf, path, 0);
    }
    /* no key is in two of these files, so that one list is enough */
    conf->files = conf->bytes = 0;
    if (beside(path, conf->path, "cgroup.conf"))
        read_file(conf, path, 0);
    if (beside(path, conf->path, "mpi.conf"))
        read_file(conf, path, 0);
}

/* --- plugins ---------------------------------------------------------------------------------- */

bool doctor_conf_plugin(const struct doctor_conf *conf, const char *name, char path[PATH_MAX])
{
    static const char usual[] =
        SLURM_PLUGINDIR ":" PLUGINDIR ":/usr/lib64/slurm:/usr/lib/slurm:/usr/lib/*/slurm-wlm:"
                        "/usr/lib/*/slurm:/usr/local/lib/slurm:/opt/slurm/lib/slurm";
    return take(conf, path, doctor_conf_value(conf, "PluginDir"), name) ||
           take(conf, path, usual, name);
}

bool doctor_conf_spank(const struct doctor_conf *conf, const char *name, char path[PATH_MAX])
{
    const char *said = doctor_conf_value(conf, "PluginDir");
    char own[PATH_MAX];
    if (*name == '/')
        return !nuioa_copy(path, PATH_MAX, name) && exists(conf, name);
    if (said)
        return take(conf, path, said, name);
    if (!doctor_conf_plugin(conf, "libslurmfull.so", own))
        return doctor_conf_plugin(conf, name, path);
    return beside(path, own, name) && exists(conf, path);
}
