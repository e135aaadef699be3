#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa doctor where the kernel answers, and Slurm, munged and libpmix are real: a healthy node,
# then one thing after the other goes wrong and is put right again.
if [ ! -e /nuioa/settings ]; then
    # shellcheck source=payload.sh
    . "$(dirname "$(readlink -f "$0")")/payload.sh"
    gcc -std=gnu11 -O2 -static -o "$payload/usr/local/bin/set-link" "$here/set-link.c" || exit
    "$here/boot" twin --cgroup --payload "$payload" \
        --conf HealthCheckProgram=/usr/local/sbin/nuioa-healthcheck --conf HealthCheckInterval=3 \
        "$@" -- "$0"
    exit
fi
# shellcheck source=lib.sh
. /nuioa/lib.sh

modprobe e1000e
ip link set eth2 down
# pci NIC: its address there
pci() { basename "$(readlink -f "/sys/class/net/$1/device" | sed 's|/virtio[0-9]*$||')"; }

is "the NICs are on NUMA nodes 1, 0 and nowhere" \
    "$(for nic in eth{0..2}; do cat "/sys/bus/pci/devices/$(pci "$nic")/numa_node"; done | xargs)" \
    "1 0 -1"
the_plugin_does

# doctor [ARGUMENT...]: sets found ("id:subject ..."), what (their texts), status
doctor() {
    local started=$EPOCHREALTIME
    status=0
    nuioa doctor --json "$@" >/tmp/doctor.json || status=$?
    seconds=$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
    { read -r found; read -r what; } < <(jq -r '
        ([.findings[] | .id + (if .subject then ":" + .subject else "" end)] | join(" ")),
        ([.findings[] | .what] | join(" "))' /tmp/doctor.json)
}

# finds NAME WANTED WHAT [ARGUMENT...]: these findings and no other, explained so
finds() {
    doctor "${@:4}"
    is "$1" "$status $found" "1 $2"
    like "$1: explained" "$what" "$3"
}

# until_ COMMAND...: waits for it, some seconds at most; not where all is in vain
until_() {
    local try
    for ((try = 0; try < 100; try++)); do
        [ "$plugin" = yes ] || return
        "$@" >/dev/null 2>&1 && return
        sleep 0.3
    done
}

# link NIC FILE TEXT: what sysfs says of it
link() { [ "$(cat "/sys/class/net/$1/$2")" = "$3" ]; }

healthy() {
    doctor "${@:2}"
    is "$1" "$status $found" "0 "
}

# --- healthy --------------------------------------------------------------------------------------

nuioa cache # anew: the third NIC came after slurmd's
healthy "a healthy node: nothing is found"
note "nuioa doctor took $seconds s, emulated"
is "a healthy node: what was looked at" \
    "$(jq -r '"\(.host) \(.role) \(.checks) \(.slurm_conf) \(.plugstack_conf)"' /tmp/doctor.json)" \
    "node0 compute 18 /etc/slurm/slurm.conf /etc/slurm/plugstack.conf"
like "a healthy node: its PMIx" "$(jq -r .pmix /tmp/doctor.json)" 'PMIx [0-9]+\.'
is "without terminal, environment and open files" \
    "$(env -i setsid /usr/bin/nuioa doctor --brief <&- 2>&-; echo $?)" $'nuioa: healthy\n0'
is "as a user" "$(as_user nuioa doctor --brief; echo $?)" $'nuioa: healthy\n0'

# --- NICs -----------------------------------------------------------------------------------------

ip link set eth1 down
finds "a port is down" port-down:eth1 'eth1 is down \(down\); eth0, of the same model, is up'
ip link set eth1 up

# A network whose ports nobody has set up.
ip link set eth0 down
ip link set eth1 down
finds "all ports are down" "port-down:eth2 port-down:eth0 port-down:eth1" 'eth0 is down \(down\)'
ip link set eth0 up
ip link set eth1 up

bus=/sys/bus/pci address=$(pci eth1)
echo 1 >"$bus/devices/$address/remove"
finds "a card has left the bus" nic-missing:eth1 \
    "eth1 \($address\) was here when /run/nuioa/node0.cache was made; now the card is gone"
echo 1 >$bus/rescan
until_ link eth1 operstate down
ip link set eth1 up
until_ link eth1 operstate up
healthy "the card is back"
address=$(pci eth0)
echo "$address" >$bus/drivers/virtio-pci/unbind
finds "a card has lost its driver" nic-missing:eth0 'eth0 .* now its card has no driver'
doctor --this-node
is "which is a matter of this node" "$status $found" "1 nic-missing:eth0"
echo "$address" >$bus/drivers/virtio-pci/bind
until_ link eth0 operstate down
ip link set eth0 up
until_ link eth0 operstate up
healthy "it has its driver again"

echo 0 >"/sys/bus/pci/devices/$(pci eth0)/numa_node"
finds "a NIC whose numa_node was rewired" "cache-stale nic-disagreement:eth0" \
    'numa_node of eth0 .* says 0, its host bridge says 1'
echo 1 >"/sys/bus/pci/devices/$(pci eth0)/numa_node"

set-link eth0 speed 40000
set-link eth1 speed 10000
finds "a port slower than its like" port-slow:eth1 \
    'eth1 runs at 10000 Mb/s, eth0, of the same model, at 40000'
set-link eth1 speed 40000
set-link eth0 speed 0
set-link eth1 speed 0

# The third one alone: 1 Gb/s, and its bridge tells nothing.
ip link set eth0 down
ip link set eth1 down
ip link set eth2 up
until_ link eth2 operstate up
nuioa cache
finds "a NIC of which nobody knows where it is" nic-unlocated:eth2 \
    "Neither the host bridge nor numa_node of eth2"
ip link set eth2 down
ip link set eth0 up
ip link set eth1 up
healthy "all that is put right"

# --- the plugin's files ---------------------------------------------------------------------------

stack=/etc/slurm/plugstack.conf
cp $stack /tmp/plugstack.conf
cat /tmp/plugstack.conf /tmp/plugstack.conf >$stack
finds "the plugin is listed twice" plugin-twice "$stack:1 loads the plugin, and $stack:2"
sed 's/$/ polici=cpu/' /tmp/plugstack.conf >$stack
finds "an argument that does not exist" plugin-argument 'did you mean policy'

sed 's/$/ nic=eth0,eth7/' /tmp/plugstack.conf >$stack
finds "a NIC that the site names is not here" nic-unmatched:eth7 'this node has no eth7'

# Advice on the cache has the command, which helps as it is.
remedy() {
    local command
    read -ra command < <(jq -r '.findings[0].what' /tmp/doctor.json |
        sed -n 's/.*Command: \(.*\)\.$/\1/p')
    "${command[@]}"
}
cache=/run/nuioa/node0.cache
cp /tmp/plugstack.conf $stack
rm $cache
finds "no cache" cache-missing "$cache is not there"
remedy
healthy "no cache: what the doctor says helps"
mkdir /var/nuioa
printf '%s\n' "nuioa-distances 1" "machine packages=2 numa=2 cores=4" "numa 0 1" "row 10 21" \
    "row 21 10" >/etc/distances
sed 's|$| cache=/var/nuioa/cache distances=/etc/distances|' /tmp/plugstack.conf >$stack
finds "no cache, elsewhere" cache-missing \
    'Command: nuioa cache --out /var/nuioa/cache --distances /etc/distances\.$'
remedy
healthy "no cache, elsewhere: what the doctor says helps"
cp /tmp/plugstack.conf $stack
chmod 666 $cache
finds "a cache that anyone may write" cache-refused "$cache"
rm $cache && nuioa cache
printf '%s\n' "nuioa-distances 1" "machine packages=1 numa=2 cores=16" "numa 0 1" "row 10 20" \
    "row 20 10" >/etc/distances
sed 's|$| distances=/etc/distances|' /tmp/plugstack.conf >$stack
rm $cache && nuioa cache --distances /etc/distances 2>/dev/null
finds "the distance file of other nodes" distances-foreign 'no section for this node'
cp /tmp/plugstack.conf $stack
rm $cache && nuioa cache

pmix=$(echo /usr/lib/*/pmix2/lib/libpmix.so)
mv "$pmix" "$pmix.away"
finds "no libpmix" pmix-library 'libpmix.so: cannot open'
ln -s "$(echo /usr/lib/*/libmunge.so.2)" "$pmix"
finds "a libpmix that cannot publish" pmix-unable 'no PMIx_Store_internal'
rm "$pmix" && mv "$pmix.away" "$pmix"
plugins=$(dirname /usr/lib/*/slurm-wlm/mpi_pmix.so)
mv "$plugins/mpi_pmix.so" /tmp/
finds "no PMIx plugin" pmix-plugin 'no plugin mpi_pmix.so'
mv /tmp/mpi_pmix.so "$plugins/"
healthy "all that is put right too"

# --- the sample cli_filter ------------------------------------------------------------------------

filter=/etc/filter
mkdir $filter
cp /etc/slurm/*.conf $filter/
echo CliFilterPlugins=cli_filter/lua >>$filter/slurm.conf
# cores PARTITIONS [OPTION...]: how many cores a job of two ranks gets
cores() {
    sed "s/^local whole_nodes = .*/local whole_nodes = { $1 }/" \
        /usr/share/doc/nuioa/examples/cli_filter.lua >$filter/cli_filter.lua
    # shellcheck disable=SC2016
    as_user env SLURM_CONF=$filter/slurm.conf timeout 60 salloc -Q -n2 "${@:2}" \
        sh -c 'scontrol show job $SLURM_JOB_ID' | sed -n 's/.*NumCPUs=\([0-9]*\).*/\1/p'
}
is "the sample cli_filter: whole nodes in the partitions that it names, for jobs with nuioa" \
    "$(cores "" -p all --nuioa) $(cores "all = true" -p all --nuioa) $(cores "all = true" \
        --nuioa) $(cores '[""] = true' --nuioa) $(cores "all = true" -p all --nuioa=off)" \
    "2 4 2 4 2"

# --- Slurm and MUNGE ------------------------------------------------------------------------------

ip link set eth1 down
sed 's/^drain=no/drain=yes/' /usr/share/doc/nuioa/examples/nuioa-healthcheck \
    >/usr/local/sbin/nuioa-healthcheck
chmod +x /usr/local/sbin/nuioa-healthcheck
is_drained() { [ "$(sinfo -h -o %T)" = drained ]; }
until_ is_drained
is "as HealthCheckProgram, the sample drains the node" "$(sinfo -h -o %T)" drained
like "as HealthCheckProgram, the sample says why" "$(sinfo -h -R -o %E)" \
    '^nuioa: 1 problem, 0 advice, 0 unknown: port-down:eth1'
rm /usr/local/sbin/nuioa-healthcheck
ip link set eth1 up

kill -STOP "$(pidof munged)"
finds "munged hangs" munge-unreachable 'munged does not answer within 5000 ms'
note "with a stopped munged it took $seconds s"
kill -CONT "$(pidof munged)"
kill "$(pidof slurmctld)"
healthy "slurmctld is dead: nobody asks it"
kill "$(pidof munged)"
gone() { ! pidof "$1"; }
until_ gone munged
finds "munged is dead" munge-unreachable 'munge.socket.2.*: (No such file|Connection refused)'
kill "$(pidof slurmd)"
until_ gone slurmd
finds "no slurmd: a login node" munge-unreachable 'munge.socket.2'
is "no slurmd: so it says" "$(jq -r .role /tmp/doctor.json)" login

done_testing
