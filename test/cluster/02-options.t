#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The sources of the options: the command line wins over the environment, which wins over
# plugstack.conf; the default is off. The leader of node1, whose NIC is near ranks 8 to 15, shows
# which value won.
. "$(dirname "$0")/testlib.sh"
setup

full=(-w node1 --exclusive)

plugin on "topology=$topology"
launch 16 "${full[@]}"
is "off by default: no NUIOA_ variable" "$(grep -c NUIOA_ <<<"$out")" 0
is "off by default: not a word" "$err" ""

launch 16 "${full[@]}" --nuioa
is "plain --nuioa is on" "$(of 0 NUIOA_VERSION)" 1
launch 16 "${full[@]}" --nuioa=export
is "export" "$(of 0 NUIOA_VERSION)" 1
is "leader=near by default" "$(of 0 NUIOA_LEADER)" 8
launch 16 SLURM_NUIOA=export "${full[@]}"
is "export from the environment" "$(of 0 NUIOA_LEADER)" 8
launch 16 SLURM_NUIOA= "${full[@]}"
is "an empty variable is not set" "$(grep -c NUIOA_ <<<"$out")" 0
launch 16 SLURM_NUIOA=export "${full[@]}" --nuioa=off
is "--nuioa=off leaves nothing" "$(grep -c NUIOA_ <<<"$out")" 0

plugin on "topology=$topology" default=export leader=rank0
launch 16 "${full[@]}"
is "default=, leader= from plugstack.conf" "$(of 5 NUIOA_LEADER)" 0
launch 16 SLURM_NUIOA_LEADER=near "${full[@]}"
is "the environment is above plugstack.conf" "$(of 5 NUIOA_LEADER)" 8
launch 16 SLURM_NUIOA_LEADER=near "${full[@]}" --nuioa-leader=off
is "the command line is above both" "$(of 5 NUIOA_VERSION),$(of 5 NUIOA_LEADER)" "1,"
launch 16 "${full[@]}" --nuioa-leader=near
is "the command line is above plugstack.conf" "$(of 5 NUIOA_LEADER)" 8
launch 16 SLURM_NUIOA=off "${full[@]}"
is "a user can say off against the site" "$(grep -c NUIOA_ <<<"$out")" 0

plugin on "topology=$topology" default=export
plugin -n node2 on "topology=$topology" default=export leader=rank0
launch 32 -w node1,node2 --exclusive
is "each node reads its own plugstack.conf" "$(of 0 NUIOA_LEADER),$(of 16 NUIOA_LEADER)" "8,16"

# Good values are taken from every source without a message, and the job runs. Which values are good
# is test/unit/option_test.c's matter; a launch here has one of each option.
plugin on "topology=$topology"
while read -r line; do
    read -ra words <<<"$line"
    variables=()
    for word in "${words[@]}"; do
        name=${word%%=*} name=${name^^}
        variables+=("SLURM_NUIOA_${name//-/_}=${word#*=}")
    done
    launch 2 -w node1 --nuioa=export "${words[@]/#/--nuioa-}"
    is "flags: $line" "$rc:$err" "0:"
    launch 2 "${variables[@]}" -w node1 --nuioa=export
    is "variables: $line" "$rc:$err" "0:"
    plugin on "topology=$topology" default=export "${words[@]}"
    launch 2 -w node1
    is "plugstack.conf: $line" "$rc:$err" "0:"
    plugin on "topology=$topology"
done <<'END'
hints=0:10,rest:0 policy=bandwidth cores=auto gpus=auto nic=auto rails=auto mem=local leader=near
hints=heavy=0 policy=latency cores=keep gpus=follow nic=mlx5_0 rails=2 mem=nic leader=rank0
cores=share gpus=keep nic=^eth0 rails=connected,3 mem=interleave leader=off threads=auto
cores=pack gpus=local-rank nic=mlx5_* nic-role=mlx5_8:storage,eth?:management mem=off threads=on
gpus=local-rank:block threads=off export=env,pmix
export=env,ucx,ofi,nccl,psm,mpich,nvshmem
export=none
END
# (A node's words about its own plugstack.conf go to slurmd's log, what srun says goes to the user.)
plugin on "topology=$topology" default=export deadline_ms=2000 remote_cost=0.25 hop_cost=0.1 \
    load_cost=2
launch 2 -w node1
is "plugstack.conf: what only it may say" "$rc:$err" "0:"

plugin on "topology=$topology" default=export nic=^mlx5_0 $'leader=rank0\r'
launch 2 -w node1
is "plugstack.conf with CRLF: its last argument counts" "$rc:$err:$(of 0 NUIOA_LEADER)" "0::0"

plugin on "topology=$topology" nic=^mlx5_0
launch 2 -w node1 --nuioa=export
is "nic= from plugstack.conf is obeyed" "$(of 0 NUIOA_VERSION),$(of 0 NUIOA_NIC)" "1,"

plugin on "topology=$topology"
refused --nuioa=help
is "--nuioa=help starts nothing" "$ranks" 0
is "--nuioa=help exits with 0" "$rc" 0
for name in hints policy cores gpus nic rails mem leader threads export; do
    like "--nuioa=help has $name" "$out$err" "$name"
done
users=${out%%plugstack.conf, or to*} admins=${out#*plugstack.conf, or to}
unlike "--nuioa=help: users may not say munge_socket" "$users" 'munge_socket|topology  '
for name in distances cache topology munge_socket deadline_ms remote_cost hop_cost \
    load_cost; do
    like "--nuioa=help: only plugstack.conf has $name" "$admins" $'\n '"$name "
done
widest=$(awk '{ if (length > w) w = length } END { print w + 0 }' <<<"$out$err")
ok "--nuioa=help fits 100 columns" test "$widest" -le 100
user srun --help
like "srun --help lists the options" "$out" '--nuioa-policy'

finish
