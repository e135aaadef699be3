#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa probe: the published example, refusals, the site's file and who believes it, the pictures,
# and a measurement of this machine (what it gives, not how fast: that is test/probe/bench).
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
# Hagrid with a NIC on NUMA node 5, and the distances that its firmware gave: 20 everywhere.
flat=$work/flat.xml
sed '/<u64values/ { s/>\([0-9 ]*\)</>\n\1\n</; s/\n10 /\nTEN /; s/ 10 / TEN /g
    s/\b[0-9][0-9] /20 /g; s/TEN/10/g; s/\n//g }' "$machines/hagrid5.xml" >"$flat"
hagrid=$here/../probe/hagrid.txt

# --- no answer ----------------------------------------------------------------------------------

unanswered "times over the local access only, so how many times farther a NUMA node is cannot be" \
    probe --matrix "$hagrid" --topology "$flat" --out "$work/relative"
is "... and nothing is written" "$(test -e "$work/relative"; echo $?)" 1
unanswered "cannot be told: give the local access with --local-ns" \
    probe --matrix "$hagrid" --topology "$flat" --check
printf '%s\n' "80 120" "120 80" >"$work/full"
unanswered "$work/full has the local access in its diagonal: leave out --local-ns" \
    probe --matrix "$work/full" --local-ns 80
unanswered "/no/such/file: No such file" probe --matrix /no/such/file
printf '0 1\n1 zero\n' >"$work/matrix"
unanswered "$work/matrix:2: expected numbers" probe --matrix "$work/matrix"
yes 1 | head -n 513 | paste -sd' ' >"$work/wide"
unanswered "$work/wide:1: more columns than a machine has NUMA nodes (512)" \
    probe --matrix "$work/wide"
printf '0 1\n1 0\n' >"$work/matrix"
unanswered "$work/matrix has 2 rows, but $flat has 8 NUMA nodes" \
    probe --matrix "$work/matrix" --topology "$flat"
seq 1 64 | sed 's/.*/0 &/' | awk '{ for (i = 1; i <= 64; i++) printf "%d ", i != NR; print "" }' \
    >"$work/many" # no machine that runs this test has so many NUMA nodes
unanswered "--topology gives the machine that it is from" probe --matrix "$work/many" --check \
    --local-ns 100
unanswered "/no/such/dir/x.svg: No such" probe --matrix "$hagrid" --heatmap /no/such/dir/x.svg
unanswered "/no/such/dir/site: No such" probe --matrix "$hagrid" --topology "$flat" \
    --local-ns 100 --out /no/such/dir/site
unanswered "$work: not a regular file" probe --matrix "$hagrid" --topology "$flat" --local-ns 100 \
    --out "$work"
echo "something else" >"$work/other"
unanswered "$work/other:1: the first line must be" probe --matrix "$hagrid" --topology "$flat" \
    --local-ns 100 --out "$work/other"
is "what is no site file stays" "$(<"$work/other")" "something else"

# --- the published example ----------------------------------------------------------------------

answers "thesis table 3.1" probe --matrix "$hagrid" --links-per-node 3
like "22 entries, 11 links" "$out" '22 entries of the matrix are minimal, which makes 11 links'
like "... which" "$out" ' 0-1 0-2 1-3 2-3 2-4 3-5 4-6 4-7 5-6 5-7 6-7'
like "quantum" "$out" 'one link: 33\.[0-9] ns'
like "routes" "$out" '  0->5 4, 5->0 3'
like "free ports" "$out" 'with 3 links a node: 0 1: I/O'
is "within 100 columns, in ASCII" "$(LC_ALL=C awk 'length($0) > 100 || /[^ -~]/' "$work/out")" ""
answers "fewer ports than links" probe --matrix "$hagrid" --links-per-node 2
like "... is said" "$out" 'NUMA node 7 has 3 links, more than --links-per-node 2'
answers "--json" probe --matrix "$hagrid" --links-per-node 3 --json
is "links" "$(json "' '.join('%d-%d' % tuple(l) for l in d['links'])")" \
    "0-1 0-2 1-3 2-3 2-4 3-5 4-6 4-7 5-6 5-7 6-7"
is "the rest" \
    "$(json "d['accepted'], d['reason'], d['free_ports'], d['routed'][0][5], d['routed'][5][0]")" \
    "True  [0, 1] 4 3"
is "quantum 34 +- 1, as measured" \
    "$(json "33 <= d['quantum_ns'] <= 35, d['latency_ns'][0][5], d['hops'][0][5], d['numa'][7]")" \
    "True 133 3 7"
"$tool" probe --matrix - <"$hagrid" >"$work/piped" 2>&1
is "from standard input" "$(grep -c 'makes 11 links' "$work/piped")" 1

