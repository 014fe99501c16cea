/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/sampler.h - selects the events of one kind that are recorded: all if they are few, some if they are many.
 *
 * Events are counted from 0. The sampler selects event @next. Recording it takes a credit and sets @next.
 * Time adds one credit per CREDIT_NS, up to BURST. While there are credits, the interval
 * between selected events halves down to one; with half of BURST left it is one at once. Without
 * credits, it doubles up to MAX_INTERVAL. So the sampler selects the first BURST events
 * after a pause, every event slower than the credits, and about one in MAX_INTERVAL
 * of a flood. The sampler reads no clock: the caller passes the time.
 */
#ifndef SIM_TRACE_SAMPLER_H
#define SIM_TRACE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_TRACE_CREDIT_NS    80000
#define SIM_TRACE_BURST        512
#define SIM_TRACE_MAX_INTERVAL 1024

struct sim_trace_sampler {
	uint64_t next;        /* number of the next selected event; SIM_TRACE_NEVER = none */
	uint64_t credited_ns; /* credits are given for the time up to here; 0 = before the first event */
	uint32_t credits;
	uint32_t interval;
	bool sample_all; /* select every event */
};

/* A value of @next that selects no event. */
#define SIM_TRACE_NEVER UINT64_MAX

static inline void sim_trace_sampler_init(struct sim_trace_sampler *sampler, bool sample_all)
{
	*sampler = (struct sim_trace_sampler){ .credits = SIM_TRACE_BURST, .interval = 1, .sample_all = sample_all };
}

/* Event @number was selected at @now_ns: choose the next. */
static inline void sim_trace_sampler_advance(struct sim_trace_sampler *sampler, uint64_t number, uint64_t now_ns)
{
	uint64_t gained;

	if (sampler->credited_ns == 0)
		sampler->credited_ns = now_ns;
	gained = now_ns > sampler->credited_ns ? (now_ns - sampler->credited_ns) / SIM_TRACE_CREDIT_NS : 0;
	sampler->credited_ns += gained * SIM_TRACE_CREDIT_NS;
	if (gained > SIM_TRACE_BURST - sampler->credits)
		gained = SIM_TRACE_BURST - sampler->credits;
	sampler->credits += (uint32_t)gained;
	if (sampler->credits > 0) {
		sampler->credits--;
		sampler->interval =
			sampler->interval > 1 && sampler->credits < SIM_TRACE_BURST / 2 ? sampler->interval / 2 : 1;
	} else if (sampler->interval < SIM_TRACE_MAX_INTERVAL) {
		sampler->interval *= 2;
	}
	sampler->next = number + (sampler->sample_all ? 1 : sampler->interval);
}

#endif
