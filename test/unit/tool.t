#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The command line of nuioa(1): exit status, what goes to stdout and what to stderr, every option,
# the formats that other programs read.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
hagrid=$machines/hagrid5.xml
weights=0:16,1:15,2:14,3:13,4:12,5:11,6:10,7:9,8:8,9:7,10:6,11:5,12:4,13:3,14:2,15:1

# --- no answer ----------------------------------------------------------------------------------

run plan --tasks 4 --topology "$hagrid" --hints 0:2,4-9:1
like "a hint for a rank that is not there" "$status|$err|$(tr '\n' ' ' <<<"$out")" \
    '^0\|\|.*warning: --hints names rank 4, but the ranks are 0 to 3'
run plan --ranks 4-7 --topology "$hagrid" --hints 0:2,4-9:1
unlike "... of a larger job, no line" "$out$err" 'names rank'
run plan --tasks 4 --topology "$hagrid" --hints 0:2,2-9:1
unlike "... a range that goes on behind the last rank, no line" "$out$err" 'names rank'
yes 0 | head -n 65537 >"$work/binding"
unanswered "$work/binding: more than 65536 lines" plan --topology "$hagrid" \
    --binding "$work/binding"
if [ -w /dev/full ]; then
    for arguments in "topo --json" "plan --tasks 1" "plan --tasks 1 --json" doctor --help; do
        # shellcheck disable=SC2086
        "$tool" $arguments >/dev/full 2>"$work/err"
        is "a full disk is no answer: nuioa $arguments" "$?|$(wc -l <"$work/err")" "1|1"
    done
else
    skip "a full disk is no answer" "no /dev/full here"
fi

for arguments in topo "plan -n 1 --json" "doctor --brief" "cache --help" version; do
    # shellcheck disable=SC2086
    "$tool" $arguments >&- 2>"$work/err"
    is "a closed standard output is no answer: nuioa $arguments" "$?|$(<"$work/err")" \
        "1|nuioa: standard output: Bad file descriptor"
done

# --- answers ------------------------------------------------------------------------------------

for word in --version version -v; do
    answers "$word" $word
    like "$word says which" "$out" '^nuioa [0-9]+\.[0-9.]+$'
done
run --help
whole=$out
run help
is "help" "$status|$out|$err" "0|$whole|"
run plan --help
whole=$out
# The man here has all pages but that of topo, and prints how it is called.
mkdir "$work/man" "$work/empty"
printf '%s\n' '#!/bin/sh' '[ "$*" = "-w 1 nuioa-topo" ] || echo "man $*"' >"$work/man/man"
chmod 755 "$work/man/man"
PATH=$work/man:$PATH run help plan
is "help plan where standard output is no terminal: its options" "$status|$out|$err" "0|$whole|"
# on_terminal PATH WORD...: what nuioa WORD... prints on a terminal
on_terminal() {
    PATH=$1 "$script" -qec "'$tool' ${*:2}" /dev/null </dev/null 2>&1 | tr -d '\r'
}
if script=$(command -v script); then
    is "help plan on a terminal: its manual" "$(on_terminal "$work/man:$PATH" help plan)" \
        "man 1 nuioa-plan"
    is "... where man does not have it: its options" \
        "$(on_terminal "$work/man:$PATH" help topo)" "$("$tool" topo --help)"
    is "... where there is no man: the same" "$(on_terminal "$work/empty" help plan)" "$whole"
    like "... of an unknown command: one line" "$(on_terminal "$work/man:$PATH" help frob)" \
        "^nuioa: 'frob' is not one of [a-z, ]+; see nuioa --help$"
else
    skip "help plan on a terminal" "no script(1)"
fi
for arguments in "" topo plan exec traffic probe profile cache; do
    for help in --help -h; do
        # shellcheck disable=SC2086
        answers "nuioa $arguments $help" $arguments $help
        is "... within 100 columns" "$(awk 'length($0) > 100' "$work/out")" ""
    done
