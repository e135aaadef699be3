#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Steps that run on a node at the same time see which NICs the others use: one after the other they
# take the less loaded one of two that are equally near. What a step tells ends with it, however it
# ends, and nothing in the directory can hurt a launch.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin

steps=/run/nuioa/steps
rails=/run/node/four-rails.xml
install -m 0644 "$here/../topologies/four-rails.xml" "$CLUSTER_DIR/nodes/node1/four-rails.xml"
install -d -o nobody "$CLUSTER_DIR/home/held"

# A step that says its NIC, and stays until it may go.
cat >"$CLUSTER_DIR/home/hold" <<'END'
#!/bin/sh
echo "$NUIOA_NIC" >"$HOME/held/.$1" && mv "$HOME/held/.$1" "$HOME/held/$1"
until [ -e "$HOME/held/end" ]; do sleep 0.05; done
END
# All in one allocation: it starts a step for each line of its input, "NAME [SRUN-ARG]...", when the
# one before runs.
cat >"$CLUSTER_DIR/home/one-by-one" <<'END'
#!/bin/bash
while read -r name arguments; do
    # shellcheck disable=SC2086
    srun --overlap $arguments "$HOME/hold" "$name" </dev/null &
    for ((i = 0; i < 400; i++)); do [ ! -e "$HOME/held/$name" ] || break; sleep 0.05; done
done <"$HOME/held/lines"
until [ -e "$HOME/held/end" ]; do sleep 0.05; done
wait
END
chmod +x "$CLUSTER_DIR/home/hold" "$CLUSTER_DIR/home/one-by-one"

held() { cat "$CLUSTER_DIR/home/held/$1" 2>/dev/null; }
files() { in_node node1 sh -c "ls -A $steps 2>/dev/null | grep -vcxF .lock"; }
log() { cat "$CLUSTER_DIR/nodes/node1/log/slurmd.log"; }

