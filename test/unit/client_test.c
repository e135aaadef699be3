/* SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "pmix/client/nuioa-client.h"
#include "ranks/rank_id.h"
#include "unit.h"

/* libnuioa-client where there is no PMIx: the environment, or nothing. */

static const char *const variables[] = {
    "NUIOA_VERSION",
    "NUIOA_LEADER",
    "NUIOA_ORDER",
    "NUIOA_NEAR",
    "NUIOA_NIC",
    "NUIOA_LEVEL",
    "NUIOA_WEIGHT",
    "NUIOA_CPUS",
    "NUIOA_PLANNED",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "SLURM_PROCID",
    "OMPI_COMM_WORLD_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_HET_SIZE",
    "NUIOA_NICS",
    "NUIOA_GPUS",
    "NUIOA_GPU_NICS",
    "NUIOA_EXEC",
    "RANK",
    NULL,
};

static void clear(void)
{
    for (const char *const *name = variables; *name; name++)
        unsetenv(*name);
}

/* As rank 5 of a job is told. */
static void be_rank_5(void)
{
    static const char *const settings[] = {
        "NUIOA_VERSION=1",         "NUIOA_LEADER=6",
        "NUIOA_ORDER=6,4,5,7",     "NUIOA_NEAR=2",
        "NUIOA_NIC=mlx5_0:1",      "NUIOA_LEVEL=1",
        "NUIOA_WEIGHT=12.5",       "NUIOA_CPUS=2-3",
        "SLURM_PROCID=5",          "NUIOA_NICS=mlx5_0:1,mlx5_1:1",
        "NUIOA_GPUS=0000:1b:00.0",
    };
    clear();
    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        putenv((char *)settings[i]);
}

static void close_client(void *client)
{
    nuioa_client_close(client);
}

/* It is closed when the test has ended. */
static struct nuioa_client *open_client(void)
{
    struct nuioa_client *c = nuioa_client_open();
    unit_later(close_client, c);
    return c;
}

static int set_up(void **state)
{
    (void)state;
    be_rank_5();
    return 0;
}

TEST_WITHIN(test_all_is_read, set_up, NULL)
{
    struct nuioa_client *c = open_client();
    const uint32_t *ranks;
    uint32_t leader = 99;
    double weight = 0;
    assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_ENVIRONMENT);
    assert_int_equal(nuioa_client_leader(c, &leader), 0);
    assert_int_equal(leader, 6);
    assert_int_equal(nuioa_client_order(c, &ranks), 4);
    assert_int_equal(ranks[0], 6);
    assert_int_equal(ranks[3], 7);
    assert_int_equal(nuioa_client_rail_leaders(c, &ranks), 0);
    assert_null(ranks);
    assert_string_equal(nuioa_client_nic(c), "mlx5_0:1");
    assert_string_equal(nuioa_client_nics(c), "mlx5_0:1,mlx5_1:1");
    assert_string_equal(nuioa_client_gpus(c), "0000:1b:00.0");
    assert_int_equal(nuioa_client_level(c), 1);
    assert_int_equal(nuioa_client_weight(c, &weight), 0);
    assert_true(weight == 12.5);
    assert_string_equal(nuioa_client_cpus(c), "2-3");
    assert_int_equal(nuioa_client_is_planned(c), 0);
    setenv("NUIOA_PLANNED", "1", 1);
    c = open_client();
    assert_int_equal(nuioa_client_is_planned(c), 1);
}

