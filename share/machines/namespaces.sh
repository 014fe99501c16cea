#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two machines on one: each is a network namespace, and a cable joins them. As root:
#
#   namespaces.sh ./program ARGUMENT...       NODE tells the program which machine it is on: 0 or 1
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'ip netns del bfsim0; ip netns del bfsim1; rm -rf "$work"' EXIT
(umask 077; bfsim token >"$work/token")
ip netns add bfsim0
ip netns add bfsim1
ip link add cable netns bfsim0 type veth peer name cable netns bfsim1
for i in 0 1; do
	ip -n "bfsim$i" link set lo up
	ip -n "bfsim$i" addr add "10.0.0.$((i + 1))/24" dev cable
	ip -n "bfsim$i" link set cable up
done
BFSIM_SESSION=$work/1 ip netns exec bfsim1 sh "$here/node.sh" 1 2 10.0.0.1 "$work/token" "$@" &
status=0
BFSIM_SESSION=$work/0 ip netns exec bfsim0 sh "$here/node.sh" 0 2 10.0.0.1 "$work/token" "$@" || status=$?
wait "$!" || status=$?
exit "$status"
