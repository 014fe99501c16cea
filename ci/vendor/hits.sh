# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Runs under the checker: what it reports, and which of that is known.

# checked_session WHAT ARGUMENT...: bfsim run with the checker; fails if a hit is not known.
checked_session() {
	local what=$1 hits unknown
	shift
	quietly "$what fails" bfsim run --check="$check_mode" --check-fail=none "$@" || return 1
	hits=$(awk -v what="$what" -f "$top/ci/vendor/hits.awk" "$scratch/log")
	[ -n "$hits" ] || return 0
	echo "$hits" >>"$scratch/hits"
	unknown=$(known_hits -v <<<"$hits")
	[ -z "$unknown" ] && return 0
	echo "--- $what: hits that ci/vendor/known-hits does not list:"
	echo "$unknown"
	return 1
}

# known_hits [-v]: the lines of the input that the list has (-v: has not), by rule and line of the sample.
known_hits() { grep "$@" -F -f <(sed -n 's/^\(BFC-[A-Z]*-[0-9]*  *[^ ]*\) .*/\1 /p' "$top/ci/vendor/known-hits"); }

print_hits() {
	printf '\n%s\n' "HITS ($check_mode)"
	if [ -s "$scratch/hits" ]; then sort "$scratch/hits" | uniq -c; else echo none; fi
}
