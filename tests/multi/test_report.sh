#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim report from outside: the page is whole, and its figures are those of what ran.
#
#   test_report.sh BFSIM TRACE_PEER HELLO_HOST HELLO_DPU BENCH_PROBE       (TAP)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

peer=$(realpath "$2")
hello_host=$(realpath "$3")
hello_dpu=$(realpath "$4")
probe=$(realpath "$5")
checker=$(dirname "$(realpath "$0")")/check_report.py
writer=$(dirname "$checker")/write_recording.py
use_bfsim "$1"

# --- figures -------------------------------------------------------------------

test_tasks_are_counted_and_their_latencies_ranked() {
	status 0 bfsim run --report r.html --dpu "$peer 1000"
	python3 "$checker" r.html \
		'op("DMA memcpy")["submitted"] == op("DMA memcpy")["completed"] == op("DMA memcpy")["timed"] == 1000' \
		'op("DMA memcpy")["failed"] == 0 and op("DMA memcpy")["bytes"] == 64000' \
		'sum(b["count"] for b in op("DMA memcpy")["histogram"]) == 1000' \
		'sum(op("DMA memcpy")["bytes_by_slice"]) == 64000 and sum(op("DMA memcpy")["ended_by_slice"]) == 1000' \
		'max(op("DMA memcpy")["in_flight_by_slice"]) == 1' \
		'sorted(op("DMA memcpy")["latency_ns"].values()) == list(op("DMA memcpy")["latency_ns"].values())' \
		'0 < op("DMA memcpy")["latency_ns"]["max"] < data["last_ns"] - data["first_ns"]' \
		'[(p["side"], p["program"], p["level"]) for p in data["processes"]] == [("dpu", "trace_peer", "full")]' \
		'"Tasks completed 1000 Tasks failed 0" in text and count("svg") == 3' \
		'len(data["cards"]) == 1 and data["cards"][0]["link"] == "PCIe Gen5 x16" and "BlueField-3 DPU (B3220)" in text'
}

# One in ten is late by 2 ms: the nine are what p50 and p90 see, the tenth p99.
test_percentiles_tell_the_late_from_the_others() {
	status 0 bfsim run --report r.html --fault 'dma.memcpy every=10 delay=2ms' --dpu "$peer 100"
	python3 "$checker" r.html \
		'op("DMA memcpy")["latency_ns"]["p50"] < 2000000 <= op("DMA memcpy")["latency_ns"]["p99"]' \
		'sum(b["count"] for b in op("DMA memcpy")["histogram"] if b["from_ns"] >= 1800000) >= 10' \
		'[f["match"] for f in data["faults"]] == list(range(10, 101, 10))' \
		'all(f["delay_ns"] == 2000000 and f["operation"] == "dma.memcpy" and f["bytes"] == 64 for f in data["faults"])'
}

test_a_fault_and_the_warnings_that_follow_are_reported() {
	status 1 bfsim run --report r.html --fault 'dma.memcpy nth=5 fail=IO_FAILED' --fault 'dma.memcpy nth=500 hang' \
		--dpu "$peer 10"
	python3 "$checker" r.html \
		'[(f["rule"], f["match"], f["context"]) for f in data["faults"]] == [(1, 5, "dma #1")]' \
		'op("DMA memcpy")["recorded_failed"] == 1 and op("DMA memcpy")["failed"] == 1' \
		'[w["level"] for w in data["warnings"]] == ["warning", "error"]' \
		'"a dma task failed" in text and "2 dma.memcpy nth=500 hang never" in text'
}

test_messages_take_from_one_side_to_the_other() {
	status 0 bfsim run --report r.html --host "$hello_host" --dpu "$hello_dpu"
	python3 "$checker" r.html \
		'op("message", "host")["timed"] == 1 and sum(op("message", "host")["bytes_by_slice"]) == 10' \
		'op("message", "dpu")["timed"] == 1 and sum(op("message", "dpu")["bytes_by_slice"]) == 11' \
		'op("message", "host")["latency_ns"]["max"] > 0 and op("message", "host")["context"] == "comch_hello #2"' \
		'"Messages recorded 2" in text'
}

