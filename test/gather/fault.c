#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "leaders.h"
#include "listen.h"
#include "seal.h"
#include "stage.h"

/* What a node does when srun is hostile, which it may be, since it is the user's; and when a munged is stopped. In
 * each case the node goes on in time, without a table. TAP. Usage: fault SOCKET SOCKET2 PID2 */

#define TIMEOUT_MS 400
#define ANSWER 0xa5 /* each byte of srun's key */

static unsigned tests, failures;

__attribute__((format(printf, 2, 3))) static void ok(bool good, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    printf("%sok %u - ", good ? "" : "not ", ++tests);
    vprintf(fmt, args);
    printf("\n");
    fflush(stdout);
    va_end(args);
    failures += !good;
}

/* --- a hostile srun: it can read the hello, and knows the keys ------------------------------------------- */

struct act {
    const char *name;
    bool wants_slice;
    bool keeps_line;  /* says nothing more, hangs up when the node does */
    bool promised;    /* the node says in its hello that it is led by rank 0, and then stands down */
    void (*say)(int fd, const struct wire_hello *hello);
};

struct host {
    int listener;
    bool sealed;
    const char *socket;
    const struct act *act;
};

static void put(int fd, const void *bytes, size_t length)
{
    if (send(fd, bytes, length, MSG_NOSIGNAL) < 0)
        return;
}

static void put_frame(int fd, uint32_t type, uint32_t length)
{
    struct wire_frame frame = { WIRE_MAGIC, type, length };
    put(fd, &frame, sizeof(frame));
}

static void put_key(int fd, const struct wire_hello *hello)
{
    put(fd, hello->node_key, WIRE_KEY_SIZE);
}

static void nothing(int fd, const struct wire_hello *hello) { (void)fd, (void)hello; }

static void noise(int fd, const struct wire_hello *hello)
{
    char bytes[4096];
    (void)hello;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)rand();
    put(fd, bytes, sizeof(bytes));
}

static void noise_after_key(int fd, const struct wire_hello *hello)
{
    put_key(fd, hello);
    noise(fd, hello);
}

static void endless(int fd, const struct wire_hello *hello)
{
    put_key(fd, hello);
    put_frame(fd, WIRE_TABLE, UINT32_MAX);
    for (int i = 0; i < 100; i++)
        noise(fd, hello);
}

static void trickle(int fd, const struct wire_hello *hello)
{
    struct pollfd gone = { .fd = fd, .events = POLLRDHUP };
    put_key(fd, hello);
    for (int i = 0; i < 100 && poll(&gone, 1, 50) == 0; i++)
        put(fd, "\1", 1);
}

/* A table of two nodes that is right but for what `spoil` does to it. */
static void put_table(int fd, const struct wire_hello *hello, void (*spoil)(struct wire_table *, struct wire_run *))
{
    struct wire_table table = { hello->job_id, hello->step_id, 2, 1, 0 };
    struct wire_run run = { 0, 4, 2 };
    uint32_t leaders[2] = { 0, 4 };
    table.digest = leaders_digest(table.job_id, table.step_id, leaders, 2);
    put_key(fd, hello);
    spoil(&table, &run);
    put_frame(fd, WIRE_TABLE, sizeof(table) + sizeof(run));
    put(fd, &table, sizeof(table));
    put(fd, &run, sizeof(run));
}

static void digest_of(struct wire_table *table, const struct wire_run *run)
{
    uint32_t leaders[2] = { run->first, run->first + run->stride };
    table->digest = leaders_digest(table->job_id, table->step_id, leaders, 2);
}

static void lie_digest(struct wire_table *t, struct wire_run *r) { (void)r; t->digest ^= 1; }
static void lie_count(struct wire_table *t, struct wire_run *r) { (void)t; r->count = UINT32_MAX; }
static void lie_nodes(struct wire_table *t, struct wire_run *r) { (void)r; t->node_count = 1000000; }
static void lie_runs(struct wire_table *t, struct wire_run *r) { (void)r; t->run_count = UINT32_MAX / 12; }
static void lie_job(struct wire_table *t, struct wire_run *r) { t->job_id++; digest_of(t, r); }
static void lie_leader(struct wire_table *t, struct wire_run *r) { r->first = 1; digest_of(t, r); }
static void lie_same(struct wire_table *t, struct wire_run *r) { r->stride = 0; digest_of(t, r); }

