#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What is typed wrong to nuioa(1), and files that are wrong: each is one line on stderr that quotes
# the input and says what would be right, and nothing is on stdout. The rows are in wrong-lines.tsv
# and wrong-files.tsv; what is typed to srun is in test/cluster/03-errors.t.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8
for name in "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!NUIOA_@}"; do unset "$name"; done
hagrid=$machines/hagrid5.xml gpus=$machines/gpus.xml
export hagrid gpus work

# fill TEXT: $text is TEXT with the names of the machines, of the directory and of the file in it
fill() {
    text=$1
    local name
    for name in work hagrid gpus file; do text=${text//"\$$name"/"${!name}"}; done
}

# rows FILE: its rows, without comments
rows() { grep -v '^#' "$here/$1"; }

# judge NAME STATUS QUOTED PATTERN: of what `said` has left
judge() {
    local fault=
    [ "$status" = "$2" ] || fault="$fault, status $status"
    [ -z "$out" ] || fault="$fault, something on stdout"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fault="$fault, not one line"
    [[ $err == nuioa:* ]] || fault="$fault, not ours"
    [[ $err == *"$3"* ]] || fault="$fault, it does not quote $3"
    [[ $err =~ $4 ]] || fault="$fault, it does not say $4"
    [[ $err != *[$'\001'-$'\037\u0080'-$'\u009f\u2028'-$'\u202e']* ]] ||
        fault="$fault, a control character"
    is "$1" "${fault:+${fault#, }: $err}" ""
}

# said WORD...: $status, $out, $err of a command line, in which variables may come first
said() {
    local words=()
    for word; do [ "$word" != nuioa ] || word=$tool; words+=("$word"); done
    timeout 60 env "${words[@]}" >"$work/out" 2>"$work/err" </dev/null
    status=$? out=$(<"$work/out") err=$(<"$work/err")
}

while IFS=$'\t' read -r wanted typed quoted pattern; do
    eval "set -- $typed"
    said "$@"
    fill "$quoted"
    judge "$typed" "$wanted" "$text" "$pattern"
done < <(rows wrong-lines.tsv)

# --- files ----------------------------------------------------------------------------------------

# make KIND: a file of that kind, or with that text
make() {
    rm -rf "$file"
    case $1 in
    missing) ;;
    empty) : >"$file" ;;
    directory) mkdir "$file" ;;
    pipe) mkfifo "$file" ;;
    zero) ln -s /dev/zero "$file" ;;
    null) ln -s /dev/null "$file" ;;
    loop) ln -s wrong "$file" ;;
    random) printf '\177ELF\2\1\1\0\0\0\0\n\0\n\377' >"$file" ;;
    large) head -c 9000000 /dev/zero | tr '\0' '1' >"$file" ;;
    writable) "$tool" cache --topology "$hagrid" --out "$file" && chmod 0666 "$file" ;;
    foreign) "$tool" cache --topology "$hagrid" --out "$file" && chown 12345 "$file" ;;
    text:*) printf '%b' "${1#text:}" >"$file" ;;
    esac
}

mkdir "$work/files"
file=$work/files/wrong
while IFS=$'\t' read -r wanted kind typed quoted pattern; do
    if [ "$kind" = foreign ] && [ "$(id -u)" -ne 0 ]; then
        skip "$kind: $typed" "only root can give a file away"
        continue
    fi
    make "$kind"
    fill "$typed"
    eval "set -- $text"
    said "$@"
    fill "$quoted"
    judge "$kind: $typed" "$wanted" "$text" "$pattern"
done < <(rows wrong-files.tsv)
rm -rf "$file"

# --- the files of Slurm on a node: the doctor's one finding names the input -----------------------

node=$work/node
ok "the generator runs" "$here/doctor-node.py" "$work/healthy"
while IFS=$'\t' read -r path content id quoted pattern; do
    rm -rf "$node"
    cp -a "$work/healthy" "$node"
    case $content in
    -) rm "$node/$path" ;;
    +*) printf '%b\n' "${content#+}" >>"$node/$path" ;;
    *) printf '%b\n' "$content" >"$node/$path" ;;
    esac
    run doctor --root "$node" --json
    found=$(json "' '.join(f['id'] for f in d['findings'])")
    line=$(json "' '.join(f['what'] + ' ' + f['remedy'] for f in d['findings'])")
    fault=
    [ "$found" = "$id" ] || fault="found $found"
    [ "$status|$err" = "1|" ] || fault="$fault, status $status, $err"
    [[ $line == *"$quoted"* ]] || fault="$fault, it does not quote $quoted"
    [[ $line =~ $pattern ]] || fault="$fault, it does not say $pattern"
    is "$path: $content" "${fault:+$fault: $line}" ""
done < <(rows wrong-node.tsv)
done_testing
