#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack_case.h"

/* A node of the step itself is wrong, or srun dies: no node acts on a table that others do not have, all know
 * soon, and srun says so once. With auth=key and with auth=munge. TAP. Usage:
 * traitor SOCKET SOCKET2 PID2 */

/* Nobody acts, nobody waits, one warning. */
static void nobody_acts(struct scene *s, int64_t since_ms)
{
    int64_t took = stage_ms() - since_ms;
    ok(s->actors[0].rc < 0 && s->actors[2].rc < 0 && s->actors[3].rc < 0, "%s: no node acts on a table", s->name);
    ok(took < 1000, "%s: they know after %d ms", s->name, (int)took);
    ok(stage_finish(&s->stage, &s->ending), "%s: srun goes on", s->name);
    ok(s->ending.warnings == 1 && !s->ending.reports, "%s: one warning (%u: %s)", s->name, s->ending.warnings,
       s->ending.warning);
    scene_nothing_leaks(s);
}

static void wrong_record(const char *name, void (*spoil)(char *record, size_t *length))
{
    struct scene s;
    size_t length;
    scene_begin(&s, name);
    int fd = scene_known_node(&s, NULL);
    scene_start_others(&s);
    usleep(100000);
    char *record = realloc(stage_record(1, &length), WIRE_RECORD_MAX + 16);
    memset(record + length, 0, WIRE_RECORD_MAX + 16 - length);
    int64_t start = stage_ms();
    if (spoil) {
        spoil(record, &length);
        scene_say(&s, fd, &(struct message){ .type = WIRE_RECORD, .bytes = record, .length = length,
                                             .key = &s.session });
    } else {
        hang_up(fd); /* the node has died */
        fd = -1;
    }
    scene_join_others(&s);
    hang_up(fd);
    free(record);
    nobody_acts(&s, start);
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

/* Somebody speaks in a node's connection who has not its session's key, or changes what it says. */
static void forged_record(const char *what, const struct hmac_key *(*key)(struct scene *), enum wire_use from,
                          void (*spoil)(struct wire_frame *, char *))
{
    struct scene s;
    char name[100];
    size_t length;
    snprintf(name, sizeof(name), "a record %s", what);
    scene_begin(&s, name);
    int fd = scene_known_node(&s, NULL);
    scene_start_others(&s);
    usleep(100000);
    void *record = stage_record(1, &length);
    int64_t start = stage_ms();
    scene_say(&s, fd, &(struct message){ WIRE_RECORD, record, length, key(&s), from, spoil });
    scene_join_others(&s);
    hang_up(fd);
    free(record);
    nobody_acts(&s, start);
    ok(strstr(s.ending.warning, "node number 1 of the step is not who speaks for it"), "%s: the warning says so",
       s.name);
}

static const struct hmac_key *own_key(struct scene *s) { return &s->session; }
static const struct hmac_key *step_key(struct scene *s) { return &s->step; }

static const struct hmac_key *changed_key(struct scene *s, void (*change)(struct wire_hello *))
{
    struct gather_call call = stage_call(&s->stage, 1, NODES);
    struct wire_hello hello = stage_hello(&call);
    change(&hello);
    s->session = stage_session(&s->step, &hello);
    return &s->session;
}

static void of_node(struct wire_hello *hello) { hello->node = 2; }
static void of_step(struct wire_hello *hello) { hello->step_id++; }
static void of_job(struct wire_hello *hello) { hello->job_id++; }
static void of_call(struct wire_hello *hello) { hello->fresh[0]++; }
static const struct hmac_key *nodes_key(struct scene *s) { return changed_key(s, of_node); }
static const struct hmac_key *steps_key(struct scene *s) { return changed_key(s, of_step); }
static const struct hmac_key *jobs_key(struct scene *s) { return changed_key(s, of_job); }
static const struct hmac_key *calls_key(struct scene *s) { return changed_key(s, of_call); }

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
    forged_record("of somebody who knows the step's key only", step_key, 0, NULL);
    forged_record("with another node's key", nodes_key, 0, NULL);
    forged_record("with another step's key", steps_key, 0, NULL);
    forged_record("with another job's key", jobs_key, 0, NULL);
    forged_record("with another connection's key", calls_key, 0, NULL);
    forged_record("that is srun's own word, sent back", own_key, WIRE_FROM_SRUN, NULL);
}

/* The test's node has told its record, two others wait with it, and the last has not come. */
static int but_for_the_last(struct scene *s, uint32_t patience_ms)
{
    int fd = scene_known_node(s, NULL);
    scene_tell_record(s, fd, 1, patience_ms);
    actor_start(&s->actors[0], &s->stage, 0, NODES);
    actor_start(&s->actors[2], &s->stage, 2, NODES);
    return fd;
}

static void dies_after_its_record(void)
{
    struct scene s;
    scene_begin(&s, "a node dies after its record");
    int fd = but_for_the_last(&s, 60000);
    usleep(100000);
    int64_t start = stage_ms();
    hang_up(fd);
    actor_join(&s.actors[0]);
    actor_join(&s.actors[2]);
    actor_start(&s.actors[3], &s.stage, 3, NODES);
    actor_join(&s.actors[3]);
    nobody_acts(&s, start);
}

