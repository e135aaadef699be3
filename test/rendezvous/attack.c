/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Unauthenticated peers attack srun's side of the rendezvous, with auth=key and with auth=munge.
 * Whatever they do, the four nodes are answered and reported. Prints TAP. Usage: attack SOCKET */

static const char *munged;
static bool encrypted; /* auth=munge */

static void no_attack(void)
{
    struct attack_case s;
    case_begin(&s, "no attack");
    case_is_well(&s);
    case_begin(&s, "a node leaves its slice unread");
    s.nodes[2].ignores_slice = true;
    case_is_well(&s);
}

static struct message text_message(const char *text)
{
    return (struct message){ .type = WIRE_CREDENTIAL,
                             .bytes = strdup(text),
                             .length = strlen(text) + 1 };
}

static void forged(void)
{
    struct attack_case s;
    case_begin(&s, "forged");
    case_is_refused(&s, text_message("MUNGE:AwQDAACB1Hn0PEo3b0ZvcmdlZA==:"),
                    "a credential that munged never made");
    case_is_refused(&s, text_message(""), "an empty one");
    struct message m = case_hello(&s, USER_UID, NULL);
    char *middle = (char *)m.bytes + m.length / 2;
    *middle = *middle == 'A' ? 'B' : 'A';
    case_is_refused(&s, m, "one with a changed letter");
    case_is_well(&s);
}

static void replayed(void)
{
    struct attack_case s;
    case_begin(&s, "replayed");
    struct message m = case_hello(&s, USER_UID, NULL);
    int fd = harness_connect(&s.harness);
    case_send(&s, fd, &m);
    char welcome[sizeof(struct wire_frame) + WIRE_TAG_SIZE];
    ok(recv(fd, welcome, sizeof(welcome), MSG_WAITALL) == sizeof(welcome),
       "replayed: the first time it is taken");
    case_is_refused(&s, m, "the second time");
    case_send_record(&s, fd, 1); /* the first connection was node 1, which goes on */
    case_start_others(&s);
    case_join_others(&s);
    hang_up(fd);
    case_ends_well(&s);
}

static void other_job(struct wire_hello *hello)
{
    hello->job_id++;
}
static void other_step(struct wire_hello *hello)
{
    hello->step_id++;
}
static void other_purpose(struct wire_hello *hello)
{
    hello->purpose[0] = 'x';
}
static void no_such_node(struct wire_hello *hello)
{
    hello->node = hello->node_count;
}
static void many_nodes(struct wire_hello *hello)
{
    hello->node_count = WIRE_NODES_MAX + 1;
}
static void more_nodes(struct wire_hello *hello)
{
    hello->node_count = WIRE_NODES_MAX;
}
static void fewer_nodes(struct wire_hello *hello)
{
    hello->node_count = NODES - 1;
}
static void many_ranks(struct wire_hello *hello)
{
    hello->rank_count = hello->task_count = 4000;
}

static void knows_the_nodes(struct harness *harness)
{
    harness->node_count = NODES;
}

static void foreign(void)
{
    struct attack_case s;
    case_begin_with(&s, "foreign", knows_the_nodes);
    if (encrypted)
        case_is_refused(&s, case_hello(&s, OTHER_UID, NULL), "another user's hello");
    case_is_refused(&s, case_hello(&s, USER_UID, other_job), "another job's");
    case_is_refused(&s, case_hello(&s, USER_UID, other_step), "another step's");
    case_is_refused(&s, case_hello(&s, USER_UID, other_purpose), "one for another purpose");
    case_is_refused(&s, case_hello(&s, USER_UID, no_such_node), "a node outside the step");
    case_is_refused(&s, case_hello(&s, USER_UID, many_nodes), "a step too large");
    case_is_refused(&s, case_hello(&s, USER_UID, more_nodes),
                    "a step of more nodes than this one has");
    case_is_refused(&s, case_hello(&s, USER_UID, fewer_nodes), "one of fewer");
    case_is_refused(&s, case_hello(&s, USER_UID, many_ranks), "one shorter than it says");
    case_is_refused(&s, case_other_hello(&s),
                    encrypted ? "a hello that is not encrypted" : "an encrypted hello");
    case_is_well(&s);
}