done
answers "plan --help" plan --help
for option in tasks cpus-per-task topology allowed binding ranks json xml format hints policy \
    cores nic nic_role gpus rails mem leader threads export trace distances \
    cache munge_socket deadline_ms remote_cost hop_cost load_cost; do
    like "plan --help has $option" "$out" "(^|[^a-z_])$option([^a-z_]|\$)"
done
answers "plan --nuioa=help" plan --nuioa=help

answers "this machine" topo
answers "another machine" topo --topology "$hagrid"
like "topo: the order of the NUMA nodes" "$out" \
    'mlx5_0:1, nearest NUMA nodes first: \{5\} \{3,6-7\} \{1-2,4\} \{0\}'
for machine in "$machines"/*.xml; do
    run topo --topology "$machine"
    is "topo: $(basename "$machine") within 100 columns, in ASCII" \
        "$status|$(LC_ALL=C awk 'length($0) > 100 || /[^ -~]/' "$work/out")" "0|"
done
run topo --topology "$machines/gpu-paths.xml"
is "topo: the paths from GPUs to NICs" \
    "$(awk '/^  [0-7] / { print $1, $2, $4, $5, $6 }' "$work/out")" \
    "0 nvidia 0 PIX SYS
1 nvidia 0 PXB SYS
2 amd 0 PHB SYS
3 intel 0 NODE SYS
4 other 0 NODE SYS
5 nvidia 1 SYS PIX
6 nvidia - ? ?
7 amd 1 SYS NODE"
run topo --topology "$hagrid"
is "topo: no table of GPUs without one" "$(grep -c GPU "$work/out")" 0
run topo --topology "$machines/gpus/hgx-storage.xml" --nic-role mlx5_0:storage
is "topo: more NICs than columns, and who says the roles" \
    "$(grep -E '^  (All NICs|Roles)' "$work/out")" \
    "  Roles without a question mark are set by nic-role.
  All NICs: nuioa topo --json"
run plan --topology "$machines/gpu-paths.xml" --tasks 2 --xml "$work/gpus.xml"
is "the picture has the GPUs and their nearest NICs" \
    "$(grep -o 'name="GPU [^"]*"' "$work/gpus.xml" | cut -d '"' -f 2 | sort)" \
    "$(printf '%s\n' "GPU 0: PIX mlx5_0:1" "GPU 1: PXB mlx5_0:1" "GPU 2: PHB mlx5_0:1" \
        "GPU 3: NODE mlx5_0:1" "GPU 4: NODE mlx5_0:1" "GPU 5: PIX mlx5_1:1" "GPU 6" \
        "GPU 7: NODE mlx5_1:1")"
answers "topo --topology=FILE --json" topo "--topology=$hagrid" --json
answers "options in any order" topo --json --topology "$hagrid"

answers "a plan" plan --topology "$hagrid" --tasks 16 --hints "$weights"
like "the report has the heaviest rank at the NIC" "$out" \
    ' 0  \*  10 +5 +default +mlx5_0:1 +0 +16  #+'
answers "a plan, explained" plan --topology "$hagrid" --tasks 16 --hints "$weights" --nuioa=explain
like "explain says how" "$out" 'How the placement was found'
like "... why" "$out" ' 0  \*  10 +5 +mlx5_0:1 +0 +16 +3 +1  nearer its NIC'
like "... and what the bound is" "$out" 'the bound is the cost of heavier ranks'
like "... on one screen" "$(wc -l <"$work/out")" '^(3[0-9]|4[0-9])$'
explained=$out
answers "--explain" plan --topology "$hagrid" --tasks 16 --hints "$weights" --explain
is "... is the same" "$(<"$work/out")" "$explained"
run plan --explain --topology "$machines/four-rails.xml" --tasks 16 --hints heavy=0-3
like "explain says the cost of uneven load" "$out" \
    'of uneven load 12 -> 0, 100 % .* above a NIC.s share of the load: 1 more'
run plan --topology "$machines/gpus/hgx-h100.xml" --tasks 8 --binding none --nuioa on \
    --gpus '7;6;5;4;3;2;1;0'
is "the table of GPUs in nuioa(7) is what is printed" \
    "$(sed -n 's/\\-/-/g; s/^\(  n1 .* PIX\)$/\1/p' "$machines/../../man/nuioa.7.in")" \
    "$(grep '^  n1 ' "$work/out")"
run plan --topology "$hagrid" --tasks 3
whole=$out
for typed in "-n 3" -n3; do
    # shellcheck disable=SC2086
    run plan --topology "$hagrid" $typed
    is "plan $typed" "$status|$out|$err" "0|$whole|"
done
for typed in "hagrid5 --tasks 4" "hagrid5 --tasks 16 --hints $weights" \
    "big --tasks 256 --hints heavy=200" "four-rails --tasks 2 --cores pack"; do
    # shellcheck disable=SC2086
    run plan --explain --topology "$machines/"${typed/ /.xml }
    is "plan --explain $typed: what is explained is shown, and the other way round" \
        "$(sed -nE 's/^  (before|order|local|partners) +[a-z].*/\1/p' "$work/out" | xargs)" \
        "$(sed -n 2p "$work/out" | grep -oE '(before|order|local|partners)' | xargs)"
