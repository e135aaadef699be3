/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PYTHON_H
#define NUIOA_TOOL_PYTHON_H

/* Becomes python3 of PATH with one of nuioa's own scripts, such as "probe-nic.py", which then has
 * argv[1] to argv[argc - 1] as its sys.argv[1:]; standard input, output and error stay. The script
 * is beside this program, as in a build tree, or else where it was installed. Python is isolated
 * (-I): variables such as PYTHONPATH do not count.
 *
 * Returns only if that fails, after one line on stderr: TOOL_UNANSWERED (tool.h). */
int tool_python_exec(const char *script, int argc, char **argv);

#endif
