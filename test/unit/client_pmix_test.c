/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak_check.h"
#include "pmix/client/nuioa-client.h"
#include "ranks/rank_id.h"
#include "unit.h"

/* libnuioa-client in a process that has loaded a libpmix: libpmix_stand_in.c. */

static void *libpmix;

static int load(void **state)
{
    (void)state;
    libpmix = dlopen(LIBPMIX, RTLD_NOW | RTLD_LOCAL);
    return libpmix ? 0 : -1;
}

/* Calls one of the functions by which the stand-in begins and ends to answer. */
static void call(const char *name)
{
    void (*function)(void);
    *(void **)&function = dlsym(libpmix, name);
    function();
}

static int unload(void **state)
{
    (void)state;
    call("stand_in_stop");
    return dlclose(libpmix);
}

/* Rank 5 of the step, and no other advice than that of PMIx. */
static int be_rank_5(void **state)
{
    (void)state;
    unsetenv("NUIOA_EXEC");
    unsetenv("NUIOA_VERSION");
    unsetenv("PMIX_STAND_IN");
    setenv("PMIX_NAMESPACE", "slurm.pmix.7.0", 1);
    setenv("PMIX_RANK", "5", 1);
    return 0;
}

TEST_WITHIN(test_all_is_read, be_rank_5, NULL)
{
    struct leak_check before = leak_check_begin();
    struct nuioa_client *c = nuioa_client_open();
    const uint32_t *ranks;
    uint32_t leader = 0;
    double weight = 0;
    const char *nics;
    assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_PMIX);
    assert_int_equal(nuioa_client_leader(c, &leader), 0);
    assert_int_equal(leader, 6);
    assert_int_equal(nuioa_client_is_planned(c), 1);
    assert_int_equal(nuioa_client_order(c, &ranks), 2);
    assert_true(ranks[0] == 6 && ranks[1] == 5);
    assert_int_equal(nuioa_client_rail_leaders(c, &ranks), 2);
    assert_int_equal(ranks[1], 4);
    assert_int_equal(nuioa_client_level(c), 2);
    assert_int_equal(nuioa_client_weight(c, &weight), 0);
    assert_true(weight == 12.5);
    assert_string_equal(nuioa_client_nic(c), "mlx5_1:1");
    assert_string_equal(nuioa_client_nics(c), "mlx5_1:1,mlx5_0:1");
    assert_string_equal(nuioa_client_gpus(c), "0000:2a:00.0");
    assert_string_equal(nuioa_client_cpus(c), "2-3");
    assert_int_equal(nuioa_client_nics_of_gpu(c, "3b:00.0", &nics), 0);
    assert_string_equal(nics, "mlx5_0:1,mlx5_1:1");
    nuioa_client_close(c);
    leak_check_end(&before);
}

/* nuioa exec has told this rank more than the plugin knew. */
TEST_WITHIN(test_of_exec, be_rank_5, NULL)
{
    char id[NUIOA_RANK_ID_SIZE];
    nuioa_rank_id(environ, id);
    setenv("NUIOA_EXEC", id, 1);
    setenv("NUIOA_NIC", "mlx5_3:1", 1);
    setenv("NUIOA_NICS", "mlx5_3:1,mlx5_2:1", 1);
    setenv("NUIOA_GPUS", "0000:4c:00.0", 1);
    for (unsigned own = 1; own < 2; own--) {
        const char *nics = NULL;
        struct leak_check before = leak_check_begin();
        struct nuioa_client *c = nuioa_client_open();
        assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_PMIX);
        assert_string_equal(nuioa_client_nic(c), own ? "mlx5_3:1" : "mlx5_1:1");
        assert_string_equal(nuioa_client_gpus(c), own ? "0000:4c:00.0" : "0000:2a:00.0");
        assert_int_equal(nuioa_client_nics_of_gpu(c, "4c:00.0", &nics), own ? 0 : -ENOENT);
        assert_string_equal(nics ? nics : "", own ? "mlx5_3:1,mlx5_2:1" : "");
        assert_string_equal(nuioa_client_cpus(c), "2-3");
        nuioa_client_close(c);
        leak_check_end(&before);
        setenv("NUIOA_EXEC", "0123456789abcdef", 1); /* told another rank */
    }
}

static void assert_source(enum nuioa_client_source source)
{
    struct leak_check before = leak_check_begin();
    struct nuioa_client *c = nuioa_client_open();
    assert_int_equal(nuioa_client_source(c), source);
    nuioa_client_close(c);
    leak_check_end(&before);
}

