/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/distance_site.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/number.h"
#include "util/word.h"

enum { FILE_BYTES_MAX = 4 << 20, NUMA_MAX = 4096, VALUE_MAX = 1000000 };

struct reader {
    const char *path;
    const struct nuioa_node *node;
    struct nuioa_error *err;
    uint32_t *matrix; /* where the section for `node` goes */
    unsigned line;
    bool in_section;
    bool matches;        /* the section describes a node like this one */
    bool found;          /* such a section is complete */
    uint32_t numa_count; /* of the section */
    uint32_t listed;     /* length of the "numa" line, 0 before it */
    uint32_t rows;       /* read so far */
    int *index;          /* position in the section to position in node->numas, NUMA_MAX entries */
    struct nuioa_nic *nics; /* those of the node, which get what was measured of them; NULL: none */
};

static int malformed(const struct reader *r, const char *what)
{
    return nuioa_fail(r->err, -EINVAL, "%s:%u: %s", r->path, r->line, what);
}

static const char blanks[] = " \t\r";

static int end_section(struct reader *r)
{
    if (r->in_section && (!r->listed || r->rows != r->numa_count))
        return malformed(r, "the section before ends without all of its rows");
    r->found = r->found || (r->in_section && r->matches);
    r->in_section = r->matches = false;
    return 0;
}

/* Cuts a word such as "numa=8" at the '='. Returns the value, "" if there is no '='. */
static const char *split_word(char *word)
{
    char *equals = strchr(word, '=');
    if (!equals)
        return "";
    *equals = '\0';
    return equals + 1;
}

/* Reads the rest of a line such as `machine packages=8 numa=8 cores=16 model="..."`. */
static int read_machine(struct reader *r, char *rest)
{
    const struct nuioa_node *node = r->node;
    uint32_t packages = 0, cores = 0;
    int rc = end_section(r);
    if (rc)
        return rc;
    r->numa_count = r->listed = r->rows = 0;
    char *model = strstr(rest, "model=\"");
    if (model) {
        char *end = strchr(model + 7, '"');
        if (!end || end[1 + strspn(end + 1, blanks)])
            return malformed(r, "model=\"...\" must end the line");
        *end = *model = '\0';
        model += 7;
    }
    for (char *word; (word = nuioa_next_word(&rest, blanks));) {
        uint32_t *const counts[] = { &packages, &r->numa_count, &cores };
        const char *value = split_word(word);
        int name = nuioa_word_index("packages|numa|cores", word);
        if (name < 0 || nuioa_parse_u32(value, name == 2 ? UINT32_MAX : NUMA_MAX, counts[name]))
            return malformed(r, "expected packages=N numa=N cores=N model=\"...\"");
    }
    if (!r->numa_count)
        return malformed(r, "numa=N is missing");
    r->in_section = true;
    r->matches = !r->found && packages == node->package_count && cores == node->core_count &&
                 r->numa_count == node->numa_count && (!model || !strcmp(model, node->model));
    return 0;
}

static int read_numa(struct reader *r, char *rest)
{
    if (!r->in_section || r->listed)
        return malformed(r, "one \"numa\" line belongs after \"machine\"");
    for (char *word; (word = nuioa_next_word(&rest, blanks)); r->listed++) {
        uint32_t os_index;
        if (nuioa_parse_u32(word, INT32_MAX, &os_index) || r->listed == r->numa_count)
            return malformed(r, "expected as many OS indexes of NUMA nodes as numa= gives");
        int index = nuioa_node_numa(r->node, os_index);
        r->index[r->listed] = index;
        r->matches = r->matches && index >= 0;
        for (uint32_t i = 0; r->matches && i < r->listed; i++)
            if (r->index[i] == index)
                return malformed(r, "a NUMA node is listed twice");
    }
    return r->listed == r->numa_count ? 0 : malformed(r, "fewer NUMA nodes than numa= gives");
}

static uint32_t *cell(const struct reader *r, uint32_t row, uint32_t column)
{
    return &r->matrix[(size_t)r->index[row] * r->numa_count + (size_t)r->index[column]];
}

static int read_row(struct reader *r, char *rest)
{
    if (!r->in_section || !r->listed || r->rows == r->numa_count)
        return malformed(r, "as many \"row\" lines as NUMA nodes belong after \"numa\"");
    uint32_t local = 0, least = UINT32_MAX, columns = 0;
    for (char *word; (word = nuioa_next_word(&rest, blanks)); columns++) {
        uint32_t value;
        if (columns == r->numa_count || nuioa_parse_u32(word, VALUE_MAX, &value) || !value)
            return malformed(r, "expected one number from 1 on for each NUMA node");
        if (columns == r->rows)
            local = value;
        least = value < least ? value : least;
        if (r->matches)
            cell(r, r->rows, columns)[0] = value;
    }
    if (columns != r->numa_count)
        return malformed(r, "expected one number from 1 on for each NUMA node");
    if (least < local)
        return malformed(r, "remote memory cannot be nearer than local");
    r->rows++;
    return 0;
}

