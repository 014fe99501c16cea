#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs on a side with larger pages than the machine's (page-size in the topology), and the functions that a mode hides.
#
#   test_page_size.sh BFSIM PAGE_PROBE TOPOLOGY       (TAP; PAGE_PROBE is the program of page_probe.c)
# shellcheck disable=SC2016

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

probe=$(realpath "$2")
topology=$(realpath "$3")
use_bfsim "$1"

test_each_side_has_pages_of_its_own_size() {
	status 0 bfsim run --topology "$topology" --dpu "$probe" --host "$probe"
	says '^dpu.* 65536$' out
	says '^host.* 4096$' out
}

test_programs_that_are_started_later_have_them_too() {
	bfsim up --session s --topology "$topology"
	status 0 bfsim exec --session s --on dpu -- "$probe"
	same 65536 "$(cat out)"
	status 0 bfsim exec --session s --on host -- "$probe"
	same 4096 "$(cat out)"
	status 0 env BFSIM_PAGE_SIZE=65536 "$bfsim_program" exec --session s --on host -- sh -c 'echo "${BFSIM_PAGE_SIZE-unset}"'
	same unset "$(cat out)"
}

test_devs_shows_modes_and_pages() {
	status 0 bfsim devs --topology "$topology"
	says '^card0: BlueField-3 .*; mode dpu$' out
	says '^side dpu: memory pages of 64 KiB$' out
	says '^dpu +0000:03:00.0/sf0 +sf +mlx5_2 +enp3s0f0s0' out
	says '^dpu +0000:03:00.0 +dpu/0000:03:00.0/sf0 +en3f0pf0sf0$' out
	status 0 bfsim devs --json --topology "$topology"
	python3 -c 'import json, sys
it = json.load(sys.stdin)
assert it["cards"][0]["mode"] == "dpu" and it["sides"] == [{"name": "dpu", "page-size": 65536}], it' <out
	sed 's/mode: dpu/mode: nic/; /^sides:/,$d' "$topology" >nic.yaml
	status 2 bfsim run --topology nic.yaml --dpu true
	says 'no side "dpu"; a card is in NIC mode, in which its Arm cores are inactive; its sides are: host' err
}

run_tests "$0" "$work"
