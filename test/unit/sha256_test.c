/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "spank/rendezvous/sha256.h"
#include "spank/rendezvous/tag.h"

/* The published vectors of SHA-256 and HMAC-SHA-256, and what the tags of the rendezvous cover. */

static const char *hex(const uint8_t *bytes)
{
    static char text[2 * SHA256_SIZE + 1];
    for (unsigned i = 0; i < SHA256_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* NIST, examples with intermediate values for FIPS 180-4, and SHA256ShortMsg.rsp */
static void digests(void **state)
{
    static const struct {
        const char *message, *digest;
    } vectors[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
          "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
          "nopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    uint8_t digest[SHA256_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        sha256_of(vectors[i].message, strlen(vectors[i].message), digest);
        assert_string_equal(hex(digest), vectors[i].digest);
    }
    sha256_of(NULL, 0, digest);
    assert_string_equal(hex(digest), vectors[0].digest);
}

/* NIST's million of 'a', in parts of all lengths. */
static void long_messages(void **state)
{
    static char bytes[1000000];
    uint8_t digest[SHA256_SIZE];
    (void)state;
    memset(bytes, 'a', sizeof(bytes));
    sha256_of(bytes, sizeof(bytes), digest);
    assert_string_equal(hex(digest),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    struct sha256 sha;
    sha256_begin(&sha);
    for (size_t done = 0, part = 0; done < sizeof(bytes); part = part % 200 + 1) {
        size_t length = part < sizeof(bytes) - done ? part : sizeof(bytes) - done;
        sha256_add(&sha, bytes + done, length);
        done += length;
    }
    sha256_end(&sha, digest);
    assert_string_equal(hex(digest),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Where padding takes a block of its own: each length, whole and cut in two at each place. */
static void splits(void **state)
{
    uint8_t bytes[130], whole[SHA256_SIZE], parts[SHA256_SIZE];
    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7);
    for (size_t length = 0; length <= sizeof(bytes); length++) {
        sha256_of(bytes, length, whole);
        for (size_t cut = 0; cut <= length; cut++) {
            struct sha256 sha;
            sha256_begin(&sha);
            sha256_add(&sha, bytes, cut);
            sha256_add(&sha, bytes + cut, length - cut);
            sha256_end(&sha, parts);
            assert_memory_equal(parts, whole, SHA256_SIZE);
        }
    }
}

static void fill(uint8_t *bytes, uint8_t with, size_t length)
{
    memset(bytes, with, length);
}

/* RFC 4231, test cases 1 to 4, 6 and 7 (5 is cut to 128 bits) */
static void hmacs(void **state)
{
    static const char long_text[] =
        "This is a test using a larger than block-size key and a larger than block-size "
        "data. The key needs to be hashed before being used by the HMAC algorithm.";
    uint8_t key[131], data[200], tag[SHA256_SIZE], counting[25];
    struct vector {
        const void *key;
        size_t key_length;
        const void *data;
        size_t length;
        const char *tag;
    };
    (void)state;
    for (uint8_t i = 0; i < 25; i++)
        counting[i] = (uint8_t)(i + 1);
    fill(data, 0xdd, 50);
    fill(data + 100, 0xcd, 50);
    fill(key, 0xaa, sizeof(key));
    const struct vector vectors[] = {
        { "\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v\v", 20, "Hi There", 8,
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7" },
        { "Jefe", 4, "what do ya want for nothing?", 28,
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
        { key, 20, data, 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe" },
        { counting, 25, data + 100, 50,
          "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b" },
        { key, 131, "Test Using Larger Than Block-Size Key - Hash Key First", 54,
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
        { key, 131, long_text, sizeof(long_text) - 1,
          "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2" },
    };
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        struct hmac_key prepared;
        hmac_key_set(&prepared, vectors[i].key, vectors[i].key_length);
        hmac_sha256(&prepared, vectors[i].data, vectors[i].length, tag);
        assert_string_equal(hex(tag), vectors[i].tag);
        /* a key can be used again */
        hmac_sha256(&prepared, vectors[i].data, vectors[i].length, tag);
        assert_string_equal(hex(tag), vectors[i].tag);
    }
}

struct tagged {
    struct wire_frame frame;
    char body[40 + WIRE_TAG_SIZE];
};

static struct tagged make_tagged(const struct hmac_key *key, enum wire_use from)
{
    struct tagged t = { { WIRE_MAGIC, WIRE_RECORD, 40 }, "a body" };
    uint8_t digest[SHA256_SIZE];
    sha256_of(t.body, 40, digest);
    tag_make(key, from, &t.frame, digest, (uint8_t *)t.body + 40);
    return t;
}

/* Each bit of frame, body and tag; the direction. */
static void changed_messages(void **state)
{
    struct hmac_key key;
    (void)state;
    hmac_key_set(&key, "0123456789abcdef0123456789abcdef", 32);
    struct tagged t = make_tagged(&key, WIRE_FROM_NODE);
    assert_true(tag_is_right(&key, WIRE_FROM_NODE, &t.frame, t.body));
    assert_false(tag_is_right(&key, WIRE_FROM_SRUN, &t.frame, t.body));
    for (size_t i = 0; i < sizeof(t.body) * 8; i++) {
        t.body[i / 8] ^= (char)(1 << i % 8);
        assert_false(tag_is_right(&key, WIRE_FROM_NODE, &t.frame, t.body));
        t.body[i / 8] ^= (char)(1 << i % 8);
    }
    t.frame.type++;
    assert_false(tag_is_right(&key, WIRE_FROM_NODE, &t.frame, t.body));
    t.frame.type--;
    t.frame.magic++;
    assert_false(tag_is_right(&key, WIRE_FROM_NODE, &t.frame, t.body));
    t.frame.magic--;
    assert_true(tag_is_right(&key, WIRE_FROM_NODE, &t.frame, t.body));
}

/* Another step's key, job, step, node or nonce: another session. */
static void sessions(void **state)
{
    struct hmac_key step, other_step, session, other;
    struct wire_hello hello = { .job_id = 1, .step_id = 2, .node = 3, .nonce = { 4 } };
    (void)state;
    hmac_key_set(&step, "0123456789abcdef0123456789abcdef", 32);
    hmac_key_set(&other_step, "1123456789abcdef0123456789abcdef", 32);
    tag_session(&session, &step, &hello);
    struct tagged t = make_tagged(&session, WIRE_FROM_SRUN);
    assert_true(tag_is_right(&session, WIRE_FROM_SRUN, &t.frame, t.body));
    assert_false(tag_is_right(&step, WIRE_FROM_SRUN, &t.frame, t.body));
    for (int i = 0; i < 5; i++) {
        struct wire_hello changed = hello;
        changed.job_id += i == 0;
        changed.step_id += i == 1;
        changed.node += i == 2;
        changed.nonce[31] ^= i == 3;
        tag_session(&other, i == 4 ? &other_step : &step, &changed);
        assert_false(tag_is_right(&other, WIRE_FROM_SRUN, &t.frame, t.body));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests), cmocka_unit_test(long_messages),    cmocka_unit_test(splits),
        cmocka_unit_test(hmacs),   cmocka_unit_test(changed_messages), cmocka_unit_test(sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
