#include <errno.h>
#include <munge.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_case.h"

/* Strangers attack srun's side of the rendezvous, with auth=key and with auth=munge: whatever they do, four
 * honest nodes get their table. TAP. Usage: attack SOCKET */

static const char *munged;
static bool sealed; /* auth=munge */

static void honest(void)
{
    struct scene s;
    scene_begin(&s, "nobody attacks");
    scene_is_well(&s);
    scene_begin(&s, "a node leaves its slice unread");
    s.actors[2].leaves_slice = true;
    scene_is_well(&s);
}

static struct message text_message(const char *text)
{
    return (struct message){ .type = WIRE_SEALED, .bytes = strdup(text), .length = strlen(text) + 1 };
}

static void forged(void)
{
    struct scene s;
    scene_begin(&s, "forged");
    scene_is_refused(&s, text_message("MUNGE:AwQDAACB1Hn0PEo3b0ZvcmdlZA==:"), "a credential that munged never made");
    scene_is_refused(&s, text_message(""), "an empty one");
    struct message m = scene_hello(&s, USER_UID, NULL);
    char *middle = (char *)m.bytes + m.length / 2;
    *middle = *middle == 'A' ? 'B' : 'A';
    scene_is_refused(&s, m, "one with a changed letter");
    scene_is_well(&s);
}

static void replayed(void)
{
    struct scene s;
    scene_begin(&s, "replayed");
    struct message m = scene_hello(&s, USER_UID, NULL);
    int fd = stage_connect(&s.stage);
    scene_say(&s, fd, &m);
    char welcome[sizeof(struct wire_frame) + WIRE_TAG_SIZE], table[512];
    ok(recv(fd, welcome, sizeof(welcome), MSG_WAITALL) == sizeof(welcome), "replayed: the first time it is taken");
    scene_is_refused(&s, m, "the second time");
    scene_tell_record(&s, fd, 1, 60000); /* the first one was node 1; it goes on */
    scene_start_others(&s);
    struct wire_frame frame;
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_TABLE &&
           frame.length + WIRE_TAG_SIZE < sizeof(table) &&
           recv(fd, table, frame.length + WIRE_TAG_SIZE, MSG_WAITALL) == (ssize_t)frame.length + WIRE_TAG_SIZE,
       "replayed: the true node has the table");
    hang_up(fd);
    scene_join_others(&s);
    ok(s.actors[0].rc == 1 && s.actors[2].rc == 1 && s.actors[3].rc == 1, "replayed: so have all");
    stage_finish(&s.stage, &s.ending);
    scene_nothing_leaks(&s);
}

static void other_job(struct wire_hello *hello) { hello->job_id++; }
static void other_step(struct wire_hello *hello) { hello->step_id++; }
static void other_purpose(struct wire_hello *hello) { hello->purpose[0] = 'x'; }
static void no_place(struct wire_hello *hello) { hello->node = hello->node_count; }
static void many_nodes(struct wire_hello *hello) { hello->node_count = WIRE_NODES_MAX + 1; }
static void more_nodes(struct wire_hello *hello) { hello->node_count = WIRE_NODES_MAX; }
static void fewer_nodes(struct wire_hello *hello) { hello->node_count = NODES - 1; }
static void many_ranks(struct wire_hello *hello) { hello->rank_count = hello->task_count = 4000; }

static void knows_the_nodes(struct stage *stage) { stage->node_count = NODES; }

static void foreign(void)
{
    struct scene s;
    scene_begin_with(&s, "foreign", knows_the_nodes);
    if (sealed)
        scene_is_refused(&s, scene_hello(&s, OTHER_UID, NULL), "another user's hello");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_job), "another job's");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_step), "another step's");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_purpose), "one for another purpose");
    scene_is_refused(&s, scene_hello(&s, USER_UID, no_place), "a node outside the step");
    scene_is_refused(&s, scene_hello(&s, USER_UID, many_nodes), "a step too large");
    scene_is_refused(&s, scene_hello(&s, USER_UID, more_nodes), "a step of more nodes than this one has");
    scene_is_refused(&s, scene_hello(&s, USER_UID, fewer_nodes), "one of fewer");
    scene_is_refused(&s, scene_hello(&s, USER_UID, many_ranks), "one shorter than it says");
    scene_is_refused(&s, scene_other_hello(&s), sealed ? "a hello that is not sealed" : "a sealed hello");
    scene_is_well(&s);
}

static void other_node(struct wire_frame *frame, char *body)
{
    (void)frame;
    ((struct wire_hello *)body)->node = 2;
}

static void other_letter(struct wire_frame *frame, char *body) { body[frame->length / 2] ^= 1; }
static void no_tag(struct wire_frame *frame, char *body) { memset(body + frame->length, 0, WIRE_TAG_SIZE); }
static void other_tag(struct wire_frame *frame, char *body) { body[frame->length + WIRE_TAG_SIZE - 1] ^= 1; }

