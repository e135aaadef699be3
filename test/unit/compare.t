#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa compare: the command line, what a run is given, how its time is found, the verdicts, and
# what ends it. A script stands for srun here, which tells times that the test chooses; real runs
# are in test/cluster/61-compare.t, the statistics in verdict.py.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
if ! command -v python3 >/dev/null; then
    skip_all "nuioa compare" "no python3"
fi
mkdir "$work/bin"
# What it is given goes to $work/calls; $work/times has "without" and "with" times, line by line.
cat >"$work/bin/srun" <<END
#!/bin/bash
echo "\$SLURM_NUIOA|\${TUNE-none}|\$*|\$(wc -c)" >>"$work/calls"
n=\$(wc -l <"$work/calls")
[ ! -e "$work/says" ] || cat "$work/says" >&2
[ -e "$work/silent" ] || echo "nuioa: node0, 2 ranks, 1 moved" >&2
side=1
case "\$SLURM_NUIOA|\${TUNE-none}" in report,on*\|* | *\|7) side=2 ;; esac
line=\$(((n > 1 ? (n - 2) / 2 : 0) % \$(wc -l <"$work/times") + 1))
read -r -a times < <(sed -n "\${line}p" "$work/times")
echo "step 1: 99 s"
echo "total: \${times[side - 1]} s"
[ ! -e "$work/fail" ] || { cat "$work/fail" >&2; exit 3; }
[ ! -e "$work/hang" ] || { echo \$\$ >"$work/pid"; sleep 60 & echo \$! >>"$work/pid"; wait; }
END
chmod +x "$work/bin/srun"
export PATH=$work/bin:$PATH SLURM_JOB_ID=7
cd "$work" || exit 1

# compare ARGUMENT...: from a clean start; sets status, out, err
compare() {
    rm -rf "$work/calls" "$work"/nuioa-compare.*
    : >"$work/calls"
    run compare "$@"
}
time='total: ([0-9.]+) s'

# --- the statistics -----------------------------------------------------------------------------

python3 "$here/verdict.py" >"$work/verdict" 2>&1
hand_on "" <"$work/verdict"
is "all of verdict.py has run" "$(tail -n 1 "$work/verdict")" "1..4"

# --- wrong usage, no answer ---------------------------------------------------------------------

run compare --help
like "--help" "$status $out" '^0 usage: nuioa compare'
unanswered "--keep: $work/bin: File exists" compare --keep "$work/bin" -- srun ./app
is "nothing has run" "$(cat "$work/calls" 2>/dev/null)" ""
(
    unset SLURM_JOB_ID
    run compare -- srun ./app
    echo "$status|$out|$err"
) >"$work/outside"
like "outside of a job" "$(<"$work/outside")" \
    '^1\|\|nuioa: not in a job.*salloc --exclusive nuioa compare -- srun \.\.\.$'

# --- what a run is given ------------------------------------------------------------------------

echo "10.0 9.0" >"$work/times"
compare --time "$time" -- srun -n2 ./app --flag
is "a warm-up and six pairs" "$status|$(wc -l <"$work/calls")" "0|13"
is "six of each side, with the same words and no input" \
    "$(tail -n +2 "$work/calls" | sort | uniq -c | sed 's/^ *//')" \
    "6 report,off|none|-n2 ./app --flag|0
6 report,on|none|-n2 ./app --flag|0"
is "a side of each in every pair" \
    "$(tail -n +2 "$work/calls" | paste - - | grep -c 'off.*on\|on.*off')" 6
like "medians" "$out" 'without nuioa: median 10\.0 s; with: median 9\.00 s; 6 pairs'
like "what nuioa said" "$out" 'what it did: nuioa: node0, 2 ranks, 1 moved'
like "ratio" "$out" 'with / without: ratio 0\.900, and with 95 % confidence from 0\.900 to 0\.900'
like "faster" "$out" 'faster: the program takes 10\.0 % less time$'
like "progress" "$err" 'nuioa compare: pair 6 of 6: without 10\.0 s, with 9\.00 s'
like "where the output is" "$err" \
    'nuioa compare: the first run is not counted; what runs print is in nuioa-compare\.'
