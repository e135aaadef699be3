#include <errno.h>
#include <fcntl.h>
#include <munge.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "seal.h"
#include "stage.h"

/* Attacks on srun's side of the rendezvous: whatever a stranger does, four honest nodes get their table; if one
 * of the nodes themselves is wrong, nobody gets one, and srun says so once. TAP. Usage: attack SOCKET */

#define NODES 4

static unsigned tests, failures;
static const char *munged;

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

static void hang_up(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* True if srun ends the connection within `ms`. */
static bool is_sent_away(int fd, int ms)
{
    char bytes[256];
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    int64_t end = stage_ms() + ms;
    while (stage_ms() < end)
        if (poll(&wait, 1, 20) > 0 && recv(fd, bytes, sizeof(bytes), 0) <= 0)
            return true;
    return false;
}

static void send_message(int fd, uint32_t type, const void *bytes, size_t length)
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    if (send(fd, &frame, sizeof(frame), MSG_NOSIGNAL) < 0 ||
        (length && send(fd, bytes, length, MSG_NOSIGNAL) < 0))
        perror("# send");
}

/* --- what all attacks have in common ------------------------------------------------------------------ */

struct scene {
    const char *name;
    struct stage stage;
    struct actor actors[NODES];
    struct ending ending;
    unsigned fds, children;
};

static void begin(struct scene *s, const char *name)
{
    *s = (struct scene){ .name = name, .stage = { .socket = munged, .timeout_ms = 3000 } };
    s->fds = stage_fds();
    s->children = stage_children();
    stage_open(&s->stage);
}

static void run_nodes(struct scene *s, uint32_t from)
{
    for (uint32_t i = from; i < NODES; i++)
        actor_start(&s->actors[i], &s->stage, i, NODES);
    for (uint32_t i = from; i < NODES; i++)
        actor_join(&s->actors[i]);
}

static bool have_table(const struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < NODES; k++)
            if (s->actors[i].rc != 1 || s->actors[i].leaders[k] != 4 * k) {
                printf("# node %u: rc %d %s\n", i, s->actors[i].rc, s->actors[i].err.text);
                return false;
            }
    return true;
}

/* No node acts: there is no table at all. */
static bool have_none(const struct scene *s, uint32_t from)
{
    for (uint32_t i = from; i < NODES; i++)
        if (s->actors[i].rc >= 0)
            return false;
    return true;
}

static void nothing_leaks(struct scene *s)
{
    const struct ending *e = &s->ending;
    ok(e->fds_before == e->fds_after && !e->children_after && e->threads_after == 1 &&
           stage_fds() == s->fds && stage_children() == s->children,
       "%s: nothing leaks (srun: fds %u/%u, %u threads, %u children; nodes: fds %u/%u)", s->name,
       e->fds_before, e->fds_after, e->threads_after, e->children_after, s->fds, stage_fds());
    for (uint32_t i = 0; i < NODES; i++)
        free(s->actors[i].leaders);
}

/* After an attack by a stranger: the four nodes come, and all is well. */
static void all_is_well(struct scene *s)
{
    run_nodes(s, 0);
    ok(stage_finish(&s->stage, &s->ending) && have_table(s), "%s: all nodes get the table", s->name);
    ok(s->ending.warnings == 0 && s->ending.reports == 1, "%s: one report, no warning (%u, %u %s)", s->name,
       s->ending.reports, s->ending.warnings, s->ending.warning);
    nothing_leaks(s);
}

/* --- strangers ---------------------------------------------------------------------------------------- */

static void honest(void)
{
    struct scene s;
    begin(&s, "nobody attacks");
    all_is_well(&s);
}

struct sealing {
    uid_t uid;
    const void *bytes;
    size_t length;
};

static void seal(int fd, void *arg)
{
    const struct sealing *s = arg;
    struct nuioa_error err;
    char *text;
    if (!seal_as(munged, s->uid, s->uid, s->bytes, s->length, &text, &err))
        nuioa_child_write(fd, text, strlen(text) + 1);
    else
        fprintf(stderr, "# %s\n", err.text);
}

