#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim trace and bfsim stats: they print all that processes recorded, in the documented format.
#
#   test_trace.sh BFSIM TRACE_PEER HELLO_HOST HELLO_DPU BENCH_PROBE RDMA_PAIR       (TAP)
#
# shellcheck disable=SC2016

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

peer=$(realpath "$2")
hello_host=$(realpath "$3")
hello_dpu=$(realpath "$4")
probe=$(realpath "$5")
rdma_pair=$(realpath "$6")
checker=$(dirname "$(realpath "$0")")/check_trace.py
otlp=$(dirname "$checker")/check_otlp.py
use_bfsim "$1"

on() {
	side=$1
	shift
	bfsim exec --session s --on "$side" -- "$@"
}

# stat EXPRESSION: of bfsim stats --json as "s"; ops(), connections() are lists of what all processes have.
stat() {
	bfsim stats --json s >stats.json
	python3 -c 'import json, sys
s = json.load(open("stats.json"))
def ops(): return [o for p in s["processes"] for c in p["contexts"] for o in c["operations"]]
def connections(): return [c for p in s["processes"] for c in p["connections"]]
value = eval(f"({sys.argv[1]})")
print(value)
sys.exit(value is not True)' "$1"
}

# --- one process ---------------------------------------------------------------

test_tasks_are_slices_on_their_contexts_tracks() {
	bfsim up --session s >/dev/null
	on dpu "$peer" 100
	status 0 bfsim trace s -o t.json
	same '' "$(cat err)"
	python3 "$checker" t.json \
		'len(e("X", name="DMA memcpy", tid=track(process("dpu"), "jobs"))) == 100' \
		'len(e("b", name="dma #1 DMA memcpy", cat="task")) == 100' \
		'all(x["args"] == {"bytes": 64, "status": "ok"} for x in e("X", name="DMA memcpy"))' \
		'len(e("C", name="dma #1 in flight")) == 100' \
		'len(e("X", name="running", tid=track(process("dpu"), "states"))) == 1'
}

test_a_task_lies_within_its_contexts_running_state() {
	bfsim up --session s >/dev/null
	on dpu "$peer" 5
	bfsim trace s -o t.json
	python3 "$checker" t.json 'all(e("X", name="running")[0]["ts"] <= x["ts"] and
		x["ts"] + x["dur"] <= e("X", name="running")[0]["ts"] + e("X", name="running")[0]["dur"]
		for x in e("X", name="DMA memcpy"))'
}

test_a_failed_task_says_why_and_its_log_line_stands_beside_it() {
	bfsim up --session s >/dev/null
	on dpu "$peer" 3 fail 2>/dev/null
	bfsim trace s -o t.json
	python3 "$checker" t.json \
		'[x["args"]["status"] for x in e("X", name="DMA memcpy")] == ["ok"] * 3 + ["DOCA_ERROR_IO_FAILED"]' \
		'len([i for i in e("i", name="error") if "too little room" in i["args"]["text"]]) == 1' \
		'len(e("X", name="stopping")) == 1'
	stat '[(o["completed"], o["failed"], o["bytes"]) for o in ops()] == [(3, 1, 192)]'
}

test_an_arrow_leads_from_a_tasks_submission_by_its_job_to_its_end() {
	for clock in functional timed virtual; do
		status 0 bfsim run --clock $clock --trace t.json --dpu "$peer 30 fail || true"
		python3 "$checker" t.json \
			'[[s["name"] for s in f] for f in flows("task")] ==
				[["submit DMA memcpy", "DMA memcpy", end + " DMA memcpy"] for end in ["done"] * 30 + ["failed"]]' \
			'{f[0]["tid"] for f in flows("task")} == {track(process("dpu"), "submitted")}' \
			'{f[-1]["tid"] for f in flows("task")} == {track(process("dpu"), "trace_peer")}'
	done
}