# Two packages of four, as measured with noise: one of the pairs between them seems to be farther.
printf '%s\n' "0 34 34 34 104 110 93 99" "34 0 34 34 115 91 124 110" "34 34 0 34 89 102 115 91" \
    "34 34 34 0 100 113 89 102" "104 95 109 100 0 34 34 34" "90 111 102 93 34 0 34 34" \
    "113 124 95 109 34 34 0 34" "99 90 111 102 34 34 34 0" >"$work/matrix"
answers "two groups" probe --matrix "$work/matrix" --links-per-node 4
like "links within groups" "$out" ' 0-1 0-2 0-3 1-2 1-3 2-3 4-5 4-6 4-7 5-6 5-7 6-7'$'\n''one link'
like "none between groups that differ by noise only" "$out" \
    'between 0,1,2,3 and 4,5,6,7 all alike, 102.9 ns: which'
like "... nor a free port" "$out" 'free ports: not known, since'
answers "two groups, JSON" probe --matrix "$work/matrix" --links-per-node 4 --json
is "... says the same" "$(json "len(d['links']), d['alike'], d['free_ports']")" \
    "12 [[[0, 1, 2, 3], [4, 5, 6, 7]]] None"
printf '%s\n' "0 34 102 136" "34 0 136 102" "102 136 0 34" "136 102 34 0" >"$work/matrix"
answers "two groups with links between" probe --matrix "$work/matrix" --json
is "... has them" "$(json "d['links'], d['alike']")" "[[0, 1], [0, 2], [1, 3], [2, 3]] []"

# refused REASON ROW...: status 1, nothing written, one line says why; JSON says it too.
refused() {
    local reason=$1
    shift
    printf '%s\n' "$@" >"$work/matrix"
    rm -f "$work/never"
    local relative=(--local-ns 100)
    [[ $1 == "0 "* ]] || relative=()
    run probe --matrix "$work/matrix" "${relative[@]}" --topology "$machines/quad.xml" \
        --out "$work/never" --json
    is "refused: $reason" "$status|$(json "d['accepted'], d['links']")|$(test -e "$work/never"
        echo $?)|$(wc -l <<<"$err")" "1|False None|1|1"
    like "... says so" "$err" "the matrix cannot be trusted: $reason"
}
refused "the diagonal is not the least of its row" "0 5 9 3" "4 0 -1 3" "5 3 0 2" "3 2 2 0"
refused "from 0 the memory of 1 is only 1.0 ns farther" "99 100 99 99" "99 99 99 99" \
    "99 99 99 99" "99 99 99 99"
refused "no clear gap" "0 34 51 34" "34 0 34 51" "51 34 0 34" "34 51 34 0"
refused "(contradiction|no clear gap|noise)" "0 30 90 200" "70 0 30 62" "60 40 0 90" "35 60 80 0"

# --- the site's file ----------------------------------------------------------------------------

site=$work/site
run topo --topology "$flat"
like "without: unknown beyond same/other" "$out" 'distances are unknown +beyond same/other'
answers "made" probe --matrix "$hagrid" --topology "$flat" --local-ns 100 --out "$site" --check
like "... --check says what is hidden" "$out" \
    'has 1 remote distance, 4 were measured'
like "... and which direction" "$out" '4 pairs are not as far in one direction as in the other'
answers "used" topo --topology "$flat" --distances "$site" --json
is "... as measured" "$(json "d['distance']['source'], d['distance']['matrix'][0]")" \
    "site [10, 13, 13, 17, 17, 23, 20, 20]"
is "... levels of the NIC on 5" "$(json "[n['level'] for n in d['nics'] if n['usable']][0]")" \
    "[3, 2, 2, 1, 2, 0, 1, 1]"

# checked TOPOLOGY ROW...: what --check says of that machine's distances
checked() {
    local topology=$1
    shift
    run probe --topology "$topology" --matrix <(printf '%s\n' "$@") --check
    grep '^check: ' "$work/out"
}
is "--check of one NUMA node" "$(checked "$machines/laptop.xml" 80)" \
    "check: one NUMA node, nothing to compare"
is "... of distances that are right" \
    "$(checked "$machines/quad.xml" "100 134 168 134" "134 100 134 168" \
        "168 134 100 134" "134 168 134 100")" \
    "check: the firmware (SLIT) has 2 remote distances, 2 were measured
check: the firmware (SLIT) is right: a site file would change nothing"
is "... of some that are wrong" \
    "$(checked "$machines/quad.xml" "100 168 134 134" "168 100 134 134" \
        "134 134 100 168" "134 134 168 100")" \
    "check: the firmware (SLIT) has 2 remote distances, 2 were measured
