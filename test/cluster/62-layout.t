#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa layout in a job of a real Slurm: its line starts every rank where the list says, and what a
# rank or the script starts afterwards runs as without it.
. "$(dirname "$0")/testlib.sh"
setup
plugin on topology=/run/node/topology.xml "${patient[@]}"
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
    sbatch --parsable -o none.%j --wrap true && salloc -Q -n1 --immediate=60 --overcommit true"
is "a later srun of the script, sbatch and salloc" "$rc|$(grep -c '^node' <<<"$out")" "0|8"
in_job "srun \$(nuioa layout ./neighbours) --nuioa=export ./rank"
is "block is as good: as ever" \
    "$rc|$(grep '^[0-7] ' <<<"$out" | sort -n | cut -d' ' -f2 | paste -sd' ')" \
    "0|node1 node1 node2 node2 node3 node3 node4 node4"
like "... and why" "$err" "nuioa: layout: srun's block is as good"
in_job "srun \$(nuioa layout ./none) --nuioa=export hostname"
is "no profile: as ever" "$rc|$(grep -c '^node' <<<"$out")" "0|8"

# The report says what leaves the nodes of the step that runs.
off_node() { sed -n 's/^off node: \(.*\) of the profile.*/\1/p' <<<"$err"; }
in_job "srun --nuioa=report --nuioa-hints=./halves true"
is "the report says what leaves the nodes, by block" "$(off_node)" "100.0 %"
in_job "srun \$(nuioa layout ./halves) --nuioa=report --nuioa-hints=./halves true"
is "... and in the layout" "$(off_node)" "0.0 %"
in_job "srun --nuioa=on --nuioa-hints=./halves true"
unlike "... and nothing without a report" "$err" 'off node'

# What else is typed may not fit the list: Slurm refuses it, or we say that there are fewer ranks.
# A list of 32 KB and more is in a file, and --hostfile makes one of any.
in_job "nuioa layout ./halves --hostfile list >/dev/null 2>&1
    srun -m arbitrary -w $dir/list --nuioa=export hostname"
is "a list in a file: eight ranks, nothing is said" "$rc|$(grep -c '^node' <<<"$out")|$err" "0|8|"
while read -r name list; do
    for typed in -N2 -n4 "-N2 -n2"; do
        in_job "srun $list $typed --nuioa=export hostname"
        started=$(grep -c '^node' <<<"$out")
        if [ "$rc" -ne 0 ] && [ "$started" -eq 0 ]; then
            pass "$typed beside $name: Slurm refuses it"
        else
            like "$typed beside $name: $started ranks start, and a line says so" "$err" \
                "nuioa: -w names 8 nodes, one for each rank, but this step has $started ranks"
        fi
    done
done <<END
list \$(nuioa layout ./halves 2>/dev/null)
-w_FILE -m arbitrary -w $dir/list
--nodelist=FILE --nodelist=$dir/list -m arbitrary
END
in_job "srun \$(nuioa layout ./halves 2>/dev/null) -n8 --nuioa=export hostname"
is "-n8, which fits: nothing is said" "$rc|$(grep -c '^node' <<<"$out")|$err" "0|8|"
in_node ctl scancel -u "$(id -u nobody)"
finish
