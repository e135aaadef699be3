/* SPDX-License-Identifier: BSD-3-Clause */

/* The format is a header and then all fields in order, with integers in the byte order of the
 * machine. The functions that name the fields serve both ways: each writes what its pointers point
 * to, or reads and checks it. */

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

/* --- both ways -------------------------------------------------------------------------------- */

struct stream {
    const unsigned char *in; /* what is read; NULL: it writes */
    unsigned char *out;      /* what was written: malloc'd */
    size_t at, size;         /* of `in`, or of the memory at `out` */
    bool failed; /* once it is set, nothing is written, and all further reads give zeros */
};

static bool make_room(struct stream *s, size_t length)
{
    size_t size = (s->size + length) * 2;
    if (s->failed || length <= s->size - s->at)
        return !s->failed;
    unsigned char *out = realloc(s->out, size);
    s->failed = !out;
    if (out) {
        s->out = out;
        s->size = size;
    }
    return out;
}

static void pass(struct stream *s, void *data, size_t length)
{
    if (!length)
        return;
    if (!s->in && make_room(s, length)) {
        memcpy(s->out + s->at, data, length);
        s->at += length;
    } else if (s->in && !s->failed && length <= s->size - s->at) {
        memcpy(data, s->in + s->at, length);
        s->at += length;
    } else if (s->in) {
        memset(data, 0, length);
        s->failed = true;
    }
}

/* A number from 0 to `max`; a larger one becomes 0. */
static void pass_u32(struct stream *s, uint32_t *value, uint32_t max)
{
    pass(s, value, sizeof(*value));
    if (s->in && *value > max) {
        *value = 0;
        s->failed = true;
    }
}

/* The same for a bool or an enum: returns what it is then. */
static uint32_t passed(struct stream *s, uint32_t value, uint32_t max)
{
    pass_u32(s, &value, max);
    return value;
}

/* Returns an array of `count` items of `size` bytes: `array` itself, which is written; or a new
 * one, NULL after a failure. Each item takes `least` bytes of the input or more: a count that the
 * rest of it cannot hold is an error, so memory is allocated only in proportion to the input. */
static void *array_of(struct stream *s, void *array, size_t count, size_t size, size_t least)
{
    if (!s->in)
        return array;
    s->failed |= count > (s->size - s->at) / least;
    array = s->failed ? NULL : calloc(count ? count : 1, size);
    s->failed |= !array;
    return array;
}

/* An array of bytes, whose pointer is NULL if there is none. */
static uint8_t *pass_bytes(struct stream *s, uint8_t *array, size_t count)
{
    if (!passed(s, array != NULL, 1))
        return NULL;
    array = array_of(s, array, count, 1, 1);
    if (array)
        pass(s, array, count);
    return array;
}

/* A text without control characters, filled up with zeros: no old bytes of the buffer are written.
 * With `path` it may become part of a path: '/', "." and ".." are errors. */
static void pass_text(struct stream *s, char *text, size_t size, bool path)
{
    size_t length = s->in ? size : strnlen(text, size - 1);
    char zero = 0;
    pass(s, text, length);
    for (; length < size; length++)
        pass(s, &zero, 1);
    if (!s->in)
        return;
    if (text[size - 1])
        s->failed = true;
    text[size - 1] = '\0';
    for (const char *c = text; *c; c++)
        if (iscntrl((unsigned char)*c) || (path && *c == '/'))
            s->failed = true;
    if (path && (!strcmp(text, ".") || !strcmp(text, "..")))
        s->failed = true;
}

static void pass_bitmap(struct stream *s, hwloc_bitmap_t *bitmap)
{
    enum { LONGS_MAX = INDEX_MAX / (CHAR_BIT * sizeof(unsigned long)) };
    int longs = s->in || !*bitmap ? 0 : hwloc_bitmap_nr_ulongs(*bitmap);
    uint32_t count = longs < 0 ? 0 : (uint32_t)longs;
    if (s->in)
        *bitmap = hwloc_bitmap_alloc();
    /* -1 means an infinite set, which no machine has. */
    if (longs < 0 || (s->in && !*bitmap))
        s->failed = true;
    pass_u32(s, &count, LONGS_MAX);
    for (uint32_t i = 0; i < count && !s->failed; i++) {
        unsigned long word = s->in ? 0 : hwloc_bitmap_to_ith_ulong(*bitmap, i);
        pass(s, &word, sizeof(word));
        if (s->in && hwloc_bitmap_set_ith_ulong(*bitmap, i, word))
            s->failed = true;
    }
}

