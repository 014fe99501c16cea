#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim top: the view, and the state of the terminal afterwards.
#
#   test_top.sh BFSIM TRACE_PEER HELLO_HOST HELLO_DPU       (TAP)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

peer=$(realpath "$2")
hello_host=$(realpath "$3")
hello_dpu=$(realpath "$4")
watch=$(dirname "$(realpath "$0")")/watch_top.py
use_bfsim "$1"

# Kill the processes that a test has left running: the end of a session does not end its processes.
before_sessions_end() {
	[ ! -e "$1/pids" ] || xargs kill <"$1/pids" 2>/dev/null
	rm -f "$1/pids"
}

# leave SIDE ARGUMENT...: start a peer that runs until the end of the test. Its output is in $said.
leave() {
	side=$1
	shift
	start "$side" "$peer" "$@"
}

# start SIDE PROGRAM ARGUMENT...: likewise.
start() {
	side=$1
	shift
	said=said_$(date +%s%N)
	"$bfsim_program" exec --session s --on "$side" -- "$@" >"$said" 2>/dev/null &
	echo $! >>pids
}

# stay SIDE COUNT: start a peer that executes COUNT tasks and then idles.
stay() {
	leave "$@" stay
	becomes_true has_text "$said"
}

# all_ready COUNT: COUNT peers have printed their line.
all_ready() { [ "$(find . -name 'said_*' -size +0 | wc -l)" -eq "$1" ]; }

narrow() { ! grep -E '^.{81}' "$1"; }

# --- what it shows -------------------------------------------------------------

test_a_context_that_rests_has_its_counts_and_no_rates() {
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'dma.memcpy every=5 delay=1us' >/dev/null
	stay dpu 20
	status 0 bfsim top --once --interval 0.05 s
	says '^bfsim top: 1 process, 0 ended; clock functional, [0-9.]+ m?s; s$' out
	says '^faults: 1 rule, hit 4 times, 0/s now$' out
	lacks quits out
	says "^ *[0-9]+ dpu +trace_peer +dma #1 +0 +0 B/s +0 +0 +0 +4$" out
	narrow out
}

# A process is identified by PID, side and program; the rate of tasks and failures stay.
test_a_narrow_terminal_shows_what_says_most() {
	bfsim up --session s >/dev/null
	stay dpu 20
	status 0 env COLUMNS=40 "$python_program" -SE "$watch" q "$bfsim_program" top -i 0.05 s
	says '^ *PID +SIDE +PROGRAM +TASK/S +FAIL$' out
	says '^ *[0-9]+ dpu +trace_peer +0 +0$' out
	status 0 env COLUMNS=30 "$python_program" -SE "$watch" q "$bfsim_program" top -i 0.05 s
	says '^ *[0-9]+ dpu +trace_peer' out
	status 0 env COLUMNS=60 "$python_program" -SE "$watch" q "$bfsim_program" top -i 0.05 s
	says '^ *PID +SIDE +PROGRAM +CONTEXT +TASK/S +FAIL$' out
	says '^ *[0-9]+ dpu +trace_peer +dma #1 +0 +0$' out
	says '^q quits, h explains the columns$' out
}

# The page comes and goes with the key.
test_a_key_explains_the_columns() {
	bfsim up --session s >/dev/null
	stay dpu 20
	status 0 "$python_program" -SE "$watch" h,q "$bfsim_program" top -i 0.05 s
	says '^FLY +tasks in flight$' out
	lacks trace_peer out
	status 0 "$python_program" -SE "$watch" h,h,q "$bfsim_program" top -i 0.05 s
	says '^ *[0-9]+ dpu +trace_peer' out
	narrow out
}

test_a_wide_terminal_has_room_for_long_names() {
	bfsim up --session s >/dev/null
	ln -s "$peer" storage_target_of_dpu
	start dpu ./storage_target_of_dpu 20 stay
	becomes_true has_text "$said"
	status 0 env COLUMNS=120 "$python_program" -SE "$watch" q "$bfsim_program" top -i 0.05 s
	says '^ *[0-9]+ dpu +storage_target_of_dpu +dma #1 +0 +0 B/s' out
	status 0 env COLUMNS=80 "$python_program" -SE "$watch" q "$bfsim_program" top -i 0.05 s
	says '^ *[0-9]+ dpu +storage…_dpu +dma #1 +0 +0 B/s' out
	narrow out
	status 0 env COLUMNS=60 "$python_program" -SE "$watch" q "$bfsim_program" top -i 0.05 s
	says '^ *[0-9]+ dpu +storage_ta…f_dpu +dma #1 +0 +0$' out
	narrow out
}