static void bad_digest(int fd, const struct wire_hello *h) { put_table(fd, h, lie_digest); }
static void bad_count(int fd, const struct wire_hello *h) { put_table(fd, h, lie_count); }
static void bad_nodes(int fd, const struct wire_hello *h) { put_table(fd, h, lie_nodes); }
static void bad_runs(int fd, const struct wire_hello *h) { put_table(fd, h, lie_runs); }
static void bad_job(int fd, const struct wire_hello *h) { put_table(fd, h, lie_job); }
static void bad_leader(int fd, const struct wire_hello *h) { put_table(fd, h, lie_leader); }
static void bad_same(int fd, const struct wire_hello *h) { put_table(fd, h, lie_same); }

static void right(struct wire_table *t, struct wire_run *r) { (void)t, (void)r; }

static void half_a_table(int fd, const struct wire_hello *hello)
{
    struct wire_table table = { hello->job_id, hello->step_id, 2, 1, 0 };
    put_key(fd, hello);
    put_frame(fd, WIRE_TABLE, sizeof(table) + sizeof(struct wire_run));
    put(fd, &table, sizeof(table));
}

/* Somebody who has not read the hello. */
static void wrong_key(int fd, const struct wire_hello *hello)
{
    struct wire_hello other = *hello;
    other.node_key[0] ^= 1;
    put_table(fd, &other, right);
}

static void put_slice(int fd, const struct wire_hello *hello, uint32_t weights, uint32_t pairs, double weight,
                      uint32_t first)
{
    struct wire_slice slice = { weights, pairs };
    struct wire_pair pair = { first, 1, 5 };
    double all[4] = { 1, 1, 1, weight };
    put_key(fd, hello);
    put_frame(fd, WIRE_SLICE, sizeof(slice) + sizeof(all) + sizeof(pair));
    put(fd, &slice, sizeof(slice));
    put(fd, all, sizeof(all));
    put(fd, &pair, sizeof(pair));
}

/* Pairs of four ranks that are known, `count` of them. */
static void put_pairs(int fd, const struct wire_hello *hello, const uint32_t (*pairs)[2], uint32_t count)
{
    struct wire_slice slice = { 4, count };
    double all[4] = { 1, 1, 1, 1 };
    put_key(fd, hello);
    put_frame(fd, WIRE_SLICE, (uint32_t)(sizeof(slice) + sizeof(all) + count * sizeof(struct wire_pair)));
    put(fd, &slice, sizeof(slice));
    put(fd, all, sizeof(all));
    for (uint32_t i = 0; i < count; i++)
        put(fd, &(struct wire_pair){ pairs[i][0], pairs[i][1], 5 }, sizeof(struct wire_pair));
}

static void slice_twice(int fd, const struct wire_hello *h)
{
    put_pairs(fd, h, (const uint32_t[][2]){ { 0, 1 }, { 0, 2 }, { 0, 2 } }, 3);
}

static void slice_unsorted(int fd, const struct wire_hello *h)
{
    put_pairs(fd, h, (const uint32_t[][2]){ { 0, 1 }, { 2, 3 }, { 0, 1 } }, 3);
}

static void slice_turned(int fd, const struct wire_hello *h)
{
    put_pairs(fd, h, (const uint32_t[][2]){ { 1, 0 } }, 1);
}

static void slice_more(int fd, const struct wire_hello *h)
{
    put_pairs(fd, h, (const uint32_t[][2]){ { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 }, { 2, 3 } }, 7);
}

static void slice_counts(int fd, const struct wire_hello *h) { put_slice(fd, h, 1000, 1, 1, 0); }
static void slice_pairs(int fd, const struct wire_hello *h) { put_slice(fd, h, 4, UINT32_MAX, 1, 0); }
static void slice_nan(int fd, const struct wire_hello *h) { put_slice(fd, h, 4, 1, 0.0 / 0.0, 0); }
static void slice_negative(int fd, const struct wire_hello *h) { put_slice(fd, h, 4, 1, -1, 0); }
static void slice_rank(int fd, const struct wire_hello *h) { put_slice(fd, h, 4, 1, 1, 4); }

static const struct act acts[] = {
    { "silence", false, true, false, nothing },
    { "hanging up", false, false, false, nothing },
    { "noise", false, false, false, noise },
    { "noise after the key", false, false, false, noise_after_key },
    { "a message of 4 GB", false, false, false, endless },
    { "a byte now and then", false, false, false, trickle },
    { "a table with a wrong digest", false, false, false, bad_digest },
    { "a run of 4 billion nodes", false, false, false, bad_count },
    { "a table of more nodes", false, false, false, bad_nodes },
    { "more runs than were sent", false, false, false, bad_runs },
    { "another job's table", false, false, false, bad_job },
    { "another leader for the node", false, false, false, bad_leader },
    { "one leader for all nodes", false, false, false, bad_same },
    { "half a table", false, true, false, half_a_table },
    { "a right table after a wrong key", false, false, false, wrong_key },
    { "a slice for other ranks", true, true, false, slice_counts },
    { "a slice of 4 billion pairs", true, true, false, slice_pairs },
    { "a weight that is no number", true, true, false, slice_nan },
    { "a negative weight", true, true, false, slice_negative },
    { "a pair with a rank of elsewhere", true, true, false, slice_rank },
    { "a pair twice", true, true, false, slice_twice },
    { "a pair again after another one", true, true, false, slice_unsorted },
    { "a pair the other way round", true, true, false, slice_turned },
    { "more pairs than there are", true, true, false, slice_more },
    { "another leader than the node has promised", false, false, true, bad_leader },
};