/* Where PMIx has no answer the environment counts. */
TEST_WITHIN(test_no_answer, be_rank_5, NULL)
{
    static const char *const words[] = { "not initialized", "knows nothing", "version 0",
                                         "other types" };
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        setenv("PMIX_STAND_IN", words[i], 1);
        unsetenv("NUIOA_VERSION");
        assert_source(NUIOA_CLIENT_NOTHING);
        setenv("NUIOA_VERSION", "1", 1);
        assert_source(NUIOA_CLIENT_ENVIRONMENT);
    }
}

TEST_WITHIN(test_no_rank_of_pmix, be_rank_5, NULL)
{
    setenv("PMIX_RANK", "five", 1);
    assert_source(NUIOA_CLIENT_NOTHING);
    unsetenv("PMIX_RANK");
    assert_source(NUIOA_CLIENT_NOTHING);
    setenv("PMIX_RANK", "5", 1);
    unsetenv("PMIX_NAMESPACE");
    assert_source(NUIOA_CLIENT_NOTHING);
}

/* An array of another type is no list of ranks; the rest of the advice counts. */
TEST_WITHIN(test_other_arrays, be_rank_5, NULL)
{
    const uint32_t *ranks;
    setenv("PMIX_STAND_IN", "other arrays", 1);
    struct nuioa_client *c = nuioa_client_open();
    assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_PMIX);
    assert_int_equal(nuioa_client_order(c, &ranks), 0);
    assert_string_equal(nuioa_client_nic(c), "mlx5_1:1");
    nuioa_client_close(c);
    setenv("PMIX_STAND_IN", "distances", 1);
    c = nuioa_client_open();
    assert_int_equal(nuioa_client_order(c, &ranks), 0);
    assert_int_equal(nuioa_client_rail_leaders(c, &ranks), 2);
    nuioa_client_close(c);
}

/* --- a child of fork(), where PMIx has no thread ---------------------------------------------- */

static unsigned threads(void)
{
    return files_in("/proc/self/task");
}

/* Asks, and sees that no signal is blocked by it. */
static enum nuioa_client_source ask(void)
{
    struct nuioa_client *c = nuioa_client_open();
    enum nuioa_client_source source = nuioa_client_source(c);
    sigset_t blocked;
    nuioa_client_close(c);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return sigismember(&blocked, SIGTERM) ? 99 : source;
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void start_another_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_for_ever, NULL);
}

/* Runs `what` in a child, which returns the line that is wrong, or 0. */
static void in_child(int (*what)(void))
{
    int status;
    setenv("NUIOA_VERSION", "1", 1);
    assert_source(NUIOA_CLIENT_PMIX);
    pid_t child = fork();
    if (!child) {
        alarm(30); /* ends one that hangs */
        exit(what());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_source(NUIOA_CLIENT_PMIX);
}

#define EXPECT(condition) \
    if (!(condition)) { \
        print_error("line %d: %s\n", __LINE__, #condition); \
        return 1; \
    }

static int single(void)
{
    unsigned before = threads();
    EXPECT(ask() == NUIOA_CLIENT_ENVIRONMENT && threads() == before);
    return 0;
}

/* One thread is left in PMIx_Get, and no other is, and it may get its answer at last. */
static int not_single(void)
{
    start_another_thread();
    unsigned before = threads();
    for (unsigned i = 0; i < 3; i++)
        EXPECT(ask() == NUIOA_CLIENT_ENVIRONMENT && threads() == before + 1);
    call("stand_in_start");
    while (threads() != before + 1) /* until the one that was left ends */
        usleep(1000);
    EXPECT(ask() == NUIOA_CLIENT_ENVIRONMENT);
    return 0;
}

/* Where no thread can be started, nothing is known of PMIx. */
static int no_thread(void)
{
    pthread_attr_t usual, huge;
    start_another_thread();
    pthread_getattr_default_np(&usual);
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 50);
    pthread_setattr_default_np(&huge);
    EXPECT(ask() == NUIOA_CLIENT_ENVIRONMENT);
    pthread_setattr_default_np(&usual);
    call("stand_in_start");
    EXPECT(ask() == NUIOA_CLIENT_PMIX);
    return 0;
}

TEST_WITHIN(test_forked, be_rank_5, NULL)
{
    in_child(single);
    in_child(not_single);
    in_child(no_thread);
}

ALL_WITHIN(load, unload)
