#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Virtual time does not depend on the machine: programs of several processes give the same events at the same times, and the
# same trace, whichever thread is slow (BFSIM_TEST_PERTURB, sim/base/perturb.h).
#
#   test_perturbed.sh BFSIM REPEAT_PEER CLOCK_PAIR RDMA_PAIR HELLO_HOST HELLO_DPU TOPOLOGY EXACT_TEST...       (TAP)
#
# Each EXACT_TEST checks its times itself. The number of runs: perturbed.sh.
#
# shellcheck disable=SC2016

folder=$(realpath "$(dirname "$0")")
. "$folder/tap.sh"
. "$folder/sessions.sh"
. "$folder/perturbed.sh"

peer=$(realpath "$2")
pair=$(realpath "$3")
rdma_pair=$(realpath "$4")
hello_host=$(realpath "$5")
hello_dpu=$(realpath "$6")
topology=$(realpath "$7")
use_bfsim "$1"
start_load
shift 7
exact_tests=$(realpath "$@")

# peers KIND CLIENTS OPTION...: a server and its clients.
peers() {
	kind=$1 clients=$2
	shift 2
	set -- "$@" --dpu "exec '$peer' $kind server s $PWD/event.0 $clients"
	for number in $(seq "$clients"); do
		set -- "$@" --host "exec '$peer' $kind client s $PWD/event.$number"
	done
	always_the_same "$@"
}

test_burst_into_a_short_queue() {
	peers burst 1
	[ "$(grep -c received first)" -eq 24 ]
}

test_burst_with_faults() {
	peers burst 1 --seed 3 --fault 'comch.send p=20% delay=9us' --fault 'comch.send p=20% reorder=2' \
		--fault 'comch.recv p=10% delay=40us'
	[ "$(grep -c received first)" -eq 24 ]
}

test_last_message_that_a_fault_reorders() {
	peers burst 1 --fault 'comch.send nth=24 reorder=3'
	[ "$(grep -c received first)" -eq 24 ]
	peers channel 1 --fault 'comm_channel.send side=host nth=24 reorder=3'
	[ "$(grep -c 'server received' first)" -eq 24 ]
}

test_clients_of_one_server() {
	peers crowd 5
	[ "$(grep -c 'client received' first)" -eq 60 ]
}

test_channel_that_polls_for_room() {
	peers channel 1
	[ "$(grep -c 'server received' first)" -eq 24 ]
}

test_producer_without_receives() {
	peers fast 1
	[ "$(grep -c 'server received' first)" -eq 40 ]
}

test_producer_whose_messages_take_time() {
	peers fast 1 --topology "$topology"
	[ "$(grep -c 'server received' first)" -eq 40 ]
}

test_sync_event_in_turns() {
	peers sync 1 --topology "$topology"
	[ "$(grep -c 'client saw' first)" -eq 10 ]
}

test_messages_and_copies() {
	always_the_same \
		--dpu "exec '$pair' server a 20 1500 $PWD/event.0" --host "exec '$pair' client a 20 1500 $PWD/event.1" \
		--dpu "exec '$pair' server b 20 1500 $PWD/event.2" --host "exec '$pair' client b 20 1500 $PWD/event.3"
	[ "$(grep -c 'received' first)" -eq 80 ]
}

test_rdma_of_two_pairs() {
	always_the_same \
		--dpu "exec '$rdma_pair' server 1 10 $PWD/event.0" --host "exec '$rdma_pair' client 1 10 $PWD/event.1" \
		--dpu "exec '$rdma_pair' server 2 10 $PWD/event.2" --host "exec '$rdma_pair' client 2 10 $PWD/event.3"
	[ "$(grep -c 'disconnected' first)" -eq 4 ]
}

# The client fails when the server has stopped, not when the machine tells it so, nor at its deadline.
test_rdma_server_that_stops_with_a_request() {
	always_the_same --dpu "exec '$rdma_pair' server 1 0 $PWD/event.0" --host "exec '$rdma_pair' client 1 0 $PWD/event.1"
	[ "$(grep -c '^ *0 client failed' first)" -eq 1 ]
}

test_hello_of_the_samples() {
	always_the_same --dpu "exec '$hello_dpu'" --host "exec '$hello_host'"
}

test_programs_that_know_their_times() {
	for test in $exact_tests; do
		for run in $(seq "$seeds"); do
			BFSIM_TEST_PERTURB=$run "$test" >log 2>&1 || {
				echo "$test fails with seed $run"
				cat log
				return 1
			}
		done
	done
}

# A script with a test that does not end, beside a load of two: a signal ends all of its processes.
test_signal_ends_the_test_and_the_load() {
	cat >script <<-'END'
		. "$folder/tap.sh"
		. "$folder/sessions.sh"
		. "$folder/perturbed.sh"
		use_bfsim "$bfsim_program"
		start_load
		echo $load >load
		test_that_waits() {
			echo 1 >"$started"
			exec cat "$started.fifo"
		}
		run_tests "$0" "$work"
	END
	export folder bfsim_program started="$PWD/started"
	mkfifo started.fifo
	exec 9<>started.fifo
	for signal in TERM KILL; do
		rm -f started load
		PERTURB_LOAD=2 sh script >log 2>&1 9>&- &
		becomes_true has_text started
		same 2 "$(wc -w <load)"
		kill -s $signal $!
		for pid in $! $(cat load); do
			becomes_true gone "$pid"
		done
	done
	exec 9>&- # what is left of the last test ends
}

run_tests "$0" "$work"
