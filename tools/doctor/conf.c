/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/doctor/conf.h"
#include "util/error.h"
#include "util/word.h"

enum { FILE_BYTES_MAX = 4 << 20, DEPTH_MAX = 8, ARGUMENTS_MAX = 64 };

/* Without these limits, a file that includes itself ten times is read 10^DEPTH_MAX times. */
enum { FILES_MAX = 1000, BYTES_MAX = 16 << 20 };

/* Returns the text of a regular file, which the caller frees; NULL if it cannot be opened or is too
 * large. After an error of reading it is what was read before it. It never waits. */
static char *load(int top, const char *path)
{
    struct stat st;
    int fd = openat(top, *path == '/' ? path + 1 : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    ssize_t got = -1;
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < FILE_BYTES_MAX)
        text = malloc((size_t)st.st_size + 1);
    size_t room = text ? (size_t)st.st_size : 0, length = 0;
    while (text && length < room && (got = read(fd, text + length, room - length)) != 0) {
        if (got < 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (text)
        text[length] = '\0';
    return text;
}

/* Loads one more file. Returns NULL also if there were too many. */
static char *load_next(struct doctor_reading *so_far, int top, const char *path)
{
    if (so_far->files++ >= FILES_MAX || so_far->bytes >= BYTES_MAX)
        return NULL;
    char *text = load(top, path);
    so_far->bytes += text ? strlen(text) : 0;
    return text;
}

static bool exists(int top, const char *path)
{
    struct stat st;
    return !fstatat(top, *path == '/' ? path + 1 : path, &st, 0) && S_ISREG(st.st_mode);
}

/* Makes the path of `name` beside the file `path`, unless it is absolute. False: it is too long. */
static bool beside(char *to, size_t size, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    int directory = *name == '/' || !slash ? 0 : (int)(slash - path) + 1;
    int length = snprintf(to, size, "%.*s%s", directory, path, name);
    return length > 0 && (size_t)length < size;
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Returns the next line with its continuation lines, without its comment. NULL: there is none. */
static char *next_line(char **rest, unsigned *number)
{
    char *line = *rest, *to = line;
    if (!line || !*line)
        return NULL;
    bool comment = false;
    for (char *c = line;; c++) {
        if (*c == '\\' && c[1] == '\n') {
            ++*number;
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
    ++*number;
    *to = '\0';
    return line;
}

static const char blanks[] = " \t\r";

/* --- slurm.conf ------------------------------------------------------------------------------- */

static void free_entry(struct doctor_entry *entry)
{
    free(entry->key);
    free(entry->value);
    free(entry->block);
    free(entry->name);
}

/* An entry for which there is no memory is left out. */
static bool add_entry(struct doctor_conf *conf, const char *key, const char *value,
                      const char *block, const char *name)
{
    if (conf->count == conf->capacity) {
        unsigned capacity = conf->capacity ? 2 * conf->capacity : 64;
        void *more = realloc(conf->entries, capacity * sizeof(*conf->entries));
        if (!more)
            return false;
        conf->entries = more;
        conf->capacity = capacity;
    }
    struct doctor_entry entry = { strdup(key), strdup(value), strdup(block), strdup(name) };
    if (!entry.key || !entry.value || !entry.block || !entry.name) {
        free_entry(&entry);
        return false;
    }
    conf->entries[conf->count++] = entry;
    return true;
}

/* Reads the next "Key=Value", "Key = Value" or "Key=\"a value\"". False: there is none. */
static bool next_pair(char **rest, char **key, char **value)
{
    char *c = *rest + strspn(*rest, " \t\r");
    *key = c;
    c += strcspn(c, " \t\r=");
    char *end = c;
    c += strspn(c, " \t\r");
    if (c == *key || *c != '=')
        return false;
    if (end > *key && strchr("-+*/", end[-1]))
        end--; /* Slurm has operators, as in "Key+=Value" */
    *end = '\0';
    c++;
    c += strspn(c, " \t\r");
    bool quoted = *c == '"';
    *value = c += quoted;
    c += strcspn(c, quoted ? "\"" : " \t\r");
    *rest = *c ? c + 1 : c;
    *c = '\0';
    return true;
}

static bool read_file(struct doctor_conf *conf, int top, const char *path, int depth);

static void read_line(struct doctor_conf *conf, int top, const char *path, char *line, int depth)
{
    char *key, *value, other[PATH_MAX], *block = NULL, *name = NULL, *rest = line;
    line += strspn(line, " \t\r");
    if (!strncasecmp(line, "include", 7) && strchr(" \t", line[7])) {
        rest = line + 7;
        char *file = nuioa_next_word(&rest, blanks);
        if (file && depth < DEPTH_MAX && beside(other, sizeof(other), path, file))
            read_file(conf, top, other, depth + 1);
        return;
    }
    while (next_pair(&rest, &key, &value)) {
        if (!block) {
            block = key;
            name = value;
        }
        if (!add_entry(conf, key, value, block, name))
            return;
    }
}

static bool read_file(struct doctor_conf *conf, int top, const char *path, int depth)
{
    char *text = load_next(&conf->so_far, top, path), *rest = text, *line;
    unsigned number = 0;
    while ((line = next_line(&rest, &number)))
        read_line(conf, top, path, line, depth);
    bool there = text;
    free(text);
    return there;
}

void doctor_conf_read(struct doctor_conf *conf, int top)
{
    static const char *const usual[] = { SLURM_PREFIX "/etc/slurm.conf",
                                         SLURM_PREFIX "/etc/slurm/slurm.conf",
                                         SYSCONFDIR "/slurm/slurm.conf",
                                         "/etc/slurm/slurm.conf",
                                         "/etc/slurm-llnl/slurm.conf",
                                         "/run/slurm/conf/slurm.conf",
                                         "/var/spool/slurmd/conf-cache/slurm.conf",
                                         "/var/spool/slurm/conf-cache/slurm.conf",
                                         "/usr/local/etc/slurm.conf",
                                         "/opt/slurm/etc/slurm.conf" };
    const char *said = getenv("SLURM_CONF");
    memset(conf, 0, sizeof(*conf));
    if (said && *said == '/')
        nuioa_copy(conf->path, sizeof(conf->path), exists(top, said) ? said : "");
    else
        for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual) && !*conf->path; i++)
            if (exists(top, usual[i]))
                nuioa_copy(conf->path, sizeof(conf->path), usual[i]);
    if (*conf->path && !read_file(conf, top, conf->path, 0))
        conf->path[0] = '\0';
}

bool doctor_conf_read_beside(struct doctor_conf *into, const struct doctor_conf *conf, int top,
                             const char *name)
{
    char path[PATH_MAX];
    return beside(path, sizeof(path), conf->path, name) && read_file(into, top, path, 0);
}

void doctor_conf_free(struct doctor_conf *conf)
{
    for (unsigned i = 0; i < conf->count; i++)
        free_entry(&conf->entries[i]);
    free(conf->entries);
    memset(conf, 0, sizeof(*conf));
}

const char *doctor_conf_value(const struct doctor_conf *conf, const char *key)
{
    for (unsigned i = conf->count; i-- > 0;)
        if (!strcasecmp(conf->entries[i].key, key) && !strcasecmp(conf->entries[i].block, key))
            return conf->entries[i].value;
    return NULL;
}

bool doctor_list_has(const char *list, const char *prefix, const char *word)
{
    size_t skip = strlen(prefix), length = strlen(word);
    while (list && *list) {
        size_t own = strcspn(list, ",");
        const char *name = list;
        if (own > skip && !strncasecmp(name, prefix, skip)) {
            name += skip;
            own -= skip;
        }
        if (own == length && !strncasecmp(name, word, length))
            return true;
        list = name + own;
        list += *list == ',';
    }
    return false;
}

/* --- plugstack.conf --------------------------------------------------------------------------- */

/* Here Slurm knows no continuation lines, and a carriage return is no blank. */
static const char gaps[] = " \t";

static void fault(struct doctor_stack *stack, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void fault(struct doctor_stack *stack, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!*stack->fault)
        vsnprintf(stack->fault, sizeof(stack->fault), fmt, args);
    va_end(args);
}

/* Slurm reads the file as the user who calls srun. `path` may be a pattern: then each user must be
 * able to list the directories that it matches names in. */
static void check_readable(struct doctor_stack *stack, int top, const char *path)
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
        if (!fstatat(top, part + 1, &st, 0) && (st.st_mode & wanted) != wanted)
            fault(stack, "%s has mode %03o, so not every user can %s it", part,
                  (unsigned)st.st_mode & 07777, S_ISDIR(st.st_mode) ? "enter and list" : "read");
    }
}

static void add_plug(struct doctor_stack *stack, const char *where, bool required, char *path,
                     char *rest)
{
    char *word;
    if (stack->count == stack->capacity) {
        unsigned capacity = stack->capacity ? 2 * stack->capacity : 16;
        void *more = realloc(stack->plugs, capacity * sizeof(*stack->plugs));
        if (!more)
            return;
        stack->plugs = more;
        stack->capacity = capacity;
    }
    struct doctor_plug *plug = &stack->plugs[stack->count++];
    *plug = (struct doctor_plug){ strdup(path), strdup(where), required, 0,
                                  calloc(ARGUMENTS_MAX, sizeof(char *)) };
    if (!plug->path || !plug->where || !plug->argv) {
        stack->count--;
        free(plug->path);
        free(plug->where);
        free(plug->argv);
        return;
    }
    while ((word = nuioa_next_word(&rest, gaps)) && plug->argc < ARGUMENTS_MAX)
        if ((plug->argv[plug->argc] = strdup(word)))
            plug->argc++;
}

static bool read_stack(struct doctor_stack *stack, int top, const char *root, const char *path,
                       int depth);

static void include(struct doctor_stack *stack, int top, const char *root, const char *path,
                    const char *pattern, int depth)
{
    char named[PATH_MAX], full[PATH_MAX];
    glob_t found;
    if (depth >= DEPTH_MAX || !beside(named, sizeof(named), path, pattern) ||
        snprintf(full, sizeof(full), "%s%s", root, named) >= (int)sizeof(full))
        return;
    check_readable(stack, top, named);
    if (glob(full, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        read_stack(stack, top, root, found.gl_pathv[i] + strlen(root), depth + 1);
    globfree(&found);
}

static bool read_stack(struct doctor_stack *stack, int top, const char *root, const char *path,
                       int depth)
{
    char *text = load_next(&stack->so_far, top, path), *rest = text, *line, where[PATH_MAX + 16];
    check_readable(stack, top, path);
    for (unsigned number = 1; (line = strsep(&rest, "\n")); number++) {
        line[strcspn(line, "#")] = '\0';
        char *word = nuioa_next_word(&line, gaps), *name = nuioa_next_word(&line, gaps);
        if (!word)
            continue;
        snprintf(where, sizeof(where), "%s:%u", path, number);
        if (name && strchr(name, '\r'))
            fault(stack, "%s: the name ends with a carriage return, so Slurm finds no such file",
                  where);
        if (name && !strcmp(word, "include"))
            include(stack, top, root, path, name, depth);
        else if (name && (!strcmp(word, "required") || !strcmp(word, "optional")))
            add_plug(stack, where, !strcmp(word, "required"), name, line);
        else
            fault(stack,
                  "%s: Slurm ignores this line: '%s' is not include, optional or required, or "
                  "stands alone",
                  where, word);
    }
    bool there = text;
    free(text);
    return there;
}

void doctor_stack_read(struct doctor_stack *stack, const struct doctor_conf *conf, int top,
                       const char *root)
{
    const char *said = doctor_conf_value(conf, "PlugStackConfig");
    char path[PATH_MAX];
    memset(stack, 0, sizeof(*stack));
    if (!*conf->path || !beside(path, sizeof(path), conf->path, said ? said : "plugstack.conf"))
        return;
    nuioa_copy(stack->path, sizeof(stack->path), path);
    stack->found = read_stack(stack, top, root, path, 0);
}

void doctor_stack_free(struct doctor_stack *stack)
{
    for (unsigned i = 0; i < stack->count; i++) {
        for (int j = 0; j < stack->plugs[i].argc; j++)
            free(stack->plugs[i].argv[j]);
        free(stack->plugs[i].argv);
        free(stack->plugs[i].path);
        free(stack->plugs[i].where);
    }
    free(stack->plugs);
    memset(stack, 0, sizeof(*stack));
}

/* --- plugins ---------------------------------------------------------------------------------- */

static bool take(int top, char *path, size_t size, const char *directory, size_t length,
                 const char *name)
{
    int all = snprintf(path, size, "%.*s/%s", (int)length, directory, name);
    return all > 0 && (size_t)all < size && exists(top, path);
}

/* Looks in the directories of PluginDir. */
static bool take_from(int top, char *path, size_t size, const char *directories, const char *name)
{
    const char *said = directories;
    for (size_t length; said && *said; said += length + (said[length] == ':')) {
        length = strcspn(said, ":");
        if (take(top, path, size, said, length, name))
            return true;
    }
    return false;
}

bool doctor_conf_plugin(const struct doctor_conf *conf, int top, const char *root, const char *name,
                        char *path, size_t size)
{
    static const char *const usual[] = { SLURM_PLUGINDIR,        PLUGINDIR,
                                         "/usr/lib64/slurm",     "/usr/lib/slurm",
                                         "/usr/lib/*/slurm-wlm", "/usr/lib/*/slurm",
                                         "/usr/local/lib/slurm", "/opt/slurm/lib/slurm" };
    if (take_from(top, path, size, doctor_conf_value(conf, "PluginDir"), name))
        return true;
    for (unsigned i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        char pattern[PATH_MAX];
        glob_t found;
        if (snprintf(pattern, sizeof(pattern), "%s%s", root, usual[i]) >= (int)sizeof(pattern) ||
            glob(pattern, 0, NULL, &found))
            continue;
        bool there = false;
        for (size_t j = 0; j < found.gl_pathc && !there; j++) {
            const char *directory = found.gl_pathv[j] + strlen(root);
            there = take(top, path, size, directory, strlen(directory), name);
        }
        globfree(&found);
        if (there)
            return true;
    }
    return false;
}

bool doctor_conf_spank(const struct doctor_conf *conf, int top, const char *root, const char *name,
                       char *path, size_t size)
{
    const char *said = doctor_conf_value(conf, "PluginDir");
    char own[PATH_MAX];
    if (*name == '/')
        return !nuioa_copy(path, size, name) && exists(top, name);
    if (said)
        return take_from(top, path, size, said, name);
    if (!doctor_conf_plugin(conf, top, root, "libslurmfull.so", own, sizeof(own)))
        return doctor_conf_plugin(conf, top, root, name, path, size);
    return beside(path, size, own, name) && exists(top, path);
}