# It is received when the program gets it, not when it was read.
test_a_late_message_is_late_in_the_report() {
	status 0 bfsim run --report r.html --fault 'comch.send side=host delay=5ms' --host "$hello_host" --dpu "$hello_dpu"
	python3 "$checker" r.html 'op("message", "host")["latency_ns"]["max"] >= 5000000' \
		'sum(op("message", "host")["bytes_by_slice"]) == 10'
}

# There and back, one way each: 29.2 us by the profile.
test_messages_take_virtual_time() {
	status 0 bfsim run --report r.html --clock virtual --host "$hello_host" --dpu "$hello_dpu"
	python3 "$checker" r.html 'data["last_ns"] == data["session_ns"] == 58400' \
		'op("message", "host")["latency_ns"]["p50"] == op("message", "dpu")["latency_ns"]["max"] == 29200' \
		'op("Comch send", "dpu")["latency_ns"]["p50"] == 985' \
		'sum(op("message", "host")["bytes_by_slice"][:30]) == 10 and sum(op("message", "dpu")["bytes_by_slice"][30:]) == 11'
}

test_virtual_times_are_those_of_the_model() {
	for run in first second; do
		status 0 bfsim run --report $run.html --clock virtual --dpu "$peer 600"
	done
	# one task after the other, all alike: 600 in 60 slices
	python3 "$checker" first.html '"Time was virtual" in text and data["first_ns"] == 0' \
		'op("DMA memcpy")["latency_ns"]["p50"] == op("DMA memcpy")["latency_ns"]["max"] > 1000' \
		'data["last_ns"] == 600 * op("DMA memcpy")["latency_ns"]["p50"] == data["session_ns"]' \
		'len(op("DMA memcpy")["histogram"]) == 1' \
		'all(9 <= n <= 11 for n in op("DMA memcpy")["ended_by_slice"])'
	for run in first second; do
		grep -o '"operations":.*' $run.html | sed 's/"pid":[0-9]*//g' >$run.figures
	done
	cmp first.figures second.figures
}

# A delay of a fault is session time; and what takes none has bars, too.
test_a_report_copes_with_no_time_and_with_jumps() {
	status 0 bfsim run --report r.html --clock virtual --fault 'dma.memcpy nth=100 delay=3600s' --dpu "$peer 100"
	python3 "$checker" r.html 'op("DMA memcpy")["latency_ns"]["max"] > 3600e9 > 1000000 > op("DMA memcpy")["latency_ns"]["p90"]' \
		'op("DMA memcpy")["ended_by_slice"][0] == 99 and op("DMA memcpy")["ended_by_slice"][59] == 1' \
		'data["faults"][0]["time_ns"] == 99 * op("DMA memcpy")["latency_ns"]["p50"]'
	bfsim up --session s --clock virtual >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 0
	status 0 bfsim report --session s
	python3 "$checker" out 'data["first_ns"] == data["last_ns"] == 0'
}

# --- links ---------------------------------------------------------------------

