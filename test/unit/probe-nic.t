#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa probe --nic: which ends are bound where, which number is whose, and what is said of
# benchmarks that fail. The benchmark is the test's own; its rates are a secret matrix, by what each
# end finds that it is bound to. test/topologies/probe-noise.t has the statistics.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"

# --- who is where -------------------------------------------------------------------------------

# shellcheck source=../probe/secret.sh
. "$here/../probe/secret.sh"
if ! make_secret; then
    skip_all "nuioa probe --nic" "no compiler, or no libnuma: $(tail -n 1 "$work/cc")"
fi
on quad 4
ok "the benchmark, not bound, gives a rate that is wrong" \
    env "${stand_in[@]}" bash -c '"$0" x & for _ in {1..50}; do sleep 0.1
        rate=$("$0" x 127.0.0.1) && [ "$rate" = "rate: 1.000 MB/s" ] && break; done
        kill %1; [ "$rate" = "rate: 1.000 MB/s" ]' "$work/secret_bw"
four() { printf '%s\n' 4 "11 12 13 14" "21 22 23 24" "31 32 33 34" "41 42 43 44"; }
four >"$work/matrix.mlx5_0"
printf '%s\n' 4 "51 52 53 54" "61 62 63 64" "71 72 73 74" "81 82 83 84" >"$work/matrix.mlx5_1"
measure "${plain[@]}" --rounds 1 --json
is "writes: the server is swept; reads: the client; the other end is beside the NIC" \
    "$status|$(cells nic numa level write_mb_s read_mb_s latency_ns why | paste -sd,)" \
    "0|mlx5_0:1 0 1 12.0 21.0 None None,mlx5_0:1 1 0 22.0 22.0 None None,\
mlx5_0:1 2 1 32.0 23.0 None None,mlx5_0:1 3 2 42.0 24.0 None None,\
mlx5_1:1 0 1 54.0 81.0 None None,mlx5_1:1 1 2 64.0 82.0 None None,\
mlx5_1:1 2 1 74.0 83.0 None None,mlx5_1:1 3 0 84.0 84.0 None None"
measure "${plain[@]}" --nic=mlx5_1 --rounds 2
is "one NIC of two" "$status|$(grep -c '^mlx5_1:1 ' <<<"$out")|$(grep -c mlx5_0 <<<"$out")" "0|4|0"
is "... differences are believed" "$(tail -n 3 <<<"$out")" \
    "values spread by 0.0 % (median absolute deviation), so that a median has a standard \
error of 0.0 %
leaving the NIC's NUMA node costs 23.8 % of the rate; from 0.0 % on a difference is believed
for plugstack.conf: remote_cost=0.31 hop_cost=0.00"
measure "${plain[@]}" --nic=mlx5_1 --rounds 1
like "one round tells no differences" "$out" 'one round gives no variance, so no difference is'
is "... and proposes nothing" "$(grep -c 'remote_cost' <<<"$out")" 0
measure "${plain[@]}" --nic=mlx5_1 --rounds 2
like "progress, where there is no terminal" "$err" '1 of 2 rounds measured.*2 of 2 rounds measured'
is "within 100 columns, in ASCII" "$(LC_ALL=C awk 'length($0) > 100 || /[^ -~]/' "$work/out")" ""

on infiniband 8
exact=0
for seed in {1..20}; do
    wanted=$(python3 - "$seed" "$work/matrix.mlx5_0" <<'END'
import random, sys
random.seed(int(sys.argv[1]))
m = [[random.randint(1000, 50000) for _ in range(2)] for _ in range(2)]
with open(sys.argv[2], "w") as file:
    print(2, file=file)
    for row in m:
        print(*row, file=file)
for k in range(2):
    print(k, float(m[k][1]), float(m[1][k]))  # the NIC is on NUMA node 1
END
)
    measure "${plain[@]}" --rounds 1 --json
    [ "$(cells numa write_mb_s read_mb_s)" = "$wanted" ] && exact=$((exact + 1))
done
is "of 20 random matrices come out exactly" "$exact" 20
printf '%s\n' 2 "1000 1000" "1000 1000" >"$work/matrix.mlx5_0"
measure "${plain[@]}" --rounds 2
is "where all rates are equal, distance costs nothing" "$(tail -n 2 <<<"$out")" \
    "distance from the NIC costs nothing here: a difference of 0.0 % would have been believed
