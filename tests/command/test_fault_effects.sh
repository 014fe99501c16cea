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
		status 125 bfsim run --fault "$rule" --dpu "sleep 0.2; exec $trace_peer 4"
		says "fault 1 struck nothing: .* \(no program was attached at that time; from=TIME or after='OPERATION' lets it happen later\)" err
		status 0 bfsim run --allow-unused-faults --fault "$rule" --dpu "$trace_peer 4"
	done
	status 125 bfsim run --fault 'function device=03:00.0 reset' --dpu true
}

test_an_event_while_a_program_runs_is_one() {
	status 0 bfsim run --until host --require-faults --fault 'link device=03:00.0 from=1ms down=10s' \
		--dpu "$trace_peer 4 stay >ready" --host 'until [ -s ready ]; do sleep 0.05; done'
	lacks 'struck nothing' err
	status 0 bfsim run --require-faults --fault 'function device=03:00.1 remove' --dpu "$trace_peer 4"
	lacks 'struck nothing' err
}

# Virtual time is no real time: the program is there from the begin on, though the machine takes longer to start it.
test_an_event_of_virtual_time_is_one() {
	for rule in 'link device=03:00.0 from=1us down=10us' 'net.link device=03:00.0 down=1us'; do
		status 0 bfsim run --clock virtual --require-faults --fault "$rule" --dpu "$trace_peer 40"
		lacks 'struck nothing' err
	done
}

# The context is reset while the fifth copy is submitted: four have ended, and the program gets no further.
test_an_event_begins_at_an_operation() {
	for clock in functional timed virtual; do
		status 1 bfsim run --clock $clock --require-faults --trace t.bfsim --dpu "$trace_peer 40" \
			--fault "function device=03:00.0 after='dma.memcpy nth=5' reset"
		says 'not running|context' err
		same 4 "$(bfsim report --json t.bfsim | python3 -c 'import json, sys; print(sum(o["completed"] for o in json.load(sys.stdin)["operations"]))')"
		status 137 bfsim run --clock $clock --require-faults --fault "peer side=dpu after='dma.memcpy nth=5' kill" --dpu "exec $trace_peer 40"
		status 0 bfsim run --clock $clock --require-faults --fault "link after='dma.memcpy nth=5' down=10us" --dpu "$trace_peer 40"
		status 125 bfsim run --clock $clock --fault "link after='dma.memcpy nth=41' down=10us" --dpu "$trace_peer 40"
		says "fault 1 never hit: link after='dma.memcpy nth=41' down=10us \(40 of the 41 operations that it waits for came\)" err
	done
	printf 'faults:\n  - op: link\n    after: dma.memcpy nth=5\n    down: 1ms\n' >plan.yaml
	status 0 bfsim run --require-faults --fault-plan plan.yaml --dpu "$trace_peer 40"
	says "strikes .*: link after='dma.memcpy nth=5' down=1ms" err
}

# kills STATUS COMMAND OPTION...: a rule kills the host; the DPU runs COMMAND once the host is gone.
kills() {
	wanted=$1 command=$2
	shift 2
	rm -f pid
	status "$wanted" bfsim run --timeout 60 --fault "peer side=host after='dma.memcpy nth=5' kill" "$@" \
		--host "echo \$\$ >new; mv new pid; exec $trace_peer 40" \
		--dpu "until [ -e pid ]; do sleep 0.05; done; while kill -0 \$(cat pid) 2>/dev/null; do sleep 0.05; done; $command"
}

test_the_others_go_on_when_a_rule_kills_a_program() {
	kills 0 'echo the DPU is alive'
	says '^dpu *\| the DPU is alive$' out
	says '^bfsim: the command on host was killed by a fault; the others go on$' err
	kills 3 'exit 3'
	kills 137 'kill -KILL $$'
	says '^bfsim: the command on dpu ended with status 137 \(SIGKILL\)$' err
	kills 137 'exec sleep 1000' --until host
	says '^bfsim: the command on host ended with status 137 \(SIGKILL\); ending the others$' err
}

test_a_run_has_failed_if_rules_kill_all_programs() {
	status 137 bfsim run --timeout 60 --fault "peer after='dma.memcpy nth=5' kill" --host "exec $trace_peer 40" --dpu "exec $trace_peer 40"
}

test_a_slower_link_is_refused_where_the_clock_cannot_show_it() {
	for action in degrade=gen2x4 errors=1%; do
		status 2 bfsim run --fault "link device=03:00.0 $action" --dpu 'touch ran'
		says "fault 'link .*': the session's clock is functional, which shows no slower link: --clock timed or virtual" err
		status 0 bfsim run --clock timed --fault "link device=03:00.0 $action" --dpu "$trace_peer 4"
	done
	for action in delay=1us rate=10M; do
		status 2 bfsim run --fault "net.link device=03:00.0 $action" --dpu 'touch ran'
		says "fault 'net.link .*': the session's clock is functional, which shows no slower link: --clock timed or virtual" err
		status 0 bfsim run --clock timed --fault "net.link device=03:00.0 $action" --dpu "$trace_peer 4"
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
	status 2 bfsim run --fault 'dma.memcpy side=dpuu hang' --fault 'dma.memcpy side=hots hang' --dpu 'touch ran'
	says "the card has no side dpuu; did you mean dpu; its sides are: dpu, host" err
	says "the card has no side hots; did you mean host" err
	status 2 bfsim run --fault 'dma.memcpy device=09:00.0 hang' --dpu 'touch ran'
	says 'the card has no device (0000:)?09:00.0; bfsim devs lists them' err
	status 2 bfsim run --fault 'dma.memcpy nth=10 times=3 hang' --dpu true
	says 'times: cannot be combined with nth, which hits once' err
	absent ran
	bfsim up --session s >/dev/null
	status 1 bfsim fault add 'dma.memcpy side=hots hang' --session s
	says 'did you mean host' err
	status 0 bfsim fault add 'dma.memcpy side=* device=mlx5_? hang' --session s
	bfsim down --session s
}

