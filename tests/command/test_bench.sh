#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim bench: points of a sweep, engines, forms of output, and the comparison of two results.
#
#   test_bench.sh BFSIM       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
use_bfsim "$1"

test_a_sweep_has_a_line_for_each_point() {
	status 0 bfsim bench --sizes 64,4k --depths 1,4 --threads 1,2 --count 50 --repeat 1
	same 9 "$(wc -l <out)"
	says '^host-to-dpu +functional +(procmem|cma|shm) +2 +4 +4096 +[0-9.]+ [kMG]?B/s +[0-9.]+' out
	same '' "$(grep best out)"
	absent "$TMPDIR"/*
}

test_each_data_path_is_measured() {
	status 0 bfsim bench --sizes 4k --depths 2 --paths in-place,mapped,procmem,cma,shm,tcp --count 20 --repeat 1 --csv
	same 'in-place mapped procmem cma shm tcp ' "$(tail -n +2 out | cut -d, -f3 | tr '\n' ' ')"
	same 'in-place mapped procmem cma shm tcp ' "$(tail -n +2 out | cut -d, -f4 | tr '\n' ' ')"
}

test_each_workload_is_measured() {
	status 0 bfsim bench --workloads host-to-dpu,dpu-to-host,comch,comch-fast --sizes 64,8k --depths 1,4 --threads 1,2 \
		--paths cma --count 40 --repeat 1 --csv
	says '^bfsim: 4 of 32 points are left out: comch has messages of up to 4080 bytes$' err
	says '^bfsim: 6 of 32 points are left out: comch and comch-fast have one thread and no path in-place$' err
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

# A card with all engines, on two functions: the profile does not give those for SHA and compression.
all_engines() {
	cat <<-'EOF2'
		cards:
		  - profile: bluefield-3
		    functions:
		      - {side: host, type: pf, pci: "b1:00.0"}
		      - {side: dpu, type: pf, pci: "03:00.0", caps: {
		         decompress-lz4-rate: 8 Gb/s, erasure-coding-rate: 8 Gb/s, aes-gcm-rate: 8 Gb/s}}
		      - {side: dpu, type: pf, pci: "03:00.1", caps: {
		         sha: true, sha-max-buf-bytes: 1 MiB, sha-max-list-len: 1, sha-max-tasks: 8, sha-rate: 8 Gb/s, sha-task-ns: 500,
		         compress-deflate: true, compress-deflate-max-buf-bytes: 1 MiB, compress-deflate-max-list-len: 1,
		         compress-deflate-max-tasks: 8, compress-deflate-rate: 8 Gb/s}}
	EOF2
}

test_each_engine_is_measured() {
	all_engines >card.yaml
	status 0 bfsim bench -t card.yaml --workloads engines,sha --sizes 128,4k --depths 4 --threads 2 --paths cma,tcp --count 20 --repeat 1 --csv
	same 'bfsim: 16 of 32 points are left out: comch, rdma-send and the engines have no data path, so they are measured once' \
		"$(grep '^bfsim:' err)"
	same '' "$(grep 'has no engine' err)"
	python3 - <<-'EOF2'
		import csv
		rows = list(csv.DictReader(open('out')))
		names = ['sha', 'deflate', 'inflate', 'lz4', 'ec-create', 'ec-recover', 'gcm-encrypt', 'gcm-decrypt']
		assert [(row['workload'], row['bytes']) for row in rows] == [(name, size) for name in names for size in ('128', '4096')], rows
		for row in rows:
		    assert int(row['tasks_per_s']) > 0 and int(row['p50_ns']) <= int(row['p99_ns']) <= int(row['max_ns']), row
		    assert row['path'] == '' and row['threads'] == '2' and row['clock'] == 'functional', row
	EOF2
	status 0 bfsim bench -t card.yaml --workloads sha,ec-create --sizes 64,2M --depths 1,16 --count 2 --repeat 1
	says '^bfsim: 2 of 8 points are left out: a task of sha has up to 1048576 bytes$' err
	says '^bfsim: 1 of 8 points are left out: a context of sha has up to 8 tasks$' err
	says '^bfsim: 2 of 8 points are left out: tasks of erasure coding have a multiple of 128 bytes$' err
	same 4 "$(wc -l <out)"
	absent "$TMPDIR"/*
}

# 65536 bytes at 8 Gb/s take 65.536 us, and a task of SHA 0.5 us more; with several under way the engine is always busy. What
# decompresses or decrypts is as fast as its larger side. The profile has a rate for inflate: 200 Gb/s, and 4.7 us for a task.
test_engines_take_the_models_time() {
	all_engines >card.yaml
	status 0 bfsim bench -t card.yaml --workloads engines --clock virtual --sizes 64k --depths 1,8 --count 64 --json
	same '' "$(grep '^bfsim:' err)"
	python3 - <<-'EOF2'
		import json
		points = {(p['workload'], p['depth']): p for p in json.load(open('out'))['points']}
		assert len(points) == 16, points
		for (name, depth), point in points.items():
		    least = {'sha': 66036, 'inflate': 7321}.get(name, 65536)
		    if depth == 1:
		        assert least <= point['p50-ns'] < least + 2000, point
		    else:
		        assert 0.97 < point['bytes-per-s'][0] / (65536e9 / least) < 1.001, point
	EOF2
	status 0 bfsim bench --workloads lz4 --clock timed --sizes 4k --depths 1 --count 2 --repeat 1
	says '^bfsim: warning: timed and virtual figures of lz4 are not a card.s: .*decompress-lz4-rate' err
}

# Each probe compares what has arrived with what was sent. A message of 5 bytes tells its number, and little else.
test_each_rdma_request_is_measured() {
	status 0 bfsim bench --workloads rdma --sizes 5,8k --depths 4 --threads 2 --paths cma,tcp --count 20 --repeat 1 --csv
	same 'bfsim: 6 of 36 points are left out: comch, rdma-send and the engines have no data path, so they are measured once' \
		"$(grep '^bfsim:' err)"
	python3 - <<-'EOF2'
		import csv
		rows = list(csv.DictReader(open('out')))
		names = [f'rdma-{op}{place}' for place in ('', '-dpu', '-port') for op in ('write', 'read', 'send')]
		assert [(row['workload'], row['path'], row['bytes']) for row in rows] == [
		    (name, path, size) for name in names for path in ([''] if 'send' in name else ['cma', 'tcp']) for size in ('5', '8192')], rows
		for row in rows:
		    assert int(row['tasks_per_s']) > 0 and int(row['p50_ns']) <= int(row['p99_ns']) <= int(row['max_ns']), row
	EOF2
	absent "$TMPDIR"/*
}

# Depth 1, between two ports and through one card, against the published rows of data that are fetched from memory. With requests
# under way a connection has the rate of the port.
test_rdma_takes_the_models_time() {
	status 0 bfsim bench --workloads rdma --clock virtual --sizes 1k,16k,32k,512k --depths 1,64 --count 128 --json
	same '' "$(grep '^bfsim:' err)"
	python3 - "$here/../../ci/calibration/rdma_measurements.csv" <<-'EOF2'
		import csv, json, sys
		points = {(p['workload'], p['bytes'], p['depth']): p for p in json.load(open('out'))['points']}
		assert len(points) == 9 * 4 * 2, points
		errors = []
		for row in csv.DictReader(open(sys.argv[1])):
		    two_ports = row['direction'] == 'host_to_remote_host'
		    name = row['operation'].replace('_', '-') + ('-port' if two_ports else '')
		    point = points.get((name, int(row['size_bytes']), 1))
		    if point and row['metric'] == ('throughput_GBps' if two_ports else 'rate_Mops'):
		        ours = point['bytes-per-s'][0] / 1e9 if two_ports else point['tasks-per-s'] / 1e6
		        errors.append(abs(ours / float(row['value']) - 1))
		        assert errors[-1] < 0.1, (row, point)
		assert len(errors) >= 12, errors
		for place in ('', '-dpu', '-port'):
		    one, many = (points[f'rdma-write{place}', 16384, depth]['bytes-per-s'][0] for depth in (1, 64))
		    assert many > 2 * one and many < 25.1e9, (one, many)
	EOF2
}

# The probe that bfsim bench runs, as $program.
find_probe() {
	program=$(cd "$(dirname "$bfsim_program")/../.." && pwd)/shim/bench/bfsim-bench-probe
	[ -x "$program" ] || program=$(dirname "$bfsim_program")/../libexec/bfsim/bfsim-bench-probe
}

# probe OP FAULT: the requester on the host with a fault, 20 requests of 64 bytes.
probe() {
	find_probe
	rm -f place
	status 1 bfsim run --timeout=60 --fault "$2" --host "exec $program request $1 place 64 4 1 20" --dpu "exec $program serve $1 place 64 4 1 20"
	cat out err >both
}

test_wrong_bytes_end_a_measurement() {
	probe write 'rdma.write nth=20 flip=1'
	says 'bfsim-bench-probe: rdma: the bytes that were written are wrong' both
	probe read 'rdma.read nth=19 flip=1'
	says 'bfsim-bench-probe: rdma: the bytes that were read are wrong' both
	probe send 'rdma.receive nth=18 flip=1'
	says 'bfsim-bench-probe: rdma: the bytes that were sent are wrong' both
}

# On a busy machine the engine's thread serves the responder, which learns of the messages and of the end of the connection at once.
test_messages_come_before_the_end_of_their_connection() {
	find_probe
	busy=
	trap 'kill $busy' EXIT
	for _ in 1 2; do
		sh -c 'while :; do :; done' &
		busy="$busy $!"
	done
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rm -f place
		status 0 bfsim run --timeout=60 --trace-level=off --host "exec $program request send place 5 4 2 20" \
			--dpu "exec $program serve send place 5 4 2 20"
	done
}

test_rdma_that_the_topology_does_not_allow_is_left_out_or_named() {
	status 0 bfsim bench --workloads rdma-write --sizes 64,2G --depths 1,64k --threads 1 --paths in-place,cma --count 4 --repeat 1
	says '^bfsim: 4 of 8 points are left out: rdma has no path in-place$' err
	says '^bfsim: 2 of 8 points are left out: an rdma request has up to 1073741824 bytes$' err
	says '^bfsim: 1 of 8 points are left out: an rdma connection has up to 32768 requests$' err
	same 2 "$(wc -l <out)"
	cat >card.yaml <<-'EOF2'
		cards:
		  - profile: bluefield-3
		    functions:
		      - {side: host, type: pf, pci: "b1:00.0"}
		      - {side: dpu, type: pf, pci: "03:00.0", caps: {rdma: false}}
	EOF2
	status 125 bfsim bench -t card.yaml --workloads rdma
	says '^bfsim: rdma-write is left out: a function has no RDMA \(profile bluefield-3\)$' err
	says '^bfsim: rdma-send-port is left out: the host has one function \(profile bluefield-3\)$' err
	says '^bfsim: there is nothing to measure' err
	status 125 bfsim bench -t card.yaml --workloads host-to-dpu,rdma-read-dpu
	says "^bfsim: rdma-read-dpu can't be measured: a function has no RDMA \(profile bluefield-3\); give another --topology" err
}

test_an_engine_that_is_not_there_is_left_out_or_named() {
	status 0 bfsim bench --workloads host-to-dpu,engines --sizes 128 --depths 1 --count 4 --repeat 1
	says '^bfsim: sha is left out: no function of the DPU has its engine \(profile bluefield-3\)$' err
	says '^bfsim: deflate is left out: no function' err
	same 'host-to-dpu inflate lz4 ec-create ec-recover gcm-encrypt gcm-decrypt ' "$(tail -n +2 out | cut -d ' ' -f 1 | tr '\n' ' ')"
	status 125 bfsim bench --workloads engines,sha --sizes 128
	says '^bfsim: no function of the DPU has the engine for sha \(profile bluefield-3\): give a --topology .* profile bluefield-2, or "sha: true"' err
	[ ! -s out ]
	printf 'cards:\n  - profile: connectx-7\n    functions:\n      - {side: host, type: pf, pci: "b1:00.0"}\n' >card.yaml
	status 125 bfsim bench -t card.yaml --workloads engines
	says '^bfsim: there is nothing to measure' err
}

# Libraries that can't be loaded: the program needs them for workloads of their engines alone.
test_a_library_that_is_not_there_is_named() {
	mkdir lacking
	: >lacking/libcrypto.so.3
	: >lacking/libisal.so.2
	status 0 env LD_LIBRARY_PATH="$PWD/lacking" "$bfsim_program" bench --workloads host-to-dpu,engines --sizes 128 --depths 1,2 \
		--count 4 --repeat 1 --csv -o result.json
	says 'libcrypto.so.3 can.t be loaded .*; install the package libssl3' err
	says '^bfsim: gcm-encrypt is left out: this machine lacks the library' err
	same 'host-to-dpu host-to-dpu inflate inflate lz4 lz4 ' "$(tail -n +2 out | cut -d , -f 1 | tr '\n' ' ')"
	same 6 "$(grep -c '"workload"' result.json)"
	status 125 env LD_LIBRARY_PATH="$PWD/lacking" "$bfsim_program" bench --workloads ec-create --sizes 128
	says 'install the package libisal2' err
	says '^bfsim: ec-create can.t be measured here: install the library' err
	absent "$TMPDIR"/*
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
	sed 's/"clock"/"workload":"sha","clock"/' before >now
	status 125 bfsim bench --compare before now
	status 0 bfsim bench --compare now now
	says '^sha ' out
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
	lacks machines err
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
	status 2 bfsim bench --workloads engine
	says 'there is no "engine"; did you mean engines' err
	status 2 bfsim bench --clock virtul
	says 'did you mean virtual' err
	status 2 bfsim bench --compare one
	says 'BEFORE.json NOW.json' err
}

run_tests "$0" "$work"
