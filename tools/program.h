/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROGRAM_H
#define NUIOA_TOOL_PROGRAM_H

/* Runs the program words[0], which is looked for in PATH, with these words, an array that ends with
 * NULL, for at most two seconds, without standard input and error. Returns 0 and sets *text to what
 * it prints, at most 16 MiB, which the caller frees. Else *text is NULL: returns -ETIMEDOUT, or
 * another negative errno if it is not there or prints nothing. */
int program_output(const char *const *words, char **text);

#endif