# misses REASON RULE [OPTION...]: the rule never hits, which is a failure; the line says why.
misses() {
	reason=$1
	rule=$2
	shift 2
	status 125 bfsim run "$@" --fault "$rule" --dpu "$trace_peer 4"
	says "fault 1 never hit: .* \\($reason\\)\$" err
}

test_a_rule_that_never_hit_says_what_came_closest() {
	done="nothing matched; closest: 4 of dma.memcpy by trace_peer on dpu, mlx5_0, of 64 bytes"
	misses "$done, but not program=dpux" 'dma.memcpy program=dpux hang'
	misses "$done, but not size=1M" 'dma.memcpy size=1M hang'
	misses "$done, but not side=host" 'dma.memcpy side=host hang'
	misses "$done, but not device=0000:03:00.1" 'dma.memcpy device=03:00.1 hang'
	misses "$done, but not program=x, not size>=65" 'dma.memcpy program=x size>=65 hang'
	misses "$done, but not at that time" 'dma.memcpy from=100s hang'
	misses "$done, but not at these addresses" 'dma.memcpy addr=0x1..0x2 hang'
	misses '4 matched, and nth=50 did not come' 'dma.memcpy nth=50 hang'
	misses '4 matched, and every=5 needs more' 'dma.memcpy every=5 hang'
	misses '4 matched, and skip=4 leaves them out' 'dma.memcpy skip=4 hang'
	misses '4 matched, and no draw of p came out for it; another --seed may' 'dma.memcpy p=1e-9 hang'
	misses 'nothing matched; closest: 1 of ctx.start by trace_peer on dpu, mlx5_0, but not side=host' 'ctx.start side=host fail=IO_FAILED'
	misses 'trace_peer on dpu: no operation that the rule names' 'comch.send drop'
	misses 'nothing matched: the programs that used the card are trace_peer on dpu; none is program=dpux' 'mmap.export program=dpux fail=NO_MEMORY'
	misses 'the run ended before its time' 'link from=100s down=1us'
	misses '1 matched, but at another time, or the device was in that state already' 'function device=03:00.0 add'
	misses "$done, but not size=1M" 'dma.memcpy size=1M hang' --quiet
	misses "$done, but not size=1M" 'dma.memcpy size=1M hang' --require-faults
	misses 'trace_peer on dpu: no operation that the rule names, or none that meets its conditions' 'mmap.export size=1G fail=NO_MEMORY'
	status 125 bfsim run --fault 'dma.memcpy hang' --dpu true
	says '\(no program of the run used the card\)' err
}

# The program's own failure is the status; the line is printed anyway.
test_a_rule_that_never_hit_does_not_hide_a_failure() {
	status 3 bfsim run --fault 'dma.memcpy nth=50 hang' --dpu "$trace_peer 4; exit 3"
	says 'fault 1 never hit' err
	status 0 bfsim run --allow-unused-faults --fault 'dma.memcpy nth=50 hang' --dpu "$trace_peer 4"
	says 'fault 1 never hit' err
	status 0 bfsim run --quiet --allow-unused-faults --fault 'dma.memcpy nth=50 hang' --dpu "$trace_peer 4"
	same '' "$(cat err)"
	status 125 bfsim run --require-faults --dpu "$trace_peer 4"
	says '\-\-require-faults: the run had no fault; give --fault or --fault-plan' err
	status 2 bfsim run --require-faults --allow-unused-faults --dpu true
	says 'contradict each other' err
}

# With p=0.2, some of the seeds have a hit among four copies and some have none; with the other rule none has.
test_a_random_rule_must_hit_with_one_of_the_seeds() {
	status 0 bfsim run --seeds 1..6 --fault 'dma.memcpy p=0.2 delay=1us' --dpu "$trace_peer 4"
	says 'fault 1 never hit' err
	says 'fault 1 strikes' err
	status 125 bfsim run --seeds 1..3 --fault 'dma.memcpy p=1e-9 hang' --dpu "$trace_peer 4"
	says '^bfsim: fault 1 never hit with any of the seeds: dma.memcpy p=' err
	status 0 bfsim run --seeds 1..3 --allow-unused-faults --fault 'dma.memcpy p=1e-9 hang' --dpu "$trace_peer 4"
	status 125 bfsim run --seeds 1..3 --fault 'dma.memcpy nth=9 hang' --dpu "$trace_peer 4"
	says '^bfsim run: seed 2: status 125' err
}

run_tests "$0" "$work"
