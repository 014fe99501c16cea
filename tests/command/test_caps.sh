#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim caps: the shape of the vendor's doca_caps, and JSON.
#
#   test_caps.sh BFSIM BFSIMD SOURCES CLI_PEER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
use_bfsim "$1"

test_caps_have_the_shape_of_the_vendors_tool() {
	status 0 bfsim caps --on dpu -p 03:00.0 -b dma
	cat >wanted <<-'EOF2'
		PCI: 0000:03:00.0
		    dma
		        task_memcpy                                   supported
		        task_memcpy_max_buf_size                      2097152
		        task_memcpy_max_buf_list_len                  64
		        max_num_tasks                                 65536
	EOF2
	cmp wanted out
	status 0 bfsim caps --on host --pci-addr 0000:b1:00.0
	same "$(bfsim caps --list-libs)" "$(sed -n 's/^    \([a-z_]*\)$/\1/p' out)"
	says '^        client  *supported$' out
	says '^        task_hash  *unsupported$' out
	says '^        task_encrypt_key_256  *supported$' out
	says '^        task_decrypt_max_iv_len  *12$' out
}

test_devices_and_representors_are_listed() {
	status 0 bfsim caps --list-devs --on dpu
	same 'PCI: 0000:03:00.0 PCI: 0000:03:00.1' "$(grep PCI out | tr '\n' ' ' | sed 's/ $//')"
	says '^        ibdev_name {36}mlx5_0$' out
	status 0 bfsim caps --list-rep-devs --on dpu
	says '^        representor-PCI: 0000:b1:00.0$' out
	status 0 bfsim caps --list-devs
	same '# side dpu # side host' "$(grep '^#' out | tr '\n' ' ' | sed 's/ $//')"
}

# Programs of Kubernetes and of users read this list: levels of four spaces, names padded to 46, one word a value. The
# fields are those of posted outputs of 3.1 and later, in their order.
# write_card_with_each_kind [MODE]
write_card_with_each_kind() {
	cat >kinds.yaml <<-EOF2
		cards:
		  - profile: bluefield-3
		    mode: ${1:-dpu}
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0", sfs: 1}
		      - {side: dpu, type: pf, pci: "03:00.1"}
		      - {side: host, type: pf, pci: "0b:00.0"}
		      - {side: host, type: vf, pci: "0b:00.3", rep-iface: ""}
		      - {side: host, type: vf, pci: "0b:00.4", hotplug: true}
		      - {side: host, type: sf, pci: "0b:00.0", sf-index: 800, aux-index: 4}
		      - {side: host, type: pf, pci: "0b:00.1"}
	EOF2
}

test_representors_are_listed_as_parsers_read_them() {
	write_card_with_each_kind
	status 0 bfsim caps --topology kinds.yaml --on dpu --list-rep-devs
	"$here/caps_rep_devs.py" levels <out >got
	cat >wanted <<-'EOF2'
		0000:03:00.0 0000:0b:00.0 pci_func_type=PF hotplug=no vuid=MT2306XZ0000MLNXS0D0F0 rep_type=NET iface_name=pf0hpf iface_index=5 ib_port=1 host_index=1 pf_index=0 vhca_id=2
		0000:03:00.0 0000:0b:00.3 pci_func_type=VF hotplug=no vuid=MT2306XZ0000MLNXS0D0F0VF1 rep_type=NET ib_port=2 host_index=1 pf_index=0 vf_index=0 vhca_id=3
		0000:03:00.0 0000:0b:00.4 pci_func_type=VF hotplug=yes vuid=MT2306XZ0000MLNXS0D0F0VF2 rep_type=NET iface_name=pf0vf1 iface_index=6 ib_port=3 host_index=1 pf_index=0 vf_index=1 vhca_id=4
		0000:03:00.0 0000:0b:00.0 pci_func_type=SF hotplug=no vuid=MT2306XZ0000MLNXS0D0F0SF32768 rep_type=NET iface_name=en3f0c1pf0sf800 iface_index=7 ib_port=4 host_index=1 pf_index=0 sf_index=800 vhca_id=5
		0000:03:00.0 0000:03:00.0 pci_func_type=SF hotplug=no vuid=MT2306XZ0000ECMLNXS0D0F0SF32768 rep_type=NET iface_name=en3f0pf0sf0 iface_index=8 ib_port=5 host_index=0 pf_index=0 sf_index=0 vhca_id=7
		0000:03:00.1 0000:0b:00.1 pci_func_type=PF hotplug=no vuid=MT2306XZ0000MLNXS0D0F1 rep_type=NET iface_name=pf1hpf iface_index=9 ib_port=1 host_index=1 pf_index=1 vhca_id=6
	EOF2
	diff wanted got
	same '0000:03:00.0 0000:0b:00.4' "$("$here/caps_rep_devs.py" vuid MT2306XZ0000MLNXS0D0F0VF2 <out)"
	same '            host_index                                    1' "$(grep host_index out | head -1)"
}

