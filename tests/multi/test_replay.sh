#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim fault replay: a plan repeats the hits that random rules made.
#
#   test_replay.sh BFSIM TRACE_PEER       (TAP)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

peer=$(realpath "$2")
use_bfsim "$1"

# record FILE ARGUMENT...: bfsim run with a full recording. Programs may fail because of the faults.
record() {
	file=$1
	shift
	bfsim run --trace-level full --trace "$file" "$@" >log 2>&1 || true
}

# statuses RECORDING: how each task of each side ended, in order.
statuses() {
	bfsim trace "$1" | python3 -c 'import json, sys
events = json.load(sys.stdin)["traceEvents"]
sides = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
tasks = [(sides[e["pid"]], e["args"]["status"]) for e in events if e["ph"] == "b"]
for side in sorted(set(sides.values())):
    print(side, [status for name, status in tasks if name == side])'
}

# hits RECORDING: which match each fault hit, of which side, and by how much it was late.
hits() {
	bfsim trace "$1" | python3 -c 'import json, sys
events = json.load(sys.stdin)["traceEvents"]
sides = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
for hit in sorted((sides[e["pid"]], e["args"]["match"], e["args"]["delay_ns"]) for e in events if e.get("cat") == "fault"):
    print(*hit)'
}

rules() { grep -c '^  - ' "$1"; }

# --- the same again ------------------------------------------------------------

test_the_task_that_chance_failed_fails_again_and_no_other() {
	for seed in 1 2 3; do
		record t.bfsim --seed $seed --fault 'dma.memcpy p=1% fail=IO_FAILED' --dpu "$peer 1000"
		status 0 bfsim fault replay t.bfsim
		same 1 "$(rules out)"
		record u.bfsim --fault-plan out --dpu "$peer 1000"
		statuses t.bfsim | grep -q DOCA_ERROR_IO_FAILED
		same "$(statuses t.bfsim)" "$(statuses u.bfsim)"
	done
}

test_delays_that_were_drawn_hit_each_side_where_they_did() {
	record t.bfsim --seed 7 --fault 'dma.memcpy size>=64 p=5% delay=uniform(1us,90us)' --dpu "$peer 400" --host "$peer 300"
	status 0 bfsim fault replay t.bfsim
	mv out plan.yaml
	[ "$(hits t.bfsim | wc -l)" -ge 10 ]
	same "$(hits t.bfsim | wc -l)" "$(rules plan.yaml)"
	record u.bfsim --require-faults --fault-plan plan.yaml --dpu "$peer 400" --host "$peer 300"
	same "$(hits t.bfsim)" "$(hits u.bfsim)"
	same '' "$(grep never log)"
}

test_skips_and_limits_become_numbers() {
	record t.bfsim --fault 'dma.memcpy skip=3 every=4 times=2 delay=5us' --fault 'dma.memcpy nth=9 flip=2' --dpu "$peer 20"
	status 0 bfsim fault replay t.bfsim
	same "  - 'dma.memcpy side=dpu program=trace_peer nth=7 delay=5us'
  - 'dma.memcpy side=dpu program=trace_peer nth=11 delay=5us'
  - 'dma.memcpy side=dpu program=trace_peer nth=9 flip=2'" "$(grep '^  - ' out)"
}

# Neither a line of a plan nor YAML can have each of these letters.
test_a_program_with_an_odd_name_is_hit_again() {
	odd=$(printf 'it"s\001 m\303\266')
	ln -s "$peer" "$odd"
	record t.bfsim --fault 'dma.memcpy nth=3 fail=IO_FAILED' --dpu "./'$odd' 5"
	status 0 bfsim fault replay t.bfsim
	says 'program="it[?]s[?] m[?][?]" nth=3 fail=IO_FAILED' out
	mv out plan.yaml
	record u.bfsim --require-faults --fault-plan plan.yaml --dpu "./'$odd' 5"
	[ "$(hits t.bfsim | wc -l)" = 1 ]
	same "$(statuses t.bfsim)" "$(statuses u.bfsim)"
}

test_a_plan_of_a_plan_is_the_same() {
	record t.bfsim --fault 'dma.memcpy p=10% delay=pareto(1us,1.5)' --dpu "$peer 100"
	bfsim fault replay t.bfsim >first.yaml
	record u.bfsim --fault-plan first.yaml --dpu "$peer 100"
	bfsim fault replay u.bfsim >second.yaml
	[ "$(rules first.yaml)" -gt 0 ]
	cmp first.yaml second.yaml
}

