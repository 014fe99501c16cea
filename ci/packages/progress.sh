# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Long commands that write a log tell how far they are.

# report_progress PID LOG: every five seconds the last "[N/M]" of the log, while the process runs.
report_progress() {
	local ticks=0 # of 0.2 s
	while sleep 0.2 && kill -0 "$1" 2>/dev/null; do
		ticks=$((ticks + 1))
		[ $((ticks % 25)) -ne 0 ] || echo "... $(grep -oE '^\[[0-9]+/[0-9]+\]' "$2" | tail -n 1) $((ticks / 5)) s"
	done
}

# run_counting LOG COMMAND...: the command's output goes to the log. Returns its status.
run_counting() {
	local log=$1 command status=0
	shift
	"$@" >"$log" 2>&1 &
	command=$!
	report_progress $command "$log" &
	wait $command || status=$?
	wait $! || true
	return "$status"
}
