/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_ADVICE_PMIX_H
#define NUIOA_PMIX_CLIENT_ADVICE_PMIX_H

#include "pmix/client/advice.h"

/* Reads nuioa's keys from PMIx into `advice`, which is empty before, and sets its source. Leaves it
 * empty if this process has not initialised PMIx or has one thread only, if PMIx does not answer a
 * question within 0.9 s, or has not in an earlier call, if there are no keys of nuioa, or if this
 * library was built without PMIx. Returns 0 in these cases too; or -ENOMEM. The caller frees the
 * advice with advice_clear, also after an error. */
int advice_from_pmix(struct nuioa_client *advice);

#endif
