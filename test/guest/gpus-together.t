#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Six steps of one GPU each that start together, and do not see each other, never share a NIC.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    use_slurm
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

# batch NUMBER: six steps of one GPU, all of which run before one ends. Sets ranks, and collided:
# how many NICs several of them have.
batch() {
    local step try files=/home/user/batch.$1
    for step in 1 2 3 4 5 6; do
        # shellcheck disable=SC2016
        as_user timeout 200 srun --jobid="$job" --exact -n1 -c1 --gpus=1 \
            ${nuioa:+"$nuioa"} sh -c 'cd /home/user && whereami --env 1 >part.$1.$2 &&
            mv part.$1.$2 batch.$1.$2; for try in $(seq 900); do
                [ ! -e end.$1 ] || exit 0; sleep 0.1; done' sh "$1" $step 2>/dev/null &
    done
    for ((try = 0; try < 900; try++)); do
        [ "$(cat "$files".* 2>/dev/null | wc -l)" = 6 ] && break
        sleep 0.1
    done
    as_user touch "/home/user/end.$1"
    wait
    ranks=$(cat "$files".*)
    collided=$(a_line NUIOA_NIC | sort | uniq -d | wc -l)
}
nuioa=--nuioa=export
[ "$plugin" = yes ] || nuioa=""
job=$(hold 8 --gpus=6)
collisions=0 steps=0 wrong=0
for ((number = 1; number <= 20; number++)); do
    batch $number
    [ "$collided" = 0 ] || collisions=$((collisions + 1))
    steps=$((steps + $(a_line NUIOA_NIC | wc -l)))
    while read -r own nics; do
        fit "$own" "$nics" || wrong=$((wrong + 1))
    done < <(paste -d' ' <(a_line gpus) <(a_line NUIOA_NICS))
done
release "$job"
is "20 batches of six steps that start together: no NIC is shared, each is behind its switch" \
    "$collisions batches collided, $steps steps, $wrong wrong" \
    "0 batches collided, 120 steps, 0 wrong"
done_testing
