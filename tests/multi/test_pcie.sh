#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim pcie: its numbers in each format, and its messages on wrong input.
#
#   test_pcie.sh BFSIM       (TAP)

. "$(dirname "$0")/tap.sh"

bfsim_program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

bfsim() { "$bfsim_program" "$@"; }
gen4_x16() { bfsim pcie --gen 4 --lanes 16 --mps 256 --mrrs 512 --rcb 64 "$@"; }

# Values of a JSON answer, by a Python expression over "it".
value() { python3 -c "import json, sys; it = json.load(sys.stdin); print($1)" <out; }

# The numbers of the public pcie-bench/pcie-model for this link.
test_a_table_has_writes_reads_and_their_mix_by_size() {
	status 0 gen4_x16 64 1500 4K
	says '^Gen4 x16, MPS 256, MRRS 512, RCB 64: line 252\.1 Gb/s, 227\.4 for packets$' out
	says '^ +64 +165\.4 +173\.3 +129\.9$' out
	says '^ +1500 +207\.5 +210\.6 +198\.8$' out
	says '^ +4096 +207\.9 +210\.9 +199\.4$' out
}

test_csv_is_for_spreadsheets() {
	status 0 gen4_x16 --csv 8 2M
	printf '%s\n' bytes,write_gbps,read_gbps,mix_gbps 8,56.8500,64.9715,32.4857 2097152,207.9087,210.9219,199.3645 >want
	same "$(cat want)" "$(cat out)"
}

test_json_says_which_link_it_was() {
	status 0 gen4_x16 --json --addr32 --ecrc --no-skip 257
	same 4 "$(value 'it["link"]["generation"]')"
	same 512 "$(value 'it["link"]["mrrs"]')"
	same '32 True False True' "$(value 'it["link"]["address-bits"], it["link"]["ecrc"], it["link"]["skip"], it["link"]["ack"]' |
		tr -d '(),')"
	same 257 "$(value 'it["bandwidth"][0]["bytes"]')"
	status 0 gen4_x16 --json 257
	same 191.6126 "$(value 'it["bandwidth"][0]["write-gbps"]')"
	same 252.0615 "$(value 'it["link"]["line-gbps"]')"
}

# Reads of 4 KiB in completions of 64 bytes.
test_switches_change_the_numbers() {
	status 0 gen4_x16 --csv --cut-at-rcb 4096
	says '^4096,207\.9087,173\.2572,' out
	status 0 bfsim pcie --gen 4 --lanes 16 --rcb 64 --csv --no-ack --no-flow-control --no-skip --mps 4096 --mrrs 4096 4096
	says '^4096,250\.59' out # of 252.06, 4096 of each 4120 bytes
}

test_a_profile_has_a_link_of_its_own() {
	status 0 bfsim pcie
	says '^Gen5 x16' out
	same 10 "$(wc -l <out)"
	status 0 bfsim pcie --profile bluefield-2 64
	says '^Gen4 x16' out
	status 0 bfsim pcie --profile bluefield-2 --lanes 8 64
	says '^Gen4 x8' out
}

test_wrong_input_is_explained() {
	status 2 bfsim pcie --gen 9
	says '^bfsim: there is no such link: the generation is 1 to 6$' err
	one_line err
	status 2 bfsim pcie --mps 300
	says 'the maximum payload \(MPS\) is 128, 256' err
	status 2 bfsim pcie --lanes many
	says 'lanes many: not a whole number from 1 to' err
	status 2 bfsim pcie --profile bluefield-9
	says 'profile bluefield-9: there are bluefield-2, bluefield-3 and connectx-7' err
	for size in 0 -1 1.5 12x 4KB 2T 99999999999999999999 ''; do
		status 2 bfsim pcie -- "$size"
		says "\"$size\" is not a size: give bytes" err
	done
	status 2 bfsim pcie --csv --json
	says '--csv and --json are two formats' err
}

test_without_gnuplot_svg_says_what_to_install() {
	mkdir empty
	status 1 env PATH="$PWD/empty" "$bfsim_program" pcie --svg curve.svg 64
	says 'svg needs gnuplot, which is not installed: its package is gnuplot-nox in Debian' err
	absent curve.svg
}

run_tests "$0" "$work"
