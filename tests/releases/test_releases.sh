#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of the vendor's releases on bfsim's libraries, and the reports of bfsim check-binary about them.
#
#   test_releases.sh BFSIM PROGRAMS LIBRARY-PATH WORKQ-LIBRARY-PATH TASK-2.5-LIBRARY-PATH LIBDIR       (TAP)
#
# PROGRAMS is the folder of the programs. old_jobs, old_channel_2_2 and old_rdma_2_2 are of release 2.2; old_copy, old_channel,
# old_cc and old_rdma are of 2.5; old_rdma_2_6 and old_rdma_3_0 are the same of 2.6 and 3.0. uses_RELEASE uses every symbol of the
# release in the libraries that bfsim has, but RDMA of 2.2, 2.5 and 2.6, which uses_rdma_RELEASE uses, too; declared_2_2 uses
# those that a header of 2.2 declares, with RDMA.

. "$(dirname "$0")/../multi/tap.sh"

bfsim_program=$(realpath "$1")
programs=$(realpath "$2")
libraries=$3
workq_libraries=$4
task_2_5_libraries=$5:$3
libdir=$6
work=$(mktemp -d)
clean_up() {
	for lock in "$work"/*/s/lock; do
		[ -e "$lock" ] && LD_LIBRARY_PATH= bfsim down --session "${lock%/lock}" 2>/dev/null
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
unset BFSIM_SESSION BFSIM_SIDE BFSIM_LOG_LEVEL LD_LIBRARY_PATH
export XDG_RUNTIME_DIR="$work" TMPDIR="$work"

bfsim() { "$bfsim_program" "$@"; }
check() { bfsim check-binary "$@"; }
on_bfsim() { LD_LIBRARY_PATH=$libraries LD_BIND_NOW=1 "$@"; }
on_workq() { LD_LIBRARY_PATH=$workq_libraries LD_BIND_NOW=1 "$@"; }
on_task_2_5() { LD_LIBRARY_PATH=$task_2_5_libraries LD_BIND_NOW=1 "$@"; }
# The program as the vendor's header leaves it.
without_note() { objcopy -R .note.bfsim.task-2.5 "$programs/$1" "$1"; }
# lacks PATTERN FILE: no line of it matches.
json() { python3 -c 'import json, sys; print(eval(sys.argv[1], {"all": json.load(open("out")), "sum": sum}))' "$1"; }

# --- starting ------------------------------------------------------------------

test_program_of_2_5_copies_with_nothing_but_the_library_path() {
	status 0 on_bfsim "$programs/old_copy" --grpc-address 192.0.2.1:50051
	says '^address: 192.0.2.1:50051$' out
	says '^copied: the same$' out
	says '^record: from a buffer$' out
}

test_program_of_2_2_copies_with_nothing_but_the_library_path() {
	status 0 on_workq "$programs/old_jobs"
	says '^version: 2\.2\.' out
	says '^device: 0000:b1:00\.0$' out
	says '^copied: the same$' out
	says 'a record$' err
}

test_programs_of_2_5_talk_over_comm_channel() {
	status 0 on_bfsim "$bfsim_program" run --timeout 60 \
		--host "$programs/old_channel client" --dpu "$programs/old_channel service"
	says '^dpu +\| heard: a question$' out
	says '^host *\| heard: an answer$' out
}

test_programs_of_2_2_talk_over_comm_channel() {
	status 0 on_workq "$bfsim_program" run --timeout 60 \
		--host "$programs/old_channel_2_2 client" --dpu "$programs/old_channel_2_2 service"
	says '^dpu +\| heard: a question$' out
	says '^host *\| heard: an answer$' out
}

test_programs_of_2_5_talk_over_what_comch_was_called_then() {
	mkfifo ready # the server's lines, of which that is the first
	status 0 on_bfsim "$bfsim_program" run --timeout 60 \
		--host "exec 3<ready; read -r word <&3; $programs/old_cc client; cat <&3" --dpu "$programs/old_cc server | tee ready"
	says '^dpu +\| heard: a question$' out
	says '^host *\| heard: an answer$' out
}

test_programs_of_2_2_talk_by_rdma() {
	mkfifo to from
	status 0 on_workq "$bfsim_program" run --timeout 60 \
		--host "$programs/old_rdma_2_2 answer to from" --dpu "$programs/old_rdma_2_2 ask from to"
	says '^dpu +\| read: bytes that were written$' out
	says '^host *\| memory: bytes that were written$' out
	says '^host *\| heard: a message, 10 bytes, abcd$' out
}

test_programs_of_2_5_and_2_6_talk_by_rdma() {
	mkfifo to from
	for program in old_rdma old_rdma_2_6; do
		status 0 on_task_2_5 "$bfsim_program" run --timeout 60 \
			--host "$programs/$program answer to from" --dpu "$programs/$program ask from to"
		says '^dpu +\| read: bytes that were written$' out
		says '^host *\| memory: bytes that were written$' out
		says '^host *\| heard: a message, 10 bytes, abcd$' out
	done
}

test_program_without_the_library_path_does_not_start() {
	for program in old_jobs old_channel_2_2 old_rdma_2_2 old_copy old_channel old_cc old_rdma; do
		status 127 "$programs/$program"
		says 'libdoca_.*cannot open shared object' err
	done
}

test_every_symbol_of_a_release_is_there() {
	for release in 2_5 2_6 2_10 3_0 3_3; do
		status 0 on_bfsim "$programs/uses_$release"
	done
	status 0 on_workq "$programs/declared_2_2"
	for release in 2_5 2_6; do
		status 0 on_task_2_5 "$programs/uses_rdma_$release"
	done
}

test_symbols_of_2_2_are_not_in_the_current_generation() {
	got=0
	on_bfsim "$programs/uses_2_2" >out 2>err || got=$?
	[ "$got" -ne 0 ]
	says 'version .*EXPERIMENTAL|undefined symbol' err
}

test_symbols_of_2_5_are_not_in_the_workq_generation() {
	for program in uses_2_5 old_copy old_channel; do
		got=0
		on_workq "$programs/$program" >out 2>err || got=$?
		[ "$got" -ne 0 ]
		says 'version .*DOCA_2|undefined symbol|cannot open shared object' err
	done
}

# --- bfsim exec and run choose the libraries ---------------------------------------

# An installation with stubs in its trees: of 2.2 in workq-host, of 2.5 in task-2.5-host, and, without RDMA, in host.
install_stubs() {
	mkdir -p bin
	cp "$bfsim_program" bin/bfsim
	for tree in workq-host:2_2 task-2.5-host:2_5 host:2_5; do
		folder=sdk/${tree%:*}/$libdir
		mkdir -p "$folder"
		for stub in "$programs"/libdoca_*_stub_"${tree#*:}.so"; do
			library=$(basename "$stub")
			cp "$stub" "$folder/${library%_stub_*}.so.2"
		done
	done
	rm "sdk/host/$libdir/libdoca_rdma.so.2"
	export LD_LIBRARY_PATH="${bfsim_program%/cli/*}" BFSIM_BFSIMD="${bfsim_program}d"
}

test_run_gives_each_program_the_libraries_of_its_generation() {
	install_stubs
	status 0 bin/bfsim run --host "$programs/uses_2_2" --on host="LD_BIND_NOW=1 $programs/uses_2_5" \
		--on host="$programs/uses_rdma_2_5"
	status 1 bin/bfsim run --generation task --host "$programs/uses_2_2"
	status 127 bin/bfsim run --generation workq --host "$programs/uses_2_5"
	status 127 bin/bfsim run --generation task --host "$programs/uses_rdma_2_5"
	status 0 bin/bfsim run --generation task-2.5 --host "$programs/uses_2_5"
	status 2 bin/bfsim run --generation old --host true
	says 'there are three, task, task-2.5 and workq' err
}

test_exec_gives_a_program_the_libraries_of_its_generation() {
	install_stubs
	bin/bfsim up --session s >out
	for program in uses_2_2 uses_2_5 uses_rdma_2_5; do
		status 0 bin/bfsim exec --session s --on host -- "$programs/$program"
	done
	status 1 bin/bfsim exec --session s --on host --generation task -- "$programs/uses_2_2"
	status 0 bin/bfsim exec --session s --on host --generation workq -- sh -c 'echo "$LD_LIBRARY_PATH"'
	says "^$PWD/sdk/workq-host/" out
	status 0 bin/bfsim exec --session s --on host -- sh -c 'echo "$LD_LIBRARY_PATH"'
	says "^$PWD/sdk/host/" out
	rm -r sdk/workq-host
	status 125 bin/bfsim exec --session s --on host -- "$programs/uses_2_2"
	says 'is of the workq generation \(DOCA 1.5 to 2.2\), and there are no libraries for it in .*/bfsim-workq; --generation task' err
	rm -r sdk/task-2.5-host
	status 125 bin/bfsim exec --session s --on host -- "$programs/uses_rdma_2_5"
	says 'is of the task-2.5 generation \(DOCA 2.5 and 2.6, with RDMA\), and there are no libraries for it in .*/bfsim-task-2.5; ' err
	bin/bfsim down --session s
}

