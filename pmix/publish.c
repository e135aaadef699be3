#include "publish.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef HAVE_PMIX
#include "locality.h"
#include "number.h"
#include "value.h"
#endif

/* --- the namespace's name ---------------------------------------------------------------------------- */

static const char *variable(char *const *environment, const char *name)
{
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}

static void add_name(struct nuioa_namespaces *namespaces, const char *name)
{
    for (unsigned i = 0; i < namespaces->count; i++)
        if (!strcmp(namespaces->names[i], name))
            return;
    if (namespaces->count < NUIOA_NAMESPACE_CANDIDATES &&
        !nuioa_copy(namespaces->names[namespaces->count], NUIOA_NAMESPACE_SIZE, name))
        namespaces->count++;
}

/* ".../pmix.1234.0/", which mpi/pmix sets for this step. */
static void add_from_directory(struct nuioa_namespaces *namespaces, const char *path)
{
    char name[NUIOA_NAMESPACE_SIZE];
    size_t end = path ? strlen(path) : 0;
    while (end && path[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin && path[begin - 1] != '/')
        begin--;
    if (end - begin < 6 || strncmp(path + begin, "pmix.", 5) || !isdigit((unsigned char)path[begin + 5]))
        return;
    int length = snprintf(name, sizeof(name), "slurm.%.*s", (int)(end - begin), path + begin);
    if (length > 0 && (size_t)length < sizeof(name))
        add_name(namespaces, name);
}

void nuioa_namespaces_guess(struct nuioa_namespaces *namespaces, char *const *environment,
                            uint32_t job_id, uint32_t step_id)
{
    char name[64];
    const char *job = variable(environment, "SLURM_JOB_ID");
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

int nuioa_publish_ranks(const struct nuioa_namespaces *namespaces, uint32_t task_count, uint32_t *ranks,
                        struct nuioa_error *err)
{
    (void)namespaces, (void)task_count, (void)ranks, (void)err;
    return 0;
}

int nuioa_publish(const struct nuioa_publication *publication, struct nuioa_published *published,
                  struct nuioa_error *err)
{
    (void)publication, (void)err;
    if (published)
        memset(published, 0, sizeof(*published));
    return 0;
}

#else

/* --- the step, as PMIx has it ------------------------------------------------------------------------ */

struct session {
    struct pmix_calls calls;
    const char *nspace;
    uint32_t count;
    uint32_t *ranks; /* [count]: by local rank */
    uint32_t stored;
    struct nuioa_error *err;
};

static bool is_there(const struct pmix_calls *calls)
{
    return calls->get && calls->store && calls->initialized && calls->initialized();
}

/* "4,5,6": as many as `count` says. */
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

/* Storing under a name that PMIx does not know succeeds and is lost, hence the question. */
static int find_namespace(struct session *s, const struct nuioa_namespaces *namespaces)
{
    for (unsigned i = 0; i < namespaces->count; i++) {
        pmix_proc_t all;
        pmix_value_t *peers;
        pmix_proc_set(&all, namespaces->names[i], PMIX_RANK_WILDCARD);
        if (pmix_value_get(&s->calls, &all, PMIX_LOCAL_PEERS, PMIX_STRING, &peers) < 0)
            continue;
        int rc = peers->data.string ? parse_peers(peers->data.string, s->count, s->ranks) : -EINVAL;
        s->nspace = namespaces->names[i];
        if (rc < 0)
            nuioa_fail(s->err, rc, "PMIx has other ranks on this node (%.60s) than Slurm (%u of them)",
                       peers->data.string ? peers->data.string : "none", s->count);
        pmix_value_release(peers);
        return rc;
    }
    return nuioa_fail(s->err, -ENOENT, "PMIx does not know this step as %s",
                      namespaces->count ? namespaces->names[0] : "anything");
}

/* 1: found; 0: no PMIx here; or negative. Close it in each case. */
static int session_open(struct session *s, const struct nuioa_namespaces *namespaces, uint32_t count,
                        struct nuioa_error *err)
{
    *s = (struct session){ .count = count, .err = err };
    pmix_calls_find(&s->calls, RTLD_DEFAULT);
    if (!is_there(&s->calls) || !count)
        return 0;
    s->ranks = calloc(count, sizeof(*s->ranks));
    if (!s->ranks)
        return nuioa_fail(err, -ENOMEM, "out of memory");
    int rc = find_namespace(s, namespaces);
    return rc < 0 ? rc : 1;
}

static void session_close(struct session *s)
{
    free(s->ranks);
}

int nuioa_publish_ranks(const struct nuioa_namespaces *namespaces, uint32_t task_count, uint32_t *ranks,
                        struct nuioa_error *err)
{
    struct session s;
    int rc = session_open(&s, namespaces, task_count, err);
    if (rc > 0) {
        memcpy(ranks, s.ranks, task_count * sizeof(*ranks));
        rc = (int)task_count;
    }
    session_close(&s);
    return rc;
}

/* --- storing ----------------------------------------------------------------------------------------- */

static int store(struct session *s, uint32_t rank, const char *key, pmix_value_t *value)
{
    pmix_proc_t proc;
    pmix_proc_set(&proc, s->nspace, rank);
    pmix_status_t status = s->calls.store(&proc, key, value);
    if (status != PMIX_SUCCESS)
        return nuioa_fail(s->err, -EIO, "PMIx does not take %s: status %d", key, (int)status);
    s->stored++;
    return 0;
}

static int store_u32(struct session *s, uint32_t rank, const char *key, uint32_t number)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };
    return store(s, rank, key, &value);
}

