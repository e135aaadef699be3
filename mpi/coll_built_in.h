/* Written by test/sim/run --table, from simulations: see test/sim/choice.py. */
#define COLL_BUILT_IN_BCAST \
    "bcast 2-15 2- 4194304 chain+window:262144\n" \
    "bcast 2-15 2- 65536 scatter+window:65536\n" \
    "bcast 16-32 2- 65536 scatter+window:65536\n"
