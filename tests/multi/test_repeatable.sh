#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Virtual time: the same programs, topology and seed give the same events at the same times, and the same trace, whatever the
# machine does.
#
#   test_repeatable.sh BFSIM CLOCK_PAIR RDMA_PAIR       (TAP)
#
# REPEAT_RUNS is the number of runs of each test (2; a long test takes 100), REPEAT_PAIRS that of the pairs of the last (16).
#
# shellcheck disable=SC2016

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

pair=$(realpath "$2")
rdma_pair=$(realpath "$3")
runs=${REPEAT_RUNS:-2}
many=${REPEAT_PAIRS:-16}
program=comch
use_bfsim "$1"
export BFSIM_COMCH_WAIT=30000

# pair_command server|client NUMBER MESSAGES FILE: of the programs that $program names.
pair_command() {
	if [ "$program" = rdma ]; then
		echo "exec '$rdma_pair' $1 $((1000 + $2)) $3 $4"
	else
		echo "exec '$pair' $1 pair-$2 $3 4000 $4"
	fi
}

# run_pairs PAIRS MESSAGES OPTION...: the events of each process, in one text.
run_pairs() {
	pairs=$1 messages=$2 i=0
	shift 2
	rm -f events.* trace.json
	while [ "$i" -lt "$pairs" ]; do
		set -- "$@" --dpu "$(pair_command server "$i" "$messages" "$PWD/events.$i.dpu")" \
			--host "$(pair_command client "$i" "$messages" "$PWD/events.$i.host")"
		i=$((i + 1))
	done
	run_virtual 200 "$@"
	for i in $(seq 0 $((pairs - 1))); do
		cat "events.$i.dpu" "events.$i.host"
	done >events
}

# always_the_same PAIRS MESSAGES OPTION...
always_the_same() {
	run_pairs "$@"
	keep_first
	for run in $(seq 2 "$runs"); do
		run_pairs "$@"
		same_as_first "run $run"
	done
}

# under_load N COMMAND...: beside N programs that use the CPU.
under_load() {
	loads=
	for _ in $(seq "$1"); do
		(while :; do :; done) &
		loads="$loads $!"
	done
	shift
	got=0
	"$@" || got=1
	# shellcheck disable=SC2086
	kill $loads
	return $got
}

test_two_processes_repeat_their_times() {
	always_the_same 1 50
	[ "$(grep -c received events)" -eq 100 ]
}

test_two_processes_repeat_their_times_beside_other_programs() {
	always_the_same 1 50
	mv first quiet
	under_load 6 always_the_same 1 50
	cmp quiet first
}

test_two_processes_repeat_their_times_on_one_cpu() {
	always_the_same 1 50
	mv first several
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	taskset -cp "$cpu" $$ >/dev/null
	always_the_same 1 50
	cmp several first
}

test_two_processes_repeat_faults_of_chance() {
	always_the_same 1 50 --fault 'dma.memcpy p=20% delay=3us' --fault 'comch.send p=10% delay=7us' --seed 5
	mv first seed5
	grep -q received seed5
	always_the_same 1 50
	if cmp -s seed5 first; then return 1; fi
}

test_eight_processes_repeat_their_times() {
	always_the_same 4 20
}

test_thirty_two_processes_repeat_their_times() {
	always_the_same "$many" 5
}

# --- RDMA ---

test_rdma_repeats_its_times() {
	program=rdma
	always_the_same 1 50
	[ "$(grep -c 'receive .* done' first)" -eq 101 ]
}

test_rdma_repeats_its_times_beside_other_programs() {
	program=rdma
	always_the_same 1 50
	mv first quiet
	under_load 6 always_the_same 1 50
	cmp quiet first
}

test_rdma_repeats_its_times_on_one_cpu() {
	program=rdma
	always_the_same 1 20
	mv first several
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	taskset -cp "$cpu" $$ >/dev/null
	always_the_same 1 20
	cmp several first
}

# Both processes post receives before time has begun, in any order, so the last rule is for those of one.
test_rdma_repeats_faults_of_chance() {
	program=rdma
	always_the_same 1 20 --fault 'rdma.write p=20% delay=3us' --fault 'rdma.send p=10% delay=5us' \
		--fault 'rdma.receive side=host p=10% delay=7us' --seed 5
	mv first seed5
	always_the_same 1 20
	if cmp -s seed5 first; then return 1; fi
}

# Time goes on while the server's program has the request, and stays while its answer is on its way: the client knows of it a round
# trip after the 700 us.
test_rdma_repeats_an_answer_that_the_server_delays() {
	program=rdma
	always_the_same 1 5 --fault 'rdma.accept stall=700us'
	[ "$(grep -c '^ *704581 .* established' first)" -eq 2 ]
}

# All pairs share the links of two ports.
# The links of both ports, at times at which messages and answers are under way; a lost one is repeated after 67 ms.
test_rdma_repeats_outages_of_network_links() {
	program=rdma
	always_the_same 1 20 --fault 'net.link device=03:00.0 side=dpu from=100us down=50us' \
		--fault 'net.link device=b1:00.1 side=host from=67250us down=200ms' \
		--fault "net.link device=03:00.1 side=dpu after='rdma.write nth=15' down=3us"
	end=$(sed -n 's/^ *\([0-9]*\) client ends$/\1/p' first)
	[ "$end" -gt 267250000 ]
	[ "$(grep -c 'receive .* done' first)" -eq 41 ]
}

test_rdma_of_eight_processes_repeats_its_times() {
	program=rdma
	always_the_same 4 20
}

test_rdma_of_thirty_two_processes_repeats_its_times() {
	program=rdma
	always_the_same "$many" 5
}

run_tests "$0" "$work"
