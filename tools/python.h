/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PYTHON_H
#define NUIOA_TOOL_PYTHON_H

#include <stddef.h>

/* Becomes python3 of PATH with one of nuioa's own scripts, such as "probe-nic.py", which then has
 * argv[1] to argv[argc - 1] as its sys.argv[1:]; standard input, output and error stay. The script
 * is beside this program, as in a build tree, or else where it was installed. Python is isolated
 * (-I): variables such as PYTHONPATH do not count.
 *
 * Returns only if that fails, after one line on stderr: TOOL_UNANSWERED (tool.h). */
int tool_python_exec(const char *script, int argc, char **argv);

/* Runs a script as tool_python_exec does, with `text` as its standard input, and waits for its end.
 * It gets the signals that stop a program, and SIGTERM if this program ends. Sets *printed to what
 * it has printed, *length bytes and a NUL, which the caller frees with free(); NULL if memory is
 * short. Returns its exit status, or TOOL_UNANSWERED after a message. If a signal has stopped
 * either, this program ends by it after a message. */
int tool_python_run(const char *script, int argc, char **argv, const char *text, char **printed,
                    size_t *length);

#endif