/* A credential made by `uid` from what a right hello would say but for what `change` does. */
static char *credential(struct scene *s, uid_t uid, void (*change)(struct wire_hello *))
{
    struct gather_call call = stage_call(&s->stage, 1, NODES);
    uint8_t key[WIRE_KEY_SIZE] = { 1 };
    size_t length;
    void *text = NULL;
    struct wire_hello *hello = stage_hello(&call, key, &length);
    if (change)
        change(hello);
    struct sealing sealing = { uid, hello, length };
    nuioa_child_run(seal, &sealing, 5000, 64 << 10, &text, &length);
    free(hello);
    return text;
}

/* Sends it and sees what srun does. */
static void is_refused(struct scene *s, char *text, const char *what)
{
    int fd = stage_connect(&s->stage);
    send_message(fd, WIRE_HELLO, text, strlen(text) + 1);
    ok(is_sent_away(fd, 2000), "%s: %s is refused", s->name, what);
    hang_up(fd);
    free(text);
}

static void forged(void)
{
    struct scene s;
    begin(&s, "forged");
    is_refused(&s, strdup("MUNGE:AwQDAACB1Hn0PEo3b0ZvcmdlZA==:"), "a credential that munged never made");
    is_refused(&s, strdup(""), "an empty one");
    char *text = credential(&s, USER_UID, NULL);
    size_t middle = strlen(text) / 2;
    text[middle] = text[middle] == 'A' ? 'B' : 'A';
    is_refused(&s, text, "one with a changed letter");
    all_is_well(&s);
}

static void tell_record(int fd, uint32_t node, uint32_t patience_ms)
{
    size_t length;
    struct wire_record *record = stage_record(node, &length);
    record->patience_ms = patience_ms;
    send_message(fd, WIRE_RECORD, record, length);
    free(record);
}

/* All nodes but the one whose part the test plays. */
static void start_others(struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (i != 1)
            actor_start(&s->actors[i], &s->stage, i, NODES);
}

static void join_others(struct scene *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (i != 1)
            actor_join(&s->actors[i]);
}

static void replayed(void)
{
    struct scene s;
    begin(&s, "replayed");
    char *text = credential(&s, USER_UID, NULL);
    int fd = stage_connect(&s.stage);
    send_message(fd, WIRE_HELLO, text, strlen(text) + 1);
    uint8_t key[WIRE_KEY_SIZE];
    ok(recv(fd, key, sizeof(key), MSG_WAITALL) == sizeof(key), "replayed: the first time it is taken");
    is_refused(&s, strdup(text), "the second time");
    free(text);
    tell_record(fd, 1, 60000); /* the first one was node 1; it goes on */
    start_others(&s);
    char table[512];
    struct wire_frame frame;
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_TABLE &&
           frame.length < sizeof(table) && recv(fd, table, frame.length, MSG_WAITALL) == (ssize_t)frame.length,
       "replayed: the true node has the table");
    hang_up(fd);
    join_others(&s);
    ok(s.actors[0].rc == 1 && s.actors[2].rc == 1 && s.actors[3].rc == 1, "replayed: so have all");
    stage_finish(&s.stage, &s.ending);
    nothing_leaks(&s);
}

static void other_key(struct wire_hello *hello) { hello->step_key[5] ^= 1; }
static void other_job(struct wire_hello *hello) { hello->job_id++; }
static void other_step(struct wire_hello *hello) { hello->step_id++; }
static void other_purpose(struct wire_hello *hello) { hello->purpose[0] = 'x'; }
static void no_place(struct wire_hello *hello) { hello->node = hello->node_count; }
static void many_nodes(struct wire_hello *hello) { hello->node_count = WIRE_NODES_MAX + 1; }
static void many_ranks(struct wire_hello *hello) { hello->rank_count = hello->task_count = 4000; }

static void foreign(void)
{
    struct scene s;
    begin(&s, "foreign");
    is_refused(&s, credential(&s, OTHER_UID, NULL), "another user's hello");
    is_refused(&s, credential(&s, USER_UID, other_job), "another job's");
    is_refused(&s, credential(&s, USER_UID, other_step), "another step's");
    is_refused(&s, credential(&s, USER_UID, other_key), "one with another key");
    is_refused(&s, credential(&s, USER_UID, other_purpose), "one for another purpose");
    is_refused(&s, credential(&s, USER_UID, no_place), "a node outside the step");
    is_refused(&s, credential(&s, USER_UID, many_nodes), "a step too large");
    is_refused(&s, credential(&s, USER_UID, many_ranks), "one shorter than it says");
    all_is_well(&s);
}

