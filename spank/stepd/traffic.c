/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plan/rail.h"
#include "spank/common/rendezvous_wanted.h"
#include "spank/rendezvous/counters.h"
#include "spank/stepd/beside.h"
#include "spank/stepd/rendezvous_stepd.h"
#include "topology/nic_counters.h"
#include "topology/nic_port.h"
#include "util/clock.h"
#include "util/subprocess.h"

/* The user and group of the child, who owns nothing. */
#define NOBODY 65534

enum { FIRST, SECOND, READINGS };

/* What the child writes: the counters of one NIC; at the end of a reading, one whose nic is
 * READING_DONE. One write of so few bytes is never cut. */
#define READING_DONE UINT32_MAX
struct reading {
    uint32_t which;     /* FIRST or SECOND */
    uint32_t nic;       /* as in traffic.nics */
    uint32_t open;      /* 1: this NIC has counters */
    uint32_t rate_mbps; /* of the port when it was opened; 0: unknown */
    int64_t time_us;    /* by nuioa_clock_us() */
    struct nuioa_nic_counters counters;
};

struct traffic {
    struct nuioa_subprocess child;
    int wake; /* a socket: each byte in it asks the child for a reading; -1: closed */
    uint32_t nic_count;
    uint32_t nics[WIRE_NICS_MAX]; /* indexes into node->nics */
    struct reading readings[READINGS][WIRE_NICS_MAX];
    bool come[READINGS][WIRE_NICS_MAX]; /* the reading of the NIC is there */
    bool done[READINGS];                /* the whole reading is there */
    int64_t done_us[READINGS];
    int64_t asked_ms;              /* when the child was asked for the present reading */
    int64_t until_ms;              /* when waiting for the present reading ends */
    uint32_t job, step;            /* Slurm's numbers */
    uint32_t ended;                /* tasks of this node that have ended */
    bool others;                   /* others may use the node */
    double farthest;               /* as in struct wire_counters */
    double planned[WIRE_NICS_MAX]; /* as in struct wire_counter */
};

/* --- the child --- */

static void give_up_privileges(void)
{
    if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
                           setresuid(NOBODY, NOBODY, NOBODY) < 0))
        _exit(1);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    /* The kernel has forgotten it with the change of user: it shall not outlive slurmstepd. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* The child must not keep what is open for others to read or write. */
static void leave_standard_files(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
}

struct child_work {
    const struct stepd_context *context;
    int wake; /* the end that is read */
};

static void read_all(int fd, const struct traffic *t, const struct nuioa_nic_counter_files *files,
                     const uint32_t *rates, uint32_t which)
{
    struct reading reading = { .which = which };
    for (uint32_t i = 0; i < t->nic_count; i++) {
        reading.nic = i;
        reading.open = files[i].fd[0] >= 0;
        reading.rate_mbps = rates[i];
        nuioa_nic_counters_read(&files[i], &reading.counters);
        reading.time_us = nuioa_clock_us();
        nuioa_subprocess_write(fd, &reading, sizeof(reading));
    }
    reading.nic = READING_DONE;
    nuioa_subprocess_write(fd, &reading, sizeof(reading));
}

/* It allocates nothing: a thread may have held the lock of malloc when this process was made. */
static void serve(int fd, void *arg)
{
    const struct child_work *work = arg;
    const struct traffic *t = work->context->traffic;
    struct nuioa_nic_counter_files files[WIRE_NICS_MAX];
    uint32_t rates[WIRE_NICS_MAX];
    struct nuioa_sysfs sysfs;
    give_up_privileges();
    leave_standard_files();
    nuioa_sysfs_open(&sysfs, "");
    for (uint32_t i = 0; i < t->nic_count; i++) {
        struct nuioa_nic nic = work->context->node.nics[t->nics[i]];
        nuioa_nic_counters_open(&sysfs, &nic, &files[i]);
        nuioa_nic_read_port(&sysfs, &nic);
        rates[i] = nic.rate_mbps;
    }
    nuioa_sysfs_close(&sysfs);
    for (uint32_t which = FIRST; which < READINGS; which++) {
        char byte;
        ssize_t got;
        while ((got = read(work->wake, &byte, 1)) < 0 && errno == EINTR)
            ;
        if (got <= 0)
            return;
        read_all(fd, t, files, rates, which);
    }
}

/* --- in slurmstepd --- */

static bool is_counted(const struct nuioa_nic *nic)
{
    return !nic->is_virtual || nic->usable;
}

