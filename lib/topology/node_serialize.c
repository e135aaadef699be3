/* SPDX-License-Identifier: BSD-3-Clause */

/* The format is a header and then all fields in order, with integers in the byte order of the
 * machine. */

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "topology/node_serialize.h"
#include "topology/pci_path.h"
#include "util/hash.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unversioned"
#endif

/* These limits are far above any machine, and small enough not to exhaust memory. */
enum {
    PUS_MAX = 1 << 16,
    NUMAS_MAX = 1 << 12,
    NICS_MAX = 1 << 12,
    GPUS_MAX = 1 << 12,
    INDEX_MAX = 1 << 18, /* of a bit in a bitmap */
};

/* A change of the fields needs a new LAYOUT. */
enum { LAYOUT = 7 };
struct header {
    char magic[8];
    char version[24];
    uint32_t layout;
    uint32_t hwloc_api;
    uint64_t length; /* of what follows the header */
    uint64_t sum;    /* of what follows the header */
};

static struct header header_for(const unsigned char *payload, size_t length)
{
    struct header h;
    memset(&h, 0, sizeof(h));
    memcpy(h.magic, "nuioaNOD", sizeof(h.magic));
    nuioa_copy(h.version, sizeof(h.version), PACKAGE_VERSION);
    h.layout = LAYOUT;
    h.hwloc_api = hwloc_get_api_version();
    h.length = length;
    h.sum = nuioa_hash(NUIOA_HASH_START, payload, length);
    return h;
}

/* --- writing ---------------------------------------------------------------------------------- */

struct writer {
    unsigned char *bytes;
    size_t length, size;
    bool failed;
};

static void put(struct writer *w, const void *data, size_t length)
{
    if (w->failed || !length)
        return;
    if (length > w->size - w->length) {
        size_t size = (w->size + length) * 2;
        unsigned char *bytes = realloc(w->bytes, size);
        if (!bytes) {
            w->failed = true;
            return;
        }
        w->bytes = bytes;
        w->size = size;
    }
    memcpy(w->bytes + w->length, data, length);
    w->length += length;
}

static void put_u32(struct writer *w, uint32_t value)
{
    put(w, &value, sizeof(value));
}

static void put_bitmap(struct writer *w, hwloc_const_bitmap_t bitmap)
{
    int longs = bitmap ? hwloc_bitmap_nr_ulongs(bitmap) : 0;
    unsigned long *words = calloc((size_t)(longs > 0 ? longs : 1), sizeof(*words));
    /* -1 means an infinite set, which no machine has. */
    if (!words || longs < 0 || (longs && hwloc_bitmap_to_ulongs(bitmap, (unsigned)longs, words)))
        w->failed = true;
    put_u32(w, (uint32_t)(longs < 0 ? 0 : longs));
    if (words)
        put(w, words, (size_t)(longs < 0 ? 0 : longs) * sizeof(*words));
    free(words);
}

/* Writes the text and fills up with zeros: no old bytes of the buffer get into the file. */
static void put_text(struct writer *w, const char *text, size_t size)
{
    size_t length = strnlen(text, size - 1);
    put(w, text, length);
    for (size_t i = length; i < size; i++)
        put(w, "", 1);
}

/* Member by member: what the compiler puts between them is not written. */
static void put_measured(struct writer *w, const struct nuioa_nic_measured *m, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const double values[] = { m[i].write_mb_s, m[i].read_mb_s, m[i].latency_ns, m[i].mad };
        put(w, values, sizeof(values));
        put_u32(w, m[i].n);
    }
}

static void put_nic(struct writer *w, const struct nuioa_nic *nic, uint32_t numa_count)
{
    put_text(w, nic->name, sizeof(nic->name));
    put_text(w, nic->netdev, sizeof(nic->netdev));
    put_text(w, nic->pci, sizeof(nic->pci));
    put_text(w, nic->fabric, sizeof(nic->fabric));
    put_text(w, nic->cxi, sizeof(nic->cxi));
    put_text(w, nic->why, sizeof(nic->why));
    put_u32(w, nic->port);
    put_u32(w, nic->sm_lid);
    put_u32(w, nic->hints);
    put_u32(w, nic->doubts);
    put_u32(w, (uint32_t)nic->role);
    put_u32(w, (uint32_t)nic->role_source);
    put_u32(w, (uint32_t)nic->kind);
    put_u32(w, (uint32_t)nic->state);
    put_u32(w, (uint32_t)nic->locality);
    put_u32(w, nic->rate_mbps);
    put_u32(w, nic->card);
    put_u32(w, nic->is_virtual);
    put_u32(w, nic->is_function);
    put_u32(w, nic->usable);
    put_bitmap(w, nic->numas);
    put_bitmap(w, nic->cpus);
    put_u32(w, nic->level != NULL);
    if (nic->level)
        put(w, nic->level, numa_count);
    put_u32(w, nic->measured != NULL);
    if (nic->measured)
        put_measured(w, nic->measured, numa_count);
}

