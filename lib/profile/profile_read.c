/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/profile_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/hints.h"
#include "profile/profile_format.h"
#include "util/text.h"
#include "util/word.h"

/* --- files ----------------------------------------------------------------------------------- */

static const struct profile_format *const formats[] = {
    [NUIOA_PROFILE_TEXT] = &profile_text,
    [NUIOA_PROFILE_MATRIX] = &profile_matrix,
    [NUIOA_PROFILE_OPENMPI] = &profile_openmpi,
};

static bool is_blank(const char *line)
{
    line += strspn(line, " \t\r\n");
    return !*line || *line == '#';
}

/* Returns true if the first line is that of a list of hints, such as "0:5", "rest:0", "heavy=8". */
static bool is_list(const char *line)
{
    line += strspn(line, " \t");
    size_t ranks = strspn(line, "0123456789-");
    return (ranks && line[ranks] == ':') || !strncmp(line, "rest:", 5) ||
           !strncmp(line, "heavy=", 6);
}

/* A line that no format recognises is read as text, whose reader then says what is wrong. */
static const struct profile_format *recognise(const char *line)
{
    line += strspn(line, " \t");
    if (profile_openmpi.recognises(line))
        return &profile_openmpi;
    return profile_matrix.recognises(line) ? &profile_matrix : &profile_text;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), part = strlen(end);
    return length > part && !strcmp(text + length - part, end);
}

static int too_large(const char *path, struct nuioa_error *err)
{
    return nuioa_fail(err, -EFBIG, "%s: larger than %ld MB", path, NUIOA_PROFILE_BYTES_MAX >> 20);
}

static int read_lines(struct profile_reader *r, FILE *in, const struct profile_format *format)
{
    char *line = NULL;
    size_t room = 0, sum = 0;
    ssize_t length;
    int rc = 0;
    while (!rc && (length = getline(&line, &room, in)) >= 0) {
        r->line++;
        sum += (size_t)length;
        if (sum > NUIOA_PROFILE_BYTES_MAX) { /* it has grown meanwhile */
            rc = too_large(r->path, r->err);
        } else if (strlen(line) != (size_t)length) {
            rc = profile_fail(r, "not a text file");
        } else if (!is_blank(line)) {
            if (!format && is_list(line))
                rc = profile_fail(r, "a list of hints, not a profile: use --hints");
            else if (!format)
                format = recognise(line);
            if (!rc)
                rc = format->line(r, line);
        }
    }
    if (!rc && !feof(in)) /* getline has failed, perhaps for want of memory */
        rc = nuioa_fail(r->err, -EIO, "%s: cannot be read", r->path);
    /* Open MPI's file of a rank that sent nothing consists of comments. */
    if (!format)
        format = ends_with(r->path, ".prof") ? &profile_openmpi : &profile_text;
    if (!rc)
        rc = format->finish(r);
    free(line);
    return rc;
}

/* Opens a regular file. O_NONBLOCK: opening a pipe must not block srun. */
static int open_file(const char *path, FILE **in, struct nuioa_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
    if (fd < 0 || fstat(fd, &st))
        rc = nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st.st_mode))
        rc = nuioa_fail(err, -EINVAL, "%s: not a regular file", path);
    else if (st.st_size > NUIOA_PROFILE_BYTES_MAX)
        rc = too_large(path, err);
    else if (!(*in = fdopen(fd, "r")))
        rc = nuioa_fail(err, -ENOMEM, "%s: out of memory", path);
    if (rc && fd >= 0)
        close(fd);
    return rc;
}

/* Reads a file of this format, NULL: of any; only flows of the `wanted` ranks, NULL: of all. */
static int read_file(const char *path, const struct profile_format *format,
                     enum nuioa_metric metric, const bool *wanted, struct nuioa_profile *profile,
                     struct nuioa_error *err)
{
    struct profile_reader r = {
        .path = path, .metric = metric, .profile = profile, .err = err, .wanted = wanted
    };
    FILE *in;
    memset(profile, 0, sizeof(*profile));
    int rc = open_file(path, &in, err);
    if (rc)
        return rc;
    rc = read_lines(&r, in, format);
    fclose(in);
    free(r.seen);
    if (rc)
        nuioa_profile_free(profile);
    return rc;
}

/* --- a list of hints ------------------------------------------------------------------------- */

