#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests profiles through nuioa(1): formats of other programs, the published example of TreeMatch,
# the output of `nuioa profile`, and files that must be refused.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
hagrid=$machines/hagrid5.xml
if ! command -v python3 >/dev/null; then
    skip_all "profiles" "no python3"
fi

# --- the published example of TreeMatch, and a matrix with a different inverse permutation --------

# On a binary tree of 8 processors, whose numbers from left to right are 0 2 4 6 1 3 5 7.
cat >"$work/example.mat" <<'EOF'
0 100 10 1 1000 1 1 1
100 0 100 1 1 1000 1 1
10 100 0 100 1 1 1000 1
1 1 100 0 1 1 1 1000
1000 1 1 1 0 100 10 1
1 1000 1 1 100 0 100 1
1 1 1000 1 10 100 0 100
1 1 1 1000 1 1 100 0
EOF
cat >"$work/oneway.mat" <<'EOF'
# much from 0 to 3, 4 to 7, 1 to 6, 2 to 5; less from 0 to 4, 3 to 7, 1 to 2, 6 to 5
0 1 0 2000 200 0 0 1
1 0 200 0 0 0 2000 0
0 0 0 1 0 2000 0 0
0 0 0 0 0 0 1 200
0 0 0 0 0 0 0 2000
0 0 0 0 0 0 0 0
0 0 0 0 0 200 0 0
0 0 0 0 0 0 0 0
EOF
# halves MATRIX: the ranks in each half of the tree, adjacent ones together. Which half is the left
# one does not matter, nor which of two is.
halves() {
    run plan --topology "$here/binary-tree.xml" --tasks 8 --hints "$1" --json
    json "*sorted(' '.join(sorted(''.join(str(r) for r in range(8) if d['tasks'][r]['cpus'] in pair)
        for pair in half)) for half in (('02', '46'), ('13', '57')))"
}
is "TreeMatch's worked example" "$(halves "$work/example.mat")" "04 15 26 37"
is "one that is not symmetric" "$(halves "$work/oneway.mat")" "03 47 16 25"
is "... costs less than where Slurm puts it" "$(json "d['cost']['plan'] < d['cost']['slurm']")" True

# --- summaries and conversion --------------------------------------------------------------------

answers "a matrix" profile "$work/example.mat"
like "how much in all" "$out" '^8 ranks, 56 pairs, 9\.3 KB'
like "shares off the node of usual layouts" "$out" ' 2 block +86\.5 %'
whole=$(<"$work/out")
is "the standard input" "$("$tool" profile - <"$work/example.mat")" "$whole"
is "a pipe" "$("$tool" profile <(cat "$work/example.mat"))" "$whole"
# shellcheck disable=SC2094 # two readers
"$tool" profile - <(cat "$work/example.mat") --json <"$work/example.mat" >"$work/out"
is "both" "$(json "d['pairs'], d['bytes']")" "56 18544"
is "a wrong pipe is named as typed" "$(printf '1 2\n3\n' | "$tool" profile - 2>&1)" \
    "$("$tool" profile <(printf '1 2\n3\n') 2>&1 | sed 's,/dev/fd/[0-9]*,-,')"
run profile --nodes 2 --distribution cyclic --json "$work/example.mat"
# Even ranks are on one node, odd ones on the other: 12 cells of 100 and 20 cells of 1 are traffic
# between the nodes, of 9272 in all.
is "the share of one layout" \
    "$(json "[(*list(o.values())[:2], round(o['bytes']*9272)) for o in d['off_node']]")" \
    "[(2, 'cyclic', 1220)]"
is "--json: keys" "$(json "*d")" \
    "nuioa ranks pairs partial metric bytes msgs large_bytes coll_bytes heaviest off_node"
is "--json: keys of a rank" "$(json "*d['heaviest'][0]")" \
    "rank sent_bytes recv_bytes sent_msgs recv_msgs large_recv_bytes weight"
run profile "$work/example.mat" --out "$work/example.profile"
is "--out says nothing" "$status|$out|$err" "0||"
is "the profile places as the matrix does" "$(halves "$work/example.profile")" "04 15 26 37"
run profile "$work/example.profile" --out "$work/again.mat"
is "there and back" "$(sed 's/^ //' "$work/again.mat")" "$(<"$work/example.mat")"
run profile "$work/example.mat" "$work/example.mat" --json
is "two files add up" "$(json "d['bytes'],d['pairs']")" "18544 56"
printf '0 1\n1 0\n' >"$work/two.mat"
unanswered "$work/two.mat: 2 ranks, but the files before have 8" profile "$work/example.mat" \
    "$work/two.mat"
printf 'nuioa-profile 1\nranks 2 partial\npair 0 1 5 1 0\n' >"$work/partial"
answers "a partial one" profile "$work/partial"
like "... says so" "$out" 'partial: the recording was cut short'
run plan --topology "$hagrid" --tasks 1 --hints "$work/partial" --format cpu-bind
like "... and plan warns" "$err" 'warning: the profile is partial'

printf 'nuioa-profile 1\nranks 2\ncoll 0 1 300 2 0\npair 0 1 500 1 0\n' >"$work/coll"
answers "one with collectives" profile "$work/coll"
like "... says how much they are" "$out" \
    '^2 ranks, 1 pairs, 800 B in 3 messages, 300 B in collectives'
run profile --json "$work/coll"
is "... also in JSON" "$(json "d['pairs'],d['bytes'],d['coll_bytes']")" "1 800 300"

printf 'nuioa-profile 1\nranks 2\npair 0 1 90000 2 60000\n' >"$work/sizes"
answers "one with sizes" profile --metric msg "$work/sizes"
like "... says how much is large" "$out" \
    '^2 ranks, 1 pairs, 90\.0 KB in 2 messages, 60\.0 KB of it in messages of 32 KiB and more'
