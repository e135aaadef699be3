/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "profile/hints_from_profile.h"
#include "profile/profile_read.h"
#include "profile/profile_format.h"
#include "profile/profile_slice.h"
#include "profile/profile_write.h"
#include "unit.h"

static struct nuioa_error err;

static int read_text(const char *text, size_t length, struct nuioa_profile *profile)
{
    return nuioa_profile_read(file_new(text, length), profile, &err);
}

static void free_profile(void *profile)
{
    nuioa_profile_free(profile);
    free(profile);
}

static struct nuioa_profile *load(const char *text)
{
    struct nuioa_profile *profile = calloc(1, sizeof(*profile));
    unit_later(free_profile, profile);
    if (read_text(text, strlen(text), profile))
        fail_msg("%s", err.text);
    return profile;
}

/* Expects an error whose message is the file's name, ':' and `line`. */
static void refuse(const char *text, const char *line)
{
    struct nuioa_profile profile;
    memset(&err, 0, sizeof(err));
    assert_true(read_text(text, strlen(text), &profile) < 0);
    assert_null(profile.ranks);
    assert_null(profile.flows);
    const char *colon = strchr(err.text, ':');
    assert_non_null(colon);
    assert_string_equal(colon + 1, line);
}

#define HEAD "nuioa-profile 1\nranks 8\n"

TEST(test_read)
{
    struct nuioa_profile *p =
        load("# made by hand\n\nnuioa-profile 1 and more\nranks 8 later fields\n"
             "rank 3 100 200 3 4 50 9 9 # comment\r\npair 0 7 1.5e3 16 0 extra\npair 7 0 10 1 0");
    assert_int_equal(p->rank_count, 8);
    assert_float_equal(p->ranks[3].sent_bytes, 100, 0);
    assert_float_equal(p->ranks[3].recv_bytes, 200, 0);
    assert_float_equal(p->ranks[3].sent_msgs, 3, 0);
    assert_float_equal(p->ranks[3].recv_msgs, 4, 0);
    assert_float_equal(p->ranks[3].large_recv_bytes, 50, 0);
    assert_float_equal(p->ranks[2].recv_bytes, 0, 0);
    assert_int_equal(p->flow_count, 2);
    assert_int_equal(p->flows[0].source, 0);
    assert_int_equal(p->flows[0].target, 7);
    assert_float_equal(p->flows[0].bytes, 1500, 0);
    assert_float_equal(p->flows[0].msgs, 16, 0);
    nuioa_profile_free(p);
    assert_null(p->ranks);
}

TEST(test_malformed)
{
    refuse("", " not a profile; one has the lines 'nuioa-profile 1' and 'ranks N'");
    refuse("nuioa-profile 1\n",
           " not a profile; one has the lines 'nuioa-profile 1' and 'ranks N'");
    refuse("hello\n", "1: not a profile; the first line of one is 'nuioa-profile 1'");
    refuse("nuioa-profile 2\n", "1: not a profile; the first line of one is 'nuioa-profile 1'");
    refuse("nuioa-profile 1\nrank 0 1 1 1 1 1\n", "2: 'ranks N' must come before the first 'rank'");
    refuse("nuioa-profile 1\nranks 0\n", "2: 'ranks' needs a number from 1 to 1048576");
    refuse("nuioa-profile 1\nranks 1048577\n", "2: 'ranks' needs a number from 1 to 1048576");
    refuse(HEAD "ranks 8\n", "3: a second 'ranks' line");
    refuse(HEAD "rank 8 1 1 1 1 1\n", "3: '8' is not a rank from 0 to 7");
    refuse(HEAD "rank -1 1 1 1 1 1\n", "3: '-1' is not a rank from 0 to 7");
    refuse(HEAD "rank 1 1 1 1 1\n", "3: 'rank' needs a rank and 5 numbers");
    refuse(HEAD "rank 1 1 -1 1 1 1\n", "3: '-1' is not a number from 0 to 1e18");
    refuse(HEAD "rank 1 1 nan 1 1 1\n", "3: 'nan' is not a number from 0 to 1e18");
    refuse(HEAD "rank 1 1 2e18 1 1 1\n", "3: '2e18' is not a number from 0 to 1e18");
    refuse(HEAD "rank 1 1 1 1 1 1\n\nrank 1 1 1 1 1 1\n", "5: a second line for rank 1");
    refuse(HEAD "pair 1 2 3 4\n", "3: 'pair' needs two ranks and 3 numbers");
    refuse(HEAD "pair 1 9 3 4 5\n", "3: '9' is not a rank from 0 to 7");
    refuse(HEAD "pair 1 2 3 4 x\n", "3: 'x' is not a number from 0 to 1e18");
    refuse(HEAD "coll 1 2 3 4\n", "3: 'coll' needs two ranks and 3 numbers");
    refuse(HEAD "coll 8 2 3 4 5\n", "3: '8' is not a rank from 0 to 7");
    refuse(HEAD "link 1 2 3\n", "3: 'link' is not one of ranks, rank, pair, coll");
    struct nuioa_profile p;
    assert_int_equal(read_text(HEAD "pair\0 1 2", sizeof(HEAD) + 8, &p), -EINVAL);
    assert_non_null(strstr(err.text, ":3: not a text file"));
}

