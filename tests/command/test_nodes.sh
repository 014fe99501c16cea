#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim run --nodes, and scenarios with nodes: each machine of the topology has a daemon and a gateway.
#
#   test_nodes.sh BFSIM RDMA_HELLO_HOST RDMA_HELLO_DPU TOPOLOGY      (TAP)
# shellcheck disable=SC2016

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
client=$(realpath "$2")
server=$(realpath "$3")
topology=$(realpath "$4")
use_bfsim "$1"
export bfsim_program

# The server listens when it has begun: the client tries again until then.
talk="for try in \$(seq 100); do $client b1:00.0 192.0.2.2 && exit; sleep 0.1; done; exit 1"

test_programs_on_two_machines_talk_and_nothing_is_left() {
	mkdir temporary
	export TMPDIR="$PWD/temporary"
	status 0 bfsim run --nodes --timeout 30 --topology "$topology" --on node1/dpu="$server" --on node0/host="$talk"
	says '^node1/dpu *\| the host says: hello, DPU$' out
	says '^node0/host *\| the DPU answers: hello, host$' out
	lacks 'is gone|in the background' err
	same '' "$(ls temporary)"
}

test_each_machine_has_a_session_of_its_own() {
	status 0 bfsim run --nodes --timeout 30 --topology "$topology" \
		--on node0/host='"$bfsim_program" wait node1 && "$bfsim_program" ps' --on node1/host='"$bfsim_program" ps >other'
	says '^node0/host *\| machine node0, home of the session, at port [0-9]+; encrypted: all$' out
	says '^node0/host *\| node1 +joined +direct +tcp ' out
	says '^machine node1; encrypted: all$' other
}

# Two of them are not home.
test_machines_of_a_run_reach_each_other_directly() {
	status 0 bfsim run --nodes --timeout 30 --topology "$here/../multi/three_nodes.yaml" --on node2/dpu="$server" \
		--on node1/host="for try in \$(seq 100); do $client b1:00.0 192.0.2.3 && break; sleep 0.1; done
			until \"\$bfsim_program\" ps --here | grep '^node2 *joined *direct'; do sleep 0.1; done"
	says '^node1/host *\| node2 +joined +direct +tcp ' out
}

test_a_program_that_fails_ends_all_machines() {
	status 7 bfsim run --nodes --timeout 30 --topology "$topology" --on node1/host='exec sleep 1000' --on node0/host='exit 7'
	says 'the command on node0/host ended with status 7; ending the others' err
}

test_the_others_go_on_when_a_rule_kills_a_program() {
	status 0 bfsim run --nodes --timeout 30 --topology "$topology" --fault 'peer side=node1/dpu kill' \
		--on node1/dpu="echo \$\$ >new; mv new pid; exec $server" \
		--on node0/host='until [ -e pid ]; do sleep 0.05; done; while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done; echo alive'
	says '^node0/host *\| alive$' out
	says 'the command on node1/dpu was killed by a fault; the others go on' err
}

# Home, and another one.
test_the_others_go_on_when_a_rule_kills_a_machine() {
	for machine in node1 node0; do
		other=node$((1 - ${machine#node}))
		rm -f pid
		status 0 bfsim run --nodes --timeout 30 --topology "$topology" --fault "machine side=$machine kill" \
			--on $machine/host='echo $$ >new; mv new pid; exec sleep 1000' \
			--on $other/host='until [ -e pid ]; do sleep 0.05; done; while kill -0 $(cat pid) 2>/dev/null; do sleep 0.05; done; echo alive'
		says "^$other/host *\| alive$" out
		says "the machine $machine was killed by a fault; the others go on" err
		lacks 'never hit' err
	done
}

test_a_daemon_that_is_killed_ends_the_run() {
	status 125 bfsim run --nodes --timeout 30 --topology "$topology" --on node0/host='exec sleep 1000' \
		--on node1/host='kill -KILL $("$bfsim_program" ps --json | sed -n "s/^  \"pid\": *\([0-9]*\).*/\1/p"); exec sleep 1000'
	says 'the daemon of node1 ended before the commands did' err
}

test_what_one_machine_cannot_do_for_all_is_refused() {
	status 2 bfsim run --nodes --topology "$topology" --clock virtual --on node0/host=true
	says 'no common virtual time' err
	status 2 bfsim run --nodes --host true
	says 'give a topology with several machines' err
}

test_faults_and_results_are_of_all_machines() {
	status 0 bfsim run --nodes --timeout 30 --topology "$topology" --require-faults --fault 'rdma.connect side=node0/host times=1 refuse' \
		--report page.html --trace all.json --metrics all.txt --on node1/dpu="$server" --on node0/host="$talk"
	says 'node0/host: ' all.json
	says 'node1/dpu: ' all.json
	says 'Error of its times, at most' page.html
	says 'node1/dpu' page.html
	says 'side="node0/host"' all.txt
	says 'side="node1/dpu"' all.txt
	status 125 bfsim run --nodes --timeout 30 --topology "$topology" --fault 'rdma.receive side=node1/dpu nth=1000 fail=IO_FAILED' \
		--on node1/dpu="$server" --on node0/host="$talk"
	says 'fault 1 never hit: rdma.receive side=node1/dpu nth=1000' err
	status 0 bfsim run --nodes --timeout 30 --topology "$topology" --require-faults --fault 'rdma.receive side=node1/dpu nth=1 delay=1ms' \
		--on node1/dpu="$server" --on node0/host="$talk"
}

test_without_a_gateway_the_run_fails_in_words() {
	export BFSIM_GATEWAY=/nowhere/bfsim-gateway
	status 125 bfsim run --nodes --timeout 30 --topology "$topology" --on node0/host=true
	says 'cannot start /nowhere/bfsim-gateway' err
	status 0 bfsim run --topology "$topology" --on node1/dpu="$server" --on node0/host="$talk" # in one session
}

test_a_scenario_names_nodes() {
	cat >nodes.yaml <<-END
		topology: $topology
		nodes: true
		sides:
		  node1/dpu: {command: $server, output: "the host says: hello, DPU"}
		  node0/host: {command: "$(echo "$talk" | sed 's/"/\\"/g')", output: "the DPU answers: hello, host"}
	END
	status 0 bfsim test nodes.yaml
	printf 'faults: ["rdma.receive side=node1/dpu nth=1 delay=1ms"]\n' >>nodes.yaml
	status 0 bfsim test nodes.yaml
	sed 's/nodes: true/nodes: false/' nodes.yaml >one.yaml
	status 0 bfsim test one.yaml
}

run_tests "$0" "$work"
