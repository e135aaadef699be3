/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FUZZ_OPTIONS_H
#define TEST_FUZZ_OPTIONS_H

#include "option/option.h"

/* Checks what every reader of options promises: each value is one that option/option.h allows. */
void options_check(const struct nuioa_options *options);

#endif
