# SPDX-License-Identifier: BSD-3-Clause
#
# Runs of nuioa-bench, one after the other: of each row of a broadcast, which is all that the library
# leads, the medians over the runs. kind: which MPI.
function median(row, column,    n, i, j, t, v) {
    n = runs[row]
    for (i = 1; i <= n; i++)
        v[i] = value[row, column, i]
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] > v[j]; j--) {
            t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
        }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
NF == 11 && $1 == "bcast" && $2 ~ /^[0-9]+$/ {
    row = sprintf("%-10s %9d", $1, $2)
    if (!runs[row]++)
        order[++rows] = row
    for (i = 5; i <= 8; i++)
        value[row, i, runs[row]] = $i
    wrong += $11 != "right"
}
END {
    if (!rows) {
        printf "    %s: no run came to its end in time: this machine is busy\n", kind
        exit
    }
    printf "    %s, 2 ranks of one node, %d runs\n", kind, runs[order[rows]]
    printf "    %-10s %9s %11s %11s %8s %10s\n", "collective", "bytes", "plain, us", "library, us",
        "gain, %", "control, %"
    for (i = 1; i <= rows; i++) {
        row = order[i]
        gain = median(row, 7)
        lost += gain < -5
        printf "    %s %11.1f %11.1f %8.1f %10.1f\n", row, median(row, 5), median(row, 6), gain,
            median(row, 8)
    }
    printf "    rows with a loss above 5 %%: %d of %d; wrong results: %d\n", lost, rows, wrong
}
