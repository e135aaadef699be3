#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# doc/formats.md says what the programs print, read and set. Its tables are held against documents
# that the built commands print of several machines, against their own lists of options, and against
# the names in the sources. Its examples are read by the commands. NUIOA_STAGE or NUIOA names what
# was built.

here=$(cd "$(dirname "$0")" && pwd)
top=$here/..
# shellcheck source=tap.sh
. "$here/tap.sh"
tool=${NUIOA:-${NUIOA_STAGE:+$NUIOA_STAGE/usr/bin/nuioa}}
if [ ! -x "$tool" ]; then
    fail "nuioa(1) is built" "neither NUIOA nor NUIOA_STAGE says where"
    done_testing
    exit
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!SLURM_@}"
export PYTHONDONTWRITEBYTECODE=1
machines=$here/topologies

# prints NAME STATUS COMMAND...: a document into $work/NAME, with this exit status
prints() {
    local name=$1 wanted=$2 status
    shift 2
    timeout 60 "$@" >"$work/$name" 2>"$work/err" </dev/null
    status=$?
    [ "$status" -eq "$wanted" ] ||
        fail "${*##*/} ends with status $wanted" "it was $status" "$(<"$work/err")"
}

# documents HEADING NAME...: what was printed is what the page says
documents() {
    local heading=$1
    shift
    ok "$heading: the page has each key, its type, and no other" \
        "$here/formats.py" json "$heading" "${@/#/$work/}"
}

# names WHAT HEADING NAME...
names() {
    local what=$1 heading=$2
    shift 2
    ok "$what" "$here/formats.py" names "$heading" "$@"
}

# --- JSON ----------------------------------------------------------------------------------------

for machine in hagrid5 laptop gpu-memory memoryless-die nic-under-machine efa virtual-functions \
    no-slit bad-slit gpu-paths; do
    prints "topo-$machine" 0 "$tool" topo --topology "$machines/$machine.xml" --json
done
prints warned 0 "$tool" topo --topology "$machines/flat-slit.xml" --json
printed=("$work"/topo-*)
documents "nuioa topo --json" warned "${printed[@]##*/}"

"$here/formats.py" example nuioa-profile >"$work/profile"
hagrid=(--topology "$machines/hagrid5.xml")
prints plan-hints 0 "$tool" plan "${hagrid[@]}" --tasks 4 --cpus-per-task 4 --hints 0:4,1:3 --json
prints plan-pairs 0 "$tool" plan "${hagrid[@]}" --tasks 16 --hints "$work/profile" --json
prints plan-plain 0 "$tool" plan "${hagrid[@]}" --tasks 16 --leader off --json
prints plan-no-nic 0 "$tool" plan --topology "$machines/laptop.xml" --tasks 2 --json
prints plan-nowhere 0 "$tool" plan --topology "$machines/nic-under-machine.xml" --tasks 2 --json
flat=$machines/flat-slit.xml
prints plan-warned 0 "$tool" plan --topology "$flat" --tasks 2 --nic no-such --json
prints plan-exports 0 "$tool" plan --topology "$machines/four-rails.xml" --tasks 8 \
    --rails connected --json
prints plan-gpus 0 "$tool" plan --topology "$machines/gpus.xml" --gpus '0;;1,2' --json
documents "nuioa plan --json" plan-hints plan-pairs plan-plain plan-no-nic plan-nowhere plan-gpus \
    plan-exports plan-warned

published=$here/probe/hagrid.txt
printf '0 1 1 1\n1 0 1 1\n1 -1 0 1\n1 1 1 0\n' >"$work/refused.txt"
prints probe-check 0 "$tool" probe --matrix "$published" --topology "$machines/hagrid.xml" --check \
    --local-ns 100 --links-per-node 3 --throughput 100,70,60 --json
prints probe-refused 1 "$tool" probe --matrix "$work/refused.txt" \
    --topology "$machines/quad.xml" --json
printf '100.5 210\n210 90\n' >"$work/full.txt"
prints probe-full 0 "$tool" probe --matrix "$work/full.txt" --json
printf '%s\n' "0 34 99 99" "34 0 99 99" "99 99 0 34" "99 99 34 0" >"$work/alike.txt"
prints probe-alike 0 "$tool" probe --matrix "$work/alike.txt" --json
prints probe-cost 0 "$tool" probe --throughput 100,70 --json
documents "nuioa probe --json" probe-check probe-refused probe-full probe-cost probe-alike