# Of one task after the other by the model; of what happens at one moment, in its order.
test_virtual_times_are_the_same_each_time() {
	for run in first second; do
		status 0 bfsim run --clock virtual --trace $run.csv --trace-level full --dpu "$peer 50"
		status 0 bfsim run --clock virtual --trace $run.json --host "$hello_host" --dpu "$hello_dpu"
		python3 "$checker" $run.json 'len(flows("message")) == len(flows("task")) == 2'
		cut -d, -f 1,3,4,6- $run.csv >$run.told # without pid and thread
	done
	cmp first.told second.told
	python3 -c 'import csv
tasks = [r for r in csv.DictReader(open("first.csv")) if r["event"] == "task"]
ns = int(tasks[0]["reaped_ns"])
assert ns > 1000 and [int(t["time_ns"]) for t in tasks] == [ns * i for i in range(50)]
assert [int(t["reaped_ns"]) for t in tasks] == [ns * (i + 1) for i in range(50)]'
}

# All tasks of 64 bytes of the card's own memory stay in it.
test_a_tasks_direction_is_printed_where_it_takes_time() {
	for clock in functional virtual; do
		status 0 bfsim run --clock $clock --trace $clock-host.csv --host "$peer 2"
		status 0 bfsim run --clock $clock --trace $clock-dpu.csv --dpu "$peer 2"
	done
	python3 -c 'import csv
def ways(name): return [r["way"] for r in csv.DictReader(open(name + ".csv")) if r["event"] == "task"]
assert ways("virtual-host") == ["there and back"] * 2
assert ways("virtual-dpu") == ways("functional-host") == ways("functional-dpu") == [""] * 2'
}

test_csv_has_a_line_for_each_event_and_a_value_for_each_column() {
	bfsim up --session s >/dev/null
	on dpu "$peer" 10 fail 2>/dev/null
	status 0 bfsim trace s --format csv
	python3 -c 'import csv
rows = list(csv.DictReader(open("out"), strict=True))
assert all(None not in row and None not in row.values() for row in rows)
assert len([r for r in rows if r["event"] == "task"]) == 11
assert [r["status"] for r in rows if r["event"] == "task"][-1] == "DOCA_ERROR_IO_FAILED"
assert [r["text"] for r in rows if r["event"] == "state"] == ["running", "stopping", "idle"]
times = [int(r["time_ns"]) for r in rows]
assert times == sorted(times)
task = next(r for r in rows if r["event"] == "task")
assert int(task["time_ns"]) <= int(task["began_ns"]) <= int(task["ended_ns"]) <= int(task["reaped_ns"])
assert (task["side"], task["program"], task["device"], task["bytes"]) == ("dpu", "trace_peer", "mlx5_0", "64")'
	bfsim trace s -o by_name.csv
	same "$(cat out)" "$(cat by_name.csv)"
}

# --- spans ---------------------------------------------------------------------

test_spans_follow_the_rules_of_opentelemetry() {
	before=$(date +%s%N)
	bfsim up --session s >/dev/null
	on dpu "$peer" 10 fail 2>/dev/null
	status 0 bfsim trace s --format otlp
	after=$(date +%s%N)
	python3 "$otlp" out 'len(named("DMA memcpy")) == 11 and len({s["traceId"] for s in spans}) == 1' \
		'[s["status"] for s in named("DMA memcpy")] == [(0, "")] * 10 + [(2, "DOCA_ERROR_IO_FAILED")]' \
		'[s["attributes"].get("error.type") for s in named("DMA memcpy")][-2:] == [None, "DOCA_ERROR_IO_FAILED"]' \
		'{parent(s)["name"] for s in named("DMA memcpy")} == {"dma #1"}' \
		'all([s["attributes"]["bfsim." + key] for key in ("side", "context", "device", "bytes")] == ["dpu", "dma #1", "mlx5_0", 64]
			for s in named("DMA memcpy")[:10])' \
		'[e[1] for e in named("DMA memcpy")[0]["events"]] == ["job begins", "job ends"]' \
		"all($before - 10**7 <= s['start'] and s['end'] <= $after + 10**7 for s in spans)" \
		'all(s["resource"]["service.name"] == "trace_peer" and s["resource"]["bfsim.side"] == "dpu" for s in spans)'
	# As the CSV has them: session times, and the machine's number of the process.
	bfsim trace s -o t.csv
	python3 "$otlp" out '[[int(r["time_ns"]), int(r["reaped_ns"]) - int(r["time_ns"]), int(r["pid"])]
			for r in __import__("csv").DictReader(open("t.csv")) if r["event"] == "task"] ==
			[[s["attributes"]["bfsim.start_ns"], s["end"] - s["start"], s["resource"]["process.pid"]] for s in named("DMA memcpy")]'
	# By its name, and again: the ids are those of the session.
	bfsim trace s -o by_name.jsonl
	python3 "$otlp" by_name.jsonl
	for file in out by_name.jsonl; do
		grep -oE '"(traceId|spanId|parentSpanId)":"[^"]*"' $file >$file.ids
	done
	cmp out.ids by_name.jsonl.ids
	bfsim up --session other >/dev/null
	bfsim exec --session other --on dpu -- "$peer" 10
	bfsim trace other -o other.jsonl
	python3 "$otlp" other.jsonl "not {s['traceId'] for s in spans} & {line.split('\"')[3] for line in open('out.ids')}"
}