test_a_rule_that_never_hit_leaves_nothing() {
	record t.bfsim --fault 'dma.memcpy nth=100 fail=IO_FAILED' --dpu "$peer 5"
	status 0 bfsim fault replay t.bfsim
	record u.bfsim --fault-plan out --dpu "$peer 5"
	same '' "$(cat log)"
}

test_rules_for_events_stay_as_they_are() {
	record t.bfsim --fault 'link device=03:00.1 from=20s down=1ms' --dpu "$peer 5"
	status 0 bfsim fault replay t.bfsim
	says "^  - 'link device=(0000:)?03:00.1 from=20s down=1ms'$" out
}

test_a_rule_that_was_taken_out_is_still_known() {
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'dma.memcpy nth=2 delay=1us' 'dma.memcpy nth=3 delay=2us' 'comch.send drop' >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 5
	bfsim fault rm --session s 1
	bfsim fault clear --session s
	bfsim fault add --session s 'dma.memcpy hang' >/dev/null
	bfsim trace s -o t.csv
	says ',fault,.*,dma.memcpy nth=2 delay=1us' t.csv
	bfsim trace s -o t.bfsim
	status 0 bfsim fault replay t.bfsim
	same 2 "$(rules out)"
	says "^  - 'dma.memcpy side=dpu program=trace_peer nth=3 delay=2us'$" out
}

# All rules were there when the first task was submitted, at time 0.
test_a_virtual_run_is_repeated_as_it_was() {
	record t.bfsim --clock virtual --fault 'comch.send drop' --fault 'dma.memcpy p=5% delay=uniform(1us,90us)' \
		--dpu "$peer 400"
	status 0 bfsim fault replay t.bfsim
	mv out plan.yaml
	status 1 grep from= plan.yaml
	record u.bfsim --clock virtual --fault-plan plan.yaml --dpu "$peer 400"
	[ "$(hits t.bfsim | wc -l)" -ge 10 ]
	same "$(hits t.bfsim)" "$(hits u.bfsim)"
}

# --- plans that are incomplete ------------------------------------------------

test_processes_of_one_name_are_reported_as_alike() {
	record t.bfsim --fault 'dma.memcpy every=5 delay=1us' --dpu "$peer 10; $peer 10"
	status 1 bfsim fault replay t.bfsim
	says 'there were several processes dpu: trace_peer' err
}

# The file of delays was removed with the rule.
test_a_rule_with_a_file_of_delays_that_was_taken_out_is_said() {
	echo 1us >delays
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'dma.memcpy nth=2 delay=trace(delays)' >id
	bfsim exec --session s --on dpu -- "$peer" 5
	bfsim fault rm --session s "$(cat id)"
	bfsim trace s -o t.bfsim
	status 1 bfsim fault replay t.bfsim
	says 'rule 1 hit, but was no longer in the plan' err
}

fired() { [ "$(bfsim fault list --session s | awk '$1 == '"$1"' {print $3}')" -gt 0 ]; }
works() { bfsim stats --session s --json | grep '"completed":[1-9]'; }

# Its matches were counted from then on; events happened then.
test_a_rule_that_was_added_while_a_program_ran_begins_then() {
	bfsim up --session s >/dev/null
	"$bfsim_program" exec --session s --on dpu -- "$peer" 1000000000 2>/dev/null &
	runs=$!
	becomes_true works
	bfsim fault add --session s 'dma.memcpy every=5 times=1 delay=1us' 'link device=03:00.0 down=1ms' >/dev/null
	becomes_true fired 1
	becomes_true fired 2
	bfsim trace s -o t.bfsim
	kill "$runs"
	status 1 bfsim fault replay t.bfsim
	says 'rule 1 was added while the program ran' err
	one_line err
	says "^  - 'dma.memcpy side=dpu program=trace_peer from=[0-9]+[mun]*s nth=5 delay=1us'$" out
	says "^  - 'link device=0000:03:00.0 from=[0-9]+[mun]*s down=1ms'$" out
}

test_a_file_that_is_no_recording_is_refused() {
	echo hello >t.bfsim
	status 1 bfsim fault replay t.bfsim
	says 't.bfsim: this is not a recording' err
	status 2 bfsim fault replay
	says 'give one recording' err
}

run_tests "$0" "$work"
