#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What becomes of commands whose terminal, reader or parent is gone: each ends, with what it has started.
#
#   test_gone.sh BFSIM BFSIMD       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
bfsimd_program=$(realpath "$2")
use_bfsim "$1"

# hang_up HOW PATTERN COMMAND...: hang_up.py says what HOW is.
hang_up() { "$python_program" -SE "$here/hang_up.py" "$@"; }

test_top_ends() {
	bfsim up --session s >/dev/null
	for how in terminal pipe; do
		status 0 hang_up $how 'clock functional' "$bfsim_program" top -i 0.05 s
		says '^status (1|SIGPIPE)$' out
	done
	# A view that stays for an hour.
	for how in terminal pipe; do
		status 0 hang_up $how "$([ $how = pipe ] || echo 'clock functional')" "$bfsim_program" top -i 3600 s
		says '^status 1$' out
	done
	# A terminal's other end is gone a moment before SIGHUP comes: what is seen first ends the command.
	status 0 hang_up session 'clock functional' "$bfsim_program" top -i 3600 s
	says '^status (SIGHUP|1)$' out
}

# Programs that print nothing more.
test_run_ends_with_its_programs() {
	for how in terminal pipe session; do
		status 0 hang_up $how 'armed' "$bfsim_program" run --dpu 'echo $$ >pid; echo armed; exec sleep 1000'
		case $how in
		session) says '^status (129|141)$' out ;;
		*) says '^status 141$' out ;;
		esac
		becomes_true gone "$(cat pid)"
		absent "$TMPDIR"/*
	done
}

# The first directory is the session's.
test_a_run_that_begins_leaves_no_directory() {
	for number in 1 2 3 15; do # HUP, INT, QUIT, TERM
		status 0 "$python_program" -SE "$here/signal_at_mkdir.py" $number "$bfsim_program" run --dpu true
		says "^status $((128 + number))\$" out
		absent "$TMPDIR"/*
	done
}

test_exec_no_longer_waits_for_a_session() {
	for how in terminal pipe; do
		status 0 hang_up $how '' "$bfsim_program" exec --wait --session nowhere --on host -- true
		says '^status 125$' out
		says 'no session in nowhere yet, and nobody reads the output any more' err
	done
	status 0 hang_up session '' "$bfsim_program" exec --wait --session nowhere --on host -- true
	says '^status SIGHUP$' out
}

test_scenarios_end_with_their_programs_and_directories() {
	cat >short.yaml <<-'EOF2'
		sides: {dpu: true}
	EOF2
	cat >long.yaml <<-'EOF2'
		sides: {dpu: 'echo $$ >"$BFSIM_TEST_FOLDER/pid"; exec sleep 1000'}
	EOF2
	for how in terminal pipe session; do
		status 0 hang_up $how 'ok  .*short' "$bfsim_program" test -j 1 short.yaml long.yaml
		says '^status (141|129)$' out
		[ ! -s pid ] || becomes_true gone "$(cat pid)"
		absent "$TMPDIR"/*
	done
}

test_a_replay_ends() {
	cat >fails.yaml <<-'EOF2'
		sides: {dpu: '[ -e "$BFSIM_TEST_FOLDER/waits" ] || exit 1; echo $$ >"$BFSIM_TEST_FOLDER/pid"; exec sleep 1000'}
	EOF2
	status 1 bfsim test fails.yaml
	touch waits
	status 0 hang_up pipe '' "$bfsim_program" replay bfsim-failures/fails
	says '^status 141$' out
	[ ! -s pid ] || becomes_true gone "$(cat pid)"
	absent "$TMPDIR"/*
}

# What prepares a scenario's directory has no bfsim run around it.
test_a_preparation_ends_with_the_suite() {
	cat >prepared.yaml <<-'EOF2'
		before: 'echo $$ >"$BFSIM_TEST_FOLDER/shell"; sleep 1000 & echo $! >"$BFSIM_TEST_FOLDER/pid"; wait'
		sides: {dpu: true}
	EOF2
	for signal in TERM KILL; do
		rm -f pid shell
		"$bfsim_program" test prepared.yaml >suite.out 2>&1 &
		suite=$!
		becomes_true has_text pid
		kill -$signal $suite
		wait $suite || true
		becomes_true gone "$(cat shell)"
		becomes_true gone "$(cat pid)"
		rm -rf "$TMPDIR"/bfsim-test-* # a suite that was killed can't
	done
}

test_a_bench_ends_and_leaves_nothing() {
	bench="$bfsim_program bench --sizes 64 --depths 1"
	for how in pipe session; do
		status 0 hang_up $how '' sh -c "exec $bench --count 1000 --repeat 16"
		says '^status (1|SIGHUP|SIGPIPE)$' out
		absent "$TMPDIR"/*
	done
	$bench --count 100000000 --repeat 1 >bench.out 2>&1 &
	pid=$!
	becomes_true eval 'ls -d "$TMPDIR"/bfsim-bench-*/descriptor'
	touch "$(echo "$TMPDIR"/bfsim-bench-*)/descriptor.new" # as by a probe that ended in the midst of it
	kill -TERM $pid
	got=0
	wait $pid || got=$?
	same 143 $got
	absent "$TMPDIR"/*
}

test_a_daemon_in_the_foreground_cleans_up() {
	status 0 hang_up session 'ready' sh -c "'$bfsim_program' exec --wait --session s --on host -- echo ready & '$bfsimd_program' --foreground --session s & wait"
	# The shell has gone; the daemon, of its terminal's session, follows.
	becomes_true absent s/lock
}

test_a_run_ends_with_its_parent() {
	"$bfsim_program" run --dpu 'echo $$ >pid; exec sleep 1000' >run.out 2>&1 &
	run=$!
	becomes_true has_text pid
	kill -KILL $run
	wait $run || true
	becomes_true gone "$(cat pid)"
	becomes_true absent "$TMPDIR"/*
}

run_tests "$0" "$work"
