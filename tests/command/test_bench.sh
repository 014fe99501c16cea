#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim bench: points of a sweep, forms of output, and the comparison of two results.
#
#   test_bench.sh BFSIM       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
use_bfsim "$1"

test_a_sweep_has_a_line_for_each_point() {
	status 0 bfsim bench --sizes 64,4k --depths 1,4 --threads 1,2 --count 50 --repeat 1
	same 9 "$(wc -l <out)"
	says '^functional +best +2 +4 +4096 +[0-9.]+ [kMG]?B/s +[0-9.]+' out
	absent "$TMPDIR"/*
}

test_each_data_path_is_measured() {
	status 0 bfsim bench --sizes 4k --depths 2 --paths in-place,mapped,cma,shm,tcp --count 20 --repeat 1 --csv
	same 'in-place mapped cma shm tcp ' "$(tail -n +2 out | cut -d, -f2 | tr '\n' ' ')"
}

# In virtual time the figures are the model's: the same each time, and the larger depth is the faster.
test_virtual_time_gives_the_cards_figures() {
	status 0 bfsim bench --clock virtual --sizes 4k --depths 1,32 --count 200 -o a.json --json
	cmp a.json out || python3 -c 'import json; assert json.load(open("a.json")) == json.load(open("out"))'
	status 0 bfsim bench --clock virtual --sizes 4k --depths 1,32 --count 200 -o b.json
	cmp a.json b.json
	python3 - <<-'EOF2'
		import json
		one, many = json.load(open('a.json'))['points']
		assert (one['depth'], many['depth']) == (1, 32)
		assert many['bytes-per-s'][0] > 2 * one['bytes-per-s'][0]
		for point in (one, many):
		    assert point['p50-ns'] <= point['p90-ns'] <= point['p99-ns'] <= point['max-ns'], point
		assert 1000 < one['p50-ns'] < 20000 # a card takes a few microseconds
	EOF2
}

# result RATE RATE RATE
result() {
	printf '{"points":[{"clock":"functional","path":"best","threads":1,"depth":1,"bytes":64,"bytes-per-s":[%s,%s,%s]}]}' "$@"
}

test_a_comparison_tells_a_change_from_noise() {
	result 1000 1100 1200 >before
	result 1150 1190 1300 >near
	result 2000 2100 2200 >fast
	result 500 600 700 >slow
	status 0 bfsim bench --compare before near
	says '\+8.2 % +noise$' out
	status 0 bfsim bench --compare before fast
	says '\+90.9 % +faster$' out
	status 1 bfsim bench --compare before slow
	says '\-45.5 % +slower$' out
	echo '{}' >nothing
	status 2 bfsim bench --compare before nothing
	says 'nothing is no result of bfsim bench' err
}

test_what_is_mistyped_is_named() {
	status 2 bfsim bench --paths cna
	says 'there is no "cna"; did you mean cma' err
	status 2 bfsim bench --sizes 4q
	says '"4q" is no number, such as 64 or 4k' err
	status 2 bfsim bench --clock virtul
	says 'did you mean virtual' err
	status 2 bfsim bench --compare one
	says 'BEFORE.json NOW.json' err
}

run_tests "$0" "$work"
