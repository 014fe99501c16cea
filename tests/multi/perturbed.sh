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
	BFSIM_TEST_PERTURB=$seed bfsim run --timeout 100 --session s --clock virtual --trace trace.json "$@" >out 2>err || {
		cat out err
		return 1
	}
	if grep "no longer waits" out err; then
		return 1
	fi
	# The lines of two programs come in any order, and speeds are of the machine's time.
	sed 's,[0-9.]* MB/s,,' out | LC_ALL=C sort >events
	cat event.* >>events 2>/dev/null || true # not every program writes one
}

# always_the_same OPTION...: the first run is not perturbed.
always_the_same() {
	run_once "" "$@"
	mv events first
	mv trace.json first.json
	[ -s first ]
	for run in $(seq "$seeds"); do
		run_once "$run" "$@"
		cmp first events || {
			echo "the run with seed $run differs:"
			diff first events | head -n 20
			return 1
		}
		cmp first.json trace.json || {
			echo "the trace of the run with seed $run differs:"
			diff first.json trace.json | cut -c 1-300 | head -n 20
			return 1
		}
	done
}

load=
for _ in $(seq "${PERTURB_LOAD:-0}"); do
	(while :; do :; done) &
	load="$load $!"
done
# shellcheck disable=SC2086
trap '[ -z "$load" ] || kill $load; clean_up' EXIT
