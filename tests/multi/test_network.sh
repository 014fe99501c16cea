#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The network that a topology describes: bfsim devs shows it, and RDMA takes its times, or finds no path.
#
#   test_network.sh BFSIM RDMA_PAIR TOPOLOGY       (TAP; TOPOLOGY is leaf-and-spine.yaml)

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

pair=$(realpath "$2")
topology=$(realpath "$3")
use_bfsim "$1"

# connect SIDE TOPOLOGY [OPTION...]: a client on that side, of a server on node0's DPU.
connect() {
	side=$1 file=$2
	shift 2
	status "${wanted_status:-0}" bfsim run --timeout "${timeout:-60}" --clock virtual --topology "$file" "$@" \
		--on node0/dpu="exec '$pair' server 1 1 $PWD/events.server 0" --on "$side=exec '$pair' client 1 1 $PWD/events 0"
}

# established SIDE TOPOLOGY: the time at which the client was connected, a round trip after its begin.
established() {
	connect "$@" >&2
	sed -n 's/^ *\([0-9]*\) client established$/\1/p' events
}

test_devs_shows_switches_and_links() {
	status 0 bfsim devs --topology "$topology"
	says '^network: 3 switches, 5 links$' out
	says '^spine +500 ns +400 Gb/s$' out
	says '^leaf1 +node2/dpu/0000:03:00.0 +2000 ns +25 Gb/s +512 +0.1 %$' out
	status 0 bfsim devs --json --topology "$topology"
	python3 -c 'import json, sys
it = json.load(sys.stdin)["network"]
assert [one["name"] for one in it["switches"]] == ["leaf0", "leaf1", "spine"], it
assert it["links"][4] == {"from": "leaf1", "to": "node2/dpu/0000:03:00.0", "latency-ps": 2000000, "rate-bps": 25000000000,
                          "mtu": 512, "loss-ppb": 1000000, "state": "up", "up-in-ns": 0, "added-delay-ns": 0, "max-bytes-per-s": 0}, it' <out
	status 0 bfsim devs --topology "$topology" --on node0/host
	lacks network out
	status 0 bfsim devs --json
	lacks network out
}

# A trunk, and the link of a port, which its functions follow.
test_devs_and_ps_show_the_links_that_are_down() {
	bfsim up --session s --topology "$topology" >/dev/null
	status 0 bfsim devs --session s
	lacks STATE out
	status 0 bfsim link down spine/leaf0 --net --for 1000s --session s
	status 0 bfsim devs --session s
	says '^LINK FROM .* STATE$' out
	says '^leaf0 +spine .* down$' out
	says '^spine +leaf1 .* up$' out
	status 0 bfsim ps --session s
	says '^leaf0/spine: network link down$' out
	lacks leaf1 out
	bfsim link down 03:00.0 --on node2/dpu --net --for 1000s --session s
	status 0 bfsim devs --session s --json
	python3 -c 'import json, sys
links = json.load(sys.stdin)["network"]["links"]
assert [one["state"] for one in links] == ["up", "up", "down", "up", "down"], links
assert all((0 < one["up-in-ns"] <= 10**12) == (one["state"] == "down") for one in links), links' <out
	status 0 bfsim fault clear --session s
	status 0 bfsim ps --session s
	lacks 'network link' out
	bfsim down --session s
}

test_slow_links_are_shown() {
	bfsim up --session s --clock timed --topology "$topology" >/dev/null
	for rule in 'device=leaf0/spine delay=1us' 'device=leaf0/spine rate=10M' 'device=03:00.0 side=node2/dpu delay=20us'; do
		status 0 bfsim fault add "net.link $rule" --session s
	done
	status 0 bfsim ps --session s
	says '^leaf0/spine: network link slow$' out
	says '^node2/dpu 0000:03:00.0: network link slow$' out
	status 0 bfsim devs --session s
	says '^leaf0 +spine .* slow$' out
	says '^leaf1 +node2/dpu/0000:03:00.0 .* slow$' out
	says '^spine +leaf1 .* up$' out
	status 0 bfsim devs --session s --json
	python3 -c 'import json, sys
it = json.load(sys.stdin)
slow = [(one["from"], one["added-delay-ns"], one["max-bytes-per-s"]) for one in it["network"]["links"]]
assert slow[2:] == [("leaf0", 1000, 10485760), ("spine", 0, 0), ("leaf1", 20000, 0)], slow
functions = [one for card in it["cards"] for one in card["functions"] if one["net-link-added-delay-ns"] == 20000]
assert any(one["side"] == "node2/dpu" and one["net-link"] == "up" for one in functions), functions' <out
	status 0 bfsim fault clear --session s
	status 0 bfsim devs --session s
	lacks STATE out
	bfsim down --session s
}

# By the spine a message takes 50 + 500 + 50 + 300 + 2000 - 20 ns more than within the leaf, there and back.
test_a_longer_path_takes_its_latencies() {
	near=$(established node1/host "$topology")
	far=$(established node2/host "$topology")
	same $((2 * 2880)) $((far - near))
}