# --- check-binary: the verdict -------------------------------------------------

test_program_of_2_5_starts_on_it_and_on_bfsim() {
	status 0 check "$programs/old_copy"
	says 'old_copy: [0-9]+ symbols of DOCA; needs .*libdoca_dma.so.2' out
	says '^  bfsim: +starts on its task generation; all of its symbols are simulated, 1 of them partly$' out
	says '^  partly: +doca_pe_progress  \(bfsim coverage NAME' out
	says '^  starts on: +2.5$' out
	says '^ +\(2.2 lacks 14: doca_buf_dec_refcount, .*, \.\.\.; 2.6 lacks 1: doca_log_backend_create_with_buffer\)$' out
	says '^  links with: +2.5$' out
	lacks SYMBOL out
}

test_program_of_2_2_starts_on_it_and_on_bfsim() {
	status 0 check "$programs/old_jobs"
	says 'old_jobs: [0-9]+ symbols of DOCA; needs .*libdoca_dma.so.2' out
	says '^  bfsim: +starts on its workq generation; all of its symbols are simulated, 1 of them partly$' out
	says '^  starts on: +2.2$' out
	says '^  links with: +2.2$' out
}

test_program_of_2_5_with_rdma_starts_on_a_generation_of_its_own() {
	without_note old_rdma
	for program in old_rdma "$programs/old_rdma"; do
		status 0 check "$program"
		says '^  bfsim: +starts on its task-2\.5 generation; all of its symbols are simulated, ' out
		says '^  starts on: +2.5$' out
		says '2.6 lacks 1: doca_rdma_task_receive_get_result_length' out
		lacks SYMBOL out
	done
}

