/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/trace/sampler.h - which of many alike events are worth their record: all of few, some of many.
 *
 * Events are counted. The one whose turn it is (@next) is recorded and says when
 * the next turn comes: that takes a credit, of which time brings one each
 * GAP_NS, BURST of them at most. With credits the distance between turns
 * halves down to one, at once when there are many; without, it doubles up to MAX_DISTANCE. So the first
 * BURST events after a pause, and all that come slower than the credits, are
 * recorded one by one, and of a flood about one in MAX_DISTANCE. No clock is
 * read here: whoever records has the time.
 */
#ifndef SIM_TRACE_PACE_H
#define SIM_TRACE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_TRACE_GAP_NS 80000
#define SIM_TRACE_BURST 512
#define SIM_TRACE_MAX_DISTANCE 1024

struct sim_trace_pace {
	uint64_t next;      /* number of the event whose turn it is, counted from 0; UINT64_MAX = none's */
	uint64_t credited_ns; /* until when credits were given */
	uint32_t credits;
	uint32_t distance;
	bool every;         /* all are recorded, whatever it costs */
};

/* None is recorded. */
#define SIM_TRACE_NEVER UINT64_MAX

static inline void sim_trace_pace_init(struct sim_trace_pace *pace, uint64_t now_ns, bool every)
{
	*pace = (struct sim_trace_pace){.credited_ns = now_ns, .credits = SIM_TRACE_BURST, .distance = 1, .every = every};
}

/* Event @number has its turn, now. */
static inline void sim_trace_pace_take(struct sim_trace_pace *pace, uint64_t number, uint64_t now_ns)
{
	uint64_t gained = now_ns > pace->credited_ns ? (now_ns - pace->credited_ns) / SIM_TRACE_GAP_NS : 0;

	pace->credited_ns += gained * SIM_TRACE_GAP_NS;
	if (gained > SIM_TRACE_BURST - pace->credits)
		gained = SIM_TRACE_BURST - pace->credits;
	pace->credits += (uint32_t)gained;
	if (pace->credits > 0) {
		pace->credits--;
		pace->distance = pace->distance > 1 && pace->credits < SIM_TRACE_BURST / 2 ? pace->distance / 2 : 1;
	} else if (pace->distance < SIM_TRACE_MAX_DISTANCE) {
		pace->distance *= 2;
	}
	pace->next = number + (pace->every ? 1 : pace->distance);
}

#endif