static void assert_no_advice(const struct nuioa_client *c)
{
    const uint32_t *ranks;
    uint32_t rank = 77, mine[] = { 4, 5 };
    uint64_t vote[2];
    double weight;
    assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_NOTHING);
    assert_int_equal(nuioa_client_leader(c, &rank), -ENOENT);
    assert_int_equal(rank, 77);
    assert_int_equal(nuioa_client_order(c, &ranks), 0);
    assert_int_equal(nuioa_client_best(c, mine, 2), -ENOENT);
    assert_int_equal(nuioa_client_near(c, mine, 2, NULL), 0);
    assert_null(nuioa_client_nic(c));
    assert_null(nuioa_client_nics(c));
    assert_null(nuioa_client_gpus(c));
    assert_null(nuioa_client_cpus(c));
    assert_int_equal(nuioa_client_level(c), -ENOENT);
    assert_int_equal(nuioa_client_weight(c, &weight), -ENOENT);
    nuioa_client_vote(c, NUIOA_CLIENT_NODE, vote);
    assert_int_equal(nuioa_client_agreed(vote), 0);
}

static void assert_nothing_is_read(void)
{
    struct nuioa_client *c = open_client();
    assert_non_null(c);
    assert_no_advice(c);
}

TEST_WITHIN(test_no_advice, set_up, NULL)
{
    assert_no_advice(NULL);
    nuioa_client_close(NULL);
    clear();
    assert_nothing_is_read();
}

/* Inherited variables of another process mislead. */
TEST_WITHIN(test_of_another_process, set_up, NULL)
{
    setenv("SLURM_PROCID", "9", 1); /* on no list of this node */
    assert_nothing_is_read();
    be_rank_5();
    setenv("OMPI_COMM_WORLD_RANK", "5", 1); /* mpirun inside a rank */
    assert_nothing_is_read();
    be_rank_5();
    setenv("PMIX_NAMESPACE", "prterun-n1-77@1", 1);
    assert_nothing_is_read();
    be_rank_5();
    setenv("PMI_RANK", "0", 1); /* hydra inside a rank */
    assert_nothing_is_read();
    be_rank_5();
    setenv("PMI_RANK", "5", 1); /* hydra, with as many ranks, or more */
    setenv("PMI_SIZE", "8", 1);
    setenv("SLURM_STEP_NUM_TASKS", "6", 1);
    assert_nothing_is_read();
    setenv("SLURM_HET_SIZE", "2", 1); /* Slurm's own pmi2 */
    setenv("PMIX_NAMESPACE", "slurm.pmix.7.0", 1);
    struct nuioa_client *c = open_client();
    assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_ENVIRONMENT);
}

/* What nuioa exec has told this rank is believed, whoever has started it; and not what it has told
 * another one, from which this one has inherited it. */
TEST_WITHIN(test_of_exec, set_up, NULL)
{
    static const char *const launchers[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK" };
    char id[NUIOA_RANK_ID_SIZE];
    for (unsigned i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
        be_rank_5();
        setenv("SLURM_PROCID", "0", 1); /* of the step in which the launcher runs */
        setenv(launchers[i], "5", 1);
        nuioa_rank_id(environ, id);
        setenv("NUIOA_EXEC", id, 1);
        struct nuioa_client *c = open_client();
        assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_ENVIRONMENT);
        assert_string_equal(nuioa_client_nic(c), "mlx5_0:1");
        setenv(launchers[i], "4", 1); /* its own launcher inside of rank 5 */
        assert_nothing_is_read();
    }
    be_rank_5();
    setenv("PMIX_NAMESPACE", "prterun-n1-77@1", 1);
    setenv("PMIX_RANK", "5", 1);
    nuioa_rank_id(environ, id);
    setenv("NUIOA_EXEC", id, 1);
    struct nuioa_client *c = open_client();
    assert_int_equal(nuioa_client_source(c), NUIOA_CLIENT_ENVIRONMENT);
    setenv("PMIX_NAMESPACE", "prterun-n1-78@1", 1);
    assert_nothing_is_read();
}

static const char *nics_of(const char *gpu)
{
    static char found[64];
    const char *nics = NULL;
    struct nuioa_client *c = open_client();
    int rc = nuioa_client_nics_of_gpu(c, gpu, &nics);
    snprintf(found, sizeof(found), "%s",
             !rc             ? nics
             : rc == -ENOENT ? "unknown"
             : rc == -EINVAL ? "wrong"
                             : "?");
    return found;
}

