# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# The application storage: an initiator on a host, a service on its DPU, and targets on another machine, which the service
# reaches by TCP and RDMA. The service is one of two:
#
#   zero copy     gives the target access to the initiator's memory: the target reads and writes that by RDMA
#   gga offload   gives three targets access to its own memory, and moves the data to and from the initiator with the card's
#                 engines: blocks are compressed, and a lost half is recovered from the other and from redundancy. The recovery
#                 takes the matrix that creates redundancy, which works if all its coefficients are one: not with Cauchy's
#
# The programs poll, each with a thread for data and one for control. A thread is bound to a CPU: one that this machine has. It binds
# itself, by a handle that its creator may not have stored yet; own_affinity.so keeps that from ending the program.

two_nodes=$top/share/topologies/two-nodes.yaml
storage_blocks=16 # of 4096 bytes, in the files of the offload

# storage_program SIDE NAME
storage_program() { echo "$scratch/storage-$1/storage/doca_storage_$2"; }

# build_preloaded SIDE NAME: $scratch/NAME-SIDE.so
build_preloaded() {
	local cc=cc
	[ "${arch[$1]}" = "$machine" ] || cc=${arch[$1]}-linux-gnu-gcc
	$cc -shared -fPIC -O1 -o "$scratch/$2-$1.so" "$top/ci/vendor/$2.c"
}

build_storage() {
	local name side
	for side in host dpu; do
		meson_build $side applications "$scratch/storage-$side" -Denable_all_applications=false -Denable_storage=true &&
			build_preloaded $side own_affinity && build_preloaded $side shared_heap || return 1
	done
	for name in initiator_comch target_rdma; do
		is_for host "$(storage_program host $name)" || return 1
	done
	for name in comch_to_rdma_zero_copy comch_to_rdma_gga_offload gga_offload_sbc_generator; do
		is_for dpu "$(storage_program dpu $name)" || return 1
	done
}

# storage_env SIDE: what the programs of a side run with.
storage_env() {
	local preloaded=$scratch/own_affinity-$1.so
	! $storm || preloaded=$(cc -print-file-name=libasan.so):$preloaded # the sanitizer has to be the first
	[ -z "${shares_heap-}" ] || preloaded+=:$scratch/shared_heap-$1.so
	echo "env LD_PRELOAD=$preloaded"
}

# free_ports COUNT: TCP ports that nobody listens at.
free_ports() {
	python3 -c 'import socket, sys
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in sockets))' "$1"
}

# storage_run WHAT SERVICE_COMMAND INITIATOR_FLAGS TARGET_COMMAND...: in one session, until all are done. The initiator starts when
# the service offers its channel.
storage_run() {
	local what=$1 target targets=()
	local hang_needs='\[ERR\]' # a program that fails leaves the others waiting for it
	INITIATOR="$(storage_env host) $(storage_program host initiator_comch) -d b1:00.0 --cpu 0 $3"
	SERVICE="$(storage_env dpu) $2 -d 03:00.0 -r b1:00.0 --cpu 0"
	export INITIATOR SERVICE
	for target in "${@:4}"; do
		targets+=(--on "node1/host=exec $(storage_env host) $(storage_program host target_rdma) -d b1:00.0 --cpu 0 $target")
	done
	# shellcheck disable=SC2016 # for bfsim's shells
	in_session "$what" --timeout 120 --topology "$two_nodes" --start 'node0/host after doca_storage_comch' \
		"${targets[@]}" --on 'node0/dpu=exec $SERVICE' --on 'node0/host=exec $INITIATOR'
}

# by_path PATH FUNCTION ARGUMENT...: all processes over that data path alone. The programs' memory is no shared object, which the
# path "mapped" needs, unless shared_heap.so makes it one.
by_path() {
	local -x BFSIM_PATH=$1
	local shares_heap=
	[ "$1" != mapped ] || shares_heap=true
	"${@:2}"
}

# by_each_path FUNCTION ARGUMENT... (the sanitizer needs its own heap)
by_each_path() {
	local path
	for path in procmem cma shm tcp mapped; do
		if $storm && [ $path = mapped ]; then continue; fi
		by_path $path "$@" || return 1
	done
}

# --- zero copy -------------------------------------------------------------------