/* --- the fields ------------------------------------------------------------------------------- */

static void pass_pus(struct stream *s, struct nuioa_node *node)
{
    /* The struct has no padding, so it can be written as bytes. */
    _Static_assert(sizeof(struct nuioa_pu) == 6 * sizeof(uint32_t), "struct nuioa_pu has changed");
    node->pus = array_of(s, node->pus, node->pu_count, sizeof(*node->pus), sizeof(*node->pus));
    for (uint32_t i = 0; node->pus && i < node->pu_count; i++) {
        struct nuioa_pu *pu = &node->pus[i];
        pass(s, pu, sizeof(*pu));
        if (s->in && (pu->os_index >= INDEX_MAX || pu->core >= node->core_count ||
                      pu->l2 >= node->pu_count || pu->l3 >= node->pu_count ||
                      pu->package >= node->package_count || pu->numa < -1 ||
                      pu->numa >= (int32_t)node->numa_count))
            s->failed = true;
    }
}

static void pass_numas(struct stream *s, struct nuioa_node *node)
{
    node->numas = array_of(s, node->numas, node->numa_count, sizeof(*node->numas),
                           2 * sizeof(uint32_t) + sizeof(uint64_t));
    for (uint32_t i = 0; node->numas && i < node->numa_count; i++) {
        struct nuioa_numa *numa = &node->numas[i];
        pass_u32(s, &numa->os_index, INDEX_MAX - 1);
        pass(s, &numa->package, sizeof(numa->package));
        pass(s, &numa->memory_bytes, sizeof(numa->memory_bytes));
        pass_bitmap(s, &numa->cpus);
        if (s->in && numa->package < -1)
            s->failed = true;
    }
}

static void pass_distance(struct stream *s, struct nuioa_node *node)
{
    const size_t cells = (size_t)node->numa_count * node->numa_count;
    struct nuioa_distance *d = &node->distance;
    d->count = node->numa_count;
    d->matrix = array_of(s, d->matrix, cells, sizeof(*d->matrix), sizeof(*d->matrix));
    d->level = array_of(s, d->level, cells, 1, 1);
    if (s->failed)
        return;
    pass(s, d->matrix, cells * sizeof(*d->matrix));
    pass(s, d->level, cells);
}

/* Member by member: what the compiler puts between them is not written. */
static void pass_measured(struct stream *s, struct nuioa_nic *nic, uint32_t numa_count)
{
    nic->measured =
        array_of(s, nic->measured, numa_count, sizeof(*nic->measured), 4 * sizeof(double));
    for (uint32_t i = 0; nic->measured && i < numa_count; i++) {
        struct nuioa_nic_measured *m = &nic->measured[i];
        double *const values[] = { &m->write_mb_s, &m->read_mb_s, &m->latency_ns, &m->mad };
        for (unsigned k = 0; k < 4; k++) {
            pass(s, values[k], sizeof(double));
            if (s->in && !(*values[k] >= 0 && *values[k] <= NUIOA_MEASURED_MAX))
                s->failed = true;
        }
        pass_u32(s, &m->n, UINT32_MAX);
    }
}

static void pass_nic(struct stream *s, struct nuioa_nic *nic, uint32_t numa_count)
{
    pass_text(s, nic->name, sizeof(nic->name), true);
    pass_text(s, nic->netdev, sizeof(nic->netdev), true);
    pass_text(s, nic->pci, sizeof(nic->pci), true);
    pass_text(s, nic->fabric, sizeof(nic->fabric), false);
    pass_text(s, nic->cxi, sizeof(nic->cxi), false);
    pass_text(s, nic->why, sizeof(nic->why), false);
    pass_u32(s, &nic->port, 255);
    pass_u32(s, &nic->sm_lid, UINT16_MAX);
    pass_u32(s, &nic->hints, NUIOA_HINTS);
    pass_u32(s, &nic->doubts, NUIOA_HINTS);
    nic->role = passed(s, nic->role, NUIOA_ROLES - 1);
    nic->role_source = passed(s, nic->role_source, NUIOA_ROLE_BY_SITE);
    nic->kind = passed(s, nic->kind, NUIOA_NIC_KINDS - 1);
    nic->state = passed(s, nic->state, NUIOA_NIC_ACTIVE);
    nic->locality = passed(s, nic->locality, NUIOA_LOCALITY_SYSFS);
    pass_u32(s, &nic->rate_mbps, UINT32_MAX);
    pass_u32(s, &nic->card, NICS_MAX);
    nic->is_virtual = passed(s, nic->is_virtual, 1);
    nic->is_function = passed(s, nic->is_function, 1);
    nic->usable = passed(s, nic->usable, 1);
    pass_bitmap(s, &nic->numas);
    pass_bitmap(s, &nic->cpus);
    nic->level = pass_bytes(s, nic->level, numa_count);
    if (passed(s, nic->measured != NULL, 1))
        pass_measured(s, nic, numa_count);
    /* An empty name would make the path of the directory of all ports. */
    if (s->in && !nic->name[0])
        s->failed = true;
}

