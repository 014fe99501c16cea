#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# DMA Copy between a host process and a DPU process: whole files, and what is
# left when one of the two goes away.
#
#   test_dma_copy.sh BFSIM TEST PROGRAMS [PROGRAMS]       status 0, 1 or (can't be tried here) 77
#
# PROGRAMS is a generation of the SDK and the directory where its programs are,
# task:DIR or workq:DIR; the second is the DPU's, if it is another than the host's.
# A test is a shell function that runs in a directory of its own, where
# host/ and dpu/ are the sides' directories; its first command that fails ends
# it. Commands for bfsim run are expanded by its shell.
# shellcheck disable=SC2016
set -eu

bfsim_program=$(realpath "$1")
generation_of() { echo "${1%%:*}"; }
programs_of() { realpath "${1#*:}"; }
host_generation=$(generation_of "$3")
dpu_generation=$(generation_of "${4:-$3}")
HOST_APPS=$(programs_of "$3")
DPU_APPS=$(programs_of "${4:-$3}")
export HOST_APPS DPU_APPS
work=$(mktemp -d)
host_pid='' dpu_pid=''

unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY
unset LD_LIBRARY_PATH # the generations name their libraries alike: each program knows where its own are
export TMPDIR="$work/tmp" # where bfsim run makes its sessions
mkdir "$TMPDIR"

bfsim() { "$bfsim_program" "$@"; }

