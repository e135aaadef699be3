/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OPTION_RETIRED_H
#define NUIOA_OPTION_RETIRED_H

#include <stdbool.h>

/* The options that went since 1.0, and the values that went of options that stay. Somebody who
 * still types one gets one line, and his launch goes on without it. srun knows their flags until
 * 2.0. */

struct nuioa_retired {
    char name[16];      /* as in nuioa_option_table */
    const char *value;  /* the value that went; NULL: the whole option */
    bool admin;         /* only plugstack.conf could set it */
    const char *advice; /* what to do instead: the end of the sentence */
};

/* They end with an entry without a name. */
extern const struct nuioa_retired nuioa_retired_table[];

#endif
