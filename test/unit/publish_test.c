/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <unistd.h>

#include <pmix_common.h>

#include "pmix/server/publish.h"
#include "pmix/server/session.h"
#include "unit.h"

/* A PMIx server of this test: it knows one step of four tasks, and falls silent when it is told
 * to. */

#define NSPACE "slurm.pmix.7.0"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t let_go = PTHREAD_COND_INITIALIZER;
static bool silent;
static unsigned asked, stored, held;

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value);
pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *value);
int PMIx_Initialized(void);
const char *PMIx_Get_version(void);

static void answer(unsigned *counter)
{
    pthread_mutex_lock(&lock);
    ++*counter;
    held++;
    while (silent)
        pthread_cond_wait(&let_go, &lock);
    held--;
    pthread_mutex_unlock(&lock);
}

static void be_silent(bool yes)
{
    pthread_mutex_lock(&lock);
    silent = yes;
    pthread_cond_broadcast(&let_go);
    pthread_mutex_unlock(&lock);
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char *key, const pmix_info_t *info,
                       size_t count, pmix_value_t **value)
{
    (void)info, (void)count;
    answer(&asked);
    if (strcmp(proc->nspace, NSPACE) || strcmp(key, PMIX_LOCAL_PEERS))
        return PMIX_ERR_NOT_FOUND;
    *value = calloc(1, sizeof(**value));
    (*value)->type = PMIX_STRING;
    (*value)->data.string = strdup("4,5,6,7");
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char *key, pmix_value_t *value)
{
    (void)proc, (void)key, (void)value;
    answer(&stored);
    return PMIX_SUCCESS;
}

int PMIx_Initialized(void)
{
    return 1;
}
const char *PMIx_Get_version(void)
{
    return "OpenPMIx 4.2.2";
}

/* Threads that were left alone come home: none still has the lock when the next test begins. */
static void wait_for_nobody(void)
{
    for (bool some = true; some; usleep(1000)) {
        pthread_mutex_lock(&lock);
        some = held > 0;
        pthread_mutex_unlock(&lock);
    }
}

static const struct nuioa_namespaces names = { 1, { NSPACE } };

static struct nuioa_publisher *open_it(unsigned patience_ms)
{
    struct nuioa_publisher *publisher;
    struct nuioa_error err = { "" };
    if (nuioa_publish_open(&names, 4, patience_ms, &publisher, &err) != 1)
        fail_msg("%s", err.text);
    assert_int_equal(nuioa_publish_ranks(publisher)[3], 7);
    return publisher;
}

TEST(test_answers)
{
    nuioa_publish_close(open_it(60000));
    asked = 0;
    nuioa_publish_close(open_it(0));
    assert_int_equal(asked, 1);
}

/* That this comes back at all is what is tested. */
TEST(test_silent_from_the_start)
{
    struct nuioa_publisher *publisher;
    struct nuioa_error err = { "" };
    be_silent(true);
    assert_int_equal(nuioa_publish_open(&names, 4, 50, &publisher, &err), -ETIMEDOUT);
    assert_null(publisher);
    assert_string_equal(err.text, "PMIx has not answered for 50 ms");
    be_silent(false);
    wait_for_nobody();
}

TEST(test_silent_later)
{
    struct nuioa_plan plan = { .reason = "" };
    struct nuioa_node node = { 0 };
    struct nuioa_options options;
    struct nuioa_publication publication = { &plan, &node, &options };
    struct nuioa_error err = { "" };
    nuioa_options_init(&options);
    options.mode = NUIOA_ON;
    nuioa_options_finish(&options);
    struct nuioa_publisher *publisher = open_it(50);
    stored = 0;
    usleep(60000); /* it has answered just now, which counts for a while */
    be_silent(true);
    assert_int_equal(nuioa_publish_tasks(publisher, &publication, &err), -ETIMEDOUT);
    assert_int_equal(nuioa_publish_node(publisher, &publication, &err), -ETIMEDOUT);
    assert_int_equal(stored, 0);
    be_silent(false);
    wait_for_nobody();
    assert_int_equal(nuioa_publish_node(publisher, &publication, &err), 0);
    assert_true(stored > 0);
    nuioa_publish_close(publisher);
}

/* Adds `count` keys, of which every second one is a string that the record owns. */
static void fill(struct record *record, unsigned count)
{
    static char keys[2 * RECORD_KEYS][16];
    record_begin(record, 4);
    for (unsigned i = 0; i < count; i++) {
        snprintf(keys[i], sizeof(keys[i]), "key.%u", i);
        if (i % 2)
            record_add_text(record, keys[i], strdup("text"));
        else
            record_add_u32(record, keys[i], i);
    }
}

TEST(test_record_is_full)
{
    struct nuioa_publisher *publisher = open_it(0);
    struct nuioa_error err = { "" };
    struct record record;
    publisher->err = &err;
    for (unsigned more = 0; more < 3; more++) {
        fill(&record, RECORD_KEYS + more);
        stored = 0;
        assert_int_equal(record_store(publisher, &record), more ? -ENOBUFS : 0);
        assert_int_equal(stored > 0, !more);
        assert_true(!more || strstr(err.text, "key.12 "));
        record_end(&record);
    }
    nuioa_publish_close(publisher);
}

/* Nothing is stored of a rank without keys. Texts have room for as many as there are keys. */
TEST(test_record_of_texts)
{
    struct nuioa_publisher *publisher = open_it(0);
    struct nuioa_error err = { "" };
    struct record record;
    publisher->err = &err;
    record_begin(&record, 4);
    stored = 0;
    assert_int_equal(record_store(publisher, &record), 0);
    assert_int_equal(stored, 0);
    for (unsigned i = 0; i <= RECORD_KEYS; i++)
        record_add_text(&record, i < RECORD_KEYS ? "key" : "last", strdup("text"));
    assert_int_equal(record_store(publisher, &record), -ENOBUFS);
    assert_non_null(strstr(err.text, "last "));
    record_end(&record);
    nuioa_publish_close(publisher);
}

static int limit_time(void **state)
{
    (void)state;
    alarm(60); /* one that hangs has failed */
    return 0;
}

ALL_WITHIN(limit_time, NULL)
