#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The host process in other namespaces than the DPU's, as two containers are:
# only the session directory is shared. Runs a test program of two sides with the
# host in other namespaces, and expects the remaining data path. Exit 77: the kernel forbids it.
#
#   test_namespaces.sh TEST local      own PID, mount and user namespaces, own /dev/shm
#   test_namespaces.sh TEST network    own network namespaces besides, which are not joined
#   test_namespaces.sh TEST ..._tcp    the same, over tcp
#   test_namespaces.sh TEST passed     the exporter passes a descriptor of its memory: the importer can't find its process, as
#                                      /proc is that of another PID namespace
#   test_namespaces.sh TEST passed_alone    the same, by that path alone
program=$1
kind=${2%_tcp}
away="unshare --user --map-root-user --pid --mount --fork --kill-child --mount-proc $0 own-shm"

# Inside the new namespaces: hide the other's /dev/shm, then go on.
if [ "$1" = own-shm ]; then
	shift
	mount -t tmpfs none /dev/shm || exit 1
	exec "$@"
fi

if [ "${2%_alone}" = passed ]; then
	own="unshare --user --map-root-user --pid --fork --kill-child"
	$own true 2>/dev/null || { echo "SKIP: the kernel forbids new user or PID namespaces"; exit 77; }
	export EXPECT_PATH=procmem DAEMON_OPTION=--procmem BFSIM_PATH=
	export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # a leak checker needs a /proc that shows itself
	[ "$2" = passed ] || export BFSIM_PATH=procmem
	exec $own "$program"
fi

$away true 2>/dev/null || { echo "SKIP: the kernel forbids new user, PID or mount namespaces"; exit 77; }
# The DPU's process sees the host's, so that the path would be cma; two containers beside each other do not see each other.
export EXPECT_PATH=shm BFSIM_PATH=shm
if [ "$kind" != "$2" ]; then
	export EXPECT_PATH=tcp BFSIM_PATH=tcp
fi
if [ "$kind" = local ]; then
	HOST_WRAPPER=$away exec "$program"
fi

host_ns=bfsim-host-$$
dpu_ns=bfsim-dpu-$$
clean() {
	ip netns del "$host_ns" 2>/dev/null
	ip netns del "$dpu_ns" 2>/dev/null
}
trap clean EXIT INT TERM
join() {
	ip netns add "$host_ns" && ip netns add "$dpu_ns" &&
	ip -n "$host_ns" link set lo up && ip -n "$dpu_ns" link set lo up
}
join 2>/dev/null || { echo "SKIP: the kernel forbids new network namespaces"; exit 77; }
HOST_WRAPPER="ip netns exec $host_ns $away" ip netns exec "$dpu_ns" "$program"