/* One more than the most, of columns and of pairs. */
TEST(test_too_many)
{
    enum { COLUMNS = NUIOA_PROFILE_RANKS_MAX + 1 };
    char *row = malloc(2 * COLUMNS + 1);
    for (size_t i = 0; i < COLUMNS; i++)
        memcpy(row + 2 * i, "0 ", 2);
    row[2 * COLUMNS] = '\0';
    refuse(row, "1: more than 1048576 columns");
    free(row);

    struct nuioa_profile full = { .flow_count = NUIOA_PROFILE_FLOWS_MAX };
    struct profile_reader reader = { .path = "p", .line = 9, .profile = &full, .err = &err };
    const struct nuioa_flow flow = { 0, 1, 1, 1, 0, false };
    assert_int_equal(profile_add_flow(&reader, &flow), -EINVAL);
    assert_string_equal(err.text, "p:9: more than 16777216 pairs");
    assert_int_equal(full.flow_count, NUIOA_PROFILE_FLOWS_MAX);
}

TEST(test_files)
{
    struct nuioa_profile p;
    assert_int_equal(nuioa_profile_read("/no/such/file", &p, &err), -ENOENT);
    assert_string_equal(err.text, "/no/such/file: No such file or directory");
    assert_int_equal(nuioa_profile_read("/", &p, &err), -EINVAL);
    assert_int_equal(nuioa_profile_read("/dev/zero", &p, &err), -EINVAL);
    const char *path = file_new("", 0);
    assert_int_equal(truncate(path, NUIOA_PROFILE_BYTES_MAX + 1), 0);
    assert_int_equal(nuioa_profile_read(path, &p, &err), -EFBIG);
    struct rlimit all, none = { .rlim_cur = 0 };
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
    none.rlim_max = all.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = nuioa_profile_read("/", &p, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
    assert_int_equal(rc, -EMFILE);
    assert_string_equal(err.text, "/: Too many open files");
}

/* Replaces the function of the C library: the file was small when it was opened. */
static int was_small;

int fstat(int fd, struct stat *st)
{
    int rc = fstatat(fd, "", st, AT_EMPTY_PATH);
    st->st_size = was_small ? 1 : st->st_size;
    return rc;
}

TEST(test_growing)
{
    enum { LINE = 1 << 20 };
    struct nuioa_profile p;
    const char *path = file_new("", 0);
    char *line = malloc(LINE);
    int fd = open(path, O_WRONLY);
    memset(line, '#', LINE);
    line[LINE - 1] = '\n';
    for (long size = 0; size <= NUIOA_PROFILE_BYTES_MAX; size += LINE)
        assert_int_equal(write(fd, line, LINE), LINE);
    was_small = 1;
    int rc = nuioa_profile_read(path, &p, &err);
    was_small = 0;
    close(fd);
    free(line);
    assert_int_equal(rc, -EFBIG);
    assert_non_null(strstr(err.text, ": larger than 256 MB"));
}

/* Returns what nuioa_profile_list says of a file with this text. */
static int read_list(const char *text, char *list, size_t size)
{
    return nuioa_profile_list(file_new(text, strlen(text)), list, size, &err);
}

TEST(test_hints)
{
    static const char *const lists[][2] = {
        { "0:5,1:3\n", "0:5,1:3" },
        { "# who is heavy\n\n 0:5 # the first\n1-3:2, rest:0,\n", "0:5,1-3:2,rest:0" },
        { "0-8:4:1 3:2", "0-8:4:1,3:2" },
        { "rest:1\r\n0:0\r\n", "rest:1,0:0" },
        { "heavy=0,8\n9\n", "heavy=0,8,9" },
    };
    static const char *const others[] = {
        "", "# nothing\n", HEAD, "0 1\n1 0\n", "1,2\n", "E\t0\n"
    };
    char list[64];
    for (unsigned i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        assert_int_equal(read_list(lists[i][0], list, sizeof(list)), 1);
        assert_string_equal(list, lists[i][1]);
    }
    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_int_equal(read_list(others[i], list, sizeof(list)), 0);
    assert_int_equal(read_list("0:5\n1;3\n", list, sizeof(list)), -EINVAL);
    assert_non_null(strstr(err.text, ": '1;3' is not RANKS:WEIGHT"));
    assert_int_equal(read_list("0:5\n1:3\n", list, 7), -EFBIG);
    assert_non_null(strstr(err.text, "longer than 6 bytes"));
    assert_int_equal(nuioa_profile_list("/no/such/file", list, sizeof(list), &err), -ENOENT);
    refuse("0:5,1:3\n", "1: a list of hints, not a profile: use --hints");
}

TEST(test_rank_lines)
{
    struct nuioa_pair *pairs;
    struct nuioa_warnings warnings = { 0 };
    uint32_t count, ranks[] = { 5, 4 };
    double weight[2];
    struct nuioa_profile *p = load(HEAD "rank 4 1000 2000 3 4 0\nrank 5 20 0 7 0 0\n");
    assert_int_equal(
        nuioa_profile_slice(p, NUIOA_POLICY_BANDWIDTH, ranks, 2, weight, &pairs, &count, &warnings),
        0);
    assert_float_equal(weight[0], 1, 1e-9);    /* 0 + 0.05 * 20 */
    assert_float_equal(weight[1], 2050, 1e-9); /* 2000 + 0.05 * 1000 */
    assert_null(pairs);
    assert_int_equal(count, 0);
    assert_int_equal(
        nuioa_profile_slice(p, NUIOA_POLICY_LATENCY, ranks, 2, weight, &pairs, &count, &warnings),
        0);
    assert_float_equal(weight[0], 7, 0);
    assert_float_equal(weight[1], 7, 0);
    assert_int_equal(warnings.count, 0);
    uint32_t beyond[] = { 4, 8 };
    assert_int_equal(nuioa_profile_slice(p, NUIOA_POLICY_BANDWIDTH, beyond, 2, weight, &pairs,
                                         &count, &warnings),
                     0);
    assert_float_equal(weight[1], 0, 0);
    assert_int_equal(warnings.count, 1);
}

/* Ranks 2, 3 and 4 are on the node, in another order; the others are on other nodes. */
TEST(test_pairs)
{
    struct nuioa_pair *pairs;
    struct nuioa_warnings warnings = { 0 };
    uint32_t count, ranks[] = { 4, 2, 3 };
    double weight[3];
    struct nuioa_profile *p =
        load(HEAD "pair 2 3 100 1 0\npair 3 2 50 2 0\npair 4 3 7 3 0\npair 3 3 999 9 0\n"
                  "pair 2 0 1000 10 0\npair 7 2 300 20 100\npair 0 7 5 5 5\n"
                  "rank 2 1 1 1 1 1\nrank 4 0 11 0 6 0\n");
    assert_int_equal(
        nuioa_profile_slice(p, NUIOA_POLICY_BANDWIDTH, ranks, 3, weight, &pairs, &count, &warnings),
        0);
    /* 100 received in large messages, 200 in others, and 0.05 * 1000 sent; its 'rank' line is not
       used */
    assert_float_equal(weight[1], 100 + 0.18 * 200 + 50, 1e-9);
    assert_float_equal(weight[2], 0, 0);
    assert_float_equal(weight[0], 0, 0); /* rank 4 has pairs, so its line is not used either */
    assert_int_equal(warnings.count, 0);
    nuioa_profile_warn(p, &warnings);
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.text[0], "the profile has 'rank' and 'pair' lines for 2 "
                                             "ranks, the first is rank 2: 'rank' lines"));
    assert_int_equal(count, 2);
    assert_int_equal(pairs[0].first, 0); /* ranks 4 and 3: local 0 and 2 */
    assert_int_equal(pairs[0].second, 2);
    assert_float_equal(pairs[0].bytes, 7, 0);
    assert_int_equal(pairs[1].first, 1);
    assert_int_equal(pairs[1].second, 2);
    assert_float_equal(pairs[1].bytes, 150, 0);
    free(pairs);
    assert_int_equal(
        nuioa_profile_slice(p, NUIOA_POLICY_LATENCY, ranks, 3, weight, &pairs, &count, &warnings),
        0);
    assert_float_equal(weight[1], 30, 0);
    assert_float_equal(pairs[1].bytes, 3, 0);
    free(pairs);
}

