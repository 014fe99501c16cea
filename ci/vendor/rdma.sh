# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples of RDMA: two programs that exchange descriptors by files, and wait for Enter when they have written theirs.

# Each side's standard input: Enter when the files that it needs are there, and once more when the other side is done.
answers() {
	# shellcheck disable=SC2016 # for bfsim's shells
	printf '%s' 'for file in $NEEDED; do until [ -s "$WORK/$file" ]; do sleep 0.02; done; done; sleep 0.2; echo; '
	printf '%s' "$1"
}

# rdma_pair ACTIVE ACTIVE_FLAGS PASSIVE PASSIVE_FLAGS WHO PATTERN [RESOURCE]: ACTIVE on the host and PASSIVE on the DPU,
# and the other way round. WHO (active or passive) logs a line that matches PATTERN.
rdma_pair() {
	local sample side
	storm_note=
	for sample in "$1" "$3"; do
		for side in host dpu; do
			quietly "$sample does not build for the $side" build $side doca_rdma "$sample" && continue
			row "$1" FAILED - "needs both, for both sides"
			row "$3" FAILED - "needs both, for both sides"
			return
		done
	done
	if run_rounds rdma_ways "$@"; then
		row "$1" ok ok "host and DPU, by files"
		row "$3" ok ok "DPU and host, by files"
	else
		row "$1" ok FAILED "see above"
		row "$3" ok FAILED "see above"
	fi
}

rdma_ways() { run_rdma host dpu "$@" && run_rdma dpu host "$@"; }

# run_rdma SIDE_OF_ACTIVE SIDE_OF_PASSIVE and the arguments of rdma_pair
run_rdma() {
	local dir active=$1 passive=$2 resource=${9-}
	dir=$(mktemp -d "$scratch/rdma.XXXXXX")
	export WORK=$dir
	ACTIVE_PROGRAM="$(program "$active" doca_rdma "$3") -d mlx5_0 -ld $dir/active -re $dir/passive $4"
	PASSIVE_PROGRAM="$(program "$passive" doca_rdma "$5") -d mlx5_0 -ld $dir/passive -re $dir/active $6"
	[ -z "$resource" ] || ACTIVE_PROGRAM+=" -m $dir/resource" PASSIVE_PROGRAM+=" -m $dir/resource"
	export ACTIVE_PROGRAM PASSIVE_PROGRAM
	local active_side passive_side files="active passive ${resource:+resource}"
	# shellcheck disable=SC2016 # for bfsim's shells
	active_side="NEEDED='$files'; { $(answers 'sleep 1; echo;') } | \$ACTIVE_PROGRAM; rc=\$?; touch \$WORK/done; exit \$rc"
	# shellcheck disable=SC2016 # for bfsim's shells
	passive_side="NEEDED='$files'; { $(answers 'until [ -e "$WORK/done" ]; do sleep 0.02; done; echo;') } | \$PASSIVE_PROGRAM"
	if [ "$active" = host ]; then
		both_sides "$3 on the host, $5 on the DPU" "$active_side" "$passive_side"
	else
		both_sides "$5 on the host, $3 on the DPU" "$passive_side" "$active_side"
	fi || return 1
	check "$3 and $5" "$8" && check_errors "$3 and $5"
}

# run_rdma_cm SIDE_OF_CLIENT SIDE_OF_SERVER CLIENT CLIENT_FLAGS SERVER SERVER_FLAGS PATTERN CLIENT_ENTERS SERVER_ENTERS: by
# addresses. Enter comes as often as each side waits for it, when the other has had time to get there.
run_rdma_cm() {
	local client=$1 server=$2 address
	address=$(bfsim devs --json | python3 -c 'import json, sys
print(next(f["ipv4"] for card in json.load(sys.stdin)["cards"] for f in card["functions"] if f["side"] == sys.argv[1]))' "$server")
	CLIENT_PROGRAM="$(program "$client" doca_rdma "$3") -d mlx5_0 -cm -sa $address -sat ipv4 $4"
	SERVER_PROGRAM="$(program "$server" doca_rdma "$5") -d mlx5_0 -cm $6"
	export CLIENT_PROGRAM SERVER_PROGRAM CLIENT_ENTERS=$8 SERVER_ENTERS=$9
	# shellcheck disable=SC2016 # for bfsim's shells
	local client_side='sleep 0.3; for i in $(seq $CLIENT_ENTERS); do sleep 1; echo; done | $CLIENT_PROGRAM'
	# shellcheck disable=SC2016 # for bfsim's shells
	local server_side='for i in $(seq $SERVER_ENTERS); do sleep 1.5; echo; done | $SERVER_PROGRAM'
	if [ "$client" = host ]; then
		both_sides "$3 on the host, $5 on the DPU, by addresses" "$client_side" "$server_side"
	else
		both_sides "$5 on the host, $3 on the DPU, by addresses" "$server_side" "$client_side"
	fi || return 1
	check "$3 and $5, by addresses" "$7" && check_errors "$3 and $5"
}

rdma_samples() {
	rdma_pair rdma_send "" rdma_receive "" passive "Got from sender: \"Hi DOCA RDMA!\""
	rdma_pair rdma_send_immediate "" rdma_receive_immediate "" passive "Got from sender: \"Hi DOCA RDMA!\""
	rdma_pair rdma_write_requester "" rdma_write_responder "" passive "Requester has written: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_write_immediate_requester "" rdma_write_immediate_responder "" passive "Requester has written: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_read_requester "" rdma_read_responder "" active "Read from responder: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_sync_event_requester "" rdma_sync_event_responder "" active "Sample finished successfully" resource
}
