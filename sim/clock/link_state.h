/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/link_state.h - a card's link to the host when it is down, slower than it was trained, or repeats packets.
 *
 *   rule --begins--> [window: what is wrong, until when] --its time has come, or the rule is taken out--> over
 *
 * Each rule has a window of its own, so that each ends at its own time. Those
 * that are open at a time make the link: down as long as one of them has it down, of
 * speeds and widths the lowest, of repeated packets the sum. A rule that is said
 * again, such as for another of the card's functions, is still one.
 *
 * One process of the session writes them (faults, sim/state/function_faults.c), one thread
 * at a time, in the page that all share; the model's times follow. Times are session time in
 * nanoseconds. Nothing in the page is trusted: a link that can't be is the one that was trained.
 */
#ifndef SIM_CLOCK_LINK_STATE_H
#define SIM_CLOCK_LINK_STATE_H

#include <stdbool.h>

#include "clock_page.h"

/* What a rule does to a link. */
struct sim_clock_degrade {
	uint64_t until_ns;          /* then the following two end */
	uint32_t generation, lanes; /* it runs at these at most; 0 = as it was trained */
	uint32_t replay_ppb;        /* so many of a billion packets are sent again, each as often as it takes */
	uint64_t up_ns;             /* until then it is down: what has to cross it waits */
};

/* The window of a rule opens. Returns 0 or -ENOSPC: SIM_CLOCK_MAX_WINDOWS are open at @now_ns. */
int sim_clock_link_degrade(struct sim_clock_card *card, uint32_t rule, const struct sim_clock_degrade *degrade,
			   uint64_t now_ns);

/* Close the windows of rules of which @rule_exists says that they are not. What waits for the link already waits on. */
void sim_clock_link_restore(struct sim_clock_card *card, bool (*rule_exists)(const void *arg, uint32_t rule),
			    const void *arg);

/* When it is up: 0, or a time that may have passed. */
uint64_t sim_clock_link_up_ns(const struct sim_clock_card *card);

/* What the link is for a job that arrives then. */
struct pcie_link sim_clock_link_at(const struct pcie_link *trained,
				   const struct sim_clock_link_degradation *degradation, uint64_t at_ps);

#endif