/* Appends the items of a line to the list. */
static void add_items(char *line, struct nuioa_text *list)
{
    line[strcspn(line, "#")] = '\0';
    for (char *item; (item = nuioa_next_word(&line, ", \t\r\n"));)
        nuioa_text_add(list, "%s%s", list->used ? "," : "", item);
}

static int check_list(const char *path, const char *list, struct nuioa_error *err)
{
    struct nuioa_hints hints;
    struct nuioa_error why;
    int rc = nuioa_hints_parse(&hints, list, &why);
    nuioa_hints_free(&hints);
    return rc < 0 ? nuioa_fail(err, rc, "%s: %s", path, why.text) : 1;
}

int nuioa_profile_list(const char *path, char *list, size_t size, struct nuioa_error *err)
{
    char *line = NULL;
    size_t room = 0;
    struct stat st;
    bool found = false;
    FILE *in;
    if (!stat(path, &st) && S_ISDIR(st.st_mode)) /* files of Open MPI's monitoring */
        return 0;
    int rc = open_file(path, &in, err);
    if (rc)
        return rc;
    struct nuioa_text text = nuioa_text_in(list, size);
    while (!text.lost && getline(&line, &room, in) >= 0) {
        if (!found && !is_blank(line) && !(found = is_list(line)))
            break;
        if (!is_blank(line))
            add_items(line, &text);
    }
    free(line);
    fclose(in);
    if (text.lost)
        return nuioa_fail(
            err, -EFBIG,
            "%s: hints longer than %zu bytes without comments. Write 0-7:1 for ranks of one "
            "weight, or use a profile",
            path, size - 1);
    return found ? check_list(path, list, err) : 0;
}

/* --- several --------------------------------------------------------------------------------- */

static int widen(struct nuioa_profile *profile, uint32_t rank_count)
{
    if (rank_count <= profile->rank_count)
        return 0;
    struct nuioa_traffic *ranks = realloc(profile->ranks, rank_count * sizeof(*ranks));
    if (!ranks)
        return -ENOMEM;
    memset(ranks + profile->rank_count, 0, (rank_count - profile->rank_count) * sizeof(*ranks));
    profile->ranks = ranks;
    profile->rank_count = rank_count;
    return 0;
}

static void add_traffic(struct nuioa_traffic *to, const struct nuioa_traffic *from)
{
    to->sent_bytes += from->sent_bytes;
    to->recv_bytes += from->recv_bytes;
    to->sent_msgs += from->sent_msgs;
    to->recv_msgs += from->recv_msgs;
    to->large_recv_bytes += from->large_recv_bytes;
}

/* Adds `part` to `sum` and frees it. Returns 0, -E2BIG or -ENOMEM. */
static int absorb(struct nuioa_profile *sum, struct nuioa_profile *part)
{
    int rc = part->flow_count > NUIOA_PROFILE_FLOWS_MAX - sum->flow_count ? -E2BIG : 0;
    if (!rc && (widen(sum, part->rank_count) || profile_make_room(sum, part->flow_count)))
        rc = -ENOMEM;
    if (!rc) {
        for (uint32_t i = 0; i < part->rank_count; i++)
            add_traffic(&sum->ranks[i], &part->ranks[i]);
        if (part->flow_count)
            memcpy(sum->flows + sum->flow_count, part->flows,
                   part->flow_count * sizeof(*part->flows));
        sum->flow_count += part->flow_count;
        sum->partial |= part->partial;
        sum->has_large |= part->has_large;
    }
    nuioa_profile_free(part);
    return rc;
}

struct loader {
    enum nuioa_profile_format format;
    enum nuioa_metric metric;
    struct nuioa_profile *sum;
    struct nuioa_error *err;
    bool counted;   /* a file has given the number of ranks */
    bool directory; /* a directory of Open MPI's files was read */
    bool *has_file; /* [NUIOA_PROFILE_RANKS_MAX]: Open MPI's file of this rank was read */
};

/* Open MPI writes a file for each rank, also for one that sent nothing. */
static void count_missing(struct loader *l)
{
    struct nuioa_profile *sum = l->sum;
    for (uint32_t rank = sum->rank_count; l->directory && rank-- > 0;)
        if (!l->has_file[rank]) {
            sum->missing++;
            sum->first_missing = rank;
        }
    sum->partial |= sum->missing > 0;
}

