/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/gpu_visible.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/variable.h"

/* The GPUs of one vendor that a process sees so far. */
struct sight {
    const struct nuioa_gpu_device *devices;
    uint32_t *gpus; /* [count]: indexes into node->gpus */
    uint32_t *next; /* room for as many, used while a list is read */
    uint32_t count;
    bool counted; /* no GPU is missing and none is too much, so that numbers mean something */
    bool divided; /* some GPUs are, and their parts are numbered */
    bool ordered; /* the runtime numbers them as in gpus[] */
    bool tiles;   /* a number may have a second one behind a dot */
    bool merged;  /* the list has named a part of a GPU more than once */
    bool chosen; /* the program takes GPUs by their order: no list means all that may be opened, and
                     one model is numbered in PCI order */
};

/* What an entry of a list means, if it is not the place of a GPU in sight->gpus. */
enum { END = -1, UNCLEAR = -2 };

/* --- one entry -------------------------------------------------------------------------------- */

/* Finds the only GPU whose UUID begins with `text`, without regard to upper and lower case. */
static int by_uuid(const struct sight *s, const char *text)
{
    bool all_known = true;
    size_t length = strlen(text);
    int found = END;
    for (uint32_t i = 0; i < s->count; i++) {
        const char *uuid = s->devices[s->gpus[i]].uuid;
        if (!strcasecmp(uuid, text))
            return (int)i;
        all_known = all_known && *uuid;
        if (!strncasecmp(uuid, text, length))
            found = found == END ? (int)i : UNCLEAR;
    }
    /* A GPU whose UUID is unknown may be meant too, and one that is not in sight as well. */
    return all_known && (found >= 0 || s->counted) ? found : UNCLEAR;
}

/* The UUID of a GPU that is divided may stand for any part. */
static int whole(const struct sight *s, int place)
{
    return place >= 0 && s->devices[s->gpus[place]].divided ? UNCLEAR : place;
}

static int by_number(const struct sight *s, char *text)
{
    char *dot = strchr(text, '.');
    uint32_t number, tile;
    if (dot && s->tiles)
        *dot++ = '\0';
    if (nuioa_parse_u32(text, INT32_MAX, &number) ||
        (dot && nuioa_parse_u32(dot, INT32_MAX, &tile)) || !s->counted)
        return UNCLEAR;
    /* A number above those of the GPUs counts something else, such as parts of them. */
    return number < s->count && !s->divided ? (int)number : UNCLEAR;
}

static int find(const struct sight *s, char *entry)
{
    if (!strncmp(entry, "MIG-GPU-", 8)) {
        entry += 4;
        entry[strcspn(entry, "/")] = '\0';
        return by_uuid(s, entry);
    }
    if (!strncmp(entry, "MIG-", 4)) /* nobody but the driver says of which GPU this is a part */
        return s->counted && s->count == 1 ? 0 : UNCLEAR;
    if (!strncasecmp(entry, "GPU-", 4))
        return entry[4] ? whole(s, by_uuid(s, entry)) : UNCLEAR;
    if (isdigit((unsigned char)*entry))
        return by_number(s, entry);
    /* Such as "-1" and "NoDevFiles". */
    return *entry == '-' || isalpha((unsigned char)*entry) ? END : UNCLEAR;
}

/* --- one list --------------------------------------------------------------------------------- */

/* Copies the next entry of the list to `entry`, an array of `size` bytes. Returns what follows it,
 * or NULL if it does not fit. */
static const char *next_entry(const char *list, char *entry, size_t size)
{
    size_t length = strcspn(list, ",");
    if (length >= size)
        return NULL;
    memcpy(entry, list, length);
    entry[length] = '\0';
    return list + length + (list[length] == ',');
}

static bool has(const uint32_t *array, uint32_t count, uint32_t value)
{
    for (uint32_t i = 0; i < count; i++)
        if (array[i] == value)
            return true;
    return false;
}

/* Leaves the GPUs that the list names, in its order. Returns false if it is not clear which. */
static bool narrow(struct sight *s, const char *list)
{
    uint32_t count = 0;
    bool numbers = false, names = false;
    for (const char *rest = list; *rest;) {
        char entry[80];
        rest = next_entry(rest, entry, sizeof(entry));
        if (!rest)
            return false;
        bool part = s->tiles || !strncmp(entry, "MIG-", 4);
        bool number = isdigit((unsigned char)*entry);
        int place = find(s, entry);
        if (place == UNCLEAR || (place == END && s->tiles))
            return false;
        if (place == END)
            break;
        *(number ? &numbers : &names) = true;
        if (!has(s->next, count, s->gpus[place]))
            s->next[count++] = s->gpus[place];
        else if (!part)
            return false;
        else
            s->merged = true;
    }
    if (numbers && !s->ordered && s->count > 1 && count && (names || count < s->count))
        return false;
    memcpy(s->gpus, s->next, count * sizeof(*s->gpus));
    s->ordered = s->ordered || !numbers || count <= 1;
    s->count = count;
    s->counted = true;
    return true;
}

/* --- one vendor ------------------------------------------------------------------------------- */

static bool is_set_to(char *const *environment, const char *name, const char *value)
{
    const char *text = nuioa_variable(environment, name);
    return text && !strcmp(text, value);
}

