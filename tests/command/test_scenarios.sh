#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim test and bfsim replay: scenarios, their results, and the bundles of failures.
#
#   test_scenarios.sh BFSIM HELLO_HOST HELLO_DPU SOURCES TRACE_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
hello_host=$(realpath "$2")
hello_dpu=$(realpath "$3")
sources=$(realpath "$4")
trace_peer=$(realpath "$5")
use_bfsim "$1"

# The example, which bfsim-test(1) and the installation have.
test_the_example_passes() {
	cp "$sources/tests/apps/comch_hello/test.yaml" .
	ln -s "$hello_host" host
	ln -s "$hello_dpu" dpu
	sed -n '/^\.EX/,/^\.EE/{/^\./d;p}' "$sources/man/bfsim-test.1" | sed 's/\\-/-/g' | sed '/^bfsim test/,$d' >page.yaml
	grep -v '^#' test.yaml | cmp - page.yaml
	status 0 bfsim test test.yaml
	says '^ok +hello seed 1 ' out
	says '^ok +hello seed 3 ' out
	says '^3 passed, 0 failed in ' out
	absent bfsim-failures "$TMPDIR"/*
}

# scenario NAME: from standard input
scenario() { cat >"$1.yaml"; }

test_a_failure_says_why_and_leaves_a_bundle() {
	printf 'cards:\n  - profile: bluefield-2\n    functions: [{side: dpu, type: pf, pci: "03:00.0"}, {side: host, type: pf, pci: "b1:00.0"}]\n' >card.yaml
	printf 'wanted' >wanted
	scenario bad <<-'EOF2'
		topology: card.yaml
		sides:
		  dpu: {command: "echo one; until [ -e out ]; do sleep 0.05; done; exit 3", output: two}
		  host: {command: "printf want >new; echo bad news; mv new out", no-output: bad}
		files: [{file: out, same-as: wanted}]
	EOF2
	status 1 bfsim test bad.yaml
	says '^FAIL +bad .* exit status 3 instead of 0$' out
	says '^  no line of dpu matches "two"$' out
	says '^  a line of host matches "bad": bad news$' out
	says '^  file out is shorter than wanted \(4 bytes are equal\)$' out
	says '^  dpu \| one$' out
	says '^  again: bfsim replay bfsim-failures/bad$' out
	says '^0 passed, 1 failed' out
	bundle=bfsim-failures/bad
	cmp bad.yaml $bundle/scenario.yaml
	cmp card.yaml $bundle/topology.yaml
	same one "$(cat $bundle/dpu.log)"
	same 'bad news' "$(cat $bundle/host.log)"
	python3 - <<-'EOF2'
		import json
		case = json.load(open('bfsim-failures/bad/case.json'))
		assert case['status'] == 3 and len(case['reasons']) == 4 and case['bfsim'] and case['doca'], case
		json.load(open('bfsim-failures/bad/trace.json'))
	EOF2
	absent "$TMPDIR"/*
}

test_a_replay_has_the_seed_topology_and_faults_of_the_failure() {
	mkdir app
	cd app
	printf 'faults: [comch.send p=0.5 delay=1us]\n' >plan.yaml
	scenario seeds <<-'EOF2'
		seeds: 4..5
		fault-plan: plan.yaml
		require-faults: false
		sides:
		  dpu: 'echo "seed $BFSIM_TEST_SEED"; [ ! -e "$BFSIM_TEST_FOLDER/broken" ] || [ "$BFSIM_TEST_SEED" = 4 ]'
	EOF2
	touch broken
	status 1 bfsim test seeds.yaml
	says '^ok +seeds seed 4 ' out
	says '^FAIL +seeds seed 5 ' out
	rm plan.yaml # the bundle has it
	status 1 bfsim replay bfsim-failures/seeds-seed-5
	says '^FAIL +seeds seed 5 ' out
	says 'dpu\| seed 5' out
	rm broken
	status 0 bfsim replay bfsim-failures/seeds-seed-5
	says '^ok +seeds seed 5 ' out
	cd ..
	mv app moved
	status 1 bfsim replay moved/bfsim-failures/seeds-seed-5
	says 'folder names where they are now' err
	status 0 bfsim replay --folder moved moved/bfsim-failures/seeds-seed-5
	status 1 bfsim replay moved
	says 'moved is not a bundle of bfsim test' err
}

test_what_failed_is_run_again() {
	scenario a <<-'EOF2'
		sides: {dpu: true}
	EOF2
	scenario b <<-'EOF2'
		sides: {dpu: 'test -e "$BFSIM_TEST_FOLDER/mended"'}
		seeds: 1..2
	EOF2
	status 2 bfsim test --rerun-failed
	says 'no run before has left failures in bfsim-failures' err
	status 1 bfsim test a.yaml b.yaml
	status 1 bfsim test --rerun-failed
	same 'b seed 1 b seed 2' "$(sed -n 's/^FAIL  \(b seed .\) .*/\1/p' out | sort | tr '\n' ' ' | sed 's/ $//')"
	says '^0 passed, 2 failed' out
	touch mended
	status 0 bfsim test --rerun-failed
	says '^2 passed, 0 failed' out
	status 0 bfsim test --rerun-failed
	says '^0 passed, 0 failed' out
}

