#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim new: what it writes, and what it refuses. The documents' tests build and run what it writes (doc/tutorial.md).
#
#   test_new.sh BFSIM BFSIMD SOURCES CLI_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
use_bfsim "$1"
sources=$3

test_the_example_is_written_under_its_new_name() {
	status 0 bfsim new comch my-pair
	says '^  cd my-pair && make test$' out
	for file in host.c dpu.c test.yaml; do
		sed 's/comch_hello/my-pair/g' "$sources/tests/apps/comch_hello/$file" | cmp - "my-pair/$file"
	done
	says '^#define SERVER_NAME "my-pair"$' my-pair/host.c
	says '^MODULES = ' my-pair/Makefile
	says 'tests: test.yaml' my-pair/.github/workflows/bfsim.yml
	same "" "$(grep -r comch_hello my-pair)"
}

test_nothing_is_replaced() {
	mkdir there
	status 1 bfsim new comch there
	says 'cannot make the directory there: File exists' err
	absent there/host.c
}

test_other_kinds_and_names_are_usage_errors() {
	status 2 bfsim new
	status 2 bfsim new dma pair
	says 'bfsim new comch NAME' err
	status 2 bfsim new comch
	for name in '' a/b '../x' -x 'a b' 'a"b'; do
		status 2 bfsim new comch -- "$name"
		says 'letters, digits' err
	done
	status 2 bfsim new comch a b
	same '' "$(find . -name '*.c')"
}

run_tests "$0" "$work"
