#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Faults that can't pass unnoticed: what can't happen is refused, and what struck nothing is no test.
#
#   test_fault_effects.sh BFSIM TRACE_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
trace_peer=$(realpath "$2")
use_bfsim "$1"

test_an_event_before_the_first_program_is_no_test() {
	for rule in 'function device=03:00.0 reset' 'link device=03:00.0 from=0s down=1us'; do
		status 1 bfsim run --require-faults --fault "$rule" --dpu "sleep 0.2; exec $trace_peer 4"
		says "fault 1 struck nothing: .* \(no program was attached at that time; from=TIME or after='OPERATION' lets it happen later\)" err
		status 0 bfsim run --fault "$rule" --dpu "$trace_peer 4"
	done
	status 1 bfsim run --require-faults --fault 'function device=03:00.0 reset' --dpu true
}

test_an_event_while_a_program_runs_is_one() {
	status 0 bfsim run --until host --require-faults --fault 'link device=03:00.0 from=1ms down=10s' \
		--dpu "$trace_peer 4 stay" --host 'sleep 1'
	! grep -q 'struck nothing' err || return 1
	status 0 bfsim run --require-faults --fault 'function device=03:00.1 remove' --dpu "$trace_peer 4"
	! grep -q 'struck nothing' err || return 1
}

# The context is reset while the fifth copy is submitted: four have ended, and the program gets no further.
test_an_event_begins_at_an_operation() {
	for clock in functional timed virtual; do
		status 1 bfsim run --clock $clock --require-faults --trace t.json --dpu "$trace_peer 40" \
			--fault "function device=03:00.0 after='dma.memcpy nth=5' reset"
		says 'not running|context' err
		same 4 "$(python3 -c 'import json; print(sum(o["completed"] for o in json.load(open("t.json"))["otherData"]["operations"]))')"
		status 137 bfsim run --clock $clock --require-faults --fault "peer side=dpu after='dma.memcpy nth=5' kill" --dpu "exec $trace_peer 40"
		status 0 bfsim run --clock $clock --require-faults --fault "link after='dma.memcpy nth=5' down=10us" --dpu "$trace_peer 40"
		status 1 bfsim run --clock $clock --require-faults --fault "link after='dma.memcpy nth=41' down=10us" --dpu "$trace_peer 40"
		says "fault 1 never hit: link after='dma.memcpy nth=41' down=10us" err
	done
	printf 'faults:\n  - op: link\n    after: dma.memcpy nth=5\n    down: 1ms\n' >plan.yaml
	status 0 bfsim run --require-faults --fault-plan plan.yaml --dpu "$trace_peer 40"
	says "strikes .*: link after='dma.memcpy nth=5' down=1ms" err
}

test_a_slower_link_is_refused_where_the_clock_cannot_show_it() {
	for action in degrade=gen2x4 errors=1%; do
		status 1 bfsim run --fault "link device=03:00.0 $action" --dpu 'touch ran'
		says "fault 'link .*': the session's clock is functional, which shows no slower link: --clock timed or virtual" err
		status 0 bfsim run --clock timed --fault "link device=03:00.0 $action" --dpu true
	done
	absent ran
	bfsim up --session s >/dev/null
	status 1 bfsim link degrade 03:00.0 --to gen2x4 --session s
	says "the session's clock is functional" err
	status 1 bfsim fault add 'link device=03:00.0 errors=1%' --session s
	says "the session's clock is functional" err
	bfsim down --session s
}

test_conditions_are_those_of_the_card() {
	status 1 bfsim run --fault 'dma.memcpy side=dpuu hang' --dpu true
	says "the card has no side dpuu; did you mean dpu; its sides are: dpu, host" err
	status 1 bfsim run --fault 'dma.memcpy device=09:00.0 hang' --dpu true
	says 'the card has no device (0000:)?09:00.0; bfsim devs lists them' err
	status 2 bfsim run --fault 'dma.memcpy nth=10 times=3 hang' --dpu true
	says 'times: cannot be combined with nth, which hits once' err
	bfsim up --session s >/dev/null
	status 1 bfsim fault add 'dma.memcpy side=hots hang' --session s
	says 'did you mean host' err
	status 0 bfsim fault add 'dma.memcpy side=* device=mlx5_? hang' --session s
	bfsim down --session s
}

run_tests "$0" "$work"
