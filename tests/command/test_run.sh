#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim run: what is seen of programs that hang, crash or wait; who starts when; seeds; faults on the console.
#
#   test_run.sh BFSIM QUIET TRACE_PEER HELLO_HOST HELLO_DPU       (TAP)
# shellcheck disable=SC2016

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
quiet=$(realpath "$2")
trace_peer=$(realpath "$3")
hello_host=$(realpath "$4")
hello_dpu=$(realpath "$5")
use_bfsim "$1"

# --- output, and what is said at the end ---

test_the_output_of_a_program_that_hangs_is_not_lost() {
	status 124 bfsim run --timeout 6 --dpu "$quiet hang"
	says '^dpu\| the first line$' out
	says '^dpu\| the second line: ' out
}

test_the_output_of_a_program_that_crashes_is_not_lost() {
	status 134 bfsim run --dpu "$quiet crash"
	says '^dpu\| the second line: ' out
	says 'the command on dpu ended with status 134 \(abort\)' err
}

test_a_timeout_says_who_lives_and_what_was_in_flight() {
	status 124 bfsim run --timeout 6 --fault 'dma.memcpy nth=2 hang' --dpu "$trace_peer 8" --host true
	says 'host has ended' err
	says 'dpu runs, as process [0-9]+' err
	says '  dpu: in flight: [0-9]+ of DMA memcpy, in dma #[0-9]+ on ' err
	says '  dpu: at [0-9.]+ s: ' err
}

test_a_timeout_names_a_program_that_did_not_attach() {
	status 124 bfsim run --timeout 1 --dpu 'exec sleep 1000'
	says '  dpu: has not attached to the session' err
}

test_a_crash_says_what_the_others_did() {
	status 139 bfsim run --host 'until [ -e armed ]; do sleep 0.05; done; kill -SEGV $$' --dpu '>armed; exec sleep 1000'
	says 'the command on host ended with status 139 \(segmentation fault\); ending the others' err
	says 'dpu runs, as process' err
}

