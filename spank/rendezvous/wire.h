/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_WIRE_H
#define SPANK_RENDEZVOUS_WIRE_H

#include <stdint.h>

/* The rendezvous of a step's nodes with their srun, over TCP. This is the manual of what travels.
 *
 *     node (slurmstepd)                            srun (the user)
 *     HELLO, or SEALED                 ->          checked
 *                                      <-          WELCOME, with the node's slice if asked for
 *     RECORD: what was decided here    ->          kept for the report, until all nodes' are there
 *                                      <-          TABLE: the leaders of all nodes
 *
 * A node's leader is known by its RECORD, or before anything is decided, where nothing can change
 * it: then it is promised in HELLO. TABLE goes out as soon as all leaders are known, which may be
 * before any RECORD; who has promised acts on it even if it has to stand down. Records follow all
 * the same, but for a node that has its TABLE and nothing to say: no report is wanted, nothing was
 * wrong. It hangs up.
 *
 * STOP instead of TABLE, or a connection that ends, means: there is no table. A node waits for so
 * long and says in its record for how long; srun sends no TABLE when the time of any node is over.
 * One may be lost on its way all the same, as would be any message that came after it to confirm
 * it, so readers of the table agree on its digest before they act on it together.
 *
 * Where srun is: the address that Slurm gives (SLURM_SRUN_COMM_HOST) and the port in WIRE_VARIABLE,
 * which srun puts into the job's environment when it opens that port. It is
 * "VERSION:AUTH:PORT:KEY": the version of this protocol; "key" or "munge"; and 64 hexadecimal
 * digits, the step's key K, made for this step. A node on which plugstack.conf says auth=munge
 * takes no invitation that says "key".
 *
 * Who is who: each message is a frame, its body, and a tag of 32 bytes,
 *
 *     tag = HMAC-SHA-256(key, struct wire_tagged)
 *
 * over who speaks, the frame and the SHA-256 of the body. The key of a node's first message (HELLO,
 * SEALED or SORRY) is K; that of all others, in both directions, is the session's,
 *
 *     S = HMAC-SHA-256(K, struct wire_session)
 *
 * over the job, the step, the node, and 32 bytes that the node has drawn for this one connection
 * and that HELLO tells. So a message of another step, node, connection or direction, or a changed
 * one, has a wrong tag. In one connection a message of each type comes once at most, in the order
 * above, and one HELLO is taken for a node.
 *
 * auth=key: K travels to the nodes in Slurm's launch message, as the key by which slurmstepd and
 * srun know each other where the ranks' standard output is connected (io_key of Slurm's
 * src/common/io_hdr.h); root and the job's user can read it on the nodes. It never travels here.
 *
 * auth=munge: whoever has read the launch message on the network knows K and still is nobody, for
 * HELLO travels sealed: a MUNGE credential, encrypted, of the job's user, for the eyes of the job's
 * user alone. Nobody else can read the 32 bytes in it, so nobody else knows S: it is made as HKDF
 * does (RFC 5869) when its salt is public. MUNGE itself refuses a credential that has been decoded
 * before.
 *
 * A node believes nothing that srun sends, for it is the user's: every length is known beforehand
 * or has a limit, every number is checked. srun reads at most WIRE_HELLO_MAX bytes from a peer it
 * does not know.
 *
 * Numbers are as the machine has them: a peer of another byte order has another WIRE_MAGIC, and so
 * has another version. Texts end with a NUL. */

#define WIRE_VARIABLE "SLURM_NUIOA_SRUN"
#define WIRE_VERSION 5
#define WIRE_MAGIC (0x6e756900u | WIRE_VERSION)
#define WIRE_KEY_SIZE 32
#define WIRE_TAG_SIZE 32
#define WIRE_NODES_MAX 65536
#define WIRE_TASKS_MAX 4096 /* of one node */

enum wire_type {
    WIRE_HELLO = 1,  /* struct wire_hello and its ranks */
    WIRE_RECORD,     /* struct wire_record and what it counts */
    WIRE_CREDENTIAL, /* a credential, text, and HELLO's body inside it */
    /* nothing; instead of SEALED: this node has no credential. Whoever knows K may say so: it is
     * only a reason not to wait longer than one waits for a node */
    WIRE_NO_CREDENTIAL,
    /* struct wire_slice and what it counts; nothing if none was asked for or there is none */
    WIRE_WELCOME = 17,
    WIRE_TABLE, /* struct wire_table and its runs; nothing if some node has no leader */
    WIRE_STOP,  /* nothing */
};

struct wire_frame {
    uint32_t magic, type;
    uint32_t length; /* of the body */
};

/* What is put under a key. The first number says for what, so that nothing made for one serves for
 * another. */