static void put_warnings(struct writer *w, const struct nuioa_warnings *warnings)
{
    put_u32(w, warnings->count);
    put_u32(w, warnings->lost);
    for (unsigned i = 0; i < warnings->count; i++)
        put_text(w, warnings->text[i], sizeof(warnings->text[i]));
}

static void put_node(struct writer *w, const struct nuioa_node *node)
{
    size_t cells = (size_t)node->numa_count * node->numa_count;
    put_text(w, node->host, sizeof(node->host));
    put_text(w, node->model, sizeof(node->model));
    const uint32_t counts[] = { node->emulated,   node->package_count,
                                node->core_count, node->pu_count,
                                node->numa_count, node->nic_count,
                                node->gpu_count,  (uint32_t)node->distance.source,
                                node->cut };
    put(w, counts, sizeof(counts));
    /* The struct has no padding, so it can be written as bytes. */
    _Static_assert(sizeof(struct nuioa_pu) == 6 * sizeof(uint32_t), "struct nuioa_pu has changed");
    put(w, node->pus, node->pu_count * sizeof(*node->pus));
    for (uint32_t i = 0; i < node->numa_count; i++) {
        put_u32(w, node->numas[i].os_index);
        put_u32(w, (uint32_t)node->numas[i].package);
        put(w, &node->numas[i].memory_bytes, sizeof(uint64_t));
        put_bitmap(w, node->numas[i].cpus);
    }
    put(w, node->distance.matrix, cells * sizeof(*node->distance.matrix));
    put(w, node->distance.level, cells);
    for (uint32_t i = 0; i < node->nic_count; i++)
        put_nic(w, &node->nics[i], node->numa_count);
    for (uint32_t i = 0; i < node->gpu_count; i++) {
        put_text(w, node->gpus[i].pci, sizeof(node->gpus[i].pci));
        put_u32(w, (uint32_t)node->gpus[i].vendor);
        put_u32(w, node->gpus[i].model);
        put_bitmap(w, node->gpus[i].numas);
        put_bitmap(w, node->gpus[i].cpus);
    }
    put_u32(w, node->paths != NULL);
    if (node->paths)
        put(w, node->paths, (size_t)node->gpu_count * node->nic_count);
    put_bitmap(w, node->allowed_cpus);
    put_bitmap(w, node->allowed_numas);
    put_warnings(w, &node->warnings);
    put_u32(w, node->refusals);
}

int nuioa_node_serialize(const struct nuioa_node *node, void **bytes, size_t *length)
{
    struct writer w = { .bytes = NULL };
    struct header h;
    memset(&h, 0, sizeof(h));
    put(&w, &h, sizeof(h));
    put_node(&w, node);
    if (w.failed) {
        free(w.bytes);
        return -ENOMEM;
    }
    h = header_for(w.bytes + sizeof(h), w.length - sizeof(h));
    memcpy(w.bytes, &h, sizeof(h));
    *bytes = w.bytes;
    *length = w.length;
    return 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reader {
    const unsigned char *bytes;
    size_t left;
    bool failed; /* once it is set, all further reads give zeros */
};

static void get(struct reader *u, void *data, size_t length)
{
    if (u->failed || length > u->left) {
        u->failed = true;
        if (length)
            memset(data, 0, length);
        return;
    }
    if (length)
        memcpy(data, u->bytes, length);
    u->bytes += length;
    u->left -= length;
}

/* Reads a number from 0 to `max`. */
static uint32_t get_u32(struct reader *u, uint32_t max)
{
    uint32_t value;
    get(u, &value, sizeof(value));
    if (value > max) {
        u->failed = true;
        return 0;
    }
    return value;
}

/* Reads the count of items of at least `size` bytes each. A count that the rest of the input cannot
 * hold is an error, so memory is allocated only in proportion to the input. */
static uint32_t get_count(struct reader *u, uint32_t max, size_t size)
{
    uint32_t count = get_u32(u, max);
    if (count > u->left / size) {
        u->failed = true;
        return 0;
    }
    return count;
}

/* Reads a text without control characters. With `path` it may become part of a path: '/', "." and
 * ".." are errors. */
static void get_text(struct reader *u, char *text, size_t size, bool path)
{
    get(u, text, size);
    if (text[size - 1])
        u->failed = true;
    text[size - 1] = '\0';
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c) || (path && *c == '/'))
            u->failed = true;
    if (path && (!strcmp(text, ".") || !strcmp(text, "..")))
        u->failed = true;
}

