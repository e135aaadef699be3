#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa layout in a job of a real Slurm: its line starts every rank where the list says, and what a
# rank or the script starts afterwards runs as without it.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
plugin on topology=/run/node/topology.xml
work=$(mktemp -d "$CLUSTER_DIR/home/layout.XXXXXX")
chmod 777 "$work"
dir=$home/${work##*/}
# Ranks i and i + 4 communicate: block puts each on another node than its partner.
awk 'BEGIN { print "nuioa-profile 1\nranks 8"
    for (i = 0; i < 8; i++) printf "pair %d %d 1000 1 0\n", i, (i + 4) % 8 }' >"$work/halves"
awk 'BEGIN { print "nuioa-profile 1\nranks 8"
    for (i = 0; i < 8; i += 2) printf "pair %d %d 1000 1 0\n", i, i + 1 }' >"$work/neighbours"
cat >"$work/rank" <<'END'
#!/bin/sh
# rank: says where it is; rank 0 starts a step and a job of its own.
echo "$SLURM_PROCID $(hostname) ${SLURM_DISTRIBUTION-none} ${SLURM_HOSTFILE-none}"
[ "$SLURM_PROCID" = 0 ] || exit 0
nested=$(srun --overlap -N1 -n1 hostname 2>&1) && echo "nested $nested"
job=$(sbatch --parsable -o none.%j --wrap "srun -n1 true" 2>&1) && echo "job $job"
END
chmod 755 "$work/rank"

# in_job LINE: in a job of four nodes with two tasks each
in_job() { user salloc -Q -N4 --ntasks-per-node=2 sh -c "cd $dir && $1"; }

in_job "nuioa layout ./halves 2>line; srun \$(nuioa layout ./halves) --nuioa=export ./rank"
said=$(<"$work/line")
like "the line that is said" "$said" \
    '^nuioa: layout: .*: off node 100\.0 % by block.* 0\.0 in this layout'
ranks=$(grep '^[0-7] ' <<<"$out" | sort -n)
is "eight ranks, two on each node" \
    "$(cut -d' ' -f2 <<<"$ranks" | sort | uniq -c | tr -s ' \n' ' ')" \
    " 2 node1 2 node2 2 node3 2 node4 "
is "partners share a node" \
    "$(awk '{ at[$1] = $2 } END { for (i = 0; i < 4; i++) n += at[i] == at[i + 4]; print n }' \
        <<<"$ranks")" 4
is "ranks do not inherit the layout" "$(cut -d' ' -f3- <<<"$ranks" | sort -u)" "none none"
like "a step that a rank starts runs" "$out" 'nested node[1-4]'
like "a job that a rank submits is taken" "$out" 'job [0-9]+'
in_job "srun \$(nuioa layout ./halves) --nuioa=export true && srun -n8 hostname &&
    sbatch --parsable -o none.%j --wrap true"
is "a later srun of the script, and sbatch" "$rc|$(grep -c '^node' <<<"$out")" "0|8"
in_job "srun \$(nuioa layout ./neighbours) --nuioa=export ./rank"
is "block is as good: as ever" \
    "$rc|$(grep '^[0-7] ' <<<"$out" | sort -n | cut -d' ' -f2 | paste -sd' ')" \
    "0|node1 node1 node2 node2 node3 node3 node4 node4"
like "... and why" "$err" "nuioa: layout: srun's block is as good"
in_node ctl scancel -u "$(id -u nobody)"
finish
