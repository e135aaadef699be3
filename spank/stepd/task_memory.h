/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_TASK_MEMORY_H
#define SPANK_STEPD_TASK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/bind.h"

/* Memory shared by slurmstepd and the tasks that it forks. It brings them the plan, which is made
 * only when all tasks exist. slurmstepd writes each task's part, sets its `ready`, writes the
 * rest, and opens the memory, for which the tasks wait. */

/* On a node with more GPUs than this nobody asks which ones a task has. */
#define TASK_GPUS_MAX 256

/* What is known of a task's GPUs. */
enum task_gpus_state {
    TASK_GPUS_OPEN,    /* nothing yet: the task will find out */
    TASK_GPUS_UNKNOWN, /* the task does not know either: it has some of `bits`; if none, of all */
    TASK_GPUS_SHARED, /* it sees `bits`, and other tasks some of them: nobody knows who has which */
    TASK_GPUS_BY_RANK, /* it has `bits` by gpus=local-rank; it sees more, as other tasks do */
    TASK_GPUS_KNOWN    /* it has `bits`; while a task tells: it sees them, and has no others */
};

/* The GPUs of a task. */
struct task_gpu_set {
    uint32_t state;   /* enum task_gpus_state */
    uint32_t by_rank; /* 1 + index of the one of `bits` that gpus=local-rank means; 0: none */
    uint64_t bits[4]; /* TASK_GPUS_MAX bits: indexes into node->gpus */
};

/* What a task tells slurmstepd and the other tasks of itself: a set that is known or unknown. The
 * user can write anything into it, so slurmstepd copies it once and checks the copy. */
struct task_told {
    uint32_t ready; /* the task has written `gpus` */
    struct task_gpu_set gpus;
};

/* The NICs of a GPU, the best one first, as indexes into node->nics. */
struct task_gpu_nics {
    uint32_t count;
    uint32_t nics[15];
};

/* Bytes for the texts of a task; one more byte ends the last one. */
#define TASK_MEMORY_TEXT_MAX ((size_t)33 * 1024 - 1)

struct task_memory_part {
    struct task_told told;
    uint32_t ready;                /* slurmstepd has written the members below */
    struct task_gpu_set gpus;      /* those that the plan was made for */
    struct nuioa_mempolicy memory; /* the memory policy that the task sets */
    uint32_t init_us;              /* microseconds spent in the task's hook; the task writes it */
    uint16_t libraries, automatic, threads; /* offsets in bytes of these blocks in `text` */
    /* Four blocks of "NAME=VALUE" strings, each ended by an empty string: nuioa's own variables;
     * those of other libraries by words of `export`, which do not replace the user's; those of
     * export=auto, which the task looks into first; and those that place threads, which do not
     * replace the user's either. They follow each other without a gap, because pages that are not
     * written need no memory. */
    char text[TASK_MEMORY_TEXT_MAX + 1];
};

struct task_memory {
    uint32_t closed;      /* for task_memory.c only; 0 at first, which is open */
    int64_t until_ms;     /* for task_memory.c only: while it is closed, how long tasks wait */
    uint32_t told;        /* number of tasks that have told their GPUs */
    uint32_t table_ready; /* slurmstepd has written `table` */
    uint32_t connected;   /* as in struct nuioa_usable; with the table */
    uint32_t usable;      /* how many NICs ranks may use; with the table */
    struct task_gpu_nics table[TASK_GPUS_MAX]; /* by GPU, for tasks whose GPUs the plan lacks */
    char gpu_nics[4096]; /* with the table: as NUIOA_GPU_NICS, of all GPUs; "": not known */
    struct task_memory_part tasks[]; /* by local rank */
};

/* In slurmstepd, before it forks: returns the memory for `count` tasks, all zeros and open, which
 * task_memory_free() frees; or NULL if the kernel refuses it. Until it is written it uses address
 * space only. */
struct task_memory *task_memory_new(uint32_t count);

/* Unmaps the memory in this process. `count` is the one given to task_memory_new(). NULL is
 * allowed. */
void task_memory_free(struct task_memory *task_memory, uint32_t count);

/* In slurmstepd, before any task runs: closes the memory. Tasks that call task_memory_wait() wait
 * from now on, and none beyond `until_ms`, a time of nuioa_clock_ms(). */
void task_memory_close(struct task_memory *task_memory, int64_t until_ms);

/* In slurmstepd, when everything is written: opens the memory, and the tasks that wait go on. Any
 * thread may call it. */
void task_memory_open(struct task_memory *task_memory);

/* In a task: writes which GPUs it has, once, into its own part. `local` is its local rank. */
void task_memory_tell(struct task_memory *task_memory, uint32_t local,
                      const struct task_gpu_set *gpus);

/* Returns how many tasks have told their GPUs; any task can have changed it. */
uint32_t task_memory_told(const struct task_memory *task_memory);

/* Waits until task_memory_told() is no longer `seen`, for at most a tenth of a second. Returns
 * false if it still is. */
bool task_memory_await_told(struct task_memory *task_memory, uint32_t seen);

/* In a task: copies what each of `count` tasks sees to sets[count], which the caller allocated:
 * what it has told, or what slurmstepd knows without it. It waits for tasks that have not told yet,
 * for at most `ms` milliseconds and a tenth of a second; then theirs are open. Meanwhile the
 * process has another name, so that Slurm can end it. */
void task_memory_see(struct task_memory *task_memory, uint32_t count, unsigned ms,
                     struct task_gpu_set *sets);

/* In a task: waits until the memory is open, or its time is over, under another name as above.
 * Returns true if it is open. If slurmstepd dies meanwhile, the function kills the calling process
 * by SIGKILL, as Slurm would have ended it. */
bool task_memory_wait(struct task_memory *task_memory);

#endif
