# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# For tests of the bfsim command, together with tap.sh: a temporary directory, which is removed at the end.

# use_bfsim PROGRAM: let "bfsim" run PROGRAM. All its files are in $work, a new directory,
# which is removed when the script ends in any way.
use_bfsim() {
	bfsim_program=$(realpath "$1")
	work=$(mktemp -d)
	unset BFSIM_SESSION BFSIM_SIDE BFSIM_LOG_LEVEL BFSIM_TRACE
	export XDG_RUNTIME_DIR="$work"       # the default session is $work/bfsim
	export TMPDIR="$work/tmp"            # where bfsim run makes its sessions
	mkdir "$TMPDIR"
	trap clean_up EXIT
	trap 'exit 1' HUP INT TERM
}

bfsim() { "$bfsim_program" "$@"; }

# A script that starts other processes defines this function to end them; DIR is the test's directory.
before_sessions_end() { :; }

# end_sessions DIR: end the sessions in the folders of DIR.
end_sessions() {
	for lock in "$1"/*/lock; do
		[ -e "$lock" ] && bfsim down --session "${lock%/lock}" 2>/dev/null
	done
}

# Sessions and processes of one test don't slow down the next.
after_test() {
	before_sessions_end "$1"
	end_sessions "$1"
}

clean_up() {
	for dir in "$work" "$work"/*; do
		[ ! -d "$dir" ] || after_test "$dir"
	done
	rm -rf "$work"
}

# --- runs in virtual time: their events are in ./events ---

# run_virtual SECONDS OPTION...: no program may be given up by the clock.
run_virtual() {
	timeout=$1
	shift
	bfsim run --timeout "$timeout" --session s --clock virtual --trace trace.json "$@" >out 2>err || {
		cat out err
		return 1
	}
	if grep "no longer waits" out err; then
		return 1
	fi
}

keep_first() {
	mv events first
	mv trace.json first.json
}

# keep_first; then same_as_first NAME for each other run.
same_as_first() {
	cmp first events || {
		echo "$1 differs:"
		diff first events | head -n 20
		return 1
	}
	cmp first.json trace.json || {
		echo "the trace of $1 differs:"
		diff first.json trace.json | cut -c 1-300 | head -n 20
		return 1
	}
}