/* By somebody who knows the step's key, as the user but not as our own code would. */
static void unsealed(void)
{
    struct scene s;
    static const char *const what[] = { "a hello that is not encrypted", "a hello that anybody may read",
                                        "another user's hello that the user may read" };
    char *text[3] = { NULL, NULL, NULL };
    int ends[2];
    begin(&s, "unsealed");
    for (int i = 0; i < 3; i++) {
        struct gather_call call = stage_call(&s.stage, 1, NODES);
        uint8_t key[WIRE_KEY_SIZE] = { 1 };
        size_t length;
        void *hello = stage_hello(&call, key, &length);
        fflush(NULL);
        if (pipe(ends) < 0)
            return;
        pid_t pid = fork();
        if (pid == 0) {
            munge_ctx_t context = munge_ctx_create();
            char *made = NULL;
            munge_ctx_set(context, MUNGE_OPT_SOCKET, munged);
            munge_ctx_set(context, MUNGE_OPT_CIPHER_TYPE, i ? MUNGE_CIPHER_AES128 : MUNGE_CIPHER_NONE);
            munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, i == 1 ? MUNGE_UID_ANY : USER_UID);
            uid_t uid = i == 2 ? OTHER_UID : USER_UID;
            if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 ||
                munge_encode(&made, context, hello, (int)length) != EMUNGE_SUCCESS ||
                write(ends[1], made, strlen(made)) < 0)
                _exit(1);
            _exit(0);
        }
        close(ends[1]);
        text[i] = calloc(1, 4096);
        waitpid(pid, NULL, 0);
        ok(read(ends[0], text[i], 4095) > 0, "unsealed: a credential");
        close(ends[0]);
        free(hello);
    }
    for (int i = 0; i < 3; i++)
        is_refused(&s, text[i], what[i]);
    all_is_well(&s);
}

static void misshapen(void)
{
    struct scene s;
    struct wire_frame frame = { WIRE_MAGIC, WIRE_HELLO, 500 };
    begin(&s, "misshapen");
    int fd = stage_connect(&s.stage);
    if (send(fd, &frame, sizeof(frame), 0) < 0 || send(fd, frame.length ? "abc" : "", 3, 0) < 0)
        perror("# send");
    shutdown(fd, SHUT_WR);
    ok(is_sent_away(fd, 2000), "misshapen: a truncated hello is refused");
    hang_up(fd);
    static const struct { struct wire_frame frame; const char *what; } frames[] = {
        { { WIRE_MAGIC, WIRE_HELLO, WIRE_HELLO_MAX }, "a hello above 64 KB" },
        { { WIRE_MAGIC, WIRE_HELLO, UINT32_MAX }, "a hello of 4 GB" },
        { { WIRE_MAGIC + 1, WIRE_HELLO, 10 }, "another version" },
        { { WIRE_MAGIC, WIRE_RECORD, 320 }, "a record without a hello" },
        { { WIRE_MAGIC, WIRE_TABLE, 0 }, "what only srun says" },
    };
    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        fd = stage_connect(&s.stage);
        if (send(fd, &frames[i].frame, sizeof(frame), 0) < 0)
            perror("# send");
        ok(is_sent_away(fd, 500), "misshapen: %s is refused at once", frames[i].what);
        hang_up(fd);
    }
    all_is_well(&s);
}

static void garbage(void)
{
    struct scene s;
    char bytes[300];
    begin(&s, "1000 garbage connections");
    for (int i = 0; i < 1000; i++) {
        int fd = stage_connect(&s.stage);
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (char)rand();
        if (fd >= 0)
            send(fd, bytes, (size_t)(rand() % (int)sizeof(bytes)), MSG_NOSIGNAL);
        hang_up(fd);
    }
    all_is_well(&s);
    ok(s.ending.counts.strangers_most <= GATHER_STRANGERS_MAX, "%s: never more than %u strangers (%u)", s.name,
       GATHER_STRANGERS_MAX, s.ending.counts.strangers_most);
}

