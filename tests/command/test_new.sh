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
	for kind in comch rdma; do
		status 0 bfsim new $kind my-$kind
		says "^  cd my-$kind && make test\$" out
		for file in host.c dpu.c test.yaml; do
			sed "s/${kind}_hello/my-$kind/g" "$sources/tests/apps/${kind}_hello/$file" | cmp - "my-$kind/$file"
		done
		says "^MODULES = doca-common doca-$kind\$" my-$kind/Makefile
		says "^# Both halves of my-$kind," my-$kind/Makefile
		says 'tests: test.yaml' my-$kind/.github/workflows/bfsim.yml
		same "" "$(grep -rE "${kind}_hello|@[A-Z]+@" my-$kind)"
	done
	says '^#define SERVER_NAME "my-comch"$' my-comch/host.c
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
	says 'There are comch and rdma' err
	status 2 bfsim new comch
	for name in '' a/b '../x' -x 'a b' 'a"b'; do
		status 2 bfsim new comch -- "$name"
		says 'letters, digits' err
	done
	status 2 bfsim new comch a b
	status 2 bfsim new rdma a/b
	says ': new rdma: give a name' err
	same '' "$(find . -name '*.c')"
}

run_tests "$0" "$work"
