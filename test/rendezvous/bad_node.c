/* SPDX-License-Identifier: BSD-3-Clause */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_case.h"

/* A node of the step itself is wrong, or srun dies or ends early. The other nodes are reported, and
 * srun warns once. Prints TAP for auth=key and auth=munge.
 * Usage: bad_node SOCKET SOCKET2 PID2 */

/* srun waits so long for nodes that are missing, which is longer than the limit. */
#define WAIT_MS 90000
#define LIMIT_MS 60000

static void be_patient(struct harness *harness)
{
    harness->timeout_ms = WAIT_MS;
}

/* Checks that srun reports so many nodes, and warns so often. */
static void are_reported(struct attack_case *s, uint32_t records, unsigned warnings,
                         int64_t since_ms)
{
    ok(harness_finish(&s->harness, &s->result), "%s: srun goes on", s->name);
    int64_t took = harness_ms() - since_ms;
    ok(took < LIMIT_MS, "%s: it is done after %d ms", s->name, (int)took);
    ok(s->result.counts.records == records && s->result.reports == 1,
       "%s: a report of %u nodes (%u)", s->name, records, s->result.counts.records);
    ok(s->result.warnings == warnings, "%s: %u warnings (%u: %s)", s->name, warnings,
       s->result.warnings, s->result.warning);
    case_nothing_leaks(s);
}

static void others_are_reported(struct attack_case *s, int64_t since_ms)
{
    ok(!s->nodes[0].rc && !s->nodes[2].rc && !s->nodes[3].rc, "%s: the others are answered",
       s->name);
    are_reported(s, NODES - 1, 1, since_ms);
}

static void wrong_record(const char *name, void (*spoil)(char *record, size_t *length))
{
    struct attack_case s;
    size_t length;
    case_begin_with(&s, name, be_patient);
    int fd = case_accepted_node(&s, NULL);
    case_start_others(&s);
    usleep(100000);
    char *record = realloc(harness_record(1, &length), WIRE_RECORD_MAX + 16);
    memset(record + length, 0, WIRE_RECORD_MAX + 16 - length);
    int64_t start = harness_ms();
    if (spoil) {
        spoil(record, &length);
        case_send(&s, fd,
                  &(struct message){
                      .type = WIRE_RECORD,
                      .bytes = record,
                      .length = length,
                      .key = &s.session,
                  });
    } else {
        hang_up(fd); /* the node has died */
        fd = -1;
    }
    case_join_others(&s);
    hang_up(fd);
    free(record);
    others_are_reported(&s, start);
}

