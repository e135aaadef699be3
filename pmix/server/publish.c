/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmix/server/publish.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PMIX
#include <dlfcn.h>

#include "pmix/server/locality.h"
#include "pmix/server/session.h"
#include "util/clock.h"
#include "util/number.h"
#endif
#include "util/variable.h"

/* --- the namespace's name -------------------------------------------------------------------- */

static void add_name(struct nuioa_namespaces *namespaces, const char *name)
{
    for (unsigned i = 0; i < namespaces->count; i++)
        if (!strcmp(namespaces->names[i], name))
            return;
    if (namespaces->count < NUIOA_NAMESPACE_CANDIDATES &&
        !nuioa_copy(namespaces->names[namespaces->count], NUIOA_NAMESPACE_SIZE, name))
        namespaces->count++;
}

/* Adds the namespace that belongs to the directory that mpi/pmix has made for this step, such as
 * ".../pmix.1234.0/". */
static void add_from_directory(struct nuioa_namespaces *namespaces, const char *path)
{
    char name[NUIOA_NAMESPACE_SIZE];
    size_t end = path ? strlen(path) : 0;
    while (end && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin && path[begin - 1] != '/')
        begin--;
    if (end - begin < 6 || strncmp(path + begin, "pmix.", 5) ||
        !isdigit((unsigned char)path[begin + 5]))
        return;
    int length = snprintf(name, sizeof(name), "slurm.%.*s", (int)(end - begin), path + begin);
    if (length > 0 && (size_t)length < sizeof(name))
        add_name(namespaces, name);
}

void nuioa_namespaces_guess(struct nuioa_namespaces *namespaces, char *const *environment,
                            uint32_t job_id, uint32_t step_id)
{
    char name[64];
    const char *job = nuioa_variable(environment, "SLURM_JOB_ID");
    memset(namespaces, 0, sizeof(*namespaces));
    add_from_directory(namespaces, getenv("PMIX_SERVER_TMPDIR"));
    if (job && *job && strspn(job, "0123456789") == strlen(job) && strlen(job) < 11) {
        snprintf(name, sizeof(name), "slurm.pmix.%s.%u", job, step_id);
        add_name(namespaces, name);
    }
    snprintf(name, sizeof(name), "slurm.pmix.%u.%u", job_id, step_id);
    add_name(namespaces, name);
}

#ifndef HAVE_PMIX

int nuioa_publish_prepare(uint32_t rank_count, char *const *environment, struct nuioa_error *err)
{
    (void)rank_count, (void)environment, (void)err;
    return 0;
}

int nuioa_publish_open(const struct nuioa_namespaces *namespaces, uint32_t task_count,
                       unsigned patience_ms, struct nuioa_publisher **publisher,
                       struct nuioa_error *err)
{
    (void)namespaces, (void)task_count, (void)patience_ms, (void)err;
    *publisher = NULL;
    return 0;
}

void nuioa_publish_close(struct nuioa_publisher *publisher)
{
    (void)publisher;
}

const uint32_t *nuioa_publish_ranks(const struct nuioa_publisher *publisher)
{
    (void)publisher;
    return NULL;
}

int nuioa_publish_tasks(struct nuioa_publisher *publisher,
                        const struct nuioa_publication *publication, struct nuioa_error *err)
{
    (void)publisher, (void)publication, (void)err;
    return 0;
}

int nuioa_publish_node(struct nuioa_publisher *publisher,
                       const struct nuioa_publication *publication, struct nuioa_error *err)
{
    (void)publisher, (void)publication, (void)err;
    return 0;
}

struct nuioa_published nuioa_publish_done(const struct nuioa_publisher *publisher)
{
    (void)publisher;
    return (struct nuioa_published){ .nspace = "" };
}

#else

/* --- the step as PMIx knows it --------------------------------------------------------------- */

static bool is_usable(const struct pmix_calls *calls)
{
    return calls->get && calls->store && calls->initialized && calls->initialized();
}

/* Reads exactly `count` ranks from a list such as "4,5,6". Returns 0, or -EINVAL. */
static int parse_peers(const char *text, uint32_t count, uint32_t *ranks)
{
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        size_t length = strcspn(text, ",");
        if (length >= sizeof(number))
            return -EINVAL;
        memcpy(number, text, length);
        number[length] = '\0';
        if (nuioa_parse_u32(number, PMIX_RANK_VALID, &ranks[i]) < 0 ||
            (text[length] == ',') != (i + 1 < count))
            return -EINVAL;
        text += length + 1;
    }
    return 0;
}