# A script that gives SFs their DPA threads reads number and vhca of the SFs under one device.
test_sfs_are_found_by_number_and_vhca() {
	write_card_with_each_kind
	bfsim caps --topology kinds.yaml --on dpu --list-rep-devs -p 03:00.0 >out
	awk 'function end() { if (type == "SF" && sf != "" && vhca != "") print sf, vhca; type = sf = vhca = "" }
	     /representor-PCI:/ { end(); next }
	     $1 == "pci_func_type" { type = $2 }
	     $1 == "vhca_id" { vhca = $2 }
	     $1 == "sf_index" { sf = $2 }
	     END { end() }' out | sort -n >got
	printf '0 7\n800 5\n' >wanted
	diff wanted got
}

# The fields of 3.2's guide, with the IPv6 address in full. An SF's index is its auxiliary device's, not its number.
test_devices_have_the_fields_of_the_guide() {
	write_card_with_each_kind
	status 0 bfsim caps --topology kinds.yaml --on dpu --list-devs
	same 'PCI: ibdev_name iface_name iface_index pci_func_type uplink_ib_port mac_addr ipv4_addr ipv6_addr' \
		"$(awk '{ print $1 }' out | head -9 | tr '\n' ' ' | sed 's/ $//')"
	says '^        ipv6_addr {37}fe80:0000:0000:0000:00bf:00ff:fe00:0000$' out
	says '^        sf_index {38}0$' out
	status 0 bfsim caps --topology kinds.yaml --on host --list-devs
	says '^        sf_index {38}4$' out
	status 0 bfsim devs --topology kinds.yaml
	says '^dpu +0000:03:00.0/sf0 .* mlx5_core\.sf\.0$' out
	says '^host +0000:0b:00.0/sf800 .* mlx5_core\.sf\.4$' out
	bfsim devs --topology kinds.yaml --json >devs.json
	python3 - <<-'EOF2'
		import json
		(card,) = json.load(open('devs.json'))['cards']
		sfs = {(f['side'], f['sf-index'], f['aux-index']) for f in card['functions'] if f['type'] == 'sf'}
		assert sfs == {('host', 800, 4), ('dpu', 0, 0)}, sfs
		assert card['num-hidden'] == 0
	EOF2
	bfsim devs >out
	lacks 'AUX DEVICE' out
}

# Each invocation of the vendor's report collector, and the loggers.
test_options_of_collectors_work() {
	for option in -v --version --list-devs --list-rep-devs --list-libs --list-loggers; do
		status 0 bfsim caps --on dpu $option
		[ -s out ]
	done
	status 0 bfsim caps --list-loggers
	same DOCA "$(cat out)"
}

test_functions_that_a_mode_leaves_out_are_counted() {
	write_card_with_each_kind separated
	status 0 bfsim devs --topology kinds.yaml
	says '^mode separated leaves out functions of the topology file, 2 in all: SFs need switchdev mode, which no function has, and the host alone has VFs$' out
	write_card_with_each_kind nic
	status 0 bfsim devs --topology kinds.yaml
	says '^mode nic leaves out functions of the topology file, 3 in all: the Arm cores are inactive$' out
	write_card_with_each_kind
	status 0 bfsim devs --topology kinds.yaml
	lacks 'leaves out' out
}

# They are those of the API, which the libraries answer with: other tests compare those with the topology.
test_caps_are_those_of_the_topology() {
	cat >card.yaml <<-'EOF2'
		cards:
		  - profile: bluefield-2
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0", caps: {dma-max-list-len: 7}}
		      - {side: host, type: pf, pci: "b1:00.0"}
	EOF2
	status 0 bfsim caps --topology card.yaml --on dpu
	says 'task_memcpy_max_buf_list_len  *7$' out
	says 'task_hash  *supported' out
	bfsim up --session s --topology card.yaml >/dev/null
	status 0 bfsim caps --session s --json --lib dma
	python3 - <<-'EOF2'
		import json
		dpu, host = json.load(open('out'))
		assert dpu['side'] == 'dpu' and dpu['dma']['task_memcpy_max_buf_list_len'] == 7, dpu
		assert dpu['dma']['task_memcpy'] is True and 'sha' not in dpu, dpu
		assert [rep['pci'] for rep in dpu['representors']] == ['0000:b1:00.0'], dpu
		assert host['side'] == 'host' and host['representors'] == [], host
	EOF2
	same "$(bfsim caps --session s --on host)" "$(BFSIM_SIDE=host bfsim caps --session s)"
	bfsim down --session s
}

