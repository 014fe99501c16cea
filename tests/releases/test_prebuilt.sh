#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that were linked with releases of the vendor, on an installation: bfsim run and exec select the libraries that
# each program needs.
#
#   test_prebuilt.sh BUILD_DIR PROGRAMS LIBDIR       (TAP)
#
# In PROGRAMS, old_jobs, old_channel_2_2 and old_rdma_2_2 are of release 2.2; old_copy, old_channel, old_cc and old_rdma are of 2.5;
# old_rdma_2_6 and old_rdma_3_0 are the same of 2.6 and 3.0.

. "$(dirname "$0")/../multi/tap.sh"

build=$1
programs=$(realpath "$2")
libdir=$3
work=$(mktemp -d)
clean_up() {
	[ -e "$work/session/lock" ] && bfsim down --session "$work/session" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY BFSIM_LOG_LEVEL LD_LIBRARY_PATH
export XDG_RUNTIME_DIR="$work" TMPDIR="$work"

meson install -C "$build" --no-rebuild --destdir "$work/destination" >"$work/install.log" || exit 1
mv "$(dirname "$(find "$work/destination" -type d -name sdk)")" "$work/bfsim"

old_copy="$programs/old_copy --grpc-address 192.0.2.1:50051"

bfsim() { "$work/bfsim/bin/bfsim" "$@"; }
run() { bfsim run --timeout 60 "$@"; }

test_program_of_2_2_runs_on_either_side() {
	status 0 run --host "$programs/old_jobs" --dpu "$programs/old_jobs"
	says '^host *\| version: 2\.2\.' out
	says '^dpu +\| version: 2\.2\.' out
	says '^host *\| device: 0000:b1:00\.0$' out
	says '^dpu +\| device: 0000:03:00\.0$' out
	same 2 "$(grep -c 'copied: the same$' out)"
}

test_programs_of_two_releases_share_a_card() {
	status 0 run --host "$programs/old_jobs" --dpu "$old_copy"
	says '^host *\| copied: the same$' out
	says '^dpu +\| copied: the same$' out
	status 0 run --host "$old_copy" --dpu "$programs/old_jobs"
	same 2 "$(grep -c 'copied: the same$' out)"
}

# The loader writes the cause to err; its status depends on the cause.
does_not_start() {
	got=0
	run "$@" >out 2>err || got=$?
	[ "$got" -ne 0 ]
}

test_wrong_generation_is_refused_by_the_loader() {
	does_not_start --generation task --host "$programs/old_jobs"
	says "version .*EXPERIMENTAL|undefined symbol" err
	does_not_start --generation workq --host "$programs/old_channel client"
	says "version .*DOCA_2|undefined symbol" err
	does_not_start --generation workq --host "$programs/old_cc client"
	says 'libdoca_cc.so.2: cannot open shared object' err
}

test_programs_of_any_two_releases_talk_over_comm_channel() {
	for client in old_channel_2_2 old_channel; do
		for service in old_channel old_channel_2_2; do
			status 0 run --host "$programs/$client client" --dpu "$programs/$service service"
			says '^dpu +\| heard: a question$' out
			says '^host *\| heard: an answer$' out
		done
	done
}

# answers_to ANSWERING ASKING [OPTION...]
answers_to() {
	first=$1 second=$2
	shift 2
	status 0 run "$@" --host "$first answer to from" --dpu "$second ask from to"
	says '^dpu +\| read: bytes that were written$' out
	says '^host *\| memory: bytes that were written$' out
	says '^host *\| heard: a message, 10 bytes, abcd$' out
}

test_programs_of_any_two_releases_talk_by_rdma() {
	mkfifo to from
	for answering in old_rdma_2_2 old_rdma old_rdma_2_6 old_rdma_3_0; do
		for asking in old_rdma_2_2 old_rdma old_rdma_2_6 old_rdma_3_0; do
			answers_to "$programs/$answering" "$programs/$asking"
		done
	done
}

# The symbols of a program of 2.5 may tell that it is none of a later release; those of 2.6 without shared receive queues do not.
test_programs_that_the_vendors_header_was_for_talk_by_rdma() {
	mkfifo to from
	for program in old_rdma old_rdma_2_6; do
		objcopy -R .note.bfsim.task-2.5 "$programs/$program" $program
	done
	answers_to ./old_rdma ./old_rdma
	answers_to ./old_rdma_2_6 ./old_rdma_2_6 --generation task-2.5
	does_not_start --host './old_rdma_2_6 ask to from'
	says 'run after the connect: ' err
}

test_exec_finds_the_libraries() {
	bfsim up --session "$work/session" >up.out
	for program in "$programs/old_jobs" "$old_copy"; do
		for side in host dpu; do
			# shellcheck disable=SC2086 # its words
			status 0 bfsim exec --session "$work/session" --on $side -- $program
			says '^copied: the same$' out
		done
	done
	mkfifo ready
	bfsim exec --session "$work/session" --on dpu -- "$programs/old_cc" server >ready 2>server.err &
	server=$!
	exec 3<ready
	read -r word <&3 # it is
	same ready "$word"
	status 0 bfsim exec --session "$work/session" --on host -- "$programs/old_cc" client
	says '^heard: an answer$' out
	read -r word <&3
	same 'heard: a question' "$word"
	wait $server
	bfsim down --session "$work/session"
}

# Without bfsim, on a private card of the tree's side.
test_library_path_of_a_tree_is_enough() {
	for side in host:b1 dpu:03; do
		status 0 env LD_LIBRARY_PATH="$(bfsim sdk --generation workq --on ${side%:*})/$libdir" "$programs/old_jobs"
		says "^device: 0000:${side#*:}:00\\.0\$" out
		says '^copied: the same$' out
		# shellcheck disable=SC2086 # its words
		status 0 env LD_LIBRARY_PATH="$(bfsim sdk --generation task --on ${side%:*})/$libdir" $old_copy
		says '^copied: the same$' out
	done
}

run_tests "$0" "$work"
