#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# gpus=local-rank: where all ranks see all GPUs, and each takes the one of its local rank, each is
# told the NIC behind the switch of that GPU: in four modes (ConstrainDevices or not, and the
# variables of NVIDIA or of AMD), for as many ranks as GPUs, for twice and half as many, by both
# rules, and in another visible order. Without the option nobody is told what is not so; where only
# the site says it, no variable chooses NICs, and nobody moves. nuioa exec tells the same under
# torchrun, and of GPUs that a script has divided.
#
# What a program would take is computed here from its local rank, from the files that it may open,
# and from the numbers in its variables, which are in PCI order.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    use_slurm
    (set -e; build_disturb "$payload") || exit
    "$here/boot" gpus6 --cgroup --timeout 1500 --payload "$payload" \
        --plugstack "deadline_ms=10000 rails=auto,connected" "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh
# shellcheck source=gpus.sh
. /nuioa/gpus.sh
locate_devices
the_plugin_does
cp /etc/slurm/plugstack.conf /tmp/plugstack.conf

# taken RULE: for each rank the GPU that its program takes, by its local rank: mod or block.
taken() {
    local open list i=0 count visible name=CUDA_VISIBLE_DEVICES
    [ "$vendor" = nvidia ] || name=ROCR_VISIBLE_DEVICES
    count=$(wc -l <<<"$ranks")
    while read -r open list; do
        [ "$constrain" = yes ] || open=${all_gpus// /,}
        read -ra open < <(tr ',' '\n' <<<"$open" | LC_ALL=C sort | xargs)
        IFS=, read -ra visible <<<"$list"
        if [ "$1" = mod ]; then
            echo "${open[${visible[i % ${#visible[@]}]}]}"
        else
            echo "${open[${visible[i * ${#visible[@]} / count]}]}"
        fi
        i=$((i + 1))
    done < <(paste -d' ' <(a_line gpus) <(a_line "$name"))
}

# judge RULE: sets verdict, "6 near, 6 known, 6 filtered, 6 beside": how many ranks are told first a
# NIC behind the switch of the GPU that they take; are told this GPU, and no NIC that is not behind
# its switch; have variables that choose NICs, of which others than NUIOA_NICS are wrong; and run on
# its NUMA node.
judge() {
    local own said nic nics ucx numa near=0 filtered=0 wrong=""
    known=0 beside=0
    while read -r own said nic nics ucx numa; do
        ! fit "$own" "$nic" || near=$((near + 1))
        [ "$said" = - ] || [ "$said" = "$own" ] || wrong=", wrong GPUs"
        [ "$said" != "$own" ] || ! fit "$own" "$nics" || known=$((known + 1))
        [ "${numa_of[$own]}" != "$numa" ] || beside=$((beside + 1))
        [ "$ucx" = - ] || filtered=$((filtered + 1))
        [ "$ucx" = - ] || [ "$ucx" = "$nics" ] || wrong+=", a wrong filter"
    done < <(paste -d' ' <(taken "$1") <(a_line NUIOA_GPUS) <(a_line NUIOA_NIC) \
        <(a_line NUIOA_NICS) <(a_line UCX_NET_DEVICES) <(a_line numa))
    verdict="$near near, $known known, $filtered filtered$wrong"
}

# check NAME WANTED: compares the verdict; if it differs it also shows what was judged.
check() {
    is "$mode: $1" "$verdict" "$2"
    [ "$verdict" = "$2" ] || note "$(
        paste -d' ' <(a_line rank) <(a_line cpus) <(a_line gpus) <(a_line NUIOA_GPUS) \
            <(a_line NUIOA_NICS) <(a_line UCX_NET_DEVICES))"
}

