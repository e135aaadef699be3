/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_WIRE_H
#define SPANK_RENDEZVOUS_WIRE_H

#include <stdint.h>

#include "option/option_environment.h"
#include "output/report_table.h"
#include "util/build.h"

/* The protocol by which the nodes of a step tell its srun what they have done, and get their parts
 * of a profile, over TCP. This comment is its manual.
 *
 *     node (slurmstepd)                            srun (the user)
 *     HELLO, or CREDENTIAL             ->          checks it
 *                                      <-          WELCOME, with the node's slice if it asked
 *     RECORD: the node's plan          ->          keeps it for the report
 *
 * Failure. No node waits for another one. srun reports what it has got when all records are there,
 * when no more come, or when the step ends, and names the nodes that are missing. A node waits for
 * WELCOME, for a limited time, if it needs its slice or has something to tell the user: without it
 * srun knows nothing of the node, which then tells the user itself.
 *
 * Address. Nodes take srun's address from Slurm (SLURM_SRUN_COMM_HOST) and its port from the
 * variable WIRE_VARIABLE, which srun puts into the job's environment when it opens the port. The
 * value is "VERSION:AUTH:PORT:KEY" (the token, token.h): the version of this protocol; "key" or
 * "munge"; the port; and 64 hexadecimal digits, the step's key K, made for this step alone. A node
 * whose plugstack.conf says auth=munge does not accept a token that says "key".
 *
 * Authentication. Each message is a frame, its body, and a tag of 32 bytes:
 *
 *     tag = HMAC-SHA-256(key, struct wire_tagged)
 *
 * The tagged struct holds the sender's role, the frame and the SHA-256 of the body. K is the key of
 * a node's first message (HELLO, CREDENTIAL or NO_CREDENTIAL). The session key S is the key of all
 * other messages, in both directions:
 *
 *     S = HMAC-SHA-256(K, struct wire_session)
 *
 * The session struct holds the job, the step, the node, and 32 random bytes that the node makes for
 * this one connection and sends in HELLO. A message of another step, node, connection or direction
 * therefore has a wrong tag, and so has a changed one. A connection carries each type of message at
 * most once, in the order above, and srun accepts one HELLO for each node.
 *
 * auth=key: K travels to the nodes in Slurm's launch message. Slurm sends there in the same way the
 * key by which slurmstepd and srun authenticate the connection for the ranks' standard output
 * (io_key in Slurm's src/common/io_hdr.h). root and the job's user can read K on the nodes. K never
 * travels in this protocol.
 *
 * auth=munge: knowing K is not enough, for instance from reading the launch message on the network.
 * HELLO travels encrypted, in a MUNGE credential of the job's user that only the job's user can
 * decode. Nobody else can read the 32 random bytes, so nobody else can compute S. S is made as in
 * HKDF with a public salt (H. Krawczyk, P. Eronen, "HMAC-based Extract-and-Expand Key Derivation
 * Function (HKDF)", RFC 5869, 2010). MUNGE itself refuses a credential that was decoded before.
 *
 * Limits. srun belongs to the user, so a node trusts nothing that it receives: every length is
 * known beforehand or limited, every number is checked. srun reads at most WIRE_HELLO_MAX bytes
 * from an unauthenticated peer.
 *
 * Encoding. Numbers have the machine's byte order. A peer with another byte order sends another
 * WIRE_MAGIC, and so does another version of this protocol. Texts end with a NUL. */

#define WIRE_VARIABLE NUIOA_VARIABLE_SRUN
#define WIRE_VERSION NUIOA_WIRE_VERSION
#define WIRE_MAGIC (0x6e756900u | WIRE_VERSION)
#define WIRE_KEY_SIZE 32     /* bytes */
#define WIRE_TAG_SIZE 32     /* bytes */
#define WIRE_NODES_MAX 65536 /* nodes of a step */
/* Limits of one node: tasks, NUMA nodes, cores, GPUs. */
#define WIRE_TASKS_MAX 4096
#define WIRE_RANKS_MAX (1u << 24) /* of a step: larger ranks ask for no slice */
#define WIRE_NUMAS_MAX 4096
#define WIRE_CORES_MAX 65536
#define WIRE_GPUS_MAX 4096

/* How every message ends that tells the user why there is no rendezvous. */
#define WIRE_CONSEQUENCE \
    "each node is placed, and reports, by itself (what to do: nuioa-spank(8), DIAGNOSTICS)"

enum wire_type {
    WIRE_HELLO = 1,  /* struct wire_hello and its ranks */
    WIRE_RECORD,     /* struct wire_record and its arrays */
    WIRE_CREDENTIAL, /* a MUNGE credential (text) that holds the body of HELLO */
    /* No body. The node has no credential; srun gets this instead of CREDENTIAL. Everybody who
     * knows K can send it, so srun only stops waiting after the usual time for a node. */
    WIRE_NO_CREDENTIAL,
    /* struct wire_slice and its arrays; no body if the node did not ask or srun has no slice */
    WIRE_WELCOME = 17,
};

