# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples: one process, two that exchange messages, and the one that copies between two.

# alone LIBRARY SAMPLE PATTERN NOTE: a sample that is one process, on the DPU.
alone() {
	storm_note=
	if ! quietly "$2 does not build" build dpu "$1" "$2"; then
		row "$2" FAILED - "see above"
	elif run_rounds run_alone "$@"; then
		row "$2" ok ok "$4"
	else
		row "$2" ok FAILED "see above"
	fi
}

run_alone() {
	in_session "$2" --timeout 60 --dpu "$(program dpu "$1" "$2")" && check "$2" "$3" && check_errors "$2"
}

# pair LIBRARY HOST_SAMPLE HOST_FLAGS HOST_PATTERN DPU_SAMPLE DPU_FLAGS DPU_PATTERN NOTE:
# two samples, started together, each of which must log a line that matches. The
# flags are words for a shell.
pair() {
	local host=ok dpu=ok
	storm_note=
	quietly "$2 does not build" build host "$1" "$2" || host=FAILED
	quietly "$5 does not build" build dpu "$1" "$5" || dpu=FAILED
	if [ $host$dpu != okok ]; then
		row "$2" $host - "needs both"
		row "$5" $dpu - "needs both"
	elif run_rounds run_pair "$@"; then
		row "$2" ok ok "host, $8"
		row "$5" ok ok "DPU, $8"
	else
		row "$2" ok FAILED "see above"
		row "$5" ok FAILED "see above"
	fi
}

run_pair() {
	HOST_PROGRAM=$(program host "$1" "$2")
	DPU_PROGRAM=$(program dpu "$1" "$5")
	export HOST_PROGRAM DPU_PROGRAM
	# shellcheck disable=SC2016 # for bfsim's shells
	both_sides "$2" '"$HOST_PROGRAM" '"$3" '"$DPU_PROGRAM" '"$6" &&
		check "$2" "^host *\|.*$4" && check "$5" "^dpu *\|.*$7" && check_errors "$2"
}

# copy FLAGS: both halves of dma_copy in one session. The host's waits for Enter;
# the second of its two files is complete as soon as it is not empty.
copy() {
	local dir
	dir=$(mktemp -d "$scratch/copy.XXXXXX")
	export WORK=$dir TEXT=$text FLAGS=$1
	HOST_PROGRAM=$(program host doca_dma dma_copy_host)
	DPU_PROGRAM=$(program dpu doca_dma dma_copy_dpu)
	export HOST_PROGRAM DPU_PROGRAM
	# shellcheck disable=SC2016 # for bfsim's shells
	both_sides "dma_copy $1" '"$HOST_PROGRAM" -d "$WORK/desc" -b "$WORK/buffer" -t "$TEXT"' \
		'until [ -s "$WORK/buffer" ]; do sleep 0.02; done
			"$DPU_PROGRAM" -d "$WORK/desc" -b "$WORK/buffer" $FLAGS' &&
		check "dma_copy $1" "Memory content: $text\$" && check_errors "dma_copy"
}

copies() { copy "" && copy "-ns 4" && copy "-nd 3" && copy "-ns 5 -nd 7"; }

# The two samples that copy a text by DMA, and meet by way of files.
dma_copy_samples() {
	local host=ok dpu=ok
	storm_note=
	quietly "dma_copy_host does not build" build host doca_dma dma_copy_host || host=FAILED
	quietly "dma_copy_dpu does not build" build dpu doca_dma dma_copy_dpu || dpu=FAILED
	if [ $host$dpu != okok ]; then
		row dma_copy_host $host - "needs both"
		row dma_copy_dpu $dpu - "needs both"
	elif run_rounds copies; then
		row dma_copy_host ok ok "host, in one session with dma_copy_dpu"
		row dma_copy_dpu ok ok "DPU, got the host's text; also with -ns 4, -nd 3, -ns 5 -nd 7"
	else
		row dma_copy_host ok FAILED "see above"
		row dma_copy_dpu ok FAILED "see above"
	fi
}

# The sample that reads the card's clock, alone and with the host's.
clock_sample() {
	local sample=clock_cross_timestamp
	storm_note=
	if ! quietly "$sample does not build" build dpu doca_common $sample; then
		row $sample FAILED - "see above"
		return
	fi
	DPU_PROGRAM=$(program dpu doca_common $sample)
	export DPU_PROGRAM
	if run_rounds read_clocks $sample; then
		row $sample ok ok "DPU, the card's clock alone, and with the host's"
	else
		row $sample ok FAILED "see above"
	fi
}

# read_clocks SAMPLE: one clock, then two.
read_clocks() {
	# shellcheck disable=SC2016 # for bfsim's shells
	in_session "$1" --timeout 60 --dpu '"$DPU_PROGRAM" -p 03:00.0 -c nic_fr' &&
		check "$1" 'Timestamp - DOCA_CLOCK_NIC_FREE_RUNNING: 0\.' &&
		in_session "$1" --timeout 60 --dpu '"$DPU_PROGRAM" -p 03:00.0 -c host_mon -n nic_rt' &&
		check "$1" 'Cross-timestamp - DOCA_CLOCK_HOST_MONOTONIC: .* DOCA_CLOCK_NIC_REAL_TIME: ' &&
		check_errors "$1"
}
