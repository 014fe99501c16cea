# SPDX-License-Identifier: BSD-3-Clause
# Sourced: runs of programs in virtual time, in schedules that are perturbed (BFSIM_TEST_PERTURB, sim/base/perturb.h).
#
# PERTURB_SEEDS is the number of perturbed runs of each (3; the long form takes 100), PERTURB_LOAD that of programs that use the
# CPUs meanwhile (0).

seeds=${PERTURB_SEEDS:-3}

# The machine may give a process no CPU for seconds. That the clock gives up such a one is another test's matter.
export BFSIM_CLOCK_PATIENCE=30s

# run_once SEED OPTION...: run the commands; the events of all processes are in ./events then.
run_once() {
	rm -f event.* trace.json
	seed=$1
	shift
	export BFSIM_TEST_PERTURB="$seed"
	run_virtual 100 "$@"
	# The lines of two programs come in any order, and speeds are of the machine's time.
	sed 's,[0-9.]* MB/s,,' out | LC_ALL=C sort >events
	cat event.* >>events 2>/dev/null || true # not every program writes one
}

# always_the_same OPTION...: the first run is not perturbed.
always_the_same() {
	run_once "" "$@"
	keep_first
	[ -s first ]
	for run in $(seq "$seeds"); do
		run_once "$run" "$@"
		same_as_first "the run with seed $run"
	done
}

# The test runs in the background, as a signal ends "wait" at once and else comes behind the last run of the test.
run_test() {
	(set -e; cd "$1"; $2) &
	running=$!
	got=0
	wait "$running" || got=$?
	running=
	return $got
}

end_load() {
	# shellcheck disable=SC2086
	[ -z "$load$running" ] || kill $load $running
	clean_up
}

# start_load: behind use_bfsim, whose traps it changes. The load ends with the script, also if that is killed.
start_load() {
	load= running=
	trap end_load EXIT
	for _ in $(seq "${PERTURB_LOAD:-0}"); do
		(while kill -0 $$; do :; done 2>/dev/null) &
		load="$load $!"
	done
}
