# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# For tests of the bfsim command (tap.sh, too): it stands in a folder of its own, and leaves nothing.

# use_bfsim PROGRAM: from here on bfsim is that program. All that it makes is in $work, a
# new folder, which goes when the script ends, whatever way it does.
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

# A script that has more to clean up defines before_sessions_end.
before_sessions_end() { :; }

clean_up() {
	before_sessions_end
	for lock in "$work"/*/*/lock "$work"/bfsim/lock; do
		[ -e "$lock" ] && bfsim down --session "${lock%/lock}" 2>/dev/null
	done
	rm -rf "$work"
}