test_tap_and_junit_are_well_formed() {
	scenario good <<-'EOF2'
		sides: {dpu: true}
	EOF2
	scenario bad <<-'EOF2'
		name: a <bad> one
		sides: {dpu: 'echo "<&>"; exit 1'}
	EOF2
	status 1 bfsim test -j 1 --tap --junit results.xml good.yaml bad.yaml
	same '1..2' "$(head -n 1 out)"
	says '^ok 1 - good$' out
	says '^not ok 2 - a <bad> one$' out
	same '' "$(grep -vE '^(ok|not ok|#|1\.\.)' out)"
	python3 - <<-'EOF2'
		import xml.etree.ElementTree as tree
		suite = tree.parse('results.xml').getroot()
		assert (suite.get('tests'), suite.get('failures')) == ('2', '1')
		good, bad = suite
		assert bad.get('name') == 'a <bad> one' and 'exit status 1' in bad.find('failure').get('message')
		assert [part.tag for part in good] == ['properties']
		assert bad.find('system-out').text == 'dpu| <&>\nbfsim: the command on dpu ended with status 1\n', bad.find('system-out').text
	EOF2
}

# What annotations and lists of failures show is the cause; the rest is what the terminal shows of bfsim run.
test_a_failure_in_junit_has_cause_state_faults_and_output() {
	scenario hang <<-EOF2
		timeout: 1s
		clock: virtual
		seeds: 7
		faults: [dma.memcpy nth=3 hang]
		sides: {dpu: "$trace_peer 8", host: true}
	EOF2
	scenario never <<-EOF2
		faults: [dma.memcpy nth=99 hang]
		require-faults: true
		sides: {dpu: "$trace_peer 8"}
	EOF2
	scenario dies <<-EOF2
		faults: [dma.memcpy nth=2 delay=1us]
		sides: {dpu: "$trace_peer 8 die 9", host: exec sleep 1000}
	EOF2
	scenario broken <<-EOF2
		check: api
		sides: {dpu: "$trace_peer 8 fail"}
	EOF2
	status 1 bfsim test --junit results.xml hang.yaml never.yaml dies.yaml broken.yaml
	says '^FAIL  never .* fault 1 never hit: dma.memcpy nth=99 hang \(.*\); exit status [0-9]+ instead of 0$' out
	python3 - <<-'EOF2'
		import re
		import xml.etree.ElementTree as tree
		cases = {case.get('name'): case for case in tree.parse('results.xml').getroot()}
		def of(name):
		    case = cases[name]
		    return (case.find('failure').get('message'), case.find('failure').text, case.find('system-out').text,
		            {entry.get('name'): entry.get('value') for entry in case.find('properties')})
		message, text, output, properties = of('hang seed 7')
		assert properties == {'seed': '7', 'clock': 'virtual', 'status': '124'}, properties
		state = r'dpu: in flight: 1 of DMA memcpy, in dma #1 on mlx5_0 \(running since 0.000000 s\); 2 have ended, the last at '
		assert re.match(r'not finished after 1 s .*; ' + state + r'.*; exit status 124 instead of 0$', message), message
		for told in state, 'dpu runs, as process', 'host has ended', 'fault 1 hit 1 of 3 matches: dma.memcpy nth=3 hang':
		    assert re.search(told, text) and re.search(told, output), told
		message = of('never')[0]
		assert message.startswith('fault 1 never hit: dma.memcpy nth=99 hang ('), message
		message, text, output, properties = of('dies')
		assert re.match(r'the command on dpu ended with status 137 \(SIGKILL\); ending the others; ' + state.replace('0.000000', r'[\d.]+').replace('2 have', '8 have'), message), message
		assert 'host runs, as process' in text and re.search('fault 1 hit 1 of 2 matches', text), text
		message, text, output, properties = of('broken')
		assert re.match(r'BFC-BUF-014 at .*trace_peer\.c:\d+: doca_task_submit: ', message), message
		assert properties['check'] == 'api'
	EOF2
}