# A copy within the host's memory crosses the link in both directions, 64 KiB at a time; a copy within the card's
# memory does not cross it.
test_links_carry_what_crosses_them() {
	slow=$(dirname "$checker")/slow_link.yaml
	for clock in functional timed virtual; do
		status 0 bfsim run --report $clock.html --topology "$slow" --clock $clock --host "$peer 120 big"
	done
	python3 "$checker" functional.html '"this machine was late" not in text' '"Links" not in text and data["clock"] == "functional" and data["links"] == []'
	used='[(l["side"], l["device"], l["to_card"]["bytes"], l["to_host"]["bytes"]) for l in data["links"]] == [("host", "mlx5_0", 7864320, 7864320)]'
	within='all(b * 8e9 / data["slice_ns"] <= way["payload_bps"] * 1.01 for l in data["links"] for way in (l["to_card"], l["to_host"]) for b in way["bytes_by_slice"])'
	python3 "$checker" timed.html "$used" "$within" '"longer where this machine was late" in text' '"Links" in text and count("svg") == 5' \
		'sum(data["links"][0]["to_card"]["bytes_by_slice"]) == 7864320'
	# What bfsim pcie says of this link and 64 KiB is 1.6085 Gb/s of reads, 1.5661 of writes. All tasks but the first
	# take as long (p50), since each waits for the one before: so 65536 bytes in p50 are on their way at any
	# time, in either direction. The first took what is left of the time, and a slice is more than that.
	python3 "$checker" virtual.html "$used" "$within" \
		'[round(data["links"][0][w]["payload_bps"] / 1e9, 4) for w in ("to_card", "to_host")] == [1.6085, 1.5661]' \
		'all(near(b, data["slice_ns"] * 65536 / op("DMA memcpy")["latency_ns"]["p50"]) for w in ("to_card", "to_host") for b in data["links"][0][w]["bytes_by_slice"][1:])' \
		'all(near(data["links"][0][w]["bytes_by_slice"][0], 65536 + (data["slice_ns"] - data["last_ns"] + 119 * op("DMA memcpy")["latency_ns"]["p50"]) * 65536 / op("DMA memcpy")["latency_ns"]["p50"]) for w in ("to_card", "to_host"))' \
		'"card to host at most %.1f %% of 1.57 Gb/s" % (data["links"][0]["to_host"]["bytes_by_slice"][0] * 8000 / data["slice_ns"] * 1e9 / data["links"][0]["to_host"]["payload_bps"] // 1 / 10) in text' \
		'"%.1f %% on average" % (7864320 * 8000 / data["last_ns"] / 1.5661 // 1 / 10) in text'
	status 0 bfsim run --report local.html --topology "$slow" --clock virtual --dpu "$peer 10 big"
	python3 "$checker" local.html '"Links" not in text and data["links"] == []'
}

# A link of a byte a nanosecond, and 60 slices of 100 ns:
#      0 ..  999  1000 bytes, alone
#   1000 .. 1999  500 bytes: what was submitted at 500 waited for the first
#   2000 .. 3599  400 bytes  } back at the same time: the second takes 400 ns at least,
#   3600 .. 3999  400 bytes  } the first has the rest
test_a_link_carries_one_after_the_other_and_no_faster_than_it_can() {
	python3 "$writer" t.bfsim --link 8000000000 --late 3:2500000 0 1000 1000 500 2000 500 2000 4000 400 2000 4000 400
	status 0 bfsim report t.bfsim -o r.html
	python3 "$checker" r.html 'data["slice_ns"] == 100' \
		'data["links"][0]["to_host"]["bytes_by_slice"] == [100] * 10 + [50] * 10 + [25] * 16 + [100] * 4 + [0] * 20' \
		'data["links"][0]["to_card"]["bytes"] == 0 and text.count("card to host") == 1 and "host to card" not in text' \
		'"at most 100.0 % of 8.00 Gb/s, 38.3 % on average" in text' \
		'"3 tasks ended later than the card" in text and "the latest by 2.50 ms" in text'
}