static bool narrow_nvidia(struct sight *s, char *const *environment, bool one_model)
{
    const char *list = nuioa_variable(environment, "CUDA_VISIBLE_DEVICES");
    s->ordered = one_model || is_set_to(environment, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    return list ? narrow(s, list) : s->chosen && !s->divided;
}

/* Puts the GPUs in the order of the driver's nodes. Returns false if one of them is not known. */
static bool sort_by_kfd(struct sight *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->devices[s->gpus[i]].kfd)
            return false;
    for (uint32_t i = 1; i < s->count; i++)
        for (uint32_t k = i; k && s->devices[s->gpus[k]].kfd < s->devices[s->gpus[k - 1]].kfd;
             k--) {
            uint32_t gpu = s->gpus[k];
            s->gpus[k] = s->gpus[k - 1];
            s->gpus[k - 1] = gpu;
        }
    return true;
}

static bool narrow_amd(struct sight *s, char *const *environment, bool one_model)
{
    static const char names[][24] = { "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                                      "GPU_DEVICE_ORDINAL" };
    const char *first = nuioa_variable(environment, "ROCR_VISIBLE_DEVICES"), *second = NULL;
    s->ordered = sort_by_kfd(s) || (s->chosen && one_model && !s->divided);
    if (first && !narrow(s, first))
        return false;
    if (first && !s->count)
        return true;
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *list = nuioa_variable(environment, names[i]);
        if (list && second && strcmp(list, second))
            return false;
        second = list ? list : second;
    }
    /* It is not documented whether an empty second list leaves all GPUs or none, and runtimes below
     * HIP do not read it. */
    return second ? *second && narrow(s, second) && s->count : first || (s->chosen && !s->divided);
}

static bool narrow_intel(struct sight *s, char *const *environment, bool one_model)
{
    const char *list = nuioa_variable(environment, "ZE_AFFINITY_MASK");
    s->tiles = is_set_to(environment, "ZE_FLAT_DEVICE_HIERARCHY", "COMPOSITE");
    s->ordered =
        is_set_to(environment, "ZE_ENABLE_PCI_ID_DEVICE_ORDER", "1") || (s->chosen && one_model);
    return s->tiles && (list ? *list && narrow(s, list) : s->chosen);
}

static bool see(const struct nuioa_node *node, enum nuioa_gpu_vendor vendor,
                char *const *environment, hwloc_const_bitmap_t openable, struct sight *s)
{
    uint32_t all = 0;
    bool one_model = true, known = false;
    s->count = 0;
    s->counted = openable != NULL;
    s->ordered = s->tiles = s->merged = s->divided = false;
    for (uint32_t i = 0; i < node->gpu_count; i++) {
        if (node->gpus[i].vendor != vendor)
            continue;
        all++;
        if (openable && !hwloc_bitmap_isset(openable, i))
            continue;
        s->gpus[s->count++] = i;
        uint32_t model = node->gpus[s->gpus[0]].model;
        one_model = one_model && model && node->gpus[i].model == model;
        s->counted = s->counted && model;
        s->divided = s->divided || s->devices[i].divided;
    }
    if (!s->count)
        return true;
    bool only = s->counted && s->count == 1 && all > 1;
    if (vendor == NUIOA_GPU_NVIDIA)
        known = narrow_nvidia(s, environment, one_model);
    else if (vendor == NUIOA_GPU_AMD)
        known = narrow_amd(s, environment, one_model);
    else if (vendor == NUIOA_GPU_INTEL)
        known = narrow_intel(s, environment, one_model);
    return known || only;
}

bool nuioa_gpus_visible(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                        char *const *environment, hwloc_const_bitmap_t openable,
                        hwloc_bitmap_t gpus)
{
    struct sight s = { .devices = devices };
    uint32_t *memory = calloc(2 * (size_t)node->gpu_count + 1, sizeof(*memory));
    bool known = memory != NULL;
    hwloc_bitmap_zero(gpus);
    s.gpus = memory;
    s.next = memory ? memory + node->gpu_count : NULL;
    for (int vendor = 0; known && vendor < NUIOA_GPU_VENDORS; vendor++) {
        known = see(node, (enum nuioa_gpu_vendor)vendor, environment, openable, &s);
        for (uint32_t i = 0; known && i < s.count; i++)
            known = !hwloc_bitmap_set(gpus, s.gpus[i]);
    }
    free(memory);
    if (!known)
        hwloc_bitmap_zero(gpus);
    return known;
}

uint32_t nuioa_gpus_in_order(const struct nuioa_node *node, const struct nuioa_gpu_device *devices,
                             char *const *environment, hwloc_const_bitmap_t openable,
                             uint32_t *order)
{
    struct sight s = { .devices = devices, .chosen = true };
    uint32_t *memory = calloc(2 * (size_t)node->gpu_count + 1, sizeof(*memory)), count = 0;
    bool known = memory && openable;
    s.gpus = memory;
    s.next = memory ? memory + node->gpu_count : NULL;
    for (int vendor = 0; known && vendor < NUIOA_GPU_VENDORS; vendor++) {
        known = see(node, (enum nuioa_gpu_vendor)vendor, environment, openable, &s) &&
                (!s.count || (!count && (s.count == 1 || s.ordered) && !s.merged));
        if (known && s.count)
            memcpy(order, s.gpus, s.count * sizeof(*order));
        count += s.count;
    }
    free(memory);
    return known ? count : 0;
}
