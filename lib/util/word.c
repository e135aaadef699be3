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
