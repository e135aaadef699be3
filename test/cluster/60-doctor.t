#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa doctor on nodes of a live cluster: plugstack.conf, slurm.conf, munged, the cache. The
# hardware is whatever this machine has, so of that nothing is asked.
. "$(dirname "$0")/testlib.sh"
setup
n1=$CLUSTER_DIR/nodes/node1

# doctor NODE [ARGUMENT...]: sets status, found (" id:subject ... "), what (" text ... "), role
doctor() {
    local node=$1
    shift
    status=0
    in_node "$node" env SLURM_CONF="${slurm_conf:-/run/cluster/slurm.conf}" timeout 20 \
        nuioa doctor --json "$@" >"$CLUSTER_DIR/home/doctor.json" || status=$?
    { read -r role; read -r found; read -r what; } < <(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(d["role"])
print(" ".join(f["id"] + (":" + f["subject"] if f["subject"] else "") for f in d["findings"]))
print(" ".join(f["what"] for f in d["findings"]))' "$CLUSTER_DIR/home/doctor.json")
    found=" $found "
}

# finds NAME ID WHAT / no NAME ID: after doctor. If the doctor did not run, $role is empty, and
# "no" fails: its text then begins with a blank.
finds() {
    like "$1" "$status$found" "^1.* $2 "
    like "$1: explained" "$what" "$3"
}
no() { unlike "$1" "${role:+said}$found" "^ | $2[: ]"; }

plugin on
doctor node1
is "a node with slurmd is a compute node" "$role" compute
no "the plugin is there" 'plugin-[a-z]*'
no "munged answers" 'munge-[a-z]*'
no "PMIx can be loaded, and can publish" 'pmix-(plugin|library|unable)'
finds "TaskPlugin=task/none" task-plugin 'TaskPlugin=task/none: nothing binds'
finds "no task/cgroup" cores-unconstrained 'no task/cgroup'
is "what is looked at is this cluster's" \
    "$(grep -oE '/run/.*conf' "$CLUSTER_DIR/home/doctor.json" | sort -u | xargs)" \
    "/run/cluster/slurm.conf /run/node/plugstack.conf"
in_node node1 env SLURM_CONF=/run/cluster/slurm.conf nuioa doctor >"$CLUSTER_DIR/home/root"
user srun -n1 -w node1 env SLURM_CONF=/run/cluster/slurm.conf nuioa doctor
is "in a job, as its user: the same" "$rc|$out" "1|$(<"$CLUSTER_DIR/home/root")"
first='First: task-plugin: Add task/affinity to TaskPlugin in slurm\.conf\.'
like "for a person: which node, and what to do first" "$(sed -n '1p;$p' <<<"$out" | xargs)" \
    "^node1: compute node, .* $first\$"
doctor ctl
is "where users log in is a login node" "$role" login
no "the plugin is there too" 'plugin-[a-z]*'

plugin -n ctl off
doctor ctl
finds "not loaded where users log in" plugin-absent '/run/node/plugstack.conf has no line'
plugin on
plugin -n node1 off
doctor node1
finds "not loaded on a node" plugin-absent '/run/node/plugstack.conf has no line'
plugin -n node1 on
cat "$n1/plugstack.conf" "$n1/plugstack.conf" >"$n1/.twice" && mv "$n1/.twice" "$n1/plugstack.conf"
doctor node1
finds "loaded twice" plugin-twice ':1 loads the plugin, and /run/node/plugstack.conf:2'
printf 'optional /run/stage/usr/lib/nuioa.so\n' >"$n1/plugstack.conf"
doctor node1
finds "the file is not there" plugin-missing:/run/stage/usr/lib/nuioa.so 'which is not there'
# A plugin that Slurm cannot load, or should not: made here, for no other Slurm is at hand.
printf 'optional /run/node/nuioa.so\n' >"$n1/plugstack.conf"
head -c 9000 /dev/urandom >"$n1/nuioa.so"
doctor node1
finds "a plugin that is no library" plugin-unloadable 'nuioa.so: (invalid ELF|file too short)'
make_plugin() { # SOURCE
    printf 'char plugin_name[] = "nuioa", plugin_type[] = "spank";\n%s\n' "$1" |
        gcc -shared -fPIC -x c -o "$n1/nuioa.so" -
}
make_plugin 'unsigned plugin_version = 0x160500;
int f(void); int slurm_spank_init(void) { return f(); }'
doctor node1
finds "a plugin that misses a symbol" plugin-unloadable 'nuioa.so: undefined symbol: f'
make_plugin 'unsigned plugin_version = 0x0f0800;'
doctor node1
finds "a plugin for another Slurm" plugin-unloadable 'nuioa.so was built for Slurm 15.08, this is'
munge_plugin=$(in_node node1 sh -c '
    ls /opt/slurm/lib*/slurm/auth_munge.so /usr/lib*/slurm/auth_munge.so \
        /usr/lib/*/slurm*/auth_munge.so 2>/dev/null')
in_node node1 mount --bind /dev/null "$munge_plugin"
doctor node1
finds "the same without Slurm's plugin for MUNGE" plugin-unloadable \
    'nuioa.so was built for Slurm 15.08, this is'
in_node node1 umount "$munge_plugin"
launch 1 -w node1
like "a plugin for another Slurm: Slurm leaves it out too" \
    "$rc $(grep -a spank "$n1/log/slurmd.log" | tail -n 3)" '^0 .*nuioa.so: .*(ncompatible|failed)'
rm "$n1/nuioa.so"

plugin -n node1 on "nic=,," mems=local "topology=$topology"
doctor node1
finds "arguments that are wrong" plugin-argument 'did you mean mem'
finds "emulation" plugin-emulates "topology=$topology"
launch 2 -w node1 --nuioa=on
is "as the doctor says, the job runs" "$rc" 0
like "slurmd's log says the same" "$(cat "$n1"/log/slurmd.log)" 'did you mean mem'

# States of plugstack.conf: what srun does for a user, and what the doctor says to root. Two lines
# each: the line in the file, and a command in the directory of that file; then options of srun, its
# status and the number of ranks with advice, all that it prints, and what the doctor finds.
# If srun names plugstack.conf, slurmd.log has the same line.
so=/run/stage/usr/lib/slurm/nuioa.so
cut_short() { head -c 60000 "$NUIOA_STAGE/usr/lib/slurm/nuioa.so" >nuioa.so; }
included() { # MODE-OF-DIRECTORY MODE-OF-FILE
    mkdir d && echo "optional $so" >d/nuioa.conf && chmod "$2" d/nuioa.conf && chmod "$1" d
}
while IFS='|' read -r line change && IFS='|' read -r options wanted said id text; do
    name="plugstack.conf: ${line/$so/nuioa.so}${change:+ ($change)}"
    options=(${options:+"$options"})
    for node in ctl node1; do
        cd "$CLUSTER_DIR/nodes/$node" && rm -rf plugstack.conf nuioa.so d || exit
        printf '%b\n' "$line" >plugstack.conf
        eval "$change"
    done
    cd "$here" || exit
    logged=$(wc -l <"$n1/log/slurmd.log")
    user srun -n1 -w node1 "${options[@]}" "$home/rank"
    is "$name: srun" "$rc $(grep -c NUIOA_VERSION <<<"$out")" "$wanted"
    like "$name: srun prints" "$err" "^$said\$"
    if [[ $said == nuioa:\ plugstack* ]]; then
        one_line "$name: one line"
        is "$name: slurmd.log" "$(tail -n "+$((logged + 1))" "$n1/log/slurmd.log" |
            sed -n 's/.* error: nuioa/nuioa/p')" "$err"
    fi
    doctor node1
    if [ -n "$id" ]; then finds "$name" "$id" "$text"; else no "$name" 'plug[a-z-]*'; fi
done <<END
optional $so default = off|
|0 0|nuioa: plugstack.conf: 'default = off' does nothing: .*|plugin-argument|'default = off' does
optional $so default = on|
|0 0|nuioa: plugstack.conf: 'default = on' does nothing: .*|plugin-argument|'default = on' does
optional $so default|
|0 0|nuioa: plugstack.conf: 'default' does nothing: .*|plugin-argument|'default' does nothing
optional $so default=on mem nic =auto|
|0 1|nuioa: plugstack.conf: 'mem nic =auto' does nothing: .*|plugin-argument|'mem nic =auto' does
optional $so default=off\r|
|0 0|||
optional $so default=on\r|
|0 1|||
optional $so\r|
|0 0|srun: error: .*|plugstack-unread|:1: the name ends with a carriage return
optional $so default=on unknown=1|
|0 1|nuioa: plugstack.conf: unknown: no such option|plugin-argument|unknown: no such option
optional $so defualt=on|
|0 0|nuioa: plugstack.conf: defualt: .*|plugin-argument|did you mean default
Optional $so default=on|
|0 0|srun: error: spank: .*|plugstack-unread|:1: Slurm ignores this line: 'Optional'
optional $so default=on hints=/missing|
|0 1|nuioa: hints: /missing: No such file .*|plugin-argument|:1: hints: /missing: No such file
optional $so|chmod 600 plugstack.conf
|1 0|srun: error: .*Permission denied.*|plugstack-unread|/plugstack.conf has mode 600
include /run/node/d/*|included 755 600
|1 0|srun: error: .*Permission denied.*|plugstack-unread|/nuioa.conf has mode 600
include /run/node/d/*|included 700 644
--nuioa|255 0|srun: unrecognized option '--nuioa'.*|plugstack-unread|/d has mode 700
include /run/node/d/*|included 744 644
|1 0|srun: error: .*Permission denied.*|plugstack-unread|/d has mode 744
include /run/node/d/*|included 755 644
--nuioa|0 1|||
optional /run/node/nuioa.so|cut_short
|135 0||plugin-unloadable|/nuioa.so is cut short
END
plugin on
rm -rf "$n1/nuioa.so" "$n1/d"
plugin -n node2 on defualt=on
launch 2 -N2 -w node1,node2
is "a typo on one node: srun says nothing" "$rc|$err" "0|"
doctor node1
no "a typo on one node: the others" 'plug[a-z-]*'
doctor node2
finds "a typo on one node" plugin-argument 'plugstack.conf:1: .*did you mean default'
plugin on

# MUNGE. One munged may serve all nodes: it is only stopped, and only for a moment.
plugin on munge_socket=/run/munge/none
doctor node1
finds "munged's socket is not there" munge-unreachable '/run/munge/none.*: No such file'
sed 's!^AuthType=.*!AuthType=auth/slurm!' "$CLUSTER_DIR/slurm.conf" \
    >"$CLUSTER_DIR/without-munge.conf"
slurm_conf=/run/cluster/without-munge.conf doctor node1
no "nor is it needed where Slurm has its own" 'munge-[a-z]*'
plugin on
sed '$aAuthInfo=socket=/run/munge/elsewhere,ttl=60' "$CLUSTER_DIR/slurm.conf" \
    >"$CLUSTER_DIR/elsewhere.conf"
slurm_conf=/run/cluster/elsewhere.conf doctor node1
finds "the socket that AuthInfo names" munge-unreachable '/run/munge/elsewhere.*: No such file'
plugin on
library=$(in_node node1 sh -c '
    readlink -f "$(ldconfig -p | sed -n "s/.*libmunge.so.2 .* => //p" | head -n 1)"')
in_node node1 mount --bind /dev/null "$library"
doctor node1
finds "no libmunge" munge-missing 'libmunge\.so\.2.*; install it'
slurm_conf=/run/cluster/without-munge.conf doctor node1
no "no libmunge, and no need of it" 'munge-[a-z]*'
in_node node1 umount "$library"
there=node1
munged=$(in_node $there pidof munged) || { there=ctl && munged=$(in_node $there pidof munged); }
in_node $there kill -STOP "$munged"
doctor node1
in_node $there kill -CONT "$munged"
finds "munged does not answer" munge-unreachable 'does not answer within 5000 ms'
doctor node1
no "munged answers again" 'munge-[a-z]*'

# PMIx: Slurm's plugin, built for one in a prefix of its own, which only that plugin's search path
# names. Both made here, for those who need a warning are not at hand.
mkdir -p "$n1/own/pmix"
make_pmix() { # VERSION OPTION
    gcc -shared -fPIC -x c -o "$n1/own/pmix/libpmix.so.2" - <<END
const char *PMIx_Get_version(void) { return "OpenPMIx $1 (PMIx Standard: 5.1, Stable ABI: 5.0)"; }
int PMIx_Store_internal(void) { return 0; }
int PMIx_Get(void) { return 0; }
END
    gcc -shared -fPIC -x c -o "$n1/own/mpi_pmix.so" -Wl,-rpath,/run/none:/run/node/own/pmix - <<END
const char *const directory = "/run/node/own", *const name = "libpmix.so.2", *const option = "$2";
END
}
sed '$aPluginDir=/run/node/own' "$CLUSTER_DIR/slurm.conf" >"$n1/own/slurm.conf"
pmix() { grep -oE '"pmix": *"[^"]*"' "$CLUSTER_DIR/home/doctor.json"; }
slurm_conf=/run/node/own/slurm.conf
make_pmix 5.0.7 ""
doctor node1
no "a PMIx that only its plugin finds" 'pmix-[a-z]*'
like "a PMIx that only its plugin finds: which" "$(pmix)" 'OpenPMIx 5\.0\.7'
make_pmix 6.1.0 PMIxShareServerTopology
doctor node1
finds "PMIx 6.1.0" pmix-log 'Slurm loads OpenPMIx 6\.1\.0'
finds "each rank discovers the node" pmix-topology 'PMIxShareServerTopology=false \(the default\)'
echo PMIxShareServerTopology=true >"$n1/own/mpi.conf"
make_pmix 6.1.1rc2 PMIxShareServerTopology
doctor node1
finds "PMIx 6.1.1rc2" pmix-log 'Slurm loads OpenPMIx 6\.1\.1rc2'
no "ranks are given the topology" pmix-topology
make_pmix 6.1.1 PMIxShareServerTopology
doctor node1
no "PMIx 6.1.1" 'pmix-[a-z]*'
rm "$n1/own/pmix/libpmix.so.2"
printf x >"$n1/own/pmix/libpmix.so.2"
doctor node1
finds "a PMIx that is no library" pmix-library '/run/node/own/pmix/libpmix.so.2: file too short'
rm -r "$n1/own"
slurm_conf=

# The cache, beside a fingerprint of this machine's devices.
plugin on cache=/run/node/doctor.cache
doctor node1
finds "no cache" cache-missing '/run/node/doctor.cache is not there'
in_node node1 nuioa cache --out /run/node/doctor.cache
doctor node1
no "a fresh cache" 'cache-[a-z]*'
in_node node2 nuioa cache --out /run/node/doctor.cache
mv "$CLUSTER_DIR/nodes/node2/doctor.cache" "$n1/doctor.cache"
doctor node1
finds "the cache of another node" cache-stale 'made on another host'
head -c 5000 /dev/urandom >"$n1/doctor.cache"
doctor node1
finds "a cache that is none" cache-refused 'not a nuioa cache'
ln -sf /etc/passwd "$n1/doctor.cache"
doctor node1
finds "a symbolic link in its place" cache-refused 'doctor.cache'
rm -f "$n1/doctor.cache"
mkdir -m 777 "$n1/open"
chmod 777 "$n1/open"
plugin on cache=/run/node/open/doctor.cache
doctor node1
finds "a directory that anybody may write to" cache-directory \
    '/run/node/open: others may write to it \(mode 777\)'
no "... is not the cache's fault" cache-refused
chmod 755 "$n1/open"
in_node node1 nuioa cache --out /run/node/open/doctor.cache
doctor node1
no "what the remedy says helps" 'cache-[a-z]*'
in_node node1 env HWLOC_XMLFILE=/run/node/topology.xml SLURM_CONF=/run/cluster/slurm.conf \
    nuioa doctor --json >"$CLUSTER_DIR/home/doctor.json"
is "another machine in the environment is no fault of the cache" \
    "$(grep -oE '"id": "(cache-[a-z]*|hwloc-emulates)"' "$CLUSTER_DIR/home/doctor.json")" \
    '"id": "hwloc-emulates"'

# The sample for HealthCheckProgram drains a node for what is its own. Of its hardware nothing is
# asked, and slurm.conf says TaskPlugin=task/none, which is a problem of all nodes.
hardware=nic-missing,port-down,port-slow,nic-unlocated,nic-disagreement,numa-cut
sed "s!^drain=no!drain=yes!; s!^ignore=!&$hardware!; s!/usr/bin/nuioa!/run/stage&!" \
    "$NUIOA_STAGE/usr/share/doc/nuioa/examples/nuioa-healthcheck" >"$n1/healthcheck"
check_health() {
    in_node node1 env SLURM_CONF=/run/cluster/slurm.conf sh /run/node/healthcheck
    in_node ctl sinfo -h -n node1 -o '%T %E'
}
doctor node1
finds "a fault of slurm.conf" task-plugin 'task/none'
is "a fault that all nodes share drains none" "$(check_health)" "idle none"
chmod 777 "$n1/open"
like "a fault of this node alone drains it" "$(check_health)" \
    '^drain(ed|ing)? nuioa: 1 problem, .*: cache-directory$'
in_node ctl scontrol update NodeName=node1 State=RESUME
rm -r "$n1/open" "$n1/healthcheck"

plugin off
finish
