#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options and variables that must not be lost without a word, and files of results that must not be lost at all.
#
#   test_options.sh BFSIM TRACE_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
trace_peer=$(realpath "$2")
use_bfsim "$1"

test_an_option_that_is_given_twice_is_refused() {
	while read -r option command; do
		# shellcheck disable=SC2086
		status 2 bfsim $command
		says "^bfsim [a-z]+: $option is given twice; give it once" err
	done <<-'EOF2'
		--trace run --trace a.json --trace b.json --dpu true
		--report run --report a.html --dpu true --report=b.html
		--topology run -t a.yaml --topology b.yaml --dpu true
		--timeout run --timeout 1 --time 2 --dpu true
		--check run --check --check=races --dpu true
		--seed run --seed 1 --seed 2 --dpu true
		--until run --until dpu --until dpu --dpu true
		--junit test --junit a.xml --junit b.xml x.yaml
		--jobs test -j 1 -j 2 x.yaml
		--topology test -t a.yaml -t b.yaml x.yaml
		--output bench -o a.json -o b.json
		--on exec --on host --on dpu -- true
		--folder replay --folder a --folder b x
		--output trace -o a -o b
		--output report -o a -o b
		--profile pcie --profile bluefield-2 --profile bluefield-3
	EOF2
	status 0 bfsim run --host true --host true --dpu true --on dpu=true
	status 2 bfsim run --check-report a.json --check --check-report a.json --dpu true
	says '\-\-check-report a.json is given twice' err
	status 2 bfsim run --delay dpu=1s --dpu true --delay dpu=2s
	says '\-\-delay dpu is given twice' err
	status 2 bfsim run --trace a.html --report a.html --dpu true
	says 'a.html is given for the trace and for the report' err
}

test_all_reports_of_the_checker_are_written() {
	status 0 bfsim run --check --check-report a.sarif --check-report b.xml --check-report c.json --dpu "$trace_peer 2"
	grep -q '"2.1.0"' a.sarif
	grep -q '<testsuite' b.xml
	python3 -c "import json; assert json.load(open('c.json'))['complete']"
	bfsim up --session s >/dev/null
	status 2 bfsim exec --session s --on dpu --check --check-report a.json --check-report b.xml -- true
	says 'the program writes one report; bfsim run writes several' err
	bfsim down --session s
}

test_a_result_that_cannot_be_written_is_refused_before_the_run() {
	mkdir dir
	printf 'sides: {dpu: ": >$BFSIM_TEST_FOLDER/ran"}\n' >x.yaml
	while read -r command; do
		# shellcheck disable=SC2086
		status 2 bfsim $command --dpu ':>ran'
		says '^bfsim: cannot write (the trace|the report|the checker.s report) to ' err
	done <<-'EOF2'
		run --trace nowhere/t.json
		run --trace dir
		run --report nowhere/r.html
		run --check --check-report nowhere/c.json
		run --seeds 1..2 --trace nowhere/t.json
	EOF2
	status 2 bfsim test --junit nowhere/r.xml x.yaml
	says 'cannot write the results to nowhere/r.xml: No such file' err
	status 2 bfsim bench -o nowhere/b.json
	says 'cannot write the results to nowhere/b.json: No such file' err
	absent ran nowhere ./*.tmp
}

# The shell ignores the signal, so that a write fails as on a full disk.
test_an_earlier_result_stays_when_a_new_one_cannot_be_written() {
	bfsim run --trace t.bfsim --trace-level full --dpu "$trace_peer 200"
	for option in report.html trace.json; do
		echo earlier >$option
	done
	got=0
	(trap '' XFSZ; ulimit -f 1; "$bfsim_program" report t.bfsim -o report.html) 2>err || got=$?
	same 1 $got
	says 'cannot write the report to report.html: File too large' err
	bfsim up --session s >/dev/null
	bfsim exec --session s --on dpu -- "$trace_peer" 200
	got=0
	(trap '' XFSZ; ulimit -f 1; "$bfsim_program" trace --session s -o trace.json) 2>err || got=$?
	same 1 $got
	says 'cannot write the trace.*: File too large' err
	bfsim down --session s
	same earlier "$(cat report.html)"
	same earlier "$(cat trace.json)"
	absent ./*.tmp
	bfsim report t.bfsim -o report.html
	grep -q '<html' report.html
	ln -s target.html link.html
	bfsim report t.bfsim -o link.html # what it leads to is written, and it stays
	[ -h link.html ] && grep -q '<html' target.html
}

test_a_mistyped_variable_is_named_once() {
	BFSIM_CLOK=virtual BFSIM_PATHS=shm BFSIM_HOME=/x status 0 bfsim run --dpu "$trace_peer 2"
	same 'bfsim: BFSIM_CLOK has no effect; did you mean BFSIM_CLOCK?
bfsim: BFSIM_PATHS has no effect; did you mean BFSIM_PATH?' "$(grep BFSIM_ err | sort)"
	same '' "$(grep BFSIM_ out)"
	BFSIM_PATH=foo BFSIM_SHUFFLE=x BFSIM_LOG_LEVEL=99 status 0 bfsim run --dpu "$trace_peer 2; $trace_peer 2"
	same 3 "$(cat out err | grep -c BFSIM_)"
	says '^bfsim: BFSIM_PATH=foo: not a value; give one of: in-place mapped procmem cma shm tcp' err
	says '^bfsim: BFSIM_SHUFFLE=x: not a number' err
	says '^bfsim: BFSIM_LOG_LEVEL=99: not a level' err
	status 0 bfsim run --dpu "BFSIM_CLOK=virtual $trace_peer 2"
	same 1 "$(cat out err | grep -c 'BFSIM_CLOK has no effect; did you mean BFSIM_CLOCK')"
	BFSIM_SIDE=dpu BFSIM_TOPOLGY=x.yaml BFSIM_LOG_LEVEL=99 status 0 "$trace_peer" 2
	same 1 "$(cat out err | grep -c 'BFSIM_TOPOLGY has no effect; did you mean BFSIM_TOPOLOGY')"
	same 1 "$(cat out err | grep -c 'BFSIM_LOG_LEVEL=99: not a level')"
}

test_what_is_almost_right_is_named() {
	status 2 bfsim caps dma
	says 'dma: give a library as --lib dma' err
	status 2 bfsim caps mlx5_0
	says 'give a device as --pci-addr, a library as --lib' err
	status 2 bfsim pcie --generation 5
	says 'there is no option --generation; did you mean --gen\?' err
	status 1 bfsim rules mmap-outlives-memry
	says 'did you mean mmap-outlives-memory\?' err
	status 1 bfsim rules BFC-MMAP-01
	says 'did you mean BFC-MMAP-001\?' err
	card() { printf 'cards:\n- profile: bluefield-3\n  functions:\n  - {side: dpu, type: pf, pci: "03:00.0", caps: {%s: 1}}\n' "$1" >card.yaml; }
	card dma-max-buf
	status 2 bfsim run --topology card.yaml --dpu true
	says 'dma-max-buf: unknown field; did you mean dma-max-buf-bytes\?' err
	card xyzzy
	status 2 bfsim run --topology card.yaml --dpu true
	says 'xyzzy: unknown field; the fields here are dma-memcpy, .*, aes-gcm-task-ns$' err
	status 1 bfsim up --session s --topology card.yaml
	says 'xyzzy: unknown field; the fields here are dma-memcpy, .*, aes-gcm-task-ns$' err
	mkfifo pipe.yaml
	status 2 bfsim run --topology pipe.yaml --dpu true
	says 'topology file pipe.yaml: not a file' err
}

run_tests "$0" "$work"