# Nothing in a program of 2.6 tells it from a later one, but bfsim's header does.
test_program_of_2_6_with_rdma_may_be_a_later_one() {
	status 0 check "$programs/old_rdma_2_6"
	says '^  bfsim: +starts on its task-2\.5 generation; ' out
	lacks '^  or: ' out
	without_note old_rdma_2_6
	status 0 check old_rdma_2_6
	says '^  bfsim: +starts on its task generation; ' out
	says '^  starts on: +2\.6, ' out
	says '^  or: +on its task-2\.5 generation, if it was built with 2\.5 or 2\.6 \(--generation task-2\.5\)$' out
	for program in uses_3_0 old_cc; do
		check "$programs/$program" >out || true
		lacks '^  or: ' out
	done
}

test_symbols_of_2_5_that_are_not_simulated_or_changed_are_listed() {
	status 1 check "$programs/uses_2_5"
	says '^  bfsim: +starts on its task generation; 3 with other parameters than it was built with; [0-9]+ not simulated; 7 partly simulated$' out
	says '^doca_buf_arr_create +EXPERIMENTAL +libdoca_common +other parameters +\? +yes\* +yes\* +yes\* +\? +yes +yes +yes +yes$' out
	says '^doca_buf_arr_set_target_gpu +EXPERIMENTAL +libdoca_common +not simulated +\? +yes +yes +yes +yes +yes +yes +yes +yes$' out
	says '^doca_sync_event_export_to_gpu +EXPERIMENTAL +libdoca_common +not simulated +\? +yes +yes +yes +\? +- +- +- +-$' out
	lacks '^doca_dma_create ' out
	status 1 check --all "$programs/uses_2_5"
	says '^doca_mmap_export_rdma +DOCA_2 +libdoca_common +simulated +\? +relink\*? +yes +yes +yes +yes +yes +yes +yes$' out
	says '^doca_dma_create +DOCA_2 +libdoca_dma +simulated +\? +relink\*? +yes +yes +yes +yes +yes +yes +yes$' out
	says '^doca_sync_event_export_to_dpu +EXPERIMENTAL +libdoca_common +simulated .* yes +\? +- +- +- +-$' out
}

