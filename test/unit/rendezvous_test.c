/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "spank/rendezvous/client.h"
#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/listener.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/token.h"
#include "spank/rendezvous/wire.h"

/* The messages between srun and the nodes: hellos and invitations. */

/* A node's ranks are all different, because a slice has each rank once. */
static void hellos(void **state)
{
    (void)state;
    enum { RANKS = 4 };
    struct wire_hello said, head = {
        .purpose = WIRE_PURPOSE,
        .job_id = 7,
        .node_count = 2,
        .task_count = RANKS,
        .rank_count = RANKS,
    };
    const struct hello_wanted wanted = { .job_id = 7 };
    const uint32_t ranks[][RANKS] = {
        { 4, 5, 6, 7 }, { 9, 1, 5, 3 }, { 4, 5, 5, 6 }, { 3, 8, 1, 3 }
    };
    char bytes[sizeof(head) + sizeof(ranks[0])];
    for (unsigned i = 0; i < 4; i++) {
        memcpy(bytes, &head, sizeof(head));
        memcpy(bytes + sizeof(head), ranks[i], sizeof(ranks[i]));
        assert_int_equal(hello_read(&wanted, bytes, sizeof(bytes), &said), i < 2);
        assert_false(hello_read(&wanted, bytes, sizeof(bytes) - 4, &said));
    }
}

static void invitations(void **state)
{
    (void)state;
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        struct token made, again, other;
        char text[TOKEN_TEXT_MAX];
        assert_int_equal(token_make(&made, 65535, encrypted), 0);
        assert_int_equal(token_make(&other, 65535, encrypted), 0);
        assert_memory_not_equal(made.key, other.key, WIRE_KEY_SIZE);
        token_write(&made, text);
        assert_true(strlen(text) < TOKEN_TEXT_MAX);
        assert_int_equal(token_read(&again, text), 0);
        assert_int_equal(again.port, 65535);
        assert_int_equal(again.encrypted, encrypted);
        assert_memory_equal(again.key, made.key, WIRE_KEY_SIZE);
    }
}

static void wrong_invitation(const char *text, int rc)
{
    struct token token;
    assert_int_equal(token_read(&token, text), rc);
}

/* Every way to cut one short or to add to it, and every character that is not of it. */
static void wrong_invitations(void **state)
{
    struct token token;
    char text[TOKEN_TEXT_MAX + 8];
    (void)state;
    assert_int_equal(token_make(&token, 40000, false), 0);
    token_write(&token, text);
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        text[i] = '\0';
        wrong_invitation(text, -EINVAL);
        text[i] = 'G';
        wrong_invitation(text, -EINVAL);
        text[i] = c;
    }
    wrong_invitation(text, 0);
    strcpy(text + length, ":");
    wrong_invitation(text, -EINVAL);
    strcpy(text + length, "00");
    wrong_invitation(text, -EINVAL);
    text[length] = '\0';
    text[0] ^= 1;
    wrong_invitation(text, -EPROTONOSUPPORT);
    text[0] ^= 1;
    char *port = strstr(text, "40000");
    memcpy(port, "70000", 5);
    wrong_invitation(text, -EINVAL);
    memcpy(port, "00000", 5);
    wrong_invitation(text, -EINVAL);
    memcpy(port, "40000", 5);
    memcpy(strstr(text, ":key:"), ":kez:", 5);
    wrong_invitation(text, -EINVAL);
    assert_int_equal(token_read(&token, "6:key:1:00"), -EPROTONOSUPPORT);
    assert_int_equal(token.version, 6);
    wrong_invitation("40000:", -EPROTONOSUPPORT); /* an older version's began with the port */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hellos),
        cmocka_unit_test(invitations),
        cmocka_unit_test(wrong_invitations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
