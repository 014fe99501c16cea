#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One machine of a session over several: starts or joins the session, runs a command, leaves. A launcher starts it on each machine.
#
#   node.sh NUMBER COUNT HOME[:PORT] TOKEN-FILE COMMAND [ARGUMENT...]
#
# Machine 0 is home; HOME is its name or address for the others. COMMAND runs on nodeNUMBER/host, when all COUNT machines are there,
# with its number in NODE. The exit status is COMMAND's. The session has TOPOLOGY, a file at home (default: two nodes).
# Of three machines and more each listens, too, for direct links among them: at the port LISTEN (default: any that is free).
set -eu
number=$1 count=$2 home=$3 token_file=$4
shift 4
case $home in *:*) ;; *) home=$home:7447 ;; esac
direct=
[ "$count" -le 2 ] || direct="--listen ${LISTEN:-0}"
topology=${TOPOLOGY:-$(dirname "$0")/../topologies/two-nodes.yaml}

# A secret of a container or a cluster is often another user's file, or one that others can read.
token=$(mktemp)
trap 'bfsim down >/dev/null 2>&1 || :; rm -f "$token"' EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
cat "$token_file" >"$token"

# try COMMAND...: once a second for a minute, as machines start in any order.
try() {
	tries=0
	until "$@" >/dev/null 2>"$token.log"; do
		tries=$((tries + 1))
		[ "$tries" -lt 60 ] || { cat "$token.log" >&2; rm -f "$token.log"; return 1; }
		sleep 1
	done
	rm -f "$token.log"
}

if [ "$number" -eq 0 ]; then
	bfsim up --topology "$topology" --listen "${home##*:}" --token-file "$token" >/dev/null
else
	# shellcheck disable=SC2086
	try bfsim join "$home" --as "node$number" --token-file "$token" $direct
fi
joined=
for i in $(seq 1 $((count - 1))); do
	joined="$joined node$i"
done
# One whose program has failed at once may have left again.
# shellcheck disable=SC2086
bfsim wait --ever --timeout 60 node0 $joined
status=0
NODE=$number bfsim exec --on "node$number/host" -- "$@" || status=$?

# Home ends the session for all: it waits for those that are still at work; after a failure for ten seconds at most, in which they find
# out.
limit=2000000000
[ "$status" -eq 0 ] || limit=10
# shellcheck disable=SC2086
[ "$number" -ne 0 ] || [ -z "$joined" ] || bfsim wait --left --timeout "$limit" $joined 2>/dev/null || :
exit "$status"