clean_up() {
	for pid in $host_pid $dpu_pid; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	[ ! -e "$work/session/lock" ] || bfsim down --session "$work/session" >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
mkdir host dpu

# --- Helpers of the tests --------------------------------------------------------

piece=1048576
window=$((8 * piece))

random() { head -c "$1" /dev/urandom >"$2"; }

# run_with HOST_FLAGS DPU_FLAGS [FLAGS_OF_RUN]: both sides in one command, which fails if one of them does.
run_with() {
	host_flags=$1 dpu_flags=$2
	shift 2
	bfsim run --timeout 90 "$@" \
		--generation "$host_generation" --host '"$HOST_APPS"/dma_copy_host '"$host_flags" \
		--generation "$dpu_generation" --dpu '"$DPU_APPS"/dma_copy_dpu '"$dpu_flags"
}

run() { run_with '-p b1:00.0 -f host/file' '-p 03:00.0 -r b1:00.0 -f dpu/file' "$@"; }

# One side alone: run_host FLAGS, run_dpu FLAGS.
run_host() {
	bfsim run --timeout 90 --generation "$host_generation" --host '"$HOST_APPS"/dma_copy_host '"$1"
}

run_dpu() {
	bfsim run --timeout 90 --generation "$dpu_generation" --dpu '"$DPU_APPS"/dma_copy_dpu '"$1"
}

# fails COMMAND...: the errors are in ./err
fails() {
	if "$@" >out 2>err; then
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

# says_not PATTERN FILE
says_not() {
	grep -Eq -- "$1" "$2" || return 0
	echo "$2 has a line that matches: $1"
	cat "$2"
	return 1
}

# is_empty DIRECTORY: no files in it, not even hidden ones
is_empty() {
	[ -z "$(ls -A "$1")" ] && return 0
	ls -lA "$1"
	return 1
}

other() { if [ "$1" = host ]; then echo dpu; else echo host; fi; }

# sends SIDE: files of every size go to the other one
sends() {
	to=$(other "$1")
	for size in 0 1 $((piece - 1)) $piece $((piece + 1)) $((3 * window + 17)); do
		random "$size" "$1/file"
		run >said
		cmp "$1/file" "$to/file"
		digest=$(sha256sum <"$1/file" | cut -d ' ' -f 1)
		says "sent $1/file: $size bytes, .* SHA-256 $digest" said
		says "received $to/file: $size bytes, .* SHA-256 $digest" said
		rm "$to/file"
		is_empty "$to"
	done
}

# Two processes that the test can reach: $host_pid, $dpu_pid, host.err, dpu.err.
# The command becomes the program, so its pid is the program's.
start_host() {
	"$bfsim_program" exec --session session --on host -- \
		"$HOST_APPS/dma_copy_host" -p b1:00.0 -f "$1" -l 60 >host.out 2>host.err &
	host_pid=$!
}

start_dpu() {
	"$bfsim_program" exec --session session --on dpu -- \
		"$DPU_APPS/dma_copy_dpu" -p 03:00.0 -r b1:00.0 -f "$1" -l 60 >dpu.out 2>dpu.err &
	dpu_pid=$!
}

up() { bfsim up --session session "$@" >/dev/null; }

start() {
	up "$@"
	start_dpu dpu/file
	start_host host/file
}

pid_of() { if [ "$1" = host ]; then echo "$host_pid"; else echo "$dpu_pid"; fi; }

# ends SIDE STATUS
ends() {
	status=0
	wait "$(pid_of "$1")" || status=$?
	if [ "$1" = host ]; then host_pid=; else dpu_pid=; fi
	[ "$status" -eq "$2" ] && return 0
	echo "the $1's program ended with $status, not $2"
	cat host.err dpu.err
	return 1
}

# comes_to SIDE PATTERN: wait until its log has it
comes_to() {
	until grep -Eq -- "$2" "$1.err"; do
		kill -0 "$(pid_of "$1")" || says "$2" "$1.err"
		sleep 0.02 # leaves the processor to the programs
	done
}

# card BYTES: one with two functions, whose DMA tasks copy no more than that
card() {
	cat >card.yaml <<-YAML
		cards:
		  - profile: bluefield-3
		    functions:
		      - {side: dpu, type: pf, pci: "03:00.0", caps: {dma-max-buf-bytes: $1}}
		      - {side: host, type: pf, pci: "b1:00.0"}
	YAML
}

# Both are in the middle of a file that takes the card long.
start_in_the_middle() {
	card 512
	truncate -s 8G "$1/file"
	start --topology card.yaml
	comes_to "$(other "$1")" 'Piece 1 is in the file'
}

# --- Whole files -------------------------------------------------------------------

host_sends_files_of_every_size() { sends host; }

dpu_sends_files_of_every_size() { sends dpu; }

pieces_are_cut_to_the_device() {
	card 12345
	for from in host dpu; do
		rm -f host/file dpu/file
		random $((2 * piece + 77)) $from/file
		run --topology card.yaml >/dev/null
		cmp host/file dpu/file
	done
}

permissions_are_carried_over() {
	for mode in 600 751 444; do
		rm -f host/file dpu/file
		random 100 dpu/file
		chmod $mode dpu/file
		run >/dev/null
		[ "$(stat -c %a host/file)" = $mode ]
	done
}

# --- Flags --------------------------------------------------------------------------

flags_come_from_a_json_file() {
	random 100000 host/file
	for side in host dpu; do
		cat >$side.json <<-JSON
			{"doca_general_flags": {"log-level": 40},
			 "doca_program_flags": {"file": "$side/file", "dev-pci": "$(
			[ $side = host ] && echo b1:00.0 || echo 03:00.0)", "rep-pci": "b1:00.0"}}
		JSON
	done
	run_with '--json host.json' '--json dpu.json' 2>err
	cmp host/file dpu/file
	says_not Sending err # a level of 40 is for warnings
}

missing_flags_are_named() {
	fails run_host '-p b1:00.0'
	says 'file' err
	fails run_host '-f x'
	says 'dev-pci' err
	fails run_dpu '-p 03:00.0 -f x'
	says 'rep-pci' err
	run_dpu '--help' >said
	says '--file' said
	says '--dev-pci' said
	says '--rep-pci' said
	says '--json' said
	run_host '--version' >said
	says '[0-9]\.[0-9]' said
}

wrong_addresses_are_named() {
	fails run_host '-p 03:00.0 -f x'
	says 'No device at 03:00.0' err
	fails run_dpu '-p 03:00.0 -r 03:00.0 -f x'
	says 'No representor of 03:00.0' err
	fails run_dpu '-p 03:00.0 -r b1:00.77777777777777 -f x'
	says 'rep-pci: longer than' err
}

# --- The sender -----------------------------------------------------------------------

only_regular_files_are_sent() {
	fails run_host '-p b1:00.0 -f host'
	says 'host is no regular file' err
}

file_on_both_sides_is_refused() {
	random 10 host/file
	random 20 dpu/file
	start
	ends host 1
	ends dpu 1
	says 'Both sides have the file, host/file is ours' host.err
	says 'Both sides have the file, dpu/file is ours' dpu.err
	[ "$(stat -c %s host/file dpu/file | tr '\n' ' ')" = '10 20 ' ]
}

# And the side that detects it first does not keep the other waiting.
file_on_neither_side_is_refused() {
	up
	for _ in 1 2 3 4 5; do
		start_dpu dpu/file
		start_host host/file
		ends host 1
		ends dpu 1
		says 'Neither side has the file' host.err
		says 'Neither side has the file' dpu.err
		says_not "doesn't end the connection" dpu.err
		is_empty host
		is_empty dpu
	done
}

client_without_a_server_is_told() {
	fails run_host '-p b1:00.0 -f host/file'
	says 'No DMA Copy on the DPU' err
}

# And the first transfer continues.
second_host_is_sent_away() {
	start_in_the_middle host
	fails bfsim exec --session session --on host -- "$HOST_APPS/dma_copy_host" -p b1:00.0 -f host/other
	says 'The other side has gone away|No DMA Copy on the DPU takes us' err
	says 'Another client has come, and is sent away' dpu.err
	kill -TERM "$host_pid"
	ends host 1
	ends dpu 1
	says 'The other side has given up: Ended by a signal: Terminated' dpu.err
}

# A side that waits for the other one can be interrupted.
interrupted_while_it_waits() {
	up
	start_dpu dpu/file
	comes_to dpu 'Waiting for the host'
	kill -TERM "$dpu_pid"
	ends dpu 1
	says 'Ended by a signal: Terminated' dpu.err
	start_host host/file
	comes_to host 'Connecting to the DPU'
	kill -TERM "$host_pid"
	ends host 1
	says 'Ended by a signal: Terminated' host.err
}

directory_that_is_not_there_is_told_to_both() {
	random 10 host/file
	up
	start_dpu missing/file
	start_host host/file
	ends host 1
	ends dpu 1
	says 'Cannot create a file in missing: No such file' dpu.err
	says 'The other side has given up: Cannot create a file in missing' host.err
}

progress_is_for_terminals() {
	random $piece host/file
	run >said 2>&1
	says_not '100 %' said
	rm dpu/file
	up
	start_dpu dpu/file
	python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$bfsim_program" \
		exec --session session --on host -- "$HOST_APPS/dma_copy_host" -p b1:00.0 -f host/file >said </dev/null
	says '100 %  1\.0 of 1\.0 MB' said
	ends dpu 0
	cmp host/file dpu/file
}

# --- One side goes away in the middle -----------------------------------------------------

# killed SENDER VICTIM
killed() {
	receiver=$(other "$1") survivor=$(other "$2")
	start_in_the_middle "$1"
	kill -STOP "$(pid_of "$2")"
	kill -KILL "$(pid_of "$2")"
	ends "$survivor" 1
	ends "$2" 137
	says 'The other side has gone away' "$survivor.err"
	is_empty "$receiver"
}

killed_host_sender_leaves_nothing() { killed host host; }

killed_dpu_sender_leaves_nothing() { killed dpu dpu; }

killed_host_receiver_leaves_nothing() { killed dpu host; }

killed_dpu_receiver_leaves_nothing() { killed host dpu; }

# Without the card, both sides end by themselves.
killed_daemon_leaves_nothing() {
	start_in_the_middle host
	kill -KILL "$(fuser session/lock 2>/dev/null | tr -d ' ')"
	ends host 1
	ends dpu 1
	is_empty dpu
}

# interrupted SENDER VICTIM
interrupted() {
	receiver=$(other "$1") survivor=$(other "$2")
	start_in_the_middle "$1"
	kill -TERM "$(pid_of "$2")"
	ends "$2" 1
	ends "$survivor" 1
	says 'Ended by a signal: Terminated' "$2.err"
	says 'The other side has given up: Ended by a signal: Terminated' "$survivor.err"
	is_empty "$receiver"
	bfsim down --session session
	rm -r session "$1/file"
}

interrupted_sender_leaves_nothing() {
	interrupted host host
	interrupted dpu dpu
}

interrupted_receiver_leaves_nothing() {
	interrupted host dpu
	interrupted dpu host
}

# For seconds, as a debugger does it. The rest of the file then takes the card so long (seconds, as the sides sleep
# between polls) that both stops come before its end, on a busy machine too.
stopped_sides_lose_nothing() {
	card 1024
	random $((40 * piece + 1)) host/file
	start --topology card.yaml
	comes_to dpu 'Piece 1 is in the file'
	kill -STOP "$host_pid"
	sleep 2
	kill -CONT "$host_pid"
	kill -STOP "$dpu_pid"
	sleep 2
	kill -CONT "$dpu_pid"
	ends host 0
	ends dpu 0
	cmp host/file dpu/file
}

# --- A host that violates the protocol---------------------------------------------------------

# breaks MISDEED PATTERN: the DPU's error matches
breaks() {
	start_dpu dpu/file
	comes_to dpu 'Waiting for the host'
	bfsim exec --session session --on host -- "$HOST_APPS/dma_copy_rogue" b1:00.0 "$1" >host.out 2>host.err || {
		cat host.out host.err dpu.err
		return 1
	}
	ends dpu 1
	says "$2" dpu.err
	is_empty dpu
}

rogue_host_leaves_nothing() {
	up
	breaks garbage "A message from the other side is none of DMA Copy's"
	breaks out-of-order 'has sent DONE, which is not expected now'
	breaks huge-window 'a window of 2 slots of 4294967295 bytes: no good here'
	breaks empty-window 'a window of 0 slots of 4096 bytes: no good here'
	breaks bad-descriptor "Cannot import the host's window"
	breaks bad-address 'A copy by DMA has failed'
	breaks wrong-index 'has sent FULL, which is not expected now'
	breaks wrong-length 'has sent FULL, which is not expected now'
	breaks flood 'has sent FULL, which is not expected now|one too many'
	breaks end-too-early 'has sent END, which is not expected now'
	breaks enormous 'has sent END, which is not expected now'
	breaks wrong-digest 'dpu/file has another SHA-256 than what was sent'
}

# --- Data paths ---------------------------------------------------------------------------------

# over PATH: both ways by that path alone
over() {
	export BFSIM_PATH="$1"
	for from in host dpu; do
		rm -f host/file dpu/file
		random $((2 * window + 3)) $from/file
		if ! run >/dev/null 2>err; then
			cat err
			grep -q 'the kernel forbids' err && exit 77
			return 1
		fi
		cmp host/file dpu/file
	done
}

over_procmem() { over procmem; }

over_cma() { over cma; }

over_shm() { over shm; }

over_tcp() { over tcp; }

# ---------------------------------------------------------------------------------------------------

"$2"
is_empty "$TMPDIR" # sessions leave nothing behind
