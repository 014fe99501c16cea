/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/stall_watch.h - detects a busy participant that has stopped calling, and detaches it.
 *
 * A participant has stalled when its heartbeat has not changed for
 * SIM_VCLOCK_STALL_TIMEOUT_MS and for MIN_STALL_CHECKS checks. The number of checks
 * matters because a machine that was suspended keeps every process from calling.
 */
#ifndef SIM_CLOCK_STALL_WATCH_H
#define SIM_CLOCK_STALL_WATCH_H

#include "participant.h"

/* A participant that was seen busy, and since when its heartbeat has not changed. */
struct sim_stall_watch {
	const struct sim_clock_participant *shared; /* NULL = none */
	uint32_t heartbeats, checks;
	uint64_t owner, since_ns;
};

/* Check the busy participant, on behalf of @self, which is not checked; detach it if it has stalled.
 * *ret_stalled is its owner then, else 0. Returns whether a participant is busy. */
bool sim_stall_watch_check(struct sim_stall_watch *watch, const struct sim_participant *self, uint64_t *ret_stalled);

#endif
