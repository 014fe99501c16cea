#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs that depend on default addresses and names of earlier versions.
#
#   test_former_defaults.sh BFSIM LISTER       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
lister=$(realpath "$2")
use_bfsim "$1"

write_card() {
	cat >card.yaml <<-EOF2
		cards:
		  - profile: bluefield-3
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0"$1}
		      - {side: host, type: pf, pci: "b1:00.0", vfs: 2, sfs: 1}
		      - {side: host, type: pf, pci: "b1:00.1"}
	EOF2
}

test_a_command_that_names_a_former_default_gets_one_line() {
	write_card ''
	status 0 bfsim run -t card.yaml --host 'echo -p b1:00.2' --dpu 'echo -r pf0sf0'
	says '^bfsim run: note: b1:00.2: earlier versions gave this default to host/0000:b1:00.3 \(.*Defaults that changed\)$' err
	same 1 "$(grep -c 'earlier versions' err)"
	status 0 bfsim run -t card.yaml --dpu 'echo -r pci/03:00.0,pf0sf0'
	says 'pf0sf0: earlier versions gave this default to en3f0c1pf0sf0' err
	status 0 bfsim run -t card.yaml --quiet --host 'echo -p b1:00.2'
	same '' "$(grep 'earlier versions' err)"
}

test_a_run_that_depends_on_no_former_default_says_nothing() {
	write_card ''
	status 0 bfsim run -t card.yaml --host 'echo -p b1:00.3' --dpu 'echo -r en3f0c1pf0sf0'
	same '' "$(grep 'earlier versions' err)"
}

test_a_topology_that_names_a_former_address_loads_and_says_so() {
	write_card ', represents: ["host/b1:00.0", "host/b1:00.2"]'
	status 0 bfsim run -t card.yaml --dpu true
	says 'note: represents: host/b1:00.2: earlier versions gave this default to host/0000:b1:00.3' err
	bfsim devs -t card.yaml --on dpu >out
	says 'host/0000:b1:00.3 +pf0vf0$' out
}

test_a_multi_host_card_whose_representors_moved_says_so() {
	{
		printf 'cards:\n  - profile: bluefield-2\n    functions:\n'
		for f in 0 1 2 3; do printf '      - {side: dpu, type: pf, pci: "03:00.%s"}\n' $f; done
		for f in 0 1; do printf '      - {side: a/host, type: pf, pci: "01:00.%s"}\n' $f; done
		for f in 0 1; do printf '      - {side: b/host, type: pf, pci: "01:00.%s"}\n' $f; done
	} >card.yaml
	status 0 bfsim run -t card.yaml --dpu true
	says 'note: each PF of a DPU represents one PF of the hosts of card0; earlier versions: PF n of each host' err
	sed -i '4s/}$/, represents: ["a\/host\/01:00.0", "b\/host\/01:00.0"]}/' card.yaml
	status 0 bfsim run -t card.yaml --dpu true
	same '' "$(grep 'earlier versions' err)"
}

test_a_fault_rule_for_a_former_address_is_refused_with_the_address_of_now() {
	write_card ''
	status 2 bfsim run -t card.yaml --fault 'dma.memcpy device=b1:00.2 hang' --host true
	says 'has no device 0000:b1:00.2; .*earlier versions gave this default to host/0000:b1:00.3' err
}

# The program looks for b1:00.2 by itself: the command does not name it.
test_a_program_that_looks_for_a_former_address_is_told_once() {
	write_card ''
	export WANTED_PCI=b1:00.2
	status 0 bfsim run -t card.yaml --host "$lister"
	same 1 "$(cat out err | grep -c '00.2: earlier versions gave this default to host/0000:b1:00.3')"
	export WANTED_PCI=b1:00.3
	status 0 bfsim run -t card.yaml --host "$lister"
	same 0 "$(cat out err | grep -c 'earlier versions')"
}

run_tests "$0" "$work"
