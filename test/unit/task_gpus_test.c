/* SPDX-License-Identifier: BSD-3-Clause */

/* Tests which GPUs tasks are known to have. Files of the kernel's memory stand in for those of
 * GPUs, and processes in cgroups of the test's for tasks. */

#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leak_check.h"
#include "spank/stepd/gpu_access.h"
#include "spank/stepd/task_gpus.h"
#include "task_gpus_case.h"
#include "unit.h"
#include "util/clock.h"

/* --- cgroups ---------------------------------------------------------------------------------- */

#define LIMIT_S 60 /* ends a hang */

static char top[128]; /* "": none can be made here */

static struct bpf_insn instruction(int code, int to, int from, int offset, int value)
{
    return (struct bpf_insn){ (uint8_t)code, (uint8_t)to & 15, (uint8_t)from & 15, (int16_t)offset,
                              value };
}

/* Returns a device program that denies one file, or a negative number. */
static int denial_of(int gpu)
{
    struct bpf_insn code[] = {
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 1),
        instruction(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, 4, 0),
        instruction(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, 3, 1), /* another major number */
        instruction(BPF_LDX | BPF_MEM | BPF_W, BPF_REG_2, BPF_REG_1, 8, 0),
        instruction(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_2, 0, 1, task_gpus_files[gpu].minor),
        instruction(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
        instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
    union bpf_attr load = { .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                            .insn_cnt = sizeof(code) / sizeof(*code),
                            .insns = (uintptr_t)code,
                            .license = (uintptr_t) "GPL" };
    return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load));
}

/* Denies the processes of a cgroup one file. */
static bool deny(const char *group, int gpu)
{
    int fd = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC), program = denial_of(gpu);
    union bpf_attr attach = { .target_fd = (uint32_t)fd,
                              .attach_bpf_fd = (uint32_t)program,
                              .attach_type = BPF_CGROUP_DEVICE,
                              .attach_flags = BPF_F_ALLOW_MULTI };
    bool done =
        fd >= 0 && program >= 0 && !syscall(SYS_bpf, BPF_PROG_ATTACH, &attach, sizeof(attach));
    close(fd);
    close(program);
    return done;
}

static bool put(const char *group, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", group, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return done;
}

static const char *group_of(unsigned task)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s/task_%u", top, task);
    return path;
}

/* Starts a process in the cgroup of a task. */
static void start(unsigned task, unsigned group)
{
    char number[16];
    pids[task] = fork();
    if (pids[task] == 0)
        for (;;)
            pause();
    snprintf(number, sizeof(number), "%d", (int)pids[task]);
    assert_true(put(group_of(group), "cgroup.procs", number));
}

/* The tree of this test's own mount of cgroups, in which programs can deny devices. */
static int make_top(void **state)
{
    (void)state;
    snprintf(top, sizeof(top), "/sys/fs/cgroup/nuioa-test.%d", (int)getpid());
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", "/sys/fs/cgroup", "cgroup2", 0, NULL) < 0 || mkdir(top, 0755) < 0 ||
        !deny(top, 0) || rmdir(top) < 0)
        *top = '\0';
    return 0;
}

static int make_groups(void **state)
{
    (void)state;
    if (!*top)
        return 0;
    assert_int_equal(mkdir(top, 0755), 0);
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(mkdir(group_of(i), 0755), 0);
        start(i, i);
    }
    file_unknown = false;
    *said = '\0';
    return 0;
}