for plugstack.conf: remote_cost=0.00 (hop_cost needs a figure from two levels away)"
says() { printf '#!/bin/sh\necho %q\n' "$1" | install -D -m 755 /dev/stdin "$work/script/python3"; }
(while :; do :; done) &
measure "${plain[@]}" --rounds 1
kill %1
like "other load is said" "$out" \
    'other load: [0-9.]+ CPUs before, [0-9.]+ after; figures may be too low'
none='["","",[]]'
says '[{"nic":9,"numa":0,"gpu":-1,"cells":['"$none,$none,$none"']}]'
PATH=$work/script:$PATH measure "${plain[@]}" --rounds 1
is "what the script prints is checked" "$status|$out|$err" \
    "1||nuioa: probe-nic.py has printed something else than figures"

# --- the site's file ----------------------------------------------------------------------------

on quad 4
four >"$work/matrix.mlx5_0"
four >"$work/matrix.mlx5_1"
measure "${plain[@]}" --nic=mlx5_0 --rounds 2 --out "$work/site"
is "--out writes what was measured, beside the distances that are known" \
    "$status|$(grep -v '^#' "$work/site")" \
    '0|nuioa-distances 1
machine packages=4 numa=4 cores=8 model="Test CPU"
numa 0 1 2 3
row 10 20 30 20
row 20 10 20 30
row 30 20 10 20
row 20 30 20 10
nic mlx5_0:1 numa=0 write_mb_s=12 read_mb_s=21 n=2 mad=0.000000
nic mlx5_0:1 numa=1 write_mb_s=22 read_mb_s=22 n=2 mad=0.000000
nic mlx5_0:1 numa=2 write_mb_s=32 read_mb_s=23 n=2 mad=0.000000
nic mlx5_0:1 numa=3 write_mb_s=42 read_mb_s=24 n=2 mad=0.000000'
printf '%s\n' "0 37 67 35" "36 0 35 66" "68 34 0 36" "35 69 35 0" >"$work/memory"
run probe --matrix "$work/memory" --topology "$machines/quad.xml" --local-ns 100 --out "$work/site"
measure "${plain[@]}" --nic=mlx5_1 --rounds 1 --out "$work/site"
is "what others have measured stays: memory, and another NIC" \
    "$(grep -c '^nic mlx5_0:1 ' "$work/site") $(grep -c '^nic mlx5_1:1 ' "$work/site") \
$(grep -m 1 '^row' "$work/site")" "4 4 row 10 13 17 13"
run plan --topology "$machines/quad.xml" --tasks 8 --hints heavy=0 --nic mlx5_0 \
    --distances "$work/site" --explain
like "a plan prices by it" "$out" \
    'measured for mlx5_0:1: 3\.5 on NUMA node 0, 1\.91 on NUMA node 1, 1\.31 on NUMA node 2, 1 on'

printf '%s\n' 4 "1000 1000 1000 1000" "2000 2000 2000 2000" "3000 3000 3000 3000" \
    "4000 4000 4000 4000" >"$work/matrix.mlx5_0"
if python3 -c 'import matplotlib' 2>/dev/null; then
    measure "${plain[@]}" --nic=mlx5_0 --rounds 1 --heatmap "$work/nics.svg"
    ok "--heatmap: its title" \
        grep -q '>what NICs reach from each NUMA node (beside the NIC: framed)<' "$work/nics.svg"
    is "--heatmap: a square for each figure, a frame beside the NIC; a half and less are darkest" \
        "$status|$(python3 - "$work/nics.svg" <<'END'
import re, sys
svg = open(sys.argv[1]).read()
fills = re.findall(r'id="cell-0-\d">.*?fill: (#\w+)', svg, re.S)
light = [sum(bytes.fromhex(fill[1:])) for fill in fills]
print(len(re.findall('id="cell-', svg)), len(re.findall('id="frame-', svg)),
      fills[0] == fills[1], light[1] < light[2] < light[3],
      *re.findall(r">(\d000)</text>", svg)[:4])
END
)" "0|8 2 True True 1000 2000 3000 4000"
else
    skip "--heatmap" "no matplotlib for python3"
fi
mkdir "$work/lacks"
echo 'raise ImportError' >"$work/lacks/matplotlib.py"
PYTHONPATH=$work/lacks measure "${plain[@]}" --nic=mlx5_0 --rounds 1 --heatmap "$work/no.svg"
is "--heatmap without matplotlib: one line, before anything is measured" "$status|$out|$err" \
    "1||nuioa: --heatmap: drawing requires matplotlib for python3: install it, or use --json"