# The string between what was submitted and what had ended bends where it must, and nowhere else. A peak that comes from
# the division into slices, or from a program that was told of many ends at once, is none.
test_throughput_is_spread_over_the_life_of_tasks() {
	bytes='op("DMA memcpy")["bytes_by_slice"]'
	depth='op("DMA memcpy")["in_flight_by_slice"]'
	# 1,000 bytes in 1,000 ns each, one after the other, all submitted at first; then one that takes longer
	python3 "$writer" t.bfsim 0 1000 1000 0 2000 1000 0 3000 1000 3000 5999 300
	status 0 bfsim report t.bfsim -o r.html
	python3 "$checker" r.html "$bytes == [100] * 30 + [10] * 30" "$depth == [3] * 10 + [2] * 10 + [1] * 40" \
		'"at most 1.00 GB/s" in text'
	# three whose ends the program saw together
	python3 "$writer" t.bfsim 0 2998 100 0 2999 100 1000 3000 100
	status 0 bfsim report t.bfsim -o r.html
	python3 "$checker" r.html "$bytes == [10] * 30 + [0] * 30" "$depth == [2] * 10 + [3] * 20 + [0] * 30"
	# nothing was in flight for a while; then the second of two had to wait for its own submission
	python3 "$writer" t.bfsim 0 1000 1000 2000 3000 1000 4000 5000 100 4500 5000 900
	status 0 bfsim report t.bfsim -o r.html
	python3 "$checker" r.html "$bytes == [100] * 10 + [0] * 10 + [100] * 10 + [0] * 10 + [20] * 5 + [180] * 5 + [0] * 10" \
		"$depth == [1] * 10 + [0] * 10 + [1] * 10 + [0] * 10 + [1] * 5 + [2] * 5 + [0] * 10"
	# one that took no time
	python3 "$writer" t.bfsim 3000 3000 64
	status 0 bfsim report t.bfsim -o r.html
	python3 "$checker" r.html "$bytes == [64] + [0] * 59"
}

# 16 in flight on the link of the card, which carries 52.7 GB/s from the host: no slice has more.
test_throughput_is_never_above_that_of_the_link() {
	status 0 bfsim run --report r.html --clock virtual --fault 'dma.memcpy nth=100 delay=20us' \
		--host "exec $probe export d 1048576" --dpu "exec $probe read d 65536 16 1 256"
	python3 "$checker" r.html 'data["links"][0]["to_card"]["payload_bps"] / 8e9 < 53' \
		'max(op("DMA memcpy")["bytes_by_slice"]) * 8e9 / data["slice_ns"] <= data["links"][0]["to_card"]["payload_bps"] * 1.01' \
		'all(n == 16 for n in op("DMA memcpy")["in_flight_by_slice"][1:50])' \
		'[p["paths"] for p in data["processes"]] == ["", "procmem"] or [p["paths"] for p in data["processes"]] == ["", "shm"]' \
		'text.count("injected fault") >= 2'
	status 0 bfsim run --trace t.bfsim --quiet --dpu "$peer 5"
	bfsim report t.bfsim --json >j.json
	bfsim report t.bfsim >t.html
	python3 "$checker" t.html 'data == __import__("json").load(open("j.json"))'
}

# --- the run ---

test_a_report_says_what_ran_and_how_it_ended() {
	status 3 bfsim run --report r.html --seed 77 --dpu "$peer 5" --dpu 'echo "<u>"; exit 3'
	python3 "$checker" r.html 'data["run"]["status"] == 3 and data["run"]["seed"] == 77 and data["run"]["timed_out_s"] == 0' \
		'[(c["side"], c["status"]) for c in data["run"]["commands"]] in ([("dpu#1", 0), ("dpu#2", 3)], [("dpu#1", 143), ("dpu#2", 3)])' \
		'data["run"]["bfsim"] == "'"$(bfsim --version | sed -n 's/^bfsim //p')"'" and re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", data["run"]["date"])' \
		'"Ended with status 3." in text and "seed 77" in text and "echo \"<u>\"; exit 3" in text and count("u") == 0'
	status 124 bfsim run --report r.html --timeout 1 --dpu "$peer 5; exec sleep 1000"
	python3 "$checker" r.html 'data["run"]["status"] == 124 and data["run"]["timed_out_s"] == 1' \
		'"Timed out after 1 s (status 124)." in text'
	bfsim run --trace t.bfsim --dpu "$peer 5"
	status 0 bfsim report t.bfsim
	python3 "$checker" out '"run" not in data and "Run" not in text'
}

