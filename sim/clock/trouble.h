/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/trouble.h - a card's link to the host when it is down, slower than it was trained, or repeats packets.
 *
 * One process of the session writes it (faults, sim/session/daemon_functions.c), in
 * the page that all share; the model's times follow. Two of a kind that overlap make
 * one, the worse of both, until the later end: so that it may be said for each of a card's
 * functions. Times are session time in nanoseconds. Nothing in the page is trusted: a link that can't be
 * is the one that was trained.
 */
#ifndef SIM_CLOCK_TROUBLE_H
#define SIM_CLOCK_TROUBLE_H

#include "page.h"

/* It is down: what has to cross it waits. */
void sim_clock_link_down(struct sim_clock_card *card, uint64_t until_ns);

/* It runs at that generation and width at most. */
void sim_clock_link_degrade(struct sim_clock_card *card, uint32_t generation, uint32_t lanes, uint64_t now_ns,
			    uint64_t until_ns);

/* So many of a billion packets are sent again, each as often as it takes. */
void sim_clock_link_repeat(struct sim_clock_card *card, uint32_t repeat_ppb, uint64_t now_ns, uint64_t until_ns);

/* When it is up: 0, or a time that may have passed. */
static inline uint64_t sim_clock_link_up_ns(const struct sim_clock_card *card)
{
	return atomic_load_explicit(&card->trouble.down_until_ns, memory_order_relaxed);
}

/* What the link is for a job that arrives then. */
struct pcie_link sim_clock_link_at(const struct pcie_link *trained, const struct sim_clock_trouble *trouble,
				   uint64_t at_ps);

#endif