measure "${plain[@]}" --nic=mlx5_0 --rounds 1 --out "$work/no/site"
is "--out that cannot be written: the same" "$status|$out|$err" \
    "1||nuioa: $work/no/site: No such file or directory"

# --- the table of benchmarks --------------------------------------------------------------------

on quad 4
four >"$work/matrix.mlx5_0"
mkdir "$work/bin"
cp "$work/secret_bw" "$work/bin/ib_write_bw"
cp "$work/secret_bw" "$work/bin/ib_write_lat"
path=$PATH PATH=$work/bin:$PATH
measure --nic=mlx5_0 --rounds 1 --json
is "perftest: rates in Gb/s, latency in microseconds, of the client's cores" \
    "$status|$(cells numa write_mb_s read_mb_s latency_ns | paste -sd,)" \
    "0|0 12.0 21.0 21.0,1 22.0 22.0 22.0,2 32.0 23.0 23.0,3 42.0 24.0 24.0"
mv "$work/bin/ib_write_bw" "$work/bin/ib_read_bw"
measure --nic=mlx5_0 --rounds 1 --json
is "ib_read_bw: data goes the other way" "$(cells numa write_mb_s read_mb_s | paste -sd,)" \
    "0 21.0 12.0,1 22.0 22.0,2 23.0 32.0,3 24.0 42.0"
measure --nic=mlx5_0 --rounds 1 --tool ib_write_bw --json
is "a benchmark that was named is the one that is used" "$status" 1
like "... and its absence is said" "$err" \
    'nothing was measured: ib_write_bw \(server\) ended with status 127: ib_write_bw: No such file'
