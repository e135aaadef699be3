#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# PMIx keys: what a plan says is what every rank reads, from its own libpmix, before any fence.
. "$(dirname "$0")/testlib.sh"
. "$here/pmixlib.sh"
setup_bare
need_trial

hints=0-63:3:10,rest:1
with_plan="topology=$topology hints=$hints default=on"
trial "$with_plan"

ranks_on() { sed -n "s/^\([0-9]*\) HOST=$1\$/\1/p" <<<"$out" | sort -n | paste -s -d ,; }

# as_planned NAME: each node's ranks read what `nuioa plan` says for that node; default=on alone
# leaves free cores of the step free, as cores=keep does
as_planned() {
    local node list plan
    [ -n "$(all HOST)" ] || fail "$1: it ran" "$err"
    for node in $(all HOST | tr ' ' '\n' | sort -u); do
        list=$(ranks_on "$node")
        plan=$(in_node "$node" nuioa plan --topology "$topology" --ranks "$list" --json \
            --cores keep --hints "$hints" --tasks "$(tr , '\n' <<<"$list" | wc -l)" 2>&1)
        # shellcheck disable=SC2046
        is "$1: $node ($list)" \
            "$(as_variables <<<"$out" | "$here/plan-env" --given $(tr , ' ' <<<"$list"))" \
            "$("$here/plan-env" <<<"$plan" 2>&1)"
    done
}

# keys_by_two N FIRST OPTIONS PROGRAM: a heterogeneous step. Its second component ends later than
# the first: in Slurm 22.05 each joins the thread with which mpi/pmix waits for aborts, and if both
# do, srun never ends.
keys_by_two() {
    # shellcheck disable=SC2086
    keys_by "$1" srun --mpi=pmix $2 : $3 sh -c "$4 && sleep 1"
}

if in_node ctl sh -c 'command -v nuioa' >/dev/null; then
    keys 16 -N4 --exclusive
    as_planned "block"
    keys 16 -N4 --exclusive -m cyclic
    as_planned "cyclic"
    keys 7 -N3 --exclusive
    as_planned "uneven"
    printf '%s\n' node2 node1 node2 node2 node2 node4 >"$CLUSTER_DIR/home/hosts"
    keys 6 "SLURM_HOSTFILE=$home/hosts" -m arbitrary
    is "arbitrary: as the file says" "$(all HOST)" "node2 node1 node2 node2 node2 node4"
    as_planned "arbitrary"
    keys 64 -N4 --exclusive
    as_planned "64 ranks"
    printf '0-2 %s 0 1\n3-8 %s 1 0\n' "$home/keys" "$home/keys" >"$CLUSTER_DIR/home/programs"
    keys_by 9 srun -n 9 -N4 --exclusive --mpi=pmix --multi-prog "$home/programs"
    as_planned "multi-prog"
    printf '#!/bin/sh\nsrun --mpi=pmix -n 8 %s 0 1\n' "$home/keys" >"$CLUSTER_DIR/home/batch"
    chmod 0755 "$CLUSTER_DIR/home/batch"
    keys_by 8 \
        sh -c "$home/submit -N4 --exclusive -o $home/batch.out $home/batch && cat $home/batch.out"
    as_planned "srun in sbatch"
    # Weights are looked up by the component's ranks here, so all are the same.
    trial "topology=$topology hints=0-63:1 default=on"
    keys_by_two 10 "-N2 -n4 --exclusive $home/keys 0 1" "-N2 -n6 --exclusive" "$home/keys 0 1"
    hints=0-63:1 as_planned "het job"
    trial "$with_plan"
else
    skip "keys are as planned" "no nuioa(1) in NUIOA_STAGE"
fi

keys 16 -N4 --exclusive
is "the client library reads PMIx" "$(key_all client.source)" "2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2"
is "and finds the same leader" "$(key_all client.leader)" "$(key_all nuioa.leader)"
is "the same port" "$(sed -n 's/ client\.nic=\(.\)/ \1/p' <<<"$out" | sort)" \
    "$(sed -n 's/ nuioa\.nic=/ /p' <<<"$out" | sort)"
is "all ports" "$(key_all client.nics | xargs)" "$(key_all nuioa.nics)"
like "the first of them is the port" "$(key 0 nuioa.nics)" "^$(key 0 nuioa.nic)(,|$)"
is "no GPU is told where none is known" "$(key_all client.gpus | xargs)$(key_all nuioa.gpus)" ""
like "each rank's CPUs are told" "$(key_all nuioa.cpus)" '^([0-9][0-9,-]* ?){16}$'
is "the same CPUs" "$(key_all client.cpus)" "$(key_all nuioa.cpus)"
is "the same level" "$(key 0 client.level)" "$(key 0 nuioa.level)"
is "the whole order" "$(key 5 client.order)" 4
is "a rank reads its neighbour's keys" "$(key 1 nuioa.cpus@0)" "$(key 0 nuioa.cpus)"
is "but not those of another node" "$(key 5 nuioa.cpus@0)" ""
like "node1 has a port" "$(key 0 nuioa.nic)" 'mlx5_0:1'
is "a node without NIC names none" "$(key 8 nuioa.nic),$(key 8 nuioa.level)" ","
like "it still has a leader" "$(key 8 nuioa.leader)" '^(8|9|10|11)$'
is "standard keys are not told of a plan that was not carried out" "$(grep -c 'pmix\.' <<<"$out")" 0

