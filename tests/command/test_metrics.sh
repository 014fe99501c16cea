#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Counts as OpenMetrics text: of a session, and at the end of a run.
#
#   test_metrics.sh BFSIM TRACE_PEER HELLO_HOST HELLO_DPU       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
peer=$(realpath "$2")
hello_host=$(realpath "$3")
hello_dpu=$(realpath "$4")
checker=$here/check_openmetrics.py
use_bfsim "$1"

test_a_session_has_the_counts_of_its_tables() {
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$peer" 7 fail
	bfsim exec --session s --on host -- "$peer" 5
	status 0 bfsim stats --session s --format openmetrics
	python3 "$checker" out 'value("bfsim_tasks_submitted_total", side="dpu", operation="DMA memcpy", context="dma #1") == 8' \
		'value("bfsim_tasks_completed_total", side="dpu") == 7 and value("bfsim_tasks_failed_total", side="dpu") == 1' \
		'value("bfsim_tasks_completed_total") == 12 and value("bfsim_task_bytes_total") == 12 * 64' \
		'value("bfsim_process_alive") == 0 and value("bfsim_session_time_seconds", clock="functional") > 0'
	status 0 bfsim stats --session s --json
	mv out json
	status 0 bfsim stats --session s --format json
	cmp json out
}

test_a_run_leaves_a_file() {
	status 0 bfsim run --metrics m.txt --host "$hello_host" --dpu "$hello_dpu"
	python3 "$checker" m.txt 'value("bfsim_messages_total", side="host", direction="sent") == 1' \
		'value("bfsim_message_bytes_total", side="dpu", direction="received") == 10' \
		'value("bfsim_message_bytes_total", side="host", direction="received") == 11'
	absent m.txt.new
}

test_a_run_that_fails_leaves_a_file_too() {
	status 1 bfsim run --metrics m.txt --quiet --fault 'dma.memcpy nth=3 fail=IO_FAILED' --dpu "$peer 5"
	python3 "$checker" m.txt 'value("bfsim_faults_injected_total", rule="1", text="dma.memcpy nth=3 fail=IO_FAILED") == 1' \
		'value("bfsim_tasks_failed_total") == 1'
	status 0 bfsim run --metrics m.txt --seeds 1..2 --dpu "$peer 5"
	python3 "$checker" m-1.txt 'value("bfsim_tasks_completed_total") == 5'
	python3 "$checker" m-2.txt 'value("bfsim_tasks_completed_total") == 5'
}

test_names_with_quotes_stay_one_value() {
	mkdir d && ln -s "$peer" 'd/a"b,c\d'
	status 0 bfsim run --metrics m.txt --dpu "'./d/a\"b,c\\d' 3"
	python3 "$checker" m.txt 'value("bfsim_tasks_completed_total", program=r"""a"b,c\d""") == 3'
}

test_what_cannot_be_written_or_is_mistyped_is_said() {
	status 2 bfsim run --metrics nowhere/m.txt --dpu "$peer 1"
	says 'cannot write the metrics to nowhere/m.txt' err
	status 2 bfsim stats --format openmetric
	says '--format openmetric: there is no such format; did you mean openmetrics' err
}

run_tests "$0" "$work"
