# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Nodes that read a profile from a slow file server. Source it after munged.sh; needs NUIOA_BUILD.
# shellcheck disable=SC2154

# make_profile RANKS: makes $work_dir/flows, in which each rank sends to 26 others, as in a mesh
make_profile() {
    mkdir -p "$work_dir/server"
    awk -v ranks="$1" 'BEGIN {
        printf "nuioa-profile 1\nranks %d\n", ranks
        for (rank = 0; rank < ranks; rank++)
            for (step = 1; step < 27; step++)
                print "pair", rank, (rank + step * step) % ranks, 100000 + rank, 100, 0
    }' >"$work_dir/flows"
}

# read_slowly RATE READERS: so many nodes read it at once, at so many bytes in a second together;
# prints what the program "readers" does
read_slowly() {
    rm -f "$work_dir/mounted"
    # shellcheck disable=SC2016
    unshare --mount --propagation private sh -c '
        "$1/slow-fuse" "$2/server" "$2/flows" "$3" >"$2/mounted" &
        server=$!
        until [ -s "$2/mounted" ]; do kill -0 $server || exit 1; sleep 0.02; done
        timeout 120 "$4" "$2/server" "$5"
        kill $server' sh "$here" "$work_dir" "$1" "$NUIOA_BUILD/test/report/readers" "$2"
}