/* Large messages count whole and small ones 0.18, if the profile tells them apart; more bytes in
 * large messages than in all are as many as in all. */
TEST(test_weight)
{
    struct nuioa_traffic t = { 1000, 500, 7, 9, 300 };
    assert_float_equal(nuioa_traffic_weight(&t, NUIOA_POLICY_LATENCY, true), 16, 0);
    assert_float_equal(nuioa_traffic_weight(&t, NUIOA_POLICY_BANDWIDTH, false), 550, 1e-9);
    assert_float_equal(nuioa_traffic_weight(&t, NUIOA_POLICY_BANDWIDTH, true), 386, 1e-9);
    t.large_recv_bytes = 600;
    assert_float_equal(nuioa_traffic_weight(&t, NUIOA_POLICY_BANDWIDTH, true), 550, 1e-9);
}

/* A rank that receives more, but in small messages, is lighter than one with large messages; a
 * hints list says so, too. */
TEST(test_large_first)
{
    struct nuioa_error err;
    char list[64];
    struct nuioa_profile *p = load(HEAD "pair 7 0 3000 30 0\npair 7 1 1000 1 1000\n");
    assert_int_equal(nuioa_hints_from_profile(p, NUIOA_POLICY_BANDWIDTH, list, sizeof(list), &err),
                     0);
    assert_string_equal(list, "0:540,1:1000,7:200,rest:0");
}

