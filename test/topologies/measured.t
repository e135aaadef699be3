#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What was measured of NICs, in the site's distance file: how it is read, written and kept, who
# prices by it, and what is said of it. measured.py has the plans.

. "$(dirname "$0")/lib.sh"

if [ -z "$tool" ]; then
    skip_all "plans by what was measured" "$no_tool"
fi
"$here/measured.py" "$tool" "$here" "$work" >"$work/plans" 2>"$work/errors" ||
    note "$(cat "$work/errors")"
while IFS= read -r line; do
    case $line in
    "ok "*) pass "${line#* - }" ;;
    "not ok"*) fail "${line#* - }" ;;
    "#"*) printf '%s\n' "$line" ;;
    esac
done <"$work/plans"
like "all were made" "$(tail -n 1 "$work/plans")" '^1\.\.20$'

# site NIC-LINE...: a file for infiniband.xml, whose NIC is on NUMA node 1
site() {
    printf '%s\n' "nuioa-distances 1" "machine packages=2 numa=2 cores=16" "numa 0 1" "row 10 21" \
        "row 21 10" "$@" >"$work/site"
}
plan() {
    "$tool" plan --topology "$here/infiniband.xml" --tasks 16 --hints heavy=0 \
        --distances "$work/site" "$@" 2>&1
}
site "nic mlx5_0:1 numa=0 write_mb_s=8000 n=15 mad=0.001" \
    "nic mlx5_0 numa=1 write_mb_s=20000 n=15 mad=0.001"
like "explain says the prices, and that they were measured" "$(plan --explain)" \
    'cost of one weight, measured for mlx5_0:1: 2\.5 on NUMA node 0, 1 on NUMA node 1'
site "nic mlx5_0:1 numa=0 write_mb_s=19900 n=15 mad=0.03" \
    "nic mlx5_0:1 numa=1 write_mb_s=20000 n=15 mad=0.03"
like "what noise could be costs nothing" "$(plan --explain)" \
    'measured for mlx5_0:1: 1 on NUMA node 0, 1 on NUMA node 1'
site "nic mlx5_7 numa=0 write_mb_s=8000 n=15 mad=0.001"
is "a NIC that is not here changes nothing" "$(plan | sed '/time\|distance/d')" \
    "$(site; plan | sed '/time\|distance/d')"
refused() {
    "$tool" topo --topology "$here/infiniband.xml" --distances "$work/site" 2>&1 | tr -s ' \n' ' '
}
for line in "nic" "nic mlx5_0:1" "nic mlx5_0:1 numa=0" "nic mlx5_0:1 numa=0 n=0" \
    "nic mlx5_0:1 numa=0 n=15 write_mb_s=-1" "nic mlx5_0:1 numa=0 n=15 write_mb_s=1e13" \
    "nic mlx5_0:1 numa=0 n=15 speed=1" "nic mlx5_0:1 numa=0 n=15 mad"; do
    site "$line"
    like "refused: $line" "$(refused)" "site:6: expected nic NAME numa=N write_mb_s="
done
site "nic mlx5_0:1 numa=4 n=15 mad=0.1"
like "refused: a NUMA node that is not there" "$(refused)" \
    'site:6: numa= of a "nic" line is none of this node'
done_testing