done
answers "'_' for '-'" plan --topology "$hagrid" --tasks 2 --cpus_per_task 2
answers "plain --nuioa" plan --nuioa --topology "$hagrid" --tasks 2
answers "plain --nuioa at the end" plan --topology "$hagrid" --tasks 2 --nuioa
answers "options that are typed twice" plan --topology "$hagrid" --tasks 4 --tasks 2 \
    --policy bandwidth --policy latency --nuioa=explain --nuioa=export --json
is "... the last one counts" "$(json "len(d['tasks']), d['policy'], d['reason']")" \
    "2 latency export only: nothing is moved"
answers "... --nic-role adds up" plan --topology "$machines/quad.xml" --tasks 2 \
    --nic-role mlx5_0:storage --nic-role mlx5_1:storage --json
is "... no NIC is left" "$(json "*(t['nic'] for t in d['tasks'])")" "None None"

# Every option of the table, in both forms, and with '-' for '_'.
while read -r name value; do
    answers "--$name $value" plan --topology "$hagrid" --tasks 2 "--$name" "$value"
    answers "--$name=$value" plan --topology "$hagrid" --tasks 2 "--$name=$value"
    dashed=${name//_/-}
    [ "$name" = "$dashed" ] ||
        answers "--$dashed $value" plan --topology "$hagrid" --tasks 2 "--$dashed" "$value"
done <<'EOF'
nuioa export
hints heavy=0
policy latency
cores pack
gpus follow
gpus local-rank:block
nic mlx5_*
nic_role mlx5_*:storage,eth?:management
rails 2,connected
mem interleave
leader rank0
threads on
export env,ucx
trace /tmp/x
munge_socket /run/munge/x
deadline_ms 100
remote_cost 0.4
hop_cost 0.1
load_cost 0.5
EOF

answers "--format cpu-bind" plan --topology "$hagrid" --tasks 12 --ranks 4-15 --hints heavy=4 \
    --format cpu-bind
is "the masks are in the order of the ranks" "$out" \
    "0x400,0x2,0x4,0x8,0x10,0x20,0x40,0x80,0x100,0x200,0x1000,0x800"
run plan --topology "$hagrid" --tasks 16 --hints "$weights" --format cpu-bind
is "rank 0 is on CPU 10" "${out%%,*}" 0x400
run plan --topology "$hagrid" --tasks 2 --nuioa=export --format cpu-bind
is "why nothing moves is no part of the masks" "$status|$out|${err#nuioa: no rank moves: }" \
    "0|0x1,0x2|export only: nothing is moved"

run plan --topology "$hagrid" --tasks 16 --hints "$weights" --xml "$work/h.xml"
is "--xml writes a file and says nothing" "$status|$out|$err" "0||"
if lstopo=$(command -v lstopo-no-graphics || command -v lstopo); then
    like "lstopo reads it, ranks and all" "$("$lstopo" -i "$work/h.xml" --of console 2>&1)" \
        'rank 0 leader \(w=16\)'
    "$lstopo" -i "$work/h.xml" --of svg "$work/h.svg" 2>/dev/null
    is "lstopo draws all 16 ranks" "$(grep -c '>rank [0-9]' "$work/h.svg")" 16
    is "the NIC is marked, the leader too" \
        "$(grep -c '#8fd18f\|rgb(143,209,143)' "$work/h.svg")$(grep -c '#1f4e9c\|rgb(31,78,156)' \
            "$work/h.svg")" 21
else
    skip "lstopo reads it" "lstopo is not installed (Debian package: hwloc-nox)"
fi

# --- formats of the contract ------------------------------------------------------------------

if ! command -v python3 >/dev/null; then
    skip_all "JSON" "no python3"
fi
run topo --topology "$hagrid" --json
is "topo --json: keys" "$(json "*d")" "nuioa host numa distance nics gpus paths warnings"
is "topo --json: keys of a NUMA node" "$(json "*d['numa'][0]")" \
    "os_index cpus allowed_cpus memory_bytes package"
is "topo --json: keys of distance" "$(json "*d['distance']")" "source matrix level"
is "topo --json: keys of a NIC" "$(json "*d['nics'][0]")" \
    "name port netdev kind pci state rate_mbps virtual vf fabric numa cpus locality level usable \
why role role_source role_why"
is "topo --json: a matrix from initiator to memory" \
    "$(json "d['distance']['matrix'][5],d['distance']['matrix'][0][5]")" \
    "[39, 29, 29, 20, 31, 10, 20, 21] 49"
is "topo --json: levels of the NIC" "$(json "*d['nics'][0]['level']")" "3 2 2 1 2 0 1 1"
run topo --topology "$machines/laptop.xml" --json
is "topo --json: no NIC is an empty list" "$(json "d['nics']")" "[]"
is "topo --json: ... and no GPU, and no path" "$(json "d['gpus'],d['paths']")" "[] []"
run topo --topology "$machines/gpu-paths.xml" --json
is "topo --json: a GPU" "$(json "d['gpus'][2]")" "{'index': 2, 'pci': '0000:1d:00.0', \
'vendor': 'amd', 'numa': [0], 'cpus': '0-3', 'device': None}"
is "topo --json: a GPU whose place is not known" \
    "$(json "d['gpus'][6]['numa'],d['gpus'][6]['cpus'],d['paths'][6]")" "[] None [None, None]"
is "topo --json: paths, a row for each GPU, a column for each NIC" \
    "$(json "d['paths'][0],d['paths'][5],len(d['paths'])")" "['PIX', 'SYS'] ['SYS', 'PIX'] 8"
for machine in "$machines"/*.xml; do
    run topo --topology "$machine" --json
    is "topo --json: $(basename "$machine") is JSON" "$status|$(json "d['nuioa']")|$err" "0|1|"
done
run topo --json
is "topo --json: this machine" "$status|$(json "d['host']")" "0|$(uname -n)"

run plan --topology "$hagrid" --tasks 16 --hints "$weights" --json
is "plan --json: keys" "$(json "*d")" "nuioa host policy moved planned reason advice tasks order\
 near leader rail_leaders cost distance_source mapper evaluations time_us warnings"
is "plan --json: keys of a task" "$(json "*d['tasks'][0]")" \
    "local rank weight cpus numa nic nics gpus to_gpu path level memory leader places exports was\
 level_was heavier partners on_node beside cost why"
is "plan --json: keys of cost" "$(json "*d['cost']")" \
    "slurm plan bound bound_over slurm_nic slurm_neighbours plan_nic plan_neighbours \
slurm_load plan_load load"
is "plan --json: the order of thesis table 3.1" "$(json "*(t['level'] for t in d['tasks'])")" \
    "0 0 1 1 1 1 1 1 2 2 2 2 2 2 3 3"
is "plan --json: cost" "$(json "[d['cost'][k] for k in ('slurm', 'plan', 'bound')]")" \
    "[179.85, 169.45, 169.45]"
is "plan --json: the ranks' costs add up" "$(json "[round(sum(t['cost'][k] for t in d['tasks']), 9)
    for k in ('slurm_nic', 'plan_nic')]")" "[179.85, 169.45]"
is "plan --json: why" \
    "$(json "*(d['tasks'][0][k] for k in ('was', 'level_was', 'heavier', 'why'))")" \
    "0 3 0 nearer its NIC"
is "plan --json: who leads" "$(json "d['leader'],d['near'],d['order'][:3],d['rail_leaders']")" \
    "0 2 [0, 1, 2] [0]"
is "plan --json: a machine from a file is only planned" "$(json "d['planned'],d['moved']")" \
    "True True"
run plan --topology "$machines/gpus.xml" --gpus '3;;1,2' --json
is "plan --gpus: the GPUs of each task" \
    "$(json "[t['gpus'] for t in d['tasks']]")" "[[3], [], [1, 2]]"
is "... their NICs" "$(json "*(t['nics'] for t in d['tasks'])")" \
    "['mlx5_3:1'] ['mlx5_0:1'] ['mlx5_1:1', 'mlx5_2:1']"
is "... how far they are from them" "$(json "*(t['to_gpu'] for t in d['tasks'])")" "0 None 1"
is "... the first of them, and the path" "$(json "*((t['nic'], t['path']) for t in d['tasks'])")" \
    "('mlx5_3:1', 'PIX') ('mlx5_0:1', None) ('mlx5_1:1', 'PIX')"
# srun -n4 -c1 --gpus-per-task=1 as Slurm 22.05 binds it: two ranks have a GPU of the other socket
printf '%s\n' 0 8 1 9 >"$work/crossed"
followed() {
    run plan --topology "$machines/gpus.xml" --gpus '0;1;2;3' "$@" --json
    json "*(t['cpus'] for t in d['tasks']), d['mapper'], d['reason'].split(':')[0]"
}
is "plan --gpus: CPUs follow GPUs" "$(followed --binding "$work/crossed")" \
    "0 1 8 9 follow CPUs follow GPUs"
is "... and divide a mask" "$(followed --binding none)" \
    "0-3 4-7 8-11 12-15 follow CPUs follow GPUs"
run plan --topology "$machines/gpus.xml" --tasks 4 --gpus local-rank --json
is "plan --gpus local-rank: each has the one of its local rank" \
    "$(json "*((t['gpus'], t['nic'], t['path']) for t in d['tasks'])")" \
    "$(for k in 0 1 2 3; do echo "([$k], 'mlx5_$k:1', 'PIX')"; done | xargs -d '\n')"
run plan --topology "$machines/gpus.xml" --tasks 5 --gpus local-rank --json
is "... modulo their number" "$(json "*(t['gpus'][0] for t in d['tasks'])")" "0 1 2 3 0"
run plan --topology "$machines/gpus.xml" --tasks 2 --gpus local-rank:block --json
is "... or in blocks" "$(json "*(t['gpus'][0] for t in d['tasks'])")" "0 2"
run plan --topology "$machines/gpus.xml" --gpus '1-3;1-3;0' --gpus local-rank --json
is "... of those that it sees with others" "$(json "*(t['gpus'] for t in d['tasks'])")" \
    "[1] [2] [0]"
run plan --topology "$machines/gpus.xml" --gpus '0,1;2-3' --gpus local-rank --json
is "... not of those that it sees alone" "$(json "*(t['gpus'] for t in d['tasks'])")" \
    "[0, 1] [2, 3]"
run plan --topology "$machines/gpus.xml" --tasks 1 --gpus local-rank --json
is "... and not alone" "$(json "*(t['gpus'] for t in d['tasks'])")" "[0, 1, 2, 3]"
sed '0,/0302 \[10de:20b0\]/s//0302 [10de:20b2]/' "$machines/gpus.xml" >"$work/mixed.xml"
run plan --topology "$work/mixed.xml" --tasks 4 --gpus local-rank --json
is "... of several models nobody knows the order" \
    "$(cmp -s "$work/mixed.xml" "$machines/gpus.xml" || json "*(t['gpus'] for t in d['tasks'])")" \
    "None None None None"
answers "... and the report says it" plan --topology "$work/mixed.xml" --tasks 4 --gpus local-rank
like "... in a sentence" "$out" 'gpus=local-rank ignored'
is "... --gpus keep: ranks stay" "$(followed --binding "$work/crossed" --gpus keep)" \
    "0 8 1 9 keep the step has GPUs"
answers "plan --gpus as a table" plan --topology "$machines/gpus.xml" --gpus '3;;1,2'
like "... has a column" "$out" ' mlx5_1:1,mlx5_2:1 +[01] +1-2 +1 +PIX'
answers "three NICs for a rank" plan --topology "$machines/four-rails.xml" --tasks 1 --rails 3
like "... are counted" "$out" ' mlx5_0:1 \+2 '
like "... and without GPUs there is no column" "$(grep -c GPU <<<"$out")" '^0$'
run plan --topology "$hagrid" --tasks 4 --ranks 12,8,4,0 --leader off --json
is "plan --json: ranks as said" "$(json "*(t['rank'] for t in d['tasks'])")" "12 8 4 0"
is "plan --json: unknown is null" \
    "$(json "d['leader'],d['near'],d['order'],d['tasks'][0]['weight']")" "None None [] None"
run plan --topology "$machines/laptop.xml" --tasks 1 --json
is "plan --json: no NIC" "$(json "d['tasks'][0]['nic'],d['tasks'][0]['level'],d['moved']")" \
    "None None False"
printf '%s\n' 0-1 2,3 4-5 >"$work/binding"
run plan --topology "$hagrid" --binding "$work/binding" --nuioa export --json
is "plan --json: --binding" "$(json "*(t['cpus'] for t in d['tasks'])")" "0-1 2-3 4-5"
is "plan --json: places of the cores" "$(json "d['tasks'][1]['places']")" "{2},{3}"
run plan --topology "$hagrid" --tasks 2 --cpus-per-task 8 --json
like "plan --json: what may be typed" "$(json "*d['advice']")" '^[^,]*--nuioa-threads=on to bind'
run plan --topology "$hagrid" --tasks 2 --cpus-per-task 8 --threads on --json
is "... not where it was" "$(json "d['advice']")" "[]"
run plan --topology "$hagrid" --binding <(printf '%s\n' 7 6) --nuioa export --json
is "plan --json: --binding from a pipe" "$(json "*(t['cpus'] for t in d['tasks'])")" "7 6"
run plan --topology "$hagrid" --tasks 3 --allowed 4-7,12 --nuioa export --json
is "plan --json: --allowed" "$(json "*(t['cpus'] for t in d['tasks'])")" "4 5 6"
run plan --topology "$hagrid" --tasks 2 --binding none --json
is "plan --json: --binding none: the ranks divide all CPUs" \
    "$(json "*(t['cpus'] for t in d['tasks'])")" "6-7,10-15 0-5,8-9"
run plan --topology "$hagrid" --tasks 2 --cores share --json
is "plan --json: --cores share: the same" \
    "$(json "*(t['cpus'] for t in d['tasks'])")" "6-7,10-15 0-5,8-9"
run plan --topology "$hagrid" --tasks 1 --cpus-per-task 4 --binding none --json
is "plan --json: one rank: the CPUs nearest the NIC" "$(json "d['tasks'][0]['cpus']")" "6-7,10-11"
run plan --topology "$hagrid" --tasks 2 --cpus-per-task 4 --cores share --nuioa export --json
is "plan --json: -c as for srun: Slurm binds" \
    "$(json "*(t['cpus'] for t in d['tasks'])")" "0-3 4-7"

# A profile: rank 3 alone speaks to another node; 0 and 1 speak to each other.
cat >"$work/profile" <<'EOF'
nuioa-profile 1
ranks 8
pair 3 7 1000 1 0
pair 7 3 5000 9 0
pair 0 1 100 1 0
EOF
# The variables of other libraries that each rank would get, before anything is launched.
unset "${!UCX_@}" "${!OMPI_MCA_@}" "${!MPICH_@}"
# exports OPTION...: the lines of nuioa plan about them
exports() {
    run plan --topology "$machines/$1" "${@:2}"
    grep -E '^(no )?exports|^no NIC is set' <<<"$out" | sed 's/ (.*//; s/\.\( .*\|\)$//'
}
rails=(four-rails.xml --tasks 8 --rails connected)
is "plan: each rank's variables" "$(exports "${rails[@]}")" \
    "exports of ranks 0-3: UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1
