#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Sessions of a native side and one that an emulator runs: the installation of both architectures in one prefix, as
# doc/arm.md describes it, and the DMA Copy example on it. ci/test arm64 runs this; it needs both builds.
#
#   test_mixed.sh NATIVE_BUILD ARM_BUILD       (TAP)

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../multi/tap.sh"
. "$here/../multi/sessions.sh"

native=$(realpath "$1")
arm=$(realpath "$2")
use_bfsim "$native/sim/cli/bfsim"
unset LD_LIBRARY_PATH QEMU_LD_PREFIX QEMU_SET_ENV
left_behind() { cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -c "^$work/app-" || true; }

# The two builds in one prefix; the command is the native one.
for build in "$native" "$arm"; do
	meson install -C "$build" --no-rebuild --destdir "$work/to" >"$work/install.log" || { cat "$work/install.log"; exit 1; }
done
prefix=$(dirname "$(find "$work/to" -type d -name sdk)")
bfsim_program=$prefix/bin/bfsim
pairs="x86_64:aarch64 aarch64:x86_64 aarch64:aarch64"

# app ARCH SIDE: the example, built for it; prints its path.
app() {
	dir=$work/app-$1-$2
	if [ ! -e "$dir" ]; then
		cp -r "$prefix/share/doc/bfsim/examples/dma_copy" "$dir"
		(eval "$(bfsim sdk --on "$2" --arch "$1" --env)" && make -s -C "$dir" SIDE="$2") >&2
	fi
	echo "$dir/dma_copy_$2"
}

# copy HOST_ARCH:DPU_ARCH [FLAGS OF RUN], for $patience seconds at most; the death of side $may_die does not end the run.
may_die=
patience=60
copy() {
	host=$(app "${1%:*}" host)
	dpu=$(app "${1#*:}" dpu)
	shift
	mkdir -p h d
	rm -f d/out
	[ -e h/in ] || head -c 3000001 /dev/urandom >h/in
	host="$host -p b1:00.0 -f h/in"
	dpu="$dpu -p 03:00.0 -r b1:00.0 -f d/out"
	[ "$may_die" != host ] || host="$host || true"
	[ "$may_die" != dpu ] || dpu="$dpu || true"
	bfsim run --timeout $patience "$@" --host "$host" --dpu "$dpu"
}

test_a_file_arrives_between_each_pair_of_architectures() {
	for pair in $pairs; do
		status 0 copy "$pair"
		cmp h/in d/out
	done
}

test_a_file_arrives_with_each_clock() {
	for clock in timed virtual; do
		status 0 copy x86_64:aarch64 --clock $clock
		cmp h/in d/out
	done
}

test_virtual_time_is_that_of_a_native_run() {
	for pair in x86_64:x86_64 x86_64:aarch64; do
		status 0 copy $pair --clock virtual --trace $pair.csv
		cut -d, -f 1,3,4,6-16 $pair.csv | LC_ALL=C sort >$pair.events # without processes, threads and random ids
	done
	[ "$(wc -l <x86_64:x86_64.events)" -gt 40 ]
	diff x86_64:x86_64.events x86_64:aarch64.events
}

# An emulated importer reads by a descriptor; it has no process_vm_readv().
test_the_path_and_why_it_is_not_cma_are_told() {
	head -c 60000000 /dev/zero >in
	mkdir h
	mv in h/in
	copy x86_64:aarch64 --session s >run.out 2>&1 &
	run=$!
	sees_path() { bfsim ps --session s >ps.out 2>/dev/null && grep -q ' procmem ' ps.out; }
	becomes_true sees_path
	wait $run
	BFSIM_PATH=cma copy x86_64:aarch64 >out 2>&1 && return 1
	says 'cma: no process_vm_readv here' out
}

test_faults_hit_both_sides() {
	copy x86_64:aarch64 --fault 'dma.memcpy side=dpu nth=2 fail=IO_FAILED' --require-faults >out 2>err && return 1
	says 'Input/Output Operation Failed' err
	for side in host dpu; do
		copy x86_64:aarch64 --fault "peer side=$side at=30ms kill" >out 2>err && return 1
		absent d/out
	done
	same 0 "$(find "$TMPDIR" -mindepth 1 | wc -l)"
	same 0 "$(left_behind)"
}

# The emulated side makes the operation, and ends with an error, or the copy is late: nothing hangs.
test_faults_strike_operations_of_an_emulated_side() {
	for rule in 'dma.memcpy side=dpu nth=3 delay=20ms' \
		'comch.send side=dpu nth=1 delay=20ms' 'mmap.import side=dpu delay=20ms'; do
		status 0 copy x86_64:aarch64 --fault "$rule" --require-faults
		cmp h/in d/out
	done
	patience=5
	for rule in 'dma.memcpy side=dpu nth=3 refuse=AGAIN' 'mmap.import side=dpu fail=NO_MEMORY' \
		'comch.send side=dpu fail=IO_FAILED' 'dma.memcpy side=dpu nth=2 hang'; do
		copy x86_64:aarch64 --fault "$rule" --require-faults >out 2>err && { echo "no error: $rule"; return 1; }
		says 'fault 1 hit' err
	done
	same 0 "$(find "$TMPDIR" -mindepth 1 | wc -l)"
	same 0 "$(left_behind)"
}

