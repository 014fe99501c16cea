#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doc/rules.md is what the tables of rules say:  test_rules_doc.sh GEN_RULES DOC FILE ...
set -e
gen=$1 doc=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$gen" doc "$work/rules.md" "$@"
diff -u "$doc" "$work/rules.md" || { echo "write it anew: sim/check/gen_rules.py doc doc/rules.md sim/check/rules/*.toml"; exit 1; }
