/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of functions of the port. */
#include "pause.h"

#include <sched.h>
#include <time.h>

#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"

void sim_dpa_pause(uint32_t round)
{
	const uint64_t max_ns = 200000;
	struct timespec pause;

	if (round < 64) {
		sched_yield();
		return;
	}
	pause = sim_timespec_from_ns(min_u64(max_ns, UINT64_C(1000) << min_u32(round - 64, 10)));
	nanosleep(&pause, NULL);
}
