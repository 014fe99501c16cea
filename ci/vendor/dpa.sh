# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples of the DPA that need no RDMA, and the application time_sync. Their build scripts have the SDK at /opt/mellanox/doca.

# at_opt SIDE COMMAND...: the SDK tree of that side is /opt/mellanox/doca, for this command alone. What /opt has stays there.
at_opt() {
	local tree
	tree=$(bfsim sdk --on "$1")
	shift
	mkdir -p "$scratch/opt"
	# shellcheck disable=SC2016 # for the shell in the namespace
	unshare --user --map-root-user --mount sh -c 'opt=$1 tree=$2
		shift 2
		mount --rbind /opt "$opt" && mount -t tmpfs tmpfs /opt && ln -s "$opt"/* /opt && rm -f /opt/mellanox &&
			mkdir /opt/mellanox && ln -s "$tree" /opt/mellanox/doca && exec "$@"' sh "$scratch/opt" "$tree" "$@"
}

# Four EUs; the DPU has an SF, which its samples look for.
write_dpa_topology() {
	cat >"$scratch/dpa.yaml" <<-END
		cards:
		- profile: bluefield-3
		  dpa: {eus: 4, run-time-ms: 1000}
		  functions:
		  - {side: host, type: pf, pci: "b1:00.0"}
		  - {side: dpu, type: pf, pci: "03:00.0"}
		  - {side: dpu, type: sf, pci: "03:00.0", sf-index: 4}
	END
}

# dpa_sample SAMPLE TEST NOTE: TEST is a function that runs the sample.
dpa_sample() {
	local side in_place
	storm_note=
	for side in host dpu; do
		in_place=(at_opt $side)
		if ! quietly "$1 does not build for $side" build $side doca_dpa "$1"; then
			row "$1" FAILED - "see above"
			return
		fi
	done
	HOST_PROGRAM=$(program host doca_dpa "$1")
	DPU_PROGRAM=$(program dpu doca_dpa "$1")
	export HOST_PROGRAM DPU_PROGRAM
	if run_rounds "$2"; then
		row "$1" ok ok "$3"
	else
		row "$1" ok FAILED "see above"
	fi
}

# The sample sets the event that its kernel waits for, and waits for that of the end.
dpa_kernel_launch_works() {
	local side
	for side in host dpu; do
		in_session dpa_kernel_launch --timeout 60 --topology "$scratch/dpa.yaml" --$side "\"\$${side^^}_PROGRAM\"" &&
			check "dpa_kernel_launch" '^[a-z]+ *\| Hello from kernel$' &&
			check "dpa_kernel_launch" 'Sample finished successfully' && check_errors dpa_kernel_launch || return 1
		[ "$(grep -c 'Hello from kernel' "$scratch/log")" = 1 ] && continue
		echo "--- dpa_kernel_launch: the kernel ran more than once"
		return 1
	done
}

# EU 0 runs the RPC that notifies the threads of the others.
dpa_nvqual_works() {
	local line
	# shellcheck disable=SC2016 # for bfsim's shells
	in_session dpa_nvqual --timeout 60 --topology "$scratch/dpa.yaml" \
		--host '"$HOST_PROGRAM" --pf-device mlx5_0 --test-duration-sec 1 --user-factor 0.01' || return 1
	for line in '"total_harts": 4,' '"available_harts": \[1,2,3\],' '"unreachable_harts": \[\],' '"used_harts": \[1,2,3\],' \
		'"unused_harts": \[\],' 'Sample finished successfully'; do
		check dpa_nvqual "$line" || return 1
	done
	check_errors dpa_nvqual
}

# --- time_sync: events of the host, the DPU and the DPA on one time axis -----

# Its DPU side asks for MPI's compiler, and uses neither MPI nor the libraries of verbs.
write_mpicc() {
	mkdir -p "$scratch/mpi"
	cat >"$scratch/mpi/mpicc" <<-'END'
		#!/bin/bash
		for arg; do
			shift
			case $arg in -libverbs | -lmlx5) ;; *) set -- "$@" "$arg" ;; esac
		done
		exec cc "$@"
	END
	chmod +x "$scratch/mpi/mpicc"
}

# build_time_sync SIDE
build_time_sync() {
	local in_place=(at_opt "$1")
	PATH=$scratch/mpi:$PATH meson_build "$1" applications "$scratch/time_sync-$1" -Denable_all_applications=false \
		-Denable_time_sync=true && [ -x "$scratch/time_sync-$1/time_sync/doca_time_sync_$1" ]
}

time_sync() {
	local side
	storm_note=
	write_mpicc
	for side in host dpu; do
		if ! quietly "time_sync does not build for $side" build_time_sync $side; then
			row "application time_sync" FAILED - "see above"
			return
		fi
	done
	HOST_PROGRAM=$scratch/time_sync-host/time_sync/doca_time_sync_host
	DPU_PROGRAM=$scratch/time_sync-dpu/time_sync/doca_time_sync_dpu
	export HOST_PROGRAM DPU_PROGRAM
	if run_rounds time_sync_works; then
		row "application time_sync" ok ok "the card's times of four events rise; mpicc is cc"
	else
		row "application time_sync" ok FAILED "see above"
	fi
}

# Its log: a header, and four events in their order, the first column in the card's time.
time_sync_works() {
	WORK=$(mktemp -d "$scratch/time_sync.XXXXXX")
	export WORK
	# shellcheck disable=SC2016 # for bfsim's shells
	both_sides time_sync 'cd "$WORK" && "$HOST_PROGRAM" -p b1:00.0 -d 5' '"$DPU_PROGRAM" -p 03:00.0 -r b1:00.0' &&
		check_errors time_sync || return 1
	awk -F, 'NR > 1 { bad = bad || $1 "" <= last ""; last = $1 } END { exit bad || NR != 5 }' "$WORK/time_sync.log" && return 0
	echo "--- time_sync: its events do not follow each other:"
	cat "$WORK/time_sync.log"
	return 1
}

# dpacc compiles for this machine; faults have no operations of the DPA.
dpa_rows() {
	if $storm || has_foreign; then return; fi
	write_dpa_topology
	dpa_sample dpa_kernel_launch dpa_kernel_launch_works "host, and DPU with an SF: one kernel behind an event"
	dpa_sample dpa_nvqual dpa_nvqual_works "host, four EUs: one notifies the threads of the others, all work"
	time_sync
}