# Signals of the program's own fault, and others, which no handler of bfsim sees; in each mode of the checker.
test_a_program_that_dies_says_what_was_in_flight() {
	# A build with the address sanitizer would turn the signals into a report and status 1.
	export ASAN_OPTIONS="${ASAN_OPTIONS:-}:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigtrap=0"
	for mode in off api races strict; do
		for signal in KILL:9 SEGV:11 ABRT:6 TRAP:5 SYS:31 XCPU:24 TERM:15; do
			number=${signal#*:}
			signal=${signal%:*}
			status $((128 + number)) bfsim run --check=$mode --clock virtual --dpu "$trace_peer 3 die $number"
			says "^bfsim: the command on dpu ended with status $((128 + number)) \\((SIG$signal|segmentation fault|abort)\\)" err
			says '^bfsim:   dpu: in flight: 1 of DMA memcpy, in dma #1 on mlx5_0 \(running since 0\.000000 s\); 3 have ended, the last at 0\.[0-9]* s$' err
			says '^bfsim:   dpu: at 0\.[0-9]* s: DMA memcpy of 64 bytes in dma #1: ok$' err
			[ $mode = off ] || says 'not checked to its end: trace_peer, process [0-9]+: it was killed' err
			lacks 'no rule was broken \(mode' err
		done
	done
	# Behind a shell that goes on; and by exit() in a callback.
	status 4 bfsim run --dpu "$trace_peer 3 die 9; exit 4"
	says '^bfsim:   dpu: in flight: 1 of DMA memcpy' err
	status 0 bfsim run --dpu "$trace_peer 3 die 9; true"
	says '^bfsim: dpu: trace_peer ended with 1 of DMA memcpy in flight, in dma #1$' err
	status 11 bfsim run --dpu "$trace_peer 3 quit"
	says '^bfsim:   dpu: .*dma #1 on mlx5_0 \(running since ' err
	says '^bfsim:   dpu: at [0-9.]* s: DMA memcpy of 64 bytes in dma #1: ok$' err
}

test_a_program_that_dies_without_the_card_is_not_blamed_on_it() {
	status 137 bfsim run --dpu 'kill -KILL $$'
	says '^bfsim:   dpu: had not attached to the session: the card did nothing for it$' err
	status 3 bfsim run --dpu "$trace_peer 3; exit 3"
	says '^bfsim: the command on dpu ended with status 3$' err
	one_line err
	status 137 env BFSIM_TRACE=off "$bfsim_program" run --dpu 'kill -KILL $$'
	one_line err
}

# What the other side waits for, and since when.
test_a_side_that_waits_is_said_to_wait_when_the_other_fails() {
	status 3 bfsim run --clock virtual --fault 'dma.memcpy nth=3 hang' --dpu "$trace_peer 8" \
		--host "until '$bfsim_program' fault list | grep -q ' 1  *dma'; do sleep 0.05; done; exit 3"
	says '^bfsim: the command on host ended with status 3; ending the others$' err
	says '^bfsim: dpu runs, as process [0-9]+$' err
	says '^bfsim:   dpu: in flight: 1 of DMA memcpy, in dma #1 on mlx5_0 \(running since 0\.000000 s\); 2 have ended, the last at 0\.[0-9]* s$' err
	says '^bfsim:   dpu: trace_peer (sleeps|computes).*; nothing recorded since 0\.[0-9]* s, and it is 0\.[0-9]* s now$' err
	status 3 bfsim run --host "$hello_host" --dpu "
		until '$bfsim_program' stats --json | grep -q 'state.*starting'; do sleep 0.05; done; exit 3"
	says '^bfsim:   host: without tasks in flight: comch_client #1 on mlx5_0 \(starting since [0-9.]* s\)$' err
	says '^bfsim:   host: trace_hello_host (sleeps|computes or polls).*; nothing recorded since ' err
	status 3 bfsim run --fault 'comch.send side=dpu hang' --host "$hello_host" --dpu "$hello_dpu" --host "
		until '$bfsim_program' fault list | grep -q ' 1  *comch'; do sleep 0.05; done; exit 3"
	says '^bfsim:   dpu: in flight: 1 of Comch send, in comch_server #1 on mlx5_0 ' err
	says '^bfsim:   dpu: connection comch_hello #2 is open since [0-9.]* s: 0 sent, 1 received$' err
	says '^bfsim:   host#1: connection comch_hello #2 is open since [0-9.]* s: 1 sent, 0 received$' err
}

# A program that its shell leaves behind gets the signal of its group, and no second one.
test_a_program_gets_one_signal() {
	cat >trapper <<-'EOF2'
		trap 'echo signal >>signals' TERM
		: >armed
		i=0
		while [ $i -lt 8 ]; do sleep 0.1; i=$((i + 1)); done
		: >ended
	EOF2
	status 3 bfsim run --host 'sh ./trapper; true' --dpu 'until [ -e armed ]; do sleep 0.05; done; exit 3'
	[ -e ended ]
	same 1 "$(wc -l <signals)"
}

test_two_programs_of_a_side_are_told_apart() {
	status 0 bfsim run --host 'echo a' --host 'echo b' --dpu 'echo c'
	says '^host#1\| a$' out
	says '^host#2\| b$' out
	says '^dpu   \| c$' out
	status 4 bfsim run --host true --host 'exit 4'
	says 'the command on host#2 ended with status 4' err
}

test_a_program_of_a_run_without_its_daemon_is_told_what_helps() {
	status 1 bfsim run --timeout 60 --fault 'daemon from=1ms kill' \
		--dpu "until '$bfsim_program' ps 2>&1 | grep 'is stale'; do sleep 0.05; done; exec $trace_peer 4"
	says 'is stale, its daemon died: start bfsim run again$' err
	lacks 'bfsim up --session' err
}

test_a_context_that_was_left_open_is_named() {
	status 0 bfsim run --dpu "$trace_peer 4 leave" --host true
	says '^bfsim: dpu: trace_peer ended with dma #1 on mlx5_0 that it had neither stopped nor destroyed$' err
	says '^bfsim: dpu: trace_peer ended and left open: 1 memory map, 1 buffer inventory, 1 progress engine, 1 device$' err
	status 0 bfsim run --quiet --dpu "$trace_peer 4 leave"
	same '' "$(cat err)"
	status 0 bfsim run --dpu "$trace_peer 4"
	same '' "$(cat err)"
	status 3 bfsim run --dpu "$trace_peer 4 leave; exit 3"
	lacks 'neither stopped' err
}

# --- order ---

test_a_command_starts_after_a_service() {
	status 0 bfsim run --timeout 60 --start 'host after comch_hello' \
		--host ": >host_started; exec $hello_host" --dpu "[ ! -e host_started ] && exec $hello_dpu"
	says 'the DPU answers: hello, host' out
	[ -e host_started ]
	status 0 bfsim run --timeout 60 --clock virtual --start 'host after comch_hello' --host "$hello_host" --dpu "$hello_dpu"
	says 'the DPU answers: hello, host' out
}

test_a_service_that_never_comes_is_named() {
	status 125 bfsim run --timeout 60 --start 'host after door' --host 'echo never' --dpu true
	says 'host was not started: no program has offered the service "door", and all others have ended' err
	same '' "$(cat out)"
}

# The time before the run: how late the DPU's command starts is not what is asked.
test_a_command_starts_after_a_delay() {
	date +%s%N >before
	status 0 bfsim run --delay host=2s --host 'date +%s%N >host' --dpu true
	[ $(($(cat host) - $(cat before))) -ge 2000000000 ]
}

test_a_run_ends_with_the_side_that_is_named() {
	status 0 bfsim run --timeout 60 --until dpu --host 'trap "exit 9" TERM; : >armed; while :; do sleep 0.05; done' \
		--dpu 'until [ -e armed ]; do sleep 0.05; done'
	status 5 bfsim run --timeout 60 --until dpu --host 'exec sleep 1000' --dpu 'exit 5'
	absent "$TMPDIR"/*
}

test_what_is_mistyped_is_named() {
	status 2 bfsim run --start 'hots after door' --host true --dpu true
	says '\-\-start hots: no command of this run is called that; did you mean host' err
	status 2 bfsim run --start 'host before door' --host true
	says "write 'SIDE after SERVICE'" err
	status 2 bfsim run --delay host=soon --host true
	says 'write SIDE=TIME, such as host=500ms' err
	status 2 bfsim run --until dpu --host true
	says '\-\-until dpu: no command of this run' err
	status 2 bfsim run --seeds 5..1 --host true
	says 'a range such as 1..50' err
	status 2 bfsim run --seeds 1..2 --seed 4 --host true
	says 'give one of the two' err
}

# --- seeds and faults ---

test_seeds_are_runs_with_a_summary() {
	status 1 bfsim run --seeds 7..9 --trace t.json --host 'echo x >>n; [ "$(wc -l <n)" -ne 2 ]'
	says '^bfsim run: seed 7: ok$' err
	says '^bfsim run: seed 8: status 1$' err
	says '^bfsim run: 3 seeds: 2 ok, 1 failed; the first again: --seed 8$' err
	same 't-7.json t-8.json t-9.json' "$(echo t*.json)"
	status 0 bfsim run --seeds 1..2 --host true
	says '^bfsim run: 2 seeds: 2 ok, 0 failed$' err
}

test_a_fault_that_strikes_is_on_the_console() {
	status 0 bfsim run --timeout 60 --allow-unused-faults --fault 'comch.send delay=1us' --fault 'dma.memcpy hang' \
		--host "$hello_host" --dpu "$hello_dpu"
	says 'bfsim: fault 1 strikes \(hit [0-9]+\): comch.send delay=1us' err
	says 'bfsim: fault 2 never hit' err
	status 0 bfsim run --timeout 60 --quiet --allow-unused-faults --fault 'comch.send delay=1us' --fault 'dma.memcpy hang' \
		--host "$hello_host" --dpu "$hello_dpu"
	same '' "$(grep fault err)"
	status 125 bfsim run --timeout 60 --quiet --fault 'dma.memcpy hang' --host true
}

run_tests "$0" "$work"
