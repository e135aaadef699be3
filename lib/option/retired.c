/* SPDX-License-Identifier: BSD-3-Clause */
#include "option/retired.h"

#include <stddef.h>

/* Other names that went: functions, variables, programs, files. test/lint finds the words of this
 * list, and the flags and variables of the table, in no other file but NEWS:
 *
 *     (none)
 */

const struct nuioa_retired nuioa_retired_table[] = {
    { NULL, NULL, false, NULL },
};
