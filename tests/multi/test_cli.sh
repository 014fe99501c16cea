#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bfsim command: its output, its exit status, and what it leaves behind.
#
#   test_cli.sh BFSIM CLI_PEER       (TAP; CLI_PEER is the program of cli_peer.c)
#
# Each test is a shell function that runs in a directory of its own (tap.sh).
# shellcheck disable=SC2016

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

bfsimd_program=$(realpath "${BFSIM_BFSIMD:-${1}d}")
peer=$(realpath "$2")
use_bfsim "$1"

daemon_of() { bfsim ps --json --session "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])'; }

# --- up, down ------------------------------------------------------------------

test_up_and_down_start_and_end_a_session() {
	status 0 bfsim up --session s
	says "^session $PWD/s\$" out
	says "bfsim exec --session $PWD/s --on host -- COMMAND" out
	status 0 bfsim ps --session s
	says 'no process is attached' out
	status 1 bfsim wait --session s --timeout 3600 node1
	says 'the session is on this machine alone' err
	status 0 bfsim down --session s
	same '' "$(ls -A s)"
	status 1 bfsim ps --session s
	says 'no session in s: start one with bfsim up' err
}

# Commands that a message suggests can be typed as they are.
test_hints_have_quotes_around_a_directory_that_needs_them() {
	mkdir "it's a dir"
	dir="$PWD/it's a dir/s"
	bfsim up --session "$dir" >out
	eval "$(grep -o 'bfsim exec.*on host -- ' out) true"
	status 1 bfsim function reset 09:00.0 --session "$dir"
	eval "$(grep -o 'bfsim devs .* lists' err | sed 's/ lists$//')" >devs
	says '^host ' devs
	daemon=$(daemon_of "$dir")
	kill -KILL "$daemon"
	becomes_true gone "$daemon"
	(BFSIM_SESSION="$dir" BFSIM_SIDE=host "$peer" listen name <&- 2>err) && return 1
	eval "$(sed -n 's/.*start it again with \(bfsim up\)/\1/p' err)" >out
	eval "$(grep -o 'bfsim down.*' out)"
	same '' "$(ls -A "$dir")"
}

test_links_that_somebody_planted_harm_no_file() {
	mkdir s
	echo precious >victim
	ln -s ../victim s/topology.yaml.new
	status 0 bfsim up --session s
	same precious "$(cat victim)"
	bfsim down --session s
	for name in bfsimd.log lock; do
		ln -s ../victim s/$name
		status 1 bfsim up --session s
		says 'symbolic link' err
		one_line err
		same precious "$(cat victim)"
		rm -f s/$name
	done
}

test_the_default_session_is_one_per_user() {
	status 0 bfsim up
	says "^session $work/bfsim\$" out
	status 0 bfsim down
}

test_a_second_up_is_refused_and_harms_nothing() {
	bfsim up --session s >/dev/null
	first=$(daemon_of s)
	status 1 bfsim up --session s
	says 'runs in .*/s already: use it, end it with bfsim down' err
	one_line err
	same "$first" "$(daemon_of s)"
	bfsim down --session s
}

test_a_directory_that_cannot_be_made_is_explained() {
	status 1 bfsim up --session nowhere/s
	says 'cannot make the session directory nowhere/s: No such file or directory; choose another --session' err
	one_line err
}

test_down_without_a_session_is_an_error() {
	status 1 bfsim down --session nowhere
	says 'no session in nowhere' err
	one_line err
	absent nowhere
}

kill_daemon() {
	bfsim up --session s >/dev/null
	daemon=$(daemon_of s)
	kill -KILL "$daemon"
	becomes_true gone "$daemon"
}

test_a_stale_session_is_recognised_and_replaced() {
	kill_daemon
	status 1 bfsim ps --session s
	says 'the session in s is stale, its daemon died' err
	status 125 bfsim exec --session s --on host -- true
	says 'the session in s is stale, its daemon died' err
	status 0 bfsim up --session s
	status 0 bfsim ps --session s
	bfsim down --session s
}

test_down_removes_a_stale_session() {
	kill_daemon
	status 0 bfsim down --session s
	same '' "$(ls -A s)"
}

test_a_bad_topology_is_explained_and_leaves_nothing() {
	printf 'cards:\n  - name: card0\n    profile: bluefield-99\n    functions: [{side: host, type: pf, pci: "b1:00.0"}]\n' >bad.yaml
	status 1 bfsim up --session s --topology bad.yaml
	says 'bad.yaml:3: .*bluefield-99' err
	one_line err
	absent s
	status 1 bfsim up --session s --topology nowhere.yaml
	says 'nowhere.yaml: No such file' err
	one_line err
	absent s
	mkdir kept
	status 1 bfsim up --session kept --topology bad.yaml
	same '' "$(ls -A kept)"
}

test_a_daemon_that_cannot_be_started_is_explained_and_leaves_nothing() {
	status 1 env BFSIM_BFSIMD="$PWD/no daemon" "$bfsim_program" up --session s
	says 'cannot start .*/no daemon: .*BFSIM_BFSIMD' err
	one_line err
	absent s
}

# Without its directory no command can reach the session, and it would run for ever.
test_a_session_whose_directory_was_removed_ends_with_its_last_process() {
	bfsim up --session s >/dev/null
	empty=$(daemon_of s)
	rm -rf s # the daemon removes its files too, as soon as it sees that its socket is gone
	becomes_true gone "$empty"
	bfsim up --session s >/dev/null
	used=$(daemon_of s)
	start_peer host host export
	exec 8>host.in
	read -r answer <host.out
	rm -rf s
	bfsim up --session s >/dev/null # by then the first daemon has seen it, and stays
	! gone "$used" || false
	exec 8>&-
	becomes_true gone "$used"
	bfsim down --session s
}

test_up_does_not_replace_a_topology_file_of_the_user() {
	echo mine >topology.yaml
	status 1 bfsim up --session .
	says 'topology.yaml is not a session' err
	same mine "$(cat topology.yaml)"
}

test_up_does_not_hold_the_output_open() {
	bfsim up --session s | timeout 20 cat >out # it ends when the last writer has closed the pipe
	says '^session' out
	bfsim down --session s
}

test_bfsimd_goes_to_the_background() {
	status 0 "$bfsimd_program" --session s
	same '' "$(cat out err)"
	status 0 bfsim ps --session s
	status 1 "$bfsimd_program" --session s
	says 'runs in .*/s already' err
	bfsim down --session s
	status 2 "$bfsimd_program" --session s --die-with-parent
	absent bfsimd.log
}

test_bfsimd_in_the_foreground_tells_when_it_is_ready_and_cleans_up() {
	mkfifo ready
	"$bfsimd_program" --session s --foreground --remove-dir --ready-fd 7 7>ready &
	daemon=$!
	same 1 "$(wc -c <ready)" # ends when the daemon has closed its end
	same "$daemon" "$(daemon_of s)"
	kill -TERM "$daemon"
	wait "$daemon"
	absent s
	status 1 "$bfsimd_program" --session s --foreground --topology nowhere.yaml
	says 'nowhere.yaml' err
	absent s
}

clock_of() {
	tr '\0' '\n' <"/proc/$(daemon_of "$1")/cmdline" | sed -n '/^--clock$/{n;p;}'
}

test_clock_is_chosen_when_a_session_is_made() {
	status 0 bfsim up --session s --clock virtual
	same virtual "$(clock_of s)"
	bfsim down --session s
	status 0 bfsim up --session s
	same functional "$(clock_of s)"
	bfsim down --session s
	status 0 bfsim run --clock timed --host true
	status 2 bfsim run --clock sundial --host true
	says 'clock sundial: write functional, timed or virtual' err
	status 2 bfsim up --session wrong --clock ''
	absent wrong
}

# --- exec, ps ------------------------------------------------------------------

test_exec_puts_a_process_on_its_side() {
	bfsim up --session s >/dev/null
	status 0 bfsim exec --session s --on dpu -- sh -c 'echo "$BFSIM_SIDE $BFSIM_SESSION $1"' - --on
	same "dpu $PWD/s --on" "$(cat out)"
	status 5 bfsim exec --session s --on host -- sh -c 'exit 5'
	status 2 bfsim exec --session s --on front -- true
	says 's has no side "front"; its sides are: dpu, host' err
	status 127 bfsim exec --session s --on host -- ./nowhere
	says 'cannot start ./nowhere: No such file' err
	touch plain
	status 126 bfsim exec --session s --on host -- ./plain
	status 2 bfsim exec --session s -- true
	status 2 bfsim exec --session s --on host
	bfsim down --session s
}

test_exec_finds_the_session_in_the_environment() {
	bfsim up --session s >/dev/null
	same "$PWD/s" "$(BFSIM_SESSION=s bfsim exec --on host -- printenv BFSIM_SESSION)"
	bfsim down --session s
}

# start_peer NAME SIDE ACTION [KEY]: runs until descriptor of NAME.in is closed; ready on return.
start_peer() {
	mkfifo "$1.in" "$1.out"
	"$bfsim_program" exec --session s --on "$2" -- "$peer" "$3" "${4:-key}" <"$1.in" >"$1.out" &
}

test_ps_shows_processes_and_how_bytes_move() {
	bfsim up --session s >/dev/null
	start_peer host host export
	exporter=$!
	exec 8>host.in
	read -r answer <host.out
	same ready "$answer"
	start_peer dpu dpu import
	importer=$!
	exec 9>dpu.in
	read -r answer <dpu.out
	same ready "$answer"

	status 0 bfsim ps --session s
	says "^ *$exporter +host +cli_peer +1 +0 +-\$" out
	says "^ *$importer +dpu +cli_peer +0 +1 +-\$" out
	says "^ *$importer +$exporter +12345 +rw +[a-z]" out
	status 0 bfsim ps --session s --json
	python3 - "$exporter" "$importer" <<-'EOF'
		import json, sys
		report = json.load(open("out"))
		pid_of = {process["peer"]: process["pid"] for process in report["processes"]}
		(one,) = report["imports"]
		assert [pid_of[one["exporter"]], pid_of[one["importer"]]] == [int(arg) for arg in sys.argv[1:]], report
	EOF

	exec 8>&- 9>&-
	wait "$importer"
	wait "$exporter"
	status 0 bfsim ps --session s
	says 'no process is attached' out
	bfsim down --session s
}

test_ps_shows_listeners_and_connections() {
	bfsim up --session s >/dev/null
	start_peer dpu dpu listen "my server"
	server=$!
	exec 8>dpu.in
	read -r answer <dpu.out
	same ready "$answer"
	status 0 bfsim ps --session s
	says "^my server +$server +cli_peer +dpu 0000:03:00.0 +host 0000:b1:00.0\$" out
	start_peer found host connect "my server"
	found=$!
	exec 9>found.in
	read -r answer <found.out
	same ready "$answer"
	start_peer lost host connect "no server"
	lost=$!
	exec 7>lost.in
	read -r answer <lost.out
	same ready "$answer"
	status 0 bfsim ps --session s
	says "^my server +offered +$found cli_peer +host 0000:b1:00.0 +$server cli_peer +dpu 0000:03:00.0\$" out
	says "^no server +pending +$lost cli_peer +host 0000:b1:00.0 +- +-\$" out

	exec 7>&- 8>&- 9>&-
	wait "$server"
	wait "$found"
	wait "$lost"
	bfsim down --session s
}

# --- run -----------------------------------------------------------------------

nothing_left() { absent "$TMPDIR"/*; }

test_run_names_the_side_before_each_line() {
	status 0 bfsim run --host 'echo out; echo err >&2; printf "no end"' --dpu 'echo "$BFSIM_SIDE" there'
	says '^host\| out$' out
	says '^host\| no end$' out
	says '^dpu \| dpu there$' out
	same 'host| err' "$(cat err)"
	nothing_left
}

test_run_shuffles_with_the_seed_that_it_prints() {
	status 0 bfsim run --shuffle=5 --host 'echo "seed $BFSIM_SHUFFLE"'
	says '^host| seed 5$' out
	status 0 bfsim run --shuffle --host 'echo "seed $BFSIM_SHUFFLE"'
	seed=$(sed -n 's/^host| seed //p' out)
	says "the order of tasks is repeated by --shuffle=$seed\$" err
	status 2 bfsim run --shuffle=x --host true
	says '--shuffle=x: not a number' err
	nothing_left
}

test_run_tears_no_lines() {
	line=$(printf '%05000d' 0)
	lines='i=0; while [ $i -lt 200 ]; do echo "$line"; i=$((i + 1)); done'
	status 0 env line="$line" "$bfsim_program" run --host "$lines" --dpu "$lines"
	same 200 "$(grep -cx "host| $line" out)"
	same 200 "$(grep -cx "dpu | $line" out)"
	same 400 "$(wc -l <out)"
}

test_run_ends_with_the_first_failure() {
	status 0 bfsim run --host true --dpu true
	status 3 bfsim run --host 'exit 3' --dpu 'exec sleep 1000'
	says 'the command on host ended with status 3; ending the others' err
	status 4 bfsim run --host 'exec sleep 1000' --dpu 'exit 4'
	status 137 bfsim run --host 'kill -KILL $$' --dpu 'exec sleep 1000'
	status 127 bfsim run --dpu ./nowhere
	nothing_left
}

test_run_kills_what_ignores_its_request_to_end() {
	status 6 bfsim run --host 'trap "" TERM; echo >armed; while :; do sleep 0.1; done' \
		--dpu 'until [ -s armed ]; do sleep 0.05; done; exit 6'
	nothing_left
}

test_run_presses_enter_when_the_peer_is_done() {
	status 0 bfsim run --host 'read -r line && [ -e done ] && echo "[$line]"; cat; echo end of input' \
		--dpu 'echo >done'
	says '^host\| \[\]$' out
	says '^host\| end of input$' out
}

test_run_ends_after_its_time() {
	status 124 bfsim run --timeout 1 --host 'echo $$ >pid; exec sleep 1000'
	says 'not finished after 1 s' err
	[ ! -s pid ] || gone "$(cat pid)" # on a busy machine it may not have got so far
	nothing_left
}

test_run_starts_commands_on_any_side() {
	cat >two.yaml <<-'EOF'
		cards:
		  - name: a
		    profile: bluefield-3
		    functions:
		      - {side: n0/dpu, type: pf, pci: "03:00.0"}
		      - {side: n0/host, type: pf, pci: "b1:00.0"}
	EOF
	status 0 bfsim run --topology two.yaml --on 'n0/host=echo a=b' --on 'n0/dpu=echo $BFSIM_SIDE'
	says '^n0/host\| a=b$' out
	says '^n0/dpu \| n0/dpu$' out
	status 2 bfsim run --topology two.yaml --host true
	says 'two.yaml has no side "host"; its sides are: n0/dpu, n0/host' err
	status 2 bfsim run --on host
	status 2 bfsim run
	nothing_left
}

test_run_uses_a_directory_that_is_named() {
	mkdir s
	status 0 bfsim run --session s --host 'echo "$BFSIM_SESSION"'
	same "host| $PWD/s" "$(cat out)"
	same '' "$(ls -A s)"
	status 0 bfsim run --session new --host true
	absent new
	bfsim up --session s >/dev/null
	status 125 bfsim run --session s --host true
	says 'already' err
	bfsim down --session s
}

test_run_ends_what_its_commands_left_behind() {
	status 0 bfsim run --host 'sleep 1000 & echo $! >a; setsid sleep 1000 & echo $! >b'
	says 'ending 2 processes that they left in the background' err
	one_line err
	gone "$(cat a)"
	gone "$(cat b)"
	nothing_left
}

test_run_ends_when_its_daemon_dies() {
	status 125 bfsim run --host "$bfsim_program ps --json >ps.json; exec sleep 1000" \
		--dpu "until [ -s ps.json ]; do sleep 0.05; done
			kill -KILL \$(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' ps.json | head -n 1); exec sleep 1000"
	says "the session's daemon ended" err
	nothing_left
}

# A run with a child and a grandchild in a session of its own: their numbers, the
# worker's and the daemon's are known when this returns, as is $run.
start_long_run() {
	rm -f child grandchild worker daemon
	"$bfsim_program" run --host "
		echo \$PPID >worker
		$bfsim_program ps --json | sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' | head -n 1 >daemon
		$1
		echo \$\$ >child
		exec sleep 1000" >run.out 2>&1 &
	run=$!
	becomes_true has_text child
	has_text daemon
}

all_gone() {
	for process in child grandchild worker daemon; do
		[ ! -e $process ] || becomes_true gone "$(cat $process)"
	done
	becomes_true nothing_left
}

with_grandchild='setsid sleep 1000 & echo $! >grandchild'

test_a_terminated_run_leaves_nothing() {
	start_long_run "$with_grandchild"
	kill -TERM $run
	got=0
	wait $run || got=$?
	same 143 $got
	gone "$(cat child)"
	gone "$(cat grandchild)"
	gone "$(cat daemon)"
	nothing_left
}

test_a_run_signalled_twice_at_once_still_lets_its_commands_end() {
	start_long_run 'trap "sleep 0.1; echo >cleaned; exit" TERM; echo $$ >child; while :; do sleep 0.1; done'
	kill -TERM $run
	kill -TERM $run
	got=0
	wait $run || got=$?
	same 143 $got
	has_text cleaned
	nothing_left
}

test_a_killed_run_leaves_nothing() {
	start_long_run "$with_grandchild"
	kill -KILL $run
	all_gone
}

test_a_killed_run_leaves_nothing_of_a_daemon_that_does_not_end() {
	start_long_run ''
	kill -STOP "$(cat daemon)"
	kill -KILL $run
	all_gone
}

test_a_killed_worker_of_run_leaves_nothing() {
	start_long_run "$with_grandchild"
	kill -KILL "$(cat worker)"
	got=0
	wait $run || got=$?
	same 125 $got
	all_gone
}

test_a_run_and_its_worker_killed_together_leave_nothing() {
	start_long_run ''
	kill -KILL $run "$(cat worker)"
	all_gone
}

# --- functions and links -------------------------------------------------------

test_function_and_link_commands_hit_the_device_that_is_named() {
	bfsim up --session s --clock timed >/dev/null
	status 0 bfsim function reset 03:00.0 --session s
	status 0 bfsim function fatal mlx5_1 --session s
	status 0 bfsim link down b1:00.0 --for 1ms --session s
	status 0 bfsim link degrade 'b1:*' --to gen2x4 --for 1s --session s
	status 0 bfsim link errors 03:00.1 --part 1% --session s
	same '' "$(cat out err)"
	bfsim fault list --session s >rules
	says ' 1 +1 +1  function device=0000:03:00.0 reset' rules
	says ' 2 +[1-9] +[1-9]  link device=mlx5_1 fatal' rules
	says ' 3 +1 +1  link device=0000:b1:00.0 down=1ms' rules
	says ' 4 +2 +2  link device=.* until=[0-9]+ns degrade=gen2x4' rules
	says ' 5 +1 +1  link device=0000:03:00.1 errors=0.01' rules
	bfsim down --session s
}

# A command without effect is an error: a script that goes on would prove nothing.
test_function_command_fails_when_the_function_is_so_already() {
	bfsim up --session s >/dev/null
	status 1 bfsim function add 03:00.0 --session s
	says '^bfsim: nothing was done: .*03:00.0: it is there already$' err
	one_line err
	status 0 bfsim function remove 03:00.0 --session s
	for action in remove reset; do
		status 1 bfsim function $action 03:00.0 --session s
		says 'it is removed already' err
	done
	status 0 bfsim function add 'mlx5_*' --session s # one of them is not there
	same 3 "$(bfsim fault list --session s | wc -l)"
	bfsim down --session s
}

test_function_and_link_commands_explain_what_is_wrong() {
	bfsim up --session s >/dev/null
	status 1 bfsim function reset 09:00.0 --session s
	says 'there is no device .*09:00.0 in session s; bfsim devs --session s lists them' err
	one_line err
	status 2 bfsim function jump 03:00.0 --session s
	says 'give reset, remove, add or fatal' err
	status 2 bfsim function reset --session s
	status 2 bfsim link down 03:00.0 --session s
	says 'for how long' err
	status 2 bfsim link degrade 03:00.0 --session s
	says 'to gen2x4' err
	status 2 bfsim link degrade 03:00.0 --to gen9x4 --session s
	status 2 bfsim link cut 03:00.0 --session s
	says 'give down, degrade or errors' err
	status 1 bfsim function reset 03:00.0 --session nowhere
	bfsim fault list --session s >rules
	same 1 "$(wc -l <rules)"
	bfsim down --session s
}

# A user who types "clear 1" means one rule.
test_fault_commands_that_are_wrong_change_nothing() {
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'dma.memcpy hang' 'comch.send drop' >/dev/null
	for words in 'clear 1' 'list 1' rm add 'add nonsense' 'add dma.memcpy'; do
		# shellcheck disable=SC2086
		status 2 bfsim fault $words --session s
		one_line err
	done
	status 2 bfsim fault add "peer program=\"a$(printf '\t')b\" kill" --session s
	says 'column 15: program: expected a name without a tab; \? matches one' err
	one_line err
	status 1 bfsim fault rm 3 --session s
	same 3 "$(bfsim fault list --session s | wc -l)"
	bfsim down --session s
}

# A line of the list is a rule: the same one.
test_fault_list_can_be_added_again() {
	bfsim up --session s >/dev/null
	bfsim fault add --session s 'dma.memcpy program="=mlx5_0" delay=1us' 'dma.memcpy program="a (b" hang' >/dev/null
	bfsim fault list --session s | awk 'NR > 1' | cut -c20- | sed 's/^ *//' >rules
	same 2 "$(wc -l <rules)"
	while read -r rule; do bfsim fault add --session s "$rule" >/dev/null; done <rules
	bfsim fault list --session s | awk 'NR > 3' | cut -c20- | sed 's/^ *//' >again
	cmp rules again
	bfsim down --session s
}

# The programs see errors and report them themselves.
test_run_goes_on_when_a_rule_kills_its_daemon() {
	status 0 bfsim run --require-faults --fault 'daemon kill' --trace t.json --host \
		"until '$bfsim_program' ps 2>&1 | grep 'is stale, its daemon died'; do sleep 0.05; done"
	says '^host. .* is stale' out
	says '^bfsim: cannot write t.json: the recordings were lost' err
	same '' "$(ls -A "$TMPDIR")"
}

test_run_passes_on_that_a_rule_killed_a_program() {
	status 137 bfsim run --dpu "exec '$peer' listen name" --fault 'peer side=dpu kill' --require-faults
	says '^bfsim: fault 1 hit 1 of 1 matches: peer side=dpu kill$' err
}

test_a_fault_that_never_hit_is_a_failure() {
	status 125 bfsim run --dpu true --fault 'dma.memcpy hang'
	says '^bfsim: fault 1 never hit: dma.memcpy hang \(no program of the run used the card\)$' err
	status 0 bfsim run --dpu true --fault 'dma.memcpy hang' --allow-unused-faults
	says '^bfsim: fault 1 never hit' err
	status 125 bfsim run --dpu true --fault 'function device=03:00.0 add'
	says '^bfsim: fault 1 never hit: function .* add \(1 matched, but .* the device was in that state already\)$' err
	status 2 bfsim run --dpu true --fault 'dma.memcyp hang'
	says 'column 1: unknown operation `dma.memcyp`; did you mean `dma.memcpy`' err
}

# --- devs, sdk, the rest -------------------------------------------------------

test_devs_shows_the_built_in_topology_without_a_session() {
	status 0 bfsim devs
	says '^host +0000:b1:00.0 +pf +mlx5_0 ' out
	says '^dpu +0000:03:00.1 +host/0000:b1:00.1 +pf1hpf$' out
	says '^dpu +0000:03:00.0 +server +4080 B ' out
	says '^host +0000:b1:00.0 +client +4080 B ' out
	same '' "$(awk 'length > 120' out)"
	status 0 bfsim devs --on dpu
	same '' "$(grep '^host ' out)"
	status 1 bfsim devs --session nowhere
	says 'no session in nowhere' err
}

test_devs_shows_the_engines_of_a_card() {
	printf 'cards:\n- profile: bluefield-2\n  functions:\n  - {side: dpu, type: pf, pci: "03:00.0"}\n' >two.yaml
	status 0 bfsim devs --topology two.yaml
	says '^dpu +0000:03:00.0 +sha +2147483647 B +128 +8192 +not measured$' out
	status 0 bfsim devs
	same '' "$(grep ' sha ' out)"
	says '^dpu +0000:03:00.0 +decompress-deflate +2 MiB +128 +65536 +200 Gb/s at x8$' out
	says '^dpu +0000:03:00.0 +erasure-coding +1 MiB +128 +8192 +not measured$' out
	printf 'cards:\n- profile: bluefield-3\n  functions:\n  - {side: dpu, type: pf, pci: "03:00.0", caps: {decompress-deflate-rate: 300 Gb/s}}\n' >fast.yaml
	status 0 bfsim devs --topology fast.yaml
	says '^dpu +0000:03:00.0 +decompress-deflate +2 MiB +128 +65536 +300 Gb/s$' out
	status 0 bfsim devs
	says '^dpu +0000:03:00.0 +aes-gcm +2 MiB +128 +65536 +not measured$' out
}

test_devs_prints_json() {
	status 0 bfsim devs --json
	python3 -m json.tool out >/dev/null
	says '"dma-max-buf-bytes": *2097152' out
	says '"comch-max-buf-bytes": *1073741824' out
	says '"sha": *false' out
}

test_devs_shows_the_session_or_the_file_that_is_named() {
	cat >one.yaml <<-'EOF'
		cards:
		  - name: lonely
		    profile: bluefield-3
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0"}
		      - {side: host, type: pf, pci: "5e:00.0", ipv4: 192.0.2.9}
	EOF
	status 0 bfsim devs --topology one.yaml
	says '^lonely: ' out
	says '^host +0000:5e:00.0 .* 192.0.2.9 ' out
	bfsim up --session s --topology one.yaml >/dev/null
	status 0 bfsim devs --session s
	says '^host +0000:5e:00.0 ' out
	status 1 bfsim devs --session s --on front
	says 's has no side "front"; its sides are: dpu, host' err
	bfsim down --session s
	status 2 bfsim devs --session s --topology one.yaml
}

# An installation in a directory with shell metacharacters in its name: $prefix, $bfsim_there.
install_oddly() {
	prefix="$PWD/it's \"odd\" \$HOME \`x\`"
	libdir="lib/$(uname -m)-linux-gnu"
	mkdir -p "$prefix/bin" "$prefix/sdk/host/$libdir" "$prefix/sdk/dpu/$libdir"
	cp "$bfsim_program" "$prefix/bin/bfsim"
	bfsim_there="$prefix/bin/bfsim"
	export LD_LIBRARY_PATH=/before
}

# Where the documents are installed, messages and help give their paths; elsewhere, their names.
test_documents_in_messages_have_the_path_of_the_installation() {
	local other=aarch64
	[ "$(uname -m)" != aarch64 ] || other=x86_64
	install_oddly
	status 1 "$bfsim_there" sdk --on dpu --arch "$other"
	grep -F '(doc/arm.md)' err
	status 0 "$bfsim_there" link --help
	tr -s '\n ' '  ' <out | grep -F ' doc/faults.md.'
	mkdir -p "$prefix/share/doc/bfsim/doc"
	touch "$prefix/share/doc/bfsim/doc/faults.md" "$prefix/share/doc/bfsim/doc/arm.md"
	status 1 "$bfsim_there" sdk --on dpu --arch "$other"
	grep -F "($prefix/share/doc/bfsim/doc/arm.md)" err
	status 0 "$bfsim_there" link --help
	tr -s '\n ' '  ' <out | grep -F " $prefix/share/doc/bfsim/doc/faults.md."
}

test_sdk_env_sets_a_shell_up_whatever_the_path() {
	install_oddly
	status 0 "$bfsim_there" sdk --on dpu
	same "$prefix/sdk/dpu" "$(cat out)"
	tree="$prefix/sdk/host"
	unset PKG_CONFIG_PATH CPATH
	export LIBRARY_PATH=/before
	eval "$("$bfsim_there" sdk --on host --env)"
	same "$tree/$libdir/pkgconfig" "$(printenv PKG_CONFIG_PATH)"
	same "$tree/include" "$(printenv CPATH)"
	same "$tree/$libdir:/before" "$(printenv LIBRARY_PATH)"
	same "$tree/$libdir:/before" "$(printenv LD_LIBRARY_PATH)"
}

test_sdk_has_a_tree_for_each_generation() {
	install_oddly
	mkdir -p "$prefix/sdk/workq-host/$libdir" "$prefix/sdk/workq-dpu"
	for side in host dpu; do
		status 0 "$bfsim_there" sdk --generation workq --on $side
		same "$prefix/sdk/workq-$side" "$(cat out)"
		status 0 "$bfsim_there" sdk --generation task --on $side
		same "$prefix/sdk/$side" "$(cat out)"
	done
	unset PKG_CONFIG_PATH
	eval "$("$bfsim_there" sdk --generation workq --on host --env)"
	same "$prefix/sdk/workq-host/$libdir/pkgconfig" "$(printenv PKG_CONFIG_PATH)"
	rm -r "$prefix/sdk/workq-dpu"
	status 1 "$bfsim_there" sdk --generation workq --on dpu
	says 'there is no SDK tree at .*/workq-dpu' err
	for command in sdk exec run; do
		status 2 "$bfsim_there" $command --generation 1.5 --on dpu
		says 'there are three, task, task-2.5 and workq' err
	done
}

test_sdk_without_a_tree_is_an_error() {
	install_oddly
	rm -r "$prefix/sdk"
	status 1 "$bfsim_there" sdk --on host
	says 'there is no SDK tree at ' err
	status 2 "$bfsim_there" sdk
	status 2 "$bfsim_there" sdk --on side
}

test_exec_prepends_the_libraries_of_the_side() {
	install_oddly
	bfsim up --session s >/dev/null
	same "$prefix/sdk/dpu/$libdir:$LD_LIBRARY_PATH" \
		"$("$bfsim_there" exec --session s --on dpu -- printenv LD_LIBRARY_PATH)"
	bfsim down --session s
}

test_exec_and_run_use_the_libraries_of_a_generation() {
	install_oddly
	mkdir -p "$prefix/sdk/workq-dpu/$libdir" "$prefix/sdk/workq-host/$libdir"
	bfsim up --session s >/dev/null
	same "$prefix/sdk/workq-dpu/$libdir:$LD_LIBRARY_PATH" \
		"$("$bfsim_there" exec --session s --generation workq --on dpu -- printenv LD_LIBRARY_PATH)"
	bfsim down --session s
	BFSIM_BFSIMD=$(dirname "$bfsim_program")/bfsimd "$bfsim_there" run --generation workq \
		--host 'printenv LD_LIBRARY_PATH >on_host' --generation task \
		--dpu 'printenv LD_LIBRARY_PATH >on_dpu'
	same "$prefix/sdk/workq-host/$libdir:$LD_LIBRARY_PATH" "$(cat on_host)"
	same "$prefix/sdk/dpu/$libdir:$LD_LIBRARY_PATH" "$(cat on_dpu)"
}

test_wrong_command_lines_end_with_2() {
	status 2 bfsim
	status 2 bfsim fly
	says 'no command "fly"' err
	status 2 bfsim up --wings
	status 2 bfsim run --dpu ./app 03:00.0
	says '"03:00.0" belongs to no side; a command with its arguments is one word' err
	status 2 bfsim run --host true --dpu ' '
	says 'the command on dpu is empty' err
	long=$(printf 'n%.0s' $(seq 300))
	for command in "up --listen 0" "join 192.0.2.1:7447"; do
		status 2 bfsim $command --session s --as "$long" --token-file token
		says 'the name of a machine has 1 to 63 characters' err
	done
	status 2 "$bfsimd_program" --session s --join 192.0.2.1:7447 --token-file token
	says 'needs --as' err
	status 0 bfsim --version
	says '^bfsim [0-9]' out
	for command in up down ps exec run fault function link devs sdk; do
		status 0 bfsim help $command
		says "^Usage: bfsim $command " out
		mv out help
		status 0 bfsim $command --help
		cmp out help
	done
}

test_output_that_cannot_be_written_is_an_error() {
	[ -e /dev/full ] || return 0
	got=0
	bfsim devs >/dev/full 2>err || got=$?
	same 1 $got
	says 'cannot write all of the output' err
}

run_tests "$0" "$work"