/* Tries the names until PMIx knows one. This is needed because PMIx_Store_internal also succeeds
 * for a namespace that does not exist; the value is lost then. */
static int find_namespace(struct nuioa_publisher *s, const struct nuioa_namespaces *namespaces)
{
    for (unsigned i = 0; i < namespaces->count; i++) {
        pmix_proc_t all;
        pmix_proc_set(&all, namespaces->names[i], PMIX_RANK_WILDCARD);
        pmix_value_t *peers = pmix_value_get(&s->calls, &all, PMIX_LOCAL_PEERS, PMIX_STRING);
        if (!peers)
            continue;
        const char *text = peers->data.string ? peers->data.string : "";
        int rc = parse_peers(text, s->count, s->ranks);
        nuioa_copy(s->nspace, sizeof(s->nspace), namespaces->names[i]);
        if (rc < 0)
            nuioa_fail(s->err, rc,
                       "PMIx has other ranks on this node (%.60s) than Slurm (%u of them)", text,
                       s->count);
        pmix_value_release(peers);
        return rc;
    }
    return nuioa_fail(s->err, -ENOENT, "PMIx does not know this step as %s",
                      namespaces->count ? namespaces->names[0] : "anything");
}

int nuioa_publish_open(const struct nuioa_namespaces *namespaces, uint32_t task_count,
                       unsigned patience_ms, struct nuioa_publisher **publisher,
                       struct nuioa_error *err)
{
    struct pmix_calls calls;
    *publisher = NULL;
    pmix_calls_find(&calls, RTLD_DEFAULT);
    if (!is_usable(&calls) || !task_count)
        return 0;
    struct nuioa_publisher *s = calloc(1, sizeof(*s) + task_count * sizeof(*s->ranks));
    if (!s)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    s->calls = calls;
    s->patience_ms = patience_ms;
    s->count = task_count;
    s->err = err;
    nuioa_copy(s->nspace, sizeof(s->nspace), namespaces->names[0]);
    int rc = session_await(s);
    if (!rc)
        rc = find_namespace(s, namespaces);
    if (rc < 0) {
        free(s);
        return rc;
    }
    *publisher = s;
    return 1;
}

void nuioa_publish_close(struct nuioa_publisher *s)
{
    free(s);
}

const uint32_t *nuioa_publish_ranks(const struct nuioa_publisher *s)
{
    return s->ranks;
}

/* --- how keys reach the ranks ---------------------------------------------------------------- */

#define GDS_VARIABLE "PMIX_MCA_gds"
#define GDS_BY_NAME "hash"

/* Returns whether this PMIx replaces names of keys by numbers. An unknown version counts as new. */
static bool numbers_keys(const struct pmix_calls *calls)
{
    unsigned version = pmix_calls_version(calls);
    return !version || version >= 500;
}

static bool is_by_name(const struct pmix_calls *calls)
{
    const char *gds = getenv(GDS_VARIABLE);
    return !numbers_keys(calls) || (gds && !strcmp(gds, GDS_BY_NAME));
}

int nuioa_publish_prepare(uint32_t rank_count, char *const *environment, struct nuioa_error *err)
{
    struct pmix_calls calls;
    const char *chosen = nuioa_variable(environment, GDS_VARIABLE);
    pmix_calls_find(&calls, RTLD_DEFAULT);
    if (!calls.store || is_by_name(&calls))
        return 0;
    if (rank_count > NUIOA_PUBLISH_RANKS_MAX)
        return nuioa_fail(err, -E2BIG, "no nuioa.* keys in PMIx: %u ranks, more than %u",
                          rank_count, NUIOA_PUBLISH_RANKS_MAX);
    if (chosen && (*chosen == '^' || !strstr(chosen, GDS_BY_NAME)))
        return nuioa_fail(err, -EPERM, "no nuioa.* keys in PMIx: %s=%.60s", GDS_VARIABLE, chosen);
    if (calls.initialized && calls.initialized())
        return nuioa_fail(err, -EBUSY, "no nuioa.* keys in PMIx: it runs already");
    if (setenv(GDS_VARIABLE, GDS_BY_NAME, 1) < 0)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    return 0;
}

/* --- once for the node ----------------------------------------------------------------------- */