static int store_string(struct session *s, uint32_t rank, const char *key, char *text)
{
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    return store(s, rank, key, &value);
}

/* The string was made for this. */
static int store_made(struct session *s, uint32_t rank, const char *key, char *text)
{
    int rc = text ? store_string(s, rank, key, text) : nuioa_fail(s->err, -ENOMEM, "out of memory");
    free(text);
    return rc;
}

static int store_array(struct session *s, uint32_t rank, const char *key, pmix_data_type_t type,
                       void *elements, size_t count)
{
    pmix_data_array_t array = { .type = type, .size = count, .array = elements };
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &array };
    return store(s, rank, key, &value);
}

/* Local ranks as PMIx ranks. */
static int store_locals(struct session *s, const char *key, const uint32_t *locals, uint32_t count)
{
    pmix_rank_t *ranks = calloc(count, sizeof(*ranks));
    if (!ranks)
        return nuioa_fail(s->err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = s->ranks[locals[i]];
    int rc = store_array(s, PMIX_RANK_WILDCARD, key, PMIX_PROC_RANK, ranks, count);
    free(ranks);
    return rc;
}

/* --- nuioa.* ----------------------------------------------------------------------------------------- */

static int publish_leaders(struct session *s, const struct nuioa_publication *p)
{
    const struct nuioa_plan *plan = p->plan;
    int rc = 0;
    if (plan->order_count) {
        pmix_value_t leader = { .type = PMIX_PROC_RANK, .data.rank = s->ranks[plan->order[0]] };
        rc = store(s, PMIX_RANK_WILDCARD, "nuioa.leader", &leader);
        if (!rc)
            rc = store_locals(s, "nuioa.order", plan->order, plan->order_count);
        if (!rc)
            rc = store_u32(s, PMIX_RANK_WILDCARD, "nuioa.near", plan->near);
    }
    if (!rc && plan->order_count && plan->rail_count)
        rc = store_locals(s, "nuioa.rail_leaders", plan->rails, plan->rail_count);
    if (!rc && p->leader_count)
        rc = store_array(s, PMIX_RANK_WILDCARD, "nuioa.leaders", PMIX_PROC_RANK, (void *)p->leaders,
                         p->leader_count);
    return rc;
}

static int publish_node(struct session *s, const struct nuioa_publication *p)
{
    int rc = publish_leaders(s, p);
    if (!rc && p->plan->planned) {
        pmix_value_t planned = { .type = PMIX_BOOL, .data.flag = true };
        rc = store(s, PMIX_RANK_WILDCARD, "nuioa.planned", &planned);
    }
    /* Last: who finds it finds the others. */
    return rc ? rc : store_u32(s, PMIX_RANK_WILDCARD, "nuioa.version", 1);
}

static int publish_rank(struct session *s, const struct nuioa_publication *p, uint32_t local)
{
    const struct nuioa_place *place = &p->plan->places[local];
    uint32_t rank = s->ranks[local];
    char label[48], *cpus = NULL;
    int rc = 0;
    if (place->nic >= 0) {
        nuioa_nic_label(&p->node->nics[place->nic], label, sizeof(label));
        rc = store_string(s, rank, "nuioa.nic", label);
    }
    if (!rc && place->level != NUIOA_NO_LEVEL)
        rc = store_u32(s, rank, "nuioa.level", place->level);
    if (!rc && p->plan->hinted) {
        pmix_value_t weight = { .type = PMIX_DOUBLE, .data.dval = place->weight };
        rc = store(s, rank, "nuioa.weight", &weight);
    }
    if (rc)
        return rc;
    if (hwloc_bitmap_list_asprintf(&cpus, place->cpus) < 0)
        cpus = NULL;
    return store_made(s, rank, "nuioa.cpus", cpus);
}

static int publish_ours(struct session *s, const struct nuioa_publication *p)
{
    int rc = 0;
    for (uint32_t i = 0; i < s->count && !rc; i++)
        rc = publish_rank(s, p, i);
    return rc ? rc : publish_node(s, p);
}

/* --- the standard keys that Slurm leaves empty --------------------------------------------------------- */

struct standard {
    bool cpuset, string, package_rank, distances; /* wanted */
    unsigned caches;
    uint16_t *package_ranks;
    struct locality_devices devices;
    pmix_device_distance_t *row;
};

/* Slurm treats all ranks alike: what it gives to the first, it gives to all. */
static bool is_given(struct session *s, const char *key, pmix_data_type_t type)
{
    pmix_proc_t first;
    pmix_value_t *value;
    pmix_proc_set(&first, s->nspace, s->ranks[0]);
    if (pmix_value_get(&s->calls, &first, key, type, &value) < 0)
        return false;
    pmix_value_release(value);
    return true;
}

static int standard_open(struct session *s, const struct nuioa_publication *p, struct standard *standard)
{
    *standard = (struct standard){
        .cpuset = !is_given(s, PMIX_CPUSET, PMIX_STRING),
        .string = !is_given(s, PMIX_LOCALITY_STRING, PMIX_STRING),
        .package_rank = !is_given(s, PMIX_PACKAGE_RANK, PMIX_UINT16),
        .distances = !is_given(s, PMIX_DEVICE_DISTANCES, PMIX_DATA_ARRAY),
        .caches = locality_caches(p->node),
        .package_ranks = calloc(s->count, sizeof(*standard->package_ranks)),
    };
    if (!standard->package_ranks || locality_devices_find(p->node, p->plan, &standard->devices) < 0)
        return nuioa_fail(s->err, -ENOMEM, "out of memory");
    locality_package_ranks(p->node, p->plan, standard->package_ranks);
    standard->row = calloc(standard->devices.count + 1, sizeof(*standard->row));
    return standard->row ? 0 : nuioa_fail(s->err, -ENOMEM, "out of memory");
}

static void standard_close(struct standard *standard)
{
    free(standard->package_ranks);
    free(standard->row);
    locality_devices_free(&standard->devices);
}

static int publish_standard(struct session *s, const struct nuioa_publication *p,
                            struct standard *standard, uint32_t local)
{
    const struct nuioa_place *place = &p->plan->places[local];
    uint32_t rank = s->ranks[local];
    int rc = 0;
    if (!locality_is_bound(p->node, place))
        return 0;
    if (standard->cpuset)
        rc = store_made(s, rank, PMIX_CPUSET, locality_cpuset(place));
    if (!rc && standard->string)
        rc = store_made(s, rank, PMIX_LOCALITY_STRING, locality_string(p->node, place, standard->caches));
    if (!rc && standard->package_rank) {
        pmix_value_t value = { .type = PMIX_UINT16, .data.uint16 = standard->package_ranks[local] };
        rc = store(s, rank, PMIX_PACKAGE_RANK, &value);
    }
    if (rc || !standard->distances || !standard->devices.count)
        return rc;
    locality_distances(p->node, place, &standard->devices, standard->row);
    return store_array(s, rank, PMIX_DEVICE_DISTANCES, PMIX_DEVICE_DIST, standard->row,
                       standard->devices.count);
}

static int publish_locality(struct session *s, const struct nuioa_publication *p)
{
    struct standard standard;
    int rc = standard_open(s, p, &standard);
    for (uint32_t i = 0; i < s->count && !rc; i++)
        rc = publish_standard(s, p, &standard, i);
    standard_close(&standard);
    return rc;
}

/* --- the entry ---------------------------------------------------------------------------------------- */

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int publish_all(struct session *s, const struct nuioa_publication *p)
{
    unsigned wanted = p->options->export_set;
    int rc = wanted & NUIOA_EXPORT_PMIX ? publish_ours(s, p) : 0;
    /* Readers of the standard keys cannot know that a plan was not carried out. */
    if (!rc && wanted & NUIOA_EXPORT_LOCALITY && !p->plan->planned)
        rc = publish_locality(s, p);
    return rc;
}

int nuioa_publish(const struct nuioa_publication *publication, struct nuioa_published *published,
                  struct nuioa_error *err)
{
    uint64_t begin = now_us();
    struct session s = { 0 };
    if (published)
        memset(published, 0, sizeof(*published));
    if (!(publication->options->export_set & (NUIOA_EXPORT_PMIX | NUIOA_EXPORT_LOCALITY)))
        return 0;
    int rc = session_open(&s, publication->namespaces, publication->plan->task_count, err);
    if (rc > 0) {
        rc = publish_all(&s, publication);
        if (published) {
            nuioa_copy(published->nspace, sizeof(published->nspace), s.nspace);
            published->pmix_version = pmix_calls_version(&s.calls);
            published->key_count = s.stored;
            published->time_us = (uint32_t)(now_us() - begin);
        }
    }
    session_close(&s);
    return rc < 0 ? rc : (int)s.stored;
}

#endif