# The duration is the run's, and the page says what the terminal says.
test_a_report_of_a_hang_shows_the_gap_and_what_was_in_flight() {
	status 124 bfsim run --report r.html --timeout 8 --fault 'dma.memcpy nth=6 hang' --dpu "$peer 9"
	python3 "$checker" r.html '"Timed out after 8 s (status 124)." in text' \
		'data["run"]["ended_ns"] == data["last_ns"] > 7500000000 and data["first_ns"] == 0' \
		'sum(op("DMA memcpy")["ended_by_slice"][-30:]) == 0 and sum(op("DMA memcpy")["ended_by_slice"]) == 5' \
		're.search(r"Nothing was recorded in the last [\d.]+ m?s of the run, after [\d.]+ [mu\u00b5]?s\.", text)' \
		're.search(r"dpu: in flight: 1 of DMA memcpy, in dma #1 on mlx5_0 \(running since [\d.]+ [mu\u00b5]?s\); 5 have ended", text)' \
		'"fault 1 hit 1 of 6 matches: dma.memcpy nth=6 hang" in data["run"]["messages"]'
	# Each line of the terminal, but that of the process that watches the time.
	sed -n '/--timeout/!s/^bfsim: //p' err >said
	python3 "$checker" r.html '"\n".join(data["run"]["messages"]) + "\n" == open("said").read()'
	# In a run that ends well, time ends with the last event.
	status 0 bfsim run --report r.html --dpu "$peer 9; sleep 0.5"
	python3 "$checker" r.html 'data["last_ns"] + 400000000 < data["run"]["ended_ns"] and "Nothing was recorded" not in text and data["run"]["messages"] == []'
}

test_a_report_of_a_program_that_died_says_what_was_in_flight() {
	status 137 bfsim run --report r.html --check --dpu "$peer 4 die 9" --host 'exec sleep 1000'
	python3 "$checker" r.html '"Ended with status 137." in text' \
		're.search(r"dpu: in flight: 1 of DMA memcpy, in dma #1 on mlx5_0", text) and "host runs, as process" in text'
	env --default-signal=HUP "$bfsim_program" run --report r.html --dpu "$peer 4 stay >ready" 2>err &
	until [ -s ready ]; do sleep 0.05; done
	kill -HUP $!
	ended=0
	wait $! || ended=$?
	same 129 "$ended"
	python3 "$checker" r.html '"Ended by a signal." in text and "dpu runs, as process" in text'
}

# --- two runs ---

# compared EXPRESSION...: each holds of the comparison in j.json; op() is its operation of that name.
compared() {
	python3 - "$@" <<-'EOF'
	import json, sys
	data = json.load(open("j.json"))
	def op(name):
	    return [o for o in data["operations"] if o["operation"] == name][0]
	def sides(figure):
	    return figure["before"], figure["now"], figure["difference"], figure["ratio"]
	for expression in sys.argv[1:]:
	    if not eval(expression):
	        sys.exit(f"not so: {expression}")
	EOF
}

test_two_runs_are_compared_figure_by_figure() {
	status 0 bfsim run --trace a.bfsim --trace-level full --clock virtual --fault 'dma.memcpy nth=5 fail=IO_FAILED' \
		--allow-unused-faults --dpu "$peer 4"
	status 0 bfsim run --trace b.bfsim --trace-level full --clock virtual --dpu "$peer 16"
	status 0 bfsim report --compare a.bfsim b.bfsim --json -o j.json
	compared 'sides(op("DMA memcpy")["figures"]["ended"]) == (4, 16, 12, 4)' \
		'sides(op("DMA memcpy")["figures"]["bytes"]) == (256, 1024, 768, 4)' \
		'sides(op("DMA memcpy")["figures"]["failed"]) == (0, 0, 0, None)' \
		'op("DMA memcpy")["figures"]["p50_ns"]["ratio"] == 1 and op("DMA memcpy")["figures"]["throughput_bytes_per_s"]["ratio"] == 1' \
		'sum(b["before"] for b in op("DMA memcpy")["histogram"]) == 4 and sum(b["now"] for b in op("DMA memcpy")["histogram"]) == 16' \
		'sides(data["run"]["completed"]) == (4, 16, 12, 4) and data["run"]["duration_ns"]["ratio"] == 4' \
		'[(d["of"], d["before"], d["now"]) for d in data["differences"]] == [("fault rule", "dma.memcpy nth=5 fail=IO_FAILED", "none")]' \
		'[sides(f) for f in data["faults"]] == [(0, None, None, None)]'
	status 0 bfsim report --compare a.bfsim b.bfsim -o r.html
	python3 "$checker" r.html 'data == __import__("json").load(open("j.json"))' '"Ended 4 16 +12 4.00" in text' \
		'"The runs are not alike" in text and "a.bfsim" in text and count("svg") == 1'
}

