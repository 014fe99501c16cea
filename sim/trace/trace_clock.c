/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of this process's recording, and its clock. */
#include <sched.h>

#include "trace_priv.h"

struct sim_trace_self sim_trace_self = { .lock = PTHREAD_MUTEX_INITIALIZER };
atomic_bool sim_trace_time_is_virtual;

#define self sim_trace_self

uint64_t sim_trace_virtual_ns(void)
{
	const _Atomic uint64_t *virtual_ns;
	uint64_t now_ns;

	atomic_fetch_add(&self.num_clock_readers, 1);
	virtual_ns = atomic_load(&self.virtual_ns);
	now_ns = virtual_ns ? self.zero_ns + atomic_load(virtual_ns) :
			      sim_monotonic_ns(); /* the recording has just ended */
	atomic_fetch_sub(&self.num_clock_readers, 1);
	return now_ns;
}

void sim_trace_set_clock(const struct sim_trace_clock *clock)
{
	self.zero_ns = clock->zero_ns;
	atomic_store(&self.virtual_ns, clock->virtual_ns);
	atomic_store(&sim_trace_time_is_virtual, clock->virtual_ns != NULL);
}

void sim_trace_clear_clock(void)
{
	atomic_store(&sim_trace_time_is_virtual, false);
	atomic_store(&self.virtual_ns, NULL);
	while (atomic_load(&self.num_clock_readers) > 0)
		sched_yield(); /* a few instructions of another thread */
}