static void silent(void)
{
    struct scene s;
    int fds[200];
    begin(&s, "200 silent peers");
    for (int i = 0; i < 200; i++)
        fds[i] = stage_connect(&s.stage);
    run_nodes(&s, 0);
    for (int i = 0; i < 200; i++)
        hang_up(fds[i]);
    ok(stage_finish(&s.stage, &s.ending) && have_table(&s), "%s: all nodes get the table", s.name);
    int64_t longest = 0;
    for (int i = 0; i < NODES; i++)
        longest = s.actors[i].took_ms > longest ? s.actors[i].took_ms : longest;
    ok(longest < 1500, "%s: nodes wait %d ms at most", s.name, (int)longest);
    nothing_leaks(&s);

    begin(&s, "a silent peer");
    int fd = stage_connect(&s.stage);
    int64_t start = stage_ms();
    ok(is_sent_away(fd, 3000), "%s: it is sent away", s.name);
    int took = (int)(stage_ms() - start);
    ok(took > 800 && took < 1800, "%s: after a second (%d ms)", s.name, took);
    hang_up(fd);
    all_is_well(&s);
}

/* --- nodes that are wrong ----------------------------------------------------------------------------- */

/* A node that is known and then does something else. */
static int known_node(struct scene *s)
{
    char *text = credential(s, USER_UID, NULL);
    uint8_t key[WIRE_KEY_SIZE];
    int fd = stage_connect(&s->stage);
    send_message(fd, WIRE_HELLO, text, strlen(text) + 1);
    if (recv(fd, key, sizeof(key), MSG_WAITALL) != sizeof(key))
        ok(false, "%s: the node is known", s->name);
    free(text);
    return fd;
}

/* Nobody acts, nobody waits, one warning. */
static void nobody_acts(struct scene *s, int64_t since_ms, bool all_but_one)
{
    int64_t took = stage_ms() - since_ms;
    bool none = true;
    for (uint32_t i = 0; i < NODES; i++)
        if (!all_but_one || i != 1)
            none = none && s->actors[i].rc < 0;
    ok(none && have_none(s, 2), "%s: no node acts on a table", s->name);
    ok(took < 1000, "%s: they know after %d ms", s->name, (int)took);
    ok(stage_finish(&s->stage, &s->ending), "%s: srun goes on", s->name);
    ok(s->ending.warnings == 1 && !s->ending.reports, "%s: one warning (%u: %s)", s->name, s->ending.warnings,
       s->ending.warning);
    nothing_leaks(s);
}

static void wrong_record(const char *name, void (*spoil)(char *record, size_t *length))
{
    struct scene s;
    size_t length;
    begin(&s, name);
    int fd = known_node(&s);
    start_others(&s);
    usleep(100000);
    char *record = realloc(stage_record(1, &length), WIRE_RECORD_MAX + 16);
    memset(record + length, 0, WIRE_RECORD_MAX + 16 - length);
    int64_t start = stage_ms();
    if (spoil) {
        spoil(record, &length);
        send_message(fd, WIRE_RECORD, record, length);
    } else {
        hang_up(fd); /* the node has died */
        fd = -1;
    }
    join_others(&s);
    s.actors[1].rc = -1;
    hang_up(fd);
    free(record);
    nobody_acts(&s, start, true);
}

static void shorter(char *record, size_t *length) { (void)record; *length -= 8; }
static void longer(char *record, size_t *length) { (void)record; *length += 8; }
static void huge(char *record, size_t *length) { (void)record; *length = WIRE_RECORD_MAX + 1; }
static void other_node(char *record, size_t *length) { (void)length; ((struct wire_record *)record)->node = 2; }
static void count_lies(char *record, size_t *length)
{
    (void)length;
    ((struct wire_record *)record)->line_count = UINT32_MAX / 2;
}
static void unended(char *record, size_t *length)
{
    (void)length;
    memset(((struct wire_record *)record)->host, 'x', 64);
}
static void unprintable(char *record, size_t *length)
{
    (void)length;
    strcpy(((struct wire_record *)record)->host, "\033[31m");
}

/* The test's node has told its record, two others wait with it, and the last has not come. */
static int but_for_the_last(struct scene *s, uint32_t patience_ms)
{
    int fd = known_node(s);
    tell_record(fd, 1, patience_ms);
    actor_start(&s->actors[0], &s->stage, 0, NODES);
    actor_start(&s->actors[2], &s->stage, 2, NODES);
    return fd;
}

