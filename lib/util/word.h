/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_WORD_H
#define NUIOA_UTIL_WORD_H

/* Takes the next word off *rest. Any number of the characters in `blanks` stands between two
 * words. Returns the word, which ends with a NUL that is written into the text, or NULL if there
 * is none left. Afterwards *rest is what follows the word. The word belongs to the text: nothing
 * is to be freed. */
char *nuioa_next_word(char **rest, const char *blanks);

#endif