static hwloc_bitmap_t get_bitmap(struct reader *u)
{
    enum { BITS = CHAR_BIT * sizeof(unsigned long) };
    uint32_t longs = get_count(u, INDEX_MAX / BITS, sizeof(unsigned long));
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    if (!bitmap)
        u->failed = true;
    for (uint32_t i = 0; bitmap && i < longs; i++) {
        unsigned long word;
        get(u, &word, sizeof(word));
        if (hwloc_bitmap_set_ith_ulong(bitmap, i, word))
            u->failed = true;
    }
    return bitmap;
}

static void *get_array(struct reader *u, uint32_t count, size_t size)
{
    void *array = u->failed ? NULL : calloc(count ? count : 1, size);
    if (!array)
        u->failed = true;
    return array;
}

static void get_pus(struct reader *u, struct nuioa_node *node)
{
    node->pus = get_array(u, node->pu_count, sizeof(*node->pus));
    for (uint32_t i = 0; node->pus && i < node->pu_count; i++) {
        struct nuioa_pu *pu = &node->pus[i];
        get(u, pu, sizeof(*pu));
        if (pu->os_index >= INDEX_MAX || pu->core >= node->core_count || pu->l2 >= node->pu_count ||
            pu->l3 >= node->pu_count || pu->package >= node->package_count || pu->numa < -1 ||
            pu->numa >= (int32_t)node->numa_count)
            u->failed = true;
    }
}

static void get_numas(struct reader *u, struct nuioa_node *node)
{
    node->numas = get_array(u, node->numa_count, sizeof(*node->numas));
    for (uint32_t i = 0; node->numas && i < node->numa_count; i++) {
        struct nuioa_numa *numa = &node->numas[i];
        numa->os_index = get_u32(u, INDEX_MAX - 1);
        get(u, &numa->package, sizeof(numa->package));
        get(u, &numa->memory_bytes, sizeof(numa->memory_bytes));
        numa->cpus = get_bitmap(u);
        if (numa->package < -1)
            u->failed = true;
    }
}

static void get_distance(struct reader *u, struct nuioa_node *node)
{
    uint32_t count = node->numa_count;
    struct nuioa_distance *d = &node->distance;
    if (count && count > u->left / count)
        u->failed = true;
    d->count = count;
    d->matrix = get_array(u, count * count, sizeof(*d->matrix));
    d->level = get_array(u, count * count, sizeof(*d->level));
    if (u->failed)
        return;
    get(u, d->matrix, (size_t)count * count * sizeof(*d->matrix));
    get(u, d->level, (size_t)count * count);
}

static void get_measured(struct reader *u, struct nuioa_nic *nic, uint32_t numa_count)
{
    double values[4];
    if (numa_count > u->left / sizeof(values))
        u->failed = true;
    nic->measured = get_array(u, numa_count, sizeof(*nic->measured));
    for (uint32_t i = 0; nic->measured && i < numa_count; i++) {
        get(u, values, sizeof(values));
        for (unsigned k = 0; k < 4; k++)
            if (!(values[k] >= 0 && values[k] <= NUIOA_MEASURED_MAX))
                u->failed = true;
        nic->measured[i] = (struct nuioa_nic_measured){ values[0], values[1], values[2], values[3],
                                                        get_u32(u, UINT32_MAX) };
    }
}

static void get_nic(struct reader *u, struct nuioa_nic *nic, uint32_t numa_count)
{
    get_text(u, nic->name, sizeof(nic->name), true);
    get_text(u, nic->netdev, sizeof(nic->netdev), true);
    get_text(u, nic->pci, sizeof(nic->pci), true);
    get_text(u, nic->fabric, sizeof(nic->fabric), false);
    get_text(u, nic->cxi, sizeof(nic->cxi), false);
    get_text(u, nic->why, sizeof(nic->why), false);
    nic->port = get_u32(u, 255);
    nic->sm_lid = get_u32(u, UINT16_MAX);
    nic->hints = get_u32(u, NUIOA_HINTS);
    nic->doubts = get_u32(u, NUIOA_HINTS);
    nic->role = get_u32(u, NUIOA_ROLES - 1);
    nic->role_source = get_u32(u, NUIOA_ROLE_BY_SITE);
    nic->kind = get_u32(u, NUIOA_NIC_KINDS - 1);
    nic->state = get_u32(u, NUIOA_NIC_ACTIVE);
    nic->locality = get_u32(u, NUIOA_LOCALITY_SYSFS);
    nic->rate_mbps = get_u32(u, UINT32_MAX);
    nic->card = get_u32(u, NICS_MAX);
    nic->is_virtual = get_u32(u, 1);
    nic->is_function = get_u32(u, 1);
    nic->usable = get_u32(u, 1);
    nic->numas = get_bitmap(u);
    nic->cpus = get_bitmap(u);
    if (get_u32(u, 1)) {
        nic->level = get_array(u, numa_count, 1);
        if (nic->level)
            get(u, nic->level, numa_count);
    }
    if (get_u32(u, 1))
        get_measured(u, nic, numa_count);
    /* An empty name would make the path of the directory of all ports. */
    if (!nic->name[0])
        u->failed = true;
}

