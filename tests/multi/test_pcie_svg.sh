#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bfsim pcie --svg, where gnuplot is installed.
#
#   test_pcie_svg.sh BFSIM       (TAP)

. "$(dirname "$0")/tap.sh"

bfsim_program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

bfsim() { "$bfsim_program" "$@"; }

test_svg_draws_three_curves() {
	status 0 bfsim pcie --gen 3 --lanes 8 --svg "it's.svg" 64 4K
	says '^ +64 ' out
	python3 -c 'import sys, xml.etree.ElementTree as tree; tree.parse(sys.argv[1])' "it's.svg"
	for text in 'PCIe Gen3 x8' writes reads 'equal mix, each way' 'Gb/s'; do
		says "$text" "it's.svg"
	done
	for text in '64 B' '128 B' '1 KiB' '4 KiB'; do
		says ">$text<|>$text$" "it's.svg"
	done
	status 0 bfsim pcie --svg wide.svg 8 2M
	says '>8 B<|>8 B$' wide.svg
	[ "$(grep -cE '>[0-9]+ (B|KiB|MiB)' wide.svg)" -le 9 ]
}

test_one_size_is_a_curve_too() {
	status 0 bfsim pcie --csv --svg one.svg 1
	says '</svg>' one.svg
}

test_a_place_that_cannot_be_written_is_named() {
	status 1 bfsim pcie --svg no/such/place.svg 64
	says '^bfsim: cannot write the picture to no/such/place.svg: No such file' err
	one_line err
}

test_when_gnuplot_fails_the_old_picture_stays() {
	mkdir bin
	printf '#!/bin/sh\necho half a picture\nexit 1\n' >bin/gnuplot
	chmod +x bin/gnuplot
	echo old >curve.svg
	status 1 env PATH="$PWD/bin:$PATH" "$bfsim_program" pcie --svg curve.svg 64
	says '^bfsim: gnuplot failed, and nothing was drawn' err
	same old "$(cat curve.svg)"
}

run_tests "$0" "$work"
