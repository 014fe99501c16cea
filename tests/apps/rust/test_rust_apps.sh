#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The Rust program on both sides of a card, and with those in C.
#
#   test_rust_apps.sh BFSIM RUST_APPS_DIR WORKQ_APPS_DIR TEST       status 0 or 1
#
# A test is a shell function that runs in a directory of its own; its first
# command that fails ends it. Commands for bfsim run are expanded by its shell.
# shellcheck disable=SC2016
set -eu

bfsim_program=$(realpath "$1")
RUST=$(realpath "$2")
OLD=$(realpath "$3")
export RUST OLD
work=$(mktemp -d)

# The checker says that it does not know this generation, on standard error.
unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY BFSIM_CHECK LD_LIBRARY_PATH
export TMPDIR="$work/tmp" # where bfsim run makes its sessions
mkdir "$TMPDIR"

trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

random() { head -c "$1" /dev/urandom >"$2"; }

# Each needs less than a minute. Standard error must be empty: a Drop that fails prints there.
run() {
	"$bfsim_program" run --timeout 60 --generation workq "$@" 2>err || { cat err; return 1; }
	[ ! -s err ] || { cat err; return 1; }
}

# fails PATTERN COMMAND...: with status 1, and a line that matches.
fails() {
	pattern=$1
	shift
	status=0
	"$@" 2>err || status=$?
	[ $status -eq 1 ] && grep -q "$pattern" err && return
	cat err
	return 1
}

# --- One process ----------------------------------------------------------------

# 64 KiB is what the program copies by one job.
local_copy_on_either_side() {
	for size in 1 65536 65537 1000003; do
		random $size in
		run --host '"$RUST"/copy_host local b1:00.0 in on_host' --dpu '"$RUST"/copy_dpu local 03:00.0 in on_dpu'
		cmp in on_host
		cmp in on_dpu
	done
}

second_function_copies_too() {
	random 5000 in
	run --host '"$RUST"/copy_host local b1:00.1 in out'
	cmp in out
}

device_that_is_not_there_is_named() {
	random 5000 in
	fails 'no device at 03:00.1; here are b1:00.0 and b1:00.1' \
		env BFSIM_SIDE=host "$RUST/copy_host" local 03:00.1 in out
	[ ! -e out ]
}

what_is_no_address_is_refused() {
	for text in '' b1 b1:00 b1:00.8 b1:20.0 100:00.0 b1:00.0.0 -1:00.0; do
		fails 'is no PCI address' env BFSIM_SIDE=host "$RUST/copy_host" local "$text" in out
	done
}

# --- Both sides -----------------------------------------------------------------

host_memory_reaches_the_dpu() {
	for size in 1 65537 1000003; do
		random $size in
		run --host '"$RUST"/copy_host export b1:00.0 in descriptor info' \
			--dpu '"$RUST"/copy_dpu import 03:00.0 descriptor info out'
		cmp in out
		rm descriptor info
	done
}

program_in_c_reads_the_map() {
	random 1000003 in
	run --host '"$RUST"/copy_host export b1:00.0 in descriptor info' --dpu '"$OLD"/map_import descriptor info read out'
	cmp in out
}

# Rust's is made in the order of 2.2.
map_of_1_5_in_c_is_read() {
	random 1000003 in
	run --host '"$OLD"/map_export in descriptor info' --dpu '"$RUST"/copy_dpu import 03:00.0 descriptor info out'
	cmp in out
}

damaged_descriptor_is_refused() {
	random 5000 in
	fails 'copy: doca_mmap_create_from_export: ' "$bfsim_program" run --timeout 60 --generation workq \
		--host '"$RUST"/copy_host export b1:00.0 in descriptor info' \
		--dpu 'until [ -e info ]; do sleep 0.01; done
			head -c 20 descriptor >cut; "$RUST"/copy_dpu import 03:00.0 cut info out'
	[ ! -e out ]
}

# ---------------------------------------------------------------------------------

"$4"
[ -z "$(ls -A "$TMPDIR")" ] # sessions leave nothing behind