/* Whoever knows the key could have srun keep the same large slice for each number of a node. */
static void ranks_twice(void)
{
    struct attack_case s;
    struct wire_frame welcome;
    const uint32_t ranks[4] = { 0, 1, 2, 3 }, others[4] = { 4, 5, 6, 3 };
    const uint32_t large[4] = { 4, 5, 6, WIRE_RANKS_MAX };
    case_begin(&s, "ranks of another node");
    struct message m = case_asking_hello(&s, 1, ranks);
    int fd = harness_connect(&s.harness);
    case_send(&s, fd, &m);
    ok(recv(fd, &welcome, sizeof(welcome), MSG_WAITALL) == sizeof(welcome) && welcome.length,
       "%s: the first node gets its slice", s.name);
    free(m.bytes);
    case_is_refused(&s, case_asking_hello(&s, 2, ranks), "the same ranks on another node");
    case_is_refused(&s, case_asking_hello(&s, 2, others), "one of these ranks");
    case_is_refused(&s, case_asking_hello(&s, 2, large), "a rank that is too large");
    hang_up(fd);
    harness_finish(&s.harness, &s.result);
    case_nothing_leaks(&s);
}

static void other_node(struct wire_frame *frame, char *body)
{
    (void)frame;
    ((struct wire_hello *)body)->node = 2;
}

static void other_letter(struct wire_frame *frame, char *body)
{
    body[frame->length / 2] ^= 1;
}
static void no_tag(struct wire_frame *frame, char *body)
{
    memset(body + frame->length, 0, WIRE_TAG_SIZE);
}
static void other_tag(struct wire_frame *frame, char *body)
{
    body[frame->length + WIRE_TAG_SIZE - 1] ^= 1;
}

static void shorter_frame(struct wire_frame *frame, char *body)
{
    memmove(body + frame->length - 1, body + frame->length, WIRE_TAG_SIZE);
    frame->length--;
}

static void is_refused_as(struct attack_case *s, const struct hmac_key *key, enum wire_use from,
                          void (*spoil)(struct wire_frame *, char *), const char *what)
{
    struct message m = case_hello(s, USER_UID, NULL);
    m.key = key;
    m.from = from;
    m.spoil = spoil;
    case_is_refused(s, m, what);
}

/* The attacker has read a hello on the network, or connects without the step's key. */
static void untagged(void)
{
    struct attack_case s;
    struct hmac_key other;
    case_begin(&s, "untagged");
    hmac_key_set(&other, "another step's key, of 32 bytes.", WIRE_KEY_SIZE);
    is_refused_as(&s, NULL, 0, no_tag, "a hello without a tag");
    is_refused_as(&s, NULL, 0, other_tag, "one with a changed tag");
    is_refused_as(&s, NULL, 0, other_letter, "one that was changed on the way");
    is_refused_as(&s, NULL, 0, shorter_frame, "one whose frame was changed on the way");
    is_refused_as(&s, &other, 0, NULL, "one with another step's key");
    is_refused_as(&s, &s.session, 0, NULL, "one with the session's key");
    is_refused_as(&s, NULL, WIRE_FROM_SRUN, NULL, "one with srun's direction");
    if (!encrypted)
        is_refused_as(&s, NULL, 0, other_node, "node 1's hello, changed to node 2");
    if (encrypted)
        case_is_refused(&s, (struct message){ .type = WIRE_NO_CREDENTIAL, .key = &other },
                        "a NO_CREDENTIAL without the step's key");
    case_is_well(&s);
}

/* The attacker knows the step's key and has the user's rights, but makes other credentials than
 * nuioa. */
