/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <slurm/spank.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A SPANK plugin for tests: what it is told to, happens to a node's slurmstepd.
 *   async  Slurm says that srun does not listen, as for srun --async; to be loaded before
 *          who shall see it
 *   blind  the kernel does not tell it any more where others may run;
 *           itself and what it starts it does
 *   kill N, stop N
 *           the task with local rank N gets SIGKILL or SIGSTOP from itself in task_init
 *   set NAME VALUE
 *           the variable has this value in each task from task_init on
 *   init_post_opt, user_init, task_post_fork
 *           in this hook, of the last task, it makes the file HOME/held.NODE, and stays there as
 *           long as the file HOME/gate exists; to be loaded before or after whom it holds */

SPANK_PLUGIN(disturb, 1)

#define HOME "/run/cluster/home"
#define NAP_US 10000
#define NAPS_MAX 30000

static void hold(const char *hook, int argc, char **argv)
{
    char host[64] = "", path[128];
    if (argc < 1 || strcmp(argv[0], hook) || access(HOME "/gate", F_OK))
        return;
    gethostname(host, sizeof(host) - 1);
    snprintf(path, sizeof(path), HOME "/held.%s", host);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    for (int i = 0; i < NAPS_MAX && !access(HOME "/gate", F_OK); i++)
        usleep(NAP_US);
}

static int refuse_affinity(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 0, 3),
        /* on little-endian machines */
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    if (spank_remote(spank) == 1 && argc > 0 && !strcmp(argv[0], "async"))
        spank_setenv(spank, "SLURM_SRUN_COMM_PORT", "0", 1);
    if (spank_remote(spank) == 1)
        hold("init_post_opt", argc, argv);
    return 0;
}

int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
    if (spank_remote(spank) != 1 || argc < 1)
        return 0;
    if (!strcmp(argv[0], "blind") && refuse_affinity())
        slurm_error("disturb: no seccomp: %m");
    hold("user_init", argc, argv);
    return 0;
}

int slurm_spank_task_post_fork(spank_t spank, int argc, char **argv)
{
    uint32_t count;
    int local;
    if (spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &count) == ESPANK_SUCCESS &&
        spank_get_item(spank, S_TASK_ID, &local) == ESPANK_SUCCESS && local + 1 == (int)count)
        hold("task_post_fork", argc, argv);
    return 0;
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    int local;
    if (argc == 3 && !strcmp(argv[0], "set"))
        spank_setenv(spank, argv[1], argv[2], 1);
    if (argc < 2 || spank_get_item(spank, S_TASK_ID, &local) != ESPANK_SUCCESS ||
        local != atoi(argv[1]))
        return 0;
    if (!strcmp(argv[0], "kill"))
        raise(SIGKILL);
    else if (!strcmp(argv[0], "stop"))
        raise(SIGSTOP);
    return 0;
}