# stores STRATEGY OPERATIONS: through the zero-copy service, to one target of 64 blocks.
stores() {
	local port what="storage, zero copy, $1 of $2 blocks, path ${BFSIM_PATH:-the best}"
	port=$(free_ports 1)
	storage_run "$what" "$(storage_program dpu comch_to_rdma_zero_copy) --storage-server 127.0.0.1:$port" \
		"--execution-strategy $1 --run-limit-operation-count $2" "--listen-port $port --block-size 4096 --block-count 64" &&
		check "$what" "^node0/host.*Operation count: $2\$" && check_errors "$what"
}

zero_copy_works() {
	stores read_throughput_test 2000 && stores write_throughput_test 2000 &&
		by_each_path stores read_write_data_validity_test 256
}

# --- the offload's files ---------------------------------------------------------

# generates BYTES MATRIX BLOCK_SIZE: $WORK/text, and the three files that hold its blocks, compressed, and the redundancy of their
# halves.
generates() {
	some_file "$1"
	# The generator refuses a block that LZ4 does not shorten; of random digits alone that was one run in forty.
	sed p "$WORK/text" | head -c "$1" >"$WORK/twice" && mv "$WORK/twice" "$WORK/text" || return 1
	DPU_PROGRAM=$(storage_program dpu gga_offload_sbc_generator)
	export DPU_PROGRAM
	# shellcheck disable=SC2016 # for bfsim's shells
	in_session sbc_generator --timeout 60 --dpu '"$DPU_PROGRAM" -d 03:00.0 --original-input-data "$WORK/text" \
		--data-1 "$WORK/1" --data-2 "$WORK/2" --data-p "$WORK/p" '"--matrix-type $2 --block-size $3" &&
		check sbc_generator 'created successfully' && check_errors sbc_generator
}

# generates_well and the arguments of generates: the files are read by another program.
generates_well() {
	generates "$@" && engines storage "$2" "$3" "$WORK/1" "$WORK/2" "$WORK/p" "$WORK/again" &&
		head -c "$1" "$WORK/again" >"$WORK/head" && same_file "sbc_generator $*" "$WORK/text" "$WORK/head"
}

generator_works() { generates_well 100000 vandermonde 4096 && generates_well 1000 cauchy 512; }

# --- gga offload -----------------------------------------------------------------

# offloads STRATEGY OPERATIONS MATRIX RECOVER_EVERY: through the offload service, which loses each RECOVER_EVERYth half (0: none), to
# three targets.
offloads() {
	local ports part targets=() what="storage, gga offload, $1 of $2 blocks, $3, recovery of each ${4}th, path ${BFSIM_PATH:-the best}"
	generates $((storage_blocks * 4096)) "$3" 4096 || return 1
	read -ra ports < <(free_ports 3)
	for part in 1 2 p; do
		targets+=("--listen-port ${ports[${#targets[@]}]} --binary-content $WORK/$part")
	done
	storage_run "$what" "$(storage_program dpu comch_to_rdma_gga_offload) --matrix-type $3 --trigger-recovery-read-every-n $4 \
		--data-1-storage 127.0.0.1:${ports[0]} --data-2-storage 127.0.0.1:${ports[1]} --data-p-storage 127.0.0.1:${ports[2]}" \
		"--execution-strategy $1 --run-limit-operation-count $2 --storage-plain-content $WORK/text" "${targets[@]}" &&
		check "$what" "^node0/host.*Operation count: $2\$" && check_errors "$what"
}

gga_offload_works() {
	offloads read_throughput_test 500 cauchy 0 && offloads write_throughput_test 500 vandermonde 0 &&
		offloads read_only_data_validity_test $storage_blocks vandermonde 1 &&
		by_each_path offloads read_write_data_validity_test $storage_blocks vandermonde 3
}

# --- rows ------------------------------------------------------------------------

# storage_row NAME TEST NOTE
storage_row() {
	storm_note=
	if run_rounds "$2"; then
		row "application storage, $1" ok ok "$3"
	else
		row "application storage, $1" ok FAILED "see above"
	fi
}

storage_applications() {
	storm_note=
	if ! quietly "storage does not build" build_storage; then
		row "application storage" FAILED - "see above"
		return
	fi
	storage_row generator generator_works "gga_offload_sbc_generator: blocks and redundancy compared"
	storage_row "zero copy" zero_copy_works "initiator, service, target; data compared by the initiator, on each data path"
	storage_row "gga offload" gga_offload_works "the same with three targets; each lost half recovered"
}
