# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Applications: one project for all of them, built once for each side.

# build_application SIDE NAME
build_application() {
	meson_build "$1" applications "$scratch/$2-$1" -Denable_all_applications=false "-Denable_$2=true" &&
		is_for "$1" "$scratch/$2-$1/$2/doca_$2"
}

# application NAME TEST NOTE: TEST is a function that runs both sides and checks the result.
application() {
	local side
	storm_note=
	for side in host dpu; do
		if ! quietly "$1 does not build for $side" build_application $side "$1"; then
			row "application $1" FAILED - "see above"
			return
		fi
	done
	HOST_PROGRAM=$scratch/$1-host/$1/doca_$1
	DPU_PROGRAM=$scratch/$1-dpu/$1/doca_$1
	export HOST_PROGRAM DPU_PROGRAM
	if run_rounds "$2"; then
		row "application $1" ok ok "$3"
	else
		row "application $1" ok FAILED "see above"
	fi
}

# --- dma_copy: the side that has the file is where it is copied from ---------------

# copy_file WHAT: run both sides in a folder of their own, $WORK.
copy_file() {
	# shellcheck disable=SC2016 # for bfsim's shells
	both_sides "$1" '"$HOST_PROGRAM" -p b1:00.0 -f "$WORK/host"' \
		'"$DPU_PROGRAM" -p 03:00.0 -r b1:00.0 -f "$WORK/dpu"'
}

# file_arrives BYTES FROM TO: each of the sides is host or dpu.
file_arrives() {
	local what="dma_copy of $1 bytes from $2 to $3"
	WORK=$(mktemp -d "$scratch/file.XXXXXX")
	export WORK
	head -c "$1" /dev/urandom >"$WORK/$2"
	copy_file "$what" && check "$what" "^host *\|.*Final status message was successfully received" &&
		check_errors "$what" || return 1
	cmp "$WORK/$2" "$WORK/$3" && return 0
	echo "--- $what: the copy is another file"
	return 1
}

# The application copies by one task, and refuses what that can't be.
too_large_file_is_refused() {
	local what="dma_copy of a file above the device's limit"
	WORK=$(mktemp -d "$scratch/file.XXXXXX")
	export WORK
	head -c 2097153 /dev/zero >"$WORK/host"
	if copy_file "$what" >"$scratch/refused"; then
		echo "--- $what: was not refused"
		return 1
	fi
	check "$what" "maximum allowed file size in bytes is 2097152" && [ ! -e "$WORK/dpu" ]
}

dma_copy_works() {
	local size
	for size in 1 4097 2097152; do
		file_arrives $size host dpu && file_arrives $size dpu host || return 1
	done
	too_large_file_is_refused
}

# --- secure_channel: messages both ways at once, over producers and consumers -----
#
# With faults it often hangs, as it would on a card. Each side waits for the other:
#
#   its consumer's thread waits for as many messages as the other announced. When the other's producer ends
#   with an error they never arrive, and a consumer gets no event of a producer: only producers learn of consumers
#   its producer's thread waits for a first consumer, which never comes if the other's could not be started
#   the start waits for the other's first message, which is not repeated when its task fails
#   the client waits until its context runs, and does not look whether it was refused and is idle again
#   the server's end waits for the client to disconnect, which it does when its threads are done: never, then
#
# Each hang begins with an error that one of the two processes got and logged; without one, the hang is a defect
# of bfsim. When its connection breaks, the process ends without joining its threads, which write to the former
# variables of its main function: that may crash it.

# secure_channel HOST_COUNT HOST_SIZE DPU_COUNT DPU_SIZE
secure_channel() {
	local what="secure_channel with $1 messages of $2 bytes, and $3 of $4"
	local hang_needs='\[ERR\]'
	export FROM_HOST="-n $1 -s $2" FROM_DPU="-n $3 -s $4"
	# shellcheck disable=SC2016 # for bfsim's shells
	both_sides "$what" '"$HOST_PROGRAM" $FROM_HOST -p b1:00.0' '"$DPU_PROGRAM" $FROM_DPU -p 03:00.0 -r b1:00.0' &&
		check "$what" "^host *\|.*Producer sent $1 messages" &&
		check "$what" "^host *\|.*Consumer received $3 messages" &&
		check "$what" "^dpu *\|.*Producer sent $3 messages" &&
		check "$what" "^dpu *\|.*Consumer received $1 messages" && check_errors "$what"
}

secure_channel_works() {
	secure_channel 1 1 1 1 && secure_channel 10 1024 10 1024 && secure_channel 5000 65535 5000 65535 &&
		secure_channel 3 64 4000 1000 && secure_channel 4000 1000 3 64
}
