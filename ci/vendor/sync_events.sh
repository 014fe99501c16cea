# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# The two samples of sync events, which are both built for both sides.

# sync_pair HOST-SAMPLE DPU-SAMPLE FLAGS: two processes and one sync event, which they take turns to set.
sync_pair() {
	HOST_PROGRAM=$(program host doca_common "$1")
	DPU_PROGRAM=$(program dpu doca_common "$2")
	export HOST_PROGRAM DPU_PROGRAM FLAGS=$3
	# shellcheck disable=SC2016 # for bfsim's shells
	both_sides "$1 on the host, $2 on the DPU $3" '"$HOST_PROGRAM" -d b1:00.0 $FLAGS' \
		'"$DPU_PROGRAM" -d 03:00.0 -r b1:00.0 $FLAGS' || return 1
	check_errors "$1 and $2 $3" || return 1
	[ "$(grep -c 'Sample finished successfully' "$scratch/log")" = 2 ] && return 0
	echo "--- $1 and $2 $3: not both finished"
	return 1
}

sync_pairs() {
	local flags
	for flags in "" "--atomic" "--async --async-num-tasks 4" "--async --async-num-tasks 4 --atomic"; do
		sync_pair "$1" "$2" "$flags" && sync_pair "$2" "$1" "$flags" || return 1
	done
}

# The event is the host's, then the DPU's; each program is built for both sides.
sync_events() {
	local local=sync_event_local_pci remote=sync_event_remote_pci sample side
	storm_note=
	for sample in $local $remote; do
		for side in host dpu; do
			quietly "$sample does not build for the $side" build $side doca_common $sample && continue
			row $local FAILED - "needs both, for both sides"
			row $remote FAILED - "needs both, for both sides"
			return
		done
	done
	if ! run_rounds sync_pairs $local $remote; then
		row $local ok FAILED "see above"
		row $remote ok FAILED "see above"
		return
	fi
	row $local ok ok "host and DPU, in one session with sync_event_remote_pci"
	row $remote ok ok "DPU and host; also with --atomic, --async, and both"
}