static void *be_hostile(void *arg)
{
    struct host *host = arg;
    struct wire_frame frame;
    struct nuioa_error err;
    char body[8192];
    struct wire_hello hello = { .job_id = JOB };
    void *bytes = body;
    uid_t uid;
    struct pollfd wait = { .fd = host->listener, .events = POLLIN };
    poll(&wait, 1, 2000);
    int fd = accept(host->listener, NULL, NULL);
    bool heard = recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.length < sizeof(body) &&
                 recv(fd, body, frame.length, MSG_WAITALL) == (ssize_t)frame.length;
    size_t length = frame.length;
    if (heard && host->sealed)
        heard = !seal_open(host->socket, body, &uid, &bytes, &length, &err);
    if (heard && length >= sizeof(hello))
        memcpy(&hello, bytes, sizeof(hello));
    else
        printf("# no hello\n");
    if (bytes != body)
        free(bytes);
    if (!host->sealed)
        memset(hello.node_key, ANSWER, sizeof(hello.node_key));
    host->act->say(fd, &hello);
    struct pollfd end = { .fd = fd, .events = POLLRDHUP };
    if (host->act->keeps_line)
        poll(&end, 1, 3000);
    close(fd);
    return NULL;
}

/* The hostile srun must be able to open what is sealed for root's eyes or the user's: it is the user here. */
static void hostile(const char *socket, bool sealed, const struct act *act)
{
    struct invitation invitation = { .sealed = sealed };
    struct host host = { listen_open(0, 0, &invitation.port), sealed, socket, act };
    struct stage stage = { .socket = socket, .timeout_ms = TIMEOUT_MS };
    char name[100];
    snprintf(name, sizeof(name), "auth=%s, hostile srun, %s", sealed ? "munge" : "key", act->name);
    memset(invitation.answer, ANSWER, sizeof(invitation.answer));
    invitation_write(&invitation, stage.text);
    uint32_t leaders[2] = { 0, 0 }, ranks[4] = { 0, 1, 2, 3 }, pair_count;
    struct gather_call call = stage_call(&stage, 0, 2);
    struct gather_node node = GATHER_NODE_NONE;
    struct nuioa_pair *pairs;
    struct nuioa_error err = { "" };
    double weights[4];
    pthread_t thread;
    size_t length;
    void *record = stage_record(0, &length);
    call.ranks = act->wants_slice ? ranks : NULL;
    call.leader = act->promised ? 0 : WIRE_NO_RANK;
    unsigned fds = stage_fds(), children = stage_children();
    pthread_create(&thread, NULL, be_hostile, &host);
    int64_t start = stage_ms();
    int rc = gather_call(&node, &call, &err);
    if (!rc && act->wants_slice)
        rc = gather_slice(&node, weights, &pairs, &pair_count, &err);
    if (!rc)
        rc = gather_tell(&node, record, length, &err);
    if (!rc)
        rc = gather_await(&node, act->promised ? WIRE_NO_RANK : 0, leaders, &err);
    int took = (int)(stage_ms() - start);
    gather_hang_up(&node);
    pthread_join(thread, NULL);
    free(record);
    ok(rc < 0, "%s: no table (%s)", name, err.text);
    ok(took <= TIMEOUT_MS + 150, "%s: %d ms", name, took);
    ok(node.fd < 0 && stage_fds() == fds && stage_children() == children, "%s: nothing leaks", name);
    close(host.listener);
}

/* --- no srun at all -------------------------------------------------------------------------------------- */

