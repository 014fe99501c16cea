#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim report from outside: the page is whole, and its figures are those of what ran.
#
#   test_report.sh BFSIM TRACE_PEER HELLO_HOST HELLO_DPU       (TAP)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

peer=$(realpath "$2")
hello_host=$(realpath "$3")
hello_dpu=$(realpath "$4")
checker=$(dirname "$(realpath "$0")")/check_report.py
use_bfsim "$1"

# --- figures -------------------------------------------------------------------

test_tasks_are_counted_and_their_latencies_ranked() {
	status 0 bfsim run --report r.html --dpu "$peer 1000"
	"$checker" r.html \
		'op("DMA memcpy")["submitted"] == op("DMA memcpy")["completed"] == op("DMA memcpy")["timed"] == 1000' \
		'op("DMA memcpy")["failed"] == 0 and op("DMA memcpy")["bytes"] == 64000' \
		'sum(b["count"] for b in op("DMA memcpy")["histogram"]) == 1000' \
		'sum(op("DMA memcpy")["bytes_by_slice"]) == 64000 and sum(op("DMA memcpy")["ended_by_slice"]) == 1000' \
		'max(op("DMA memcpy")["in_flight_by_slice"]) == 1' \
		'sorted(op("DMA memcpy")["latency_ns"].values()) == list(op("DMA memcpy")["latency_ns"].values())' \
		'0 < op("DMA memcpy")["latency_ns"]["max"] < data["last_ns"] - data["first_ns"]' \
		'[(p["side"], p["program"], p["level"]) for p in data["processes"]] == [("dpu", "trace_peer", "full")]' \
		'"Tasks completed 1000 Tasks failed 0" in text and count("svg") == 3'
}

# One in ten is late by 2 ms: the nine are what p50 and p90 see, the tenth p99.
test_percentiles_tell_the_late_from_the_others() {
	status 0 bfsim run --report r.html --fault 'dma.memcpy every=10 delay=2ms' --dpu "$peer 100"
	"$checker" r.html \
		'op("DMA memcpy")["latency_ns"]["p50"] < 2000000 <= op("DMA memcpy")["latency_ns"]["p99"]' \
		'sum(b["count"] for b in op("DMA memcpy")["histogram"] if b["from_ns"] >= 2000000) >= 10' \
		'[f["match"] for f in data["faults"]] == list(range(10, 101, 10))' \
		'all(f["delay_ns"] == 2000000 and f["operation"] == "dma.memcpy" and f["bytes"] == 64 for f in data["faults"])'
}

test_a_fault_and_the_warnings_that_follow_are_told() {
	status 1 bfsim run --report r.html --fault 'dma.memcpy nth=5 fail=IO_FAILED' --fault 'dma.memcpy nth=500 hang' \
		--dpu "$peer 10"
	"$checker" r.html \
		'[(f["rule"], f["match"], f["context"]) for f in data["faults"]] == [(1, 5, "dma #1")]' \
		'op("DMA memcpy")["recorded_failed"] == 1 and op("DMA memcpy")["failed"] == 1' \
		'[w["level"] for w in data["warnings"]] == ["warning", "error"]' \
		'"a dma task failed" in text and "2 dma.memcpy nth=500 hang never" in text'
}

test_messages_take_from_one_side_to_the_other() {
	status 0 bfsim run --report r.html --host "$hello_host" --dpu "$hello_dpu"
	"$checker" r.html \
		'op("message", "host")["timed"] == 1 and sum(op("message", "host")["bytes_by_slice"]) == 10' \
		'op("message", "dpu")["timed"] == 1 and sum(op("message", "dpu")["bytes_by_slice"]) == 11' \
		'op("message", "host")["latency_ns"]["max"] > 0 and op("message", "host")["context"] == "comch_hello #2"' \
		'"Messages recorded 2" in text'
}

test_links_are_shown_when_time_is_modelled() {
	for clock in functional timed virtual; do
		status 0 bfsim run --report $clock.html --clock $clock --dpu "$peer 50"
	done
	"$checker" functional.html '"Links" not in text and data["clock"] == "functional"'
	"$checker" timed.html '"Links" in text and count("svg") == 4' \
		'[(l["side"], l["device"], l["bytes"], sum(l["bytes_by_slice"])) for l in data["links"]] == [("dpu", "mlx5_0", 3200, 3200)]'
	"$checker" virtual.html '"Payload bandwidth" in text and "Time was virtual" in text and data["session_ns"] > 0'
}

# --- sources -------------------------------------------------------------------

test_a_trace_gives_the_same_report_as_its_session() {
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 100
	bfsim trace s -o t.json
	status 0 bfsim report --session s -o live.html
	status 0 bfsim report t.json
	"$checker" out && "$checker" live.html
	# but for the time at which it was looked at
	sed 's/"session_ns":[0-9]*//' live.html >live
	sed 's/"session_ns":[0-9]*//' out | cmp - live
}

test_what_was_not_recorded_one_by_one_is_counted_and_said() {
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 200000
	status 0 bfsim report --session s
	"$checker" out 'op("DMA memcpy")["completed"] == 200000 > op("DMA memcpy")["timed"] >= 512' \
		'"Of tasks and messages that come fast only some were recorded" in text'
}

test_a_report_of_nothing_is_a_page() {
	bfsim up --session s >/dev/null
	status 0 bfsim report --session s
	"$checker" out 'data["operations"] == [] and "No task and no message was recorded" in text'
}

test_texts_of_programs_stay_texts() {
	mkdir d && ln -s "$peer" "d/x<b>&\"y"
	status 0 bfsim run --trace t.json --dpu "'./d/x<b>&\"y' 5"
	status 0 bfsim report t.json -o r.html
	"$checker" r.html 'data["processes"][0]["program"] == "x<b>&\"y"' "'dpu: x<b>&\"y' in text" 'count("b") == 3'
}

test_a_file_that_is_no_trace_is_refused() {
	echo '{"traceEvents":{}}' >no.json
	status 1 bfsim report no.json -o r.html
	says 'no.json:1: this is no trace; give a file as bfsim trace writes it' err
	bfsim run --trace t.json --dpu "$peer 5"
	head -n -1 t.json >cut.json
	status 1 bfsim report cut.json -o r.html
	says 'the trace is cut off' err
	sed 's/"ph":"b"/"ph":/' t.json >bad.json
	status 1 bfsim report bad.json -o r.html
	says 'bad.json:[0-9]+: this is no event' err
	status 1 bfsim report nowhere.json
	says 'cannot read nowhere.json' err
	absent r.html
}

test_a_report_that_cannot_be_written_is_said() {
	status 1 bfsim run --report nowhere/r.html --dpu "$peer 5"
	says 'cannot write the report to nowhere/r.html' err
	status 1 bfsim run --report /dev/full --dpu "$peer 5"
	says 'cannot write the report to /dev/full' err
}

run_tests "$0" "$work"
