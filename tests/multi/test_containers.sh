#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The matrix of doc/containers.md: each row names the namespaces that the host's container has of its own, each cell says
# whether that data path works then. All of it runs in one user namespace, as with a rootless engine.
# Exit status 77: the kernel forbids that.
#
#   test_containers.sh TEST_TWO_SIDES DOCUMENT PATH

# Inside the namespaces: what an engine sets up.
if [ "$1" = enter ]; then
	own=" $2 "
	shift 2
	case $own in *" mount "*) mount -t tmpfs none /dev/shm || exit 1 ;; esac
	case $own in *" net "*) ip link set lo up || exit 1 ;; esac
	exec "$@"
fi

self=$(realpath "$0")
if [ "$1" != inside ]; then
	unshare --user --map-root-user --mount --pid --fork --mount-proc true 2>/dev/null ||
		{ echo "SKIP: the kernel forbids new user, PID or mount namespaces"; exit 77; }
	exec unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc "$self" inside "$@"
fi
shift
program=$1 document=$2 path=$3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The command that gives the host's side these namespaces, for an environment variable, which the shell splits.
wrapper() {
	options=
	for namespace in $1; do
		case $namespace in
		none) ;;
		pid) options="$options --pid --fork --kill-child --mount-proc" ;;
		mount | ipc | net) options="$options --$namespace" ;;
		*) echo "the table names the namespace $namespace" >&2; exit 1 ;;
		esac
	done
	[ -z "$options" ] || echo "unshare$options $enter"
}

# Lines "namespaces|yes or no" of the path's column.
cells() {
	awk -F'|' -v path="$path" '
		/^\|.*`mapped`/ { for (i = 3; i < NF; i++) { name = $i; gsub(/[` ]/, "", name); if (name == path) column = i } next }
		column && /^\| `/ { own = $2; cell = $column; gsub(/[`,]/, "", own); gsub(/^ +| +$/, "", own); gsub(/ /, "", cell); print own "|" cell; next }
		column && !/^\|/ { exit }' "$document"
}

failed=0
count=0
# shellcheck disable=SC2094
for cell in $(cells | tr ' ' '+'); do
	own=$(echo "${cell%|*}" | tr '+' ' ')
	expected=${cell#*|}
	count=$((count + 1))
	enter=$(mktemp)
	printf '#!/bin/sh\nexec "%s" enter "%s" "$@"\n' "$self" "$own" >"$enter"
	chmod 755 "$enter"
	host=$(wrapper "$own") || exit 1
	# Without an own namespace the command would be empty.
	$host true || { echo "the kernel forbids $own"; exit 77; }
	HOST_WRAPPER=$host BFSIM_PATH=$path EXPECT_PATH=$path "$program" >"$log" 2>&1
	status=$?
	rm -f "$enter"
	got=$([ $status -eq 0 ] && echo yes)
	[ $status -eq 0 ] || ! grep -q 'no data path to process' "$log" || got=no
	echo "$own: $path: $got"
	[ "$got" = "$expected" ] && continue
	echo "$document says $expected"
	tail -n 20 "$log"
	failed=1
done
[ "$count" -ge 6 ] || { echo "found $count rows in $document"; failed=1; }
exit $failed
