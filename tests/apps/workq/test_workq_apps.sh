#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of the work-queue generation, with each other and with the current generation's.
#
#   test_workq_apps.sh BFSIM WORKQ_APPS_DIR APPS_DIR TEST       status 0 or 1
#
# A test is a shell function that runs in a directory of its own; its first
# command that fails ends it. Commands for bfsim run are expanded by its shell.
# shellcheck disable=SC2016,SC2089,SC2090
set -eu

bfsim_program=$(realpath "$1")
OLD=$(realpath "$2")
APPS=$(realpath "$3")
export OLD APPS
work=$(mktemp -d)

unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY
unset LD_LIBRARY_PATH # both generations name their libraries alike: each program knows where its own are
export TMPDIR="$work/tmp" # where bfsim run makes its sessions
mkdir "$TMPDIR"

trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"

random() { head -c "$1" /dev/urandom >"$2"; }

# One generation on both sides; each needs less than a minute.
run() { "$bfsim_program" run --timeout 60 --generation workq "$@"; }

# The host's program of one generation, the DPU's of the other: the option is for those behind it.
host_is_older() { "$bfsim_program" run --timeout 60 -g workq --host "$1" -g task --dpu "$2"; }
host_is_newer() { "$bfsim_program" run --timeout 60 -g task --host "$1" -g workq --dpu "$2"; }

# The two files of map_export as the one that the current generation's programs read, and back.
JOIN='python3 -c "
import os, struct, time
while not os.path.exists(\"info\"):
    time.sleep(0.002)
address, length = map(int, open(\"info\").read().split())
descriptor = open(\"descriptor\", \"rb\").read()
open(\"joint.new\", \"wb\").write(struct.pack(\"QQQ\", address, length, len(descriptor)) + descriptor)
os.rename(\"joint.new\", \"joint\")"'
SPLIT='python3 -c "
import os, struct, time
while not os.path.exists(\"joint\"):
    time.sleep(0.002)
joint = open(\"joint\", \"rb\").read()
address, length, size = struct.unpack(\"QQQ\", joint[:24])
open(\"descriptor\", \"wb\").write(joint[24:24 + size])
open(\"info\", \"w\").write(f\"{address}\\n{length}\\n\")"'
export JOIN SPLIT

# --- One process ----------------------------------------------------------------

local_copy_on_either_side() {
	for side in host dpu; do
		for size in 1 4096 1000003; do
			random $size in
			BFSIM_SIDE=$side "$OLD/local_copy_$side" in out
			cmp in out
		done
	done
}

# The same random copies, some of them invalid: the same bytes, and the same result of each.
jobs_copy_as_tasks_do() {
	for seed in 1 2 3 4 5 6 7 8; do
		"$OLD/random_copies_workq" $seed 300 bytes.jobs >codes.jobs 2>err
		"$OLD/random_copies_task" $seed 300 bytes.tasks >codes.tasks 2>err
		cmp codes.jobs codes.tasks
		cmp bytes.jobs bytes.tasks
	done
	grep -q 'DOCA_SUCCESS DOCA_SUCCESS' codes.jobs
	grep -q 'DOCA_SUCCESS DOCA_ERROR_IO_FAILED' codes.jobs
	grep -q 'DOCA_ERROR_INVALID_VALUE -' codes.jobs
}

# --- Maps in files ---------------------------------------------------------------

map_travels_in_files() {
	for size in 1 5000 1000003; do
		random $size in
		run --host '"$OLD"/map_export in descriptor info' --dpu '"$OLD"/map_import descriptor info read out'
		cmp in out
		rm descriptor info
	done
}

map_is_written_to() {
	random 1000003 new
	random 1000003 old
	run --host '"$OLD"/map_export old descriptor info out' --dpu '"$OLD"/map_import descriptor info write new'
	cmp new out
}

current_generation_reads_the_map() {
	random 1000003 in
	host_is_older '"$OLD"/map_export in descriptor info' 'eval "$JOIN" && "$APPS"/dpu_copy -d joint -f out -c 10007'
	cmp in out
}

current_generation_writes_to_the_map() {
	random 1000003 new
	random 1000003 old
	host_is_older '"$OLD"/map_export old descriptor info out' 'eval "$JOIN" && "$APPS"/dpu_copy -d joint -f new -w'
	cmp new out
}

map_of_the_current_generation_is_read() {
	random 1000003 in
	host_is_newer '"$APPS"/host_copy -f in -d joint -m heap' 'eval "$SPLIT" && "$OLD"/map_import descriptor info read out'
	cmp in out
}

# The descriptor outlives its process.
map_of_a_dead_process_is_refused() {
	random 10000 in
	if run --host '"$OLD"/map_export in descriptor info </dev/null; touch gone' \
		--dpu 'until [ -e gone ]; do sleep 0.01; done; "$OLD"/map_import descriptor info read out' 2>err; then
		echo 'a dead process was read'
		return 1
	fi
	grep -q doca_mmap_create_from_export err
	[ ! -e out ]
}

damaged_descriptor_is_refused() {
	random 10000 in
	if run --host '"$OLD"/map_export in descriptor info' \
		--dpu 'until [ -e info ]; do sleep 0.01; done
			head -c 20 descriptor >cut; "$OLD"/map_import cut info read out' 2>err; then
		echo 'a part of a descriptor was enough'
		return 1
	fi
	grep -q doca_mmap_create_from_export err
	[ ! -e out ]
}

# --- Sync events -----------------------------------------------------------------

# take_turns HOST DPU
take_turns() {
	run --host '"$OLD"/event_pair_host descriptor '"$1" --dpu '"$OLD"/event_pair_dpu descriptor '"$2" >said
	grep -q 'the DPU found 1$' said
	grep -q 'the host found 2$' said
}

sides_take_turns_at_once() { take_turns at-once at-once; }

sides_take_turns_by_jobs() { take_turns by-jobs by-jobs; }

sides_take_turns_in_two_ways() {
	take_turns at-once by-jobs
	rm descriptor
	take_turns by-jobs at-once
}

# One event of both generations, exported by either.
generations_take_turns() {
	for way in at-once by-jobs; do
		host_is_older '"$OLD"/event_pair_host descriptor '$way '"$OLD"/event_partner_dpu descriptor' >said
		grep -q 'the DPU found 1$' said
		grep -q 'the host found 2$' said
		rm descriptor
		host_is_newer '"$OLD"/event_partner_host descriptor' '"$OLD"/event_pair_dpu descriptor '$way >said
		grep -q 'the DPU found 1$' said
		grep -q 'the host found 2$' said
		rm descriptor
	done
}

# ---------------------------------------------------------------------------------

"$4"
[ -z "$(ls -A "$TMPDIR")" ] # sessions leave nothing behind
