#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A few rows of doc/first-lines.md on one machine: what the first line that is typed does, judged
# from inside of the ranks. test/first-lines explains them, and makes the page with all rows.
exec "$(dirname "$0")/../first-lines" --short --tap "$@"
