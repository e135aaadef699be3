/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

int main(void)
{
    return unit_run(program_invocation_short_name);
}
