/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/task_gpus.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/stepd/cgroup.h"
#include "spank/stepd/gpu_access.h"
#include "spank/stepd/gpu_share.h"
#include "util/clock.h"
#include "util/subprocess.h"

/* The cgroups of the tasks, each of which is asked once. */
struct inquiry {
    const struct nuioa_gpu_device *devices;
    uint32_t gpu_count;
    int64_t until_ms;
    uint8_t *answer;                    /* [gpu_count], shared with the children: enum gpu_access */
    uint32_t denied[NUIOA_GPU_VENDORS]; /* how many answers deny a GPU of this vendor */
    dev_t device;                       /* of the cgroup that was asked last */
    ino_t group;
    bool asked; /* `device`, `group` and `answer` are set */
};

/* Asks the cgroup of one task, unless the task before it was in the same one: answer[] is that of
 * the task. 0 or -errno. */
static int ask_task(struct inquiry *q, pid_t pid)
{
    struct stat info;
    int group = cgroup_open(pid), rc = 0;
    if (group < 0)
        return group;
    if (fstat(group, &info) < 0)
        rc = -errno;
    else if (!q->asked || info.st_dev != q->device || info.st_ino != q->group) {
        rc = gpu_access_ask(group, q->devices, q->gpu_count, q->until_ms, q->answer);
        q->device = info.st_dev;
        q->group = info.st_ino;
        q->asked = true;
    }
    close(group);
    return rc;
}

/* Writes the GPUs that the answer grants. Returns -ENODEV if it leaves one unknown, else 0. */
static int take(const struct nuioa_node *node, struct inquiry *q, struct task_gpu_set *set)
{
    *set = (struct task_gpu_set){ .state = TASK_GPUS_KNOWN };
    for (uint32_t i = 0; i < q->gpu_count; i++)
        if (q->answer[i] == GPU_ACCESS_GRANTED)
            set->bits[i / 64] |= UINT64_C(1) << i % 64;
        else if (q->answer[i] == GPU_ACCESS_DENIED)
            q->denied[node->gpus[i].vendor]++;
        else
            return -ENODEV;
    return 0;
}

/* Returns true if the GPUs of each vendor are constrained. Those that nobody is denied may be
 * missing in gres.conf, or be named there by other files. */
static bool are_constrained(const struct nuioa_node *node, const struct inquiry *q)
{
    for (uint32_t i = 0; i < node->gpu_count; i++)
        if (!q->denied[node->gpus[i].vendor])
            return false;
    return true;
}

/* Sets those GPUs that are a task's own. Others that a task may use stay open, because its
 * variables may divide them (--gres-flags=allow-task-sharing). */
static void keep_own(struct step_run *c)
{
    struct gpu_share share = gpu_share_find(c->gpus, c->facts->step.task_count);
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        if (!gpu_share_is_own(&share, &c->gpus[i]))
            c->gpus[i] = (struct task_gpu_set){ .state = TASK_GPUS_OPEN };
}

static int ask_all(struct step_run *c, struct inquiry *q)
{
    for (uint32_t i = 0; i < c->facts->step.task_count; i++) {
        int rc = ask_task(q, c->forked.pids[i]);
        if (!rc)
            rc = take(&c->facts->node, q, &c->gpus[i]);
        if (rc < 0)
            return rc;
    }
    if (!are_constrained(&c->facts->node, q))
        return -ENODATA;
    keep_own(c);
    return 0;
}

static void write_devices(int fd, void *arg)
{
    const struct nuioa_node *node = arg;
    struct nuioa_gpu_device *devices = calloc(node->gpu_count, sizeof(*devices));
    if (devices && nuioa_gpu_devices_read(node, "", devices) == node->gpu_count)
        nuioa_subprocess_write(fd, devices, node->gpu_count * sizeof(*devices));
    free(devices);
}

/* Reads the device files of all GPUs, in a child, because a driver that does not answer would hold
 * the launch. The caller frees *devices. */
