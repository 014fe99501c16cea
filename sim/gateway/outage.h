/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/outage.h - a fault: the link between two machines is down for a time.
 *
 *   [up] --outage_begin(), or OUTAGE from the other machine--> [down: what is sent waits] --its time--> [up: that leaves]
 *                                                                   |
 *                                        after eight seconds        '--> [lost] --its time--> [up], and joined again
 *
 * It begins OUTAGE_NOTICE_NS after its rule has hit, so that the answer to the command that has added the rule gets through.
 *
 * Both ends hold back what they send, so that nothing passes in either direction, as on a cable that is out for a moment. After
 * LINK_TIMEOUT_NS the machines have lost each other, and what was held back is dropped. What home passes on between other machines
 * waits for the links on its way.
 */
#ifndef SIM_GATEWAY_OUTAGE_H
#define SIM_GATEWAY_OUTAGE_H

#include "gateway.h"

#define OUTAGE_NOTICE_NS 100000000u

/* A rule has hit: tell the other machine, and begin. @breaks: connections break at once. */
void outage_begin(struct gateway *gateway, uint32_t machine, uint64_t ns, bool breaks);

/* The machine has joined, perhaps again: for how long it is told of an outage by a rule of this one that goes on; 0 = not. */
uint64_t outage_left_ns(const struct gateway *gateway, uint32_t machine);

void outage_on_frame(struct gateway *gateway, const struct gateway_frame *frame);

/* Hold back a frame that is about to leave by the link to @hop. Returns whether that took it. */
bool outage_takes(struct gateway *gateway, uint32_t hop, const struct gateway_frame *frame);

/* Drop what is held back for the machine. */
void outage_drop(struct gateway *gateway, uint32_t machine);

/* Whether the machine is lost by an outage that goes on; whether one keeps this machine from home. */
bool outage_is_lost(const struct gateway *gateway, uint32_t machine);
bool outage_blocks_home(const struct gateway *gateway);

/* End outages, and lose machines, when it is time. Returns when that is to be called again. */
uint64_t outage_tick(struct gateway *gateway, uint64_t now_ns);

#endif
