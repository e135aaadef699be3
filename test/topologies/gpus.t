#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Nodes with GPUs and several NICs: the paths between them, and the NICs that ranks with GPUs get,
# held against gpu_oracle.py, which shares no code with nuioa.

. "$(dirname "$0")/lib.sh"
machines=$here/gpus

# planned XML RANKS: makes a plan for one rank a GPU, for two, or for one rank with two GPUs.
planned() {
    local gpus
    gpus=$("$here/gpu_oracle.py" gpus "$1" "$2") || return 1
    timeout 60 "$tool" plan --topology "$1" --tasks "$(tr -cd ';' <<<"$gpus;" | wc -c)" \
        --gpus "$gpus" --nuioa on --json >"$work/plan.json"
}

paths_agree() {
    timeout 60 "$tool" topo --topology "$1" --json >"$work/topo.json" &&
        "$here/gpu_oracle.py" paths "$1" <"$work/topo.json"
}

best_nics() {
    planned "$1" "$2" && "$here/gpu_oracle.py" plan "$1" "$work/topo.json" <"$work/plan.json"
}

# choice XML RANKS: the PCI addresses of each rank's NICs.
choice() {
    paths_agree "$1" && planned "$1" "$2" &&
        "$here/gpu_oracle.py" choice "$1" "$work/topo.json" <"$work/plan.json"
}

# renamed XML: another node of the same kind, whose driver has numbered the NICs in reverse.
renamed() {
    sed -E 's/HostName" value="n1"/HostName" value="n2"/
            s/"rdmap([0-9])([0-9])s0"/"rdmap\2\1s0"/
            s/(mlx5_|hsn|ib|eth)([0-9])"/\1x\2"/' "$1" |
        sed -E 's/(mlx5_|hsn|ib|eth)x0"/\19"/; s/(mlx5_|hsn|ib|eth)x1"/\18"/
                s/(mlx5_|hsn|ib|eth)x2"/\17"/; s/(mlx5_|hsn|ib|eth)x3"/\16"/
                s/(mlx5_|hsn|ib|eth)x4"/\15"/; s/(mlx5_|hsn|ib|eth)x5"/\14"/
                s/(mlx5_|hsn|ib|eth)x6"/\13"/; s/(mlx5_|hsn|ib|eth)x7"/\12"/
                s/(mlx5_|hsn|ib|eth)x8"/\11"/'
}

nics() { grep -oE '"(mlx5_|hsn|ib|eth|rdmap)[0-9][0-9s]*"' "$1"; }

# check_gpus NAME XML: all that is known of a machine with GPUs.
check_gpus() {
    local ranks
    ok "$1: the paths" paths_agree "$2"
    for ranks in one two half; do
        ok "$1: NICs of $ranks" best_nics "$2" "$ranks"
    done
}

if [ -z "$tool" ]; then
    skip_all "nodes with GPUs" "$no_tool"
fi
ok "bootstrap has made the machines" test -e "$machines/p5.xml"
for path in "$machines"/*.xml; do
    name=$(basename "$path" .xml)
    ok "$name: topo says what the raw file says" topo_agrees "$path"
    check_gpus "$name" "$path"
    renamed "$path" >"$work/renamed.xml"
    equal=$(choice "$work/renamed.xml" one)
    like "$name: a node whose NICs have other names has a choice" "$equal" .
    ok "$name: ... and they have" test "$(nics "$work/renamed.xml")" != "$(nics "$path")"
    is "$name: an equal node chooses equally" "$equal" "$(choice "$path" one)"
done

# Machines as NCCL describes them, from a directory outside this project (env NUIOA_CORPUS).
corpus=${NUIOA_CORPUS:-$top/../shared/corpus}
found=0
for path in "$corpus"/nccl-*.xml; do
    [ -r "$path" ] || continue
    found=$((found + 1))
    name=$(basename "$path" .xml)
    ok "$name: is converted" "$here/nccl_to_hwloc.py" "$path" "$work/$name.xml" &&
        check_gpus "$name" "$work/$name.xml"
done
[ "$found" -gt 0 ] ||
    skip "machines as NCCL describes them" "no corpus in $corpus (env NUIOA_CORPUS)"
done_testing
