#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A VF in a guest, whose PF is on the host's side.
#
#   test_guest.sh BFSIM LISTER HELLO_HOST HELLO_DPU       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"
lister=$(realpath "$2")
hello_host=$(realpath "$3")
hello_dpu=$(realpath "$4")
use_bfsim "$1"

write_card() {
	cat >card.yaml <<-'EOF2'
		cards:
		  - profile: bluefield-3
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0"}
		      - {side: host, type: pf, pci: "b1:00.0", vfs: 1}
		      - {side: vm/host, type: vf, pci: "06:00.0", parent: "host/b1:00.0"}
	EOF2
}

test_a_guest_lists_its_vf_and_the_dpu_its_representor() {
	write_card
	status 0 bfsim run -t card.yaml -o "vm/host=$lister" -o "dpu=$lister" -o "host=$lister"
	says '^vm/host\| dev 0000:06:00.0 vf mlx5_0 enp6s0$' out
	says '^dpu +\| rep 0000:06:00.0 vf pf0vf0 MT2306XZ0000MLNXS0D0F0VF1$' out
	says '^dpu +\| rep 0000:b1:00.3 vf pf0vf1 MT2306XZ0000MLNXS0D0F0VF2$' out
	says '^host +\| dev 0000:b1:00.3 vf mlx5_1 enp177s0f0v1$' out
	same 1 "$(grep -c '^vm/host' out)"
}

test_a_guest_reaches_the_dpu_through_its_representor() {
	write_card
	status 0 bfsim run -t card.yaml --timeout 60 --check -o "vm/host=$hello_host 06:00.0" -o "dpu=$hello_dpu 03:00.0 06:00.0"
	says 'the DPU answers: hello, host' out
	# The server is there for the guest's function alone.
	status 124 bfsim run -t card.yaml --timeout 2 -o "host=$hello_host b1:00.3" -o "dpu=$hello_dpu 03:00.0 06:00.0"
	same 0 "$(grep -c 'hello, host' out)"
}

run_tests "$0" "$work"
