# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples of RDMA: an active and a passive program, which find each other by files or by an address, and wait for Enter.
#
# The active program sends, or accesses the other's memory. By files, both wait until the user has copied what the other wrote; by
# addresses, the passive one is the server. A program that sends waits for Enter until the other is ready: Enter comes at once, and the
# message waits for a receive. A passive one without tasks waits for Enter until the active one is done.

nodes=share/topologies/two-nodes.yaml # two hosts with a card each
ways=("host dpu" "dpu host" "node0/host node1/host" "node0/dpu node1/dpu") # active and passive side
as_machines= # --nodes: each node has a daemon and a gateway of its own

# rdma_pair ACTIVE PASSIVE PATTERN [RESOURCE]: each of the ways, by files and by addresses. One of the two logs a line that matches
# PATTERN for each connection; RESOURCE: the passive program has a file of its memory for the active one, too.
rdma_pair() {
	local sample side result=ok note="host, DPU and two nodes, by files"
	[ "$rdma_ways" = by_files ] || note+=" and by addresses"
	! has_machines || note+="; the nodes as two machines, too"
	storm_note=
	for sample in "$1" "$2"; do
		for side in host dpu; do
			quietly "$sample does not build for the $side" build $side doca_rdma "$sample" && continue
			row "$1" FAILED - "needs both, for both sides"
			row "$2" FAILED - "needs both, for both sides"
			return
		done
	done
	if ! run_rounds rdma_ways "$@"; then
		result=FAILED
		note="see above"
	fi
	row "$1" ok $result "$note"
	row "$2" ok $result "$note"
}

# The gateway is installed, and the programs run alone.
has_machines() { [ -x "$(dirname "$(command -v bfsim)")/bfsim-gateway" ] && [ -z "$check_mode" ]; }

# In a storm, which is long, only between host and DPU.
rdma_ways() {
	local way how
	for how in $rdma_ways; do
		for way in "${ways[@]}"; do
			if $storm && [[ $way == node* ]]; then continue; fi
			# shellcheck disable=SC2086 # two sides
			run_rdma $how $way "$@" || return 1
			if [[ $way == node* ]] && has_machines; then
				# shellcheck disable=SC2086
				as_machines=--nodes run_rdma $how $way "$@" || return 1
			fi
		done
	done
}

# run_rdma by_files|by_addresses SIDE_OF_ACTIVE SIDE_OF_PASSIVE and the arguments of rdma_pair
run_rdma() {
	local how=$1 active=$2 passive=$3 what
	shift 3
	what="$1 ($active) and $2 ($passive), $how${as_machines:+, as machines}"
	ACTIVE_PROGRAM="$(program "${active##*/}" doca_rdma "$1") -d mlx5_0"
	PASSIVE_PROGRAM="$(program "${passive##*/}" doca_rdma "$2") -d mlx5_0"
	WORK=$(mktemp -d "$scratch/rdma.XXXXXX")
	export WORK
	CONNECTIONS=1
	[[ $1 != *multi_conn* ]] || CONNECTIONS=2
	$how "$active" "$passive" "${4:+resource}"
	export ACTIVE_PROGRAM PASSIVE_PROGRAM
	rdma_sides "$what" "$active" "$active_command" "$passive" "$passive_command" &&
		check_lines "$what" "$3" $CONNECTIONS && check_errors "$what"
}

# rdma_sides WHAT SIDE COMMAND SIDE COMMAND: in one session
rdma_sides() {
	local arguments=(--timeout 120 --generation "$generation")
	case $2 in
	node*) arguments+=(--topology "$top/$nodes" "--on=$2=$3" "--on=$4=$5" ${as_machines:+"$as_machines"}) ;;
	*) arguments+=("--$2" "$3" "--$4" "$5") ;;
	esac
	in_session "$1" "${arguments[@]}"
}

# check_lines WHAT PATTERN NUMBER: so many lines of the log match.
check_lines() {
	local found
	found=$(grep -Ec -- "$2" "$scratch/log")
	[ "$found" -ne "$3" ] || return 0
	echo "--- $1: $found lines match, not $3: $2"
	tail -n 25 "$scratch/log"
	return 1
}