test_what_makes_a_comparison_doubtful_is_said() {
	slow=$(dirname "$checker")/slow_link.yaml
	ln -s "$peer" renamed
	status 0 bfsim run --trace a.bfsim --trace-level full --clock virtual --dpu "$peer 4"
	status 0 bfsim run --trace b.bfsim --clock timed --topology "$slow" --dpu "./renamed 4"
	status 0 bfsim report --compare a.bfsim b.bfsim --json -o j.json
	compared '{"clock", "card", "program of dpu", "trace level of dpu: renamed"} <= {d["of"] for d in data["differences"]}' \
		'[(d["before"], d["now"]) for d in data["differences"] if d["of"] == "clock"] == [("virtual", "timed")]' \
		'op("DMA memcpy")["before"]["program"] == "trace_peer" and op("DMA memcpy")["now"]["program"] == "renamed"'
	status 0 bfsim report --compare a.bfsim a.bfsim
	python3 "$checker" out 'data["differences"] == [] and "are the same." in text and "Times depend on the machine" not in text'
	status 0 bfsim report --compare b.bfsim b.bfsim
	python3 "$checker" out '"Times depend on the machine" in text and "Only a sample" in text'
}

# The contexts of a program that makes another one first have other numbers.
test_what_has_no_counterpart_is_listed() {
	python3 "$writer" a.bfsim 0 1000 64 1000 2000 64
	python3 "$writer" b.bfsim --context 3 0 1000 64 1000 2000 64
	status 0 bfsim report --compare a.bfsim b.bfsim --json -o j.json
	compared 'sides(op("DMA memcpy")["figures"]["ended"]) == (2, 2, 0, 1)' \
		'[(d["of"], d["before"], d["now"]) for d in data["differences"]] == [("context of DMA memcpy, host: x", "dma #1", "dma #3")]'
	status 0 bfsim run --trace a.bfsim --clock virtual --dpu "$peer 4"
	status 0 bfsim run --trace c.bfsim --clock virtual --dpu "$peer 4" --dpu "$hello_dpu" --host "$hello_host"
	status 0 bfsim report --compare c.bfsim a.bfsim --json -o j.json
	compared '{o["operation"] for o in data["operations"] if o["before"] and not o["now"]} >= {"message", "Comch send"}' \
		'len([o for o in data["operations"] if o["now"]]) == 1 and sum(p["now"] is None for p in data["processes"]) == 2' \
		'data["run"]["messages"]["now"] == 0 and op("message")["figures"]["ended"]["now"] is None'
	status 0 bfsim report --compare a.bfsim c.bfsim
	python3 "$checker" out '"Operations of one run" in text and "They have no counterpart" in text'
}

test_findings_of_the_checker_are_compared() {
	python3 "$writer" a.bfsim 0 1000 64
	python3 "$writer" b.bfsim --finding BFC-MMAP-021 0 1000 64
	status 0 bfsim report --compare a.bfsim b.bfsim --json -o j.json
	compared '[(f["rule"], *sides(f)) for f in data["findings"]] == [("BFC-MMAP-021", 0, 1, 1, None)]' \
		'sides(data["run"]["findings"]) == (0, 1, 1, None)'
	status 0 bfsim report --compare a.bfsim b.bfsim
	python3 "$checker" out '"Findings of the checker" in text and re.search("BFC-MMAP-021 .* 0 1 [+]1", text)'
}

