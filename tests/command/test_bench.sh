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
	says '^host-to-dpu +functional +(cma|shm) +2 +4 +4096 +[0-9.]+ [kMG]?B/s +[0-9.]+' out
	! grep -q best out
	absent "$TMPDIR"/*
}

test_each_data_path_is_measured() {
	status 0 bfsim bench --sizes 4k --depths 2 --paths in-place,mapped,cma,shm,tcp --count 20 --repeat 1 --csv
	same 'in-place mapped cma shm tcp ' "$(tail -n +2 out | cut -d, -f3 | tr '\n' ' ')"
	same 'in-place mapped cma shm tcp ' "$(tail -n +2 out | cut -d, -f4 | tr '\n' ' ')"
}

test_each_workload_is_measured() {
	status 0 bfsim bench --workloads host-to-dpu,dpu-to-host,comch,comch-fast --sizes 64,8k --depths 1,4 --threads 1,2 \
		--paths cma --count 40 --repeat 1 --csv
	says '^bfsim: 10 of 32 points are left out: comch has messages of up to 4080 bytes' err
	same 23 "$(wc -l <out)"
	same '8 8 2 4' "$(echo "$(grep -c ^host-to-dpu, out)" "$(grep -c ^dpu-to-host, out)" "$(grep -c ^comch, out)" "$(grep -c ^comch-fast, out)")"
	python3 - <<-'EOF2'
		import csv
		for row in csv.DictReader(open('out')):
		    assert int(row['tasks_per_s']) > 0 and int(row['p50_ns']) <= int(row['p99_ns']) <= int(row['max_ns']), row
		    assert row['path'] == ('' if row['workload'] == 'comch' else 'cma'), row
	EOF2
	absent "$TMPDIR"/*
}

# A message there and back takes 58.4 us by the profile; the card reads and writes large buffers at different rates.
test_workloads_take_the_models_time() {
	status 0 bfsim bench --workloads host-to-dpu,dpu-to-host,comch --clock virtual --sizes 4000,1M --depths 1,32 --count 64 --json
	python3 - <<-'EOF2'
		import json
		points = {(p['workload'], p['bytes'], p['depth']): p for p in json.load(open('out'))['points']}
		assert points['comch', 4000, 1]['p50-ns'] == 58400, points
		read, write = (points[way, 1 << 20, 32]['bytes-per-s'][0] for way in ('host-to-dpu', 'dpu-to-host'))
		assert read != write and 10e9 < write < 55e9 and 10e9 < read < 55e9, (read, write)
	EOF2
}

# A line is there before the next point is measured.
test_lines_appear_as_points_are_done() {
	mkfifo lines
	bfsim bench --sizes 64 --depths 1,2,4,8 --count 20 --repeat 1 >lines &
	reads=$!
	{ read -r _ && read -r first && kill -0 $reads && echo "$first" >early; cat >rest; } <lines
	wait $reads
	says '^host-to-dpu ' early
	same 3 "$(wc -l <rest)"
}

# In virtual time the figures are the model's: the same each time, and the larger depth is the faster.
test_virtual_time_gives_the_cards_figures() {
	status 0 bfsim bench --clock virtual --sizes 4k --depths 1,32 --count 200 -o a.json --json
	cmp a.json out || python3 -c 'import json; assert json.load(open("a.json")) == json.load(open("out"))'
	status 0 bfsim bench --clock virtual --sizes 4k --depths 1,32 --count 200 -o b.json
	for result in a b; do
		grep -v '"date"' $result.json >$result
	done
	cmp a b
	python3 - <<-'EOF2'
		import json
		result = json.load(open('a.json'))
		assert 'BlueField-3' in result['card'] and 'Gen5 x16' in result['card'] and result['topology'] == 'built-in', result
		assert 'processors' in result['machine'] and result['date'].endswith(' UTC'), result
		one, many = result['points']
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
	says 'nothing is not a result of bfsim bench' err
	status 2 bfsim bench --compare before nope
	says 'cannot read nope: No such file or directory' err
}

test_a_comparison_of_nothing_fails() {
	result 1000 1100 1200 >before
	sed 's/functional/virtual/' before >now
	status 125 bfsim bench --compare before now
	says '^bfsim: before and now have no point in common: nothing was compared' err
	[ ! -s out ]
}

test_a_comparison_warns_of_other_machines_and_cards() {
	result 1000 1100 1200 | sed 's/^{/{"machine":"a","card":"x","topology":"t.yaml",/; s/"threads"/"used-path":"cma","threads"/' >before
	status 0 bfsim bench --compare before before
	[ ! -s err ]
	sed 's/"a"/"b"/; s/"x"/"y"/; s/t.yaml/u.yaml/; s/"cma"/"shm"/' before >now
	status 0 bfsim bench --compare before now
	for what in 'machines: "a" and "b"' 'cards: "x" and "y"' 'topologies: "t.yaml" and "u.yaml"' 'data paths: "cma" and "shm"'; do
		says "^bfsim: warning: the results are of different $what" err
	done
	sed -i 's/functional/virtual/' before now
	status 0 bfsim bench --compare before now
	! grep -q machines err
}

test_what_is_mistyped_is_named() {
	status 2 bfsim bench --paths cna
	says 'there is no "cna"; did you mean cma' err
	status 2 bfsim bench --sizes 4q
	says '"4q" is not a number from 1 to 4G, such as 64 or 4k' err
	status 2 bfsim bench --depths 0
	says '"0" is not a number from 1 to 4G' err
	status 2 bfsim bench --workloads comhc
	says 'there is no "comhc"; did you mean comch' err
	status 2 bfsim bench --clock virtul
	says 'did you mean virtual' err
	status 2 bfsim bench --compare one
	says 'BEFORE.json NOW.json' err
}

run_tests "$0" "$work"
