/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/link_state.h - the degradation of a card's link: down, slower than trained, or with replayed packets.
 *
 *   rule --begins--> [window: degradation, end] --the end has come, or the rule is removed--> closed
 *
 * Each rule has a window of its own, so that each degradation ends at its own
 * time. Windows that overlap combine: the link is down while any of them says so,
 * the lowest generation and width count, and replay rates add. A rule that hits several
 * functions of a card has one window.
 *
 * One process of the session writes the windows (sim/state/function_faults.c), one
 * thread at a time, in the shared page. Times are session time in nanoseconds. The
 * page is untrusted: the model uses the trained link in place of an impossible one.
 */
#ifndef SIM_CLOCK_LINK_STATE_H
#define SIM_CLOCK_LINK_STATE_H

#include <stdbool.h>

#include "clock_page.h"

/* The degradation of a link by one rule. */
struct sim_clock_degrade {
	uint64_t until_ns;          /* end of generation, lanes and replay_ppb */
	uint32_t generation, lanes; /* upper limits; 0 = as trained */
	uint32_t replay_ppb;        /* packets that are replayed, in a billion */
	uint64_t up_ns;             /* end of the outage; 0 = none */
};

/* Open or change the window of @rule. Returns 0, or -ENOSPC: SIM_CLOCK_MAX_WINDOWS are open at @now_ns. */
int sim_clock_link_degrade(struct sim_clock_card *card, uint32_t rule, const struct sim_clock_degrade *degrade,
			   uint64_t now_ns);

/* Close the windows of rules that no longer exist. Jobs that wait for the link already keep waiting. */
void sim_clock_link_restore(struct sim_clock_card *card, bool (*rule_exists)(const void *arg, uint32_t rule),
			    const void *arg);

/* The time at which the link is up; it may have passed. */
uint64_t sim_clock_link_up_ns(const struct sim_clock_card *card);

/* The link as a job sees it that arrives at @at_ps. */
struct pcie_link sim_clock_link_at(const struct pcie_link *trained,
				   const struct sim_clock_link_degradation *degradation, uint64_t at_ps);

#endif
