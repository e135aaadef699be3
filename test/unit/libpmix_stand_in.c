/* SPDX-License-Identifier: BSD-3-Clause */

/* A libpmix that answers as for rank 5 of the step "slurm.pmix.7.0". client_pmix_test.c loads it,
 * and sets what it does by the variable PMIX_STAND_IN. As in libpmix, a thread answers, which a
 * child of fork() does not have. */

#include <pmix_common.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int PMIx_Initialized(void);
pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value);
void stand_in_start(void);
void stand_in_stop(void);

static int is(const char *word)
{
    const char *does = getenv("PMIX_STAND_IN");
    return does && !strcmp(does, word);
}

int PMIx_Initialized(void)
{
    return !is("not initialized");
}

static void put_ranks(pmix_value_t *value, uint32_t first, uint32_t second)
{
    uint32_t *ranks = malloc(2 * sizeof(*ranks));
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = calloc(1, sizeof(*value->data.darray));
    if (!ranks || !value->data.darray)
        abort();
    ranks[0] = first;
    ranks[1] = second;
    value->data.darray->type = is("other arrays") ? PMIX_UINT32 : PMIX_PROC_RANK;
    value->data.darray->size = 2;
    value->data.darray->array = ranks;
}

/* An array of structs that have texts of their own. */
static void put_distances(pmix_value_t *value)
{
    pmix_device_distance_t *distances = calloc(2, sizeof(*distances));
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = calloc(1, sizeof(*value->data.darray));
    if (!distances || !value->data.darray)
        abort();
    distances[0].uuid = strdup("fab://1");
    distances[0].osname = strdup("mlx5_0");
    distances[1].osname = strdup("mlx5_1");
    value->data.darray->type = PMIX_DEVICE_DIST;
    value->data.darray->size = 2;
    value->data.darray->array = distances;
}

static void put_text(pmix_value_t *value, const char *text)
{
    value->type = PMIX_STRING;
    value->data.string = strdup(text);
}

/* What all ranks of the node share. */
static int put_node(pmix_value_t *value, const char *key)
{
    if (!strcmp(key, "nuioa.version") || !strcmp(key, "nuioa.near")) {
        value->type = is("other types") ? PMIX_UINT64 : PMIX_UINT32;
        value->data.uint32 = is("version 0") ? 0 : 1;
    } else if (!strcmp(key, "nuioa.planned")) {
        value->type = PMIX_BOOL;
        value->data.flag = true;
    } else if (!strcmp(key, "nuioa.leader")) {
        value->type = PMIX_PROC_RANK;
        value->data.rank = 6;
    } else if (!strcmp(key, "nuioa.order") && is("distances")) {
        put_distances(value);
    } else if (!strcmp(key, "nuioa.order")) {
        put_ranks(value, 6, 5);
    } else if (!strcmp(key, "nuioa.rail_leaders")) {
        put_ranks(value, 6, 4);
    } else {
        return 0;
    }
    return 1;
}

static int put_own(pmix_value_t *value, const char *key)
{
    if (!strcmp(key, "nuioa.level")) {
        value->type = PMIX_UINT32;
        value->data.uint32 = 2;
    } else if (!strcmp(key, "nuioa.weight")) {
        value->type = PMIX_DOUBLE;
        value->data.dval = 12.5;
    } else if (!strcmp(key, "nuioa.nic")) {
        put_text(value, "mlx5_1:1");
    } else if (!strcmp(key, "nuioa.nics")) {
        put_text(value, "mlx5_1:1,mlx5_0:1");
    } else if (!strcmp(key, "nuioa.gpus")) {
        put_text(value, "0000:2a:00.0");
    } else if (!strcmp(key, "nuioa.gpu_nics")) {
        put_text(value, "0000:2a:00.0=mlx5_1:1;0000:3b:00.0=mlx5_0:1+mlx5_1:1");
    } else if (!strcmp(key, "nuioa.cpus")) {
        put_text(value, "2-3");
    } else {
        return 0;
    }
    return 1;
}

/* Returns NULL if the key is not known. */
static pmix_value_t *answer(const pmix_proc_t *proc, const char *key)
{
    pmix_value_t *made = calloc(1, sizeof(*made));
    if (!made)
        abort();
    int known = !strcmp(proc->nspace, "slurm.pmix.7.0") && !is("knows nothing");
    if (known && proc->rank == PMIX_RANK_WILDCARD)
        known = put_node(made, key);
    else if (known)
        known = proc->rank == 5 && put_own(made, key);
    if (known)
        return made;
    free(made);
    return NULL;
}

/* --- the thread ------------------------------------------------------------------------------- */

struct question {
    const pmix_proc_t *proc;
    const char *key;
    pmix_value_t *value;
    sem_t answered;
    struct question *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct question *questions; /* guarded by the lock */
static sem_t asked;
static pthread_t progress;
static atomic_bool stopped;

static struct question *take(void)
{
    pthread_mutex_lock(&lock);
    struct question *question = questions;
    if (question)
        questions = question->next;
    pthread_mutex_unlock(&lock);
    return question;
}

static void *answer_all(void *unused)
{
    struct question *question;
    while (!stopped) {
        while ((question = take())) {
            question->value = answer(question->proc, question->key);
            sem_post(&question->answered);
        }
        sem_wait(&asked);
    }
    return unused;
}

/* A child of fork() can call this too: then the questions in it are answered. */
void __attribute__((constructor)) stand_in_start(void)
{
    if (sem_init(&asked, 0, 0) || pthread_create(&progress, NULL, answer_all, NULL))
        abort();
}

void stand_in_stop(void)
{
    stopped = true;
    sem_post(&asked);
    pthread_join(progress, NULL);
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value)
{
    struct question question = { .proc = proc, .key = key };
    if (count != 1 || strcmp(info->key, PMIX_OPTIONAL)) /* no question to the server */
        abort();
    sem_init(&question.answered, 0, 0);
    pthread_mutex_lock(&lock);
    question.next = questions;
    questions = &question;
    pthread_mutex_unlock(&lock);
    sem_post(&asked);
    sem_wait(&question.answered);
    sem_destroy(&question.answered);
    if (question.value)
        *value = question.value;
    return question.value ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}