# A side's standard input, for bfsim's shells: what the user does.
enter='echo;'
# shellcheck disable=SC2016
enter_when_done='until [ -e "$WORK/done" ]; do sleep 0.02; done; echo;'

# fetch FROM TO: the user copies a file when it is there.
fetch() { printf 'until [ -s "%s" ]; do sleep 0.02; done; cp "%s" "%s"; ' "$1" "$1" "$2"; }

# by_files ACTIVE_SIDE PASSIVE_SIDE [RESOURCE]: each side has a folder of its own, as the programs delete their files and the other's.
# Of several connections, each has files of its own.
by_files() {
	local active=$WORK/active passive=$WORK/passive number suffix='' active_input='' passive_input=''
	mkdir "$active" "$passive"
	ACTIVE_PROGRAM+=" -ld $active/own -re $active/other ${3:+-m $active/resource}"
	PASSIVE_PROGRAM+=" -ld $passive/own -re $passive/other ${3:+-m $passive/resource}"
	if [ "$CONNECTIONS" -gt 1 ]; then
		ACTIVE_PROGRAM+=" -nc $CONNECTIONS" PASSIVE_PROGRAM+=" -nc $CONNECTIONS"
	fi
	[ -z "${3-}" ] || active_input=$(fetch "$passive/resource" "$active/resource")
	for ((number = 0; number < CONNECTIONS; number++)); do
		[ "$CONNECTIONS" = 1 ] || suffix=$(printf -- '-%04u' "$number")
		active_input+=$(fetch "$passive/own$suffix" "$active/other$suffix")$enter
		passive_input+=$(fetch "$active/own$suffix" "$passive/other$suffix")$enter
	done
	active_command="{ $active_input $enter } | \$ACTIVE_PROGRAM; rc=\$?; touch \$WORK/done; exit \$rc"
	passive_command="{ $passive_input $enter_when_done } | \$PASSIVE_PROGRAM"
}

# by_addresses ACTIVE_SIDE PASSIVE_SIDE: one client for each connection, when the server listens.
by_addresses() {
	local address topology=()
	[[ $2 != node* ]] || topology=(--topology "$top/$nodes")
	address=$(bfsim devs "${topology[@]}" --json | python3 -c 'import json, sys
print(next(f["ipv4"] for card in json.load(sys.stdin)["cards"] for f in card["functions"] if f["side"] == sys.argv[1]))' "$2")
	ACTIVE_PROGRAM+=" -cm -sa $address -sat ipv4"
	PASSIVE_PROGRAM+=" -cm"
	[ "$CONNECTIONS" = 1 ] || PASSIVE_PROGRAM+=" -nc $CONNECTIONS"
	# shellcheck disable=SC2016 # for bfsim's shells
	passive_command="{ $enter $enter_when_done } | \$PASSIVE_PROGRAM "'>"$WORK/server" 2>&1; rc=$?; touch "$WORK/ended"
		cat "$WORK/server"; exit $rc'
	# shellcheck disable=SC2016
	active_command='until grep -qs "started connection successfully" "$WORK/server" || [ -e "$WORK/ended" ]; do sleep 0.02; done
		rc=0; clients=; for i in $(seq '$CONNECTIONS'); do { '$enter' } | $ACTIVE_PROGRAM & clients="$clients $!"; done
		for client in $clients; do wait $client || rc=1; done; touch "$WORK/done"; exit $rc'
}

rdma_samples() {
	rdma_pair rdma_send rdma_receive "Got from sender: \"Hi DOCA RDMA!\""
	rdma_pair rdma_send_immediate rdma_receive_immediate "Got from sender: \"Hi DOCA RDMA!\""
	rdma_pair rdma_multi_conn_send rdma_multi_conn_receive "Got from sender: \"Hi DOCA RDMA!\""
	rdma_pair rdma_write_requester rdma_write_responder "Requester has written: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_write_immediate_requester rdma_write_immediate_responder "Requester has written: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_read_requester rdma_read_responder "Read from responder: \"Hi DOCA RDMA!\"" resource
	rdma_pair rdma_sync_event_requester rdma_sync_event_responder "Remote sync event has been notified for completion successfully" resource
}