cat >"$work/bin/ucx_perftest" <<'END'
#!/bin/bash
echo "$UCX_NET_DEVICES $UCX_TLS" >"$SECRET_BW/ucx"
[ $# = 12 ] || exec "$SECRET_BW/secret_bw" mlx5_0
rate=$("$SECRET_BW/secret_bw" mlx5_0 127.0.0.1)
rate=${rate#rate: }
echo "      1000      0.241 296088.8 84235.492        3.38   ${rate% MB/s}           3          12"
END
chmod +x "$work/bin/ucx_perftest"
measure --nic=mlx5_0 --rounds 1 --tool ib_write_lat --json
is "a benchmark of latency alone" "$status|$(cells latency_ns write_mb_s why | paste -sd,)" \
    "0|21.0 None None,22.0 None None,23.0 None None,24.0 None None"
measure --nic=mlx5_0 --rounds 1 --tool ucx_perftest --json
is "UCX: its MB are 2^20 bytes" "$(cells numa write_mb_s | paste -sd,)|$(cat "$work/ucx")" \
    "0 12.583,1 23.069,2 33.554,3 44.04|mlx5_0:1 ib"
PATH=$path

# A PATH that has them not.
mkdir "$work/none"
ln -s "$(command -v env)" "$(command -v timeout)" "$work/none/"
PATH=$work/none measure --nic=mlx5_0 --rounds 1
is "no python3: one line" "$status|$out|$err" "1||nuioa: python3: No such file or directory. This\
 command requires it: install Python 3.6 or later"
ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$work/none/python3"
PATH=$work/none measure --nic=mlx5_0 --rounds 1
is "none is installed: what would do is named" "$status|$err" "1|nuioa: nothing was measured:\
 none of ib_write_bw ib_read_bw ucx_perftest fi_rma_bw is installed; see --tool for any other"
on ethernet-only 8
PATH=$work/none measure --rounds 1 --nic=ethernet
like "none is known for Ethernet" "$status|$err" \
    '^1\|nuioa: nothing was measured: no benchmark is known for ethernet; see --tool for any$'
on restricted 4
measure "${plain[@]}" --rounds 1
like "NUMA nodes that the job has not are left out, which is said" "$out" \
    'of the [0-9]+ NUMA nodes may not be used here and are left out. In a job, use srun --exclusive'
on quad 4

# --- benchmarks that fail -----------------------------------------------------------------------

# bad NAME SCRIPT: a client that does SCRIPT; the server, and "good", are those of secret_bw
bad() {
    printf '%s\n' '#!/bin/bash' 'good() { "$SECRET_BW/secret_bw" "$@"; }' \
        'if [ $# = 1 ]; then good "$1"; exit; fi' "$2" >"$work/$1"
    chmod +x "$work/$1"
}
# fails NAME WANTED [OPTION]...: NUMA node 2's memory fails; the other figures stand
fails() {
    local name=$1 wanted=$2
    shift 2
    measure --nic=mlx5_0 --rounds 2 --tool "$work/$name {nic} {host}" \
        --number 'rate: ([0-9.]+)' "$@"
    is "$name: the rest stands" \
        "$status|$(awk '$1 $2 == "mlx5_0:1NUMA" { print $4, $6, $7 }' <<<"$out" | paste -sd,)" \
        "0|0 12 21,1 22 22,2 32 -,3 42 24"
    like "$name: said" "$out" "mlx5_0:1, NUMA node 2, reads: $wanted"
}
# The client of node 2 is the only one whose memory is the word 4.
only='[[ $NUMA_STAND_IN_MEMORY = "2 4 "* ]] || { good "$@"; exit; }'
marker=98$$
bad hangs "$only; echo it begins; sleep ${marker}1 & sleep ${marker}2"
fails hangs 'hangs \(client\) did not end in time: it begins' --timeout 10
bad dies "$only; echo 'Couldn'\''t allocate MR'; kill -SEGV \$\$"
fails dies 'dies \(client\) died of signal 11: Couldn.t allocate MR'
bad ends "$only; echo the port is down >&2; exit 3"
fails ends 'ends \(client\) ended with status 3: the port is down'
bad late "$only; echo no queue pair >&2; echo '#bytes #iterations'; exit 1"
fails late 'late \(client\) ended with status 1: no queue pair'
bad silent "$only"
fails silent 'silent \(client\) printed no number that fits; it printed nothing'
bad twice "$only; good \"\$@\"; echo rate: 7"
fails twice 'twice \(client\) printed more than one number that fits: rate: 7'
bad both "$only; good \"\$@\"; echo rate: 7 >&2"
fails both 'both \(client\) printed more than one number that fits: rate: 7'
bad zero "$only; echo rate: 0"
fails zero 'zero \(client\) printed no number that fits: rate: 0'
bad floods "$only; head -c 3000000 /dev/zero | tr '\\\\0' x; exit 1"
fails floods 'floods \(client\) ended with status 1'
bad each 'echo >>"$SECRET_BW/runs"; wc -l <"$SECRET_BW/runs"; exit 1'
measure --nic=mlx5_0 --rounds 1 --tool "$work/each {nic} {host}" --number x
is "few of many reasons are said" "$(grep -c '^and 2 more figures are missing$' <<<"$out")" 1
bad flees "good \"\$@\"; setsid sleep ${marker}3 & $only; setsid setsid sleep ${marker}4 & exit 1"
measure --nic=mlx5_0 --rounds 1 --tool "$work/flees {nic} {host}" --number 'rate: ([0-9.]+)'
printf '%s\n' '#!/bin/bash' "sleep ${marker}5" >"$work/deaf"
chmod +x "$work/deaf"
measure --nic=mlx5_0 --rounds 1 --timeout 1 --tool "$work/deaf {nic} {host}" --number 'x'
is "a server that does not listen: no answer" "$status" 1
like "... said" "$err" 'nothing was measured: deaf \(server\) does not listen; it printed nothing'
measure --rounds 1 --tool "$work/nowhere {nic} {host}" --number 'x'
is "a benchmark that is missing: no answer" "$status" 1
like "... said" "$err" 'nowhere \(server\) ended with status 127: .*nowhere: No such file or dir'
bad locked "echo 'Failed to create MR'; exit 1"
(
    ulimit -l 64
    measure --nic=mlx5_0 --rounds 1 --tool "$work/locked {nic} {host}" --number 'x'
)
like "too little locked memory is said" "$(<"$work/err")" \
    'Failed to create MR; only 64 KB may be locked in memory: see ulimit -l$'

# Stopped by a signal, in the middle.
bad slow "echo here >>$work/slowly; sleep ${marker}6"
env "${stand_in[@]}" "$tool" probe --nic --tool "$work/slow {nic} {host}" --number x \
    >"$work/out" 2>"$work/err" &
pid=$!
for _ in {1..200}; do [ ! -e "$work/slowly" ] || break; sleep 0.05; done
kill "$pid"
wait "$pid"
is "a signal ends it, by that signal, which is said" "$?|$(tail -n 1 "$work/err")" \
    "143|nuioa: stopped by signal 15"
is "nothing is left running" "$(pgrep -f "sleep ${marker}[1-6]"; pgrep -f "$work/")" ""
done_testing