static void dies_after_its_record(void)
{
    struct scene s;
    begin(&s, "a node dies after its record");
    int fd = but_for_the_last(&s, 60000);
    usleep(100000);
    int64_t start = stage_ms();
    hang_up(fd);
    actor_join(&s.actors[0]);
    actor_join(&s.actors[2]);
    actor_start(&s.actors[3], &s.stage, 3, NODES);
    actor_join(&s.actors[3]);
    nobody_acts(&s, start, true);
}

/* The last one comes when the first, which has not said so, waits no longer. */
static void comes_too_late(void)
{
    struct scene s;
    struct wire_frame frame;
    begin(&s, "a node comes too late for another");
    int fd = but_for_the_last(&s, 100);
    usleep(300000);
    int64_t start = stage_ms();
    actor_start(&s.actors[3], &s.stage, 3, NODES);
    join_others(&s);
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_STOP,
       "%s: the one who waits is told so", s.name);
    hang_up(fd);
    nobody_acts(&s, start, true);
}

/* All had told their records: what the table says is so, and all who live have it. */
static void dies_with_the_table(void)
{
    struct scene s;
    struct wire_frame frame;
    begin(&s, "a node dies with the table in its hands");
    int fd = known_node(&s);
    tell_record(fd, 1, 60000);
    start_others(&s);
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_TABLE,
       "%s: the table comes", s.name);
    hang_up(fd);
    join_others(&s);
    ok(s.actors[0].rc == 1 && s.actors[2].rc == 1 && s.actors[3].rc == 1 &&
           !memcmp(s.actors[0].leaders, s.actors[2].leaders, NODES * sizeof(uint32_t)) &&
           !memcmp(s.actors[0].leaders, s.actors[3].leaders, NODES * sizeof(uint32_t)),
       "%s: the others act on the same one", s.name);
    ok(stage_finish(&s.stage, &s.ending) && s.ending.reports == 1 && !s.ending.warnings, "%s: srun reports", s.name);
    nothing_leaks(&s);
}

static void srun_dies(void)
{
    struct scene s;
    begin(&s, "srun is killed");
    for (uint32_t i = 2; i < NODES; i++) /* half of them: the table cannot be there */
        actor_start(&s.actors[i], &s.stage, i, NODES);
    usleep(200000);
    int64_t start = stage_ms();
    kill(s.stage.srun, SIGKILL);
    for (uint32_t i = 2; i < NODES; i++)
        actor_join(&s.actors[i]);
    ok(have_none(&s, 2), "srun is killed: no node acts on a table");
    ok(stage_ms() - start < 500, "srun is killed: they know after %d ms", (int)(stage_ms() - start));
    close(s.stage.to_srun);
    close(s.stage.from_srun);
    waitpid(s.stage.srun, NULL, 0);
    ok(stage_fds() == s.fds && stage_children() == s.children, "srun is killed: nothing leaks");
    for (uint32_t i = 2; i < NODES; i++)
        free(s.actors[i].leaders);
}

static void twice(void)
{
    struct scene s;
    begin(&s, "a place that is taken");
    int fd = known_node(&s);
    is_refused(&s, credential(&s, USER_UID, NULL), "another hello for it");
    hang_up(fd);
    stage_close(&s.stage, &s.ending);
    nothing_leaks(&s);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    munged = argv[1];
    signal(SIGPIPE, SIG_IGN);
    srand(1);
    honest();
    forged();
    replayed();
    foreign();
    unsealed();
    misshapen();
    garbage();
    silent();
    wrong_record("a truncated record", shorter);
    wrong_record("a record too long", longer);
    wrong_record("an oversized record", huge);
    wrong_record("a record for another node", other_node);
    wrong_record("a record whose counts lie", count_lies);
    wrong_record("a record with an endless text", unended);
    wrong_record("a record with control characters", unprintable);
    wrong_record("a node dies in the middle", NULL);
    dies_after_its_record();
    comes_too_late();
    dies_with_the_table();
    srun_dies();
    twice();
    printf("1..%u\n", tests);
    return failures > 0;
}