# Each of the two ends only when the other runs, too.
test_runs_go_side_by_side_in_directories_of_their_own() {
	scenario pair <<-'EOF2'
		seeds: 1..2
		sides:
		  dpu: |
		    [ ! -e mine ] && : >mine && : >"$BFSIM_TEST_FOLDER/$BFSIM_TEST_SEED" &&
		    until [ -e "$BFSIM_TEST_FOLDER/1" ] && [ -e "$BFSIM_TEST_FOLDER/2" ]; do sleep 0.05; done
	EOF2
	status 0 bfsim test -j 2 pair.yaml
	says '^2 passed, 0 failed' out
}

test_an_order_of_chance_is_repeatable() {
	scenario many <<-'EOF2'
		seeds: 1..6
		sides: {dpu: true}
	EOF2
	status 0 bfsim test -j 1 --shuffle=9 many.yaml
	sed -n 's/^ok  *\(many seed .\).*/\1/p' out >first
	[ "$(cat first)" != "$(sort first)" ]
	status 0 bfsim test -j 1 --shuffle=9 many.yaml
	sed -n 's/^ok  *\(many seed .\).*/\1/p' out | cmp - first
	status 0 bfsim test --shuffle --seeds 3 many.yaml
	says 'this order is repeated by --shuffle=[0-9]' err
	says '^1 passed' out
}

test_commands_may_wait_and_be_prepared() {
	echo text >in
	scenario order <<-'EOF2'
		before: printf more >>in
		copy: in
		until: dpu
		sides:
		  dpu: {command: "cat in; [ -e late ] || sleep 0.3; [ ! -e late ]", delay: 0ms, output: "^textmore|^more"}
		  host: [{command: "exec sleep 1000"}, {command: ": >late", delay: 20s}]
	EOF2
	status 0 bfsim test order.yaml
	same text "$(cat in)"
	scenario service <<-EOF2
		sides:
		  dpu: $hello_dpu
		  host: {command: $hello_host, after: comch_hello, output: "the DPU answers"}
	EOF2
	status 0 bfsim test service.yaml
}

test_an_expected_failure_passes() {
	scenario fails <<-'EOF2'
		timeout: 1s
		status: 124
		output: "dpu: has not attached"
		sides: {dpu: exec sleep 1000}
	EOF2
	status 0 bfsim test fails.yaml
}

# refused LINE PATTERN: a scenario of standard input is wrong there.
refused() {
	cat >wrong.yaml
	status 2 bfsim test wrong.yaml
	says "wrong.yaml:$1: $2" err
	one_line err
}

test_a_wrong_scenario_is_explained_by_line() {
	echo 'sids: {dpu: true}' | refused 1 'sids: unknown field; did you mean sides'
	printf 'sides:\n  dpu: {comand: true}\n' | refused 2 'comand: unknown field; did you mean command'
	printf 'sides:\n  dpu: {output: x}\n' | refused 2 'dpu: command is missing'
	printf 'name: x\n' | refused 1 'sides is missing'
	printf 'sides: {dpu: true}\nseeds: 5..1\n' | refused 2 'seeds: expected a number, or a range such as 1..50'
	printf 'sides: {dpu: true}\noutput: "("\n' | refused 2 'output: "\(" is not a regular expression'
	printf 'sides: {dpu: true}\ntimeout: soon\n' | refused 2 'timeout: expected a number'
	printf 'sides: [\n' | refused 2 ''
	printf '' | refused 1 'is empty'
	status 2 bfsim test nowhere.yaml
	says 'nowhere.yaml: No such file' err
	status 2 bfsim test
	says 'which scenarios' err
}

test_a_terminated_suite_leaves_nothing() {
	scenario long <<-'EOF2'
		sides: {dpu: 'echo $$ >"$BFSIM_TEST_FOLDER/pid"; exec sleep 1000'}
	EOF2
	"$bfsim_program" test long.yaml >long.out 2>&1 &
	suite=$!
	becomes_true has_text pid
	kill -TERM $suite
	got=0
	wait $suite || got=$?
	same 143 $got
	becomes_true gone "$(cat pid)"
	absent "$TMPDIR"/*
}

run_tests "$0" "$work"
