/* SPDX-License-Identifier: BSD-3-Clause */
#include <munge.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* srun's collector gets records that nobody must believe: the report of the step's nodes is the
 * same as without them. Usage: attack SOCKET [PART]; of munged. */

static const char *munged;

/* --- credentials of all kinds --- */

struct sealing {
    uid_t by, reader;
    munge_cipher_t cipher;
    int ttl;
};

static const struct sealing ours = { USER_UID, USER_UID, MUNGE_CIPHER_AES128, 0 };

static char *seal_as(const struct sealing *how, const void *bytes, size_t length)
{
    char *credential = NULL;
    munge_ctx_t context = munge_ctx_create();
    munge_ctx_set(context, MUNGE_OPT_SOCKET, munged);
    munge_ctx_set(context, MUNGE_OPT_CIPHER_TYPE, how->cipher);
    munge_ctx_set(context, MUNGE_OPT_ZIP_TYPE, MUNGE_ZIP_ZLIB);
    munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, how->reader);
    munge_ctx_set(context, MUNGE_OPT_TTL, how->ttl);
    if (seteuid(how->by) < 0 ||
        munge_encode(&credential, context, bytes, (int)length) != EMUNGE_SUCCESS ||
        seteuid(0) < 0) {
        printf("Bail out! munge: %s\n", munge_ctx_strerror(context));
        exit(1);
    }
    munge_ctx_destroy(context);
    return credential;
}

/* srun gets this, which it must refuse, for a right record of one node. */
static void refuses(const char *name, char *credential)
{
    struct srun s = { 0 };
    srun_begin(&s, munged, 2);
    bool taken = tell(&s, credential);
    ok(!taken, "%s: it is refused", name);
    ok(ends_well(munged, &s), "%s: the report is right", name);
    free(credential);
}

static void refuses_content(const char *name, const void *bytes, size_t length)
{
    refuses(name, seal_as(&ours, bytes, length));
}

/* --- forged --- */

static void forged(void)
{
    const struct {
        const char *name;
        struct sealing how;
    } cases[] = {
        { "of another user, for ours", { OTHER_UID, USER_UID, MUNGE_CIPHER_AES128, 0 } },
        { "of another user, for all", { OTHER_UID, MUNGE_UID_ANY, MUNGE_CIPHER_AES128, 0 } },
        { "of another user, for himself", { OTHER_UID, OTHER_UID, MUNGE_CIPHER_AES128, 0 } },
        { "of root, for the user", { 0, USER_UID, MUNGE_CIPHER_AES128, 0 } },
        { "of root, for all", { 0, MUNGE_UID_ANY, MUNGE_CIPHER_AES128, 0 } },
        { "of the user, for another one", { USER_UID, OTHER_UID, MUNGE_CIPHER_AES128, 0 } },
        { "that all can open", { USER_UID, MUNGE_UID_ANY, MUNGE_CIPHER_AES128, 0 } },
        { "that is not encrypted", { USER_UID, USER_UID, MUNGE_CIPHER_NONE, 0 } },
    };
    struct content c = content_of(1, 2);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        refuses(cases[i].name, seal_as(&cases[i].how, &c, sizeof(c)));
    const struct sealing short_life = { USER_UID, USER_UID, MUNGE_CIPHER_AES128, 1 };
    char *old = seal_as(&short_life, &c, sizeof(c));
    sleep(3);
    refuses("that is too old", old);
}

static void replayed(void)
{
    struct srun first = { 0 }, second = { 0 };
    char *credential = right(munged, 0);
    srun_begin(&first, munged, 2);
    ok(tell(&first, credential), "replayed: the first one is taken");
    ok(!tell(&first, credential), "replayed: the same one again is refused");
    ok(!tell_right(munged, &first, 0), "a node that has sent its record: a second one is refused");
    ok(tell_right(munged, &first, 1), "replayed: the other node is taken");
    srun_end(&first);
    ok(!strcmp(first.text, right_text), "replayed: the report is right");
    srun_free(&first);
    srun_begin(&second, munged, 2);
    ok(!tell(&second, credential), "replayed: it is refused by another srun of the user");
    ok(ends_well(munged, &second), "replayed: that one's report is right");
    free(credential);
}

/* --- wrong contents in a right seal --- */

enum how { WORD, REAL, FILL };

struct patch {
    const char *name;
    size_t offset, size;
    enum how how;
    double value; /* REAL */
    uint32_t word;
};

#define AT(member) offsetof(struct content, member), sizeof(((struct content *)0)->member)
#define NOT_A_NUMBER(member) \
    { \
#member " that is no number", AT(member), REAL, __builtin_nan(""), 0 \
    }
