#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The sources of the options: the command line wins over the environment, which wins over
# plugstack.conf; the default is off. The leader of node1, whose NIC is near ranks 8 to 15, shows
# which value won.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin

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

# Every good value of every option is taken from every source without a message, and the job runs.
plugin on "topology=$topology"
while read -r name value; do
    launch 2 -w node1 --nuioa=export "--nuioa-$name=$value"
    is "--nuioa-$name=$value" "$rc:$err" "0:"
    variable=${name^^} variable=SLURM_NUIOA_${variable//-/_}
    launch 2 "$variable=$value" -w node1 --nuioa=export
    is "$variable=$value" "$rc:$err" "0:"
done <<'END'
hints 0:10,rest:0
hints heavy=0
policy bandwidth
policy latency
policy cpu
cores auto
cores keep
cores share
cores pack
gpus auto
gpus follow
gpus keep
gpus local-rank
gpus local-rank:block
nic auto
nic mlx5_0
nic ^eth0
nic mlx5_*
nic-role mlx5_8:storage,eth?:management
rails auto
rails 2
rails connected,3
mem local
mem nic
mem interleave
mem off
leader near
leader rank0
leader off
threads auto
threads on
threads off
export env,pmix
export env,ucx,ofi,nccl,psm,mpich,nvshmem
export none
gather off
END
# (A node's words about its own plugstack.conf go to slurmd's log, what srun says goes to the user.)
while read -r argument; do
    plugin on "topology=$topology" default=export "$argument"
    launch 2 -w node1
    is "plugstack.conf: $argument" "$rc:$err" "0:"
done <<'END'
policy=latency
cores=pack
gpus=local-rank
nic=mlx5_0
nic-role=mlx5_8:storage
rails=connected
mem=off
leader=rank0
threads=on
export=env
gather=off
timeout_ms=100
deadline_ms=2000
remote_cost=0.25
hop_cost=0.1
load_cost=2
END

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
for name in hints policy cores gpus nic rails mem leader threads export gather; do
    like "--nuioa=help has $name" "$out$err" "$name"
done
users=${out%%plugstack.conf, or to*} admins=${out#*plugstack.conf, or to}
unlike "--nuioa=help: users may not say munge_socket" "$users" 'munge_socket|topology  '
for name in distances cache topology auth munge_socket steps deadline_ms remote_cost hop_cost \
    load_cost; do
    like "--nuioa=help: only plugstack.conf has $name" "$admins" $'\n '"$name "
done
widest=$(awk '{ if (length > w) w = length } END { print w + 0 }' <<<"$out$err")
ok "--nuioa=help fits 100 columns" test "$widest" -le 100
user srun --help
like "srun --help lists the options" "$out" '--nuioa-policy'

finish
