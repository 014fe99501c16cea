#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the bfsim command says when the machine, the session or a file is not as it should be.
#
#   test_trouble.sh BFSIM       (TAP)
# shellcheck disable=SC2016

. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/sessions.sh"

other_version=$(realpath "$(dirname "$0")/other_version.py")
use_bfsim "$1"

test_a_daemon_of_another_version_is_named_and_ended() {
	python3 "$other_version" s >ready &
	daemon=$!
	becomes_true has_text ready
	for command in ps stats trace fault\ list; do
		status 1 bfsim $command --session s
		says "the daemon of session s is of another version of bfsim: use that version's bfsim, or end it with bfsim down" err
	done
	status 0 bfsim down --session s
	wait "$daemon"
	same '' "$(ls -A s)"
}

test_a_full_disk_is_named_although_the_log_lies_on_it() {
	unshare --user --map-root-user --mount true 2>/dev/null || return 0 # this machine forbids namespaces
	mkdir disk
	cat >script <<-'END'
		mount -t tmpfs -o size=16k none disk || exit 9
		mkdir disk/s && chmod 700 disk/s
		dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null
		"$1" up --session disk/s
	END
	status 1 unshare --user --map-root-user --mount sh script "$bfsim_program"
	says 'No space left on device' err
}

test_a_limit_on_files_is_named() {
	status 1 sh -c 'ulimit -f 4; exec "$1" up --session s' sh "$bfsim_program"
	says 'larger than ulimit -f permits' err
}

test_a_topology_that_is_not_a_plain_file_is_refused() {
	mkfifo pipe
	status 1 bfsim up --session s --topology pipe
	says 'topology file .*pipe: it is not a plain file' err
	status 2 bfsim run --topology pipe --host true
	says 'topology file .*pipe: not a file' err
	status 1 bfsim devs --topology pipe
	says 'it is not a plain file' err
	status 1 bfsim devs --topology .
	says 'Is a directory' err
}

test_a_report_of_no_recording_is_refused_at_once() {
	status 1 bfsim report /dev/zero
	says '/dev/zero: it is not a plain file' err
	truncate -s 4G zeros
	status 1 bfsim report zeros
	says 'zeros: this is not a recording' err
}

test_a_program_that_is_cut_off_is_damaged() {
	head -c 100 "$bfsim_program" >cut
	status 2 bfsim check-binary cut
	says 'cut' err
	says 'damaged' err
}

run_tests "$0" "$work"
