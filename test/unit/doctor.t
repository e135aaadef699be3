#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa doctor on the files of other nodes: a healthy one, then the same with one thing wrong. What
# only a running node can tell is tested in test/guest and test/cluster.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
export PYTHONDONTWRITEBYTECODE=1
node=$work/node
pci0=sys/bus/pci/devices/0000:10:00.0 pci1=sys/bus/pci/devices/0000:80:00.0
verbs=sys/class/infiniband/mlx5_1/ports/1

# fresh: a healthy node
fresh() { rm -rf "$node"; cp -a "$work/healthy" "$node"; }

# put PATH TEXT: a file of the node's
put() { mkdir -p "$(dirname "$node/$1")" && printf '%s\n' "$2" >"$node/$1"; }

# doctor [ARGUMENT...]: $found is "id:subject ..." in the order of the checks, $what their texts,
# $reasons "True" if each says why and what to do
doctor() {
    run doctor --root "$node" --json "$@"
    { read -r reasons; read -r found; read -r what; } < <(json "
        all(len(f['why']) > 20 and len(f['remedy']) > 10 for f in d['findings']),
        ' '.join(f['id'] + (':' + f['subject'] if f['subject'] else '') for f in d['findings']),
        ' '.join(f['what'] for f in d['findings']), sep='\n'")
}

# finds NAME WANTED WHAT [ARGUMENT...]: these findings and no other; their texts match WHAT, and
# each says why and what to do. The node is healthy again afterwards.
finds() {
    local name=$1 wanted=$2 text=$3
    shift 3
    doctor "$@"
    is "$name: found" "$status|$found|$err" "1|$wanted|"
    like "$name: explained" "$what" "$text"
    is "$name: why, and what to do" "$reasons" True
    fresh
}

# healthy NAME [ARGUMENT...]
healthy() {
    local name=$1
    shift
    doctor "$@"
    is "$name: nothing is found" "$status|$found|$err" "0||"
    fresh
}

ok "the generator runs" "$here/doctor-node.py" "$work/healthy"
fresh

# --- the command ----------------------------------------------------------------------------------

run doctor --root /no/such
is "no such root: 2, for 1 is findings" "$status|$out|$err" \
    "2||nuioa: /no/such: No such file or directory"
run doctor --help
like "--help" "$out" '--ignore LIST'
healthy "a healthy node"
run doctor --root "$node"
is "a healthy node, for a person" "$status|$out" \
    "0|n1: compute node, 2 NUMA nodes, 4 ports, /etc/slurm/slurm.conf
$("$tool" --version)

18 checks: 0 problems, 0 advice, 0 unknown
No problem found."
run doctor --root "$node" --brief
is "a healthy node, in one line" "$status|$out" "0|nuioa: healthy"

put etc/slurm/cgroup.conf ConstrainCores=no
put $verbs/rate "50 Gb/sec (1X HDR)"
run doctor --root "$node" --brief
is "in one line: problems first" "$status|$out" \
    "1|nuioa: 1 problem, 1 advice, 0 unknown: port-slow:mlx5_1, cores-unconstrained"
run doctor --root "$node"
wanted='problem +port-slow:mlx5_1.*mlx5_1 has 1 of 4 lanes.*Why: .*Do: .*'
like "for a person: what, why, what to do" "$out" "$wanted"'advice +cores-unconstrained'
is "for a person: within 100 columns" "$(awk 'length > 100' <<<"$out")" ""
is "for a person: what to do first, the rest of the remedy in its place" "$(tail -n 1 <<<"$out")" \
    "First: port-slow:mlx5_1: Check the switch port, then replace the cable or the transceiver."
run doctor --root "$node" --ignore port-slow
is "no problem, and advice: what to do first" "$(tail -n 1 <<<"$out")" \
    "First: cores-unconstrained: Add task/cgroup to TaskPlugin, and set ConstrainCores=yes in \
cgroup.conf."
run doctor --root "$node" --ignore port-slow,cores-unconstrained
is "all that is found is ignored" "$(tail -n 2 <<<"$out")" \
    "18 checks: 0 problems, 0 advice, 0 unknown, 2 ignored
No problem found."
run doctor --root "$node" --json
cp "$work/out" "$work/once"
run doctor --root "$node" --json
ok "JSON: twice the same" cmp "$work/once" "$work/out"
run doctor --root "$node" --brief --ignore port-slow:mlx5_1,cores-unconstrained
is "ignored findings do not count" "$status|$out" "0|nuioa: healthy"
run doctor --root "$node" --brief --ignore port-slow:mlx5_0,cores-unconstrained
is "ignored findings: of that NIC only" "$status|$out" \
    "1|nuioa: 1 problem, 0 advice, 0 unknown: port-slow:mlx5_1"
fresh
retired="backlog coalescing core-distribution governor irq-far mpi-device mpi-ethernet nps
    numa-balancing numa-hidden pcie-narrow pcie-reduced port-below-card snc socket-buffers
    task-affinity tcp-buffers"
for id in $retired; do
    run doctor --root "$node" --brief --ignore "port-idle,$id:x,pmix-plugin"
    is "--ignore $id, which is no longer looked for" "$status|$out|$err" \
        "0|nuioa: healthy|nuioa: warning: --ignore: $id is no longer a finding: leave it out"
done
put etc/slurm/slurm.conf "$(cat "$node/etc/slurm/slurm.conf")
TaskPlugin=task/none"
put $verbs/state "1: DOWN"
doctor
is "a fault that all nodes share, and one of this node" "$found" \
    "task-plugin cores-unconstrained port-down:mlx5_1"
doctor --this-node
is "--this-node: its own alone" "$status|$found" "1|port-down:mlx5_1"
put $verbs/state "4: ACTIVE"
run doctor --root "$node" --brief --this-node
is "--this-node: a fault that all nodes share is none" "$status|$out" "0|nuioa: healthy"
fresh

# The environment of whoever calls: it must not change what this machine is.
numas() { run doctor; sed -n '1s/.*, \([0-9]* NUMA node\).*/\1/p' "$work/out"; }
wanted=$(numas)
export HWLOC_XMLFILE=$machines/hagrid5.xml
is "HWLOC_XMLFILE: this machine is looked at all the same" "$(numas)" "$wanted"
run doctor --json
is "HWLOC_XMLFILE: hwloc-emulates" "$status|$(json "d['findings'][0]['id']")" \
    "1|hwloc-emulates"
like "HWLOC_XMLFILE: explained" "$(json "d['findings'][0]['what']")" \
    '^HWLOC_XMLFILE=.*hagrid5.xml in the environment makes hwloc describe another machine\.'
healthy "HWLOC_XMLFILE: and files of another node are theirs"
unset HWLOC_XMLFILE
doctor
is "JSON: what was looked at" \
    "$(json "*(d[k] for k in 'nuioa host role healthy slurm_conf plugstack_conf'.split())")" \
    "1 n1 compute True /etc/slurm/slurm.conf /etc/slurm/plugstack.conf"

# --- the plugin -----------------------------------------------------------------------------------

nuioa_conf=etc/slurm/plugstack.conf.d/nuioa.conf
put $nuioa_conf "# optional /usr/lib/slurm/nuioa.so"
finds "no line for the plugin" plugin-absent 'plugstack.conf has no line'
rm "$node/etc/slurm/plugstack.conf"
finds "no plugstack.conf" plugin-absent 'cannot be read'
put etc/slurm/plugstack.conf.d/old.conf "optional nuioa.so"
put etc/slurm/slurm.conf "$(cat "$node/etc/slurm/slurm.conf")
PluginDir=/nowhere:/usr/lib/slurm"
finds "two lines for it" plugin-twice 'nuioa.conf:1 loads the plugin, and .*old.conf:1'
put $nuioa_conf "optional /usr/lib/slurm/nuiao.so nic=infiniband"
finds "a name that is nearly right" plugin-missing:/usr/lib/slurm/nuiao.so \
    'nuioa.conf:1 names /usr/lib/slurm/nuiao.so, which is not there; did you mean nuioa.so\?'
put $nuioa_conf "optional libnuioa.so"
finds "a name with more beside it" plugin-missing:libnuioa.so 'did you mean nuioa.so\?'
put $nuioa_conf "optional /usr/lib/slurm/nuida.so"
put usr/lib/slurm/nuida.so ""
finds "a plugin that has nearly that name" plugin-absent 'plugstack.conf has no line'
put $nuioa_conf "optional auks.so"
finds "a plugin of another name that is not there" plugin-absent 'plugstack.conf has no line'
rm "$node/usr/lib/slurm/nuioa.so"
finds "no file" plugin-missing:/usr/lib/slurm/nuioa.so 'which is not there'
# A name without directory: Slurm looks only where its own plugins are.
own=usr/lib/x86_64-linux-gnu/slurm-wlm
put $nuioa_conf "optional nuioa.so"
put $own/libslurmfull.so ""
finds "a name, and no file in Slurm's directory" plugin-missing:nuioa.so \
    "nuioa.conf:1 names nuioa.so, which is not in Slurm's plugin directory"
put $nuioa_conf "optional nuioa.so"
put $own/libslurmfull.so ""
put $own/nuioa.so ""
healthy "a name, and the file in Slurm's directory"
put $nuioa_conf "optional nuioa.so"
put etc/slurm/slurm.conf "$(cat "$node/etc/slurm/slurm.conf")
PluginDir=/usr/lib/none:/usr/lib/slurm"
put $own/libslurmfull.so ""
healthy "a name, and the file in PluginDir"
put $nuioa_conf "required /usr/lib/slurm/nuioa.so"
finds "required" plugin-required 'nuioa.conf:1 says'
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so policy=fast nick=eth0"
finds "wrong arguments" "plugin-argument plugin-argument" \
    "nuioa.conf:1: plugstack.conf: policy: 'fast' is not .*nick: no such option; did you mean nic"
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so default=help"
finds "a help that nobody reads" plugin-argument "default: 'help': help is for srun --nuioa=help"
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so steps=/x nic=infiniband"
finds "an argument that went" plugin-retired 'nuioa.conf:1: plugstack.conf: steps=/x does nothing'
put $nuioa_conf $'optional /usr/lib/slurm/nuioa.so nic=infiniband \\\ndefault=on'
finds "Slurm has no lines that go on" "plugstack-unread plugin-argument" \
    "nuioa.conf:2: Slurm ignores .*nuioa.conf:1: plugstack.conf: '.' does nothing"
put $nuioa_conf $'optional /usr/lib/slurm/nuioa.so default=export nic=infiniband\r'
healthy "CRLF behind an argument"
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so hints=/etc/hints"
put etc/hints "0:10,rest:1"
healthy "hints=, a file with a list"
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so hints=/etc/hints"
put etc/hints $'nuioa-profile 1\nranks 2\npair 0 1 5 1 0'
healthy "hints=, a profile"
# What each user must be able to read.
while read -r mode path what; do
    chmod "$mode" "$node/etc/slurm/$path"
    finds "mode $mode of $path" plugstack-unread \
        "^/etc/slurm/$path has mode $mode, so not every user can $what it\.\$"
done <<'END'
600 plugstack.conf read
640 plugstack.conf.d/nuioa.conf read
700 plugstack.conf.d enter and list
744 plugstack.conf.d enter and list
711 plugstack.conf.d enter and list
END
put etc/slurm/plugstack.conf "include plugstack.conf.d/nuioa.conf"
chmod 711 "$node/etc/slurm/plugstack.conf.d"
healthy "a directory that Slurm does not list"
chmod 600 "$node/etc/slurm/nodes.conf"
mkdir -m 700 "$node/etc/slurm/other.d"
healthy "modes of what plugstack.conf does not include"
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so topology=/etc/node.xml"
finds "emulation" plugin-emulates 'topology=/etc/node.xml'
truncate -s 5M "$node/etc/slurm/slurm.conf"
doctor
is "a slurm.conf that is too large to be one" "$status|$found" "0|slurm-unread"
fresh
ln -sf /proc/self/mem "$node/etc/slurm/plugstack.conf" # reading at its beginning fails
finds "a plugstack.conf that cannot be read" plugstack-unread 'plugstack.conf has mode 600'
yes "include slurm.conf" | head -n 40 >>"$node/etc/slurm/slurm.conf"
healthy "a slurm.conf that includes itself, again and again"
yes "include plugstack.conf" | head -n 40 >>"$node/etc/slurm/plugstack.conf"
run doctor --root "$node" --brief
like "a plugstack.conf that does" "$status|$out" '^1[|].*: plugin-twice'
fresh
rm -r "$node/etc/slurm"
doctor
is "no slurm.conf: said, and no reason to worry" "$status|$found" "0|slurm-unread"
fresh
mkdir "$node/opt" && mv "$node/etc/slurm" "$node/opt/slurm"
SLURM_CONF=/opt/slurm/slurm.conf
export SLURM_CONF
healthy "slurm.conf elsewhere"
doctor
is "a slurm.conf that SLURM_CONF names is not there" "$status|$found" "0|slurm-unread"
unset SLURM_CONF
rm -r "$node/etc/slurm" "$node/proc/77" "$node/proc/sys"
run doctor --root "$node"
is "a machine without Slurm, and without a name" "$status|$(sed -n '1p;$p' <<<"$out")" \
    "0|$node: no slurm.conf found (if Slurm is here, set SLURM_CONF), 2 NUMA nodes, 4 ports
No problem found."
healthy "a machine without Slurm"

# A login node: the plugin and Slurm count, the hardware does not.
rm -r "$node/proc/77"
put $verbs/state "1: DOWN"
rm "$node/$nuioa_conf"
finds "a login node" plugin-absent 'no line'
rm -r "$node/proc/77"
put $verbs/state "1: DOWN"
finds "a login node, checked as a compute node" port-down:mlx5_1 '1: DOWN' --as compute
put $verbs/state "1: DOWN"
healthy "a compute node, checked as a login node" --as login

# --- Slurm's settings -----------------------------------------------------------------------------

# setting LINE...: after all others
setting() { printf '%s\n' "$@" >>"$node/etc/slurm/slurm.conf"; }

setting TaskPlugin=task/cgroup
healthy "no task/affinity, but ranks are confined to their step"
setting TaskPlugin=task/cgroup
put etc/slurm/cgroup.conf "ConstrainCores=no"
finds "no task/affinity, and ranks are not confined" "task-plugin cores-unconstrained" \
    'TaskPlugin=task/cgroup: nothing binds'
setting 'TaskPlugin=task/none,\#task/affinity # task/affinity'
finds "a # that begins no comment" "task-plugin cores-unconstrained" \
    'TaskPlugin=task/none,#task/affinity: nothing'
setting TaskPlugin=affinity
finds "no task/cgroup" cores-unconstrained 'no task/cgroup'
setting TASKPLUGIN=affinity,cgroup
healthy "names without task/, keys in any case"
put etc/slurm/slurm.conf "ClusterName=c"
finds "no TaskPlugin" "task-plugin cores-unconstrained" 'task/none \(the default\)'
put etc/slurm/cgroup.conf "ConstrainCores=no"
finds "ConstrainCores=no" cores-unconstrained 'ConstrainCores=no'
rm "$node/etc/slurm/cgroup.conf"
finds "no cgroup.conf" cores-unconstrained 'ConstrainCores=no \(the default\)'
rm "$node/etc/slurm/cgroup.conf"
setting SelectType=select/linear
healthy "no cgroup.conf, and jobs have whole nodes"
# Users who type --nuioa are served anyway; these matter only for jobs that say nothing.
default_on() { put $nuioa_conf "optional /usr/lib/slurm/nuioa.so default=on $*"; }
default_on
setting TaskPlugin=task/cgroup
finds "default=on, and no task/affinity" cpu-bind-default:TaskPlugin 'TaskPlugin=task/cgroup'
default_on cores=share
setting TaskPlugin=task/cgroup
healthy "default=on, no task/affinity, and ranks divide what they share"
default_on
setting TaskPluginParam=Verbose,None
finds "bind nothing by default" cpu-bind-default:TaskPluginParam 'TaskPluginParam=Verbose,None'
setting TaskPluginParam=Verbose,None
healthy "bind nothing by default, where users ask"
default_on
setting "NodeName=n[1-4] CpuBind=none" "NodeName=gpu[1-2] CpuBind=none"
finds "bind nothing on this node" 'cpu-bind-default:n[1-4]' 'NodeName=n.* has CpuBind=none'
default_on
setting "PartitionName=p Nodes=ALL CpuBind=no"
finds "bind nothing in a partition" cpu-bind-default:p 'PartitionName=p has CpuBind=no'
for wide in core socket ldom; do
    default_on
    setting "PartitionName=p Nodes=ALL CpuBind=$wide" TaskPluginParam=Sockets
    healthy "CpuBind=$wide in a partition: ranks can be exchanged"
done
default_on
setting $'PartitionName=p\033[2J\a Nodes=ALL CpuBind=none'
put proc/sys/kernel/hostname $'n1\033[31m\rx'
for form in "" --brief; do
    # shellcheck disable=SC2086
    run doctor --root "$node" $form
    like "control characters in another node's files: found $form" "$status|$out" \
        '^1[|].*cpu-bind-default:p[?]\[2J[?]'
    unlike "... and none reaches the terminal $form" "$out" $'[\001-\011\013-\037]'
done
fresh
for parameters in CR_Core CR_Core_Memory CR_CPU,CR_CORE_DEFAULT_DIST_BLOCK; do
    setting "SelectTypeParameters=$parameters"
    healthy "SelectTypeParameters=$parameters is the site's own"
done

# --- the site's distances -------------------------------------------------------------------------

put $nuioa_conf "optional /usr/lib/slurm/nuioa.so distances=/etc/distances"
printf '%s\n' "nuioa-distances 1" 'machine packages=8 numa=2 cores=16 model="Some Processor"' \
    "numa 0 1" "row 10 30" "row 30 10" >"$node/etc/distances"
finds "distances of other nodes" distances-foreign 'no section for this node'
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so distances=/etc/distances"
put etc/distances "hello"
finds "distances that are none" distances-refused 'the first line must be'
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so distances=/etc/distances"
put etc/distances "nuioa-distances 1"
chmod 666 "$node/etc/distances"
finds "distances that anyone may write" distances-refused 'etc/distances'
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so distances=/etc/distances"
finds "no distances" distances-refused 'etc/distances: No such'

# --- NICs -----------------------------------------------------------------------------------------

pci2=sys/bus/pci/devices/0000:10:02.0
# nics WORDS: the site says which NICs count
nics() { put $nuioa_conf "optional /usr/lib/slurm/nuioa.so nic=$1"; }
# lose_verbs: the driver of the second card is not loaded
lose_verbs() { rm "$node/sys/class/infiniband/mlx5_1" "$node/sys/class/net/ib1"; }
nics auto
lose_verbs
finds "an InfiniBand card without driver" nic-missing:0000:80:00.0 \
    'card 0000:80:00.0 has no driver\.'
nics auto
lose_verbs
ln -s /sys/bus/pci/drivers/mlx5_core "$node/$pci1/driver"
finds "an InfiniBand card with half of its driver" nic-missing:0000:80:00.0 \
    'has no port; its driver is mlx5_core'
nics auto
lose_verbs
ln -s /sys/bus/pci/drivers/vfio-pci "$node/$pci1/driver"
healthy "a card that is a virtual machine's"
nics auto
lose_verbs
ln -s ../0000:10:00.0 "$node/$pci1/physfn"
healthy "a virtual function that nobody uses"
lose_verbs
rm -r "$node/proc/77"
healthy "no driver on a login node"
nics mlx5_0,mlx5_2
finds "the site names a NIC that is not here" nic-unmatched:mlx5_2 'nic=mlx5_0,mlx5_2, .* no mlx5_2'
doctor --this-node
is "... which drains no node, for it may be a slip of the pen" "$found" ""
for words in omnipath 'hsn*' 'omnipath,efa,^mlx5_0'; do
    nics "$words"
    finds "nic=$words takes none" nic-unmatched 'this node has no such NIC'
done
for words in auto ^mlx5_0 infiniband,omnipath 'mlx5_*,omnipath' auto,efa; do
    nics "$words"
    healthy "nic=$words"
done
nics omnipath
rm -r "$node/proc/77"
healthy "nic= on a login node"
# An Ethernet node: both cards of InfiniBand were never there.
ethernet() {
    rm "$node"/sys/class/infiniband/* "$node"/sys/class/net/ib* "$node/$pci0" "$node/$pci1"
    rm -r "${node:?}"/sys/devices/pci0000:80 "${node:?}"/sys/devices/pci0000:10/0000:10:00.0
    nics auto
}
ethernet
healthy "Ethernet only, one port up, by design"
ethernet
put sys/class/net/eno2/operstate down
put sys/class/net/eno2/flags 0x1002
finds "all ports are down" "port-down:eno2 port-down:eno3" 'eno2 is down \(down\)'
ethernet
put sys/class/net/eno2/operstate down
put sys/class/net/eno2/flags 0x1002
rm -r "$node/proc/77"
healthy "all ports are down on a login node"
ethernet
rm "$node"/sys/class/net/eno* "$node/$pci2" "${node:?}/${pci2%0}1"
rm -r "$node"/sys/devices/pci0000:10
doctor
is "no NIC at all: said, and no reason to worry" "$status|$found" "0|nic-none"
run doctor --root "$node"
like "no NIC at all: what to do" "$out" 'unknown +nic-none.*Do: If this node should have one'
is "no NIC at all: no problem" "$(tail -n 1 <<<"$out")" "No problem found."
fresh
put sys/class/net/eno3/flags 0x1002
nics eno3,mlx5_0
finds "a port that nic= names is down" port-idle:eno3 'eno3 is down'
rm -r "$node/sys/devices/system"
doctor
is "nothing that hwloc could read" "$status|$found" "1|discovery-failed"
fresh
put $pci0/local_cpus ffff
put $pci0/numa_node -1
finds "nobody knows where a NIC is" nic-unlocated:mlx5_0 'mlx5_0 \(0000:10:00.0\)'
put $pci0/numa_node 1
finds "two say two things" nic-disagreement:mlx5_0 \
    'numa_node of mlx5_0 .* says 1, its host bridge says 0'
put $verbs/state "1: DOWN"
put $verbs/phys_state "2: Polling"
finds "a port is down" port-down:mlx5_1 '1: DOWN, 2: Polling\); mlx5_0, of the same model, is up'
cp -a "$node/$verbs" "$node/${verbs%1}2"
put "${verbs%1}2/state" "1: DOWN"
finds "a card's second port is down" port-idle:mlx5_1:2 "the card's other port mlx5_1 is up"
put sys/class/net/eno3/flags 0x1003
finds "no carrier" port-idle:eno3 \
    'eno3 is down \(down, no carrier\); the card.s other port eno2 is up'
put $verbs/rate "50 Gb/sec (1X HDR)"
finds "one lane" port-slow:mlx5_1 '1 of 4 lanes: 50 Gb/sec \(1X HDR\)'
# gpu BUSID LOCAL NUMA: a GPU on a root bus.
gpu() {
    local where=sys/devices/pci${1%%:??.?}/$1 file
    for file in class:0x030200 vendor:0x10de device:0x2330 subsystem_vendor:0x10de \
        subsystem_device:0x0000 "local_cpus:$2" "numa_node:$3" config:; do
        put "$where/${file%%:*}" "${file#*:}"
    done
    ln -s "../../../devices/pci${1%%:??.?}/$1" "$node/sys/bus/pci/devices/$1"
}
gpu 0000:80:08.0 ff00 1
gpu 0000:80:09.0 ff00 1
finds "a NIC beside no GPU" nic-role:mlx5_0 \
    'mlx5_0 is perhaps for storage: it is beside no GPU.* nic-role=mlx5_0:storage$'
gpu 0000:80:08.0 ff00 1
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so nic-role=mlx5_0:storage"
healthy "a NIC beside no GPU, and the site says what it is for"
# two_gpus: a GPU beside each NIC
two_gpus() { gpu 0000:10:08.0 00ff 0 && gpu 0000:80:08.0 ff00 1; }
two_gpus
finds "ports with the default prefix, and GPUs" rails-unknown \
    '^2 ports \(mlx5_0 and others\) have .* default subnet prefix\.$'
two_gpus
doctor --this-node
is "... which is the same on all nodes" "$found" ""
fresh
for words in nic=infiniband,rails=connected nic=mlx5_0 export=env; do
    two_gpus
    put $nuioa_conf "optional /usr/lib/slurm/nuioa.so ${words/,/ }"
    healthy "... and the site says $words"
done
for index in 0 1; do put sys/class/infiniband/mlx5_$index/ports/1/gids/0 \
    "fe80:0000:0000:0001:0200:00ff:0000:000$index"; done
two_gpus
healthy "ports of one subnet with a prefix of its own, and GPUs"
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so export=env,auto"
two_gpus
finds "the site says export=auto" rails-unknown 'default subnet prefix'
put $verbs/rate "100 Gb/sec (4X EDR)"
finds "slower than its like" port-slow:mlx5_1 \
    'runs at 100000 Mb/s, mlx5_0, of the same model, at 200000'
# --- NUMA nodes -----------------------------------------------------------------------------------

# numa COUNT VALUE: COUNT NUMA nodes, equally large, all VALUE from each other
numa() {
    local i j row
    rm -r "$node/sys/devices/system/node"
    put sys/devices/system/node/online "0-$(($1 - 1))"
    put "$pci1/numa_node" $(($1 / 2)) # of CPUs 8-15
    for ((i = 0; i < $1; i++)); do
        row=
        for ((j = 0; j < $1; j++)); do row="$row $((i == j ? 10 : $2))"; done
        put "sys/devices/system/node/node$i/distance" "${row# }"
        put "sys/devices/system/node/node$i/cpumap" \
            "$(printf %04x $((((1 << 16 / $1) - 1) << i * 16 / $1)))"
        put "sys/devices/system/node/node$i/meminfo" "Node $i MemTotal:        4194304 kB"
    done
}
numa 4 20
finds "a flat SLIT" slit-flat 'one value for all pairs of 4 NUMA nodes'
numa 4 20
for node_of in "0 10 16 20 20" "1 16 10 20 20" "2 20 20 10 16" "3 20 20 16 10"; do
    put "sys/devices/system/node/node${node_of%% *}/distance" "${node_of#* }"
done
healthy "a SLIT that is not flat"
for file in "$node"/sys/devices/system/cpu/cpu*/topology; do
    echo 0 >"$file/physical_package_id"
    echo ffff >"$file/core_siblings"
done
numa 4 20
finds "a flat SLIT within one package" slit-flat 'one value for all pairs of 4 NUMA nodes'
numa 4 20
put $nuioa_conf "optional /usr/lib/slurm/nuioa.so distances=/etc/distances"
{
    echo "nuioa-distances 1"
    echo 'machine packages=2 numa=4 cores=16 model="Some Processor"'
    echo "numa 0 1 2 3"
    printf 'row %s\n' "10 16 32 32" "16 10 32 32" "32 32 10 16" "32 32 16 10"
} >"$node/etc/distances"
healthy "a flat SLIT, and distances of the site's"
# measured RATE0 RATE1: what the file says that the NIC beside NUMA node 1 writes to each of both
measured() {
    put $nuioa_conf "optional /usr/lib/slurm/nuioa.so distances=/etc/distances"
    {
        echo "nuioa-distances 1"
        echo 'machine packages=2 numa=2 cores=16 model="Some Processor"'
        printf '%s\n' "numa 0 1" "row 10 20" "row 20 10"
        echo "nic mlx5_1:1 numa=0 write_mb_s=$1 n=15 mad=0.02"
        echo "nic mlx5_1:1 numa=1 write_mb_s=$2 n=15 mad=0.02"
    } >"$node/etc/distances"
}
measured 10000 12000
healthy "rates of a NIC that agree with the distances"
measured 12100 12000
healthy "rates that differ as noise does"
measured 12000 10000
run doctor --root "$node"
like "rates that contradict the distances: for a person" "$(tr -s '\n ' ' ' <<<"$out")" \
    'One of them is wrong\. nuioa takes the order .* Do: Measure again on an idle node: '
finds "rates that contradict the distances" nic-contradicted:mlx5_1:1 \
    'mlx5_1:1 is listed as nearer to NUMA node 1 than to 0, but writes 10000 MB/s to the first'
numa 2 5
finds "remote nearer than local" slit-refused 'remote memory is nearer than local'
put sys/devices/system/node/node0/cpumap 5555
put sys/devices/system/node/node1/cpumap aaaa
finds "NUMA nodes that cut through packages" numa-cut 'NUMA nodes cut through cores or packages\.'
fresh
numa 4 20
ethernet
put sys/class/net/eno2/speed 1000
healthy "a flat SLIT where no NIC counts"

# How the host is tuned, and what its cards could do, is another matter.
put sys/devices/system/cpu/cpu3/cpufreq/scaling_governor powersave
put proc/sys/kernel/numa_balancing 1
put proc/cmdline "root=/dev/sda numa=off"
put $pci1/current_link_speed "8.0 GT/s PCIe"
put $pci1/max_link_speed "16.0 GT/s PCIe"
for irq in 40 41; do
    put "$pci1/msi_irqs/$irq" msix
    put proc/irq/$irq/effective_affinity_list 0
done
sed -i 's/Some Processor/AMD EPYC 7763 64-Core Processor/' "$node/proc/cpuinfo"
healthy "governor, NUMA balancing, interrupts, PCIe, NPS: nothing that keeps a rank from its NIC"

# What a shell would make of a file is unknown, and MPI is its users' matter.
put etc/profile.d/mpi.sh 'export UCX_NET_DEVICES=${UCX_NET_DEVICES:-mlx5_7:1} UCX_TLS=tcp'
put etc/openmpi/openmpi-mca-params.conf "btl = tcp,self"
UCX_TLS=tcp NCCL_IB_DISABLE=1 healthy "settings of MPI libraries"

# --- Slurm's files in other places ----------------------------------------------------------------

# moved DIR [LINE...]: the same node with slurm.conf in DIR, which has these lines, too
moved() {
    local to=$node$1
    shift
    mkdir -p "${to%/*}" && mv "$node/etc/slurm" "$to" && printf '%s\n' "$@" >>"$to/slurm.conf"
}
for place in /opt/slurm/etc /run/slurm/conf /var/spool/slurmd/conf-cache \
    /var/spool/slurm/d/conf-cache; do
    moved "$place"
    healthy "slurm.conf in $place"
done
mkdir -p "$node/cm/var"
mv "$node"/etc/slurm/plugstack.conf* "$node/cm/var/"
setting PlugStackConfig=/cm/var/plugstack.conf PluginDir=/cm/lib64/slurm TaskPlugin=affinity,cgroup
mkdir -p "$node/cm/lib64" && mv "$node/usr/lib/slurm" "$node/cm/lib64/"
put cm/var/plugstack.conf.d/nuioa.conf "optional nuioa.so"
healthy "plugstack.conf elsewhere, and its include beside it"
put etc/slurm/plugstack.conf 'include "/etc/slurm/plugstack.conf.d/*"'
finds "an include in quotes, which Slurm does not take" plugin-absent 'has no line for nuioa\.so'

# Machines that others have described, where this project's copy of them is at hand.
cases=${NUIOA_CASES:-$here/../../../shared/cases}
for case in 24-bright-plugstack 25-profile-d; do
    if [ ! -r "$cases/$case/input.tar.xz" ]; then
        skip "machines of $case" "not in $cases (env NUIOA_CASES)"
        continue
    fi
    mkdir "$work/$case" && tar -xJf "$cases/$case/input.tar.xz" -C "$work/$case"
    count=0
    for root in "$work/$case"/*/; do
        [[ $case == 24* && $root != *-quoted/ ]] && as=(--as compute) || as=()
        [[ $root == *-quoted/ ]] && continue
        count=$((count + 1))
        run doctor --root "$root" --json "${as[@]}"
        is "$case, $(basename "$root"): nothing is found" \
            "$status|$(json "[f['id'] for f in d['findings']]")|$err" "0|[]|"
    done
    is "$case: all machines were there" "$count" "$([ "${case%%-*}" = 24 ] && echo 6 || echo 8)"
done

# --- files that are anything but what they should be ----------------------------------------------

put etc/slurm/slurm.conf $'= = =\n"\nTaskPlugin\n\\'
put etc/slurm/plugstack.conf $'include\noptional\nrequired   \ninclude plugstack.conf\ninclude /*/*'
head -c 3000 /dev/urandom >"$node/$pci0/numa_node"
rm "$node/etc/slurm/cgroup.conf" && mkfifo "$node/etc/slurm/cgroup.conf"
doctor
is "rubbish: still an answer" "$status|$err" "1|"
like "rubbish: the rest is checked" "$found" 'plugstack-unread task-plugin'
fresh
ln -s nuioa.conf "$node/etc/slurm/plugstack.conf.d/a.conf"
printf 'include *\n' >>"$node/$nuioa_conf"
doctor
is "files that include each other: an end" "$status" 1

# --- this machine, with files of Slurm made here --------------------------------------------------

own=$work/own cache=$work/own/cache
mkdir "$own" && chmod 755 "$work" "$own" # nobody, too, opens libraries in it
printf '%s\n' ClusterName=c AuthType=auth/none "PluginDir=$own" >"$own/slurm.conf"
# says NAME ID TEXT: the finding, why it matters and what to do
says() {
    echo "optional nuioa.so cache=$cache" >"$own/plugstack.conf"
    SLURM_CONF=$own/slurm.conf run doctor --as compute --json
    like "$1" "$(json "*(f['what'] + ' ' + f['why'] + ' ' + f['remedy'] for f in d['findings']
        if f['id'] == '$2')")" "$3"
}
says "no cache" cache-missing "^$cache is not there\. Command: nuioa cache --out $cache\. The next"
echo hello >"$cache"
root='not a nuioa cache.* Root reads only files that nobody else can write, '
says "a cache that is none" cache-refused \
    "$root.* Check that cache= in plugstack\.conf names the right file\."
"$tool" cache --out "$cache" 2>"$work/err"
printf 'another\0' | dd of="$cache" bs=1 seek=48 conv=notrunc status=none # the name of its host
says "a cache of another host" cache-stale \
    'another host.* The next launch does not use it.* At boot, run it after the services'
mkdir "$own/open" && chmod 777 "$own/open"
cache=$own/open/cache
says "a directory that others can write" cache-directory \
    'others may write .* Others can replace the cache.* If only nuioa uses .*, make it root.s'
if cc=$(command -v cc || command -v gcc); then
    "$cc" -shared -fPIC -xc -o "$own/mpi_pmix.so" "-Wl,-rpath,$own" - \
        <<<'const char *const name = "libpmix.so.2";'
    "$cc" -shared -fPIC -xc -o "$own/libpmix.so.2" - <<<'#include <unistd.h>
__attribute__((constructor)) static void start(void) { _exit(1); }'
    says "a PMIx that ends who opens it" pmix-library \
        "^Opening $own/libpmix\.so\.2 takes too long, or fails\. "
else
    skip "a PMIx that ends who opens it" "no compiler of the name cc or gcc"
fi

# --- nothing is forgotten -------------------------------------------------------------------------

top=$here/../..
kinds=$(sed -n 's/^    { "\([a-z-]*\)", DOCTOR_\([A-Z]*\), DOCTOR_[A-Z]*,$/\1 \L\2/p' \
    "$top/tools/doctor/kinds.c")
is "the manual lists all findings" "$kinds" \
    "$(sed -n 's/\\-/-/g; s/^\([a-z-]*\)  *\(problem\|advice\|unknown\) .*/\1 \2/p' \
        "$top/man/nuioa-doctor.1.in")"
is "a test provokes each" "" "$(while read -r kind _; do
    grep -qE -- "^ *(finds|is) .*$kind|^ *\"$kind" "$here/doctor.t" \
        "$top/test/guest/doctor.t" "$top/test/cluster/60-doctor.t" || echo "$kind"
done <<<"$kinds")"

done_testing