/* Gives the NIC of that name what was measured. Nodes of one kind may lack a NIC. */
static int give(const struct reader *r, const char *name, int numa,
                const struct nuioa_nic_measured *m)
{
    char label[48];
    for (uint32_t i = 0; r->nics && i < r->node->nic_count; i++) {
        struct nuioa_nic *nic = &r->nics[i];
        if (strcmp(nic->name, name) && strcmp(nuioa_nic_label(nic, label, sizeof(label)), name))
            continue;
        if (!nic->measured)
            nic->measured = calloc(r->node->numa_count, sizeof(*nic->measured));
        if (!nic->measured)
            return nuioa_fail(r->err, -ENOMEM, "%s: out of memory", r->path);
        nic->measured[numa] = *m;
    }
    return 0;
}

/* Reads the rest of a line such as `nic mlx5_0:1 numa=0 write_mb_s=23000 n=15 mad=0.004`. */
static int read_nic(struct reader *r, char *rest)
{
    static const char expected[] = "expected nic NAME numa=N write_mb_s= read_mb_s= latency_ns= n= "
                                   "mad=";
    struct nuioa_nic_measured m = { 0 };
    uint32_t os_index = UINT32_MAX;
    const char *name = nuioa_next_word(&rest, blanks);
    if (!r->in_section || !r->listed)
        return malformed(r, "\"nic\" lines belong after \"numa\"");
    if (!name)
        return malformed(r, expected);
    for (char *word; (word = nuioa_next_word(&rest, blanks));) {
        double *const numbers[] = { &m.write_mb_s, &m.read_mb_s, &m.latency_ns, &m.mad };
        enum { NUMA = 4, N };
        const char *value = split_word(word);
        int which = nuioa_word_index("write_mb_s|read_mb_s|latency_ns|mad|numa|n", word);
        if (which < 0 || (which == NUMA && nuioa_parse_u32(value, INT32_MAX, &os_index)) ||
            (which == N && nuioa_parse_u32(value, 1000000, &m.n)) ||
            (which < NUMA &&
             (nuioa_parse_decimal(value, numbers[which]) || *numbers[which] > NUIOA_MEASURED_MAX)))
            return malformed(r, expected);
    }
    if (os_index == UINT32_MAX || !m.n)
        return malformed(r, expected);
    int numa = nuioa_node_numa(r->node, os_index);
    if (r->matches && numa < 0)
        return malformed(r, "numa= of a \"nic\" line is none of this node");
    return r->matches ? give(r, name, numa, &m) : 0;
}

static int read_line(struct reader *r, char *line)
{
    static int (*const readers[])(struct reader *, char *) = { read_machine, read_numa, read_row,
                                                               read_nic };
    bool quoted = false;
    for (char *c = line; *c; c++) {
        quoted ^= *c == '"';
        if (*c == '#' && !quoted)
            *c = '\0';
        if (!*c)
            break;
    }
    char *rest = line, *word = nuioa_next_word(&rest, blanks);
    if (!word)
        return 0;
    int which = nuioa_word_index("machine|numa|row|nic", word);
    return which < 0 ? malformed(r, "expected machine, numa, row or nic") : readers[which](r, rest);
}

static int read_text(struct reader *r, char *text)
{
    bool versioned = false;
    int rc = 0;
    for (char *line = text, *next; line && !rc; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        r->line++;
        if (versioned)
            rc = read_line(r, line);
        else if (!strncmp(line, "nuioa-distances 1", 17) && !line[17 + strspn(line + 17, blanks)])
            versioned = true;
        else if (line[strspn(line, blanks)] && line[0] != '#')
            break;
    }
    if (!versioned)
        return malformed(r, "the first line must be \"nuioa-distances 1\"");
    if (!rc)
        rc = end_section(r);
    if (!rc && !r->found)
        rc = nuioa_fail(r->err, -ENOENT,
                        "%s: no section for this node (machine packages=%u numa=%u cores=%u "
                        "model=\"%s\")",
                        r->path, r->node->package_count, r->node->numa_count, r->node->core_count,
                        r->node->model);
    return rc;
}

int nuioa_distance_load(const char *path, char **text, struct nuioa_error *err)
{
    struct stat st;
    *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return nuioa_fail(err, -errno, "%s: %s", path, strerror(errno));
    ssize_t got = -1;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < FILE_BYTES_MAX)
        *text = malloc((size_t)st.st_size + 1);
    if (*text)
        got = read(fd, *text, (size_t)st.st_size);
    close(fd);
    if (got < 0) {
        free(*text);
        *text = NULL;
        return nuioa_fail(err, -EINVAL, "%s: not a readable file of less than 4 MiB", path);
    }
    (*text)[got] = '\0';
    return 0;
}

int nuioa_distance_read_site(const char *path, const struct nuioa_node *node, uint32_t *matrix,
                             struct nuioa_nic *nics, struct nuioa_error *err)
{
    char *text = NULL;
    size_t cells = (size_t)node->numa_count * node->numa_count;
    int rc = nuioa_distance_load(path, &text, err);
    if (rc)
        return rc;
    /* The rows are read into a copy: an error in a later line must not change the caller's. */
    struct reader r = { .path = path, .node = node, .err = err, .nics = nics };
    r.matrix = calloc(cells, sizeof(*r.matrix));
    r.index = calloc(NUMA_MAX, sizeof(*r.index));
    if (r.matrix && r.index)
        rc = read_text(&r, text);
    else
        rc = nuioa_fail(err, -ENOMEM, "%s: out of memory", path);
    if (!rc && matrix)
        memcpy(matrix, r.matrix, cells * sizeof(*matrix));
    free(r.matrix);
    free(r.index);
    free(text);
    return rc;
}
