/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_WIRE_H
#define SPANK_REPORT_WIRE_H

#include <stdint.h>

#include "option/option_environment.h"
#include "output/report_table.h"

/* How the nodes of a step tell its srun what they have done, where a report was requested. This
 * comment is the manual of the protocol.
 *
 *     node: a child of slurmstepd, as the user        srun: a child of srun
 *     one sealed record, over TCP             ->      opens, checks, merges it
 *                                             <-      one byte, WIRE_TAKEN
 *
 * Failure. Nobody waits for srun but that child. It prints its own node's report if the byte does
 * not come; srun merges no record whose sender has gone. srun prints its report when all records
 * are there, or when the step ends, and names the nodes that are missing.
 *
 * Address. Nodes take srun's address from Slurm (SLURM_SRUN_COMM_HOST) and its port from the
 * variable WIRE_VARIABLE, "VERSION:PORT", which srun sets when it opens the port. It is no secret.
 *
 * Seal. A record is the content of a MUNGE credential, encrypted, made by the job's user, that only
 * this user can open: whoever runs as him may speak for him, and nobody else can write or read a
 * record. MUNGE refuses a credential that is too old, or was opened before. The seal at the
 * beginning of the record says what it is for, and srun takes one for each node of its own step. On
 * the connection the credential, a text, ends with a NUL, and has WIRE_SEALED_MAX bytes at most.
 *
 * Limits. srun trusts nothing that it receives: every length is limited, every number is checked,
 * and so are strangers at its port (collector.h). Nodes receive one byte.
 *
 * Encoding. Numbers have the machine's byte order: one with another order fails at `version`.
 * Texts end with a NUL. */

#define WIRE_VARIABLE NUIOA_VARIABLE_COLLECTOR

/* Counted up for every change of a struct below, unless only a field that was always 0 gets a
 * meaning. Versions do not understand each other: the node then prints its own report. */
#define WIRE_VERSION 14

#define WIRE_TAKEN '+'
#define WIRE_SEALED_MAX (64u << 10) /* bytes of a credential with its NUL */

#define WIRE_NODES_MAX 65536 /* nodes of a step */
/* Limits of one node: tasks, NUMA nodes, cores, GPUs. */
#define WIRE_TASKS_MAX 4096
#define WIRE_NUMAS_MAX 4096
#define WIRE_CORES_MAX 65536
#define WIRE_GPUS_MAX 4096

struct wire_seal {
    char purpose[16]; /* WIRE_PURPOSE: distinguishes this from the user's other credentials */
    uint32_t version; /* WIRE_VERSION */
    uint32_t job_id, step_id;
    uint32_t node, node_count; /* in the step, over all components of a heterogeneous one */
};

#define WIRE_PURPOSE "nuioa report"

/* Limits of a record: NICs, rows, warnings, and bytes of the text with its NUL. */
#define WIRE_NICS_MAX 32
#define WIRE_ROWS_MAX 64
#define WIRE_WARNINGS_MAX 4
#define WIRE_TEXT_MAX (128u << 10)

#define WIRE_NO_RANK UINT32_MAX /* instead of a rank: there is none */

/* A node's plan: everything that a report says about the node. Without a plan all counts but that
 * of warnings are 0. */
struct wire_record {
    struct wire_seal seal;
    uint32_t leader;                  /* rank of the node's leader; WIRE_NO_RANK: none */
    uint32_t task_count, moved_count; /* ranks on this node; those that were moved */
    uint32_t numa_count, core_count;  /* of the node */
    uint32_t policy;                  /* enum nuioa_policy */
    uint32_t planned;                 /* 1: a plan only, the ranks were not bound */
    uint32_t nic_count, row_count, warning_count;
    uint32_t text_length;                  /* of the text for `explain`, with its NUL; 0: none */
    double cost_before, cost_after, bound; /* J and its lower bound (nuioa(7)); < 0: unknown */
    char host[64];
    char reason[216];   /* why ranks moved or did not move, or why there is no plan */
    uint32_t advice;    /* a bit for each enum nuioa_advice (ranks/reason.h), the first is 1 */
    uint32_t gpu_count; /* GPUs of the node, whether or not the step has them */
    char distances[16]; /* source of the distances, such as "slit" */
    /* Vendor and model of the GPUs, such as "nvidia 10de:2330"; in their order where they are
     * unlike: "4 nvidia 10de:2330, 4 nvidia 10de:20b0"; "": there are none. */
    char gpus[48];
    /* struct wire_nic nics[nic_count]; struct wire_row rows[row_count]; char
     * warnings[warning_count][256]; char text[text_length] */
};

struct wire_nic {
    char label[48];       /* as nuioa_nic_label() writes it, such as "mlx5_0:1" */
    char numas[32];       /* NUMA nodes, as a list such as "0-1"; "": unknown */
    uint32_t state;       /* enum nuioa_nic_state */
    uint32_t kind;        /* enum nuioa_nic_kind */
    uint32_t rate_mbps;   /* 0: unknown */
    uint32_t usable;      /* 0: nuioa does not use it */
    uint32_t role;        /* enum nuioa_nic_role */
    uint32_t role_source; /* enum nuioa_role_source */
    /* The GPUs that it is beside (topology/nic_guess.h), as a list of their numbers in PCI order
     * such as "0-1": its rail, for those who reach the network by the NIC of their GPU; "": none,
     * or unknown. */
    char gpus[24];
    char fabric[24]; /* prefix of its InfiniBand subnet; "": unknown, or another kind of network */
};

/* A row of the table of ranks: struct nuioa_report_row (output/report_table.h), which may change
 * without this one. */
struct wire_row {
    char ranks[64], cpus[64], numas[32], memory[32], nic[48], gpus[32], path[8];
    uint32_t count, level, leads, gpu_level;
    double weight;
};

/* The largest size in bytes of a record. */
#define WIRE_RECORD_MAX \
    (sizeof(struct wire_record) + WIRE_NICS_MAX * sizeof(struct wire_nic) + \
     WIRE_ROWS_MAX * sizeof(struct wire_row) + WIRE_WARNINGS_MAX * 256 + WIRE_TEXT_MAX)

_Static_assert(sizeof(struct wire_seal) == 36 && sizeof(struct wire_record) == 456 &&
                   sizeof(struct wire_nic) == 152 && sizeof(struct wire_row) == 304,
               "structs of the protocol have no padding");

#endif