static void start_child(struct stepd_context *c, struct traffic *t)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    struct child_work work = { c, ends[0] };
    if (nuioa_subprocess_start_unseen(&t->child, serve, &work, ends[0]) < 0)
        close(ends[1]);
    else
        t->wake = ends[1];
    close(ends[0]);
    /* The child has little to do, and others wait for it: on a busy machine it goes first. */
    if (t->wake >= 0)
        setpriority(PRIO_PROCESS, (id_t)t->child.pid, -20);
}

void traffic_open(struct stepd_context *c, spank_t spank)
{
    struct traffic *t = rendezvous_counts(&c->options) ? calloc(1, sizeof(*t)) : NULL;
    if (!t)
        return;
    t->wake = -1;
    t->farthest = -1;
    spank_get_item(spank, S_JOB_ID, &t->job);
    spank_get_item(spank, S_JOB_STEPID, &t->step);
    t->child = (struct nuioa_subprocess)NUIOA_SUBPROCESS_NONE;
    for (uint32_t i = 0; i < c->node.nic_count && t->nic_count < WIRE_NICS_MAX; i++)
        if (is_counted(&c->node.nics[i]))
            t->nics[t->nic_count++] = i;
    c->traffic = t;
    if (t->nic_count)
        start_child(c, t);
    if (t->wake >= 0)
        return;
    free(t);
    c->traffic = NULL;
}

/* Asks the child for a reading, and does not wait. */
static void ask(struct traffic *t)
{
    ssize_t done;
    t->asked_ms = nuioa_clock_ms();
    t->until_ms = t->asked_ms + TRAFFIC_WAIT_MS;
    do
        done = send(t->wake, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT); /* the child may have died */
    while (done < 0 && errno == EINTR);
}

void traffic_begin(struct stepd_context *c)
{
    if (c->traffic)
        ask(c->traffic);
}

static void take(struct traffic *t, const struct reading *reading)
{
    if (reading->which >= READINGS)
        return;
    if (reading->nic == READING_DONE) {
        t->done[reading->which] = true;
        t->done_us[reading->which] = reading->time_us;
    } else if (reading->nic < t->nic_count) {
        t->readings[reading->which][reading->nic] = *reading;
        t->come[reading->which][reading->nic] = true;
    }
}

/* Takes what the child has written, until its reading is complete or the time is over. A child
 * that is slow, because the machine is, goes on: each NIC that it has read gives it time for the
 * next. */
static void await_reading(struct traffic *t, int which)
{
    struct pollfd wait = { .fd = t->child.fd, .events = POLLIN };
    while (!t->done[which]) {
        struct reading reading;
        int64_t left = t->until_ms - nuioa_clock_ms();
        int ready = poll(&wait, 1, left > 0 ? (int)left : 0);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || read(t->child.fd, &reading, sizeof(reading)) != sizeof(reading))
            return;
        take(t, &reading);
        t->until_ms = nuioa_clock_ms() + TRAFFIC_WAIT_MS;
        if (t->until_ms > t->asked_ms + TRAFFIC_MAX_MS)
            t->until_ms = t->asked_ms + TRAFFIC_MAX_MS;
    }
}

void traffic_await(struct stepd_context *c)
{
    if (c->traffic)
        await_reading(c->traffic, FIRST);
}

/* --- the plan --- */

static double rate_of(const struct stepd_context *c, const struct nuioa_assignment *a, uint32_t i,
                      bool by_rate)
{
    return by_rate ? c->node.nics[a->nics[i]].rate_mbps : 1;
}

/* Adds what one rank is meant to send by its NICs: by each in proportion to its rate. */
static void add_rank(const struct stepd_context *c, const struct nuioa_assignment *a, double part,
                     struct traffic *t)
{
    double sum = 0;
    bool by_rate = true;
    for (uint32_t i = 0; i < a->nic_count; i++)
        by_rate = by_rate && c->node.nics[a->nics[i]].rate_mbps;
    for (uint32_t i = 0; i < a->nic_count; i++)
        sum += rate_of(c, a, i, by_rate);
    for (uint32_t i = 0; i < a->nic_count; i++)
        for (uint32_t k = 0; k < t->nic_count; k++)
            if (t->nics[k] == a->nics[i])
                t->planned[k] += part * rate_of(c, a, i, by_rate) / sum;
}

static double farthest_of(const struct stepd_context *c, const struct nuioa_plan *plan)
{
    double most = 0;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        uint32_t level = plan->assignments[i].level;
        if (level == NUIOA_NO_LEVEL)
            return -1;
        double cost = nuioa_nic_cost(&c->options, level) - 1;
        most = cost > most ? cost : most;
    }
    return most;
}