test_runs_that_have_nothing_in_common_are_not_compared() {
	status 0 bfsim run --trace a.bfsim --dpu "$peer 4"
	status 0 bfsim run --trace b.bfsim --host "$peer 4"
	status 125 bfsim report --compare a.bfsim b.bfsim -o r.html
	says 'a.bfsim and b.bfsim have no operation in common: nothing was compared' err
	status 2 bfsim report --compare a.bfsim nowhere.bfsim -o r.html
	says 'cannot read nowhere.bfsim' err
	absent r.html
	for arguments in '--compare a.bfsim' 'a.bfsim b.bfsim' '--compare a.bfsim b.bfsim a.bfsim' '--compare a.bfsim b.bfsim --session s'; do
		# shellcheck disable=SC2086 # several
		status 2 bfsim report $arguments
	done
	status 1 bfsim report --compare a.bfsim a.bfsim -o /dev/full
}

# --- sources -------------------------------------------------------------------

test_a_recording_gives_the_same_report_as_its_session() {
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 100
	bfsim trace s -o t.bfsim
	status 0 bfsim report --session s -o live.html
	status 0 bfsim report t.bfsim
	python3 "$checker" out && python3 "$checker" live.html
	# but for the time at which it was looked at
	sed 's/"session_ns":[0-9]*//' live.html >live
	sed 's/"session_ns":[0-9]*//' out | cmp - live
}

test_what_was_not_recorded_one_by_one_is_counted_and_said() {
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 200000
	status 0 bfsim report --session s
	python3 "$checker" out 'op("DMA memcpy")["completed"] == 200000 > op("DMA memcpy")["timed"] >= 512' \
		'"Only a sample of fast tasks and messages was recorded" in text'
}

test_a_report_of_nothing_is_a_page() {
	bfsim up --session s >/dev/null
	status 0 bfsim report --session s
	python3 "$checker" out 'data["operations"] == [] and "No task and no message was recorded" in text'
}

test_texts_of_programs_stay_texts() {
	mkdir d && ln -s "$peer" "d/x<b>&\"y"
	status 0 bfsim run --trace t.bfsim --dpu "'./d/x<b>&\"y' 5"
	status 0 bfsim report t.bfsim -o r.html
	python3 "$checker" r.html 'data["processes"][0]["program"] == "x<b>&\"y"' "'dpu: x<b>&\"y' in text" 'count("b") == 3'
}

test_a_file_that_is_no_recording_is_refused() {
	bfsim run --trace t.bfsim --dpu "$peer 5"
	bfsim trace t.bfsim -o t.json
	status 1 bfsim report t.json -o r.html
	says 't.json: this is a trace for Perfetto, which bfsim does not read; give a file that bfsim run --trace FILE.bfsim or' err
	echo hello >no.bfsim
	status 1 bfsim report no.bfsim -o r.html
	says 'no.bfsim: this is not a recording; give a file that bfsim run --trace FILE.bfsim or' err
	head -c -1 t.bfsim >cut.bfsim
	status 1 bfsim report cut.bfsim -o r.html
	says 'cut.bfsim: the recording is cut off' err
	python3 - <<-'EOF'
		data = bytearray(open("t.bfsim", "rb").read())
		for at, size in ((192, 64), (256, 128), (384, 32), (416, 16)): # texts of the card: nothing of the command's memory follows them
		    text = data[at:at + size]
		    assert text[0] and not any(text[text.index(0):]), text
		open("bad.bfsim", "wb").write(data[:184] + b"\377" * 4 + data[188:]) # the number of recordings
		open("later.bfsim", "wb").write(data[:16] + bytes([data[16] + 1]) + data[17:])
	EOF
	status 1 bfsim report bad.bfsim -o r.html
	says 'bad.bfsim: the recording is damaged' err
	status 1 bfsim report later.bfsim -o r.html
	says 'later.bfsim: this recording is of another version of bfsim' err
	status 1 bfsim report nowhere.bfsim
	says 'cannot read nowhere.bfsim' err
	absent r.html
}

test_a_report_that_cannot_be_written_is_said() {
	status 2 bfsim run --report nowhere/r.html --dpu "$peer 5"
	says 'cannot write the report to nowhere/r.html' err
	status 125 bfsim run --report /dev/full --dpu "$peer 5"
	says 'cannot write the report to /dev/full' err
}

run_tests "$0" "$work"
