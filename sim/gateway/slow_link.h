/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/slow_link.h - a fault: the link between two machines is slow.
 *
 *   frame --its bytes at the rate, behind those before--> --the delay--> leaves, in its order
 *
 * A rule is told to both ends, and each slows what it sends. Of several rules the longest delay and the lowest rate count. What has
 * waited is the rail's to carry: the real network's time comes on top. Heartbeats do not wait, so that no machine is lost for it.
 */
#ifndef SIM_GATEWAY_SLOW_LINK_H
#define SIM_GATEWAY_SLOW_LINK_H

#include "gateway.h"
#include "sim/faults/plan/plan.h"

#define SLOW_LINK_MAX_RULES  (2 * SIM_PLAN_MAX_RULES) /* all of both ends */
#define SLOW_LINK_FULL_BYTES (4u << 20)  /* that wait: messages of programs wait in their rings until there are less */
#define SLOW_LINK_MAX_BYTES  (64u << 20) /* more end the link, as its queue does */

struct slow_rule {
	uint32_t rule;           /* its id at the machine that has it */
	uint64_t delay_ns, rate; /* bytes in a second, 0 = no limit; both 0: the rule ends */
	uint64_t lasts_ns;       /* UINT64_MAX = until it is taken out */
};

/* A rule of this machine has hit the link to @machine, or, for LINK_NO_MACHINE, has ended. Tells the other ends. */
void slow_link_begin(struct gateway *gateway, uint32_t machine, const struct slow_rule *rule);

/* A frame SLOW_LINK: the other machine has such a rule. */
void slow_link_on_frame(struct gateway *gateway, const struct gateway_frame *frame);

/* A frame is about to leave by @link. Returns whether it waits. */
bool slow_link_takes(struct gateway *gateway, struct link *link, const struct gateway_frame *frame);

/* Whether so much waits that messages of programs are not to be taken. */
bool slow_link_is_full(const struct gateway *gateway, uint32_t machine);

/* The machine has joined, perhaps again: it is told the rules of this one for the link between the two. */
void slow_link_tell(struct gateway *gateway, uint32_t machine);

/* What waits for the machine goes. */
void slow_link_drop(struct gateway *gateway, uint32_t machine);

/* The machine is lost: it tells its rules when it joins again. */
void slow_link_forget(struct gateway *gateway, uint32_t machine);

/* Send what is due. Returns when that is to be called again. */
uint64_t slow_link_tick(struct gateway *gateway, uint64_t now_ns);

#endif
