# SPDX-License-Identifier: BSD-3-Clause
# Sourced: runs of programs in virtual time, in schedules that are perturbed (BFSIM_TEST_PERTURB, sim/base/perturb.h).
#
# PERTURB_SEEDS is the number of perturbed runs of each (3; the long form takes 100), PERTURB_LOAD that of programs that use the
# CPUs meanwhile (0).

seeds=${PERTURB_SEEDS:-3}

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

load=
for _ in $(seq "${PERTURB_LOAD:-0}"); do
	(while :; do :; done) &
	load="$load $!"
done
# shellcheck disable=SC2086
trap '[ -z "$load" ] || kill $load; clean_up' EXIT