static int remove_groups(void **state)
{
    (void)state;
    if (!*top)
        return 0;
    put(top, "cgroup.freeze", "0");
    end_all();
    for (unsigned i = 0; i < TASKS; i++)
        while (rmdir(group_of(i)) < 0 && errno == EBUSY)
            usleep(1000);
    return rmdir(top);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* No descriptor is left, and of the children that send no signal none. */
static void assert_nothing_left(unsigned descriptors)
{
    assert_int_equal(files_in("/proc/self/fd"), descriptors);
    assert_int_equal(waitpid(-1, NULL, __WCLONE | WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static const char *ask(void)
{
    unsigned descriptors = files_in("/proc/self/fd");
    assert_int_equal(task_gpus_prepare(&context), 0);
    task_gpus_ask(&context);
    assert_nothing_left(descriptors);
    return describe();
}

static void need_cgroups(void)
{
    /* no root, no cgroups of version 2, no programs for devices; or no such call: in valgrind */
    if (!*top || (syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS))
        skip();
    begin();
}

TEST_WITHIN(test_each_task_its_own, make_groups, remove_groups)
{
    need_cgroups();
    deny(group_of(0), 0);
    deny(group_of(0), 2);
    deny(group_of(1), 1);
    for (int gpu = 0; gpu < GPUS; gpu++)
        deny(group_of(2), gpu);
    assert_string_equal(ask(), "1 0,2 -");
    assert_string_equal(said, "");
}

/* Two tasks may have the same GPU. */
TEST_WITHIN(test_a_shared_gpu, make_groups, remove_groups)
{
    need_cgroups();
    for (int task = 0; task < TASKS; task++)
        deny(group_of(task), 0);
    deny(group_of(0), 1);
    deny(group_of(1), 1);
    deny(group_of(2), 2);
    assert_string_equal(ask(), "2 2 1");
}

/* Of several GPUs that two tasks may use only their variables tell whose each is. */
TEST_WITHIN(test_several_of_more_gpus, make_groups, remove_groups)
{
    need_cgroups();
    deny(group_of(0), 0);
    deny(group_of(1), 0);
    deny(group_of(2), 1);
    deny(group_of(2), 2);
    assert_string_equal(ask(), "? ? 0");
    assert_non_null(strstr(said, "unknown whose"));
}

/* Several that nobody else may use are a task's own. */
TEST_WITHIN(test_several_of_one_task, make_groups, remove_groups)
{
    need_cgroups();
    deny(group_of(0), 2);
    deny(group_of(1), 0);
    deny(group_of(1), 1);
    for (int gpu = 0; gpu < 2; gpu++)
        deny(group_of(2), gpu);
    assert_string_equal(ask(), "0,1 2 2");
    assert_string_equal(said, "");
}

/* Tasks that may use all GPUs of the step may divide them by their variables. */
TEST_WITHIN(test_several_shared_gpus, make_groups, remove_groups)
{
    need_cgroups();
    for (int task = 0; task < TASKS; task++)
        deny(group_of(task), 0);
    assert_string_equal(ask(), "? ? ?");
    assert_non_null(strstr(said, "unknown whose"));
}

/* Nobody is denied a GPU of the second vendor: it may be missing in gres.conf. */
TEST_WITHIN(test_a_vendor_without_constraint, make_groups, remove_groups)
{
    need_cgroups();
    facts.node.gpus[2].vendor = NUIOA_GPU_AMD;
    deny(group_of(0), 0);
    deny(group_of(1), 1);
    for (int gpu = 0; gpu < 2; gpu++)
        deny(group_of(2), gpu);
    assert_string_equal(ask(), "? ? ?");
    assert_non_null(strstr(said, "unknown whose"));
}

TEST_WITHIN(test_no_constraint_is_no_knowledge, make_groups, remove_groups)
{
    need_cgroups();
    assert_string_equal(ask(), "? ? ?");
    assert_non_null(strstr(said, "unknown whose"));
}

/* Two tasks in one cgroup are asked once; a third one is elsewhere. */
TEST_WITHIN(test_tasks_in_one_cgroup, make_groups, remove_groups)
{
    need_cgroups();
    end_all();
    deny(group_of(0), 0);
    deny(group_of(0), 1);
    deny(group_of(2), 2);
    start(0, 0);
    start(1, 0);
    start(2, 2);
    deny(group_of(2), 1);
    assert_string_equal(ask(), "2 2 0");
}

TEST(test_steps_without_gpus_are_not_asked)
{
    begin();
    pid_t none[TASKS] = { 0 };
    context.forked.pids = none;
    facts.step.gpus = NUIOA_GPUS_NONE;
    facts.step.sees_gpu = false;
    assert_string_equal(ask(), "- - -");
    facts.step.gpus = NUIOA_GPUS_UNKNOWN; /* nothing says that the step has GPUs */
    assert_int_equal(task_gpus_prepare(&context), 0);
    assert_null(context.gpus);
    assert_string_equal(ask(), "? ? ?");
    facts.node.gpu_count = 0;
    assert_string_equal(ask(), "- - -");
    *said = '\0';
    facts.step.sees_gpu = true; /* Slurm has GPUs of which nobody knows anything here */
    facts.step.gpus = NUIOA_GPUS_ONE;
    assert_string_equal(ask(), "? ? ?");
    facts.node.gpu_count = GPUS;
    facts.node.emulated = true;
    assert_string_equal(ask(), "? ? ?");
    assert_string_equal(said, "");
}

TEST_WITHIN(test_a_file_is_unknown, make_groups, remove_groups)
{
    need_cgroups();
    deny(group_of(0), 0);
    file_unknown = true;
    assert_string_equal(ask(), "? ? ?");
    assert_non_null(strstr(said, "No such device"));
}

TEST_WITHIN(test_a_task_is_gone, make_groups, remove_groups)
{
    need_cgroups();
    deny(group_of(0), 0);
    end_all();
    assert_string_equal(ask(), "? ? ?");
    assert_true(*said);
}

/* The child is born frozen, as in a step that is suspended, and cannot answer. */
TEST_WITHIN(test_a_child_that_stops, make_groups, remove_groups)
{
    need_cgroups();
    deny(group_of(0), 0);
    assert_true(put(top, "cgroup.freeze", "1"));
    facts.options.deadline_ms = 50;
    assert_string_equal(ask(), "? ? ?");
    assert_non_null(strstr(said, "timed out"));
}

static volatile sig_atomic_t unkillable;

/* In the place of the C library's. */
int kill(pid_t pid, int number)
{
    return unkillable ? 0 : (int)syscall(SYS_kill, pid, number);
}

static void end_hang(int number)
{
    (void)number;
    unkillable = 0;
    put(top, "cgroup.freeze", "0");
}

/* No signal ends a child that hangs in the kernel. It is left behind, and slurmstepd goes on. */
TEST_WITHIN(test_a_child_that_hangs, make_groups, remove_groups)
{
    need_cgroups();
    unsigned descriptors = files_in("/proc/self/fd");
    struct sigaction action = { .sa_handler = end_hang }, old;
    deny(group_of(0), 0);
    assert_true(put(top, "cgroup.freeze", "1"));
    facts.options.deadline_ms = 50;
    assert_int_equal(task_gpus_prepare(&context), 0);
    sigaction(SIGALRM, &action, &old);
    unkillable = 1;
    alarm(LIMIT_S);
    task_gpus_ask(&context);
    assert_true(unkillable);
    alarm(0);
    assert_string_equal(describe(), "? ? ?");
    assert_non_null(strstr(said, "timed out"));
    assert_int_equal(waitpid(-1, NULL, __WCLONE | WNOHANG), 0);
    end_hang(SIGALRM);
    assert_true(waitpid(-1, NULL, __WCLONE) > 0);
    sigaction(SIGALRM, &old, NULL);
    assert_nothing_left(descriptors);
}

TEST(test_no_process_can_be_born_there)
{
    uint8_t access[GPUS];
    struct nuioa_gpu_device devices[GPUS] = { 0 };
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    unsigned descriptors = files_in("/proc/self/fd");
    int rc = gpu_access_ask(fd, devices, GPUS, nuioa_clock_ms() + 20000, access);
    assert_nothing_left(descriptors);
    assert_true(rc == -EBADF || rc == -ENOSYS || rc == -EPERM);
    close(fd);
}

ALL_WITHIN(make_top, NULL)