check: hidden: in 4 cases two NUMA nodes are listed as equally far, but are not
check: wrong: in 4 cases the farther of two NUMA nodes is listed as the nearer
check: to use the measured distances, add --out FILE, and set distances=FILE in plugstack.conf"
sed '/<distances2/,/<\/distances2>/d' "$machines/infiniband.xml" >"$work/none.xml"
is "... of a firmware that gives none" \
    "$(checked "$work/none.xml" "100 134" "134 100" | head -n 1)" \
    "check: the firmware gives no usable distances (SLIT)"

# Ranks of falling weight, by the NUMA nodes they get.
weights=0:16,1:15,2:14,3:13,4:12,5:11,6:10,7:9,8:8,9:7,10:6,11:5,12:4,13:3,14:2,15:1
levels() { json "''.join(str(t['level']) for t in d['tasks'])"; }
run plan --topology "$flat" --tasks 16 --hints "$weights" --json
is "plan without: same or other" "$(levels)" "0011111111111111"
like "... says so" "$(json "d['warnings']")" 'unknown beyond same/other'
run plan --topology "$flat" --tasks 16 --hints "$weights" --distances "$site" --json
is "plan with it: by the true distances" "$(levels) $(json "d['distance_source'], d['warnings']")" \
    "0011111122222233 site []"

# The real dump: no NIC in it, so what is placed is who talks to whom.
corpus=${NUIOA_CORPUS:-$here/../../../shared/corpus}
if [ -r "$corpus/hagrid.sysfs.tar.bz2" ]; then
    tar -xjf "$corpus/hagrid.sysfs.tar.bz2" -C "$work"
    real=$(dirname "$(find "$work" -maxdepth 2 -type d -name sys)")
    printf '%s\n' "nuioa-profile 1" "ranks 8" "pair 0 5 9000000 90 0" "pair 1 4 9000000 90 0" \
        "pair 2 7 9000000 90 0" "pair 3 6 9000000 90 0" >"$work/pairs"
    talk=(plan --topology "$real" --tasks 8 --cpus-per-task 2 --hints "@$work/pairs" --json)
    run "${talk[@]}"
    is "the real dump, without: nothing moves" \
        "$status $(json "d['moved'], d['distance_source']")" \
        "0 False slit"
    like "... unknown beyond same/other" "$(json "d['warnings']")" 'unknown beyond same/other'
    answers "its site file" probe --matrix "$hagrid" --topology "$real" --local-ns 100 \
    --out "$work/real"
    answers "plan with it" "${talk[@]}" --distances "$work/real"
    is "... all who talk are one link apart" "$(json "sorted(sorted(d['tasks'][i]['numa'][0] \
        for i in p) in [[0,1],[0,2],[1,3],[2,3],[2,4],[3,5],[4,6],[4,7],[5,6],[5,7],[6,7]] \
        for p in [(0,5),(1,4),(2,7),(3,6)])")" "[True, True, True, True]"
else
    skip "the real dump of Hagrid" "no corpus in $corpus (env NUIOA_CORPUS)"
fi

answers "another type of node joins" probe --matrix <(printf '%s\n' "0 37 67 35" "36 0 35 66" \
    "68 34 0 36" "35 69 35 0") --topology "$machines/quad.xml" --local-ns 100 --out "$site"
is "... both are there" "$(grep -c ^machine "$site") $(grep -c '^nuioa-distances' "$site")" "2 1"
answers "... the first is found" topo --topology "$flat" --distances "$site" --json
is "... and the second" "$(json "d['distance']['source']") $(run topo --topology \
    "$machines/quad.xml" --distances "$site" --json; json "d['distance']['matrix'][0]")" \
    "site [10, 13, 17, 13]"
before=$(<"$site")
answers "again" probe --matrix "$hagrid" --topology "$flat" --local-ns 100 --out "$site"
is "... replaces its own section" "$(grep -c ^machine "$site") $(sort "$site")" \
    "2 $(sort <<<"$before")"
answers "a node that it was not made for" topo --topology "$machines/corona.xml" \
    --distances "$site" --json
is "... does not use it" "$(json "d['distance']['source']")" "slit"
like "... and warns, with the key" "$(json "d['warnings'][0]")" \
    "$site: no section for this node \(machine packages=2 numa=[0-9]+ cores=[0-9]+ model="
ln -s site "$work/link"
answers "through a link" probe --matrix "$hagrid" --topology "$flat" --local-ns 100 \
    --out "$work/link"
ok "... the file is replaced, not the link" test -L "$work/link" -a ! -L "$site"
is "nothing left beside it" "$(find "$work" -name 'site.*')" ""

