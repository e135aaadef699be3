/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FUZZ_INPUT_H
#define TEST_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults.h"

/* libFuzzer calls this function for each input; a target defines it. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input that is consumed from its beginning. */
struct input {
    const uint8_t *data;
    size_t size;
};

/* Takes the next byte; 0 if there is none left. */
uint8_t input_byte(struct input *input);

/* Takes a number below `limit` (1 to 65536), from one byte or two. */
unsigned input_below(struct input *input, unsigned limit);

/* Fills `to` with the next `size` bytes; those that are not there any more are 0. */
void input_fill(struct input *input, void *to, size_t size);

/* Takes the next *length bytes, or all that are left, as a copy that is exactly as long. *length
 * becomes their number. The caller frees it. */
void *input_block(struct input *input, size_t *length);

/* Takes the text up to the next newline, or to the end. The copy ends with a NUL and is exactly as
 * long as it must be, so that AddressSanitizer sees each byte that is read beyond it. The caller
 * frees it. */
char *input_line(struct input *input);

/* Takes all that is left, as such a text. */
char *input_text(struct input *input);

/* Returns a copy of the bytes that are left, exactly as long as they are; at least 1 byte. The
 * caller frees it. */
uint8_t *input_copy(const struct input *input);

/* Returns the path of a directory of this process. It is removed at the end of the process;
 * test/fuzz/run removes what a crash leaves. */
const char *input_directory(void);

/* Writes the bytes to the file `name` in that directory, and returns its path, which is valid for
 * the next 7 calls. Directories in the name are made. */
const char *input_file(const char *name, const void *bytes, size_t size);

/* Removes such a file if it is there. */
void input_no_file(const char *name);

/* Stops the process with a finding if `condition` is false: for what must hold whatever the input
 * is. */
#define INPUT_CHECK(condition) input_check((condition), #condition, __FILE__, __LINE__)
void input_check(int holds, const char *text, const char *file, int line);

/* The same as an expression, for a call that fails if it lacks memory. It is false if the condition
 * does not hold because a call was made to fail; then the target gives back what it has, and ends
 * the input. After an INPUT_CHECK() nobody sees whether the decoder has given back its memory. */
#define INPUT_HOLDS(condition) input_holds((condition), #condition, __FILE__, __LINE__)
bool input_holds(int holds, const char *text, const char *file, int line);

#endif
