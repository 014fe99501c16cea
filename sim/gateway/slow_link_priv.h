/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/slow_link_priv.h - a slow link, for slow_link.c and slow_link_run.c. */
#ifndef SIM_GATEWAY_SLOW_LINK_PRIV_H
#define SIM_GATEWAY_SLOW_LINK_PRIV_H

#include "slow_link.h"

struct late {
	STAILQ_ENTRY(late) entry;
	uint64_t due_ns;
	struct gateway_frame frame;
	uint8_t body[];
};

struct slow_window {
	uint32_t machine; /* that has the rule */
	struct slow_rule rule;
	uint64_t end_ns;
};

struct slow_link {
	struct slow_window *windows;
	uint32_t num_windows, max_windows;
	uint64_t delay_ns, rate; /* of all of them */
	uint64_t free_ns, last_due_ns;
	size_t num_waiting; /* bytes */
	STAILQ_HEAD(, late) waiting;
};

/* The link to a machine, which is slow from now on; NULL without memory. */
struct slow_link *slow_link_of(struct gateway *gateway, uint32_t machine);

/* A rule of @machine begins, changes or ends. */
void slow_link_set_rule(struct slow_link *slow, uint32_t machine, const struct slow_rule *rule);
void slow_link_remove_window(struct slow_link *slow, uint32_t number);

/* Take the first of those that wait; the caller frees it. */
struct late *slow_link_take_first(struct slow_link *slow);

#endif