test_a_context_that_works_has_rates_and_comes_first() {
	bfsim up --session s >/dev/null
	stay host 3
	leave dpu 1000000000
	becomes_true eval 'bfsim top --once -i 0.1 s | tee out | grep -E "dpu +trace_peer +dma #1 +[1-9]"'
	says '^ *[0-9]+ dpu +trace_peer +dma #1 +[1-9][0-9.]* ?[kM]? +[1-9][0-9.]* [kMG]?B/s +0 +[01] +0 +0$' out
	becomes_true eval 'COLUMNS=100 "$python_program" -SE "$watch" h,h,q "$bfsim_program" top -i 0.05 s | tee wide | grep -E "dma #1 +[1-9].*B/s +[1-9][0-9.]* (ns|µs|ms) "'
	says ' BYTES/S +LATENCY +MSG/S ' wide
	same "$(printf 'dpu\nhost')" "$(sed -n '5,$s/^ *[0-9]* \([a-z]*\) .*/\1/p' out)"
}

# One greeting, and an answer that hangs; the view was there before.
test_a_connection_has_a_line_at_each_end_and_its_messages() {
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'comch.send side=dpu hang' >/dev/null
	"$bfsim_program" top -i 0.05 s >looks &
	echo $! >>pids
	becomes_true grep '0 processes, 0 ended' looks
	start dpu "$hello_dpu"
	start host "$hello_host"
	# One message in more than a second, on a busy machine, is none per second; but ten bytes are some.
	becomes_true grep -E ' host +trace_h…host comch_h…o #2 +0 +[1-9][0-9.]* B/s +[0-9.]+ +0 +0 +0$' looks
	becomes_true grep -E ' dpu +trace_h…_dpu comch_h…o #2 +0 +[1-9][0-9.]* B/s +[0-9.]+ +0 +0 +0$' looks
	becomes_true eval 'bfsim top --once -i 0.05 s | tee out | grep -E " dpu +trace_h…_dpu comch_s…r #1 +0 +0 B/s +0 +1 +0 +1$"'
	same 2 "$(grep -c ' comch_h…o #2  *0  *0 B/s  *0 ' out)"
	narrow out
}

test_a_fault_and_the_task_that_it_failed_are_counted() {
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'dma.memcpy nth=4 fail=IO_FAILED' >/dev/null
	# The fourth fails, and its context is no longer there to take a fifth.
	stay dpu 4
	status 0 bfsim top --once -i 0.05 s
	says ' dpu +trace_peer +dma #1 +0 +0 B/s +0 +0 +1 +1$' out
}

test_processes_that_ended_are_counted_and_not_listed() {
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 5
	becomes_true eval 'bfsim top --once -i 0.05 s | grep "0 processes, 1 ended"'
	status 0 bfsim top --once -i 0.05 s
	same 3 "$(sed '/^$/d' out | wc -l)"
}

test_without_a_terminal_one_look_follows_the_other() {
	bfsim up --session s >/dev/null
	"$bfsim_program" top -i 0.05 s >looks &
	# shellcheck disable=SC2016
	becomes_true eval '[ "$(grep -c "^bfsim top" looks)" -ge 3 ]'
	kill $!
	lacks "$(printf '\033')" looks
}

# --- the terminal --------------------------------------------------------------

test_the_terminal_is_as_it_was_when_it_ends() {
	bfsim up --session s >/dev/null
	stay dpu 5
	for how in q ^C ^\\ SIGINT SIGTERM SIGHUP SIGQUIT; do
		status 0 python3 "$watch" $how "$bfsim_program" top -i 0.05 s
		says '^ *[0-9]+ dpu +trace_peer' out
		narrow out
		case $how in
		q) says '^status 0$' out ;;
		^C) says '^status SIGINT$' out ;;
		SIG*) says "^status $how$" out ;;
		*) says '^status SIGQUIT$' out ;;
		esac
	done
}

test_the_terminal_is_as_it_was_while_it_is_stopped() {
	bfsim up --session s >/dev/null
	stay dpu 5
	status 0 python3 "$watch" ^Z,^Z,q "$bfsim_program" top -i 0.05 s
	says '^ *[0-9]+ dpu +trace_peer' out
	says '^status 0$' out
	status 0 python3 "$watch" ^Z,^C "$bfsim_program" top -i 0.05 s
	says '^status SIGINT$' out
	status 0 python3 "$watch" ^Z,SIGTERM "$bfsim_program" top -i 0.05 s
	says '^status SIGTERM$' out
}

test_what_has_no_room_on_the_screen_is_counted() {
	bfsim up --session s >/dev/null
	for _ in $(seq 25); do
		leave dpu 1 stay
	done
	becomes_true all_ready 25
	status 0 python3 "$watch" q "$bfsim_program" top -i 0.05 s
	says '^and 7 more$' out
	same 23 "$(grep -vc ^status out)"
	narrow out
}

# --- errors -------------------------------------------------------------------

test_a_session_that_ends_ends_the_view() {
	bfsim up --session s >/dev/null
	"$bfsim_program" top -i 0.05 s >looks 2>err &
	becomes_true has_text looks
	bfsim down --session s
	got=0
	wait $! || got=$?
	same 1 $got
	one_line err
}

test_wrong_options_and_sessions_are_refused() {
	status 1 bfsim top --once nowhere
	says 'no session in nowhere' err
	for wrong in 0 -1 x 0.01 4000 nan ''; do
		status 2 bfsim top --once --interval "$wrong"
		says 'not a number of seconds from 0.05 to 3600' err
	done
}

run_tests "$0" "$work"