# Somebody else's link in a directory of theirs; root must not follow it.
if [ "$(id -u)" = 0 ]; then
    mkdir "$work/theirs"
    cp "$site" "$work/target"
    ln -s ../target "$work/theirs/link"
    chown -hR 65534:65534 "$work/theirs"
    for option in --out --heatmap; do
        run probe --matrix "$hagrid" --topology "$flat" --local-ns 100 "$option" \
            "$work/theirs/link"
        is "root does not follow a user's link: $option" \
            "$status $(cmp "$work/target" "$site")" "1 "
        like "... and says so" "$err" 'theirs/link: a symbolic link that others may have made$'
    done
    run plan --tasks 2 --topology "$machines/quad.xml" --xml "$work/theirs/link"
    is "root does not follow a user's link: plan --xml" \
        "$status $(cmp "$work/target" "$site")" "1 "
    mknod "$work/device" c 1 3
    for command in "cache --out" "probe --matrix $hagrid --heatmap"; do
        # shellcheck disable=SC2086
        run $command "$work/device"
        is "root does not replace a device: $command" "$status $(stat -c %F "$work/device")" \
            "1 character special file"
        like "... and says what the device is not" "$err" 'device: not a regular file'
    done
else
    skip "links and devices, as root" "not root"
fi

# --- costs, pictures ----------------------------------------------------------------------------

answers "InfiniBand, PDCS 2007 table 2" probe --throughput 1392,1071
is "... is the default" "$out" \
    "for plugstack.conf: remote_cost=0.30 (hop_cost needs a figure from two levels away)"
answers "three levels" probe --throughput=130,100,96.3 --json
is "... both costs" "$(json "d['remote_cost'], d['hop_cost']")" "0.3 0.05"
answers "latencies" probe --latency 1000,1200,1250,1300
is "... both costs" "$out" "for plugstack.conf: remote_cost=0.20 hop_cost=0.05"

if python3 -c 'import matplotlib' 2>/dev/null; then
    answers "a heat map" probe --matrix "$hagrid" --heatmap "$work/heat.svg"
    is "a square for each pair, a frame for each link's two ends, their number below" \
        "$(grep -c 'id="cell-' "$work/heat.svg") $(grep -c 'id="frame-' "$work/heat.svg") \
$(grep -o '11 links (framed) of 33.6 ns' "$work/heat.svg" | tail -n 1)" \
        "64 22 11 links (framed) of 33.6 ns"
    ok "... its title" grep -q '>ns more than a load from local memory<' "$work/heat.svg"
    answers "... as PNG" probe --matrix "$hagrid" --heatmap "$work/heat.png" --json
    is "... it is one" "$(head -c 4 "$work/heat.png" | tail -c 3)" PNG
    unanswered "heat.xyz': the name must end in one of ." probe --matrix "$hagrid" \
        --heatmap "$work/heat.xyz"
    printf '0 1 1 1\n1 0 1 1\n1 -1 0 1\n1 1 1 0\n' >"$work/refused"
    run probe --matrix "$work/refused" --heatmap "$work/refused.svg"
    is "a matrix that cannot be trusted: the picture says so" \
        "$status $(grep -o '>not to be trusted' "$work/refused.svg")" '1 >not to be trusted'
else
    skip "a heat map" "no matplotlib for python3"
fi
mkdir "$work/lacks"
echo 'raise ImportError' >"$work/lacks/matplotlib.py"
PYTHONPATH=$work/lacks unanswered "--heatmap: drawing requires matplotlib for python3: install it" \
    probe --quick --heatmap "$work/no.svg"

# --- this machine -------------------------------------------------------------------------------

sed 's/local_memory="[0-9]*"/local_memory="0"/' "$machines/laptop.xml" >"$work/bare.xml"
HWLOC_XMLFILE=$work/bare.xml \
    unanswered "no NUMA node with CPUs and memory may be used" probe --quick
run probe --quick --json
if [ "$status" -eq 1 ] && grep -q "free memory\|cannot be used" <<<"$err"; then
    skip "a measurement of this machine" "$err"
else
    is "a measurement: taken or refused, one line says why" \
        "$(json "d['accepted'] == (d['reason'] == ''), d['local_ns'] > 0")|$(grep -c . <<<"$err")" \
        "True True|$((status + $(json "len(d['numa'])")))"
    like "what is measured is said first, and no bar, where there is no terminal" "$err" \
        '^nuioa: measuring the memory of [0-9]+ NUMA nodes?, [0-9]+ MB'
fi
if command -v script >/dev/null; then
    script -qec "$tool probe --quick" /dev/null >"$work/typed" 2>&1 </dev/null
    like "a progress bar on a terminal" "$(tr '\r' '\n' <"$work/typed")" '\[#+\] 100 %'
else
    skip "a progress bar on a terminal" "no script(1) here"
fi
done_testing