/* A profile that is written and read again is the same, with each pair once and in order. */
TEST(test_write)
{
    struct nuioa_profile q;
    const char *path = file_new("", 0);
    struct nuioa_profile *p =
        load("nuioa-profile 1\nranks 4 partial\nrank 3 1 2 3 4 5\npair 1 0 5 1 0\npair 0 2 7 2 6\n"
             "pair 1 0 1e3 1 40000\n");
    assert_true(p->partial);
    assert_int_equal(nuioa_profile_write(path, p, &err), 0);
    assert_int_equal(nuioa_profile_read(path, &q, &err), 0);
    assert_true(q.partial);
    assert_int_equal(q.rank_count, 4);
    assert_memory_equal(q.ranks, p->ranks, 4 * sizeof(*q.ranks));
    assert_int_equal(q.flow_count, 2);
    assert_int_equal(q.flows[0].source, 0);
    assert_float_equal(q.flows[0].large_bytes, 6, 0);
    assert_int_equal(q.flows[1].source, 1);
    assert_float_equal(q.flows[1].bytes, 1005, 0);
    assert_float_equal(q.flows[1].large_bytes, 40000, 0);
    assert_int_equal(p->flow_count, 3); /* writing does not change it */
    nuioa_profile_free(&q);
}

/* Collectives stay apart from what the program sends to the same rank, in the file and in the
 * profile; a matrix and a node's slice have the sum. */