exports of ranks 4-7: UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1"
is "plan: the word of the site that is missing" "$(exports four-rails.xml --tasks 8)" \
    "no NIC is set for UCX: InfiniBand's default prefix does not show whether the NICs reach each \
other"
is "plan: the user's own variables count" \
    "$(UCX_TLS=all exports "${rails[@]}")" ""
is "... and plan --explain says so" "$(UCX_TLS=all exports "${rails[@]}" --explain)" \
    "no exports of ranks 0-7: the environment chooses NICs, or lacks MPICH_GPU_SUPPORT_ENABLED=1"
is "plan: what a rank of an outer step was told does not" \
    "$(export UCX_NET_DEVICES=mlx5_3:1 SLURM_NUIOA_EXPORTED=UCX_NET_DEVICES=mlx5_3:1
        exports "${rails[@]}" | wc -l)" 2
is "plan: export=env is none of them" "$(exports "${rails[@]}" --export env)" ""
is "plan --explain: why none" "$(exports "${rails[@]:0:2}" 1 --rails connected --explain)" \
    "no exports of rank 0: a rank alone on its node may start others"
of_gpus() { run plan --topology "$machines/gpus/$1" --gpus '0;1;2;3;4;5;6;7' "${@:2}" --json; }
of_gpus dgx-a100.xml --rails connected
is "plan --json: a rank with a GPU is told that GPU's NIC" \
    "$(json "all(list(t['exports'].values()) == [t['nic']] for t in d['tasks'])")" True