struct wire_frame {
    uint32_t magic;  /* WIRE_MAGIC */
    uint32_t type;   /* enum wire_type */
    uint32_t length; /* of the body, in bytes */
};

/* The purpose of an HMAC input, as its first number, so that no HMAC made for one purpose is valid
 * for another. */
enum wire_use { WIRE_SESSION = 1, WIRE_FROM_NODE, WIRE_FROM_SRUN };

/* The input of the HMAC that makes the session key. */
struct wire_session {
    uint32_t use;                   /* WIRE_SESSION */
    uint32_t job_id, step_id, node; /* as HELLO has them */
    uint8_t nonce[WIRE_KEY_SIZE];
};

/* The input of the HMAC that makes a tag. */
struct wire_tagged {
    uint32_t use; /* WIRE_FROM_NODE or WIRE_FROM_SRUN */
    struct wire_frame frame;
    uint8_t body[32]; /* its SHA-256 */
};

/* The largest size in bytes of a node's first message: frame, body and tag. */
#define WIRE_HELLO_MAX (64u << 10)

struct wire_hello {
    char purpose[16]; /* WIRE_PURPOSE: distinguishes this from the job's other credentials */
    uint8_t nonce[WIRE_KEY_SIZE]; /* random, for this connection: a nonce; if encrypted, a secret */
    uint32_t job_id, step_id;
    uint32_t node, node_count; /* in the step, over all components of a heterogeneous one */
    uint32_t task_count;       /* on this node */
    uint32_t rank_count;       /* task_count to ask for a slice, else 0 */
    /* uint32_t ranks[rank_count]: in the order of local ranks; no rank is on two nodes */
};

#define WIRE_PURPOSE "nuioa hello 3"

/* The part of a profile that concerns one node. */
struct wire_slice {
    uint32_t weight_count; /* the node's task_count */
    uint32_t pair_count;
    /* double weights[weight_count]; struct wire_pair pairs[pair_count] */
};

struct wire_pair {
    /* Local ranks, first < second. Pairs are sorted by first, then second, without repetition. */
    uint32_t first, second;
    double bytes; /* that the two ranks exchange */
};

#define WIRE_PAIRS_MAX (1u << 20) /* pairs of a slice */

/* Limits of a record: NICs, lines, warnings, and bytes of the text with its NUL. */
#define WIRE_NICS_MAX 32
#define WIRE_LINES_MAX 64
#define WIRE_WARNINGS_MAX 4
#define WIRE_TEXT_MAX (128u << 10)

#define WIRE_NO_RANK UINT32_MAX /* instead of a rank: there is none */

/* A node's plan: everything that a report says about the node. Without a plan all counts but that
 * of warnings are 0. */
struct wire_record {
    uint32_t node;   /* position in the step, as in HELLO */
    uint32_t leader; /* rank of the node's leader; WIRE_NO_RANK: none */
    uint32_t near;   /* number of ranks that are as near to the NIC as the leader */
    uint32_t task_count, moved_count; /* ranks on this node; those that were moved */
    uint32_t numa_count, core_count;  /* of the node */
    uint32_t policy;                  /* enum nuioa_policy */
    uint32_t planned;                 /* 1: a plan only, the ranks were not bound */
    uint32_t nic_count, line_count, warning_count;
    uint32_t text_length; /* of the text for `explain`, with its NUL; 0: none */
    uint32_t zero;
    double cost_before, cost_after, bound; /* J and its lower bound (nuioa(7)); < 0: unknown */
    char host[64];
    char reason[216];   /* why ranks moved or did not move, or why there is no plan */
    uint32_t advice;    /* a bit for each enum nuioa_advice (plan/reason.h), the first is 1 */
    uint32_t gpu_count; /* GPUs of the node, whether or not the step has them */
    char distances[16]; /* source of the distances, such as "slit" */
    /* Vendor and model of the GPUs, such as "nvidia 10de:2330"; in their order where they are
     * unlike: "4 nvidia 10de:2330, 4 nvidia 10de:20b0"; "": there are none. */
    char gpus[48];
    /* struct wire_nic nics[nic_count]; struct nuioa_report_line lines[line_count]; char
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

/* The largest size in bytes of the body of RECORD. */
#define WIRE_RECORD_MAX \
    (sizeof(struct wire_record) + WIRE_NICS_MAX * sizeof(struct wire_nic) + \
     WIRE_LINES_MAX * sizeof(struct nuioa_report_line) + WIRE_WARNINGS_MAX * 256 + WIRE_TEXT_MAX)

_Static_assert(sizeof(struct wire_frame) == 12 && sizeof(struct wire_hello) == 72 &&
                   sizeof(struct wire_session) == 48 && sizeof(struct wire_tagged) == 48 &&
                   sizeof(struct wire_slice) == 8 && sizeof(struct wire_pair) == 16 &&
                   sizeof(struct wire_record) == 432 && sizeof(struct wire_nic) == 152 &&
                   sizeof(struct nuioa_report_line) == 304,
               "structs of the protocol have no padding");

#endif
