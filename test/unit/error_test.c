/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"
#include "util/error.h"

TEST(test_lines)
{
    struct nuioa_error err;
    assert_int_equal(nuioa_fail(&err, -EINVAL, "nic=%s", "a\nb\033[1m"), -EINVAL);
    assert_string_equal(err.text, "nic=a?b?[1m");
    assert_int_equal(nuioa_fail(&err, -ENOENT, "%0300d", 7), -ENOENT);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_int_equal(nuioa_fail(NULL, -EIO, "nobody asks"), -EIO);
}

TEST(test_warnings)
{
    struct nuioa_warnings w = { 0 };
    nuioa_warn(NULL, "nobody asks");
    nuioa_warn(&w, "twice");
    nuioa_warn(&w, "twice");
    assert_int_equal(w.count, 1);
    for (int i = 0; i < NUIOA_WARNINGS_MAX + 1; i++)
        nuioa_warn(&w, "line %d", i);
    assert_int_equal(w.count, NUIOA_WARNINGS_MAX);
    assert_int_equal(w.lost, 2);
    assert_string_equal(w.text[0], "twice");
    assert_string_equal(w.text[NUIOA_WARNINGS_MAX - 1], "line 14");
}

/* Printable characters stay, in any script; each other one becomes '?'. */
TEST(test_printable)
{
    static const char *const texts[][2] = {
        { "gr\303\266\303\237e \346\227\245 \360\237\230\200", NULL },
        { "\302\240\340\240\200\342\200\247\342\200\257\342\201\252\357\277\275", NULL },
        { "\001\t\n\033[1m\177", "????[1m?" },
        { "a\302\200b\302\23331m\302\237", "a?b?31m?" },                   /* C1 */
        { "a\20031m\233\237", "a?31m??" },                                 /* as raw bytes */
        { "\330\234\342\200\216\342\200\217", "???" },                     /* direction */
        { "\342\200\252x\342\200\256\342\201\246\342\201\251", "?x???" },  /* the same */
        { "1\342\200\2502\342\200\2513", "1?2?3" },                        /* ends of lines */
        { "\300\200\301\201\340\200\233\360\200\202\233", "???????????" }, /* too long */
        { "\355\240\200\364\220\200\200\370\377", "?????????" },           /* no such codes */
        { "\303x\346\227y\360\237\230z", "?x??y???z" },                    /* cut short */
        { "\346\227", "??" },
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char text[64];
        strcpy(text, texts[i][0]);
        nuioa_make_printable(text);
        assert_string_equal(text, texts[i][1] ? texts[i][1] : texts[i][0]);
    }
}