# A program with every symbol of a release starts on that release; check-binary must agree.
test_each_release_has_what_its_own_programs_need() {
	for release in 2.2 2.5 2.6 2.7 2.10 3.0 3.1 3.3; do
		got=0
		check --json "$programs/uses_$(echo $release | tr . _)" >out || got=$?
		[ $got -lt 2 ]
		same True "$(json "all[0]['releases']['$release']['starts']")"
		same True "$(json "sum(s['releases']['$release'] == 'present' for s in all[0]['symbols']) == len(all[0]['symbols'])")"
	done
}

test_program_of_2_2_is_of_the_workq_generation() {
	check --json "$programs/uses_2_2" >out || true
	same workq "$(json "all[0]['bfsim']['generation']")"
	same task "$(check --json "$programs/uses_2_10" >out || true; json "all[0]['bfsim']['generation']")"
}

# --- check-binary: reversed -------------------------------------------

test_relinking_says_what_a_release_lacks() {
	status 1 check --against 3.0 "$programs/old_copy"
	says '^  against 3.0 +does not link; [0-9]+ symbols are missing$' out
	says '^doca_argp_set_grpc_program +EXPERIMENTAL +libdoca_argp +simulated +\? +yes +yes +yes +\? +- +- +- +-$' out
	lacks '^doca_dma_create ' out
	status 0 check --against 2.5 "$programs/old_copy"
	says '^  against 2.5 +links$' out
	lacks SYMBOL out
}

# An allocation of a task got a parameter in 2.10.
test_program_of_2_6_with_rdma_is_held_against_its_own_parameters() {
	status 0 check --against 2.6 "$programs/old_rdma_2_6"
	says '^  against 2.6 +links$' out
	status 1 check --against 3.0 "$programs/old_rdma_2_6"
	says '^  against 3.0 +links; 5 with other parameters than now' out
	says '^doca_rdma_connect +EXPERIMENTAL +libdoca_rdma .* yes\*' out
}

# Functions that the program calls changed later, but not in its own release.
test_program_of_2_2_is_held_against_the_parameters_of_2_2() {
	status 0 check --against 2.2 "$programs/old_jobs"
	says '^  against 2.2 +links$' out
	lacks SYMBOL out
	status 1 check --against 2.10 "$programs/old_jobs"
	says 'with other parameters than in 2.2' out
	says '^doca_mmap_create .* yes( +relink\*){7}$' out
	says '^\* parameters or result differ from those of 2.2$' out
}

test_function_with_other_parameters_is_pointed_out() {
	status 1 check --against 2.5 "$programs/uses_3_0"
	says 'with other parameters than now' out
	says '^doca_buf_arr_create .*yes\* +\? +yes +yes +yes +yes$' out
	says '^\* parameters' out
}

# --- check-binary: files that are no DOCA programs ---------------------------------

test_program_without_doca_is_fine() {
	status 0 check /bin/sh
	says 'no symbols of DOCA' out
	one_line out
}

test_shared_object_is_read_like_a_program() {
	status 0 check --all "$(echo "$libraries" | cut -d: -f3)/libdoca_argp.so.2"
	says 'libdoca_argp.so.2: [0-9]+ symbols of DOCA; needs libdoca_common.so.2' out
	says '^doca_log +EXPERIMENTAL +libdoca_common +simulated' out
}

test_what_is_not_elf_cannot_be_read() {
	echo '#!/bin/sh' >script
	: >empty
	mkfifo pipe
	for file in script empty pipe . nowhere; do
		status 2 check "$file"
		says "cannot check $file: " err
		one_line err
	done
}

test_cut_off_or_altered_program_cannot_be_read() {
	size=$(stat -c %s "$programs/old_copy")
	for part in 1 2 3 5 8; do
		head -c $((size * part / 9)) "$programs/old_copy" >cut
		status 2 check cut
		one_line err
	done
	python3 - "$programs/old_copy" <<-'END'
		import random, subprocess, sys
		data = bytearray(open(sys.argv[1], 'rb').read())
		random.seed(4)
		for number in range(16):
		    copy = bytearray(data)
		    for _ in range(200):
		        copy[random.randrange(64, len(copy))] = random.randrange(256)
		    open(f'altered{number}', 'wb').write(copy)
	END
	for file in altered*; do
		got=0
		check "$file" >out 2>err || got=$?
		[ "$got" -le 2 ] # no crash
		lacks Sanitizer err
	done
}