of_gpus dgx-a100.xml
is "... and nothing where nobody says that they are connected" \
    "$(json "[t['exports'] for t in d['tasks'] if t['exports']]")" "[]"
MPICH_GPU_SUPPORT_ENABLED=1 of_gpus mi250x.xml
is "plan --json: Cray's MPICH" "$(json "set(str(t['exports']) for t in d['tasks'])")" \
    "{\"{'MPICH_OFI_NIC_POLICY': 'GPU'}\"}"
of_gpus mi250x.xml
is "... not without its support of GPUs" "$(json "any(t['exports'] for t in d['tasks'])")" False

run plan --topology "$hagrid" --tasks 4 --hints "@$work/profile" --json
is "plan --json: weights of a profile" "$(json "*(t['weight'] for t in d['tasks'])")" \
    "0.0 0.0 0.0 5050.0"
run plan --topology "$hagrid" --tasks 4 --hints "@$work/profile" --policy latency --json
is "plan --json: messages for latency" "$(json "*(t['weight'] for t in d['tasks'])")" \
    "0.0 0.0 0.0 10.0"
run plan --topology "$hagrid" --ranks 0-7 --hints "@$work/profile" --json
is "plan --json: all ranks of the profile on one node" \
    "$(json "*(t['weight'] for t in d['tasks'])")" "0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0"

