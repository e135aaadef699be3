/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "spank/rendezvous/token.h"
#include "input.h"

/* The token, a variable of the job's environment that the user can set: slurmstepd reads it as
 * root. The input is its text. A token that is accepted is written in the same way. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct token token, again;
    char written[TOKEN_TEXT_MAX], *text = input_text(&in);
    if (text && !token_read(&token, text)) {
        INPUT_CHECK(token.port);
        token_write(&token, written);
        INPUT_CHECK(!token_read(&again, written) && !memcmp(&again, &token, sizeof(token)));
    }
    free(text);
    return 0;
}