# shellcheck source=probe/secret.sh
. "$here/probe/secret.sh"
if make_secret; then
    for nodes in 4 2; do printf '%s\n' $nodes "1 2 3 4" "5 6 7 8" "9 8 7 6" "5 4 3 2"; done |
        tee "$work/matrix.mlx5_0" >"$work/matrix.mlx5_1"
    name() { printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
    mkdir "$work/bin"
    cp "$work/secret_bw" "$work/bin/ib_write_lat"
    name ib_write_bw '[[ $* != *use_cuda* ]] || exit 1
exec -a ib_write_bw "$SECRET_BW/secret_bw" "$@"'
    on() { echo "${stand_in[@]}" "PATH=$work/bin:$PATH" "HWLOC_XMLFILE=$machines/$1.xml"; }
    # shellcheck disable=SC2046
    prints probe-nics 0 env $(on quad) SECRET_CPUS=4 "$tool" probe --nic --rounds 1 --json
    # shellcheck disable=SC2046
    prints probe-gpus 0 env $(on gpus) SECRET_CPUS=8 "$tool" probe --nic=mlx5_0 --gpus --rounds 1 \
        --timeout 5 --json
    # shellcheck disable=SC2046
    prints probe-near 0 env $(on laptop-with-nic) SECRET_CPUS=8 "$tool" probe --nic --rounds 1 \
        --json
    documents "nuioa probe --nic --json" probe-nics probe-gpus probe-near
else
    skip "nuioa probe --nic --json: the page has each key" "$(tail -n 1 "$work/cc")"
fi

# A script in place of srun, which ends at once or, the second time, waits.
mkdir "$work/srun"
printf '%s\n' '#!/bin/sh' 'echo "nuioa: node0" >&2' "echo >>$work/runs" \
    "[ \$(wc -l <$work/runs) != \"\$HANG_AT\" ] || kill -INT \$PPID" >"$work/srun/srun"
chmod +x "$work/srun/srun"
export SLURM_JOB_ID=1
prints compare-whole 0 "$tool" compare --keep "$work/whole" --json -- "$work/srun/srun" app
rm "$work/runs"
HANG_AT=5 prints compare-cut 1 "$tool" compare --keep "$work/cut" --json -- "$work/srun/srun" app
unset SLURM_JOB_ID
documents "nuioa compare --json" compare-whole compare-cut

# It prints to standard error; a machine of topologies/ has no counters here, but this one may.
HWLOC_XMLFILE=$machines/infiniband.xml prints traffic 0 "$tool" traffic --json true
cp "$work/err" "$work/traffic"
prints traffic-own 0 "$tool" traffic --json true
cp "$work/err" "$work/traffic-own"
documents "nuioa traffic --json" traffic traffic-own

"$here/formats.py" example nuioa-matrix >"$work/matrix"
mkdir "$work/monitoring"
"$here/formats.py" example nuioa-openmpi >"$work/monitoring/run.0.prof"
prints profile-nodes 0 "$tool" profile "$work/profile" --nodes 4 --json
prints profile-matrix 0 "$tool" profile "$work/matrix" --metric avg --json
prints profile-openmpi 0 "$tool" profile "$work/monitoring" --json
documents "nuioa profile --json" profile-nodes profile-matrix profile-openmpi

"$here/unit/doctor-node.py" "$work/healthy"
mkdir "$work/empty"
prints doctor-healthy 0 "$tool" doctor --root "$work/healthy" --json
port=$work/healthy/sys/class/infiniband/mlx5_1/ports/1
echo "1: DOWN" >"$port/state"
echo "2: Polling" >"$port/phys_state"
prints doctor-found 1 "$tool" doctor --root "$work/healthy" --json
prints doctor-empty 1 "$tool" doctor --root "$work/empty" --as compute --json
documents "nuioa doctor --json" doctor-healthy doctor-found doctor-empty

# --- files: the page's examples are what they are said to be -------------------------------------

like "the profile is one" "$(<"$work/profile-nodes")" '"ranks": 64,[[:space:]]*"pairs": 2'
like "the matrix is one" "$(<"$work/profile-matrix")" '"ranks": 3,[[:space:]]*"pairs": 4'
like "the monitoring's file is one, and its bytes add up" "$(<"$work/profile-openmpi")" \
    '"bytes": 1024'
"$here/formats.py" example nuioa-distances |
    sed 's/^machine .*/machine packages=4 numa=4 cores=8/' >"$work/distances"
prints site 0 "$tool" topo --topology "$machines/quad.xml" --distances "$work/distances" --json
machine=$(python3 - "$work/site" <<'EOF'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["distance"]["source"], d["distance"]["matrix"])
EOF
)
is "the distance file is one" "$machine" \
    "site [[10, 16, 32, 32], [16, 10, 32, 32], [32, 32, 10, 16], [32, 32, 16, 10]]"

