#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim test and bfsim replay: scenarios, their results, and the bundles of failures.
#
#   test_scenarios.sh BFSIM HELLO_HOST HELLO_DPU SOURCES CHECK_PROGRAM TRACE_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
hello_host=$(realpath "$2")
hello_dpu=$(realpath "$3")
sources=$(realpath "$4")
check_program=$(realpath "$5")
trace_peer=$(realpath "$6")
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
	EOF2
	bfsim trace bfsim-failures/bad/trace.bfsim | grep -q '^{"traceEvents":'
	bfsim fault replay bfsim-failures/bad/trace.bfsim | grep -q 'faults: '
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
	status 2 bfsim replay moved/bfsim-failures/seeds-seed-5
	says 'folder names where they are now' err
	status 0 bfsim replay --folder moved moved/bfsim-failures/seeds-seed-5
	status 2 bfsim replay moved
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
		timeout: 4s
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
	says '^FAIL  never .* fault 1 never hit: dma.memcpy nth=99 hang \(.*\)$' out
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
		assert re.match(r'not finished after 4 s .*; ' + state + r'.*; exit status 124 instead of 0$', message), message
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
	printf 'sides:\n  dpu: {comand: true}\n' | refused 2 'sides.dpu.comand: unknown field; did you mean command'
	printf 'sides:\n  dpu: {output: x}\n' | refused 2 'sides.dpu.command: is missing'
	printf 'name: x\n' | refused 1 'sides is missing'
	printf 'sides: {dpu: true}\nseeds: 5..1\n' | refused 2 'seeds: expected a number, or a range such as 1..50'
	printf 'sides: {dpu: true}\noutput: "("\n' | refused 2 'output: "\(" is not a regular expression'
	printf 'sides: {dpu: true}\ntimeout: soon\n' | refused 2 'timeout: expected a number'
	printf 'sides: [\n' | refused 2 ''
	printf '' | refused 1 'the file is empty; it needs sides with commands'
	status 2 bfsim test nowhere.yaml
	says 'nowhere.yaml: No such file' err
	status 2 bfsim test
	says 'which scenarios' err
}

# fails REASON: the scenario of standard input fails for that reason, whatever its status says.
fails() {
	cat >proof.yaml
	status 1 bfsim test proof.yaml
	says "^FAIL +proof .*$1" out
	[ -e bfsim-failures/proof/case.json ]
	rm -r bfsim-failures
}