static void badly_encrypted(void)
{
    struct attack_case s;
    static const char *const what[] = { "a hello that is not encrypted",
                                        "a hello that anybody may read",
                                        "another user's hello that the user may read" };
    struct message m[3];
    int ends[2];
    case_begin(&s, "badly encrypted");
    for (int i = 0; i < 3; i++) {
        struct client_call call = harness_call(&s.harness, 1, NODES);
        struct wire_hello says = harness_hello(&call);
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
            munge_ctx_set(context, MUNGE_OPT_CIPHER_TYPE,
                          i ? MUNGE_CIPHER_AES128 : MUNGE_CIPHER_NONE);
            munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, i == 1 ? MUNGE_UID_ANY : USER_UID);
            uid_t uid = i == 2 ? OTHER_UID : USER_UID;
            if (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0 ||
                munge_encode(&made, context, hello, (int)length) != EMUNGE_SUCCESS ||
                write(ends[1], made, strlen(made)) < 0)
                _exit(1);
            _exit(0);
        }
        close(ends[1]);
        m[i] = (struct message){ .type = WIRE_CREDENTIAL, .bytes = calloc(1, 4096) };
        waitpid(pid, NULL, 0);
        ok(read(ends[0], m[i].bytes, 4095) > 0, "badly encrypted: a credential");
        m[i].length = strlen(m[i].bytes) + 1;
        close(ends[0]);
        free(hello);
    }
    for (int i = 0; i < 3; i++)
        case_is_refused(&s, m[i], what[i]);
    case_is_well(&s);
}

static void misshapen(void)
{
    struct attack_case s;
    const uint32_t type = encrypted ? WIRE_CREDENTIAL : WIRE_HELLO;
    struct wire_frame frame = { WIRE_MAGIC, type, 500 };
    case_begin(&s, "misshapen");
    int fd = harness_connect(&s.harness);
    if (send(fd, &frame, sizeof(frame), 0) < 0 || send(fd, frame.length ? "abc" : "", 3, 0) < 0)
        perror("# send");
    shutdown(fd, SHUT_WR);
    ok(case_is_disconnected(fd, 2000), "misshapen: a truncated hello is refused");
    hang_up(fd);
    const struct {
        struct wire_frame frame;
        const char *what;
    } frames[] = {
        { { WIRE_MAGIC, type, WIRE_HELLO_MAX }, "a hello above 64 KB" },
        { { WIRE_MAGIC, type, UINT32_MAX }, "a hello of 4 GB" },
        { { WIRE_MAGIC + 1, type, 10 }, "another version" },
        { { WIRE_MAGIC, WIRE_RECORD, sizeof(struct wire_record) }, "a record without a hello" },
        { { WIRE_MAGIC, WIRE_WELCOME, 0 }, "a message that only srun sends" },
    };
    for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
        fd = harness_connect(&s.harness);
        if (send(fd, &frames[i].frame, sizeof(frame), 0) < 0)
            perror("# send");
        ok(case_is_disconnected(fd, 500), "misshapen: %s is refused at once", frames[i].what);
        hang_up(fd);
    }
    case_is_well(&s);
}

static void garbage(void)
{
    struct attack_case s;
    char bytes[300];
    case_begin(&s, "1000 garbage connections");
    for (int i = 0; i < 1000; i++) {
        int fd = harness_connect(&s.harness);
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (char)rand();
        if (fd >= 0)
            send(fd, bytes, (size_t)(rand() % (int)sizeof(bytes)), MSG_NOSIGNAL);
        hang_up(fd);
    }
    case_is_well(&s);
    ok(s.result.counts.unauthenticated_most <= SERVER_UNAUTHENTICATED_MAX,
       "%s: never more than %u unauthenticated peers (%u)", s.name, SERVER_UNAUTHENTICATED_MAX,
       s.result.counts.unauthenticated_most);
}

static void silent(void)
{
    struct attack_case s;
    int fds[200];
    case_begin(&s, "200 silent peers");
    for (int i = 0; i < 200; i++)
        fds[i] = harness_connect(&s.harness);
    case_run(&s);
    for (int i = 0; i < 200; i++)
        hang_up(fds[i]);
    case_ends_well(&s);
    case_begin(&s, "a silent peer");
    int fd = harness_connect(&s.harness);
    ok(case_is_disconnected(fd, 10000), "%s: it is disconnected", s.name);
    hang_up(fd);
    case_is_well(&s);
}

