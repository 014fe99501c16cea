/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/faults/inject/inject.h - ask the injector about an operation, and log and record the faults that it applies. */
#ifndef SIM_INJECT_H
#define SIM_INJECT_H

#include "injector.h"
#include "sim/clock/clock.h"

/* Ask about @site, whose operation and place are set; @clock gives the time. Returns whether a fault hits; then the log and
 * the recording of @object (sim/trace/trace.h; 0 = none) have an entry. */
bool sim_inject(struct sim_injector *injector, const struct sim_clock *clock, struct sim_fault_site *site,
		uint32_t object, struct sim_fault_hit *ret_hit);

#endif
