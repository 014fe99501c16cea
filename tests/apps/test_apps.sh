#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The applications on small inputs: what they copy is compared byte by byte.
#
#   test_apps.sh BFSIM APPS_DIR TEST       status 0, 1 or (can't be tried here) 77
#
# A test is a shell function that runs in a directory of its own; its first
# command that fails ends it. Commands for bfsim run are expanded by its shell.
# shellcheck disable=SC2016
set -eu

bfsim_program=$(realpath "$1")
APPS=$(realpath "$2")
export APPS
work=$(mktemp -d)
host=

unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY
export TMPDIR="$work/tmp" # where bfsim run makes its sessions
mkdir "$TMPDIR"

bfsim() { "$bfsim_program" "$@"; }

clean_up() {
	[ -z "$host" ] || kill "$host" 2>/dev/null || true
	[ ! -e "$work/session/lock" ] || bfsim down --session "$work/session" >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

# --- Helpers of the tests --------------------------------------------------------

# random BYTES FILE
random() { head -c "$1" /dev/urandom >"$2"; }

# Programs on both sides of a card of their own; each needs less than a minute.
run() { bfsim run --timeout 60 "$@"; }

# fails COMMAND...: the errors are in ./err
fails() {
	if "$@" 2>err; then
		echo "should have failed: $*"
		return 1
	fi
}

# says PATTERN FILE
says() {
	grep -Eq -- "$1" "$2" && return 0
	echo "$2 has no line that matches: $1"
	cat "$2"
	return 1
}

lacks() {
	! grep -E -- "$1" "$2" || return 1
}

# reads BYTES HOST_FLAGS DPU_FLAGS: the DPU gets what the host's memory holds.
reads() {
	random "$1" in
	run --host '"$APPS"/host_copy -f in -d descriptor '"$2" --dpu '"$APPS"/dpu_copy -d descriptor -f out '"$3"
	cmp in out
}

# copies_odd_sizes SIDE: one byte, a chunk, a chunk and one byte, chains that don't divide it.
copies_odd_sizes() {
	for size in 1 4096 4097 1000003; do
		random $size in
		BFSIM_SIDE=$1 "$APPS/local_copy_$1" -i in -o out -c 4096 -n 5 -ns 3 -nt 7
		cmp in out
	done
}

# --- One process ----------------------------------------------------------------

odd_sizes_on_the_dpu_are_copied() { copies_odd_sizes dpu; }

odd_sizes_on_the_host_are_copied() { copies_odd_sizes host; }

chunk_beyond_the_device_is_refused() {
	random 100 in
	fails env BFSIM_SIDE=dpu "$APPS/local_copy_dpu" -i in -o out -c 1000000000
	says 'this device copies at most' err
	[ ! -e out ]
}

address_of_the_other_side_is_refused() {
	random 100 in
	fails env BFSIM_SIDE=dpu "$APPS/local_copy_dpu" -i in -o out -p b1:00.0
	says 'No device at b1:00.0' err
	[ ! -e out ]
}

many_contexts_copy_their_shares() {
	BFSIM_SIDE=dpu "$APPS/many_ctx_dpu" -x 64 -s 1000003 -c 777 -n 3 >said
	says '^all bytes are right after 64 contexts' said
	BFSIM_SIDE=host "$APPS/many_ctx_host" -x 7 -s 100000 -c 50000 -n 2 >said # five get no chunk
	says '^all bytes are right after 7 contexts' said
}

# --- A host process and a DPU process -------------------------------------------

shared_mapping_reaches_the_dpu() { reads 3000001 '-m shared' '-c 65536 -n 16'; }

private_mapping_reaches_the_dpu() { reads 3000001 '-m private' '-c 65536 -n 16'; }

heap_reaches_the_dpu() { reads 3000001 '-m heap' '-c 65536 -n 16'; }

chained_buffers_gather_and_scatter() { reads 1000003 '-m heap' '-c 10007 -n 4 -ns 64 -nt 13'; }

busy_host_is_read() {
	reads 1000003 '-m heap --busy' '-c 4096' >said
	says 'computed [0-9]+ rounds meanwhile' said
}

# 733 tasks, 16 at once: 46 batches, and the DPU sleeps in each.
sleeping_dpu_is_woken() {
	random 3000001 in
	run --host '"$APPS"/host_copy -f in -d descriptor -m heap' \
		--dpu '"$APPS"/event_copy -d descriptor -f out -c 4096 -n 16 -t 10' >said
	cmp in out
	says 'for 733 tasks' said
	[ "$(sed -n 's/.*woken \([0-9]*\) times.*/\1/p' said)" -ge 46 ]
}

dpu_writes_into_a_mapped_file() {
	random 1000003 new
	random 1000003 file
	run --host '"$APPS"/host_copy -f file -d descriptor -m shared -w' \
		--dpu '"$APPS"/dpu_copy -d descriptor -f new -w -c 10007 -ns 3 -nt 5'
	cmp new file
}

dpu_writes_into_private_memory() {
	for kind in private heap; do
		random 1000003 new
		random 1000003 file
		cp file before
		run --host '"$APPS"/host_copy -f file -d descriptor -w -o out -m '$kind \
			--dpu '"$APPS"/dpu_copy -d descriptor -f new -w'
		cmp new out
		cmp before file # the file itself was not exported
	done
}

short_write_leaves_the_rest() {
	random 5000 new
	random 12345 file
	{ cat new; tail -c +5001 file; } >wanted
	run --host '"$APPS"/host_copy -f file -d descriptor -m shared -w' \
		--dpu '"$APPS"/dpu_copy -d descriptor -f new -w -c 1000'
	cmp wanted file
}

read_only_memory_is_not_written() {
	for kind in shared private heap; do
		random 10000 new
		random 10000 file
		cp file before
		run --host '"$APPS"/host_copy -f file -d descriptor -o out -m '$kind \
			--dpu 'if "$APPS"/dpu_copy -d descriptor -f new -w; then echo written; exit 1; fi'
		cmp before out
		cmp before file
	done
}

dpu_moves_bytes_between_hosts() {
	random 1000003 in
	random 1000003 out
	run --host '"$APPS"/host_copy -f in -d from -m heap' \
		--host '"$APPS"/host_copy -f out -d to -m shared -w' \
		--dpu '"$APPS"/dpu_between --from from --to to -c 10007 -ns 3 -nt 5'
	cmp in out
}

# A session that is started and ended by commands, the host's standard input a FIFO.
session_with_a_sleeping_host_serves_the_dpu() {
	random 1000003 in
	mkfifo enter
	bfsim up --session session >/dev/null
	bfsim exec --session session --on host -- "$APPS/host_copy" -f in -d descriptor -m heap <enter &
	host=$!
	exec 3>enter
	for out in out1 out2; do
		bfsim exec --session session --on dpu -- "$APPS/dpu_copy" -d descriptor -f $out
		cmp in $out
	done
	echo >&3
	wait "$host"
	host=
	bfsim down --session session
	[ ! -e descriptor ] # the host has withdrawn it
}

descriptor_that_never_comes_is_an_error() {
	fails run --dpu '"$APPS"/dpu_copy -d descriptor -f out -t 1'
	says 'No descriptor after 1 s' err
}

cut_off_descriptor_is_refused() {
	random 10000 in
	fails run --host '"$APPS"/host_copy -f in -d whole' \
		--dpu 'until [ -e whole ]; do :; done; head -c 40 whole >cut; "$APPS"/dpu_copy -d cut -f out'
	says 'cut is no descriptor file, or damaged' err
	[ ! -e out ]
}

# --- Messages -------------------------------------------------------------------

# pipes BYTES RULE...: a file that compresses, through the pipeline, on a BlueField-2.
pipes() {
	head -c "$1" /dev/urandom | od -An -tx1 -v | head -c "$1" >in
	shift
	printf 'cards:\n- profile: bluefield-2\n  functions:\n  - {side: host, type: pf, pci: "3b:00.0"}\n  - {side: dpu, type: pf, pci: "03:00.0", represents: ["host/3b:00.0"]}\n' >card.yaml
	for rule; do set -- "$@" --fault "$rule" && shift; done
	run --topology card.yaml "$@" --host '"$APPS"/pipeline_host 3b:00.0 in out' --dpu '"$APPS"/pipeline_dpu 03:00.0 3b:00.0' >said
}

pipeline_gives_the_file_back() {
	for size in 1 65536 300001; do
		pipes $size
		cmp in out
		says "$size bytes were sent\$" said
	done
	sent=$(sed -n 's/.*bytes came as //p' said)
	[ "$sent" -lt 200000 ] # of 300001
}

pipeline_ends_when_a_stage_fails() {
	fails pipes 300001 'compress.compress_deflate nth=3 fail=IO_FAILED'
	says 'cannot compress a chunk: ' err
	fails pipes 300001 'compress.decompress_deflate nth=2 fail=IO_FAILED moved=50%'
	says 'cannot decompress a chunk: ' err
}

# stores RULE...: a file on 6 + 3 disks, on the DPU.
stores() {
	random 100000 in
	for rule; do set -- "$@" --fault "$rule" && shift; done
	run "$@" --dpu '"$APPS"/raid -i in -o out' >said
}

lost_blocks_are_recovered() {
	stores
	cmp in out
	says '^$|^dpu' said || true
	lacks 'block' said
	stores 'dma.memcpy nth=2 fail=IO_FAILED' 'dma.memcpy nth=4 flip=1' 'dma.memcpy nth=8 fail=IO_FAILED'
	cmp in out
	says 'block 1 could not be read$' said
	says 'block 3 has a wrong checksum$' said
	says 'block 7 could not be read$' said
	says '3 blocks were recovered$' said
	stores 'dma.memcpy nth=1 fail=IO_FAILED' 'erasure_coding.recover nth=1 fail=IO_FAILED moved=50%' \
		'erasure_coding.create nth=1 fail=IO_FAILED'
	cmp in out
	says '1 blocks were recovered$' said
}

more_lost_blocks_than_redundancy_are_an_error() {
	fails stores 'dma.memcpy nth=1 fail=IO_FAILED' 'dma.memcpy nth=3 fail=IO_FAILED' \
		'dma.memcpy nth=5 fail=IO_FAILED' 'dma.memcpy nth=9 fail=IO_FAILED'
	says '4 blocks are lost, and 3 can be recovered$' err
}

hello_is_said_and_answered() {
	run --host '"$APPS"/hello_host b1:00.1 "good morning"' --dpu '"$APPS"/hello_dpu 03:00.1 b1:00.1' >said
	says '^dpu *\| the host says: good morning$' said
	says '^host *\| the DPU answers: hello, host$' said
}

hello_waits_for_a_server_that_comes_later() {
	bfsim up --session session >/dev/null
	bfsim exec --session session --on host -- "$APPS/hello_host" >said &
	host=$!
	until bfsim ps --session session | grep -q hello_host; do kill -0 "$host"; done
	bfsim exec --session session --on dpu -- "$APPS/hello_dpu"
	wait "$host"
	host=
	says '^the DPU answers: hello, host$' said
	bfsim down --session session
}

hello_ends_when_the_daemon_dies() {
	bfsim up --session session >/dev/null
	bfsim exec --session session --on dpu -- "$APPS/hello_dpu" 2>said &
	dpu=$!
	until bfsim ps --json --session session | grep -q hello; do kill -0 "$dpu"; done # the service is there
	kill -9 "$(bfsim ps --json --session session | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])')"
	fails wait "$dpu"
	says 'the server stopped: the card is gone' said
	bfsim down --session session
}

hello_to_nobody_says_so() {
	fails run --host '"$APPS"/hello_host'
	says 'no answer; does the DPU.s half run' err
}

hello_without_a_device_is_an_error() {
	fails run --dpu '"$APPS"/hello_dpu b1:00.0'
	says 'cannot find the device' err
	fails run --dpu '"$APPS"/hello_dpu 03:00.0 b1:00.1'
	says 'cannot find the representor' err
}

# --- Data paths ------------------------------------------------------------------

# over PATH KIND: reading and writing, and between two hosts, by that path alone.
over() {
	export BFSIM_PATH="$1"
	random 1000003 in
	random 1000003 out
	if ! run --host '"$APPS"/host_copy -f in -d from -m '"$2" --host '"$APPS"/host_copy -f out -d to -w -m shared' \
		--dpu '"$APPS"/dpu_between --from from --to to -c 10007 -ns 3 -nt 5' 2>err; then
		cat err
		grep -q 'the kernel forbids' err && exit 77
		return 1
	fi
	cmp in out
	reads 1000003 "-m $2" '-c 10007 -n 16'
}

over_mapped() { over mapped shared; }

over_procmem() { over procmem heap; }

over_cma() { over cma heap; }

over_shm() { over shm heap; }

over_tcp() { over tcp heap; }

# In namespaces of its own; "$0" is bfsim there.
shm_needs_no_dev_shm() {
	own='unshare --user --map-root-user --mount'
	$own true 2>/dev/null || exit 77
	random 100 in
	export BFSIM_PATH=shm
	# shellcheck disable=SC2086 # several words
	$own sh -c 'mount -t tmpfs -o size=4k none /dev/shm && exec "$0" "$@"' "$bfsim_program" run --timeout 60 \
		--host '"$APPS"/host_copy -f in -d descriptor -m heap' --dpu '"$APPS"/dpu_copy -d descriptor -f out'
	cmp in out
}

# --- Programs whose authors check them with the address sanitizer ------------------
# The sanitizer reports the programs' leaks, and none of bfsim: the programs are
# built with it, the libraries are not.

leak_checked_over() {
	APPS=$APPS/leak_checked
	export LSAN_OPTIONS= ASAN_OPTIONS=
	over "$1" "$2"
}

leak_checked_over_mapped() { leak_checked_over mapped shared; }

leak_checked_over_cma() { leak_checked_over cma heap; }

leak_checked_over_shm() { leak_checked_over shm heap; }

leak_checked_over_tcp() { leak_checked_over tcp heap; }

leak_of_the_program_is_found() {
	fails env LEAK=1 BFSIM_SIDE=dpu "$APPS/leak_checked/leak"
	says 'LeakSanitizer: detected memory leaks' err
	says '4242 byte\(s\) leaked in 1 allocation' err
	BFSIM_SIDE=dpu "$APPS/leak_checked/leak"
}

# ---------------------------------------------------------------------------------

"$3"
[ -z "$(ls -A "$TMPDIR")" ] # sessions leave nothing behind
