/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_ASK_H
#define NUIOA_DOCTOR_ASK_H

#include <stddef.h>

/* Questions that may hang, or that run code of other libraries, are asked in a child process. */

/* The deadline. It is long because a late answer is no fault on a node whose CPUs are all busy. */
#define DOCTOR_ASK_MS 5000

/* Runs `work` in a child process, which calls doctor_answer with `fd`. Returns the letter of its
 * answer and its text. Returns 0 and "" if there was no answer in time. */
char doctor_ask(void (*work)(int fd, void *arg), void *arg, char *text, size_t size);

/* For the child: sends its answer. */
void doctor_answer(int fd, char letter, const char *text);

/* For the child: gives up the identity of root, so that nothing that it loads or makes has it. */
void doctor_become_nobody(void);

#endif