/* The last one comes when the first, which has not said so, waits no longer. */
static void comes_too_late(void)
{
    struct scene s;
    struct wire_frame frame;
    scene_begin(&s, "a node comes too late for another");
    int fd = but_for_the_last(&s, 100);
    usleep(300000);
    int64_t start = stage_ms();
    actor_start(&s.actors[3], &s.stage, 3, NODES);
    scene_join_others(&s);
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_STOP,
       "%s: the one who waits is told so", s.name);
    hang_up(fd);
    nobody_acts(&s, start);
}

/* All had told their records: what the table says is so, and all who live have it. */
static void dies_with_the_table(void)
{
    struct scene s;
    struct wire_frame frame;
    scene_begin(&s, "a node dies with the table in its hands");
    int fd = scene_known_node(&s, NULL);
    scene_tell_record(&s, fd, 1, 60000);
    scene_start_others(&s);
    ok(recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) && frame.type == WIRE_TABLE,
       "%s: the table comes", s.name);
    hang_up(fd);
    scene_join_others(&s);
    ok(s.actors[0].rc == 1 && s.actors[2].rc == 1 && s.actors[3].rc == 1 &&
           !memcmp(s.actors[0].leaders, s.actors[2].leaders, NODES * sizeof(uint32_t)) &&
           !memcmp(s.actors[0].leaders, s.actors[3].leaders, NODES * sizeof(uint32_t)),
       "%s: the others act on the same one", s.name);
    ok(stage_finish(&s.stage, &s.ending) && s.ending.reports == 1 && !s.ending.warnings, "%s: srun reports", s.name);
    scene_nothing_leaks(&s);
}

static void srun_dies(void)
{
    struct scene s;
    scene_begin(&s, "srun is killed");
    for (uint32_t i = 2; i < NODES; i++) /* half of them: the table cannot be there */
        actor_start(&s.actors[i], &s.stage, i, NODES);
    usleep(200000);
    int64_t start = stage_ms();
    kill(s.stage.srun, SIGKILL);
    for (uint32_t i = 2; i < NODES; i++)
        actor_join(&s.actors[i]);
    ok(s.actors[2].rc < 0 && s.actors[3].rc < 0, "srun is killed: no node acts on a table");
    ok(stage_ms() - start < 500, "srun is killed: they know after %d ms", (int)(stage_ms() - start));
    close(s.stage.to_srun);
    close(s.stage.from_srun);
    waitpid(s.stage.srun, NULL, 0);
    ok(stage_fds() == s.fds && stage_children() == s.children, "srun is killed: nothing leaks");
    for (uint32_t i = 2; i < NODES; i++)
        free(s.actors[i].leaders);
}

static void betray(bool sealed, const char *munged)
{
    scene_auth(sealed, munged);
    wrong_record("a truncated record", shorter);
    wrong_record("a record too long", longer);
    wrong_record("an oversized record", huge);
    wrong_record("a record for another node", other_node);
    wrong_record("a record whose counts lie", count_lies);
    wrong_record("a record with an endless text", unended);
    wrong_record("a record with control characters", unprintable);
    wrong_record("a node dies in the middle", NULL);
    forge();
    dies_after_its_record();
    comes_too_late();
    dies_with_the_table();
    srun_dies();
}

/* Calls, and then waits to be killed while its child waits for munged. */
static _Noreturn void be_slurmstepd(const struct stage *stage, int ready)
{
    struct gather_call call = stage_call(stage, 0, 1);
    struct gather_node node = GATHER_NODE_NONE;
    struct nuioa_error err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (gather_call(&node, &call, &err) < 0)
        _exit(1);
    usleep(200000); /* it has become the user by then */
    if (write(ready, "", 1) == 1)
        pause();
    _exit(1);
}

/* It is this process's child when its parent is gone. */
static void slurmstepd_dies(const char *socket, pid_t munged)
{
    struct stage stage = { .sealed = true, .socket = socket, .timeout_ms = 60000 };
    struct ending ending;
    char byte;
    int ready[2], status = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(munged, SIGSTOP);
    stage_open(&stage);
    if (pipe(ready) < 0)
        return;
    pid_t stepd = fork(), left = 0;
    if (!stepd)
        be_slurmstepd(&stage, ready[1]);
    bool called = read(ready[0], &byte, 1) == 1;
    kill(stepd, SIGKILL);
    waitpid(stepd, NULL, 0);
    for (int i = 0; i < 500 && !left; i++) {
        usleep(10000);
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
            left = pid == stage.srun ? left : pid;
    }
    ok(called && left > 0 && WIFSIGNALED(status), "slurmstepd is killed: what sealed for it goes, too");
    kill(munged, SIGCONT);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    stage_close(&stage, &ending);
    close(ready[0]);
    close(ready[1]);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    betray(false, argv[1]);
    betray(true, argv[1]);
    slurmstepd_dies(argv[2], atoi(argv[3]));
    return scene_results();
}
