#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs and checks that start before the session does.
#
#   test_readiness.sh BFSIM BFSIMD SOURCES CLI_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
peer=$(realpath "$4")
use_bfsim "$1"

test_a_program_waits_for_its_session() {
	(bfsim exec --session s --wait --on dpu -- sh -c 'echo "$BFSIM_SIDE"' >answer 2>&1; echo $? >rc) &
	program=$!
	status 125 bfsim exec --session s --on dpu -- true # without the option
	bfsim up --session s >/dev/null
	wait $program
	same dpu "$(cat answer)"
	same 0 "$(cat rc)"
	status 0 bfsim exec --session s --wait=5 --on host -- true
	bfsim down --session s
}

test_a_wait_ends_with_a_sentence() {
	status 125 bfsim exec --session nowhere --wait=1 --on dpu -- true
	says 'no session in nowhere after 1 s: does bfsim up run' err
	one_line err
	status 2 bfsim exec --wait=soon --on dpu -- true
	says 'wait=soon: not a number of seconds' err
}

test_a_stale_session_is_not_ready() {
	bfsim up --session s >/dev/null
	status 0 bfsim ps --session s --ready
	same '' "$(cat out err)"
	daemon=$(bfsim ps --json --session s | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])')
	kill -KILL "$daemon"
	becomes_true gone "$daemon"
	status 1 bfsim ps --session s --ready
	status 125 bfsim exec --session s --wait=1 --on dpu -- true
	same '' "$(cat out)"
	status 1 bfsim ps --session nowhere --ready
	same '' "$(cat err)"
}

test_readiness_may_be_that_of_a_service() {
	bfsim up --session s >/dev/null
	status 1 bfsim ps --session s --ready=door
	mkfifo in out.fifo
	"$bfsim_program" exec --session s --on dpu -- "$peer" listen door <in >out.fifo &
	exec 8>in
	read -r answer <out.fifo
	same ready "$answer"
	status 0 bfsim ps --session s --ready=door
	status 1 bfsim ps --session s --ready=window
	exec 8>&-
	wait
	bfsim down --session s
}

run_tests "$0" "$work"
