/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/client/gpu_nics.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/sysfs.h"

/* --- PCI addresses ---------------------------------------------------------------------------- */

struct pci {
    uint32_t domain, bus, device, function;
};

/* Reads an address with or without its domain, which NVML writes with eight digits. */
static bool read_pci(const char *text, struct pci *pci)
{
    int end = 0;
    *pci = (struct pci){ 0 };
    if (text[strspn(text, "0123456789abcdefABCDEF:.")])
        return false; /* sscanf takes signs and blanks, too */
    if (sscanf(text, "%8x:%2x:%2x.%1x%n", &pci->domain, &pci->bus, &pci->device, &pci->function,
               &end) < 3) {
        sscanf(text, "%8x:%2x.%1x%n", &pci->bus, &pci->device, &pci->function, &end);
        pci->domain = 0;
    }
    return end && !text[end] && pci->bus <= 255 && pci->device < 32 && pci->function < 8;
}

static bool same_pci(const char *text, const struct pci *pci)
{
    struct pci other;
    return read_pci(text, &other) && !memcmp(&other, pci, sizeof(other));
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
    char *nics = text;
    strsep(&nics, "=");
    *entry = (struct gpu_nics_entry){ text, nics };
    return nics && read_pci(text, &pci) && separate(nics);
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
    bool sound = true;
    table->text = strdup(text);
    table->entries = calloc(count_entries(text), sizeof(*table->entries));
    if (!table->text || !table->entries)
        return -ENOMEM;
    char *rest = table->text, *entry;
    while (sound && (entry = strsep(&rest, ";"))) {
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
    if (nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "%s/proc/driver/nvidia/gpus/%s/information",
                         root, pci) > 0)
        return (line = strstr(text, key)) &&
               is_uuid(line + strlen(key) + strspn(line + strlen(key), " \t"), uuid);
    return nuioa_sysfs_text(AT_FDCWD, text, sizeof(text), "%s/sys/bus/pci/devices/%s/unique_id",
                            root, pci) > 0 &&
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