#define ENDLESS(member) \
    { \
#member " without an end", AT(member), FILL, 0, 'x' \
    }
#define UNPRINTABLE(member) \
    { \
#member " that is not printable", AT(member[0]), FILL, 0, 0x1b \
    }
#define TEXT(member) ENDLESS(member), UNPRINTABLE(member)
#define HIGH(member, highest) \
    { \
#member " above its limit", AT(member), WORD, 0, highest + 1 \
    }

static const struct patch patches[] = {
    { "for another purpose", AT(head.seal.purpose[0]), FILL, 0, 'N' },
    { "without an end of the purpose", AT(head.seal.purpose), FILL, 0, 'n' },
    { "of another version", AT(head.seal.version), WORD, 0, WIRE_VERSION - 1 },
    { "of another job", AT(head.seal.job_id), WORD, 0, JOB + 1 },
    { "of another step", AT(head.seal.step_id), WORD, 0, STEP + 1 },
    { "of a node that the step does not have", AT(head.seal.node), WORD, 0, 2 },
    { "of the last node of all", AT(head.seal.node), WORD, 0, UINT32_MAX },
    { "of a step with more nodes", AT(head.seal.node_count), WORD, 0, 3 },
    { "of a step with too many nodes", AT(head.seal.node_count), WORD, 0, UINT32_MAX },
    HIGH(head.nic_count, 1),
    HIGH(head.row_count, 2),
    HIGH(head.warning_count, 1),
    HIGH(head.text_length, sizeof(((struct content *)0)->text)),
    { "with all text_length", AT(head.text_length), WORD, 0, UINT32_MAX },
    { "with all nic_count", AT(head.nic_count), WORD, 0, UINT32_MAX },
    HIGH(head.moved_count, 2),
    HIGH(head.task_count, WIRE_TASKS_MAX),
    HIGH(head.numa_count, WIRE_NUMAS_MAX),
    HIGH(head.core_count, WIRE_CORES_MAX),
    HIGH(head.gpu_count, WIRE_GPUS_MAX),
    HIGH(head.policy, 1000),
    NOT_A_NUMBER(head.cost_before),
    NOT_A_NUMBER(head.cost_after),
    NOT_A_NUMBER(head.bound),
    NOT_A_NUMBER(rows[1].weight),
    { "with an endless cost", AT(head.cost_after), REAL, __builtin_inf(), 0 },
    TEXT(head.host),
    TEXT(head.reason),
    TEXT(head.distances),
    TEXT(head.gpus),
    TEXT(nic.label),
    TEXT(nic.numas),
    TEXT(nic.gpus),
    TEXT(nic.fabric),
    HIGH(nic.kind, 1000),
    HIGH(nic.role, 1000),
    HIGH(nic.role_source, 1000),
    TEXT(rows[1].ranks),
    TEXT(rows[1].cpus),
    TEXT(rows[1].numas),
    TEXT(rows[1].memory),
    TEXT(rows[1].nic),
    TEXT(rows[1].gpus),
    TEXT(rows[1].path),
    TEXT(warning),
    TEXT(text),
};

static void wrong_contents(void)
{
    for (size_t i = 0; i < sizeof(patches) / sizeof(*patches); i++) {
        const struct patch *p = &patches[i];
        struct content c = content_of(1, 2);
        char *at = (char *)&c + p->offset;
        if (p->how == WORD)
            memcpy(at, &p->word, p->size);
        else if (p->how == REAL)
            memcpy(at, &p->value, p->size);
        else
            memset(at, (int)p->word, p->size);
        refuses_content(p->name, &c, sizeof(c));
    }
}

/* Arrays with one element more than allowed, all of them there. */
static void long_arrays(void)
{
    const struct {
        const char *name;
        size_t offset, count, size;
    } arrays[] = {
        { "too many NICs", offsetof(struct wire_record, nic_count), WIRE_NICS_MAX + 1,
          sizeof(struct wire_nic) },
        { "too many rows", offsetof(struct wire_record, row_count), WIRE_ROWS_MAX + 1,
          sizeof(struct wire_row) },
        { "too many warnings", offsetof(struct wire_record, warning_count), WIRE_WARNINGS_MAX + 1,
          256 },
        { "too long a text", offsetof(struct wire_record, text_length), WIRE_TEXT_MAX + 1, 1 },
    };
    static char bytes[256 << 10];
    for (size_t i = 0; i < sizeof(arrays) / sizeof(*arrays); i++) {
        struct content c = content_of(1, 2);
        uint32_t count = (uint32_t)arrays[i].count;
        c.head.nic_count = c.head.row_count = c.head.warning_count = c.head.text_length = 0;
        memcpy((char *)&c.head + arrays[i].offset, &count, sizeof(count));
        memset(bytes, 0, sizeof(bytes));
        memcpy(bytes, &c, offsetof(struct content, nic));
        refuses_content(arrays[i].name, bytes,
                        offsetof(struct content, nic) + count * arrays[i].size);
    }
}