run plan --topology "$machines/big.xml" --tasks 256 --json
is "plan --json: one rank for each hardware thread" \
    "$(json "*(t['was'] for t in d['tasks'][:4])")" "0 128 1 129"
unanswered "257 tasks of 1 CPUs do not fit into the 256 allowed CPUs" \
    plan --topology "$machines/big.xml" --tasks 257
printf '# heavy ones\n1:5\n3:2, rest:0\n' >"$work/list"
run plan --topology "$hagrid" --tasks 4 --hints "@$work/list" --json
is "plan --json: a list of hints in a file" "$(json "*(t['weight'] for t in d['tasks'])")" \
    "0.0 5.0 0.0 2.0"

# --- what must not drift apart ----------------------------------------------------------------

# shellcheck source=../../etc/completion/nuioa
. "$here/../../etc/completion/nuioa"
# complete WORD...: what bash offers for the last one
complete_words() {
    COMP_WORDS=("$tool" "$@") COMP_CWORD=$#
    _nuioa
    printf '%s\n' "${COMPREPLY[*]}"
}
is "completion: commands" "$(complete_words to)" topo
is "completion: commands after help" "$(complete_words help tr)" traffic
is "completion: options of the table" "$(complete_words plan --po)" --policy
is "completion: options of the command" "$(complete_words plan --ta)" --tasks
is "completion: options with a letter" "$(complete_words compare --pa)" --pairs
is "completion: values" "$(complete_words plan --policy l)" latency
is "completion: values behind =" "$(complete_words plan --policy = "")" "bandwidth latency"
is "completion: files" "$(complete_words topo --topology "$machines/hagrid5")" "$hagrid"
for command in $(complete_words help ""); do
    pages=("$here/../../man/nuioa-$command.1.in")
    [ "$command" != exec ] || pages+=("$here/../../man/nuioa-plan.1.in") # which lists them for both
    page=$(sed 's/\\-/-/g' "${pages[@]}")
    like "nuioa.1 has $command" "$(<"$here/../../man/nuioa.1.in")" "nuioa\\\\-$command"
    for option in $(complete_words "$command" --); do
        like "nuioa-$command.1 has $option" "$page" "$option([^a-z-]|\$)"
    done
