#include <munge.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

/* Strangers attack srun's side of the rendezvous, with auth=key and with auth=munge: whatever they do, four
 * honest nodes get their table. TAP. Usage: attack SOCKET */

static const char *munged;
static bool sealed; /* auth=munge */

static void honest(void)
{
    struct scene s;
    scene_begin(&s, "nobody attacks");
    scene_is_well(&s);
}

static struct message text_message(const char *text)
{
    return (struct message){ WIRE_SEALED, strdup(text), strlen(text) + 1 };
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
    scene_say(fd, &m);
    uint8_t key[WIRE_KEY_SIZE];
    ok(recv(fd, key, sizeof(key), MSG_WAITALL) == sizeof(key), "replayed: the first time it is taken");
    scene_is_refused(&s, m, "the second time");
    scene_tell_record(fd, 1, 60000); /* the first one was node 1; it goes on */
    scene_start_others(&s);
    char table[512];
    struct wire_frame frame;
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_TABLE &&
           frame.length < sizeof(table) && recv(fd, table, frame.length, MSG_WAITALL) == (ssize_t)frame.length,
       "replayed: the true node has the table");
    hang_up(fd);
    scene_join_others(&s);
    ok(s.actors[0].rc == 1 && s.actors[2].rc == 1 && s.actors[3].rc == 1, "replayed: so have all");
    stage_finish(&s.stage, &s.ending);
    scene_nothing_leaks(&s);
}

static void other_key(struct wire_hello *hello) { hello->step_key[5] ^= 1; }
static void no_key(struct wire_hello *hello) { memset(hello->step_key, 0, WIRE_KEY_SIZE); }
static void other_job(struct wire_hello *hello) { hello->job_id++; }
static void other_step(struct wire_hello *hello) { hello->step_id++; }
static void other_purpose(struct wire_hello *hello) { hello->purpose[0] = 'x'; }
static void no_place(struct wire_hello *hello) { hello->node = hello->node_count; }
static void many_nodes(struct wire_hello *hello) { hello->node_count = WIRE_NODES_MAX + 1; }
static void many_ranks(struct wire_hello *hello) { hello->rank_count = hello->task_count = 4000; }

static void foreign(void)
{
    struct scene s;
    scene_begin(&s, "foreign");
    if (sealed)
        scene_is_refused(&s, scene_hello(&s, OTHER_UID, NULL), "another user's hello");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_job), "another job's");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_step), "another step's");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_key), "one with another key");
    scene_is_refused(&s, scene_hello(&s, USER_UID, no_key), "one without a key");
    scene_is_refused(&s, scene_hello(&s, USER_UID, other_purpose), "one for another purpose");
    scene_is_refused(&s, scene_hello(&s, USER_UID, no_place), "a node outside the step");
    scene_is_refused(&s, scene_hello(&s, USER_UID, many_nodes), "a step too large");
    scene_is_refused(&s, scene_hello(&s, USER_UID, many_ranks), "one shorter than it says");
    scene_is_refused(&s, scene_other_hello(&s), sealed ? "a hello that is not sealed" : "a sealed hello");
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
        m[i].bytes = calloc(1, 4096);
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

/* What only a sealed hello is exposed to. */
static void attack_seals(void)
{
    forged();
    replayed();
    unsealed();
}

static void attack(bool seal)
{
    sealed = seal;
    scene_auth(sealed, munged);
    honest();
    foreign();
    misshapen();
    garbage();
    silent();
    twice();
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
