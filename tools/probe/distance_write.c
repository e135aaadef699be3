/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/distance_write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topology/distance_site.h"
#include "util/new_file.h"
#include "util/number.h"
#include "util/text.h"

#define HEADER "nuioa-distances 1\n"

/* The bytes that separate words; the reader has the same. */
#define BLANKS " \t\r"

/* Prints the lines that identify a section. A model that the format cannot quote is left out. */
static void print_key(const struct nuioa_node *node, FILE *out)
{
    fprintf(out, "machine packages=%u numa=%u cores=%u", node->package_count, node->numa_count,
            node->core_count);
    if (*node->model && !strpbrk(node->model, "\"\r\n"))
        fprintf(out, " model=\"%s\"", node->model);
    fprintf(out, "\nnuma");
    for (uint32_t i = 0; i < node->numa_count; i++)
        fprintf(out, " %u", node->numas[i].os_index);
    fputs("\n", out);
}

static void print_member(const char *name, double value, FILE *out)
{
    char text[32];
    if (value > 0)
        fprintf(out, " %s=%s", name, nuioa_print_decimal(value, text, sizeof(text)));
}

static void print_nics(const struct nuioa_node *node, FILE *out)
{
    char label[48];
    for (uint32_t i = 0; i < node->nic_count; i++)
        for (uint32_t k = 0; node->nics[i].measured && k < node->numa_count; k++) {
            const struct nuioa_nic_measured *m = &node->nics[i].measured[k];
            if (!m->n)
                continue;
            fprintf(out, "nic %s numa=%u", nuioa_nic_label(&node->nics[i], label, sizeof(label)),
                    node->numas[k].os_index);
            print_member("write_mb_s", m->write_mb_s, out);
            print_member("read_mb_s", m->read_mb_s, out);
            print_member("latency_ns", m->latency_ns, out);
            fprintf(out, " n=%u mad=%.6f\n", m->n, m->mad);
        }
}

static void print_section(const struct nuioa_node *node, const uint32_t *matrix,
                          const char *comment, FILE *out)
{
    print_key(node, out);
    fprintf(out, "# %s\n", comment);
    for (uint32_t i = 0; i < node->numa_count; i++) {
        fputs("row", out);
        for (uint32_t j = 0; j < node->numa_count; j++)
            fprintf(out, " %u", matrix[(size_t)i * node->numa_count + j]);
        fputs("\n", out);
    }
    print_nics(node, out);
}

/* Returns the first line at or after `text`, the beginning of a line, that begins a section, or the
 * end. */
static const char *next_section(const char *text)
{
    while (*text) {
        size_t blanks = strspn(text, BLANKS);
        if (!strncmp(text + blanks, "machine", 7) && strspn(text + blanks + 7, BLANKS))
            break;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text;
}

static void print_piece(const char *from, const char *to, FILE *out)
{
    fwrite(from, 1, (size_t)(to - from), out);
    if (to > from && to[-1] != '\n')
        fputs("\n", out);
}

/* The first section that fits is the one that is read, so the new one goes before the others. */
static void merge(const char *before, const struct nuioa_node *node, const uint32_t *matrix,
                  const char *comment, FILE *out)
{
    char *key = NULL;
    size_t length;
    FILE *memory = open_memstream(&key, &length);
    if (!memory)
        return;
    print_key(node, memory);
    if (!nuioa_text_close(memory, &key))
        return;
    const char *section = next_section(before);
    if (section == before)
        fputs(HEADER, out);
    print_piece(before, section, out);
    print_section(node, matrix, comment, out);
    while (*section) {
        const char *end = next_section(section + strcspn(section, "\n"));
        if (strncmp(section, key, length))
            print_piece(section, end, out);
        section = end;
    }
    free(key);
}

/* Reads the existing file into *text, which the caller frees; NULL if there is none or it is empty.
 * A file that is not a valid distance file is an error, so that it is not overwritten. */
static int load(const char *path, const struct nuioa_node *node, char **text,
                struct nuioa_error *err)
{
    struct stat st;
    *text = NULL;
    if (stat(path, &st))
        return errno == ENOENT ? 0 : nuioa_fail(err, -errno, "%.200s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return nuioa_fail(err, -EINVAL, "%s: not a regular file", path);
    if (!st.st_size)
        return 0;
    int rc = nuioa_distance_read_site(path, node, NULL, NULL, err);
    return rc && rc != -ENOENT ? rc : nuioa_distance_load(path, text, err);
}

/* Readers see the old file or the new one. */
static int replace(const char *path, const struct nuioa_node *node, const uint32_t *matrix,
                   const char *comment, const char *before, struct nuioa_error *err)
{
    struct nuioa_new_file file;
    int rc = nuioa_new_file_open(&file, path, err);
    if (rc)
        return rc;
    merge(before ? before : "", node, matrix, comment, file.stream);
    if (ftell(file.stream) <= 0 || fchmod(fileno(file.stream), 0644) || fflush(file.stream) ||
        fsync(fileno(file.stream)))
        rc = nuioa_fail(err, errno ? -errno : -EIO, "%s: %s", path, strerror(errno ? errno : EIO));
    int closed = nuioa_new_file_close(&file, !rc, path, rc ? NULL : err);
    return rc ? rc : closed;
}

int nuioa_distance_check_site(const char *path, const struct nuioa_node *node,
                              struct nuioa_error *err)
{
    struct nuioa_new_file file;
    char *before;
    int rc = load(path, node, &before, err);
    free(before);
    if (!rc)
        rc = nuioa_new_file_open(&file, path, err);
    return rc ? rc : nuioa_new_file_close(&file, false, path, err);
}

int nuioa_distance_write_site(const char *path, const struct nuioa_node *node,
                              const uint32_t *matrix, const char *comment, struct nuioa_error *err)
{
    char *before;
    int rc = load(path, node, &before, err);
    if (!rc)
        rc = replace(path, node, matrix, comment, before, err);
    free(before);
    return rc;
}
