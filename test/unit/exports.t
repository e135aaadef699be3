#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Variables of other libraries, as these libraries themselves read them: UCX and libfabric use the
# NIC of this machine that nuioa names, and would use another one without.
#
# NUIOA: the program; without it that of the build tree.

. "$(dirname "$0")/../tap.sh"
tool=${NUIOA:-$PWD/../../tools/nuioa}
[ -x "$tool" ] || { fail "nuioa is built" "$tool"; done_testing; exit 1; }

nic=$("$tool" topo --json | python3 -c 'import json, sys
for nic in json.load(sys.stdin)["nics"]:
    if nic["kind"] == "ethernet" and nic["state"] == "active" and not nic["virtual"]:
        print(nic["name"])' | head -n 1)
give_up() { skip_all "what other libraries make of the variables" "$1"; }
[ -n "$nic" ] || give_up "this machine has no Ethernet NIC that is up"
command -v ucx_info >/dev/null || give_up "no ucx_info (test/deps build)"
command -v fi_info >/dev/null || give_up "no fi_info (test/deps build)"

# with NIC EXPORT COMMAND...: runs it as a rank that has this NIC
with() {
    "$tool" exec --deadline-ms 60000 --local-rank 0 --local-size 1 --nic "$1" --export "$2" -- \
        "${@:3}" 2>/dev/null
}
# The device over which UCX sends.
ucx_uses() { sed -n 's,.*lane\[0\]:.*:tcp/\([^.]*\)\..*,\1,p'; }
# UCX 1.10 tries RDMA CM first, and gives up where there is none.
ucx=(env UCX_TLS=tcp,self UCX_SOCKADDR_TLS_PRIORITY=tcp ucx_info -e -u t -D net)

is "UCX uses the NIC" "$(with "$nic" ucx "${ucx[@]}" | ucx_uses)" "$nic"
if ucx_info -d | grep -q 'Device: lo$'; then
    is "... and what the user has set instead" \
        "$(UCX_NET_DEVICES=lo with "$nic" ucx "${ucx[@]}" | ucx_uses)" lo
else
    skip "... and what the user has set instead" "this UCX does not use lo"
fi
said=$(with "$nic" ucx env UCX_LOG_LEVEL=warn "${ucx[@]}")
is "... has nothing to say against it" \
    "$(ucx_uses <<<"$said") $(grep -ciE 'warn|error' <<<"$said")" "$nic 0"
is "... reads how many NICs a message may have" \
    "$(UCX_MAX_RNDV_RAILS=3 ucx_info -c | grep -c '^UCX_MAX_RNDV_RAILS=3$')" 1

first_domain() { sed -n 's/.*domain: //p' | head -n 1; }
is "libfabric: the variable is set" "$(with "$nic" ofi printenv FI_TCP_IFACE)" "$nic"
is "... and it chooses" "$(FI_TCP_IFACE=lo fi_info -p tcp | first_domain)" lo
is "... and the NIC is used" "$(with "$nic" ofi fi_info -p tcp | first_domain)" "$nic"
known=$(fi_info -e 2>/dev/null)
for name in FI_TCP_IFACE FI_VERBS_DEVICE_NAME; do
    like "... it knows $name" "$known" "# $name:"
done
done_testing
