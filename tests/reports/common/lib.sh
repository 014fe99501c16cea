# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# For the run scripts of cases: PREFIX, the installation under test, is their only argument. A case is a program of a user:
# it is built with cc and pkg-config against the installed trees. It ends with one line, and with status 0 if bfsim does what
# the case file says.
PREFIX=${1:?usage: run PREFIX}
here=$(cd "$(dirname "$0")" && pwd)
common=$here/../common
PATH=$PREFIX/bin:$PATH
unset BFSIM_SESSION BFSIM_SIDE BFSIM_PATH BFSIM_TOPOLOGY LD_LIBRARY_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export TMPDIR=$work

pass() { echo "ok: $*"; exit 0; }
fail() { echo "FAIL: $*"; exit 1; }

# build SIDE OUT SOURCE...: of the task generation, with the common files
build() {
	local side=$1 out=$2
	shift 2
	if ! (
		eval "$(bfsim sdk --on "$side" --env)"
		# shellcheck disable=SC2046
		cc -O1 -g -D_GNU_SOURCE -DDOCA_ALLOW_EXPERIMENTAL_API -I"$common" "$@" "$common"/*.c -o "$out" \
			$(pkg-config --cflags --libs doca-common doca-dma doca-comch)
	) 2>"$work/build.log"; then
		fail "does not build: $(grep -m1 -E 'error|undefined|cannot' "$work/build.log")"
	fi
}

# runs ARGUMENT...: bfsim run, its output in $work/out; the first failure of a program is the case's
runs() {
	bfsim run --timeout 60 "$@" >"$work/out" 2>&1 ||
		fail "$(grep -m1 -oE 'FAIL: .*' "$work/out" || tail -n 1 "$work/out")"
}

# says PATTERN: in the output of the last run
says() { grep -qE -- "$1" "$work/out" || fail "the output has no line that matches: $1"; }
silent() { ! grep -qE -- "$1" "$work/out" || fail "the output has a line that matches: $1"; }