# A person debugs with these three commands: what the session took from the card is marked there.
test_what_a_session_changed_is_marked() {
	bfsim up --session s --clock timed >/dev/null
	status 0 bfsim devs --session s
	lacks 'STATE|removed|link (down|at)' out
	bfsim function remove b1:00.0 --session s
	bfsim function fatal 03:00.1 --session s
	bfsim link degrade 03:00.0 --to gen2x4 --session s
	bfsim link errors 03:00.0 --part 1% --session s
	status 0 bfsim devs --session s
	says '; link at gen2 x4, 1 % of packets replayed$' out
	says '^host +0000:b1:00.0 .* removed$' out
	says '^dpu +0000:03:00.1 .* failed until a reset$' out
	says '^host +0000:b1:00.1 .* works$' out
	cp out devs
	status 0 bfsim ps --session s
	says '^card0: link at gen2 x4' out
	says '^host 0000:b1:00.0: removed$' out
	status 0 bfsim caps --list-rep-devs --session s
	says '^# PCI: 0000:b1:00.0 removed$' out
	lacks '^PCI: 0000:b1:00.0$' out
	says '^# PCI: 0000:03:00.1 failed until a reset$' out
	says '^PCI: 0000:03:00.1$' out
	says '^        # representor-PCI: 0000:b1:00.0 removed$' out
	same '0000:03:00.1 0000:b1:00.1' "$("$here/caps_rep_devs.py" levels <out | cut -d' ' -f1,2)"
	bfsim caps --session s --json >caps.json
	bfsim devs --session s --json >devs.json
	python3 - <<-'EOF2'
		import json
		functions = {(f['side'], f['pci'][5:]): f for f in json.load(open('caps.json'))}
		(card,) = json.load(open('devs.json'))['cards']
		states = {('host', 'b1:00.0'): 'removed', ('host', 'b1:00.1'): 'works', ('dpu', '03:00.0'): 'works', ('dpu', '03:00.1'): 'failed'}
		assert {key: f['state'] for key, f in functions.items()} == states, functions
		assert {(f['side'], f['pci'][5:]): f['state'] for f in card['functions']} == states, card
		assert functions['dpu', '03:00.0']['representors'][0]['state'] == 'removed'
		assert next(f for f in card['functions'] if f['ibdev'] == 'mlx5_0' and f['side'] == 'dpu')['represents'][0]['state'] == 'removed'
		assert card['link'] == {'state': 'up', 'up-in-ns': 0, 'generation': 2, 'lanes': 4, 'replayed-ppb': 10**7}, card['link']
		assert (card['pcie-generation'], card['pcie-lanes']) == (5, 16)
	EOF2
	bfsim link down 03:00.0 --for 100s --session s
	status 0 bfsim devs --session s
	says '; link down for another [0-9.]+ s$' out
	bfsim function add b1:00.0 --session s
	bfsim function reset 03:00.1 --session s
	status 0 bfsim devs --session s
	lacks STATE out
	bfsim down --session s
}

# The DPU's function takes the others of its port along.
test_network_links_that_are_down_are_shown() {
	bfsim up --session s >/dev/null
	status 0 bfsim link down 03:00.0 --net --for 1000s --session s
	same '' "$(cat out err)"
	status 0 bfsim devs --session s
	says '^dpu +0000:03:00.0 .* network link down$' out
	says '^host +0000:b1:00.0 .* network link down$' out
	lacks '00.1 .* network link down$' out
	status 0 bfsim ps --session s
	says '^dpu 0000:03:00.0: network link down$' out
	bfsim devs --session s --json >devs.json
	python3 - <<-'EOF2'
		import json
		(card,) = json.load(open('devs.json'))['cards']
		functions = {(f['side'], f['pci'][5:]): f for f in card['functions']}
		down, up = functions['dpu', '03:00.0'], functions['dpu', '03:00.1']
		assert down['state'] == 'works' and down['net-link'] == 'down' and 0 < down['net-link-up-in-ns'] <= 10**12, down
		assert (up['net-link'], up['net-link-up-in-ns']) == ('up', 0), up
	EOF2
	status 0 bfsim fault list --session s
	says ' 1 +1 +1  net.link device=0000:03:00.0 down=1000s$' out
	status 0 bfsim fault rm 1 --session s
	status 0 bfsim devs --session s
	lacks 'network link' out
	status 2 bfsim link degrade 03:00.0 --net --to gen2x4 --session s
	says '--net goes with down only' err
	bfsim down --session s
}

test_what_is_not_there_is_named() {
	status 2 bfsim caps --lib flow
	says '--lib flow: bfsim does not simulate libdoca_flow; --list-libs' err
	lacks 'did you mean' err
	status 2 bfsim caps --lib argp
	says '--lib argp: this library has no capabilities of its own' err
	status 2 bfsim caps --lib dna
	says 'no such library; did you mean dma' err
	status 1 bfsim caps --on dpu -p 09:00.0
	says 'there is no device 09:00.0 on dpu' err
	status 1 bfsim caps --on front
	says 'no side "front"; its sides are: dpu, host' err
}

run_tests "$0" "$work"