/* The step is surely alone on the node if its job has all CPUs that can be used there, and no other
 * step runs there. */
static bool has_others(const struct stepd_context *c)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    bool whole = cpus && !step_job_cpus(&c->step, &c->node, cpus) &&
                 hwloc_bitmap_isincluded(c->node.allowed_cpus, cpus);
    hwloc_bitmap_free(cpus);
    return !whole || beside_is_any(c->traffic->job, c->traffic->step);
}

void traffic_plan(struct stepd_context *c, const struct placement *p)
{
    struct traffic *t = c->traffic;
    const struct nuioa_plan *plan = &p->plan;
    double weight = 0;
    if (!t)
        return;
    for (uint32_t i = 0; i < plan->task_count; i++)
        weight += plan->assignments[i].weight;
    for (uint32_t i = 0; i < plan->task_count; i++)
        add_rank(c, &plan->assignments[i],
                 weight > 0 ? plan->assignments[i].weight / weight : 1.0 / plan->task_count, t);
    t->farthest = farthest_of(c, plan);
    t->others = has_others(c);
}

/* --- the end --- */

static enum wire_unknown judge(const struct traffic *t, uint32_t i,
                               const struct nuioa_nic_counters *carried)
{
    const struct reading *first = &t->readings[FIRST][i], *second = &t->readings[SECOND][i];
    if (!t->come[FIRST][i] || !t->come[SECOND][i])
        return WIRE_LATE;
    if (!first->open || first->counters.received == NUIOA_NO_COUNTER ||
        first->counters.sent == NUIOA_NO_COUNTER)
        return WIRE_NO_SOURCE;
    if (second->counters.received == NUIOA_NO_COUNTER || second->counters.sent == NUIOA_NO_COUNTER)
        return WIRE_GONE;
    if (carried->received == NUIOA_NO_COUNTER || carried->sent == NUIOA_NO_COUNTER)
        return WIRE_FELL;
    return WIRE_KNOWN;
}

/* Fills the entry of a NIC. Returns false if there is nothing to say of it. */
static bool put_nic(const struct stepd_context *c, const struct traffic *t, uint32_t i,
                    struct wire_counter *to)
{
    const struct nuioa_nic *nic = &c->node.nics[t->nics[i]];
    struct nuioa_nic_counters carried;
    nuioa_nic_counters_between(&t->readings[FIRST][i].counters, &t->readings[SECOND][i].counters,
                               &carried);
    *to = (struct wire_counter){
        .kind = (uint32_t)nic->kind,
        .rate_mbps =
            t->readings[FIRST][i].rate_mbps ? t->readings[FIRST][i].rate_mbps : nic->rate_mbps,
        .planned = t->planned[i] < 1 ? t->planned[i] : 1,
        .unknown = (uint32_t)judge(t, i, &carried),
        .received_packets = NUIOA_NO_COUNTER,
        .sent_packets = NUIOA_NO_COUNTER,
    };
    nuioa_nic_label(nic, to->label, sizeof(to->label));
    if (to->unknown)
        return to->planned > 0 || to->unknown != WIRE_NO_SOURCE;
    to->received = carried.received;
    to->sent = carried.sent;
    to->received_packets = carried.received_packets;
    to->sent_packets = carried.sent_packets;
    return to->planned > 0 || to->received || to->sent;
}

static void send_counters(struct stepd_context *c, struct traffic *t)
{
    struct counters counters = {
        .head = { .node = rendezvous_stepd_position(c),
                  .others = t->others || beside_is_any(t->job, t->step),
                  .farthest = t->farthest },
    };
    if (t->done[FIRST] && t->done[SECOND])
        counters.head.time_ms = (uint32_t)((t->done_us[SECOND] - t->done_us[FIRST]) / 1000);
    for (uint32_t i = 0; i < t->nic_count; i++)
        if (put_nic(c, t, i, &counters.nics[counters.head.nic_count]))
            counters.head.nic_count++;
    rendezvous_stepd_send_counters(c, &counters, counters_length(&counters));
}

void traffic_task_ended(struct stepd_context *c)
{
    struct traffic *t = c->traffic;
    if (!t || ++t->ended != c->step.task_count || !rendezvous_stepd_expects_counters(c))
        return;
    ask(t);
    await_reading(t, SECOND);
    send_counters(c, t);
}

void traffic_close(struct stepd_context *c)
{
    struct traffic *t = c->traffic;
    if (!t)
        return;
    close(t->wake);
    nuioa_subprocess_end(&t->child);
    free(t);
    c->traffic = NULL;
}