/* Adds an array of `count` ranks, those of the tasks which[count]. */
static void add_ranks(struct record *record, const char *key, const struct nuioa_publisher *s,
                      const uint32_t *which, uint32_t count)
{
    pmix_data_array_t *array = record_array(PMIX_PROC_RANK, count, sizeof(pmix_rank_t));
    pmix_rank_t *ranks = array ? array->array : NULL;
    for (uint32_t i = 0; ranks && i < count; i++)
        ranks[i] = s->ranks[which[i]];
    record_add(record, key, &(pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array });
}

static void add_leaders(struct record *record, const struct nuioa_publisher *s,
                        const struct nuioa_plan *plan)
{
    if (!plan->order_count)
        return;
    pmix_value_t leader = { .type = PMIX_PROC_RANK, .data.rank = s->ranks[plan->order[0]] };
    record_add(record, "nuioa.leader", &leader);
    record_add_u32(record, "nuioa.near", plan->near);
    add_ranks(record, "nuioa.order", s, plan->order, plan->order_count);
    if (plan->rail_leader_count)
        add_ranks(record, "nuioa.rail_leaders", s, plan->rail_leaders, plan->rail_leader_count);
}

static int store_node(struct nuioa_publisher *s, const struct nuioa_publication *p)
{
    struct record record;
    record_begin(&record, PMIX_RANK_WILDCARD);
    add_leaders(&record, s, p->plan);
    if (p->plan->planned)
        record_add(&record, "nuioa.planned",
                   &(pmix_value_t){ .type = PMIX_BOOL, .data.flag = true });
    /* last, so that a reader who finds it finds the others too */
    record_add_u32(&record, "nuioa.version", 1);
    int rc = record_store(s, &record);
    record_end(&record);
    return rc;
}

/* --- the standard keys that Slurm leaves empty ----------------------------------------------- */

struct standard {
    bool wanted;
    bool cpuset, string, package_rank, distances;
    unsigned caches;
    uint16_t *package_ranks;
    struct locality_devices devices;
};

static bool anyone_is_bound(const struct nuioa_publication *p)
{
    for (uint32_t i = 0; i < p->plan->task_count; i++)
        if (locality_is_bound(p->node, &p->plan->assignments[i]))
            return true;
    return false;
}

/* Finds out which standard keys are missing. PMIx is asked as little as possible, because each
 * question wakes its thread and waits for it. The caller frees the two lists in *standard. */
static int standard_open(struct nuioa_publisher *s, const struct nuioa_publication *p,
                         struct standard *standard)
{
    *standard = (struct standard){
        /* A reader of these keys could not know that a plan was not carried out. */
        .wanted = p->options->export_set & NUIOA_EXPORT_LOCALITY && !p->plan->planned &&
                  anyone_is_bound(p),
    };
    if (!standard->wanted)
        return 0;
    standard->cpuset = !session_has(s, PMIX_CPUSET, PMIX_STRING);
    standard->string = !session_has(s, PMIX_LOCALITY_STRING, PMIX_STRING);
    standard->package_rank = !session_has(s, PMIX_PACKAGE_RANK, PMIX_UINT16);
    standard->distances = !session_has(s, PMIX_DEVICE_DISTANCES, PMIX_DATA_ARRAY);
    standard->caches = locality_caches(p->node);
    standard->package_ranks = calloc(s->count, sizeof(*standard->package_ranks));
    if (!standard->package_ranks || locality_devices_find(p->node, p->plan, &standard->devices) < 0)
        return nuioa_fail(s->err, -ENOMEM, "out of memory");
    locality_package_ranks(p->node, p->plan, standard->package_ranks);
    return 0;
}

static void add_distances(struct record *record, const struct nuioa_publication *p,
                          const struct locality_devices *devices,
                          const struct nuioa_assignment *assignment)
{
    pmix_data_array_t *array =
        record_array(PMIX_DEVICE_DIST, devices->count, sizeof(pmix_device_distance_t));
    if (array)
        array->size = locality_distances(p->node, assignment, devices, array->array);
    if (!array || array->size)
        record_add(record, PMIX_DEVICE_DISTANCES,
                   &(pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array });
    else
        free(array);
}