like "... and by what ranks are heavy" "$out" 'heaviest ranks \(messages both ways\)'
printf 'nuioa-profile 1\nranks 2\nrank 0 10 20 1 2 0\nrank 1 20 10 2 1 0\n' >"$work/ranks"
answers "one without pairs" profile "$work/ranks"
like "... says so" "$out" 'off the node only, as recorded: pairs of ranks are unknown'

# Files as Open MPI's monitoring writes them: 0 sends to 1, 1 puts to 2, 3 gets from 0, and rank 4
# has no traffic.
mkdir "$work/monitoring"
cat >"$work/monitoring/m.0.prof" <<'EOF'
# POINT TO POINT
E	0	1	3000 bytes	3 msgs sent	0,0,0,3
I	0	3	8 bytes	2 msgs sent
# OSC
# COLLECTIVES
C	0	3	4 bytes	1 msgs sent
D	MPI_COMM_WORLD	procs: 0,1,2,3,4
O2A	0	0 bytes	0 msgs sent
EOF
printf '# POINT TO POINT\n# OSC\nS\t1\t2\t500 bytes\t1 msgs sent\n' >"$work/monitoring/m.1.prof"
printf '# POINT TO POINT\n# OSC\n' >"$work/monitoring/m.2.prof"
printf '# POINT TO POINT\n# OSC\nR\t3\t0\t700 bytes\t7 msgs sent\n' >"$work/monitoring/m.3.prof"
printf '# POINT TO POINT\n# OSC\n# COLLECTIVES\n' >"$work/monitoring/m.4.prof"
wanted="nuioa-profile 1
ranks 5
pair 0 1 3000 3 0
pair 0 3 708 9 0
pair 1 2 500 1 0"
run profile "$work/monitoring" --out "$work/monitoring.profile"
is "Open MPI's monitoring, a directory" "$(cat "$work/monitoring.profile")" "$wanted"
run profile --from openmpi "$work"/monitoring/*.prof --out "$work/monitoring.profile"
is "... or files" "$(cat "$work/monitoring.profile")" "$wanted"
for metric in size:3000 msg:3 avg:1000; do
    run profile "$work/monitoring" --metric "${metric%:*}" --out "$work/metric.mat"
    is "a matrix of $metric" "$(head -n 1 "$work/metric.mat" | cut -d ' ' -f 3)" "${metric#*:}"
done
run plan --topology "$hagrid" --tasks 2 --ranks 0,3 --hints "$work/monitoring" --json
is "plan --hints takes it as it is" "$(json "*(t['weight'] for t in d['tasks'])")" "150.0 0.0"
like "... and warns of nothing" "$err" '^$'

# The file of a rank is missing.
mkdir "$work/rest"
mv "$work/monitoring/m.2.prof" "$work/rest"
lack="Open MPI's files lack 1 of 5 ranks, the first is rank 2\. Add them, or record again"
answers "a directory that lacks a file" profile "$work/monitoring"
like "... says so" "$out" "^5 ranks, .*
partial: $lack"
run profile "$work/monitoring" --out "$work/monitoring.profile"
is "... what is written, too" "$(sed -n 2p "$work/monitoring.profile")" "ranks 5 partial"
run profile "$work/monitoring" --json
is "... and JSON" "$(json "d['partial']")" "True"
run plan --topology "$hagrid" --tasks 2 --hints "$work/monitoring" --format cpu-bind
like "... and plan warns" "$err" "warning: the profile is partial: $lack\$"
answers "two directories that have all" profile "$work/monitoring" "$work/rest"
is "... say nothing" "$(grep -c partial <<<"$out")" 0
answers "single files" profile "$work/monitoring/m.0.prof"
is "... are not said to lack any" "$(grep -c partial <<<"$out")" 0

# --- files that must be refused ------------------------------------------------------------------

bad() { # WANTED TEXT
    # shellcheck disable=SC2059
    printf "$2" >"$work/bad"
    unanswered "$work/bad$1" plan --tasks 1 --topology "$hagrid" --hints "$work/bad"
}
bad ":2: '-1' is not a number" '0 1\n-1 0\n'
bad ":2: 'nan' is not a number" '0 1\nnan 0\n'
bad ":1: '9223372036854775808' is not a number" '0 9223372036854775808\n1 0\n'
bad ":2: 1 columns, but the first row has 2" '0 1\n0\n'
bad ":2: more than the 2 columns" '0 1\n0 1 2\n'
bad ":3: more rows than the 2 columns" '0 1\n0 1\n0 1\n'
bad ": not a square matrix: 1 rows of 2 columns" '0 1\n'
bad ":1: 'x' is not a number" '0 x\n'
bad ":4: '8' is not a rank from 0 to 7" 'nuioa-profile 1\n\nranks 8\npair 0 8 1 1 1\n'
bad ": not a profile" 'nuioa-profile 1\n'
bad ":1: not of the form 'E FROM TO N bytes M msgs sent'" 'E\t0\t1\t3000 bytes\n'
bad ":1: '-1' is not a rank" 'E\t0\t-1\t3000 bytes\t3 msgs sent\n'
bad ":1: '1048576' is not a rank" 'E\t0\t1048576\t3000 bytes\t3 msgs sent\n'
bad ":2: 'Q' is not one of" 'E\t0\t1\t3 bytes\t3 msgs sent\nQ\t0\t1\t3 bytes\t3 msgs sent\n'
bad ":1: not a text file" '0 1\0002\n'
head -c 4096 /dev/urandom >"$work/random"
run profile "$work/random"
is "noise is no profile" "$status|$out|$(grep -c . <<<"$err")" "1||1"
done_testing
