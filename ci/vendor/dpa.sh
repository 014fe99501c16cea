# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples of the DPA, and the applications time_sync and dpa_all_to_all. Their build scripts have the SDK at /opt/mellanox/doca.

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

# rdma_sample_works SAMPLE: on the host with its PF, and on the DPU with the PF's DPA context extended to the SF.
rdma_sample_works() {
	local side
	for side in host dpu; do
		in_session "$1" --timeout 60 --topology "$scratch/dpa.yaml" --$side "\"\$${side^^}_PROGRAM\"" &&
			check "$1" 'Sample finished successfully' && check_errors "$1" && "$1_lines" || return 1
	done
}

# The lines of kernels come on standard output. The value that the host sends is 10; the connection is the first one.
dpa_basic_initiator_target_lines() {
	local line
	for line in 'get_completion\(\) returned 1' 'get_completion_type\(\) returned 2' 'get_completion_user_data\(\) returned 0' \
		'Value of DPA received buffer is 10' 'Set sync event to 10'; do
		check_lines dpa_basic_initiator_target "thread_kernel: .*$line\$" 1 || return 1
	done
}

# Two connections, by each of which two values come with an immediate.
dpa_initiator_target_lines() {
	local value connection
	for value in 1 2 3 4; do
		check_lines dpa_initiator_target "thread1_kernel: Value of DPA received buffer is $value\$" 1 || return 1
	done
	for connection in 0 1; do
		check_lines dpa_initiator_target "get_completion_user_data\(\) returned $connection\$" 2 || return 1
	done
	check_lines dpa_initiator_target 'get_completion_type\(\) returned 3$' 4 &&
		check_lines dpa_initiator_target 'thread2_kernel: Set sync event value' 1
}

# 100 messages each way.
dpa_ping_pong_lines() {
	check_lines dpa_ping_pong 'Ping --> Pong Iteration #[0-9]+$' 100 &&
		check_lines dpa_ping_pong 'Pong --> Ping Iteration #[0-9]+$' 100
}

dpa_basic_initiator_target_works() { rdma_sample_works dpa_basic_initiator_target; }
dpa_initiator_target_works() { rdma_sample_works dpa_initiator_target; }
dpa_ping_pong_works() { rdma_sample_works dpa_ping_pong; }

# --- time_sync: events of the host, the DPU and the DPA on one time axis -----

# write_mpicc COMPILER: mpicc is COMPILER, without the libraries of verbs, which the applications ask for and do not use.
write_mpicc() {
	mkdir -p "$scratch/mpi"
	cat >"$scratch/mpi/mpicc" <<-END
		#!/bin/bash
		for arg; do
			shift
			case \$arg in -libverbs | -lmlx5) ;; *) set -- "\$@" "\$arg" ;; esac
		done
		exec $1 "\$@"
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
	write_mpicc cc # its DPU side does not use MPI
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

# --- dpa_all_to_all: each rank writes into the memory of each, by kernels ----

# build_all_to_all SIDE
build_all_to_all() {
	local in_place=(at_opt "$1")
	PATH=$scratch/mpi:$PATH meson_build "$1" applications "$scratch/all_to_all-$1" -Denable_all_applications=false \
		-Denable_dpa_all_to_all=true && [ -x "$scratch/all_to_all-$1/dpa_all_to_all/doca_dpa_all_to_all" ]
}

all_to_all() {
	local side
	storm_note=
	if ! command -v mpirun >/dev/null || ! command -v mpicc >/dev/null; then
		echo "application dpa_all_to_all: left out, as Open MPI is not installed (ci/deps samples)"
		return
	fi
	write_mpicc "$(command -v mpicc)"
	for side in host dpu; do
		quietly "dpa_all_to_all does not build for $side" build_all_to_all $side && continue
		row "application dpa_all_to_all" FAILED - "see above"
		return
	done
	if run_rounds all_to_all_works; then
		row "application dpa_all_to_all" ok ok "2, 4 and 8 ranks on a host's one and two PFs, and on a DPU's SF; buffers compared"
	else
		row "application dpa_all_to_all" ok FAILED "see above"
	fi
}

# 8 numbers from each rank to each, by kernels of as many threads as there are ranks.
all_to_all_works() {
	cat >"$scratch/all_to_all.yaml" <<-END
		cards:
		- profile: bluefield-3
		  functions:
		  - {side: host, type: pf, pci: "b1:00.0"}
		  - {side: host, type: pf, pci: "b1:00.1"}
		  - {side: dpu, type: pf, pci: "03:00.0"}
		  - {side: dpu, type: sf, pci: "03:00.0", sf-index: 4}
	END
	local ranks way side
	export OMPI_MCA_btl=self,vader OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	for ranks in 2 4 8; do
		for way in "host -pf_devs mlx5_0" "host -pf_devs mlx5_0,mlx5_1" "dpu -pf_devs mlx5_0 -rdma_devs mlx5_1"; do
			side=${way%% *}
			in_session dpa_all_to_all --timeout 60 --topology "$scratch/all_to_all.yaml" --$side \
				"mpirun -n $ranks '$scratch/all_to_all-$side/dpa_all_to_all/doca_dpa_all_to_all' -m $((ranks * 32)) ${way#* }" &&
				check_errors dpa_all_to_all && check_exchange $ranks || return 1
		done
	done
}

# check_exchange RANKS: block i of what rank r has received is block r of what rank i has sent.
check_exchange() {
	awk -v ranks="$1" '
		/send buffs/ { part = "sent" }
		/recv buffs/ { part = "received" }
		match($0, /Rank [0-9]+ *\|/) {
			split(substr($0, RSTART), half, "|")
			rank = half[1]
			gsub(/[^0-9]/, "", rank)
			numbers[part] += split(half[2], row, " ")
			for (i in row)
				buffer[part, rank, i] = row[i]
		}
		END {
			each = numbers["sent"] / ranks / ranks
			bad = each != 8 || numbers["received"] != numbers["sent"]
			for (r = 0; r < ranks; r++)
				for (i = 0; i < ranks; i++)
					for (k = 1; k <= each; k++)
						bad = bad || buffer["received", r, i * each + k] != buffer["sent", i, r * each + k]
			exit bad
		}' "$scratch/log" && return 0
	echo "--- dpa_all_to_all: $1 ranks have not received what was sent:"
	tail -n 25 "$scratch/log"
	return 1
}

# dpacc compiles for this machine; faults have no operations of the DPA.
dpa_rows() {
	if $storm || has_foreign; then return; fi
	write_dpa_topology
	dpa_sample dpa_kernel_launch dpa_kernel_launch_works "host, and DPU with an SF: one kernel behind an event"
	dpa_sample dpa_nvqual dpa_nvqual_works "host, four EUs: one notifies the threads of the others, all work"
	dpa_sample dpa_basic_initiator_target dpa_basic_initiator_target_works "host, and DPU with an SF: a message from the host's memory into the DPA's"
	dpa_sample dpa_initiator_target dpa_initiator_target_works "host, and DPU with an SF: four messages of two connections"
	dpa_sample dpa_ping_pong dpa_ping_pong_works "host, and DPU with an SF: 100 messages each way"
	time_sync
	all_to_all
}
