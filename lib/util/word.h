/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_WORD_H
#define NUIOA_UTIL_WORD_H

/* Takes the next word off the text *rest, which is changed. Any number of the characters in
 * `blanks` stands between two words. Returns the word, which ends with a NUL that is written into
 * the text, and sets *rest to what follows it; or returns NULL if there is none left, and *rest
 * stays as it is. The word is a part of the text: nothing is to be freed. */
char *nuioa_next_word(char **rest, const char *blanks);

/* Returns the position of `word` in a list such as "a|b|c", or -1 if it is not there. */
int nuioa_word_index(const char *words, const char *word);

#endif