is "it is there" "$(printf '%s\n' nuioa-compare.*/0[1-6]-with*.{out,err} | wc -l)" 24
for _ in 1 2 3 4; do
    compare --time "$time" -n 12 -- srun ./app
    tail -n +2 "$work/calls" | awk 'NR % 2' | cut -d'|' -f1 | paste -sd' '
done >"$work/orders"
is "the order within pairs is drawn" "$(sort -u "$work/orders" | wc -l)" 4

compare --time "$time" --set TUNE=7 --set OTHER=x --keep "$work/kept" -- srun ./app
is "--set: nuioa is off on both sides" \
    "$(tail -n +2 "$work/calls" | cut -d'|' -f1,2 | sort | uniq -c | sed 's/^ *//')" \
    "6 report,off|7
6 report,off|none"
like "... and is named" "$out" 'without TUNE=7, \.\.\.: median'
like "... nothing tells whether they are read" "$err" \
    'no MPI library is known to read TUNE, OTHER: if the program does not read it, both sides'
is "... --keep" "$(printf '%s\n' "$work/kept"/* | wc -l)" 26
compare --time "$time" --before 'echo before >>'"$work"'/calls' -- srun ./app
is "--before: before each run" "$(grep -c before "$work/calls") $(uniq -d "$work/calls")" "13 "
echo "nuioa: compare: asked" >"$work/says"
compare --time "$time" --set OMPI_MCA_x=1 -- srun ./app
unlike "... but for one that the MPI library has" "$status$err" '^0.*no MPI library'
echo "nuioa: compare: OMPI_MCA_x is not in this library, Open MPI v5" >"$work/says"
compare --time "$time" --set OMPI_MCA_x=1 -- srun ./app
is "... nor for one that it does not have" "$status|$err" \
    "1|nuioa: --set: OMPI_MCA_x is not in this library, Open MPI v5: nothing is compared"
rm "$work/says"
compare --time 'total: ([[:digit:].]*)' srun -n2 ./app -- --json
is "srun without --, and a class of POSIX" \
    "$status|$(grep -c '|-n2 ./app -- --json|' "$work/calls")|$(grep -c '9\.00 s; 6' <<<"$out")" \
    "0|13|1"
compare -n 6 -- srun ./app
is "without --time it is the clock's" "$status|$(grep -c '^with / without: ratio' <<<"$out")" "0|1"

# --- verdicts -----------------------------------------------------------------------------------

echo "9.0 10.0" >"$work/times"
compare --time "$time" -- srun ./app
like "slower" "$out" 'slower: the program takes 11\.1 % more time$'
printf '%s\n' "10 11" "11 10" "10 10.5" "10.5 10" "10 10.2" "10.2 10" >"$work/times"
compare --time "$time" -- srun ./app
like "cannot tell, and stops early" "$(wc -l <"$work/calls") $out" \
    '^13 .*cannot tell: the runs are too noisy to detect differences below [0-9.]+ %'
compare --time "$time" -n 24 -- srun ./app
is "-n 24" "$(wc -l <"$work/calls")" 49
# One pair of six says the opposite: more pairs can decide it.
printf '%s\n' "10 9.5" "10 9.4" "10 9.6" "10 10.2" "10 9.5" "10 9.4" "10 9.5" "10 9.6" "10 9.5" \
    "10 9.3" "10 9.5" "10 9.6" "10 9.5" >"$work/times"
compare --time "$time" -- srun ./app
like "it goes on to twelve" "$(wc -l <"$work/calls") $out" '^25 .*faster: '

compare --time "$time" --json -- srun ./app
is "JSON" "$(json "d['nuioa'], d['pairs'], len(d['without_s']), d['without_s'][0], d['verdict']")" \
    "1 12 12 10.0 faster"
is "... numbers" \
    "$(json "d['interval'][0] < d['ratio'] < d['interval'][1] < 1, d['detectable'] < 1")" \
    "True True"

# --- runs that fail -----------------------------------------------------------------------------