static void shorter(char *record, size_t *length)
{
    (void)record;
    *length -= 8;
}
static void longer(char *record, size_t *length)
{
    (void)record;
    *length += 8;
}
static void huge(char *record, size_t *length)
{
    (void)record;
    *length = WIRE_RECORD_MAX + 1;
}
static void other_node(char *record, size_t *length)
{
    (void)length;
    ((struct wire_record *)record)->node = 2;
}
static void wrong_counts(char *record, size_t *length)
{
    (void)length;
    ((struct wire_record *)record)->line_count = UINT32_MAX / 2;
}
static void unknown_role(char *record, size_t *length)
{
    (void)length;
    struct wire_nic *nic = (void *)(record + sizeof(struct wire_record));
    nic->role = UINT32_MAX;
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

/* An attacker without the session's key sends a record in a node's connection, or changes the
 * node's. */
static void forged_record(const char *what, const struct hmac_key *(*key)(struct attack_case *),
                          enum wire_use from, void (*spoil)(struct wire_frame *, char *))
{
    struct attack_case s;
    char name[100];
    size_t length;
    snprintf(name, sizeof(name), "a record %s", what);
    case_begin_with(&s, name, be_patient);
    int fd = case_accepted_node(&s, NULL);
    case_start_others(&s);
    usleep(100000);
    void *record = harness_record(1, &length);
    int64_t start = harness_ms();
    case_send(&s, fd, &(struct message){ WIRE_RECORD, record, length, key(&s), from, spoil });
    case_join_others(&s);
    hang_up(fd);
    free(record);
    others_are_reported(&s, start);
    ok(strstr(s.result.warning,
              "node number 1 of the step sent a message that is forged or modified"),
       "%s: the warning says so", s.name);
}

static const struct hmac_key *own_key(struct attack_case *s)
{
    return &s->session;
}
static const struct hmac_key *step_key(struct attack_case *s)
{
    return &s->step;
}

static const struct hmac_key *changed_key(struct attack_case *s,
                                          void (*change)(struct wire_hello *))
{
    struct client_call call = harness_call(&s->harness, 1, NODES);
    struct wire_hello hello = harness_hello(&call);
    change(&hello);
    s->session = harness_session(&s->step, &hello);
    return &s->session;
}

static void of_node(struct wire_hello *hello)
{
    hello->node = 2;
}
static void of_step(struct wire_hello *hello)
{
    hello->step_id++;
}
static void of_job(struct wire_hello *hello)
{
    hello->job_id++;
}
static void of_call(struct wire_hello *hello)
{
    hello->nonce[0]++;
}
static const struct hmac_key *nodes_key(struct attack_case *s)
{
    return changed_key(s, of_node);
}
static const struct hmac_key *steps_key(struct attack_case *s)
{
    return changed_key(s, of_step);
}
static const struct hmac_key *jobs_key(struct attack_case *s)
{
    return changed_key(s, of_job);
}
static const struct hmac_key *calls_key(struct attack_case *s)
{
    return changed_key(s, of_call);
}

static void other_leader(struct wire_frame *frame, char *body)
{
    (void)frame;
    ((struct wire_record *)body)->leader++;
}

static void cut(struct wire_frame *frame, char *body)
{
    frame->length -= 8;
    memmove(body + frame->length, body + frame->length + 8, WIRE_TAG_SIZE);
}

static void forge(void)
{
    forged_record("that was changed on the way", own_key, 0, other_leader);
    forged_record("whose frame was changed on the way", own_key, 0, cut);
    forged_record("with the step's key only", step_key, 0, NULL);
    forged_record("with another node's key", nodes_key, 0, NULL);
    forged_record("with another step's key", steps_key, 0, NULL);
    forged_record("with another job's key", jobs_key, 0, NULL);
    forged_record("with another connection's key", calls_key, 0, NULL);
    forged_record("with srun's direction", own_key, WIRE_FROM_SRUN, NULL);
}

/* All nodes have sent their records, so the report is complete. */
static void dies_after_its_record(void)
{
    struct attack_case s;
    case_begin_with(&s, "a node dies after its record", be_patient);
    int fd = case_accepted_node(&s, NULL);
    int64_t start = harness_ms();
    case_send_record(&s, fd, 1);
    hang_up(fd);
    case_start_others(&s);
    case_join_others(&s);
    are_reported(&s, NODES, 0, start);
}

/* A node that has not called when srun's time for it is over finds a closed port. */
static void comes_too_late(void)
{
    struct attack_case s;
    case_begin(&s, "a node comes too late");
    int64_t start = harness_ms();
    case_start_others(&s);
    case_join_others(&s);
    are_reported(&s, NODES - 1, 1, start);
    ok(strstr(s.result.warning, "no call from node number 1 of the step in time"),
       "%s: the warning names it", s.name);
    node_thread_start(&s.nodes[1], &s.harness, 1, NODES);
    node_thread_join(&s.nodes[1]);
    ok(s.nodes[1].rc < 0, "%s: it is not answered (%s)", s.name, s.nodes[1].err.text);
}

/* Ranks need not wait for other nodes, so the step may end before all of these have come. */
static void step_ends_early(void)
{
    struct attack_case s;
    case_begin_with(&s, "the step ends before a node has come", be_patient);
    case_start_others(&s);
    case_join_others(&s);
    harness_close(&s.harness, &s.result);
    ok(s.result.counts.records == NODES - 1 && s.result.reports == 1,
       "%s: a report of the others (%u)", s.name, s.result.counts.records);
    ok(s.result.warnings == 1 &&
           strstr(s.result.warning, "node number 1 of the step before the step ended"),
       "%s: one warning (%u: %s)", s.name, s.result.warnings, s.result.warning);
    case_nothing_leaks(&s);

    case_begin_with(&s, "the step ends before a node has decided", be_patient);
    int fd = case_accepted_node(&s, NULL);
    harness_close(&s.harness, &s.result);
    ok(!s.result.reports && !s.result.warnings, "%s: no report, and no warning (%u: %s)", s.name,
       s.result.warnings, s.result.warning);
    hang_up(fd);
    case_nothing_leaks(&s);
}

static void srun_dies(void)
{
    struct attack_case s;
    case_begin_with(&s, "srun is killed", be_patient);
    kill(s.harness.srun, SIGSTOP); /* it answers nobody */
    case_start_others(&s);
    usleep(200000);
    int64_t start = harness_ms();
    kill(s.harness.srun, SIGKILL);
    case_join_others(&s);
    ok(s.nodes[0].rc < 0 && s.nodes[2].rc < 0 && s.nodes[3].rc < 0,
       "srun is killed: the nodes know that it reports nothing");
    ok(harness_ms() - start < LIMIT_MS, "srun is killed: they know after %d ms",
       (int)(harness_ms() - start));
    close(s.harness.to_srun);
    close(s.harness.from_srun);
    waitpid(s.harness.srun, NULL, 0);
    ok(harness_fds() == s.fds && harness_children() == s.children, "srun is killed: nothing leaks");
}

static void misbehave(bool encrypted, const char *munged)
{
    case_auth(encrypted, munged);
    wrong_record("a truncated record", shorter);
    wrong_record("a record too long", longer);
    wrong_record("an oversized record", huge);
    wrong_record("a record for another node", other_node);
    wrong_record("a record with wrong counts", wrong_counts);
    wrong_record("a record with a NIC whose role has no name", unknown_role);
    wrong_record("a record with an endless text", unended);
    wrong_record("a record with control characters", unprintable);
    wrong_record("a node dies in the middle", NULL);
    forge();
    dies_after_its_record();
    comes_too_late();
    step_ends_early();
    srun_dies();
}

/* Calls srun, and then waits to be killed while its child waits for munged. */
static _Noreturn void run_slurmstepd(const struct harness *harness, int ready)
{
    struct client_call call = harness_call(harness, 0, 1);
    struct client node = CLIENT_NONE;
    struct nuioa_error err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (client_call(&node, &call, &err) < 0)
        _exit(1);
    usleep(200000); /* the child has become the user by then */
    if (write(ready, "", 1) == 1)
        pause();
    _exit(1);
}

/* As subreaper this process inherits the child of the killed process, and can see it end. */
static void slurmstepd_dies(const char *socket, pid_t munged)
{
    struct harness harness = { .encrypted = true, .socket = socket, .timeout_ms = 60000 };
    struct srun_result result;
    char byte;
    int ready[2], status = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(munged, SIGSTOP);
    harness_open(&harness);
    if (pipe(ready) < 0)
        return;
    pid_t stepd = fork(), left = 0;
    if (!stepd)
        run_slurmstepd(&harness, ready[1]);
    bool called = read(ready[0], &byte, 1) == 1;
    kill(stepd, SIGKILL);
    waitpid(stepd, NULL, 0);
    for (int i = 0; i < 500 && !left; i++) {
        usleep(10000);
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
            left = pid == harness.srun ? left : pid;
    }
    ok(called && left > 0 && WIFSIGNALED(status), "slurmstepd is killed: its child ends, too");
    kill(munged, SIGCONT);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    harness_close(&harness, &result);
    close(ready[0]);
    close(ready[1]);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    misbehave(false, argv[1]);
    misbehave(true, argv[1]);
    slurmstepd_dies(argv[2], atoi(argv[3]));
    return case_results();
}
