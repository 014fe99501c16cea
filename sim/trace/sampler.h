/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/sampler.h - which of many alike events are worth their record: all of few, some of many.
 *
 * Events are counted. The one whose turn it is (@next) is recorded and says when
 * the next turn comes: that takes a credit, of which time brings one each
 * GAP_NS, BURST of them at most. With credits the interval between turns
 * halves down to one, at once when there are many; without, it doubles up to MAX_DISTANCE. So the first
 * BURST events after a pause, and all that come slower than the credits, are
 * recorded one by one, and of a flood about one in MAX_DISTANCE. No clock is
 * read here: whoever records has the time.
 */
#ifndef SIM_TRACE_SAMPLER_H
#define SIM_TRACE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_TRACE_CREDIT_NS    80000
#define SIM_TRACE_BURST        512
#define SIM_TRACE_MAX_INTERVAL 1024

struct sim_trace_sampler {
	uint64_t next;        /* number of the event whose turn it is, counted from 0; UINT64_MAX = none's */
	uint64_t credited_ns; /* until when credits were given */
	uint32_t credits;
	uint32_t interval;
	bool sample_all; /* all are recorded, whatever it costs */
};

/* None is recorded. */
#define SIM_TRACE_NEVER UINT64_MAX

static inline void sim_trace_sampler_init(struct sim_trace_sampler *sampler, uint64_t now_ns, bool sample_all)
{
	*sampler = (struct sim_trace_sampler){
		.credited_ns = now_ns, .credits = SIM_TRACE_BURST, .interval = 1, .sample_all = sample_all
	};
}

/* Event @number has its turn, now. */
static inline void sim_trace_sampler_advance(struct sim_trace_sampler *sampler, uint64_t number, uint64_t now_ns)
{
	uint64_t gained = now_ns > sampler->credited_ns ? (now_ns - sampler->credited_ns) / SIM_TRACE_CREDIT_NS : 0;

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
