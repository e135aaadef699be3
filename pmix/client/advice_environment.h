/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_ADVICE_ENVIRONMENT_H
#define NUIOA_PMIX_CLIENT_ADVICE_ENVIRONMENT_H

#include "pmix/client/advice.h"

/* Reads the NUIOA_* variables of this process into `advice`, which is empty before, and sets its
 * source. Leaves it empty if there are none, or if they are of another launcher's process. Returns
 * 0 in these cases too; or -ENOMEM. The caller frees the advice with advice_clear, also after an
 * error. */
int advice_from_environment(struct nuioa_client *advice);

/* Returns true if `nuioa exec` has told this very rank what the variables say, also where another
 * launcher than srun has started it. */
bool advice_is_own(void);

/* Replaces what the advice says of GPUs and NICs by what `nuioa exec` has told this rank: it knew
 * more than the plugin, whose answers PMIx has. Returns 0 or -ENOMEM. */
int advice_devices_from_environment(struct nuioa_client *advice);

#endif
