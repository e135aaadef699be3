/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_RANKS_REASON_H
#define NUIOA_RANKS_REASON_H

/* Why the ranks of a plan moved or did not move: one sentence for each situation. doc/report.md
 * lists them, and test/unit/reason_test.c makes a plan for each. */
enum nuioa_reason {
    NUIOA_REASON_NONE, /* nothing stands in the way, or nothing is decided yet */
    NUIOA_REASON_OFF,
    NUIOA_REASON_EXPORT,
    NUIOA_REASON_CPU_BIND,
    NUIOA_REASON_CPU_BIND_OUTER,
    NUIOA_REASON_MEM_BIND,
    NUIOA_REASON_MEM_BIND_OUTER,
    NUIOA_REASON_GPUS,
    NUIOA_REASON_GPUS_KEEP,
    NUIOA_REASON_GPUS_UNKNOWN,
    NUIOA_REASON_GPUS_SHARED,
    NUIOA_REASON_GPUS_NO_NUMA,
    NUIOA_REASON_NO_NIC,
    NUIOA_REASON_NIC_DOWN,
    NUIOA_REASON_NO_NUMA,
    NUIOA_REASON_NUMA_CUT,
    /* Masks that Slurm made are exchanged. */
    NUIOA_REASON_NO_BETTER,
    NUIOA_REASON_NO_BETTER_NO_FREE,
    NUIOA_REASON_RAILS,
    NUIOA_REASON_TRAFFIC,
    NUIOA_REASON_TRAFFIC_RAILS,
    NUIOA_REASON_NEIGHBOURS,
    NUIOA_REASON_HEAVIER,
    NUIOA_REASON_HEAVIER_RAILS,
    NUIOA_REASON_BLOCK_MOVED,
    NUIOA_REASON_BLOCK_NEAREST,
    NUIOA_REASON_BLOCK_SPREAD,
    NUIOA_REASON_BLOCK_SPREAD_EQUAL,
    NUIOA_REASON_BLOCK_SEPARATES,
    NUIOA_REASON_BLOCK_HINT,
    NUIOA_REASON_BLOCK_NO_FREE,
    NUIOA_REASON_BLOCK_NO_ROOM,
    NUIOA_REASON_EVEN,
    /* Free cores of the step would help, but may not be used. */
    NUIOA_REASON_FREE_NOT_ASKED,
    NUIOA_REASON_FREE_BOUND,
    NUIOA_REASON_FREE_GPUS,
    NUIOA_REASON_FREE_UNCONFINED,
    NUIOA_REASON_FREE_OVERLAP,
    NUIOA_REASON_FREE_KEEP,
    /* One rank is alone on its node. */
    NUIOA_REASON_ALONE_MOVED,
    NUIOA_REASON_ALONE_NEAREST,
    NUIOA_REASON_ALONE_NO_FREE,
    NUIOA_REASON_ALONE_COSTS,
    NUIOA_REASON_ALONE_ALL,
    NUIOA_REASON_ALONE_WIDE,
    NUIOA_REASON_ALONE_NOT_ASKED,
    NUIOA_REASON_ALONE_TYPED,
    NUIOA_REASON_ALONE_OVERLAP,
    /* Ranks share a mask. */
    NUIOA_REASON_SHARE,
    NUIOA_REASON_SHARE_HEAVIER,
    NUIOA_REASON_SHARE_TRAFFIC,
    NUIOA_REASON_SHARE_NEAREST,
    NUIOA_REASON_SHARE_FAR,
    NUIOA_REASON_SHARE_COSTS,
    NUIOA_REASON_SHARE_CROWDED,
    NUIOA_REASON_SHARE_TYPED,
    NUIOA_REASON_SHARE_UNEQUAL,
    NUIOA_REASON_SHARE_OVERLAP,
    NUIOA_REASON_SHARE_UNCONFINED,
    NUIOA_REASON_SHARE_NOT_ASKED,
    /* CPUs follow GPUs. */
    NUIOA_REASON_FOLLOW,
    NUIOA_REASON_FOLLOW_FREE,
    NUIOA_REASON_FOLLOW_NEAREST,
    NUIOA_REASON_FOLLOW_FAR,
    NUIOA_REASON_FOLLOW_NO_FREE,
    NUIOA_REASON_FOLLOW_SHARE,
    NUIOA_REASON_FOLLOW_SHARE_FAR,
    NUIOA_REASON_FOLLOW_SHARE_TAKES,
    NUIOA_REASON_FOLLOW_ALONE,
    NUIOA_REASON_FOLLOW_COSTS,
    /* cores=pack */
    NUIOA_REASON_PACK,
    NUIOA_REASON_PACK_NEAREST,
    NUIOA_REASON_PACK_COSTS,
    /* Only the caller knows these (request.stay): slurmstepd, and then nuioa exec. */
    NUIOA_REASON_GPUS_LATE,
    NUIOA_REASON_GPUS_NO_THREAD,
    NUIOA_REASON_EXEC_PLACED,
    NUIOA_REASON_EXEC_BOUND,
    NUIOA_REASON_EXEC_MEMORY,
    NUIOA_REASON_EXEC_DIVIDED,
    NUIOA_REASON_EXEC_QUOTA,
    NUIOA_REASON_EXEC_GPUS,
    NUIOA_REASON_EXEC_NOT_SET,
    NUIOA_REASON_EXEC_NIC_DOWN,
    NUIOA_REASON_BIND_FAILED, /* the kernel has refused to bind a rank */
    NUIOA_REASON_COUNT
};

/* Each of these names an option for a user who knows more of the program than a plan can. */
enum nuioa_advice {
    NUIOA_ADVICE_MEMORY,         /* ranks span NUMA nodes; one core each, if they have one thread */
    NUIOA_ADVICE_THREADS,        /* -c was typed; threads=on would bind threads */
    NUIOA_ADVICE_THREADS_NEED_C, /* threads=on, and nobody typed -c */
    NUIOA_ADVICE_GPUS,           /* as many ranks as GPUs see all of them; gpus=local-rank */
    NUIOA_ADVICE_GPUS_ORDER,     /* gpus=local-rank, and the numbers of GPUs are unknown */
    NUIOA_ADVICE_NO_OWN_NIC,     /* a rank alone spans the NUMA nodes of all NICs; rails=N */
    NUIOA_ADVICE_GPUS_FAR,       /* ranks are far from their GPUs; a job with cores beside these */
    NUIOA_ADVICE_CONNECTED,      /* subnets of NICs cannot be told apart; rails=connected */
    NUIOA_ADVICE_ROLES,          /* some NIC is doubted; nic_role */
    NUIOA_ADVICE_COUNT
};

/* Returns the sentence for it, a constant text with less than 256 bytes. */
const char *nuioa_advice_text(enum nuioa_advice advice);

/* Returns the sentence, a constant text: what was done, why, and, where nothing could be done, what
 * to type. "" for NUIOA_REASON_NONE. */
const char *nuioa_reason_text(enum nuioa_reason reason);

#endif