TEST_WITHIN(test_nics_of_gpus, set_up, NULL)
{
    const char *nics;
    assert_string_equal(nics_of("0000:1b:00.0"), "mlx5_0:1,mlx5_1:1"); /* its only one */
    assert_string_equal(nics_of("0000:2a:00.0"), "unknown");
    setenv("NUIOA_GPUS", "0000:1b:00.0,0000:2a:00.0", 1);
    assert_string_equal(nics_of("0000:1b:00.0"), "unknown"); /* which NIC is whose? */
    unsetenv("NUIOA_GPUS");
    assert_string_equal(nics_of("0000:1b:00.0"), "unknown");
    setenv("NUIOA_GPU_NICS", "0000:1b:00.0=mlx5_0:1+mlx5_1:1;0001:2a:00.1=hsi0", 1);
    assert_string_equal(nics_of("0000:1b:00.0"), "mlx5_0:1,mlx5_1:1");
    assert_string_equal(nics_of("1b:00.0"), "mlx5_0:1,mlx5_1:1");
    assert_string_equal(nics_of("00000000:1B:00.0"), "mlx5_0:1,mlx5_1:1");
    assert_string_equal(nics_of("1:2A:0.1"), "hsi0");
    assert_string_equal(nics_of("0000:2a:00.1"), "unknown");
    assert_string_equal(nics_of("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"), "unknown");
    static const char *const wrong[] = { "",      "0",       "mlx5_0",  "GPU-",       "1b:00",
                                         "1b:.0", "1b:00.8", "1b:20.0", "1b:00.0 ",   "100:00.0",
                                         ":1b.0", "1b:00.",  "x:00.0",  "1:1:1b:00.0" };
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_string_equal(nics_of(wrong[i]), "wrong");
    assert_string_equal(nics_of(NULL), "wrong");
    assert_int_equal(nuioa_client_nics_of_gpu(NULL, "1b:00.0", &nics), -ENOENT);
    static const char *const malformed[] = { "",
                                             ";",
                                             "=",
                                             "0000:1b:00.0",
                                             "0000:1b:00.0=",
                                             "0000:1b:00.0=a;",
                                             "0000:1b:00.0=a;x=b",
                                             "0000:1b:00.0=a++b",
                                             "0000:1b:00.0=+a",
                                             "0000:1b:00.0=a+",
                                             "0000:1b:00.0=a b",
                                             "0000:1b:00.0=a,b" };
    for (unsigned i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        setenv("NUIOA_GPU_NICS", malformed[i], 1);
        assert_string_equal(nics_of("0000:1b:00.0"), "unknown");
    }
}

TEST_WITHIN(test_contradictions, set_up, NULL)
{
    setenv("NUIOA_LEADER", "4", 1); /* not the first of the order */
    assert_nothing_is_read();
    be_rank_5();
    setenv("NUIOA_NEAR", "5", 1); /* more than there are */
    assert_nothing_is_read();
    be_rank_5();
    setenv("NUIOA_VERSION", "0", 1);
    assert_nothing_is_read();
}

/* Returns the number of ranks in an order, whose first one is the leader. The rank of this process
 * is not known here, and so need not be one of them. */
static size_t order_of(const char *text, const uint32_t **ranks, struct nuioa_client **c)
{
    unsetenv("PMIX_RANK");
    unsetenv("SLURM_PROCID");
    setenv("NUIOA_ORDER", text, 1);
    *c = open_client();
    return nuioa_client_order(*c, ranks);
}

TEST_WITHIN(test_lists, set_up, NULL)
{
    static const char *const malformed[] = { "6,",           ",6",    "6,,8", "6-",
                                             "-6",           "6-4",   "6:2",  "0-6:0",
                                             "6,x",          "0x6",   "6 ",   "4294967295",
                                             "0-4294967293", "6-8-9", "",     "0-1000000" };
    struct nuioa_client *c;
    const uint32_t *ranks;
    for (size_t i = 0; i < sizeof(malformed) / sizeof(*malformed); i++) {
        assert_int_equal(order_of(malformed[i], &ranks, &c), 0);
    }
    assert_int_equal(order_of("6-39996:6", &ranks, &c), 6666);
    assert_int_equal(ranks[6665], 39996);
    assert_int_equal(order_of("6-7,12", &ranks, &c), 3);
    assert_int_equal(ranks[2], 12);
}

