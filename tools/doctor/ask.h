/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_ASK_H
#define NUIOA_DOCTOR_ASK_H

#include <stddef.h>

/* Questions that may hang, or that run code of other libraries, are asked in a child process. */

/* The deadline in milliseconds. It is long because a late answer is no fault on a node whose CPUs
 * are all busy. */
#define DOCTOR_ASK_MS 5000

/* Runs work(fd, arg) in a child process, which calls doctor_answer with `fd`. Copies the text of
 * the last answer to `text`, an array of `size` bytes, and returns its letter. Returns 0 and "" if
 * there was no answer within DOCTOR_ASK_MS, or no child. The child is gone in every case. */
char doctor_ask(void (*work)(int fd, void *arg), void *arg, char *text, size_t size);

/* The child calls this to send its answer: a letter, which is not NUL, and a text, which is cut at
 * 254 bytes. Before what may kill it, it sends what its death means. */
void doctor_answer(int fd, char letter, const char *text);

/* The child calls this to give up the identity of root, so that nothing that it loads or makes has
 * it. If that fails, the child ends without an answer. It does nothing if the user is not root. */
void doctor_become_nobody(void);

#endif
