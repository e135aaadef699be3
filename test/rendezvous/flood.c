/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_case.h"

/* A process with many threads connects to srun as often as it can, without the step's key. srun's
 * memory stays small, and the four nodes are answered. Prints TAP and, as
 * comments, the figures. Usage: flood SOCKET */

#define THREADS 8
/* Connections that a thread of an attacker keeps open, if it keeps any. */
#define HELD 1000
/* srun has 9 MB without an attack; the peers of which it does not know who they are may have 4 MB
 * more. */
#define RSS_MAX_KB (16 << 10)

/* Peers that are silent from the beginning: as many as the queue of connections has room for, less
 * some for the nodes. */
#define SILENT 4000

struct flood {
    const char *name;
    size_t length; /* of the bytes that are sent */
    bool junk;     /* random bytes; else the beginning of a hello of the largest length */
    bool held;     /* the connections stay open; else they are closed at once */
};

static const struct flood floods[] = {
    { "most of a hello, then close", WIRE_HELLO_MAX - 1, false, false },
    { "most of a hello, then silence", WIRE_HELLO_MAX - 1, false, true },
    { "nothing, then close", 0, false, false },
    { "nothing, then silence", 0, false, true },
    { "junk, then close", 300, true, false },
    { "junk, then silence", 300, true, true },
};

struct attacker {
    const struct flood *flood;
    const struct harness *harness;
    char bytes[WIRE_HELLO_MAX];
};

static void *attack(void *arg)
{
    const struct attacker *a = arg;
    int held[HELD];
    memset(held, -1, sizeof(held));
    for (unsigned i = 0;; i = (i + 1) % HELD) {
        hang_up(held[i]);
        held[i] = harness_connect(a->harness);
        if (held[i] >= 0 && a->flood->length)
            send(held[i], a->bytes, a->flood->length, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (!a->flood->held) {
            hang_up(held[i]);
            held[i] = -1;
        }
    }
    return NULL;
}

/* Starts the attackers as a process of their own, which the caller ends. */
static pid_t start(const struct flood *flood, const struct harness *harness)
{
    static struct attacker a;
    struct wire_frame frame = { WIRE_MAGIC, harness->encrypted ? WIRE_CREDENTIAL : WIRE_HELLO,
                                WIRE_HELLO_MAX - sizeof(frame) - WIRE_TAG_SIZE };
    pthread_t thread;
    fflush(NULL);
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* They stand for other machines: srun and the nodes have the processors of this one first. */
    if (setpriority(PRIO_PROCESS, 0, 19) < 0)
        _exit(1);
    a.flood = flood;
    a.harness = harness;
    for (size_t i = 0; flood->junk && i < sizeof(a.bytes); i++)
        a.bytes[i] = (char)rand();
    if (!flood->junk)
        memcpy(a.bytes, &frame, sizeof(frame));
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, attack, &a))
            _exit(1);
    for (;;)
        pause();
}

static int64_t longest_ms(const struct attack_case *s)
{
    int64_t longest = 0;
    for (int i = 0; i < NODES; i++)
        longest = s->nodes[i].took_ms > longest ? s->nodes[i].took_ms : longest;
    return longest;
}

/* The attackers leave a busy machine little: this only ends what hangs. */
static void long_time(struct harness *harness)
{
    harness->timeout_ms = 60000;
}

static void withstands(const struct flood *flood)
{
    struct attack_case s;
    case_begin_with(&s, flood->name, long_time);
    pid_t attackers = start(flood, &s.harness);
    sleep(1);
    case_run(&s);
    kill(attackers, SIGKILL);
    waitpid(attackers, NULL, 0);
    case_ends_well(&s);
    ok(s.result.rss_kb < RSS_MAX_KB, "%s: srun needs less than %d KB (%ld)", s.name, RSS_MAX_KB,
       s.result.rss_kb);
    ok(s.result.counts.unauthenticated_most <= SERVER_UNAUTHENTICATED_MAX &&
           s.result.counts.refused > SERVER_UNAUTHENTICATED_MAX,
       "%s: of %u unauthenticated peers never more than %u at one time (%u)", s.name,
       s.result.counts.refused, SERVER_UNAUTHENTICATED_MAX, s.result.counts.unauthenticated_most);
    printf("# %s: %u connections, srun %ld KB, nodes waited %d ms\n", s.name,
           s.result.counts.refused, s.result.rss_kb, (int)longest_ms(&s));
}

static void short_time(struct harness *harness)
{
    harness->timeout_ms = 1500;
}

/* They were there before the nodes, and stay. If each could keep its place for a twentieth of a
 * second, the nodes would wait for 3 seconds. */
static void waits_for_nobody(void)
{
    struct attack_case s;
    static int fds[SILENT];
    case_begin_with(&s, "4000 silent peers", short_time);
    for (int i = 0; i < SILENT; i++)
        fds[i] = harness_connect_begin(&s.harness);
    case_run(&s);
    for (int i = 0; i < SILENT; i++)
        hang_up(fds[i]);
    printf("# %s: nodes waited %d ms\n", s.name, (int)longest_ms(&s));
    case_ends_well(&s);
}

static void little_room(struct harness *harness)
{
    harness->room = NODES + 1;
}

/* srun needs the other descriptors itself. The strangers say something, so that they are accepted
 * at once. */
static void leaves_descriptors(void)
{
    struct attack_case s;
    int fds[SERVER_UNAUTHENTICATED_MAX];
    case_begin_with(&s, "64 strangers, and room for one", little_room);
    for (int i = 0; i < SERVER_UNAUTHENTICATED_MAX; i++) {
        fds[i] = harness_connect(&s.harness);
        send(fds[i], "", 1, MSG_NOSIGNAL);
    }
    case_run(&s);
    for (int i = 0; i < SERVER_UNAUTHENTICATED_MAX; i++)
        hang_up(fds[i]);
    case_ends_well(&s);
    ok(s.result.counts.unauthenticated_most <= NODES + 1,
       "%s: never more than %d connections at one time (%u)", s.name, NODES + 1,
       s.result.counts.unauthenticated_most);
}

static void no_room(struct harness *harness)
{
    harness->node_count = 0;
    harness->room = NODES - 1;
}

/* In a heterogeneous step the first node tells how many there are. */
static void tells_of_too_many_nodes(void)
{
    struct attack_case s;
    case_begin_with(&s, "more nodes than room", no_room);
    case_run(&s);
    bool ended = harness_finish(&s.harness, &s.result);
    for (uint32_t i = 0; i < NODES; i++)
        ended = ended && s.nodes[i].rc < 0;
    ok(ended, "%s: no node is answered", s.name);
    ok(s.result.warnings == 1 && strstr(s.result.warning, "ulimit -Hn"), "%s: one warning (%s)",
       s.name, s.result.warning);
    case_nothing_leaks(&s);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){ (THREADS + 1) * HELD, (THREADS + 1) * HELD });
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        case_auth(encrypted, argv[1]);
        waits_for_nobody();
        leaves_descriptors();
        tells_of_too_many_nodes();
        for (size_t i = 0; i < sizeof(floods) / sizeof(*floods); i++)
            withstands(&floods[i]);
    }
    return case_results();
}