# Ranks are PMIx's
trial "$with_plan shift=2"
keys 8 -N2 --exclusive
like "ranks are those of PMIx, whatever the plan was told" "$(key 4 nuioa.order)" \
    '^[4-7],[4-7],[4-7],[4-7]$'
trial "$with_plan"
keys_by_two 5 "-N1 -n2 --exclusive $home/keys 0" "-N1 -n3 --exclusive" "$home/keys 0"
like "het job: the second component's ranks" "$(key 2 nuioa.order)" '^[2-4],[2-4],[2-4]$'
like "het job: the first component's" "$(key 0 nuioa.order)" '^[01],[01]$'

# There is nothing to do here.
for mpi in none pmi2; do
    trial "$with_plan"
    launch 4 -w node1 --mpi=$mpi
    is "--mpi=$mpi: nothing to do, no fault" "$(told node1 | cut -d ' ' -f 1,3)" "ranks=0 rc=0"
done
trial "$with_plan misname"
keys 4 -w node1
like "a namespace that PMIx does not know: said" "$(told node1)" 'rc=-2 .*does not know this step'
is "and nothing is published" "$(key_all nuioa.version)" ""
is "the client library then has no advice" "$(key_all client.source)" "0 0 0 0"
for arguments in "default=off export=none" "default=on export=env"; do
    trial "topology=$topology $arguments"
    keys 2 -w node1
    is "$arguments: no key" "$(grep -c 'nuioa\.' <<<"$out")" 0
done

# Since PMIx 5 the server must be told, before it starts, to hand out keys by name; without that
# ranks would read one key for another, and their MPI too.
trial "$with_plan unprepared"
keys 4 -w node1
if [[ $(told node1) =~ pmix=4 ]]; then
    is "PMIx 4 has always handed out keys by name" "$(key_all nuioa.version)" "1 1 1 1"
else
    is "keys that would be handed out by number are not published" "$(key_all nuioa.version)" ""
    is "the client library has no advice then" "$(key_all client.source)" "0 0 0 0"
    trial "$with_plan"
    keys 4 PMIX_MCA_gds=shmem2 -w node1
    is "nor where the user has chosen that" "$(key_all nuioa.version)" ""
    keys 4 PMIX_MCA_gds=shmem2,hash -w node1
    is "another choice stands" "$(key_all nuioa.version)" "1 1 1 1"
    launched=$((launched + 1))
    user srun --mpi=pmix -N4 -O -n 1028 /bin/true
    [ "$rc" -eq 0 ] || lose "1028 ranks"
    like "nor where every rank's copy of the job's data would be large" "$(told node1)" ' keys=0 '
fi

# The standard keys, on this machine
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")')
trial "default=on export=env,pmix,locality bind"
keys 3 -w node1 -O
if [ ${#cpus[@]} -lt 2 ]; then
    skip "standard keys of bound ranks" "this machine has one CPU: nobody is bound"
else
    is "PMIX_CPUSET" "$(key 1 pmix.cpuset)" "hwloc:${cpus[1]}"
    is "PMIX_LOCALITY_STRING has the thread" "$(key 1 pmix.locstr | tr : '\n' | grep -c '^HT')" 1
    like "PMIX_LOCALITY_STRING has package and core" "$(key 0 pmix.locstr)" \
        '^SK[0-9]+:.*CR[0-9]+:HT'
    is "a rank on the same CPU has the same" "$(key 0 pmix.locstr)" \
        "$(if [ ${#cpus[@]} -eq 2 ]; then key 2 pmix.locstr; else key 1 pmix.locstr@0; fi)"
    is "another one has not" \
        "$([ "$(key 0 pmix.locstr)" = "$(key 1 pmix.locstr)" ] && echo same)" ""
    like "PMIX_PACKAGE_RANK" "$(key_all pmix.pkgrank)" '^0 [01] [012]$'
    is "a neighbour's locality is known" "$(key 1 pmix.locstr@0)" "$(key 0 pmix.locstr)"
fi
trial "default=on export=env,pmix,locality"
keys 2 -w node1 -O
is "ranks that are bound to the whole node get no locality" "$(grep -c 'pmix\.' <<<"$out")" 0
is "but the others of nuioa" "$(key_all nuioa.version)" "1 1"

# The time and the number of keys for 512 ranks are shown.
trial "$with_plan"
launched=$((launched + 1))
user srun --mpi=pmix -w node1 -O -n 512 /bin/true
[ "$rc" -eq 0 ] || lose "512 ranks"
like "512 ranks on one node" "$(told node1)" 'ranks=512 .* error=$'
note "512 ranks: $(told node1 | grep -oE '(pmix|keys|time_us|cpu_us)=[0-9]+' | paste -s -d ' ')"

# The plugin itself gives its keys: a rank has all 16 cores of node1, whose NIC is near the last 8.
if [ -e "/proc/$(cluster_node_pid ctl)/root/run/stage/usr/lib/slurm/nuioa.so" ]; then
    plugin on "topology=$topology" default=on "${patient[@]}"
    keys 1 -c16 -w node1 --exclusive
    is "where threads that communicate belong" "$(key 0 nuioa.comm_cpus)" 8
    launch 1 -c16 -w node1 --exclusive
    is "the same in the environment" "$(of 0 NUIOA_COMM_CPUS)" 8
    keys 2 -c1 -w node1 --exclusive
    is "not of ranks with one core" "$(grep -c comm_cpus <<<"$out")" 0
fi

plugin off
finish