# An exporter of either architecture: a late export only delays the copy, a refused one ends both sides with its reason.
test_faults_of_an_export_are_told_to_the_other_architecture() {
	may_die=host # the DPU's side reports before the run ends
	for pair in x86_64:aarch64 aarch64:x86_64; do
		status 0 copy $pair --fault 'mmap.export delay=20ms' --require-faults
		cmp h/in d/out
		copy $pair --fault 'mmap.export fail=NO_MEMORY' --require-faults >out 2>err && { echo "no error: $pair"; return 1; }
		says 'fault 1 hit' err
		cat out err >all
		says '^host *\|.*export the window' all
		says '^dpu *\|.*The other side has given up: .*export the window' all
		absent d/out
	done
	nothing_stays
}

fired() { bfsim fault list --session s 2>/dev/null | awk '$1 == 1 && $3 > 0 { n++ } END { exit !n }'; }
pid_of() { bfsim ps --json --session s | python3 -c 'import json, sys
print(*(p["pid"] for p in json.load(sys.stdin)["processes"] if p["side"] == sys.argv[1]))' "$1"; }
nothing_stays() {
	same 0 "$(find "$TMPDIR" -mindepth 1 | wc -l)"
	same 0 "$(left_behind)"
}

# killed_during PAIR RULE SIDE ERROR: the side dies when RULE has fired and the operation is not over. The run goes on without
# it; the other side notices the death by itself, and ends with ERROR.
killed_during() {
	may_die=$3
	survivor=dpu
	[ "$3" = host ] || survivor=host
	copy "$1" --session s --fault "$2" >out 2>err &
	run=$!
	becomes_true fired
	pids="$(pid_of host) $(pid_of dpu)"
	kill -KILL "$(pid_of "$3")"
	wait $run && { echo "no error: $*"; return 1; }
	cat out err >all
	says "^$survivor *\\|.*\[ERR\].*($4)" all
	says "the command on $survivor ended with status 1" all
	absent d/out
	absent s
	for pid in $pids; do
		absent "/dev/shm/bfsim-$pid-"*
	done
	nothing_stays
}

# A process of either architecture dies in the middle of an operation; its peer, of the other one, notices it.
test_a_kill_during_an_operation_ends_the_other_side() {
	gone='The other side has gone away'
	for pair in x86_64:aarch64 aarch64:x86_64; do
		killed_during $pair 'dma.memcpy nth=2 hang' dpu "$gone"
		killed_during $pair 'dma.memcpy nth=2 hang' host "$gone"
		killed_during $pair 'comch.send side=dpu hang nth=1' dpu "$gone"
		# The messages of a dead process arrive; its memory is no more.
		killed_during $pair 'comch.send side=host delay=60s' host "Cannot import the host's window|$gone"
		killed_during $pair 'mmap.export delay=60s' host "$gone"
	done
}

# Random operations under random faults, while one side is killed now and then: the emulated one, and the other.
test_a_soak_goes_well() {
	export BFSIMD="$native/sim/cli/bfsimd"
	for seed in 4 5; do
		status 0 "$native/tests/soak/soak" --seconds 6 --seed $seed --dpu-program "qemu-aarch64-static $arm/tests/soak/soak"
		says "kills of the .*'s process .*[1-9], in" out
		says "^seed $seed: well" out
	done
}

test_a_mistake_is_found_in_an_emulated_program() {
	status 0 copy x86_64:aarch64 --check
	cmp h/in d/out
}

test_a_program_linked_against_stubs_of_2_10_starts() {
	program=$arm/tests/releases/uses_2_10
	status 0 bfsim run --dpu "$program"
	status 1 bfsim check-binary --against 2.10 "$program" # it calls doca_rdma_bridge_accept(), whose parameters have changed
	says 'it is a program for aarch64' out
	says 'against 2.10  links; 1 with other parameters than now' out
	says 'starts on: .*2.10' out
}

test_a_prefix_without_the_libraries_is_named() {
	mv "$prefix/lib/aarch64-linux-gnu" gone
	program=$(app aarch64 dpu)
	bfsim run --dpu "$program --version" >out 2>err || true
	bfsim sdk --on dpu --arch aarch64 >out2 2>err2 && failed=0 || failed=1
	mv gone "$prefix/lib/aarch64-linux-gnu"
	says "bfsim's libraries for aarch64 are not installed in $prefix" err
	says 'no libraries for aarch64' err2
	same 1 $failed
}

test_larger_pages_reach_an_emulated_program() {
	aarch64-linux-gnu-gcc -o probe -x c - <<-'EOF'
		#include <stdio.h>
		#include <unistd.h>
		int main(void) { printf("%ld\n", sysconf(_SC_PAGESIZE)); }
	EOF
	status 0 bfsim run --topology "$prefix/share/doc/bfsim/topologies/real-dpu.yaml" --dpu ./probe
	says '^dpu\| 65536$' out
	same '' "$(cat err)"
	status 0 bfsim run --dpu ./probe
	says '^dpu\| 4096$' out
}

run_tests "$0" "$work"