# A scenario that expects a failure is the one that a failure of bfsim's own could satisfy.
test_no_status_matches_what_bfsim_itself_says() {
	for status in 1 125; do
		printf 'sides: {dpu: dpu, hsot: host}\nstatus: %s\n' $status >side.yaml
		status 2 bfsim test side.yaml
		says 'side.yaml:1: sides: the built-in topology has no side "hsot"' err
		printf 'sides: {dpu: true}\ntopology: nofile.yaml\nstatus: %s\n' $status >card.yaml
		status 2 bfsim test card.yaml
		says 'card.yaml:2: topology: .*/nofile.yaml: No such file' err
		printf 'sides: {dpu: true}\nfaults:\n  - comch.snd drop\nstatus: %s\n' $status >rule.yaml
		status 2 bfsim test rule.yaml
		says "rule.yaml:3: fault 'comch.snd drop', column 1: unknown operation" err
		fails 'fault 1 never hit: comch.send nth=50 drop' <<-EOF2
			sides: {dpu: exit $status}
			faults: [comch.send nth=50 drop]
			status: $status
		EOF2
		fails 'nothing was checked: no program of the run has loaded a DOCA library' <<-EOF2
			sides: {dpu: exit $status}
			check: api
			status: $status
		EOF2
		fails 'has offered the service "door"' <<-EOF2
			sides: {dpu: true, host: {command: true, after: door}}
			status: $status
		EOF2
	done
	absent bfsim-failures "$TMPDIR"/*
}

test_a_program_may_end_with_any_status() {
	for status in 2 70 124 125; do
		printf 'sides: {dpu: exit %s}\nstatus: %s\n' $status $status >any.yaml
		status 0 bfsim test any.yaml
	done
}

test_faults_that_never_hit_may_be_allowed() {
	scenario idle <<-'EOF2'
		sides: {dpu: true}
		faults: [dma.memcpy hang]
		require-faults: false
	EOF2
	status 0 bfsim test idle.yaml
}

# Each seed alone may miss; the whole range must not.
test_a_random_fault_must_hit_with_one_of_the_seeds() {
	ln -s "$hello_host" host
	ln -s "$hello_dpu" dpu
	printf 'sides: {dpu: dpu, host: host}\nfaults: [comch.send p=0.2 delay=1us]\nseeds: 1..6\n' >some.yaml
	status 0 bfsim test some.yaml
	printf 'sides: {dpu: dpu, host: host}\nfaults: [comch.send p=1e-9 delay=1us]\nseeds: 1..3\n' >none.yaml
	status 1 bfsim test -j 1 none.yaml
	says '^2 passed, 1 failed' out
	says '^FAIL +none seed 3 .*with none of the 3 seeds: fault 1 never hit: comch.send p=' out
	status 1 bfsim test --seeds 3 none.yaml
}

test_broken_rules_are_judged_apart_from_the_status() {
	ln -s "$check_program" checked
	scenario clean <<-'EOF2'
		sides: {dpu: checked task-without-data near-miss}
		check: api
	EOF2
	status 0 bfsim test clean.yaml
	scenario wanted <<-'EOF2'
		sides: {dpu: checked task-without-data provoke}
		check: api
		status: 70
	EOF2
	status 0 bfsim test wanted.yaml
	fails 'the checker found BFC-[A-Z]+-[0-9]+ broken' <<-'EOF2'
		sides: {dpu: 'checked task-without-data provoke; exit 3'}
		check: api
		status: 3
	EOF2
	fails 'the checker found no rule broken' <<-'EOF2'
		sides: {dpu: 'checked task-without-data near-miss'}
		check: api
		status: 70
	EOF2
}

test_options_hold_for_each_scenario() {
	printf 'cards:\n  - profile: bluefield-2\n    functions: [{side: dpu, type: pf, pci: "03:00.0"}, {side: host, type: pf, pci: "b1:00.0"}]\n' >card.yaml
	printf 'faults: [comch.recv delay=1us]\n' >plan.yaml
	mkdir in
	ln -s "$hello_host" in/host
	ln -s "$hello_dpu" in/dpu
	for name in one two; do
		printf 'sides: {dpu: dpu, host: host}\ntimeout: 1\ntopology: none.yaml\nclock: functional\n' >in/$name.yaml
	done
	status 0 bfsim test --seeds 4..5 --fault 'comch.send delay=1us' --fault-plan plan.yaml --check --clock virtual \
		--topology card.yaml --generation task --timeout 60 in/one.yaml in/two.yaml
	says '^ok +two seed 5 ' out
	says '^4 passed' out
	status 1 bfsim test --seeds 4 --fault 'comch.send nth=99 drop' --topology card.yaml --clock virtual in/one.yaml
	says 'fault 1 never hit' out
	rm card.yaml # the bundle has it, and the options
	status 1 bfsim replay bfsim-failures/one-seed-4
	says 'FAIL +one seed 4 .*fault 1 never hit: comch.send nth=99 drop' out
	status 2 bfsim test --fault 'comch.snd drop' in/one.yaml
	says 'unknown operation' err
	status 2 bfsim test --topology nowhere.yaml in/one.yaml
	says '\-\-topology nowhere.yaml: No such file' err
	status 2 bfsim test --fault 'comch.send side=hots drop' --topology in/../plan.yaml in/one.yaml
}

test_all_errors_of_a_scenario_are_told() {
	printf 'faults: [comch.send drop]\n' >plan.yaml
	scenario wrong <<-'EOF2'
		sides:
		  hots: true
		  dpu: {command: nosuchprogram, delay: soon, generation: old}
		  host: ./missing
		clock: fast
		check: some
		until: dpuu
		faults:
		  - dma.memcpy side=hots hang
		  - link errors=1%
		fault-plan: [plan.yaml, noplan.yaml]
		copy: nofile
		require-faults: true
	EOF2
	status 2 bfsim test wrong.yaml
	says 'wrong.yaml:2: sides: the built-in topology has no side "hots"' err
	says 'wrong.yaml:3: dpu: there is no program nosuchprogram in .*, nor in PATH' err
	says 'wrong.yaml:3: delay: soon: write a time such as 500ms' err
	says 'wrong.yaml:3: .*old' err
	says 'wrong.yaml:5: clock: fast' err
	says 'wrong.yaml:6: check: some' err
	says 'wrong.yaml:7: until: there is no side dpuu; did you mean dpu' err
	says "wrong.yaml:9: fault 'dma.memcpy side=hots hang': the card has no side hots" err
	says "wrong.yaml:10: fault 'link errors=.*': the session's clock is functional" err
	says 'wrong.yaml:11: fault-plan: .*noplan.yaml' err
	says 'wrong.yaml:12: copy: .*/nofile: No such file' err
	same '' "$(grep -v '^bfsim: wrong.yaml:[0-9]*: ' err)"
	printf 'sides: {host: ./missing}\n' >missing.yaml
	status 2 bfsim test missing.yaml
	says 'missing.yaml:1: host: there is no ./missing: a run begins in an empty directory' err
	printf 'sides: {dpu: true}\nrequire-faults: true\n' >nofault.yaml
	status 2 bfsim test nofault.yaml
	says 'nofault.yaml:2: require-faults: there is no fault' err
	printf 'sids: {dpu: true}\nnam: x\n' >two.yaml
	status 2 bfsim test two.yaml
	says 'two.yaml:1: sids: unknown field' err
	says 'two.yaml:2: nam: unknown field' err
	absent bfsim-failures "$TMPDIR"/*
}

# nested N: "a: " and N times "["
nested() { python3 -c "print('a: ' + '[' * $1)"; }

test_files_have_limits() {
	printf 'sides: {dpu: true}\n---\nsides: {dpu: false}\n' | refused 2 'a second document'
	printf 'sides: {dpu: "true \\0 false"}\n' | refused 1 'sides.dpu: has a zero byte in its text'
	printf 'sides: {dpu: true}\nsides: {host: true}\n' | refused 2 'sides: is given twice'
	printf 'sides: {dpu: true, dpu: false}\n' | refused 1 'sides.dpu: is given twice; several commands on one side are a list'
	printf 'sides: {dpu: {command: true, command: false}}\n' | refused 1 'sides.dpu.command: is given twice'
	printf 'a: &x [1]\nb: *x\n' | refused 1 'a: anchors'
	nested 200000 | refused 1 '.*is nested too deeply'
	python3 -c "print('faults: [' + '1, ' * 2000000 + ']')" | refused 1 'is larger than 1048576 bytes'
	printf 'sides: {dpu: true}\noutput: "((((((a{1,255}){1,255}){1,255}){1,255}){1,255}){1,255}"\n' | refused 2 'output: .* repeats more than'
	for text in 'mutes: []\n---\nmutes: []\n' 'mutes:\n- {rule: "*", rule: "*", reason: x, site: {file: x}}\n' \
		'mutes:\n- {rule: "*", reason: x, site: {file: x}, site: {function: x}}\n' 'mutes:\n- {rule: "*", reason: "x\\0y", site: {file: x}}\n'; do
		# shellcheck disable=SC2059
		printf "$text" >mutes.yaml
		status 2 bfsim run --check --check-mutes mutes.yaml --dpu true
		says 'mutes.yaml:[0-9]+: .*(second document|twice|zero byte)' err
	done
	nested 200000 >mutes.yaml
	status 2 bfsim run --check --check-mutes mutes.yaml --dpu true
	says 'mutes.yaml:1: .*is nested too deeply' err
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
