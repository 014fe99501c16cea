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

# write_vfs REPRESENTED FIELD_OF_CARD
write_vfs() {
	cat >card.yaml <<-EOF2
		cards:
		  - profile: bluefield-3
		    $2
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0", represents: [$1]}
		      - {side: dpu, type: pf, pci: "03:00.1", represents: ["host/b1:00.1"]}
		      - {side: host, type: pf, pci: "b1:00.0", vfs: 4}
		      - {side: host, type: pf, pci: "b1:00.1"}
	EOF2
	status 0 bfsim run -t card.yaml --dpu true
	bfsim devs -t card.yaml --on dpu | sed -n 's/.*host.* \(pf0vf\)/\1/p' >vfs
}

# Old and new addresses overlap.
test_addresses_of_all_vfs_mean_what_they_meant() {
	write_vfs '"host/b1:00.0", "host/b1:00.2", "host/b1:00.3", "host/b1:00.4", "host/b1:00.5"' ''
	says 'note: represents: host/b1:00.2: earlier versions gave this default to host/0000:b1:00.3' err
	same 'pf0vf0 pf0vf1 pf0vf2 pf0vf3' "$(echo $(cat vfs))"
	write_vfs '"host/b1:00.0", "host/b1:00.4", "host/b1:00.2"' ''
	says 'note: represents: host/b1:00.4: earlier versions gave this default to host/0000:b1:00.5' err
	same 'pf0vf2 pf0vf0' "$(echo $(cat vfs))"
	write_vfs '"host/b1:00.0", "host/b1:00.3", "host/b1:00.6"' ''
	same '' "$(grep 'earlier versions' err)"
	same 'pf0vf0 pf0vf3' "$(echo $(cat vfs))"
}

test_an_address_with_two_meanings_gets_one_line() {
	write_vfs '"host/b1:00.0", "host/b1:00.3"' ''
	says 'represents: host/b1:00.3: earlier versions gave this default to another VF; "management: true"' err
	same 'pf0vf0' "$(cat vfs)"
	write_vfs '"host/b1:00.0", "host/b1:00.3"' 'management: true'
	same '' "$(grep 'earlier versions' err)"
	write_vfs '"host/b1:00.0", "host/b1:00.3"' 'management: false'
	same '' "$(grep 'earlier versions' err)"
	same 'pf0vf1' "$(cat vfs)"
}

# Numbers in the addresses of the Arm cores' PFs that are not of their own name nothing.
test_representors_of_cards_with_many_pfs_have_different_names() {
	{
		printf 'cards:\n  - profile: bluefield-3\n    functions:\n'
		for f in 03:00.0 03:00.1 04:00.0 04:00.1; do printf '      - {side: dpu, type: pf, pci: "%s"}\n' $f; done
		for f in b1:00.0 b1:00.1 b2:00.0 b2:00.1; do printf '      - {side: host, type: pf, pci: "%s"}\n' $f; done
	} >card.yaml
	status 0 bfsim devs -t card.yaml --on dpu
	same 'pf0hpf pf1hpf pf2hpf pf3hpf' "$(echo $(grep -o 'pf[0-9]hpf' out))"
	sed -i '/host/d; s/04:00.1/04:00.2/; s/"03:00.0"/"03:00.0", represents: ["host\/b1:00.0", "host\/b1:00.1"]/' card.yaml
	for f in b1:00.0 b1:00.1; do printf '      - {side: host, type: pf, pci: "%s"}\n' $f; done >>card.yaml
	status 0 bfsim devs -t card.yaml --on dpu
	same 'pf0hpf pf1hpf' "$(echo $(grep -o 'pf[0-9]hpf' out))"
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