static void shorter_frame(struct wire_frame *frame, char *body)
{
    memmove(body + frame->length - 1, body + frame->length, WIRE_TAG_SIZE);
    frame->length--;
}

static void is_refused_as(struct scene *s, const struct hmac_key *key, enum wire_use from,
                          void (*spoil)(struct wire_frame *, char *), const char *what)
{
    struct message m = scene_hello(s, USER_UID, NULL);
    m.key = key;
    m.from = from;
    m.spoil = spoil;
    scene_is_refused(s, m, what);
}

/* By somebody who has heard a hello, or speaks to the port without the step's key. */
static void untagged(void)
{
    struct scene s;
    struct hmac_key other;
    scene_begin(&s, "untagged");
    hmac_key_set(&other, "another step's key, of 32 bytes.", WIRE_KEY_SIZE);
    is_refused_as(&s, NULL, 0, no_tag, "a hello without a tag");
    is_refused_as(&s, NULL, 0, other_tag, "one with a changed tag");
    is_refused_as(&s, NULL, 0, other_letter, "one that was changed on the way");
    is_refused_as(&s, NULL, 0, shorter_frame, "one whose frame was changed on the way");
    is_refused_as(&s, &other, 0, NULL, "one with another step's key");
    is_refused_as(&s, &s.session, 0, NULL, "one with the session's key");
    is_refused_as(&s, NULL, WIRE_FROM_SRUN, NULL, "one that srun would say");
    if (!sealed)
        is_refused_as(&s, NULL, 0, other_node, "one heard of node 1 that now names node 2");
    if (sealed)
        scene_is_refused(&s, (struct message){ .type = WIRE_SORRY, .key = &other }, "a stranger's apology");
    scene_is_well(&s);
}

/* By somebody who knows the step's key, as the user but not as our own code would. */
static void unsealed(void)
{
    struct scene s;
    static const char *const what[] = { "a hello that is not encrypted", "a hello that anybody may read",
                                        "another user's hello that the user may read" };
    struct message m[3];
    int ends[2];
    scene_begin(&s, "unsealed");
    for (int i = 0; i < 3; i++) {
        struct gather_call call = stage_call(&s.stage, 1, NODES);
        struct wire_hello says = stage_hello(&call);
        size_t length;
        void *hello = hello_make(&says, NULL, &length);
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
        m[i] = (struct message){ .type = WIRE_SEALED, .bytes = calloc(1, 4096) };
        waitpid(pid, NULL, 0);
        ok(read(ends[0], m[i].bytes, 4095) > 0, "unsealed: a credential");
        m[i].length = strlen(m[i].bytes) + 1;
        close(ends[0]);
        free(hello);
    }
    for (int i = 0; i < 3; i++)
        scene_is_refused(&s, m[i], what[i]);
    scene_is_well(&s);
}

static void misshapen(void)
{
    struct scene s;
    const uint32_t type = sealed ? WIRE_SEALED : WIRE_HELLO;
    struct wire_frame frame = { WIRE_MAGIC, type, 500 };
    scene_begin(&s, "misshapen");
    int fd = stage_connect(&s.stage);
    if (send(fd, &frame, sizeof(frame), 0) < 0 || send(fd, frame.length ? "abc" : "", 3, 0) < 0)
        perror("# send");
    shutdown(fd, SHUT_WR);
    ok(scene_is_sent_away(fd, 2000), "misshapen: a truncated hello is refused");
    hang_up(fd);
    const struct { struct wire_frame frame; const char *what; } frames[] = {
        { { WIRE_MAGIC, type, WIRE_HELLO_MAX }, "a hello above 64 KB" },
        { { WIRE_MAGIC, type, UINT32_MAX }, "a hello of 4 GB" },
        { { WIRE_MAGIC + 1, type, 10 }, "another version" },
        { { WIRE_MAGIC, WIRE_RECORD, 320 }, "a record without a hello" },
        { { WIRE_MAGIC, WIRE_TABLE, 0 }, "what only srun says" },
    };
    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        fd = stage_connect(&s.stage);
        if (send(fd, &frames[i].frame, sizeof(frame), 0) < 0)
            perror("# send");
        ok(scene_is_sent_away(fd, 500), "misshapen: %s is refused at once", frames[i].what);
        hang_up(fd);
    }
    scene_is_well(&s);
}

static void garbage(void)
{
    struct scene s;
    char bytes[300];
    scene_begin(&s, "1000 garbage connections");
    for (int i = 0; i < 1000; i++) {
        int fd = stage_connect(&s.stage);
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (char)rand();
        if (fd >= 0)
            send(fd, bytes, (size_t)(rand() % (int)sizeof(bytes)), MSG_NOSIGNAL);
        hang_up(fd);
    }
    scene_is_well(&s);
    ok(s.ending.counts.strangers_most <= GATHER_STRANGERS_MAX, "%s: never more than %u strangers (%u)", s.name,
       GATHER_STRANGERS_MAX, s.ending.counts.strangers_most);
}

