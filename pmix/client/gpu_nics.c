/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/client/gpu_nics.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* --- PCI addresses ---------------------------------------------------------------------------- */

struct pci {
    uint32_t domain, bus, device, function;
};

/* Reads up to `most` hexadecimal digits. Returns what follows them, or NULL if there is none. */
static const char *read_hex(const char *text, unsigned most, uint32_t *value)
{
    unsigned count = 0;
    *value = 0;
    for (; count < most && isxdigit((unsigned char)text[count]); count++) {
        int c = tolower((unsigned char)text[count]);
        *value = *value << 4 | (uint32_t)(isdigit(c) ? c - '0' : c - 'a' + 10);
    }
    return count ? text + count : NULL;
}

/* Reads an address with or without its domain, which NVML writes with eight digits. */
static bool read_pci(const char *text, struct pci *pci)
{
    const char *at = read_hex(text, 8, &pci->domain);
    if (!at || *at++ != ':')
        return false;
    at = read_hex(at, 2, &pci->bus);
    if (at && *at == ':') {
        at = read_hex(at + 1, 2, &pci->device);
    } else {
        pci->device = pci->bus;
        pci->bus = pci->domain;
        pci->domain = 0;
    }
    if (!at || *at++ != '.')
        return false;
    at = read_hex(at, 1, &pci->function);
    return at && !*at && pci->bus <= 255 && pci->device < 32 && pci->function < 8;
}

static bool same_pci(const char *text, const struct pci *pci)
{
    struct pci other;
    return read_pci(text, &other) && other.domain == pci->domain && other.bus == pci->bus &&
           other.device == pci->device && other.function == pci->function;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Makes "a+b" a list with commas. Returns false if it is no list of names. */
static bool separate(char *nics)
{
    for (char *c = nics; *c; c++) {
        if (!isgraph((unsigned char)*c) || *c == ',')
            return false;
        if (*c == '+' && (c == nics || !c[1] || c[1] == '+'))
            return false;
        *c = *c == '+' ? ',' : *c;
    }
    return *nics;
}

/* Reads one entry, and ends its texts. */
static bool read_entry(char *text, struct gpu_nics_entry *entry)
{
    struct pci pci;
    char *nics = strchr(text, '=');
    if (!nics)
        return false;
    *nics++ = '\0';
    *entry = (struct gpu_nics_entry){ text, nics };
    return read_pci(text, &pci) && separate(nics);
}

static size_t count_entries(const char *text)
{
    size_t count = 1;
    for (; *text; text++)
        count += *text == ';';
    return count;
}

int gpu_nics_parse(struct gpu_nics *table, const char *text)
{
    char *next;
    bool sound = true;
    table->text = strdup(text);
    table->entries = calloc(count_entries(text), sizeof(*table->entries));
    if (!table->text || !table->entries)
        return -ENOMEM;
    for (char *entry = table->text; entry && sound; entry = next) {
        next = strchr(entry, ';');
        if (next)
            *next++ = '\0';
        sound = read_entry(entry, &table->entries[table->count]);
        table->count += sound;
    }
    if (!sound)
        gpu_nics_clear(table);
    return 0;
}

void gpu_nics_clear(struct gpu_nics *table)
{
    free(table->entries);
    free(table->text);
    *table = (struct gpu_nics){ 0 };
}

/* --- UUIDs ------------------------------------------------------------------------------------ */

/* Reads a small file into text[size]. Returns false if there is none. */
static bool read_file(const char *root, const char *directory, const char *pci, const char *file,
                      char *text, size_t size)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s/%s/%s", root, directory, pci, file);
    if (length < 0 || (size_t)length >= sizeof(path))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Returns true if the text, up to a blank, is this UUID. */
static bool is_uuid(const char *text, const char *uuid)
{
    size_t length = strcspn(text, " \t\n");
    return length && length == strlen(uuid) && !strncasecmp(text, uuid, length);
}

/* Returns true if the GPU at this address has the UUID: the one that NVIDIA's driver says, or that
 * AMD's runtime makes of the unique number. */
static bool has_uuid(const char *root, const char *pci, const char *uuid)
{
    static const char key[] = "GPU UUID:";
    char text[2048], *line;
    if (read_file(root, "proc/driver/nvidia/gpus", pci, "information", text, sizeof(text)))
        return (line = strstr(text, key)) &&
               is_uuid(line + strlen(key) + strspn(line + strlen(key), " \t"), uuid);
    return read_file(root, "sys/bus/pci/devices", pci, "unique_id", text, sizeof(text)) &&
           is_uuid(text, uuid + strlen("GPU-"));
}

int gpu_nics_find(const struct gpu_nics *table, const char *root, const char *gpu,
                  const char **nics)
{
    struct pci pci;
    bool is_name = gpu && !strncasecmp(gpu, "GPU-", 4) && gpu[4];
    if (!gpu || (!is_name && !read_pci(gpu, &pci)))
        return -EINVAL;
    for (size_t i = 0; i < table->count; i++) {
        const struct gpu_nics_entry *entry = &table->entries[i];
        if (is_name ? has_uuid(root, entry->pci, gpu) : same_pci(entry->pci, &pci)) {
            *nics = entry->nics;
            return 0;
        }
    }
    return -ENOENT;
}
