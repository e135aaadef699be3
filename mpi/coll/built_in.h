/* SPDX-License-Identifier: BSD-3-Clause */

/* Written by test/sim/run --table, from simulations: see test/sim/choice.py. */
#define COLL_BUILT_IN_BCAST \
    "bcast 4-7 2 393216 pass\n" \
    "bcast 4-7 2 98304 chain+window:16384\n" \
    "bcast 4-7 2 65536 scatter+window:65536\n"