static void get_nics(struct reader *u, struct nuioa_node *node)
{
    node->nics = get_array(u, node->nic_count, sizeof(*node->nics));
    for (uint32_t i = 0; node->nics && !u->failed && i < node->nic_count; i++)
        get_nic(u, &node->nics[i], node->numa_count);
}

static void get_gpus(struct reader *u, struct nuioa_node *node)
{
    node->gpus = get_array(u, node->gpu_count, sizeof(*node->gpus));
    for (uint32_t i = 0; node->gpus && !u->failed && i < node->gpu_count; i++) {
        get_text(u, node->gpus[i].pci, sizeof(node->gpus[i].pci), true);
        node->gpus[i].vendor = get_u32(u, NUIOA_GPU_VENDORS - 1);
        node->gpus[i].model = get_u32(u, UINT32_MAX);
        node->gpus[i].numas = get_bitmap(u);
        node->gpus[i].cpus = get_bitmap(u);
    }
}

static void get_paths(struct reader *u, struct nuioa_node *node)
{
    size_t count = (size_t)node->gpu_count * node->nic_count;
    if (!get_u32(u, 1))
        return;
    if (count > u->left)
        u->failed = true;
    node->paths = get_array(u, (uint32_t)count, sizeof(*node->paths));
    if (node->paths)
        get(u, node->paths, count);
    for (size_t i = 0; node->paths && i < count; i++)
        if (node->paths[i] >= NUIOA_PATHS)
            u->failed = true;
}

static void get_node(struct reader *u, struct nuioa_node *node)
{
    get_text(u, node->host, sizeof(node->host), false);
    get_text(u, node->model, sizeof(node->model), false);
    node->emulated = get_u32(u, 1);
    node->package_count = get_u32(u, PUS_MAX);
    node->core_count = get_u32(u, PUS_MAX);
    node->pu_count = get_count(u, PUS_MAX, sizeof(struct nuioa_pu));
    node->numa_count = get_count(u, NUMAS_MAX, 2 * sizeof(uint32_t) + sizeof(uint64_t));
    node->nic_count = get_count(u, NICS_MAX, 13 * sizeof(uint32_t));
    node->gpu_count = get_count(u, GPUS_MAX, 4 * sizeof(uint32_t));
    node->distance.source = get_u32(u, NUIOA_DISTANCE_STRUCTURE);
    node->cut = get_u32(u, 1);
    if (!node->pu_count || !node->numa_count)
        u->failed = true;
    get_pus(u, node);
    get_numas(u, node);
    get_distance(u, node);
    get_nics(u, node);
    get_gpus(u, node);
    get_paths(u, node);
    node->allowed_cpus = get_bitmap(u);
    node->allowed_numas = get_bitmap(u);
    node->warnings.count = get_u32(u, NUIOA_WARNINGS_MAX);
    node->warnings.lost = get_u32(u, UINT32_MAX);
    for (unsigned i = 0; i < node->warnings.count; i++)
        get_text(u, node->warnings.text[i], sizeof(node->warnings.text[i]), false);
    node->refusals = get_u32(u, (1u << NUIOA_WARNINGS_MAX) - 1);
    if (u->left)
        u->failed = true;
}

int nuioa_node_deserialize(struct nuioa_node *node, const void *bytes, size_t length,
                           struct nuioa_error *err)
{
    struct header h, want;
    memset(node, 0, sizeof(*node));
    if (length < sizeof(h))
        return nuioa_fail(err, -EINVAL, "a node's description is cut short");
    memcpy(&h, bytes, sizeof(h));
    const unsigned char *payload = (const unsigned char *)bytes + sizeof(h);
    want = header_for(payload, length - sizeof(h));
    if (memcmp(h.magic, want.magic, sizeof(h.magic)))
        return nuioa_fail(err, -EINVAL, "not a node's description");
    if (memcmp(h.version, want.version, sizeof(h.version)) || h.layout != want.layout ||
        h.hwloc_api != want.hwloc_api)
        return nuioa_fail(err, -ESTALE, "a node's description by another version of nuioa");
    if (h.length != want.length || h.sum != want.sum)
        return nuioa_fail(err, -EINVAL, "a node's description is damaged");
    struct reader u = { .bytes = payload, .left = length - sizeof(h) };
    get_node(&u, node);
    if (!u.failed)
        return 0;
    nuioa_node_free(node);
    return nuioa_fail(err, -EINVAL, "a node's description is damaged");
}