TEST(test_collectives)
{
    struct nuioa_profile q;
    const char *path = file_new("", 0);
    struct nuioa_profile *p =
        load("nuioa-profile 1\nranks 3\ncoll 0 1 5 1 0\npair 0 1 70 2 0\ncoll 0 1 100 3 100\n"
             "coll 1 2 8 1 0\n");
    assert_int_equal(nuioa_profile_write(path, p, &err), 0);
    assert_string_equal(file_text(path), "nuioa-profile 1\nranks 3\npair 0 1 70 2 0\n"
                                         "coll 0 1 105 4 100\ncoll 1 2 8 1 0\n");
    assert_int_equal(nuioa_profile_read(path, &q, &err), 0);
    assert_int_equal(q.flow_count, 3);
    assert_false(q.flows[0].collective);
    assert_true(q.flows[1].collective);
    nuioa_profile_free(&q);
    assert_int_equal(nuioa_profile_write_matrix(path, p, NUIOA_METRIC_AVG, &err), 0);
    assert_int_equal(nuioa_profile_read(path, &q, &err), 0);
    assert_int_equal(q.flow_count, 2);
    assert_float_equal(q.flows[0].bytes, 175.0 / 6, 1e-9);
    nuioa_profile_free(&q);
    struct nuioa_pair *pairs;
    uint32_t count;
    double weight[2];
    assert_int_equal(nuioa_profile_slice(p, NUIOA_POLICY_BANDWIDTH, (uint32_t[]){ 0, 1 }, 2, weight,
                                         &pairs, &count, NULL),
                     0);
    assert_int_equal(count, 1);
    assert_float_equal(pairs[0].bytes, 175, 0);
    assert_float_equal(weight[1], 0.05 * 8, 1e-9);
    free(pairs);
}

/* The row is the sender; the metric says what the numbers are. */
TEST(test_matrix)
{
    struct nuioa_profile p;
    static const char text[] = "# a comment\n9 5 0\n0 9 0 \n\n2.5 0 9";
    const char *name = file_new(text, sizeof(text) - 1);
    assert_int_equal(nuioa_profile_load(&name, 1, NUIOA_PROFILE_ANY, NUIOA_METRIC_SIZE, &p, &err),
                     0);
    assert_int_equal(p.rank_count, 3);
    assert_int_equal(p.flow_count, 2);
    assert_int_equal(p.flows[0].source, 0);
    assert_int_equal(p.flows[0].target, 1);
    assert_float_equal(p.flows[0].bytes, 5, 0);
    assert_float_equal(p.flows[0].msgs, 0, 0);
    assert_int_equal(p.flows[1].source, 2);
    assert_float_equal(p.flows[1].bytes, 2.5, 0);
    nuioa_profile_free(&p);
    assert_int_equal(nuioa_profile_load(&name, 1, NUIOA_PROFILE_MATRIX, NUIOA_METRIC_MSG, &p, &err),
                     0);
    assert_float_equal(p.flows[0].bytes, 0, 0);
    assert_float_equal(p.flows[0].msgs, 5, 0);
    nuioa_profile_free(&p);
    assert_true(nuioa_profile_load(&name, 1, NUIOA_PROFILE_OPENMPI, NUIOA_METRIC_SIZE, &p, &err) <
                0);
}

TEST(test_traffic)
{
    struct nuioa_traffic t[8];
    static const uint32_t node_of[8] = { 0, 0, 1, 1, 2, 2, 3, 3 };
    struct nuioa_profile *p = load(HEAD "pair 0 1 100 1 0\npair 0 2 40 2 30\npair 3 0 7 1 0\n"
                                        "rank 5 1 2 3 4 5\nrank 0 9 9 9 9 9\n");
    assert_int_equal(nuioa_profile_traffic(p, node_of, t), 0);
    assert_float_equal(t[0].sent_bytes, 40, 0);
    assert_float_equal(t[0].recv_bytes, 7, 0);
    assert_float_equal(t[2].large_recv_bytes, 30, 0);
    assert_float_equal(t[1].recv_bytes, 0, 0);
    assert_float_equal(t[5].recv_bytes, 2, 0);
    assert_int_equal(nuioa_profile_traffic(p, NULL, t), 0);
    assert_float_equal(t[0].sent_bytes, 140, 0);
    assert_float_equal(t[1].recv_msgs, 1, 0);
}