# A slow link adds its delay there and back, to those whose way goes over it.
test_a_slow_link_delays_a_connection() {
	fast=$(established node2/host "$topology")
	slow=$(established node2/host "$topology" --fault 'net.link device=leaf0/spine delay=1ms' --fault 'net.link device=03:00.0 side=node2/dpu delay=20us')
	same $((2 * 1020000)) $((slow - fast))
	near=$(established node1/host "$topology")
	same "$near" "$(established node1/host "$topology" --fault 'net.link device=leaf0/spine delay=1ms')"
}

# Ports of one card without a network: its switch has 300 ns, as leaf0, and links of 20 ns, as node0's and node1's.
test_a_leaf_is_as_the_default() {
	near=$(established node1/host "$topology")
	sed '/^network:/,$d' "$topology" >plain.yaml
	same "$near" "$(established node2/host plain.yaml)"
}

# The same messages end later when the slowest link has 1 Gb/s in place of 25.
test_the_slowest_link_limits_a_message() {
	sed 's/rate: 25 Gb/rate: 1 Gb/; s/, loss: 0.1%//' "$topology" >slow.yaml
	connect node2/host slow.yaml
	slow=$(sed -n 's/^ *\([0-9]*\) server ends$/\1/p' events.server)
	sed 's/, loss: 0.1%//' "$topology" >fast.yaml
	connect node2/host fast.yaml
	fast=$(sed -n 's/^ *\([0-9]*\) server ends$/\1/p' events.server)
	[ "$slow" -gt "$fast" ]
}

# Each packet but one in a hundred million is lost, so each message is: it waits for the time-out of 67 ms.
test_losses_delay_by_retransmissions() {
	sed 's/loss: 0.1%/loss: 99.9999%/' "$topology" >lossy.yaml
	connect node2/host lossy.yaml
	end=$(sed -n 's/^ *\([0-9]*\) server ends$/\1/p' events.server)
	[ "$end" -gt 134000000 ]
}

test_a_port_without_a_link_is_not_reached() {
	sed '/to: "node2/d' "$topology" >island.yaml
	wanted_status=1 connect node2/host island.yaml
	says 'doca_rdma_connect_to_addr: 198.18.0.1: the network has no path to it' err
}

# One request is repeated, which the trace says.
test_a_link_that_is_up_again_delays_a_request() {
	connect node1/host "$topology" --require-faults --trace t.json --fault "net.link side=node0/dpu after='rdma.write' down=1ms"
	grep -q 'RDMA: the network link of mlx5_0, or another one on the way to a peer, is down; requests are repeated' t.json
	end=$(sed -n 's/^ *\([0-9]*\) client ends$/\1/p' events)
	[ "$end" -gt 67000000 ]
	[ "$end" -lt 134000000 ]
}

# On three machines: the third is behind the trunk, which the first two do not need. Either switch may come first.
test_a_trunk_that_is_down_cuts_those_behind_it() {
	connect node2/host "$topology" --require-faults --fault "net.link device=spine/leaf0 after='rdma.write' down=1ms"
	end=$(sed -n 's/^ *\([0-9]*\) client ends$/\1/p' events)
	[ "$end" -gt 67000000 ]
	connect node1/host "$topology"
	plain=$(sed -n 's/^ *\([0-9]*\) client ends$/\1/p' events)
	connect node1/host "$topology" --fault "net.link device='leaf*/spine' after='rdma.write' down=100s"
	same "$plain" "$(sed -n 's/^ *\([0-9]*\) client ends$/\1/p' events)"
}

test_a_trunk_that_is_not_there_is_refused() {
	wanted_status=2 connect node1/host "$topology" --fault 'net.link device=leaf0/spin down=1ms'
	says 'the topology has no link leaf0/spin between switches; did you mean leaf0/spine; it has: leaf0/spine, spine/leaf1' err
	wanted_status=2 connect node1/host "$topology" --fault 'net.link device=leaf0/spine side=node0/dpu down=1ms'
	says 'a link between switches is of no side; leave out side=node0/dpu' err
	wanted_status=2 connect node1/host "$topology" --fault 'link device=leaf0/spine down=1ms'
	says 'is named by rules for net.link only' err
	sed '/^network:/,$d' "$topology" >plain.yaml
	wanted_status=2 connect node1/host plain.yaml --fault 'net.link device=leaf0/spine down=1ms'
	says 'has no link leaf0/spine, and none between switches' err
}

# After 4 s of model time, and at the client's time-out.
test_a_link_that_stays_down_fails_its_connections() {
	begin='net.link device=03:00.0 side=node0/dpu'
	timeout=10 wanted_status=124 connect node1/host "$topology" --require-faults --fault "$begin after='rdma.write nth=1' down=100s"
	says 'at 4\.0000[0-9]+ s: RDMA write task failed: a network link on the way was down for longer than the requester repeats' err
	wanted_status=1 connect node1/host "$topology" --fault "$begin from=0s down=100s"
	says '198.18.0.1, port 1: no answer in time: a network link on the way is down' err
}

run_tests "$0" "$work"