test_what_breaks_the_rules_of_spans_is_found() {
	bfsim run --trace t.jsonl --dpu "$peer 3"
	python3 "$otlp" t.jsonl
	for change in 's/"kind":1/"kind":"SPAN_KIND_INTERNAL"/' 's/"intValue":"64"/"intValue":64/' 's/startTimeUnixNano/start_time_unix_nano/' \
		's/"spanId":"[^"]*"/"spanId":"0000000000000000"/2' 's/"spanId":"[^"]*"/"spanId":"0123456789abcdef"/g' \
		's/"endTimeUnixNano":"1/"endTimeUnixNano":"/2' 's/bfsim.context/bfsim.side/' 's/"traceId":"../"traceId":"/2' \
		's/"parentSpanId":"..../"parentSpanId":"0000/' 's/"spans":.*/"spans":[]}]}]}/' 's/"name":"DMA memcpy"/"name":""/'; do
		sed "$change" t.jsonl >bad.jsonl
		! cmp -s t.jsonl bad.jsonl
		! python3 "$otlp" bad.jsonl >/dev/null || { echo "not found: $change"; exit 1; }
	done
}

# Messages of the fast path take no time in the model: many tasks have the same times and each has an id of its own.
test_spans_of_one_moment_are_told_apart() {
	status 0 bfsim run --clock virtual --trace t.jsonl --trace-level full --host "exec $probe produce 64 16 200" \
		--dpu "exec $probe consume 64 16 200"
	python3 "$otlp" t.jsonl 'len(named("Comch producer\x27s send")) == 200' \
		'len({(s["start"], s["end"]) for s in named("Comch producer\x27s send")}) < 10'
}

# Lines are short enough for collectors.
test_spans_of_virtual_time_say_so() {
	status 0 bfsim run --clock virtual --trace t.jsonl --trace-level full --fault 'dma.memcpy nth=7 delay=1ms' --dpu "$peer 2000" \
		--host "$hello_host" --dpu "$hello_dpu"
	python3 "$otlp" t.jsonl '{s["resource"]["bfsim.clock"] for s in spans} == {"virtual"}' 'len(named("DMA memcpy")) == 2000' \
		'len({s["resource"]["process.pid"] for s in spans}) == 3 and min(s["resource"]["process.pid"] for s in spans) > 3' \
		'len(named("Comch send")) == 2 and {parent(s)["name"] for s in named("Comch send")} == {"comch_client #1", "comch_server #1"}' \
		'[(s["attributes"]["bfsim.fault.rule"], s["attributes"]["bfsim.fault.delay_ns"], parent(s)["name"]) for s in named("fault dma.memcpy")] ==
			[("dma.memcpy nth=7 delay=1ms", 1000000, "dma #1")]' \
		'[s["attributes"]["bfsim.start_ns"] for s in named("DMA memcpy")[:3]] == [(s["end"] - s["start"]) * n for n, s in enumerate(named("DMA memcpy")[:3])]'
	[ "$(wc -l <t.jsonl)" -ge 6 ]
	bfsim up --session s >/dev/null
	status 0 bfsim trace s --format otlp
	same '' "$(cat out)"
	status 2 bfsim trace s --format opentelemetry
	says 'give perfetto, csv, otlp or raw' err
}

# --- many tasks ----------------------------------------------------------------

