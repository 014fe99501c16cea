#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Machines of a session on one computer: each is a network namespace, with a cable to each of the others. As root:
#
#   namespaces.sh ./program ARGUMENT...       NODE tells the program which machine it is on: 0, 1 and so on
#
# There are MACHINES of them (default: two); for more than two, TOPOLOGY has as many.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
count=${MACHINES:-2}
all=$(seq 0 $((count - 1)))
work=$(mktemp -d)
trap 'for i in $all; do ip netns del "bfsim$i" || :; done; rm -rf "$work"' EXIT
(umask 077; bfsim token >"$work/token")

# lay FROM TO: the end of a cable at machine FROM.
lay() {
	ip -n "bfsim$1" link set "to$2" up
	ip -n "bfsim$1" route add "10.0.0.$(($2 + 1))" dev "to$2" src "10.0.0.$(($1 + 1))"
}

for i in $all; do
	ip netns add "bfsim$i"
	ip -n "bfsim$i" link set lo up
	ip -n "bfsim$i" addr add "10.0.0.$((i + 1))/32" dev lo
	for j in $(seq 0 $((i - 1))); do
		ip link add "to$j" netns "bfsim$i" type veth peer name "to$i" netns "bfsim$j"
		lay "$i" "$j"
		lay "$j" "$i"
	done
done
others=
for i in $(seq 1 $((count - 1))); do
	BFSIM_SESSION=$work/$i ip netns exec "bfsim$i" sh "$here/node.sh" "$i" "$count" 10.0.0.1 "$work/token" "$@" &
	others="$others $!"
done
status=0
BFSIM_SESSION=$work/0 ip netns exec bfsim0 sh "$here/node.sh" 0 "$count" 10.0.0.1 "$work/token" "$@" || status=$?
for other in $others; do
	wait "$other" || status=$?
done
exit "$status"
