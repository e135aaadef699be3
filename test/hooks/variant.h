/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_VARIANT_H
#define TEST_HOOKS_VARIANT_H

#include <stdbool.h>

#define NODES_MAX 4
#define TASKS_MAX 4 /* on one node */
#define WORDS_MAX 8

/* What the stand-in for PMIx does. */
enum pmix_answer {
    PMIX_WORKS,
    PMIX_ABSENT,   /* --mpi=none: the library is not there */
    PMIX_SPLITS,   /* it keeps a whole record as it is, so that keys are stored one by one */
    PMIX_NUMBERS,  /* version 5, which numbers keys */
    PMIX_STRANGER, /* it has other ranks than Slurm */
    PMIX_UNKNOWN,  /* it does not know the namespace */
    PMIX_SILENT,   /* it never answers */
    PMIX_FULL,     /* it takes no keys */
};

/* What the kernel says of the GPUs of tasks, on nodes that have one in each NUMA node. */
enum gpus_answer {
    GPUS_ABSENT, /* the nodes have no GPUs */
    GPUS_SHARED, /* every task may use both */
    GPUS_SECOND, /* every task may use the second one only */
    GPUS_KILLED, /* the same, but the process that asks is killed */
    GPUS_STOPPED /* the same, but the process that asks is stopped */
};

/* One kind of launch, and what it must show. */
struct variant {
    const char *name;
    const char *plugstack[WORDS_MAX];   /* arguments in plugstack.conf; cache= is added */
    const char *flags[WORDS_MAX];       /* what the user typed: "nuioa=on", "nuioa-nic=eth7" */
    const char *environment[WORDS_MAX]; /* variables of the user, which srun sees */
    const char *step[WORDS_MAX];        /* variables that Slurm sets for this step */
    unsigned nodes, tasks;              /* tasks on each node; 0: 2 */
    unsigned cpus_per_task;             /* 0: 1 */
    const char *program;                /* argv[0]; NULL: "/bin/app" */
    const char *cores;                  /* S_STEP_ALLOC_CORES; NULL: all */
    enum pmix_answer pmix;
    enum gpus_answer gpus;
    bool batch;         /* a batch step, not an ordinary one */
    bool allocator;     /* the flags are typed for salloc */
    bool slurmd;        /* slurmd starts before */
    bool heterogeneous; /* each node is a component of its own */
    bool contained;     /* Slurm calls hooks in a process that shares slurmstepd's memory */
    bool no_cache;      /* each node looks at its hardware */
    bool no_shim;       /* the library for trace is not installed */
    bool cgroup2;       /* version 2 of cgroups, else version 1 */
    bool outside;       /* the tasks' cgroup is outside of slurmstepd's part of the tree */
    bool few_ports;     /* SrunPortRange is too small */
    bool root;          /* the job is root's; this takes root */
    bool bare_srun;     /* srun has no plugin */
    bool silent_srun;   /* what collects the nodes' records is stopped */
    bool no_tasks;      /* Slurm fails to start the tasks */
    int sender_signal;  /* what sends a node's record gets this signal before tasks are forked */
    bool faults;        /* the test of faults launches it many times */
    unsigned bind;      /* this call of slurmstepd's to read or set CPUs fails, from 1; 0: none */
    /* What it must show. A word that begins with '!' must not be there. */
    const char *says[WORDS_MAX]; /* in the messages and reports of all programs */
    const char *has[WORDS_MAX];  /* in the environment of each task */
    bool moves;                  /* ranks run on other CPUs than Slurm chose */
    const char *leaves;          /* what it may leave behind; NULL: nothing */
    unsigned lines; /* messages to the user that it may have; faults may add one per program */
};

extern const struct variant variants[];
extern const unsigned variant_count;

/* Tasks on each node, and cores of each task. */
unsigned variant_tasks(const struct variant *v);
unsigned variant_width(const struct variant *v);

#endif