prints xml 0 "$tool" plan "${hagrid[@]}" --tasks 4 --hints 0:1 --xml "$work/plan.xml"
mapfile -t added < <(cut -d '"' -f 2 < <(grep -oE \
    '(type|info name)="(Misc|lstopo[A-Za-z]*|nuioa[A-Za-z]*)"' "$work/plan.xml") | sort -u)
names "the XML of a plan adds what the page says" "XML of a plan" "${added[@]}"

# --- options -------------------------------------------------------------------------------------

# the table that nuioa prints: "name values default meaning", those of the administrator last
options() { "$tool" plan --help | awk '/^ name +values/ { on = 1; admin += 1; next }
    on && $1 == "" { on = 0 } on && /^ [a-z]/ && admin <= most { print $1 }' most="$1"; }
mapfile -t everyone < <(options 1)
mapfile -t all < <(options 2)
variables=()
for name in "${everyone[@]}"; do
    name=SLURM_NUIOA_${name^^}
    variables+=("${name/%_NUIOA_NUIOA/_NUIOA}")
done
names "each option is an argument of plugstack.conf" "plugstack.conf" "${all[@]/#nuioa/default}"
names "each option that users may give is a variable" "Options" "${variables[@]}"

# --- names in the sources ------------------------------------------------------------------------

# in_sources REGEX DIRECTORY...: what its first group matches
in_sources() {
    local regex=$1
    shift
    (cd "$top" && find "$@" -name '*.c' -o -name '*.h' | LC_ALL=C sort | xargs cat) |
        grep -oE "$regex" | sed -E "s/$regex/\1/" | grep -vx SLURM_NUIOA_NAME | LC_ALL=C sort -u
}
set_for_ranks=$(in_sources 'put\(&?b, "([A-Z0-9_]+)=' lib)
by_setenv=$(in_sources 'spank_setenv\([a-z]+, "([A-Z_]+)"' spank)
set=$(printf '%s\n' "$set_for_ranks" "$by_setenv" | sort -u)
mapfile -t ours < <(grep '^NUIOA_' <<<"$set" | grep -v TRACE)
mapfile -t foreign < <(grep -v '^NUIOA_' <<<"$set")
mapfile -t read < <(in_sources '[a-z]\("(NUIOA_(TRACE|COMPARE)[A-Z_]*)"' mpi spank | sort -u)
names "a rank's variables are those that the sources set" "What a rank finds" "${ours[@]}"
names "... and those of other programs" "Variables of other programs" "${foreign[@]}"
names "... and those of the recorder" "Recorder" "${read[@]}"
is "no other NUIOA_ variable is in the sources" "$(in_sources \
    '"((SLURM_)?NUIOA_[A-Z0-9_]*[A-Z0-9])["=]' lib spank pmix mpi tools | while read -r name; do
        grep -q "\`$name\`" "$top/doc/formats.md" || echo "$name"
    done)" ""
mapfile -t keys < <(in_sources '"(nuioa\.[a-z_]+)"' pmix)
names "the PMIx keys are those that the sources publish" "Keys of nuioa" "${keys[@]}"
# PMIX_RANK says whose record it is
mapfile -t standard < <(in_sources 'record_add[a-z_]*\([a-z]+, (PMIX_[A-Z_]+),' pmix |
    grep -vx PMIX_RANK)
names "... and the standard ones" "Standard keys" "${standard[@]}"
done_testing
