#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Kernels in virtual and model time: the same program sees the same order and the same times in each run, and gives the same trace.
#
#   test_dpa_time.sh BFSIM DPA_WORKER DPA_RDMA_WORKER DPA_MSGQ_WORKER       (TAP)
#
# The long form of MsgQs: PERTURB_SEEDS=100 PERTURB_LOAD=8 (perturbed.sh).

. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/../sessions.sh"
. "$(dirname "$0")/../perturbed.sh"

worker=$(realpath "$2")
rdma_worker=$(realpath "$3")
msgq_worker=$(realpath "$4")
use_bfsim "$1"
start_load

# Beside a load each hand-over from thread to thread waits for a CPU, and a thread may get none for a second.
limit_s=60
if [ -n "$PERTURB_LOAD" ]; then
	limit_s=900
	export BFSIM_CLOCK_PATIENCE=30s
fi

# run_worker ARGUMENTS OPTION...: in virtual time; what it printed is in ./events.
run_worker() {
	arguments=$1
	shift
	run_virtual "$limit_s" "$@" --host "$worker $arguments" || return 1
	grep '^host| [^[]' out >events
}

always_the_same() {
	run_worker "$@" || return 1
	keep_first
	run_worker "$@" || return 1
	same_as_first "the second run"
}

test_kernels_threads_and_events_repeat() {
	always_the_same "all 12"
	[ "$(grep -c 'rank .* of 8' first)" -eq 96 ]
	[ "$(grep -c 'thread .*, run' first)" -eq 12 ]
	grep -q '384 numbers' first
	grep -q '12 answers' first
}

test_rdma_and_asynchronous_operations_repeat() {
	worker=$rdma_worker
	always_the_same 8
	[ "$(grep -c 'a: type 0' first)" -eq 24 ]
	[ "$(grep -c 'b: type 2' first)" -eq 8 ]
	[ "$(grep -c 'wait: type 0' first)" -eq 8 ]
}

test_msgqs_repeat_in_perturbed_schedules() {
	worker=$msgq_worker
	run_worker "all 6" || return 1
	keep_first
	for seed in $(seq "$seeds"); do
		export BFSIM_TEST_PERTURB="$seed"
		run_worker "all 6" || return 1
		same_as_first "the run with seed $seed" || return 1
	done
	[ "$(grep -c 'dialogue .*: received' first)" -eq 6 ]
	[ "$(grep -c 'polled .*: received' first)" -eq 6 ]
	[ "$(grep -c 'waits .*: received' first)" -eq 24 ]
	[ "$(grep -c 'second .*: received' first)" -eq 7 ]
	grep -q 'stop .*: flushed' first
}

# Late messages, completions and receives of both directions come by threads that are participants, too.
test_faults_of_msgqs_repeat_in_perturbed_schedules() {
	worker=$msgq_worker
	set -- "all 6" --fault 'comch.producer.send p=30% delay=3us' --fault 'comch.consumer.recv p=20% delay=5us' \
		--fault 'comch.producer.send p=20% flip=1' --seed 5
	run_worker "$@" || return 1
	keep_first
	for seed in $(seq "$seeds"); do
		export BFSIM_TEST_PERTURB="$seed"
		run_worker "$@" || return 1
		same_as_first "the run with seed $seed" || return 1
	done
	unset BFSIM_TEST_PERTURB
	run_worker "all 6" || return 1
	if cmp -s first events; then return 1; fi
}

# Each waits for a message, which is sent when the one before it has come: 1.80 us and the kernel's own time.
test_dma_copies_take_what_was_published() {
	worker=$msgq_worker
	run_worker "copy 2" || return 1
	ns=$(sed -n 's/^host| copy \([0-9]*\): received .*/\1/p' events | tr '\n' ' ')
	set -- $ns
	[ $(($2 - $1)) -ge 1800 ] && [ $(($2 - $1)) -le 1900 ]
}

test_kernels_repeat_beside_other_programs() {
	run_worker "all 12"
	keep_first
	(while :; do :; done) &
	first_load=$!
	(while :; do :; done) &
	second_load=$!
	got=0
	run_worker "all 12" && same_as_first "the run under load" || got=1
	kill $first_load $second_load
	return $got
}

test_ranks_take_turns_by_their_own_time() {
	run_worker "order 1"
	# 32 numbers: all ranks take one, then those that compute for the shortest time. Rank 5 has computed longest.
	grep -qx 'host| 0 1 2 3 4 5 6 7 .*' events
	grep -q '32 numbers' events
	first=$(sed -n 's/^host| rank \([0-9]\) .*/\1/p' events | head -n 3 | sort | tr -d '\n')
	[ "$first" = 036 ]
}

test_a_fatal_kernel_ends_the_others_at_its_time() {
	always_the_same "fatal 1"
	grep -q 'load: DOCA_ERROR_DRIVER' first
	rm -f /tmp/doca_dpa_fatal.*.crash
}

test_a_walk_costs_what_was_published() {
	run_worker "walk 1000"
	ns=$(sed -n 's/^host| \([0-9]*\) ns a record$/\1/p' events)
	[ "$ns" -ge 50 ] && [ "$ns" -le 62 ]
}

test_times_of_the_topology_are_added() {
	cat >late.yaml <<-END
		cards:
		  - profile: bluefield-3
		    timing: {dpa-launch: 200us, dpa-rpc: 30us, dpa-activation: 5us}
		    functions:
		      - {side: host, type: pf, pci: "0000:3b:00.0"}
	END
	run_worker "ring 3" --topology late.yaml
	# 30 us for the RPC that kicks the first, 5 us for each activation.
	grep -q 'kicked at 3[0-9] us' events
	at=$(sed -n 's/.*thread 2, run 1 at \([0-9]*\) us/\1/p' events)
	[ "$at" -ge 45 ] && [ "$at" -le 60 ]
}

test_timed_mode_is_no_faster_than_the_model() {
	bfsim run --timeout 60 --clock timed --host "$worker timed" >out
	grep -q 'more than 200 us' out
}

test_each_kernel_is_a_slice_on_its_unit() {
	run_worker "all 3"
	python3 - <<-'END'
		import json
		events = json.load(open('trace.json'))['traceEvents']
		tracks = {(e['pid'], e['tid']): e['args']['name'] for e in events if e.get('name') == 'thread_name'}
		slices = [(tracks[e['pid'], e['tid']], e['name']) for e in events if e['ph'] == 'X' and e.get('cat') == 'job']
		units = {track for track, name in slices if track.startswith('EU ')}
		names = {name for track, name in slices if track.startswith('EU ')}
		assert len(units) >= 8, units
		assert {f'take_numbers rank {i}' for i in range(8)} <= names, names
		assert {'pass_on', 'answer', 'kick', 'compute'} <= names, names
		calls = {name for track, name in slices if track.startswith('DPA #')}
		assert {'DPA RPC', 'DPA launch', 'DPA activation'} <= calls, calls
	END
}

run_tests "$0" "$work"