test_counts_are_exact_whatever_was_recorded() {
	bfsim up --session s >/dev/null
	on dpu "$peer" 200000
	stat '[(o["name"], o["submitted"], o["completed"], o["failed"], o["bytes"]) for o in ops()] ==
		[("DMA memcpy", 200000, 200000, 0, 12800000)]'
	stat '512 <= s["processes"][0]["records"] + s["processes"][0]["lost_records"] < 200000'
}

test_a_ring_that_was_too_small_is_said_beside_the_trace() {
	bfsim up --session s --trace-level full >/dev/null
	on dpu "$peer" 40000
	status 0 bfsim trace s -o t.json
	says 'process [0-9]+ \(trace_peer\): 7232 records were overwritten' err
	python3 "$checker" t.json 'len(e("b", cat="task")) == 32768' 'trace["otherData"]["lost_records"] == 7232'
}

test_a_process_may_record_nothing() {
	bfsim up --session s >/dev/null
	BFSIM_TRACE=off on dpu "$peer" 5
	status 0 bfsim trace s -o t.json
	python3 "$checker" t.json 'events == []'
	status 0 bfsim stats s
	says 'no process has recorded anything' out
}

test_the_sessions_level_is_each_processs_unless_it_knows_better() {
	bfsim up --session s --trace-level off >/dev/null
	on dpu "$peer" 5
	BFSIM_TRACE=full on dpu "$peer" 6
	stat '[(p["level"], p["contexts"][0]["operations"][0]["submitted"]) for p in s["processes"]] == [("full", 6)]'
}

test_a_level_that_does_not_exist_is_refused() {
	status 2 bfsim up --session s --trace-level loud
	says 'give off, sampled or full' err
	bfsim up --session s >/dev/null
	BFSIM_TRACE=loud status 0 on dpu "$peer" 5
	says 'BFSIM_TRACE=loud: not one of off, sampled, full' err
	status 2 bfsim trace s --format xml
	says 'give perfetto, csv, otlp or raw' err
}

# --- two sides -----------------------------------------------------------------

test_messages_flow_between_host_and_dpu_on_one_axis() {
	status 0 bfsim run --trace t.json --host "$hello_host" --dpu "$hello_dpu"
	python3 "$checker" t.json \
		'process("host") != process("dpu") and None not in (process("host"), process("dpu"))' \
		'[[s["pid"] for s in f] for f in flows("message")] ==
			[[process("host"), process("dpu")], [process("dpu"), process("host")]]' \
		'[[(s["pid"], s["name"]) for s in f] for f in flows("task")] ==
			[[(process(p), "submit Comch send"), (process(p), "send"), (process(p), "done Comch send")]
				for p in ("host", "dpu")]' \
		'len(e("X", name="open")) == 2' \
		'[i["args"]["text"] for i in e("i", name="closed")] == ["in order"] * 2'
}

test_stats_count_messages_by_connection() {
	bfsim up --session s >/dev/null
	on dpu "$hello_dpu" >/dev/null &
	status 0 on host "$hello_host"
	wait $!
	stat 'sorted((c["name"], c["messages_sent"], c["bytes_sent"], c["messages_received"], c["bytes_received"], c["open"])
		for c in connections()) == [("comch_hello", 1, 10, 1, 11, False), ("comch_hello", 1, 11, 1, 10, False)]'
	status 0 bfsim stats s
	says '^ *[0-9]+ +host +.* +comch_hello #2 +mlx5_0 +no +1 +10 +1 +11$' out
}

# The server greets; the client sends three messages, and the server answers each.
test_messages_of_rdma_flow_from_task_to_receipt() {
	status 0 bfsim run --trace t.json --trace-level full --host "exec '$rdma_pair' client 7 3 events.host" \
		--dpu "exec '$rdma_pair' server 7 3 events.dpu"
	python3 "$checker" t.json \
		'sorted([s["pid"] for s in f] for f in flows("message")) ==
			sorted([[process("host"), process("dpu")]] * 3 + [[process("dpu"), process("host")]] * 4)' \
		'sum([s["name"] for s in f] == ["submit RDMA send", "send", "done RDMA send"] for f in flows("task")) == 7' \
		'len(e("X", name="open")) == 2'
}

