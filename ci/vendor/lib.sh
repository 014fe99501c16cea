# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# What the rows are made of: a log, what must and must not be in it, the table,
# builds against a side's SDK tree, and runs of both sides in one session.

# quietly WHAT COMMAND...: its output goes to the log, and is shown if it fails.
quietly() {
	local what=$1
	shift
	"$@" >"$scratch/log" 2>&1 && return 0
	echo "--- $what:"
	tail -n 25 "$scratch/log"
	return 1
}

# row NAME BUILD RUN NOTE
row() {
	local note=$4
	[ -z "$storm_note" ] || note=$storm_note
	rows+=("$(printf '%-34s %-6s %-6s %s' "$1" "$2" "$3" "$note")")
	[ "$2" = ok ] && [ "$3" = ok ] || all_fine=false
}

# check WHAT PATTERN: the output in the log has a line that matches.
check() {
	grep -Eq -- "$2" "$scratch/log" && return 0
	echo "--- $1: no line matches: $2"
	tail -n 25 "$scratch/log"
	return 1
}

# An error record is a failure even where the sample goes on. pe_task_error
# provokes one, and must have reported it; wrong bytes are wrong there, too.
# The end of storage's target logs its successes as errors. time_sync's DPU side closes its device before the representor.
check_errors() {
	local unwanted='\[ERR\]' expected='\[~target_rdma_worker\] Failed to destroy'
	if [ "$1" = pe_task_error ]; then
		check "$1" '\[ERR\].*Task failed with status' || return 1
		unwanted='Memcpy failed'
	elif [ "$1" = time_sync ]; then
		expected='representor\(s\) still use the device|\[time_sync_common_close_devs\]'
	fi
	grep -E "$unwanted" "$scratch/log" | grep -Ev "$expected" >"$scratch/errors" || return 0
	echo "--- $1: logged errors:"
	head -n 10 "$scratch/errors"
	return 1
}

# The parts of the checkout that are built. In the repository, the files for users
# are called meson.build.public and SCRIPT.public; installed, they have no suffix.
copy_checkout() {
	local part public
	mkdir "$scratch/doca"
	for part in "${parts[@]}" samples/*.[ch] applications/meson*; do
		[[ $part != *\** ]] || ! is_workq_checkout || continue
		(cd "$checkout" && cp -r --parents $part "$scratch/doca") || exit 2 # $part: a pattern
	done
	chmod -R u+w "$scratch/doca"
	find "$scratch/doca" -name '*.public' | while read -r public; do
		mv "$public" "${public%.public}"
	done
}

# meson_build SIDE FOLDER BUILD_FOLDER OPTION...; $in_place: a command that runs the build.
meson_build() {
	local side=$1 build=$3 cross=()
	[ "${arch[$side]}" = "$machine" ] ||
		cross=(--cross-file "$top/share/cross/${arch[$side]}-linux-gnu.ini" --cross-file "$scratch/no-cuda.ini")
	(
		cd "$scratch/doca/$2" || exit 1
		shift 3
		eval "$(bfsim sdk --on "$side" --arch "${arch[$side]}" --env)"
		# shellcheck disable=SC2046 # options
		"${in_place[@]}" meson setup "$build" "${cross[@]}" "$@" $(if $storm; then sample_options; fi) &&
			"${in_place[@]}" ninja -C "$build"
	)
}

# is_for SIDE PROGRAM: the program is for that side's architecture. A native one would give the same results.
is_for() {
	local wanted=62 got # e_machine of x86_64
	[ "${arch[$1]}" != aarch64 ] || wanted=183
	got=$(od -An -tu2 -j18 -N2 "$2") && [ "$((got))" -eq $wanted ] && return 0
	echo "$2 is not for ${arch[$1]}"
	return 1
}

meson_sample() { meson_build "$1" "samples/$2/$3" "build-$1"; }

# build SIDE LIBRARY SAMPLE
build() { $build "$@" && is_for "$1" "$(program "$@")"; }

# program SIDE LIBRARY SAMPLE
program() { echo "$scratch/doca/samples/$2/$3/build-$1/doca_$3"; }

# in_session WHAT ARGUMENT...: bfsim run.
in_session() {
	local what=$1
	shift
	if $storm; then
		storm_session "$@"
	elif [ -n "$check_mode" ]; then
		checked_session "$what" "$@"
	else
		quietly "$what fails" bfsim run "$@"
	fi
}

# both_sides WHAT HOST_COMMAND DPU_COMMAND: in one session, until both are done.
both_sides() { in_session "$1" --timeout 120 --host "$2" --dpu "$3"; }
