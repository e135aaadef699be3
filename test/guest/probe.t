#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa probe --nic with perftest's own programs over rxe, RDMA that the kernel makes on a NIC that
# has none, as an ordinary user: where both ends of ib_write_bw run and have their pages, as the
# kernel says it; and with little memory that may be locked. What rates come out means nothing here.
[ -e /nuioa/settings ] || exec "$(dirname "$0")/boot" rails --timeout 900 "$@" -- "$0"
# shellcheck source=lib.sh
. /nuioa/lib.sh

# In place of each program, on both nodes: fewer messages than the command asks for, since the last
# -n counts, and more patience with a slow network. Once it has its buffer, of 2 MB, what the kernel
# says of it is written down: its command, its CPUs, and of each part of its memory the policy and
# where the pages are.
make_wrappers() {
    mkdir -p /tmp/bin /tmp/seen
    chmod 777 /tmp/seen
    cat >/tmp/bin/ib_write_bw <<'EOS'
#!/bin/sh
/usr/bin/ib_write_bw "$@" -n "${MESSAGES:-30}" -u 20 &
pid=$!
while kill -0 $pid 2>/dev/null; do
    grep anon= /proc/$pid/numa_maps >/tmp/seen/$pid.new 2>/dev/null || break
    if grep -q 'anon=5[0-9][0-9]' /tmp/seen/$pid.new; then
        { grep Cpus_allowed_list /proc/$pid/status; echo "$@"; } >>/tmp/seen/$pid.new 2>/dev/null
        mv /tmp/seen/$pid.new /tmp/seen/$pid
        break
    fi
    sleep 0.1
done
wait $pid
EOS
    printf '#!/bin/sh\nexec /usr/bin/ib_write_lat "$@" -n 50\n' >/tmp/bin/ib_write_lat
    chmod 755 /tmp/bin/*
}

# ends: of all that was seen "SERVER CLIENT" for each kind of run: the NUMA node on which the CPUs,
# the policy and all pages of that end were, and "?" if they were not all on one.
ends() {
    python3 -c '
import glob, re
runs = {}
for name in glob.glob("/tmp/seen/*[0-9]"):
    text = open(name).read()
    cpus = re.search(r"Cpus_allowed_list:\s(\S+)", text).group(1)
    maps = [line for line in text.splitlines() if " anon=" in line]
    where = {{"0-1": "0", "2-3": "1"}.get(cpus, "?")}
    for line in maps:
        where |= set(re.findall(r"^\S+ bind:(\S+)", line) or ["?"])
        where |= set(re.findall(r" N(\d+)=", line))
    end = where.pop() if len(where) == 1 else "?"
    run = runs.setdefault(re.search(r"-p (\d+)", text).group(1), {})
    run["127.0.0.1" in text] = end
print(",".join(sorted({run.get(False, "-") + " " + run.get(True, "-") for run in runs.values()})))'
}

ok "each node has RDMA devices" srun -N2 bash -c \
    "$(declare -f make_roce make_wrappers); make_wrappers && make_roce"
the_plugin_does # so does nuioa(1), which comes with it
path=PATH=/tmp/bin:$PATH
out=$(as_user "$path" nuioa probe --nic=rxe1 --rounds 1 --timeout 100 2>/tmp/said)
is "ib_write_bw runs as an ordinary user: rates and a latency for each NUMA node" \
    "$?|$(awk '$1 == "rxe1:1" { print $4, ($6 > 0) ($7 > 0) ($8 > 0) }' <<<"$out" | paste -sd,)" \
    "0|0 111,1 111"
note "$out" "$(cat /tmp/said)"
is "CPUs, policy and pages of both ends, server and client: writes, then reads" \
    "$(ends)" "0 1,1 0,1 1"
note "$(grep -h -e '-p ' -e Cpus -e 'anon=5..' /tmp/seen/*[0-9])"

# What latency needs is less than that.
out=$(as_user "$path" bash -c "ulimit -l 64
    nuioa probe --nic=rxe1 --rounds 1 --timeout 100" 2>&1)
sentence='rxe1:1, NUMA node 0, writes: ib_write_bw \((client|server)\) ended with status '
sentence+='[1-9][0-9]*: .*; only 64 KB may be locked in memory: see ulimit -l \(and 3 more\)'
like "with 64 KB of locked memory: the sentence" "$out" "$sentence"
note "$out"
done_testing