test_run_writes_the_trace_of_commands_that_failed_too() {
	status 3 bfsim run --trace t.json --dpu "$peer 7; exit 3"
	python3 "$checker" t.json 'len(e("b", cat="task")) == 7'
}

test_a_name_that_promises_another_format_is_noticed() {
	status 0 bfsim run --trace t.pftrace --dpu "$peer 5"
	says 't.pftrace is JSON, which ui.perfetto.dev reads, although its name ends in .pftrace: bfsim writes no binary traces' err
	python3 "$checker" t.pftrace
	status 0 bfsim run --trace t.json --dpu "$peer 5"
	lacks 'binary' err
}

test_run_says_when_the_trace_cannot_be_written() {
	status 2 bfsim run --trace nowhere/t.json --dpu "$peer 7"
	says 'cannot write the trace to nowhere/t.json' err
	status 125 bfsim run --trace /dev/full --dpu "$peer 7"
	says 'cannot write the trace' err
}

# --- faults --------------------------------------------------------------------

test_a_fault_stands_on_its_victims_track_with_its_rule() {
	status 0 bfsim run --trace t.json --fault 'dma.memcpy nth=3 delay=1ms' --dpu "$peer 5"
	python3 "$checker" t.json \
		'[i["args"]["text"] for i in e("i", name="fault", tid=track(process("dpu"), "jobs"))] == ["dma.memcpy nth=3 delay=1ms"]' \
		'e("X", name="DMA memcpy")[2]["ts"] > e("i", name="fault")[0]["ts"]'
}

# --- deaths --------------------------------------------------------------------

test_what_a_killed_process_recorded_is_there() {
	bfsim up --session s >/dev/null
	on dpu "$peer" 20 stay >ready &
	becomes_true has_text ready
	stat '[p["alive"] for p in s["processes"]] == [True]'
	kill -KILL "$(python3 -c 'import json; print(json.load(open("stats.json"))["processes"][0]["pid"])')"
	wait $! || true
	becomes_true stat '[p["alive"] for p in s["processes"]] == [False]'
	bfsim trace s -o t.json
	python3 "$checker" t.json 'len(e("X", name="DMA memcpy")) == 20' 'len(e("X", name="running")) == 1'
	stat '[(o["submitted"], o["completed"]) for o in ops()] == [(20, 20)]'
	stat 's["processes"][0]["contexts"][0]["state"] == "running"'
}

# The daemon keeps the recordings of 128 ended processes.
test_processes_that_ended_long_ago_are_counted_no_more() {
	bfsim up --session s >/dev/null
	on dpu sh -c 'for _ in $(seq 131); do "$1" 1; done' - "$peer"
	becomes_true stat '(len(s["processes"]), s["dropped_processes"]) == (128, 3)'
	status 0 bfsim trace s -o t.json
	says '3 processes of this session ended too long ago' err
	python3 "$checker" t.json
}

# But for the time of the reading, which the spans' times and the end of the session come from.
test_a_recording_gives_the_same_traces_as_its_session() {
	bfsim up --session s --trace-level full >/dev/null
	bfsim fault add --session s 'dma.memcpy nth=7 fail=IO_FAILED' >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 9 || true
	bfsim exec --session s --on dpu -- "$hello_dpu" &
	bfsim exec --session s --on host -- "$hello_host" >/dev/null
	wait $!
	status 0 bfsim trace s -o t.bfsim
	for format in perfetto csv otlp; do
		bfsim trace s --format $format | sed 's/"session_ns":[0-9]*//; s/UnixNano":"[0-9]*"//g' >live
		status 0 bfsim trace t.bfsim --format $format
		sed 's/"session_ns":[0-9]*//; s/UnixNano":"[0-9]*"//g' out | cmp - live
	done
	status 0 bfsim trace t.bfsim --format raw
	cmp out t.bfsim
	bfsim down --session s
	status 1 bfsim trace nothing.bfsim
	status 1 bfsim trace live
	says 'live: this is not a recording' err
}

test_without_a_session_there_is_no_trace() {
	status 1 bfsim trace nowhere
	says 'no session in nowhere' err
	status 1 bfsim stats nowhere
	says 'no session in nowhere' err
}

run_tests "$0" "$work"