static void not_there(bool sealed, const char *socket, const char *what, uint16_t port)
{
    struct invitation invitation = { .port = port, .sealed = sealed };
    struct stage stage = { .socket = socket, .timeout_ms = TIMEOUT_MS };
    struct actor actor = { .delay_ms = 0 };
    char name[100];
    snprintf(name, sizeof(name), "auth=%s, %s", sealed ? "munge" : "key", what);
    invitation_write(&invitation, stage.text);
    unsigned fds = stage_fds(), children = stage_children();
    actor_start(&actor, &stage, 0, 2);
    actor_join(&actor);
    ok(actor.rc < 0, "%s: no table (%s)", name, actor.err.text);
    ok(actor.took_ms <= TIMEOUT_MS + 150, "%s: %d ms", name, (int)actor.took_ms);
    ok(stage_fds() == fds && stage_children() == children, "%s: nothing leaks", name);
    free(actor.leaders);
}

/* A listener whose queue is full drops who calls, as a firewall does; one that was closed refuses. */
static void nobody_there(const char *socket)
{
    uint16_t port;
    int listener = listen_open(0, 0, &port), callers[4];
    struct stage stage = { .socket = socket };
    listen(listener, 0);
    snprintf(stage.text, sizeof(stage.text), "%u:", port);
    for (int i = 0; i < 4; i++)
        callers[i] = stage_connect_begin(&stage);
    not_there(false, socket, "nobody takes the call", port);
    not_there(true, socket, "nobody takes the call", port);
    close(listener);
    for (int i = 0; i < 4; i++)
        close(callers[i]);
    not_there(false, socket, "srun is gone", port);
    not_there(true, socket, "srun is gone", port);
}

/* --- munged -------------------------------------------------------------------------------------------- */

static void one_node(const char *name, struct stage *stage, bool table)
{
    struct actor actor = { .delay_ms = 0 };
    struct ending ending;
    unsigned fds = stage_fds();
    actor_start(&actor, stage, 0, 1);
    actor_join(&actor);
    ok((actor.rc == 1) == table, "%s: %s (%s)", name, table ? "the table comes" : "no table", actor.err.text);
    ok(actor.took_ms <= stage->timeout_ms + 150, "%s: the node waits %d ms", name, (int)actor.took_ms);
    usleep(table ? 0 : (stage->timeout_ms + 200) * 1000);
    ok(stage_close(stage, &ending), "%s: srun goes on", name);
    ok(ending.close_ms < 300, "%s: srun ends at once (%u ms)", name, ending.close_ms);
    ok(ending.warnings == !table, "%s: warnings: %u %s", name, ending.warnings, ending.warning);
    ok(ending.fds_before == ending.fds_after && !ending.children_after && ending.threads_after == 1 &&
           stage_fds() == fds - 2,
       "%s: nothing leaks", name);
    free(actor.leaders);
}

static void munged_stops(const char *one, const char *two, pid_t pid)
{
    struct stage stage = { .sealed = true, .socket = two, .timeout_ms = TIMEOUT_MS, .srun_socket = one };
    stage_open(&stage);
    one_node("the node has another munged, with the same key", &stage, true);
    kill(pid, SIGSTOP);
    struct stage plain = { .socket = two, .timeout_ms = TIMEOUT_MS };
    stage_open(&plain);
    one_node("auth=key, munged is stopped", &plain, true);
    stage_open(&stage);
    one_node("the node's munged is stopped", &stage, false);
    struct stage other = { .sealed = true, .socket = one, .timeout_ms = TIMEOUT_MS, .srun_socket = two };
    stage_open(&other);
    struct actor actor = { .delay_ms = 0 };
    struct ending ending;
    actor_start(&actor, &other, 0, 1);
    actor_join(&actor);
    ok(actor.rc < 0, "srun's munged is stopped: no table (%s)", actor.err.text);
    ok(actor.took_ms <= TIMEOUT_MS + 150, "srun's munged is stopped: the node waits %d ms", (int)actor.took_ms);
    ok(stage_close(&other, &ending) && ending.close_ms < 300, "srun's munged is stopped: srun ends at once (%u ms)",
       ending.close_ms);
    ok(!ending.children_after && ending.fds_before == ending.fds_after, "srun's munged is stopped: nothing leaks");
    free(actor.leaders);
    kill(pid, SIGCONT);
    struct stage none = { .sealed = true, .socket = "/no/such/socket", .timeout_ms = TIMEOUT_MS, .srun_socket = one };
    stage_open(&none);
    one_node("the node has no munged", &none, false);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    munged_stops(argv[1], argv[2], atoi(argv[3]));
    nobody_there(argv[1]);
    /* From here on this process is the user, as a hostile srun is. */
    if (setresgid(USER_UID, USER_UID, USER_UID) < 0 || setresuid(USER_UID, USER_UID, USER_UID) < 0)
        return 1;
    for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++) {
        hostile(argv[1], false, &acts[i]);
        hostile(argv[1], true, &acts[i]);
    }
    printf("1..%u\n", tests);
    return failures > 0;
}