static int read_devices(struct step_run *c, struct nuioa_gpu_device **devices)
{
    size_t size = c->facts->node.gpu_count * sizeof(**devices), length = 0;
    void *bytes = NULL;
    int rc = nuioa_subprocess_run(write_devices, (void *)&c->facts->node,
                                  c->facts->options.deadline_ms, size, &bytes, &length);
    *devices = bytes;
    return rc < 0 || length == size ? rc : -ENODEV;
}

static int ask(struct step_run *c)
{
    struct inquiry q = { .gpu_count = c->facts->node.gpu_count,
                         .until_ms = nuioa_clock_ms() + c->facts->options.deadline_ms };
    struct nuioa_gpu_device *devices = NULL;
    int rc = read_devices(c, &devices);
    if (!rc) {
        q.devices = devices;
        q.answer =
            mmap(NULL, q.gpu_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        rc = q.answer == MAP_FAILED ? -ENOMEM : ask_all(c, &q);
        if (q.answer != MAP_FAILED)
            munmap(q.answer, q.gpu_count);
    }
    free(devices);
    return rc;
}

static void forget(struct step_run *c)
{
    memset(c->gpus, 0, c->facts->step.task_count * sizeof(*c->gpus));
}

int task_gpus_prepare(struct step_run *c)
{
    if (!c->facts->step.sees_gpu || !c->facts->node.gpu_count ||
        c->facts->node.gpu_count > TASK_GPUS_MAX)
        return 0;
    c->gpus = calloc(c->facts->step.task_count, sizeof(*c->gpus));
    return c->gpus ? 0 : -ENOMEM;
}

void task_gpus_free(struct step_run *c)
{
    free(c->gpus);
    c->gpus = NULL;
}

bool task_gpus_are_possible(const struct step_run *c, enum nuioa_gpus given)
{
    return given > NUIOA_GPUS_NONE ||
           (given == NUIOA_GPUS_UNKNOWN && (c->facts->step.sees_gpu || c->facts->node.gpu_count));
}

void task_gpus_ask(struct step_run *c)
{
    if (!c->gpus || c->facts->node.emulated)
        return;
    int rc = ask(c);
    if (rc < 0)
        forget(c);
    else if (!task_gpus_known(c))
        rc = -ENODATA;
    if (rc < 0)
        slurm_debug("nuioa: the cgroups do not show the GPUs of each task: %s",
                    rc == -ENODATA ? "it is unknown whose each GPU is" : strerror(-rc));
}

/* --- tasks that tell -------------------------------------------------------------------------- */

/* Returns false if the task has ended, and does not take its status from Slurm. */
static bool lives(pid_t pid)
{
    siginfo_t info = { 0 };
    return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

static bool all_live(const struct step_run *c)
{
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        if (!lives(c->forked.pids[i]))
            return false;
    return true;
}

static bool has_told(const struct step_run *c, uint32_t local)
{
    return __atomic_load_n(&c->task_memory->tasks[local].told.ready, __ATOMIC_ACQUIRE);
}

static bool all_told(const struct step_run *c)
{
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        if (!has_told(c, i))
            return false;
    return true;
}

/* Copies what a task has told. What makes no sense is unknown. The task can change it meanwhile, so
 * each word is read once (volatile): compilers may read what memcpy() has copied again. */
static void hear(struct step_run *c, uint32_t local)
{
    const volatile struct task_gpu_set *told = &c->task_memory->tasks[local].told.gpus;
    struct task_gpu_set set = { .state = told->state, .by_rank = told->by_rank };
    for (unsigned k = 0; k < sizeof(set.bits) / sizeof(*set.bits); k++)
        set.bits[k] = told->bits[k];
    bool sound = set.state == TASK_GPUS_KNOWN || set.state == TASK_GPUS_UNKNOWN;
    for (uint32_t i = c->facts->node.gpu_count; i < TASK_GPUS_MAX; i++)
        sound = sound && !(set.bits[i / 64] >> i % 64 & 1);
    if (set.by_rank > c->facts->node.gpu_count)
        set.by_rank = 0;
    c->gpus[local] = sound ? set : (struct task_gpu_set){ .state = TASK_GPUS_UNKNOWN };
}

/* A task has told what it sees, and may not have it. */
static void take_back_shared(struct step_run *c)
{
    struct gpu_share share = gpu_share_find(c->gpus, c->facts->step.task_count);
    for (uint32_t i = 0; i < c->facts->step.task_count; i++) {
        struct task_gpu_set *set = &c->gpus[i];
        if (set->state == TASK_GPUS_KNOWN && !gpu_share_is_own(&share, set))
            set->state = TASK_GPUS_SHARED;
        if (set->state == TASK_GPUS_SHARED || set->state == TASK_GPUS_UNKNOWN)
            gpu_share_take_by_rank(set);
    }
}

/* Waits as task_gpus_await() says. */
static bool await(const struct step_run *c)
{
    int64_t until_ms = nuioa_clock_ms() + c->facts->options.deadline_ms;
    for (;;) {
        uint32_t seen = task_memory_told(c->task_memory);
        if (all_told(c))
            return all_live(c);
        if (nuioa_clock_ms() >= until_ms ||
            (!task_memory_await_told(c->task_memory, seen) && !all_live(c)))
            return false;
    }
}

bool task_gpus_await(struct step_run *c)
{
    bool all = await(c);
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        if (c->gpus[i].state == TASK_GPUS_OPEN && has_told(c, i))
            hear(c, i);
    take_back_shared(c);
    return all;
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Returns true if the GPUs of a task are known. A step without GPUs is known to have none. */
static bool is_known(const struct step_run *c, uint32_t local)
{
    if (c->gpus)
        return c->gpus[local].state >= TASK_GPUS_BY_RANK;
    return c->facts->step.gpus == NUIOA_GPUS_NONE ||
           (!c->facts->node.gpu_count && !c->facts->step.sees_gpu);
}

bool task_gpus_known(const struct step_run *c)
{
    for (uint32_t i = 0; i < c->facts->step.task_count; i++)
        if (!is_known(c, i))
            return false;
    return true;
}

bool task_gpus_open(const struct step_run *c, uint32_t local)
{
    return c->gpus && c->gpus[local].state == TASK_GPUS_OPEN;
}

struct task_gpus_counts task_gpus_count(const struct step_run *c)
{
    struct task_gpus_counts counts = { 0 };
    for (uint32_t i = 0; i < c->facts->step.task_count; i++) {
        counts.lost += !is_known(c, i) && !task_gpus_open(c, i);
        counts.shared += c->gpus && c->gpus[i].state == TASK_GPUS_SHARED;
        counts.by_rank += c->gpus && c->gpus[i].state == TASK_GPUS_BY_RANK;
    }
    return counts;
}

/* Lists the GPUs of a set, as indexes into node->gpus: indexes[gpu_count]. Returns their number. */
static uint32_t list(const struct step_run *c, const struct task_gpu_set *set, uint32_t *indexes)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < c->facts->node.gpu_count; g++)
        if (set->bits[g / 64] >> g % 64 & 1)
            indexes[count++] = g;
    return count;
}

void task_gpus_list(const struct step_run *c, struct nuioa_task *tasks, uint32_t *indexes)
{
    for (uint32_t i = 0; i < c->facts->step.task_count; i++) {
        uint32_t *of_task = indexes + (size_t)i * c->facts->node.gpu_count;
        uint32_t count = c->gpus ? list(c, &c->gpus[i], of_task) : 0;
        tasks[i].gpus_known = is_known(c, i);
        tasks[i].gpus_shared = c->gpus && c->gpus[i].state == TASK_GPUS_SHARED;
        tasks[i].gpus = tasks[i].seen = of_task;
        tasks[i].gpu_count = tasks[i].gpus_known ? count : 0;
        tasks[i].seen_count = tasks[i].gpus_known ? 0 : count;
    }
}
