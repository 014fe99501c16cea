# shellcheck shell=bash disable=SC2154 # part of ci/vendor-samples, whose variables these are
# SPDX-License-Identifier: BSD-3-Clause
# Samples under many faults: repeated runs with the faults of a plan, each with
# another seed. A sample may react to a fault in any way; only defects of bfsim count.
#
# bfsim and the samples are built with the address sanitizer, whose reports say
# whether bfsim is to blame: the first frame outside of the sanitizer's runtime is in one of its
# libraries, its own allocations leak, a call that should return hangs, or files remain. Some samples
# ($hang_needs, a pattern) hang only after an error that they logged: a hang without one is bfsim's, too.

hang_s=20

# Options of meson for samples: as bfsim is built.
sample_options() {
	if grep -q __asan_init "$prefix"/lib/*/libbfsim.so.0; then
		echo -Db_sanitize=address -Db_lundef=false
	fi
}

begin_storm() {
	blame=0
	num_fired=0
	mkdir "$scratch/sessions"
	export TMPDIR=$scratch/sessions
	export ASAN_OPTIONS=handle_abort=1:abort_on_error=1:stack_trace_format='"    #%n %m %f %S"'
	export UBSAN_OPTIONS=print_stacktrace=1
	export LSAN_OPTIONS=exitcode=0 # a sample's leaks are its business
}

# storm_place OPTION VALUE...: "SIDE=", with which the value of --on begins; of the others, nothing.
storm_place() { [ "$1" != --on ] || echo "${2%%=*}="; }

# storm_session ARGUMENT...: as bfsim run, with faults. A hanging process gets SIGABRT and prints its stack.
storm_session() {
	local arguments=() command name
	while [ $# -gt 0 ]; do
		case $1 in
		--timeout) shift ;; # this script's is shorter
		--host | --dpu | --on)
			name=STORM_${#arguments[@]}
			command=${2#"$(storm_place "$@")"}
			export "$name=$command"
			# shellcheck disable=SC2016 # for bfsim's shells
			arguments+=("$1" "$(storm_place "$@")"'timeout -s ABRT '"$hang_s"' sh -c "$'"$name"'"; status=$?
				bfsim fault list --json >"$STORM_FAULTS"; exit $status')
			shift
			;;
		*) arguments+=("$1") ;;
		esac
		shift
	done
	export STORM_FAULTS=$scratch/faults
	rm -f "$STORM_FAULTS"
	bfsim run --timeout $((hang_s + 20)) --allow-unused-faults --fault-plan "$plan" --seed "$seed" "${arguments[@]}" >"$scratch/log" 2>&1
	session_status=$?
	judge
	num_fired=$((num_fired + $(awk -F: '/"fired":/ { sum += $2 } END { print sum + 0 }' "$STORM_FAULTS" 2>/dev/null)))
	seed=$((seed + 1))
	return $session_status
}

# report_defect WHAT: prints the seed that repeats it, and the log.
report_defect() {
	blame=$((blame + 1))
	echo "--- bfsim: $1, with --seed $seed:"
	tail -n 60 "$scratch/log"
}

# Whether a sample with $hang_needs hung, and its log has no error before SIGABRT. Lost messages (drop), tasks that
# never complete (hang) and stopped processes (pause) cause no error.
hung_silently() {
	[ "$session_status" = 124 ] && [ -n "${hang_needs-}" ] && ! grep -Eqw 'hang|drop|pause' "$plan" || return 1
	! sed '/ERROR: AddressSanitizer: ABRT/q' "$scratch/log" | grep -Eq -- "$hang_needs"
}

judge() {
	local left
	awk -f "$top/ci/vendor/blame.awk" "$scratch/log" >"$scratch/blame"
	[ ! -s "$scratch/blame" ] || report_defect "$(head -n 1 "$scratch/blame")"
	! hung_silently || report_defect "hangs without a logged error"
	left=$(ls -A "$scratch/sessions")
	[ -z "$left" ] || report_defect "left $left behind"
	rm -rf "${scratch:?}/sessions/"*
}

# run_rounds FUNCTION ARGUMENT...: runs it once; with --storm repeatedly, and successfully if
# bfsim is not to blame for anything.
run_rounds() {
	if ! $storm; then
		"$@"
		return
	fi
	local round usual=0 errors=0 hung=0 crashed=0
	blame=0
	num_fired=0
	for ((round = 0; round < rounds; round++)); do
		session_status=0
		if "$@" 3>&1 >"$scratch/round" 2>&1; then
			usual=$((usual + 1))
		elif [ "$session_status" = 124 ]; then
			hung=$((hung + 1))
		elif [ "$session_status" -gt 128 ]; then
			crashed=$((crashed + 1))
		else
			errors=$((errors + 1))
		fi
		grep -A 60 '^--- bfsim:' "$scratch/round"
	done
	storm_note="$num_fired faults; $usual runs as usual, $errors ended with an error"
	[ $hung = 0 ] || storm_note+=", $hung hung"
	[ $crashed = 0 ] || storm_note+=", $crashed crashed"
	[ $blame = 0 ]
}