# begin_steps LINE...: starts them one by one in the background, and waits until the last one runs
begin_steps() {
    local last=${!#} i
    rm -rf "${CLUSTER_DIR:?}"/home/held/*
    printf '%s\n' "$@" >"$CLUSTER_DIR/home/held/lines"
    "$here/in" -u nobody ctl timeout -k 5 120 salloc -N1 -w node1 --exclusive \
        "$home/one-by-one" >"$CLUSTER_DIR/steps.out" 2>&1 </dev/null &
    holder=$!
    for ((i = 0; i < 1200; i++)); do [ -z "$(held "${last%% *}")" ] || break; sleep 0.05; done
}

# end_steps NAME: lets them go; NAME: the check that all have ended well
end_steps() {
    local status=0
    touch "$CLUSTER_DIR/home/held/end"
    wait "$holder" || status=$?
    is "$1" "$status" 0
    [ "$status" = 0 ] || note "$(<"$CLUSTER_DIR/steps.out")"
}

# nodes_on [ARGUMENT]...: the plugin, on node1 with two equally near NICs
nodes_on() {
    plugin on "topology=$topology"
    plugin -n node1 on "topology=$rails" nic=mlx5_0,mlx5_1 "${patient[@]}" "$@"
}
wide="-n1 -c16 --nuioa"

# --- one after the other -------------------------------------------------------------------------

nodes_on
begin_steps "first $wide" "second $wide" "third $wide"
# The first one uses both, the first of them most.
is "two equal NICs: steps take them in turn" "$(held first),$(held second),$(held third)" \
    "mlx5_0:1,mlx5_1:1,mlx5_0:1"
is "each step has one file" "$(files)" 3
is "the directory is root's" "$(in_node node1 stat -c '%U %a' $steps)" "root 755"
like "topo --load: root sees all" "$(in_node node1 nuioa topo --load |
    awk 'NR > 1 { print $1, $2 }' | sort | paste -s -d,)" \
    '^mlx5_0:1 0.67,mlx5_0:1 1.00,mlx5_1:1 0.33,mlx5_1:1 1.00$'
is "topo --load: the user sees his steps" \
    "$(in_node -u nobody node1 nuioa topo --load | grep -c 'mlx5.*nobody')" 4
is "topo --load: others see none" \
    "$(in_node -u daemon node1 nuioa topo --load)" "No step that you may see uses a NIC."
is "topo --load --json" "$(in_node node1 nuioa topo --load --json | python3 -c "
import json, sys
d = json.load(sys.stdin)
print(d['nuioa'], len(d['load']), sorted(d['load'][0]), d['warnings'])")" \
    "1 4 ['job', 'nic', 'ranks', 'step', 'uid'] []"
end_steps "the steps end"
is "no file is left" "$(files)" 0

# Six ranks on one NIC are more than four on the other.
begin_steps "six -n6 -c1 --nuioa --nuioa-nic=mlx5_0" "four -n4 -c1 --nuioa --nuioa-nic=mlx5_1" \
    "third $wide"
is "the third goes to the less loaded NIC" "$(held third)" mlx5_1:1
end_steps "the steps end again"

# 64 ranks on 16 cores count for 16: they are fewer than two times 12, and more than 12.
begin_steps "many -n64 -O --nuioa --nuioa-nic=mlx5_0" "a -n12 -c1 --nuioa --nuioa-nic=mlx5_1" \
    "second $wide" "b -n12 -c1 --nuioa --nuioa-nic=mlx5_1" "third $wide"
is "ranks that share cores count for their cores" "$(held second),$(held third)" \
    "mlx5_1:1,mlx5_0:1"
like "topo --load says so" "$(in_node node1 nuioa topo --load |
    awk '$1 == "mlx5_0:1" { print $2 }' | sort -g | tail -n 1)" '^16\.00$'
end_steps "the steps with many ranks end"

begin_steps "first $wide" "off -n1 -c16 --nuioa=off" "second -n1 -c16 --nuioa=export"
is "a step with nuioa=off tells nothing, one with export is told and tells" \
    "$(held first),$(held second),$(files)" "mlx5_0:1,mlx5_1:1,2"
end_steps "the steps end, too"

# --- a step that dies ----------------------------------------------------------------------------

begin_steps "first $wide" "second $wide"
pid=$(in_node node1 sh -c "ls $steps" | sort -t. -k2n | head -n 1 | cut -d. -f3)
in_node node1 kill -9 "$pid"
await 10 in_node node1 sh -c "! kill -0 $pid 2>/dev/null"
is "slurmstepd is killed: its file stays" "$(files)" 2
touch "$CLUSTER_DIR/home/held/end"
give_back # srun waits for a slurmstepd that is killed
wait "$holder"
is "... until the next reader" "$(files)" 1
begin_steps "next $wide"
is "... which forgets it" "$(held next),$(files)" "mlx5_0:1,1"
end_steps "the next step ends"
is "nothing is left of it" "$(files)" 0

# --- another process namespace --------------------------------------------------------------------

# With namespace/linux each job may have one of its own, as each node has one here: a number of a
# process means nothing in the other.
shared() { find "$CLUSTER_DIR/steps" -type f ! -name .lock | wc -l; }
install -d "$CLUSTER_DIR/steps"
nodes_on steps=/run/cluster/steps
plugin -n node2 on "topology=/run/cluster/nodes/node1/four-rails.xml" nic=mlx5_0,mlx5_1 \
    "${patient[@]}" steps=/run/cluster/steps
begin_steps "first $wide"
# shellcheck disable=SC2086
tally 1 srun -w node2 $wide "$home/rank"
is "a step sees those of other process namespaces" "$(held first),$(of 0 NUIOA_NIC)" \
    "mlx5_0:1,mlx5_1:1"
is "... and leaves them their files" "$(shared)" 1
end_steps "the step there ends"
is "... with its file" "$(shared)" 0
nodes_on

# --- what is not a step's ------------------------------------------------------------------------

in_node node1 sh -c "cd $steps && echo garbage >7.0.1 && head -c 100000 /dev/urandom >8.0.1 &&
    : >9.0.1 && mkfifo 10.0.1 && ln -s /etc/shadow 11.0.1 && echo x >README && chmod 666 9.0.1"
before=$(log | grep -c 'which no step has written')
tally 1 srun -w node1 -n1 --nuioa "$home/rank"
is "garbage: the job runs and has its NIC, without a word" "$rc,$(of 0 NUIOA_NIC),$err" \
    "0,mlx5_0:1,"
like "garbage: one line in slurmd's log" "$(log | grep 'which no step has written' |
    tail -n +$((before + 1)))" '^[^
]*steps: .*6 files ignored, which no step has written: the first is [^
]*\(remove them\)$'
is "garbage: it is left alone" "$(files)" 6
in_node node1 sh -c "rm $steps/*"

in_node node1 sh -c "rm -r $steps; ln -s /tmp $steps"
tally 1 srun -w node1 -n1 --nuioa "$home/rank"
is "a link in place of the directory: the job runs" "$rc,$(of 0 NUIOA_NIC),$err" "0,mlx5_0:1,"
in_node node1 sh -c "rm $steps; echo >$steps"
tally 1 srun -w node1 -n1 --nuioa "$home/rank"
is "a file in place of the directory: the job runs" "$rc,$(of 0 NUIOA_NIC),$err" "0,mlx5_0:1,"
in_node node1 rm "$steps"

install -d -m 0777 "$CLUSTER_DIR/nodes/node1/open"
nodes_on steps=/run/node/open
tally 1 srun -w node1 -n1 --nuioa "$home/rank"
is "steps= names a directory for all: the job runs" "$rc,$(of 0 NUIOA_NIC),$err" "0,mlx5_0:1,"
like "... and slurmd's log says why it is not used" "$(log)" \
    'steps: /run/node/open: .*the NIC load of other steps is not known'
is "... nothing is written there" "$(ls -A "$CLUSTER_DIR/nodes/node1/open")" ""

nodes_on steps=off
begin_steps "first $wide" "second $wide"
is "steps=off: each step is alone" "$(held first),$(held second)" "mlx5_0:1,mlx5_0:1"
is "steps=off: no directory" "$(in_node node1 test -e $steps; echo $?)" 1
end_steps "the steps end without it"

# --- many ----------------------------------------------------------------------------------------

nodes_on
install -d -o nobody "$CLUSTER_DIR/home/started.many"
SLURM_TEST_STARTED=$home/started.many TIMEOUT=300 user salloc -N1 -w node1 --exclusive \
    sh -c "seq 200 | xargs -P 8 -I{} srun --overlap -n1 -c16 --nuioa $home/rank >/dev/null"
is "200 steps that come and go: all ran" "$rc,$(started started.many)" "0,200"
is "... and no file is left" "$(files)" 0
rm -r "$CLUSTER_DIR/home/started.many"

finish
