#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The options that went, as lib/option/retired.c lists them: whoever types one gets one line, and
# the launch goes on as it does without it.
. "$(dirname "$0")/testlib.sh"
setup

admin='\.admin = true, '
# retired [ADMIN]: each option that went, and the value
retired() { sed -z 's/,\n      /, /g' "$here/../../lib/option/retired.c" |
    sed -nE 's/^    \{ \.name = "([a-z_]+)", (\.values = "([a-z]+)", )?'"$1"'\.help.*/\1 \3/p'; }

# says FORM WORD: the launch before went well, and one line is about WORD
says() {
    is "$1: the launch goes on" "$rc" 0
    like "$1: one line" "$err" "^nuioa: ${2}=[a-z]+ does nothing any more: [^"$'\n'"]+$"
}

plugin on "topology=$topology"
while read -r name value; do
    value=${value:-on} flag=--nuioa-${name//_/-} variable=SLURM_NUIOA_${name^^}
    launch 2 -w node1 --nuioa=export "$flag=$value"
    says "srun $flag=$value" "$flag"
    is "... and the rest of the line counts" "$(of 0 NUIOA_VERSION)" 1
    launch 2 -w node1 "$flag=$value"
    says "srun $flag=$value alone" "$flag"
    launch 2 "$variable=$value" -w node1 --nuioa=export
    says "$variable=$value" "$variable"
    printf '#!/bin/sh\n#SBATCH %s=%s\nsrun %s/rank\n' "$flag" "$value" "$home" \
        >"$CLUSTER_DIR/home/job.sh"
    rm -f "$CLUSTER_DIR"/home/job.{out,err}
    tally 2 "$home/submit" -w node1 -n2 --nuioa=export -o "$home/job.out" -e "$home/job.err" \
        "$home/job.sh"
    says "#SBATCH $flag=$value" "$flag"
    is "... and the srun inside says nothing more" "$(cat "$CLUSTER_DIR/home/job.err")" ""
    plugin on "topology=$topology" "$name=$value"
    launch 2 -w node1 --nuioa=export
    is "plugstack.conf $name=$value: users are told nothing" "$rc:$err" "0:"
    plugin on "topology=$topology"
done < <(retired)

while read -r name value; do
    plugin on "topology=$topology" "$name=${value:-on}"
    launch 2 -w node1 --nuioa=export
    is "plugstack.conf $name=${value:-on}: users are told nothing" "$rc:$err" "0:"
done < <(retired "$admin")

# All at once: the line of 1.0 in plugstack.conf with every argument, and every flag of 1.0.
arguments=(default=export hints=heavy=0 policy=latency cores=auto gpus=auto nic=auto rails=auto
    nic_role=mlx5_8:storage mem=off leader=near threads=auto export=env,pmix trace=off
    deadline_ms=2000 remote_cost=0.3 hop_cost=0.05
    load_cost=1)
mapfile -t went < <({ retired; retired "$admin"; } | sed 's/ $/ off/; s/ /=/')
mapfile -t typed < <(retired | sed 's/ $/ off/; s/ /=/; s/_/-/g; s/^/--nuioa-/')
plugin on "topology=$topology" "${arguments[@]}" "${went[@]}"
launch 2 -w node1
is "1.0's plugstack.conf: users are told nothing" "$rc:$err:$(of 0 NUIOA_VERSION)" "0::1"
launch 2 -w node1 "${typed[@]}"
is "every flag that went at once: one line each" \
    "$rc:$(grep -c '^nuioa: --nuioa-.* does nothing any more: ' <<<"$err"):$(wc -l <<<"$err")" \
    "0:${#typed[@]}:${#typed[@]}"

user srun --nuioa=help
is "--nuioa=help has none of them" \
    "$(grep -cE "^ ($(retired "($admin)?" | sed -n 's/ $//p' | paste -sd'|')) " <<<"$out")" 0
finish
