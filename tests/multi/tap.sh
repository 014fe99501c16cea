# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# For tests that are shell scripts: expectations, and a runner of test functions.
#
# A test is a function test_SITUATION_OUTCOME, which the script defines at the
# start of a line. It runs in a subshell, in an empty directory of its own; its
# first command that fails ends it. The script's last line is run_tests.

# The interpreter itself, without site packages: "python3" in PATH may be a slow launcher, and scripts run it often.
python_program=$(command -v python3 >/dev/null && python3 -c 'import sys; print(sys.executable)')
python3() { "$python_program" -SE "$@"; }

# status N COMMAND...: the command must end with status N. Its output goes to ./out and ./err.
status() {
	wanted=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$wanted" ] && return 0
	echo "status $got instead of $wanted: $*"
	cat out err
	return 1
}

# says PATTERN FILE: a line of the file matches.
says() {
	grep -Eq -- "$1" "$2" && return 0
	echo "$2 has no line that matches: $1"
	cat "$2"
	return 1
}

# lacks PATTERN FILE: no line of the file matches.
lacks() {
	grep -Eq -- "$1" "$2" && found=0 || found=$?
	[ $found -ne 1 ] || return 0 # 2 = the pattern or the file is wrong
	echo "$2 has a line that matches: $1"
	cat "$2"
	return 1
}

# same WANTED GOT
same() {
	[ "$1" = "$2" ] && return 0
	printf 'wanted: %s\ngot:    %s\n' "$1" "$2"
	return 1
}

one_line() { same 1 "$(wc -l <"$1")"; }
absent() { ! ls -d "$@" 2>/dev/null; }

# becomes_true COMMAND...: within a minute.
becomes_true() {
	tries=0
	until "$@" >/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 1200 ] || { echo "did not become true: $*"; "$@"; return 1; }
		sleep 0.05
	done
}

# gone PID: the process has ended, though its parent may not have waited for it yet.
gone() {
	[ -n "$1" ] || return 1
	state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || true
	[ -z "$state" ] || [ "$state" = Z ]
}
has_text() { [ -s "$1" ]; }

# after_test DIR: what to clean up after each test; a script or sessions.sh may define it.
after_test() { :; }

# run_test DIR TEST: a script may define it anew.
run_test() { (set -e; cd "$1"; $2); }

# run_tests SCRIPT DIR: all tests of the script, in directories below DIR, as TAP.
# Fails when one of them does.
run_tests() {
	number=0
	failed=0
	for test in $(sed -n 's/^\(test_[a-z0-9_]*\)() {$/\1/p' "$1"); do
		number=$((number + 1))
		mkdir "$2/$test"
		run_test "$2/$test" "$test" >"$2/log" 2>&1
		# shellcheck disable=SC2181 # not "if run_test", where set -e has no effect
		if [ $? -eq 0 ]; then
			echo "ok $number - $test"
		else
			echo "not ok $number - $test"
			sed 's/^/# /' "$2/log"
			cat "$2/log" >&2 # this is what meson shows
			failed=1
		fi
		after_test "$2/$test"
	done
	echo "1..$number"
	return $failed
}