rule=--nuioa-gpus=local-rank
export_all="--nuioa-export=env,ucx"
for each in "yes nvidia" "yes amd" "no nvidia" "no amd"; do
    # The numbers in the names of device files are then in another order.
    # shellcheck disable=SC2046
    [ "$each" != "no nvidia" ] || number_gpus $(tr ' ' '\n' <<<"$all_gpus" | tac)
    [ "$each" != "no nvidia" ] || cp /etc/slurm/gres.conf /tmp/gres.conf
    # shellcheck disable=SC2086
    mode $each
    mode="ConstrainDevices=$constrain, $vendor"

    # On Slurm 22.05 six ranks of a core have the first cores of both sockets in turn.
    launch -n6 -c1 --gpus=6 --nuioa=on,report "$export_all" "$rule"
    judge mod
    check "as many ranks as GPUs" "6 near, 6 known, 6 filtered"
    is "$mode: CPUs follow them" "$(says "CPUs follow GPUs"), $beside beside" "1, 6 beside"
    launch -n12 -O --gpus=6 --nuioa=export "$export_all" "$rule"
    judge mod
    check "twice as many" "12 near, 12 known, 12 filtered"
    [ "$each" = "yes nvidia" ] || [ "$each" = "no amd" ] || continue
    launch -n3 -c1 --gpus=6 --nuioa "$export_all" "$rule"
    judge mod
    check "half as many" "3 near, 3 known, 3 filtered"
    launch -n3 -c1 --gpus=6 --nuioa=export "$export_all" "$rule:block"
    judge block
    check "half as many in blocks" "3 near, 3 known, 3 filtered"
    [ "$vendor" = nvidia ] && name=CUDA || name=ROCR
    # disturb.so sets it before nuioa's plugin sees it, as a plugin of the site may.
    [ "$plugin" = no ] ||
        echo "optional /usr/lib/slurm/disturb.so set ${name}_VISIBLE_DEVICES 5,3,4,0,2,1" |
        cat - /tmp/plugstack.conf >/etc/slurm/plugstack.conf
    launch -n6 -c1 --gpus=6 --nuioa "$export_all" "$rule"
    is "$mode: a variable has another order" "$(values "${name}_VISIBLE_DEVICES" | cut -c1-4)" 5,3,
    judge mod
    check "... and so have NICs" "6 near, 6 known, 6 filtered"
    cp /tmp/plugstack.conf /etc/slurm/plugstack.conf
    launch -n6 -c1 --gpus=6 --nuioa=on,report "$export_all"
    is "$mode: without it no GPU is named, no variable chooses, and the report offers it" \
        "$(distinct NUIOA_GPUS) $(distinct UCX_NET_DEVICES) $(values UCX_NET_DEVICES | cut -c1) $(
            says "--nuioa-gpus=local-rank")" "1 1 - 1"

    [ "$plugin" = no ] || sed -i 's/deadline_ms/default=on gpus=local-rank export=env,ucx &/' \
        /etc/slurm/plugstack.conf
    launch -n6 -c1 --gpus=6 --nuioa=off
    slurms=$(values cpus)
    launch -n6 -c1 --gpus=6
    judge mod
    check "the site says it: NICs, and no filter" "6 near, 6 known, 0 filtered"
    is "$mode: ... nobody moves" "$(values cpus) $known" "$slurms 6"
    launch -n6 -c1 --gpus=6 --nuioa
    judge mod
    check "... and the user has typed --nuioa" "6 near, 6 known, 6 filtered"
    cp /tmp/plugstack.conf /etc/slurm/plugstack.conf
done

# nuioa exec. Without the plugin nuioa(1) is not there either.
mode no nvidia
exec="nuioa exec --export=env,ucx --rails=auto,connected"
after="--"
[ "$plugin" = yes ] || exec="" after=""

# A script divides the GPUs, after the plugin has placed the ranks without knowing them.
# shellcheck disable=SC2016 # the inner shell's
divide='CUDA_VISIBLE_DEVICES=$SLURM_LOCALID exec'
options=(-n6 -c1 --gpus=6)
[ "$plugin" = no ] || options+=(--nuioa)
ranks=$(as_user timeout 90 srun "${options[@]}" sh -c "$divide $exec $after whereami --env 1" |
    sort -t= -k2n)
judge mod
mode="nuioa exec"
check "in a rank that the plugin has placed, and a script has given a GPU" \
    "6 near, 6 known, 6 filtered"
placed=$(values cpus)
launch -n6 -c1 --gpus=6 --nuioa
is "$mode: ... its CPUs stay" "$(distinct cpus) $placed" "6 $(values cpus)"

# torchrun WORD...: six processes with torchrun's variables
torchrun() {
    local i
    for ((i = 0; i < 6; i++)); do
        # shellcheck disable=SC2086 # several words
        CUDA_VISIBLE_DEVICES=5,3,4,0,2,1 LOCAL_RANK=$i LOCAL_WORLD_SIZE=6 RANK=$i WORLD_SIZE=6 \
            as_user timeout 90 $exec "$@" $after whereami --env 1
    done >/tmp/ranks 2>/tmp/said
    ranks=$(cat /tmp/ranks) said=$(cat /tmp/said)
}
torchrun
judge mod
check "torchrun: the GPU of the local rank, and no filter" "6 near, 6 known, 0 filtered"
is "$mode: ... nobody moves" "$(distinct cpus) $known" "1 6"
[ "$plugin" = no ] || set -- --gpus=local-rank
torchrun "$@"
judge mod
check "torchrun, and the user says it" "6 near, 6 known, 6 filtered"
# 8 CPUs would be divided into 2 and 2 on one NUMA node and 4 times 1 on the other. One of the three
# ranks whose GPU is beside the first would lose all CPUs near it, so they are not divided.
is "$mode: ... nobody loses the CPUs near its GPU" "$(distinct cpus) $known" "1 6"
done_testing
