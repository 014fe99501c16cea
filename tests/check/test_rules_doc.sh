#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doc/rules.md is what the table of rules says:  test_rules_doc.sh GEN_RULES RULES DOC
set -e
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$1" "$2" doc "$work/rules.md"
diff -u "$3" "$work/rules.md" || { echo "write it anew: sim/check/gen_rules.py sim/check/rules.toml doc doc/rules.md"; exit 1; }