TEST_WITHIN(test_best_of_some, set_up, NULL)
{
    static const uint32_t all[] = { 4, 5, 6, 7 }, some[] = { 7, 5 }, others[] = { 1, 2 },
                          pair[] = { 5, 4, 7 };
    uint32_t indexes[4] = { 9, 9, 9, 9 };
    struct nuioa_client *c = open_client();
    assert_int_equal(nuioa_client_best(c, all, 4), 2);
    assert_int_equal(nuioa_client_best(c, some, 2), 1);
    assert_int_equal(nuioa_client_best(c, others, 2), -ENOENT);
    assert_int_equal(nuioa_client_best(c, all, 0), -ENOENT);
    assert_int_equal(nuioa_client_near(c, all, 4, indexes), 2); /* 6 and 4 */
    assert_int_equal(indexes[0], 2);
    assert_int_equal(indexes[1], 0);
    assert_int_equal(indexes[2], 9);
    assert_int_equal(nuioa_client_near(c, pair, 3, indexes), 1); /* 4 alone */
    assert_int_equal(indexes[0], 1);
    assert_int_equal(nuioa_client_near(c, some, 2, indexes), 1); /* neither is near: the best one */
    assert_int_equal(indexes[0], 1);
    assert_int_equal(nuioa_client_near(c, others, 2, indexes), 0);
}

/* More ranks than an environment string holds: no order, but a leader. */
/* `indexes` has room for as many ranks as are asked for. */
TEST_WITHIN(test_rank_named_twice, set_up, NULL)
{
    static const uint32_t pair[] = { 4, 6 };
    uint32_t indexes[3] = { 77, 77, 77 };
    setenv("NUIOA_ORDER", "6,4,6,4,5,6", 1);
    setenv("NUIOA_NEAR", "6", 1);
    struct nuioa_client *c = open_client();
    assert_int_equal(nuioa_client_near(c, pair, 2, indexes), 2);
    assert_int_equal(indexes[0], 1);
    assert_int_equal(indexes[2], 77);
}

TEST_WITHIN(test_leader_without_order, set_up, NULL)
{
    static const uint32_t all[] = { 4, 5, 6, 7 }, some[] = { 7, 5 };
    unsetenv("NUIOA_ORDER");
    struct nuioa_client *c = open_client();
    assert_int_equal(nuioa_client_best(c, all, 4), 2);
    assert_int_equal(nuioa_client_near(c, all, 4, NULL), 1);
    assert_int_equal(nuioa_client_best(c, some, 2), -ENOENT);
}

/* Returns two votes as MPI_Allreduce with MPI_MAX combines them. */
static int agree(const uint64_t a[2], const uint64_t b[2])
{
    uint64_t reduced[2] = { a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1] };
    return nuioa_client_agreed(reduced);
}

static void vote_with(const char *name, const char *value, uint64_t vote[2])
{
    be_rank_5();
    if (name)
        setenv(name, value, 1);
    struct nuioa_client *c = open_client();
    nuioa_client_vote(c, NUIOA_CLIENT_NODE, vote);
}

TEST_WITHIN(test_votes, set_up, NULL)
{
    uint64_t mine[2], same[2], other[2], none[2];
    vote_with(NULL, NULL, mine);
    vote_with("NUIOA_WEIGHT", "1", same);
    vote_with("NUIOA_NEAR", "1", other);
    vote_with("NUIOA_VERSION", "", none);
    assert_int_equal(agree(mine, same), 1);
    assert_int_equal(agree(mine, other), 0);
    assert_int_equal(agree(other, mine), 0);
    assert_int_equal(agree(mine, none), 0);
    assert_int_equal(agree(none, none), 0);
}