static void silent(void)
{
    struct scene s;
    int fds[200];
    scene_begin(&s, "200 silent peers");
    for (int i = 0; i < 200; i++)
        fds[i] = stage_connect(&s.stage);
    scene_run(&s);
    for (int i = 0; i < 200; i++)
        hang_up(fds[i]);
    scene_ends_well(&s);
    int64_t longest = 0;
    for (int i = 0; i < NODES; i++)
        longest = s.actors[i].took_ms > longest ? s.actors[i].took_ms : longest;
    ok(longest < 1500, "%s: nodes wait %d ms at most", s.name, (int)longest);

    scene_begin(&s, "a silent peer");
    int fd = stage_connect(&s.stage);
    int64_t start = stage_ms();
    ok(scene_is_sent_away(fd, 3000), "%s: it is sent away", s.name);
    int took = (int)(stage_ms() - start);
    ok(took > 800 && took < 1800, "%s: after a second (%d ms)", s.name, took);
    hang_up(fd);
    scene_is_well(&s);
}

static void twice(void)
{
    struct scene s;
    scene_begin(&s, "a place that is taken");
    int fd = scene_known_node(&s, NULL);
    scene_is_refused(&s, scene_hello(&s, USER_UID, NULL), "another hello for it");
    hang_up(fd);
    stage_close(&s.stage, &s.ending);
    scene_nothing_leaks(&s);
}

static void has_shepherd(struct stage *stage) { stage->shepherd = true; }

static void closes_soon(struct stage *stage)
{
    stage->shepherd = true;
    stage->door_ms = 1000;
}

static bool is_refused_at_last(const struct stage *stage)
{
    int fd = 0;
    for (int i = 0; i < 150 && fd >= 0; i++) {
        fd = stage_connect(stage);
        hang_up(fd);
        usleep(20000);
    }
    return fd == -ECONNREFUSED;
}

/* A call is refused as if nobody had ever listened, whoever holds a copy of the listener. */
static void closed_door(void)
{
    struct scene s;
    scene_begin_with(&s, "a closed door", has_shepherd);
    struct stage late = s.stage;
    int before = stage_connect(&late);
    ok(before >= 0, "%s: it is open before the nodes come", s.name);
    s.actors[3].late_ms = 2000; /* srun's thread waits for this record when all have said hello */
    actor_start(&s.actors[1], &s.stage, 1, NODES);
    scene_start_others(&s);
    ok(is_refused_at_last(&late), "%s: when all have said hello a call is refused", s.name);
    scene_join_others(&s);
    actor_join(&s.actors[1]);
    hang_up(before);
    scene_ends_well(&s);
    ok(s.ending.cpu_ms < 200, "%s: nothing spins (%u ms of processor time)", s.name, s.ending.cpu_ms);

    scene_begin_with(&s, "no node comes", closes_soon);
    late = s.stage;
    stage_finish(&s.stage, &s.ending);
    ok(s.ending.warnings == 1 && strstr(s.ending.warning, "no node of the step has called"),
       "%s: that is said where a report is wanted (%u: %s)", s.name, s.ending.warnings, s.ending.warning);
    scene_nothing_leaks(&s);

    scene_begin_with(&s, "one node does not come", closes_soon);
    late = s.stage;
    scene_start_others(&s);
    scene_join_others(&s);
    ok(is_refused_at_last(&late), "%s: then the door is closed", s.name);
    stage_finish(&s.stage, &s.ending);
    ok(s.ending.warnings == 1 && strstr(s.ending.warning, "not all nodes have come in time"),
       "%s: one warning (%u: %s)", s.name, s.ending.warnings, s.ending.warning);
    scene_nothing_leaks(&s);
}

static void has_no_thread(struct stage *stage) { stage->threadless = true; }

static void no_thread(void)
{
    struct scene s;
    scene_begin_with(&s, "srun may have no thread", has_no_thread);
    int fd = stage_connect(&s.stage);
    ok(fd == -ECONNREFUSED, "%s: a node is refused at once", s.name);
    if (fd >= 0)
        hang_up(fd);
    stage_close(&s.stage, &s.ending);
    scene_nothing_leaks(&s);
}

/* What only a sealed hello is exposed to. */
static void attack_seals(void)
{
    forged();
    unsealed();
}

static void attack(bool seal)
{
    sealed = seal;
    scene_auth(sealed, munged);
    honest();
    foreign();
    untagged();
    replayed();
    misshapen();
    garbage();
    silent();
    twice();
    closed_door();
    no_thread();
    if (sealed)
        attack_seals();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    munged = argv[1];
    signal(SIGPIPE, SIG_IGN);
    srand(1);
    attack(false);
    attack(true);
    return scene_results();
}