test_worst_of_several_programs_counts() {
	status 2 check "$programs/old_copy" nowhere
	says '^  starts on: +2.5$' out
	status 1 check --json --against 3.0 /bin/sh "$programs/old_copy"
	same 2 "$(json 'len(all)')"
}

# --- check-binary: releases that are known in part, or not at all -------------------

test_program_of_1_5_is_recognised() {
	status 0 check "$programs/old_map"
	says '^  bfsim: +starts on its workq generation; all of its symbols are simulated, 1 of them partly$' out
	says '^  starts on: +1\.5\?  \(\?: not all of its symbols are known\)$' out
	status 1 check --against 1.5 "$programs/old_map"
	says '^  against 1.5 +links, as far as is known; [0-9]+ symbols are not known to be there$' out
	says '^doca_mmap_create +EXPERIMENTAL +libdoca_common +simulated +\? +yes ' out
	lacks '^doca_mmap_populate ' out
	status 1 check --against 2.2 "$programs/old_map"
	says '^doca_mmap_populate +EXPERIMENTAL +libdoca_common +simulated +yes +- ' out
}

test_program_of_2_2_is_not_taken_for_one_of_1_5() {
	status 0 check "$programs/old_jobs"
	lacks '1\.5' out
}

test_names_of_comch_in_2_7_are_known() {
	status 1 check "$programs/uses_2_7"
	says '^  starts on: +2\.7$' out
	says '^  bfsim: +does not start on its task generation; [0-9]+ in another version: relink it' out
	status 1 check --against 2.7 "$programs/uses_2_7"
	says '^  against 2.7 +links; 1 with other parameters than now' out
	says '^doca_comch_consumer_task_post_recv_get_imm_data .* - +yes\* +relink +relink +relink +relink$' out
	status 1 check --against 3.0 "$programs/uses_2_7"
	says '^  against 3.0 +does not link; 4 symbols are missing' out
	for name in comch_server_get_device_repr comch_server_event_connection_register \
		comch_consumer_set_dev_num_recv comch_producer_set_dev_num_send; do
		says "^doca_$name +EXPERIMENTAL +libdoca_comch " out
	done
}

test_functions_of_3_3_are_absent_in_3_0() {
	status 0 check --against 3.3.0 "$programs/uses_3_3"
	says '^  against 3.3 +links, as far as is known$' out
	says '^  starts on: +3\.1\?, 3\.3\?  \(\?: not all of its symbols are known\)$' out
	says '^ +\(3\.0 lacks 22: doca_argp_disable_pedantic_config_parsing, ' out
	status 0 check --json "$programs/uses_3_3"
	same "True False" "$(json 'str(all[0]["releases"]["3.3"]["assumed"]) + " " + str(all[0]["releases"]["3.0"]["assumed"])')"
	status 1 check --against 3.0 "$programs/uses_3_3"
	for name in dma_set_ordered_completions mmap_get_mkey comch_consumer_get_gpu_handle comch_producer_get_gpu_handle \
		argp_disable_pedantic_config_parsing argp_register_dev_open_callback; do
		says "^doca_$name +EXPERIMENTAL .* - +\? +yes$" out
	done
}

# The numbers of a representor's function are in 3.1 and later.
test_functions_of_3_1_are_absent_in_3_0() {
	status 0 check --against 3.1.0105 "$programs/uses_3_1"
	says '^  against 3.1 +links, as far as is known$' out
	says '^  starts on: +3\.1\?, 3\.3\?  ' out
	status 1 check --against 3.0 "$programs/uses_3_1"
	says '^  against 3.0 +does not link; 4 symbols are missing$' out
	for name in host pf vf sf; do
		says "^doca_devinfo_rep_get_${name}_index +EXPERIMENTAL +libdoca_common +simulated .* - +yes +yes$" out
	done
}

test_release_that_is_not_known_is_refused() {
	for release in 2.9 2 2.1 3.30 new ''; do
		status 2 check --against "$release" /bin/sh
		says "$release: bfsim has no facts of that release; it knows 1.5, 2.2, 2.5, 2.6, 2.7, 2.10, 3.0, 3.1, 3.3" err
	done
	status 2 check --against 3.5.0 /bin/sh
	says 'The newest one before it is 3.3: what the program has beyond that release is not checked' err
	status 2 check --against 1.4 /bin/sh
	[ "$(grep -c 'before it' err)" = 0 ]
}

run_tests "$0" "$work"
