/* SPDX-License-Identifier: BSD-3-Clause */

/* Written by test/sim/run --table, from simulations: see test/sim/choice.py. */
#define COLL_BUILT_IN_BCAST \
    "bcast 2-3 2 8388608 pass\n" \
    "bcast 2-3 2 1048576 chain+window:262144\n" \
    "bcast 2-3 2 65536 chain+window:16384\n" \
    "bcast 2-3 3-4 1048576 chain+window:262144\n" \
    "bcast 2-3 3-4 131072 chain+window:16384\n" \
    "bcast 2-3 3-4 65536 chain+window:8192\n" \
    "bcast 2-3 5-16 1048576 pass\n" \
    "bcast 2-3 5-16 262144 chain+window:16384\n" \
    "bcast 2-3 5-16 65536 chain+window:8192\n" \
    "bcast 4-7 2-4 1048576 pass\n" \
    "bcast 4-7 2-4 524288 scatter+window:65536\n" \
    "bcast 4-7 2-4 131072 chain+window:16384\n" \
    "bcast 4-7 2-4 65536 scatter+window:65536\n" \
    "bcast 4-7 5-16 262144 chain+window:16384\n" \
    "bcast 4-7 5-16 65536 chain+window:8192\n" \
    "bcast 8-15 2-4 1048576 pass\n" \
    "bcast 8-15 2-4 524288 scatter+window:65536\n" \
    "bcast 8-15 2-4 131072 chain+window:16384\n" \
    "bcast 8-15 2-4 65536 scatter+window:65536\n" \
    "bcast 8-15 5-16 524288 chain+window:16384\n" \
    "bcast 8-15 5-16 262144 scatter+window:65536\n" \
    "bcast 8-15 5-16 131072 chain+window:8192\n" \
    "bcast 8-15 5-16 65536 scatter+window:65536\n" \
    "bcast 16-32 2-4 262144 scatter+window:65536\n" \
    "bcast 16-32 2-4 65536 pass\n" \
    "bcast 16-32 5-16 65536 scatter+window:65536\n"
