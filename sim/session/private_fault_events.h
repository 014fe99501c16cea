/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/private_fault_events.h - faults that rules inject at given times (fault_events.h), on a private card.
 *
 *   rule added without a card --> the rule waits for a card
 *   rule added with a card    --> due faults are injected before the call that adds the rule returns;
 *                                 a thread injects later ones; the first such rule starts the thread
 *
 * These events, like the shared state (shared_state.h), belong to the process and outlive its cards. A fault that was
 * injected once is not injected again on the next card, nor in a forked child, which has a copy of the state.
 *
 * All faults are injected with the lock of current_session.h held, and the ops run under that lock. So the ops must
 * not take that lock, nor wait for a thread that takes it.
 */
#ifndef SIM_PRIVATE_FAULT_EVENTS_H
#define SIM_PRIVATE_FAULT_EVENTS_H

#include "sim/state/fault_events.h"

/* Start the events of the card of @cfg->arg, and inject the faults that waited for a card. Only one card at a time has
 * events: a call for a second card does nothing. Errors as of sim_fault_events_init(). */
int sim_private_fault_events_start(const struct sim_fault_events_cfg *cfg);

/* Stop the events if they are those of @arg's card. After the return no fault is injected into that card. */
void sim_private_fault_events_stop(const void *arg);

/* In a forked child: drop the events of the parent's card. */
void sim_private_fault_events_abandon(void);

/* For the functions that change the plan of the shared state, with the lock of current_session.h held: the first
 * returns the begin of a rule that is added now; the second handles a changed plan. */
uint64_t sim_private_fault_events_rule_begin_ns(void);
void sim_private_fault_events_plan_changed(void);

#endif
