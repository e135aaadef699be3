#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Real machines: the oracle against the corpus' own table, the tool against the oracle.
# NUIOA_CORPUS: directory with MANIFEST.tsv, *.xml and *.sysfs.tar.bz2; its files are not part of
# this project, so every check is skipped where it is absent.

. "$(dirname "$0")/lib.sh"
corpus=${NUIOA_CORPUS:-$top/../shared/corpus}

if [ ! -r "$corpus/MANIFEST.tsv" ]; then
    skip_all "topologies of real machines" "no corpus in $corpus (env NUIOA_CORPUS)"
fi

# machine_path NAME: the XML, or where its dump was extracted to; one directory in each archive.
machine_path() {
    if [ -f "$corpus/$1.xml" ]; then
        printf '%s\n' "$corpus/$1.xml"
    else
        mkdir "$work/$1" && tar -xjf "$corpus/$1.sysfs.tar.bz2" -C "$work/$1" &&
            printf '%s\n' "$work/$1"/*/
    fi
}

count=0
# shellcheck disable=SC2094 # manifest.py reads, too
while IFS=$'\t' read -r name _; do
    [ "$name" = name ] && continue
    if ! path=$(machine_path "$name"); then
        fail "$name: listed but not there"
        continue
    fi
    count=$((count + 1))
    ok "$name: the oracle agrees with the manifest" \
        "$here/manifest.py" "$corpus/MANIFEST.tsv" "$name" "$path"
    check_machine "$name" "$path"
done <"$corpus/MANIFEST.tsv"
ok "34 machines were there" test "$count" -eq 34

for path in "$corpus"/twins/*.xml; do
    [ -f "$path" ] && check_machine "twins/$(basename "$path" .xml)" "$path"
done
done_testing