static void second_hello(void)
{
    struct attack_case s;
    case_begin(&s, "a second hello for a node");
    int fd = case_accepted_node(&s, NULL);
    case_is_refused(&s, case_hello(&s, USER_UID, NULL), "it");
    hang_up(fd);
    harness_close(&s.harness, &s.result);
    case_nothing_leaks(&s);
}

static void srun_forks(struct harness *harness)
{
    harness->forks = true;
}

static void closes_soon(struct harness *harness)
{
    harness->forks = true;
    harness->accept_ms = 1000;
}

static bool is_refused_at_last(const struct harness *harness)
{
    int fd = 0;
    for (int i = 0; i < 150 && fd >= 0; i++) {
        fd = harness_connect(harness);
        hang_up(fd);
        usleep(20000);
    }
    return fd == -ECONNREFUSED;
}

/* A late connection is refused as if srun had never listened, although another process holds a copy
 * of the listener. */
static void closed_listener(void)
{
    struct attack_case s;
    case_begin_with(&s, "a closed listener", srun_forks);
    struct harness late = s.harness;
    int before = harness_connect(&late);
    ok(before >= 0, "%s: it is open before the nodes come", s.name);
    s.nodes[3].record_delay_ms = 2000; /* keeps srun waiting for a record after all hellos */
    node_thread_start(&s.nodes[1], &s.harness, 1, NODES);
    case_start_others(&s);
    ok(is_refused_at_last(&late), "%s: when all have said hello a call is refused", s.name);
    case_join_others(&s);
    node_thread_join(&s.nodes[1]);
    hang_up(before);
    case_ends_well(&s);
    ok(s.result.cpu_ms < 200, "%s: nothing spins (%u ms of processor time)", s.name,
       s.result.cpu_ms);

    case_begin_with(&s, "no node comes", closes_soon);
    late = s.harness;
    harness_finish(&s.harness, &s.result);
    ok(s.result.warnings == 1 && strstr(s.result.warning, "no node of the step has called"),
       "%s: there is a warning where a report is wanted (%u: %s)", s.name, s.result.warnings,
       s.result.warning);
    case_nothing_leaks(&s);

    case_begin_with(&s, "one node does not come", closes_soon);
    late = s.harness;
    case_start_others(&s);
    case_join_others(&s);
    ok(is_refused_at_last(&late), "%s: then the listener is closed", s.name);
    harness_finish(&s.harness, &s.result);
    ok(s.result.warnings == 1 &&
           strstr(s.result.warning,
                  "no call from node number 1 of the step in time (timeout_ms); unless Slurm or a "
                  "node says why, install"),
       "%s: one warning (%u: %s)", s.name, s.result.warnings, s.result.warning);
    ok(s.result.reports == 1 && !s.nodes[0].rc && !s.nodes[2].rc && !s.nodes[3].rc,
       "%s: srun makes the report of the others, and they make none", s.name);
    case_nothing_leaks(&s);
}

static void has_no_thread(struct harness *harness)
{
    harness->threadless = true;
}

static void no_thread(void)
{
    struct attack_case s;
    case_begin_with(&s, "srun may have no thread", has_no_thread);
    int fd = harness_connect(&s.harness);
    ok(fd == -ECONNREFUSED, "%s: a node is refused at once", s.name);
    if (fd >= 0)
        hang_up(fd);
    harness_close(&s.harness, &s.result);
    case_nothing_leaks(&s);
}

/* Attacks that need an encrypted hello. */
static void attack_credentials(void)
{
    forged();
    badly_encrypted();
}

static void attack(bool is_encrypted)
{
    encrypted = is_encrypted;
    case_auth(encrypted, munged);
    no_attack();
    foreign();
    ranks_twice();
    untagged();
    replayed();
    misshapen();
    garbage();
    silent();
    second_hello();
    closed_listener();
    no_thread();
    if (encrypted)
        attack_credentials();
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
    return case_results();
}