: >"$work/silent"
compare --time "$time" -- srun ./app
like "no report: the plugin is not there" "$status|$out|$err" \
    '^1\|\|nuioa: the run with nuioa printed no report \(nuioa-compare\..*/warm-up\.err\): '
is "... what to try" "${err#*): }" "is the plugin there? Try srun --nuioa=report hostname"
compare --time "$time" --set TUNE=7 -- srun ./app
is "... which --set does not need" "$status" 0
rm "$work/silent"
echo "cannot open input.dat" >"$work/fail"
compare --time "$time" -- srun ./app
like "a run that fails" "$status|$out|$err" \
    '^1\|\|nuioa: srun ended with status 3, so nothing is.*; it said: cannot open input\.dat$'
table=$(printf '%s\n' "nuioa: n0: NIC traffic of all programs" "  NIC" "  eth1")
printf '%s\n' "cannot open input.dat" "srun: error: n0: task 0: Exited with exit code 3" "$table" \
    >"$work/fail"
compare --time "$time" -- srun ./app
like "... before a line of srun's and a table of nuioa's" "$err" \
    '; it said: cannot open input\.dat$'
: >"$work/silent"
echo "$table" >"$work/fail"
compare --time "$time" -- srun ./app
like "... with a table of nuioa's only" "$err" 'status 3, so nothing is compared$'
printf '%s\n' "$table" "srun: error: no such node" "$table" >"$work/fail"
compare --time "$time" -- srun ./app
like "... with a line of srun's between tables of nuioa's" "$err" \
    '; it said: srun: error: no such node$'
echo "nuioa: --nuioa-nic: 'x' is not there" >"$work/fail"
compare --time "$time" -- srun ./app
like "... with one line of nuioa's only" "$err" "; it said: nuioa: --nuioa-nic: 'x' is not there\$"
rm "$work/fail" "$work/silent"
compare --time 'took ([0-9]+)' -- srun ./app
like "no time" "$status|$err" \
    '^1\|nuioa: nuioa-compare\..*/warm-up\.out: no line has a time above 0 that'
compare --before 'echo no disk >&2; false' -- srun ./app
like "--before fails" "$status|$err" \
    '^1\|nuioa: the command of --before ended with status 1.*it said: no disk$'

compare --time "$time" -- "$work/absent/srun" ./app
is "no srun" "$status|$out|$err" "1||nuioa: $work/absent/srun: No such file or directory"
for to in /dev/full '&-'; do
    rm -rf "$work/kept"
    eval "\"\$tool\" compare --keep \"\$work/kept\" -- srun ./app >$to" 2>"$work/err"
    like "a result that cannot be written: >$to" "$?|$(tail -n 1 "$work/err")" \
        '^1\|nuioa: standard output: (No space left on device|Bad file descriptor)$'
done
env -i PATH=/nowhere SLURM_JOB_ID=7 "$tool" compare srun ./app >"$work/out" 2>&1
like "without python3: one line" "$(wc -l <"$work/out")|$(<"$work/out")" \
    '^1\|nuioa: python3: .*install Python'

# --- Ctrl-C -------------------------------------------------------------------------------------

: >"$work/hang"
: >"$work/calls"
for signal in INT TERM; do
    rm -rf "$work"/nuioa-compare.* "$work/pid"
    "$tool" compare -- srun ./app >"$work/out" 2>"$work/err" </dev/null &
    pid=$!
    for _ in $(seq 300); do [ "$(grep -c . "$work/pid" 2>/dev/null)" = 2 ] && break; sleep 0.1; done
    kill -$signal "$pid"
    kill -$signal "$pid" # as from two fingers
    wait "$pid"
    is "interrupted by $signal: status 1 and a line" "$?|$(<"$work/err")" \
        "1|nuioa: interrupted after 0 pairs"
    mapfile -t started <"$work/pid"
    is "... nothing that it has started is left" \
        "${#started[@]} $(ps -o stat= -p "${started[0]},${started[1]}" | grep -vc '^Z')" "2 0"
done
rm "$work/hang"

done_testing
