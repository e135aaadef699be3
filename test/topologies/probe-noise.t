#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What nuioa probe --nic believes: a benchmark whose rates have 5 % noise. Where all are equal,
# distance costs nothing, in each of 8 trials; where one is 20 % less, it is found in each.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../unit/tool.sh
. "$here/../unit/tool.sh"
# shellcheck source=../probe/secret.sh
. "$here/../probe/secret.sh"
if ! make_secret; then
    skip_all "nuioa probe --nic" "no compiler, or no libnuma: $(tail -n 1 "$work/cc")"
fi
on infiniband 8 # the NIC is on NUMA node 1

# trials FAR WHAT: how many of 8 propose a remote_cost of which WHAT, in Python, is true
trials() {
    local seed right=0
    printf '%s\n' 2 "10000 $1" "10000 10000" >"$work/matrix.mlx5_0"
    for seed in {1..8}; do
        rm -f "$work/count"
        echo "0.05 $1$seed" >"$work/noise"
        measure "${plain[@]}" --json
        if [ "$(json "(lambda cost: $2)(d['remote_cost'])")" = True ]; then
            right=$((right + 1))
        else
            note "trial $seed: $(json "d['remote_cost'], d['believed'], d['write_mad']")"
        fi
    done
    echo "$right"
}

is "5 % noise, equal rates: remote_cost=0, of 8 trials" "$(trials 10000 "cost == 0")" 8
# Four standard errors of a quotient of two medians, each of 15 values: 0.12.
is "5 % noise, 20 % less: that gap, of 8 trials" "$(trials 8000 "0.13 < cost < 0.37")" 8
done_testing
