/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/word.h"

#include <stddef.h>
#include <string.h>

char *nuioa_next_word(char **rest, const char *blanks)
{
    char *word = *rest + strspn(*rest, blanks);
    if (!*word)
        return NULL;
    *rest = word + strcspn(word, blanks);
    if (**rest)
        *(*rest)++ = '\0';
    return word;
}

int nuioa_word_index(const char *words, const char *word)
{
    size_t length = strlen(word), item = strcspn(words, "|");
    for (int i = 0;; i++, words += item + 1, item = strcspn(words, "|")) {
        if (item == length && !memcmp(words, word, length))
            return i;
        if (!words[item])
            return -1;
    }
}
