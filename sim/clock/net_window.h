/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/clock/net_window.h - what rules do to network links, and when.
 *
 *   rule is added --> [window: from when on, until when] --it is over, or the rule is removed--> closed
 *
 * Links are those of functions, and trunks, which join two switches; they have the ids of the topology. Of each, windows are
 * outages (net_outage.h), or make the link slow (net_slow.h). A window is written when its begin is known, which may be in the
 * future: all processes see it at the same session time, however busy its writer is.
 *
 * One process of the session writes the windows (sim/state/net_faults.c), one thread at a time, in the shared page. Times are
 * session time. The page is untrusted: corrupt contents give faults that no rule asks for.
 */
#ifndef SIM_NET_WINDOW_H
#define SIM_NET_WINDOW_H

#include <stdbool.h>

#include "clock_page.h"

#define SIM_CLOCK_MAX_NET_LINKS SIM_CLOCK_MAX_FUNCTIONS

/* A window to be opened. */
struct sim_clock_net_change {
	uint32_t rule;
	uint32_t rate; /* as in struct sim_clock_net_window */
	uint64_t begin_ns, end_ns, delay_ns;
};

/* Open a window, unless the rule has one already. @now_ns: what is over makes room. Returns 0, or -ENOSPC: there are
 * SIM_CLOCK_MAX_WINDOWS. */
int sim_clock_net_window_open(struct sim_clock_net_windows *windows, const struct sim_clock_net_change *change,
			      uint64_t now_ns);

/* The windows in use. */
uint32_t sim_clock_net_num_windows(const struct sim_clock_net_windows *windows);

/* Close the windows of rules that no longer exist, of all links. */
void sim_clock_net_restore(struct sim_clock_net *net, uint32_t num_links,
			   bool (*rule_exists)(const void *arg, uint32_t rule), const void *arg);

#endif
