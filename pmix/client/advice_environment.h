/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_ADVICE_ENVIRONMENT_H
#define NUIOA_PMIX_CLIENT_ADVICE_ENVIRONMENT_H

#include "pmix/client/advice.h"

/* Reads the NUIOA_* variables of this process into `advice`, which is empty before, and sets its
 * source. Leaves it empty if there are none, or if they are of another launcher's process. Returns
 * 0 in these cases too; or -ENOMEM. The caller frees the advice with advice_clear, also after an
 * error. */
int advice_from_environment(struct nuioa_client *advice);

#endif
