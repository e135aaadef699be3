/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TEST_COVERAGE_DUMP_H
#define NUIOA_TEST_COVERAGE_DUMP_H

/* Every file of a coverage build includes this first (gcc -include). gcc writes the counts of a
 * process when it calls exit; these processes end otherwise, and write them before:
 *
 * - children that call _exit;
 * - a task of Slurm's, which calls exec after the plugin's last hook in it. */

#include <unistd.h>

void __gcov_dump(void);

/* test/hooks has these two: what gcc itself calls to write the counts must not fail. */
void fault_pause(void) __attribute__((weak));
void fault_resume(void) __attribute__((weak));

static inline void coverage_dump(void)
{
    if (fault_pause)
        fault_pause();
    __gcov_dump();
    if (fault_resume)
        fault_resume();
}

static inline _Noreturn void coverage_exit(int status)
{
    coverage_dump();
    _exit(status);
}
#define _exit coverage_exit

/* The definition of the hook becomes that of covered_task_init, and one that calls it. */
#define slurm_spank_task_init(spank, argc, argv) \
    covered_task_init(spank, argc, argv); \
    extern int(slurm_spank_task_init)(spank_t s, int n, char **a) \
    { \
        int result = covered_task_init(s, n, a); \
        coverage_dump(); \
        return result; \
    } \
    int covered_task_init(spank, argc, argv)

#endif
