/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attack_case.h"

/* Nodes with early leaders name them in their hellos, and no node waits for another one's plan. An
 * early leader remains valid whatever happens to its node. Prints TAP. Usage: early_leader
 * SOCKET */

static void early_rank_4(struct wire_hello *hello)
{
    hello->leader = 4;
}

static void others_have_early_leaders(struct attack_case *s)
{
    for (uint32_t i = 0; i < NODES; i++)
        s->nodes[i].early_leader = true;
    case_start_others(s);
}

static void others_act(struct attack_case *s)
{
    bool all = true;
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; i != 1 && k < NODES; k++)
            all = all && s->nodes[i].rc == 1 && s->nodes[i].leaders[k] == 4 * k;
    ok(all, "%s: the others act on the table", s->name);
}

static void reported(struct attack_case *s, unsigned warnings, const char *what)
{
    ok(harness_finish(&s->harness, &s->result) && s->result.reports == 1 &&
           s->result.warnings == warnings && (!what || strstr(s->result.warning, what)),
       "%s: one report, %u warnings (%u: %s)", s->name, warnings, s->result.warnings,
       s->result.warning);
    case_nothing_leaks(s);
}

/* Reads the whole table: closing a socket with unread bytes would also discard sent ones. */
static bool gets_message(int fd, int ms, bool empty)
{
    struct timeval limit = { ms / 1000, ms % 1000 * 1000 };
    struct wire_frame frame;
    char body[256]; /* with the tag */
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) &&
           frame.type == WIRE_TABLE && empty == !frame.length &&
           frame.length + WIRE_TAG_SIZE <= sizeof(body) &&
           recv(fd, body, frame.length + WIRE_TAG_SIZE, MSG_WAITALL) ==
               (ssize_t)frame.length + WIRE_TAG_SIZE;
}

static bool gets_table(int fd, int ms)
{
    return gets_message(fd, ms, false);
}

/* Node 1 is slow: its record comes long after the others have acted. */
static void nobody_waits(void)
{
    struct attack_case s;
    case_begin(&s, "all leaders are early");
    int fd = case_accepted_node(&s, early_rank_4);
    others_have_early_leaders(&s);
    ok(gets_table(fd, 2000), "%s: the table comes before any record", s.name);
    case_join_others(&s);
    others_act(&s);
    usleep(100000);
    case_send_record(&s, fd, 1, 60000);
    hang_up(fd);
    reported(&s, 0, NULL);
}

/* A node that is slow to plan delays the table only if its own leader is not early. */
static void one_is_not_early(void)
{
    struct attack_case s;
    case_begin(&s, "all leaders but one are early");
    int fd = case_accepted_node(&s, NULL);
    for (uint32_t i = 0; i < NODES; i++)
        s.nodes[i].record_delay_ms = i == 3 ? 300 : 0;
    others_have_early_leaders(&s);
    usleep(100000);
    ok(!gets_table(fd, 50), "%s: no table before its record", s.name);
    int64_t told_ms = harness_ms();
    case_send_record(&s, fd, 1, 60000);
    ok(gets_table(fd, 2000) && harness_ms() - told_ms < 150,
       "%s: then at once, though node 3 has sent no record", s.name);
    case_join_others(&s);
    others_act(&s);
    hang_up(fd);
    reported(&s, 0, NULL);
}

static void dies(const char *name, bool wrong_record)
{
    struct attack_case s;
    case_begin(&s, name);
    int fd = case_accepted_node(&s, early_rank_4);
    for (uint32_t i = 0; i < NODES; i++)
        s.nodes[i].record_delay_ms = 200; /* no node has sent its record when node 1 dies */
    others_have_early_leaders(&s);
    ok(gets_table(fd, 2000), "%s: the table comes", s.name);
    if (wrong_record)
        case_send_record(&s, fd, 2, 60000);
    usleep(wrong_record ? 50000 : 0);
    hang_up(fd);
    case_join_others(&s);
    others_act(&s);
    reported(&s, 1, "node number 1 of the step closed the connection (3 of 4 nodes answered)");
}

/* Its ranks know the table all the same, because the ranks of other nodes do. */
static void withdraws(void)
{
    struct attack_case s;
    case_begin(&s, "a node places nothing");
    s.nodes[2].withdraws = true;
    int fd = case_accepted_node(&s, early_rank_4);
    others_have_early_leaders(&s);
    ok(gets_table(fd, 2000), "%s: the table comes", s.name);
    case_send_record(&s, fd, 1, 60000);
    case_join_others(&s);
    others_act(&s);
    hang_up(fd);
    reported(&s, 0, NULL);
}

/* A node that waits no longer does not act on the table, so no node may. */
static void comes_too_late(void)
{
    struct attack_case s;
    case_begin(&s, "the last comes too late");
    int fd = case_accepted_node(&s, early_rank_4);
    case_send_record(&s, fd, 1, 100);
    usleep(300000);
    others_have_early_leaders(&s);
    case_join_others(&s);
    ok(gets_message(fd, 100, true), "%s: the first is told that there is no table", s.name);
    ok(s.nodes[0].rc < 0 && s.nodes[2].rc < 0 && s.nodes[3].rc < 0, "%s: nor for the others",
       s.name);
    ok(harness_finish(&s.harness, &s.result) && s.result.warnings == 1 && s.result.reports == 1,
       "%s: one warning (%s)", s.name, s.result.warning);
    hang_up(fd);
    case_nothing_leaks(&s);
}

/* A node that has the table, and nothing to report, closes the connection. */
static void nothing_to_say(void)
{
    struct attack_case s;
    case_begin(&s, "no report");
    int fd = case_accepted_node(&s, early_rank_4);
    for (uint32_t i = 0; i < NODES; i++)
        s.nodes[i].no_record = i != 3;
    others_have_early_leaders(&s);
    ok(gets_table(fd, 2000), "%s: the table comes", s.name);
    case_join_others(&s);
    others_act(&s);
    hang_up(fd);
    reported(&s, 0, NULL);
    ok(s.result.counts.records == 1, "%s: the one record is not lost", s.name);
}

/* With auth=munge a child sends the hello, and may die before its parent knows. */
static void encrypted_hellos(void)
{
    struct attack_case s;
    case_begin(&s, "encrypted hellos");
    for (uint32_t i = 0; i < NODES; i++)
        s.nodes[i].record_delay_ms = 600;
    int fd = case_accepted_node(&s, early_rank_4);
    others_have_early_leaders(&s);
    ok(!gets_table(fd, 300), "%s: no leader is early", s.name);
    ok(gets_table(fd, 2000), "%s: the table comes after their records", s.name);
    case_send_record(&s, fd, 1, 60000);
    case_join_others(&s);
    others_act(&s);
    hang_up(fd);
    reported(&s, 0, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    case_auth(false, argv[1]);
    nobody_waits();
    one_is_not_early();
    dies("a node dies when the table is out", false);
    dies("a node's record is wrong when the table is out", true);
    withdraws();
    comes_too_late();
    case_report(false);
    nothing_to_say();
    case_report(true);
    case_auth(true, argv[1]);
    encrypted_hellos();
    return case_results();
}