enum wire_use { WIRE_SESSION = 1, WIRE_FROM_NODE, WIRE_FROM_SRUN };

struct wire_session {
    uint32_t use;                   /* WIRE_SESSION */
    uint32_t job_id, step_id, node; /* as HELLO has them */
    uint8_t fresh[WIRE_KEY_SIZE];
};

struct wire_tagged {
    uint32_t use; /* who speaks */
    struct wire_frame frame;
    uint8_t body[32]; /* its SHA-256 */
};

#define WIRE_HELLO_MAX (64u << 10)

struct wire_hello {
    char purpose[16]; /* WIRE_PURPOSE: a credential made for something else is not one of these */
    uint8_t fresh[WIRE_KEY_SIZE]; /* drawn for this connection: a nonce, and when sealed a secret */
    uint32_t job_id, step_id;
    uint32_t node, node_count; /* in the step, over all components of a heterogeneous one */
    uint32_t task_count;       /* on this node */
    uint32_t leader;           /* promised; WIRE_NO_RANK: the record says */
    uint32_t rank_count;       /* task_count if a slice is wanted, else 0 */
    /* uint32_t ranks[rank_count]: by local rank, all different */
};

#define WIRE_PURPOSE "nuioa hello 2"

/* The part of a profile that concerns one node. */
struct wire_slice {
    uint32_t weight_count; /* the node's task_count */
    uint32_t pair_count;
    /* double weights[weight_count]; struct wire_pair pairs[pair_count] */
};

struct wire_pair {
    /* local ranks, first < second; pairs are sorted by these, none is there twice */
    uint32_t first, second;
    double bytes;
};

#define WIRE_PAIRS_MAX (1u << 20)

/* What a node has decided; everything a report says of it. */
#define WIRE_NICS_MAX 32
#define WIRE_LINES_MAX 64
#define WIRE_WARNINGS_MAX 4
#define WIRE_TEXT_MAX (128u << 10)
#define WIRE_NO_RANK UINT32_MAX

struct wire_record {
    uint32_t node;
    uint32_t leader; /* its rank, WIRE_NO_RANK: none; a promised one stays */
    uint32_t near;   /* how many ranks are as near */
    uint32_t task_count, moved_count;
    uint32_t numa_count, core_count, policy;
    uint32_t planned; /* not carried out */
    uint32_t nic_count, line_count, warning_count;
    uint32_t text_length;      /* with explain; its NUL included, 0: none */
    uint32_t table_timeout_ms; /* a TABLE sent later than this after the record comes too late */
    double cost_before, cost_after, bound; /* < 0: not known */
    char host[64];
    char reason[160];
    char distances[16]; /* where they come from */
    /* struct wire_nic nics[nic_count]; struct wire_line lines[line_count];
     * char warnings[warning_count][256]; char text[text_length] */
};

struct wire_nic {
    char label[48];
    char numas[32]; /* "" unknown */
    uint32_t state, kind, rate_mbps;
    uint32_t usable; /* 0: not for nuioa */
};

/* A rank, or all ranks of the node with the same NUMA node and NIC. */
struct wire_line {
    char ranks[64], cpus[64], numas[32], memory[32], nic[48];
    uint32_t count; /* of ranks */
    uint32_t level; /* UINT32_MAX: not known */
    uint32_t leads; /* the node's leader is here */
    uint32_t zero;
    double weight; /* of all; < 0: no hints */
};

#define WIRE_RECORD_MAX \
    (sizeof(struct wire_record) + WIRE_NICS_MAX * sizeof(struct wire_nic) + \
     WIRE_LINES_MAX * sizeof(struct wire_line) + WIRE_WARNINGS_MAX * 256 + WIRE_TEXT_MAX)

/* The leaders of all nodes in the order of the step's nodes: run by run, `count` ranks first, first
 * + stride, ... A job whose nodes are alike is one run, however many they are. */
struct wire_table {
    uint32_t job_id, step_id; /* as the node said them */
    uint32_t node_count;
    uint32_t run_count;
    uint64_t digest; /* table_digest */
    /* struct wire_run runs[run_count] */
};

struct wire_run {
    uint32_t first, stride, count;
};

_Static_assert(sizeof(struct wire_frame) == 12 && sizeof(struct wire_hello) == 76 &&
                   sizeof(struct wire_session) == 48 && sizeof(struct wire_tagged) == 48 &&
                   sizeof(struct wire_slice) == 8 && sizeof(struct wire_pair) == 16 &&
                   sizeof(struct wire_record) == 320 && sizeof(struct wire_nic) == 96 &&
                   sizeof(struct wire_line) == 264 && sizeof(struct wire_table) == 24 &&
                   sizeof(struct wire_run) == 12,
               "what travels has no holes");

#endif