static void pass_nics(struct stream *s, struct nuioa_node *node)
{
    node->nics =
        array_of(s, node->nics, node->nic_count, sizeof(*node->nics), 13 * sizeof(uint32_t));
    for (uint32_t i = 0; node->nics && !s->failed && i < node->nic_count; i++)
        pass_nic(s, &node->nics[i], node->numa_count);
}

static void pass_gpus(struct stream *s, struct nuioa_node *node)
{
    node->gpus =
        array_of(s, node->gpus, node->gpu_count, sizeof(*node->gpus), 4 * sizeof(uint32_t));
    for (uint32_t i = 0; node->gpus && !s->failed && i < node->gpu_count; i++) {
        struct nuioa_gpu *gpu = &node->gpus[i];
        pass_text(s, gpu->pci, sizeof(gpu->pci), true);
        gpu->vendor = passed(s, gpu->vendor, NUIOA_GPU_VENDORS - 1);
        pass_u32(s, &gpu->model, UINT32_MAX);
        pass_bitmap(s, &gpu->numas);
        pass_bitmap(s, &gpu->cpus);
    }
}

static void pass_paths(struct stream *s, struct nuioa_node *node)
{
    size_t count = (size_t)node->gpu_count * node->nic_count;
    node->paths = pass_bytes(s, node->paths, count);
    for (size_t i = 0; s->in && node->paths && i < count; i++)
        if (node->paths[i] >= NUIOA_PATHS)
            s->failed = true;
}

static void pass_node(struct stream *s, struct nuioa_node *node)
{
    pass_text(s, node->host, sizeof(node->host), false);
    pass_text(s, node->model, sizeof(node->model), false);
    node->emulated = passed(s, node->emulated, 1);
    pass_u32(s, &node->package_count, PUS_MAX);
    pass_u32(s, &node->core_count, PUS_MAX);
    pass_u32(s, &node->pu_count, PUS_MAX);
    pass_u32(s, &node->numa_count, NUMAS_MAX);
    pass_u32(s, &node->nic_count, NICS_MAX);
    pass_u32(s, &node->gpu_count, GPUS_MAX);
    node->distance.source = passed(s, node->distance.source, NUIOA_DISTANCE_STRUCTURE);
    node->cut = passed(s, node->cut, 1);
    if (s->in && (!node->pu_count || !node->numa_count))
        s->failed = true;
    pass_pus(s, node);
    pass_numas(s, node);
    pass_distance(s, node);
    pass_nics(s, node);
    pass_gpus(s, node);
    pass_paths(s, node);
    pass_bitmap(s, &node->allowed_cpus);
    pass_bitmap(s, &node->allowed_numas);
    pass_u32(s, &node->warnings.count, NUIOA_WARNINGS_MAX);
    pass_u32(s, &node->warnings.lost, UINT32_MAX);
    for (unsigned i = 0; i < node->warnings.count; i++)
        pass_text(s, node->warnings.text[i], sizeof(node->warnings.text[i]), false);
    pass_u32(s, &node->refusals, (1u << NUIOA_WARNINGS_MAX) - 1);
}

int nuioa_node_serialize(const struct nuioa_node *node, void **bytes, size_t *length)
{
    struct stream s = { .in = NULL };
    struct nuioa_node copy = *node; /* writing changes nothing */
    struct header h;
    memset(&h, 0, sizeof(h));
    pass(&s, &h, sizeof(h));
    pass_node(&s, &copy);
    if (s.failed) {
        free(s.out);
        return -ENOMEM;
    }
    h = header_for(s.out + sizeof(h), s.at - sizeof(h));
    memcpy(s.out, &h, sizeof(h));
    *bytes = s.out;
    *length = s.at;
    return 0;
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
    struct stream s = { .in = payload, .size = length - sizeof(h) };
    pass_node(&s, node);
    if (!s.failed && s.at == s.size)
        return 0;
    nuioa_node_free(node);
    return nuioa_fail(err, -EINVAL, "a node's description is damaged");
}