static void wrong_lengths(void)
{
    long_arrays();
    static char bytes[1000 << 10];
    struct content c = content_of(1, 2);
    memcpy(bytes, &c, sizeof(c));
    refuses_content("nothing in a seal", bytes, 0);
    refuses_content("a seal that is cut", bytes, sizeof(struct wire_seal) - 1);
    refuses_content("a seal alone", bytes, sizeof(struct wire_seal));
    refuses_content("a record that is cut", bytes, sizeof(c) - 1);
    refuses_content("a record with a byte more", bytes, sizeof(c) + 1);
    refuses_content("a megabyte in a kilobyte", bytes, sizeof(bytes));
}

/* --- junk --- */

/* Sends bytes without an end. Returns true if srun closes the connection. */
static bool hangs_up(const struct srun *s, const void *bytes, size_t length)
{
    int fd = peer_connect(s->port);
    peer_put(fd, bytes, length);
    return peer_end(fd) == 0;
}

static void junk(void)
{
    static char bytes[WIRE_SEALED_MAX + 1];
    struct srun s = { 0 };
    char *credential = right(munged, 1);
    size_t length = strlen(credential);
    memset(bytes, 'x', sizeof(bytes));
    srun_begin(&s, munged, 2);
    ok(hangs_up(&s, bytes, WIRE_SEALED_MAX), "64 KB without an end: they are refused");
    ok(hangs_up(&s, "", 1), "an empty credential is refused");
    ok(hangs_up(&s, "MUNGE:", 7), "the beginning of a credential is refused");
    for (int i = 0; i < 20; i++) {
        for (size_t b = 0; b < sizeof(bytes); b++)
            bytes[b] = (char)(rand() >> 8);
        hangs_up(&s, bytes, (size_t)rand() % sizeof(bytes) + 1);
    }
    memset(bytes, 0, sizeof(bytes));
    for (size_t i = 0; i < 20; i++) {
        memcpy(bytes, credential, length * i / 20);
        bytes[length * i / 20] = '\0';
        if (!hangs_up(&s, bytes, length * i / 20 + 1))
            ok(false, "a credential that is cut is refused");
    }
    for (size_t i = 0; i < 40; i++) {
        char *at = &credential[length * i / 40];
        *at ^= 1;
        if (tell(&s, credential))
            ok(false, "a credential with another byte is refused");
        *at ^= 1;
    }
    ok(ends_well(munged, &s), "junk: the report is right");
    free(credential);
    srun_begin(&s, munged, 2);
    ok(hangs_up(&s, "rubbish", 8), "a text that is no credential is refused");
    srun_end(&s);
    ok(strstr(s.text, "no record") && !strstr(s.text, "credential"), "junk: srun speaks of no key");
    srun_free(&s);
}

/* The user's own processes may take a place of a node, but not change what srun knows of the job:
 * in a heterogeneous step the first record says how many nodes there are. */
static void heterogeneous(void)
{
    struct srun s = { 0 };
    struct content c = content_of(1, 2);
    char *sealed[2];
    c.head.seal.job_id++;
    sealed[0] = seal_as(&ours, &c, sizeof(c));
    c = content_of(1, 3);
    sealed[1] = seal_as(&ours, &c, sizeof(c));
    srun_begin(&s, munged, 0);
    ok(tell_right(munged, &s, 0), "a step that srun does not know: the first record is taken");
    ok(!tell(&s, sealed[0]), "a step that srun does not know: another job's is refused");
    ok(!tell(&s, sealed[1]), "a step that srun does not know: another number of nodes is refused");
    ok(tell_right(munged, &s, 1), "a step that srun does not know: the other node is taken");
    srun_end(&s);
    ok(!strcmp(s.text, right_text) && srun_is_clean(&s),
       "a step that srun does not know: the report is right");
    srun_free(&s);
    free(sealed[0]);
    free(sealed[1]);
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {
        { "forged", forged },
        { "replayed", replayed },
        { "contents", wrong_contents },
        { "lengths", wrong_lengths },
        { "junk", junk },
        { "heterogeneous", heterogeneous },
        { NULL, NULL },
    };
    if (argc < 2)
        return 2;
    munged = argv[1];
    return run_parts(munged, parts, argv[2]);
}
