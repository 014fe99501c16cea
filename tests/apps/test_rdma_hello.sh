#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rdma_hello when messages fail or a side dies: the other one ends, says why, and cleans up.
#
#   test_rdma_hello.sh BFSIM HOST DPU      (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
client=$(realpath "$2")
server=$(realpath "$3")
use_bfsim "$1"

# STATUS FAULT...: run both sides with the rules.
meet() {
	wanted=$1
	shift
	for fault in "$@"; do set -- "$@" --fault "$fault" && shift; done
	status "$wanted" bfsim run --timeout 30 --require-faults "$@" --host "$client" --dpu "$server"
	lacks '\| cannot ' err
}

test_a_message_that_fails_ends_the_client() {
	meet 1 'rdma.send nth=1 fail=IO_FAILED'
	says '^host *\| the message failed: ' err
}

test_an_answer_that_fails_ends_both() {
	meet 1 'rdma.send nth=2 fail=IO_FAILED'
	says '^dpu *\| the answer failed: ' err
}

# Messages are late, so that nobody has ended before the kill. The run goes on without the killed side.
test_the_client_ends_when_the_server_is_killed() {
	meet 1 'rdma.send nth=1 delay=20s' 'peer side=dpu after=rdma.send kill'
	says '^host *\| the message failed: ' err
}

test_the_server_ends_when_the_client_is_killed() {
	meet 1 'rdma.send nth=2 delay=20s' "peer side=host after='rdma.send nth=2' kill"
	says '^dpu *\| the answer failed: ' err
}

run_tests "$0" "$work"