done

# --- the cache --------------------------------------------------------------------------------

run cache --out "$work/cache"
is "cache --out says nothing" "$status|$out|$err" "0||"
# An ordinary user, who can read the directory of caches but not write there.
as_user=()
if [ "$(id -u)" = 0 ]; then
    cp "$tool" "$work/nuioa"
    chmod 711 "$work"
    as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups "$work/nuioa")
fi
"${as_user[@]:-$tool}" cache >"$work/out" 2>"$work/err" </dev/null
like "cache: an ordinary user learns who must run it" \
    "$?|$(wc -l <"$work/err")|$(cat "$work/out" "$work/err")" \
    '^1\|1\|nuioa: /run/nuioa/.*: only root can write there\. Run nuioa cache as root.*--out$'
chmod 700 "$work"
if [ "$(stat -c %a "$work")" = 700 ]; then
    answers "cache --show" cache --show --out "$work/cache"
    shown=$out
    run topo
    is "cache --show is what topo says" "$shown" "$out"
    answers "cache --show --json" cache --show --json --out "$work/cache"
    is "cache --show --json: this machine" "$(json "d['host']")" "$(uname -n)"
    answers "plan --cache" plan --tasks 1 --cache "$work/cache"
    # of another host, and so of another boot: the key begins with 8 bytes, boot id, host
    python3 - "$work/cache" "$work/foreign" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[8:48] = b"another boot".ljust(40, b"\0")
data[48:112] = b"elsewhere".ljust(64, b"\0")
open(sys.argv[2], "wb").write(data)
END
    unanswered "$work/foreign: made on another host, elsewhere, and this is $(uname -n)" \
        cache --show --out "$work/foreign"
    echo x >>"$work/cache"
    unanswered "" cache --show --out "$work/cache"
fi
done_testing