static int add_file(struct loader *l, const char *path, bool monitoring)
{
    enum nuioa_profile_format format = monitoring ? NUIOA_PROFILE_OPENMPI : l->format;
    struct nuioa_profile part;
    int rc = read_file(path, format == NUIOA_PROFILE_ANY ? NULL : formats[format], l->metric, NULL,
                       &part, l->err);
    if (rc)
        return rc;
    uint32_t ranks = part.rank_count, before = l->sum->rank_count, rank;
    if (profile_openmpi_rank(path, &rank))
        l->has_file[rank] = true;
    bool counted = !monitoring && format != NUIOA_PROFILE_OPENMPI && !ends_with(path, ".prof");
    if (counted && l->counted && ranks != before) {
        nuioa_profile_free(&part);
        return nuioa_fail(l->err, -EINVAL, "%s: %u ranks, but the files before have %u", path,
                          ranks, before);
    }
    l->counted |= counted;
    rc = absorb(l->sum, &part);
    if (rc)
        nuioa_fail(l->err, rc,
                   rc == -E2BIG ? "%s: more than %u pairs in all"
                                : "%s: out of memory (%u pairs are the limit)",
                   path, NUIOA_PROFILE_FLOWS_MAX);
    return rc;
}

static int is_monitoring(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".prof");
}

static int add_directory(struct loader *l, const char *path)
{
    struct dirent **entries = NULL;
    l->directory = true;
    int rc = 0, count = scandir(path, &entries, is_monitoring, alphasort);
    if (count < 0)
        return nuioa_fail(l->err, -errno, "%s: %s", path, strerror(errno));
    if (!count)
        rc = nuioa_fail(l->err, -EINVAL, "%s: a directory without *.prof files of Open MPI", path);
    for (int i = 0; i < count; i++) {
        char *file = NULL;
        if (!rc && asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0)
            rc = nuioa_fail(l->err, -ENOMEM, "%s: out of memory", path);
        else if (!rc)
            rc = add_file(l, file, true);
        free(file);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int nuioa_profile_load(const char *const *paths, uint32_t count, enum nuioa_profile_format format,
                       enum nuioa_metric metric, struct nuioa_profile *profile,
                       struct nuioa_error *err)
{
    struct loader l = { .format = format, .metric = metric, .sum = profile, .err = err };
    struct stat st;
    int rc = 0;
    memset(profile, 0, sizeof(*profile));
    l.has_file = calloc(NUIOA_PROFILE_RANKS_MAX, sizeof(*l.has_file));
    if (!l.has_file)
        return nuioa_fail(err, -ENOMEM, "%s: out of memory", count ? *paths : "");
    for (uint32_t i = 0; i < count && !rc; i++) {
        bool directory = !stat(paths[i], &st) && S_ISDIR(st.st_mode);
        rc = directory ? add_directory(&l, paths[i]) : add_file(&l, paths[i], false);
    }
    if (!rc && !profile->rank_count)
        rc = nuioa_fail(err, -EINVAL, "%s: no traffic, so no ranks are known", count ? *paths : "");
    profile->open_ended = !l.counted;
    if (!rc)
        count_missing(&l);
    free(l.has_file);
    if (rc)
        nuioa_profile_free(profile);
    return rc;
}

int nuioa_profile_read(const char *path, struct nuioa_profile *profile, struct nuioa_error *err)
{
    return nuioa_profile_load(&path, 1, NUIOA_PROFILE_ANY, NUIOA_METRIC_SIZE, profile, err);
}

int nuioa_profile_read_part(const char *path, const uint32_t *ranks, uint32_t count,
                            struct nuioa_profile *profile, struct nuioa_error *err)
{
    bool *wanted = calloc(NUIOA_PROFILE_RANKS_MAX, sizeof(*wanted));
    memset(profile, 0, sizeof(*profile));
    if (!wanted)
        return nuioa_fail(err, -ENOMEM, "%s: out of memory", path);
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i] < NUIOA_PROFILE_RANKS_MAX)
            wanted[ranks[i]] = true;
    int rc = read_file(path, NULL, NUIOA_METRIC_SIZE, wanted, profile, err);
    free(wanted);
    if (!rc && !profile->rank_count)
        rc = nuioa_fail(err, -EINVAL, "%s: no traffic, so no ranks are known", path);
    return rc;
}