static void add_standard(struct record *record, const struct nuioa_publication *p,
                         const struct standard *standard, uint32_t local)
{
    const struct nuioa_assignment *assignment = &p->plan->assignments[local];
    if (!standard->wanted || !locality_is_bound(p->node, assignment))
        return;
    if (standard->package_rank) {
        pmix_value_t value = { .type = PMIX_UINT16, .data.uint16 = standard->package_ranks[local] };
        record_add(record, PMIX_PACKAGE_RANK, &value);
    }
    if (standard->distances && standard->devices.count)
        add_distances(record, p, &standard->devices, assignment);
    if (standard->cpuset)
        record_add_text(record, PMIX_CPUSET, locality_cpuset(assignment));
    if (standard->string)
        record_add_text(record, PMIX_LOCALITY_STRING,
                        locality_string(p->node, assignment, standard->caches));
}

/* --- once for each rank ---------------------------------------------------------------------- */

static void add_list(struct record *record, const char *key, hwloc_const_bitmap_t set)
{
    char *list = NULL;
    record_add_text(record, key, hwloc_bitmap_list_asprintf(&list, set) < 0 ? NULL : list);
}

static void add_ours(struct record *record, const struct nuioa_publication *p, uint32_t local)
{
    const struct nuioa_assignment *assignment = &p->plan->assignments[local];
    char label[64], text[4096];
    if (assignment->level != NUIOA_NO_LEVEL)
        record_add_u32(record, "nuioa.level", assignment->level);
    if (p->plan->hinted) {
        pmix_value_t weight = { .type = PMIX_DOUBLE, .data.dval = assignment->weight };
        record_add(record, "nuioa.weight", &weight);
    }
    if (assignment->nic >= 0)
        record_add_text(
            record, "nuioa.nic",
            strdup(nuioa_nic_label(&p->node->nics[assignment->nic], label, sizeof(label))));
    if (nuioa_nics_text(assignment, p->node, text, sizeof(text)))
        record_add_text(record, "nuioa.nics", strdup(text));
    if (nuioa_gpus_text(assignment, p->node, text, sizeof(text)))
        record_add_text(record, "nuioa.gpus", strdup(text));
    if (nuioa_gpu_nics_text(&p->plan->usable, p->node, assignment->seen, assignment->seen_count,
                            text, sizeof(text)))
        record_add_text(record, "nuioa.gpu_nics", strdup(text));
    add_list(record, "nuioa.cpus", assignment->cpus);
    if (assignment->place_count)
        add_list(record, "nuioa.comm_cpus", assignment->places[0]);
}

static bool wants_ours(const struct nuioa_publisher *s, const struct nuioa_publication *p)
{
    return p->options->export_set & NUIOA_EXPORT_PMIX && is_by_name(&s->calls);
}

static int store_tasks(struct nuioa_publisher *s, const struct nuioa_publication *p)
{
    bool ours = wants_ours(s, p);
    struct standard standard;
    struct record record;
    int rc = standard_open(s, p, &standard);
    for (uint32_t i = 0; i < s->count && !rc; i++) {
        record_begin(&record, s->ranks[i]);
        if (ours)
            add_ours(&record, p, i);
        add_standard(&record, p, &standard, i);
        rc = record_store(s, &record);
        record_end(&record);
    }
    free(standard.package_ranks);
    free(standard.devices.list);
    return rc;
}

/* --- storing them ---------------------------------------------------------------------------- */

/* Lets `store` do its work, if it is wanted and PMIx answers. */
static int publish(struct nuioa_publisher *s, const struct nuioa_publication *p, bool wanted,
                   int (*store)(struct nuioa_publisher *, const struct nuioa_publication *),
                   struct nuioa_error *err)
{
    int64_t begin = nuioa_clock_us();
    s->err = err;
    int rc = wanted ? session_await(s) : 0;
    if (wanted && !rc)
        rc = store(s, p);
    s->time_us += (uint32_t)(nuioa_clock_us() - begin);
    return rc;
}

int nuioa_publish_tasks(struct nuioa_publisher *s, const struct nuioa_publication *p,
                        struct nuioa_error *err)
{
    bool wanted = p->options->export_set & (NUIOA_EXPORT_PMIX | NUIOA_EXPORT_LOCALITY);
    return publish(s, p, wanted, store_tasks, err);
}

int nuioa_publish_node(struct nuioa_publisher *s, const struct nuioa_publication *p,
                       struct nuioa_error *err)
{
    return publish(s, p, wants_ours(s, p), store_node, err);
}

struct nuioa_published nuioa_publish_done(const struct nuioa_publisher *s)
{
    return (struct nuioa_published){ s->nspace, pmix_calls_version(&s->calls), s->stored,
                                     s->time_us };
}

#endif
