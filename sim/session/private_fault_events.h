/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/session/private_fault_events.h - what rules do by the clock (fault_events.h) on a private card.
 *
 *   rule, while there is no card --> it waits for one
 *   rule, with a card            --> what is due happens before whoever added it goes on
 *                                    what comes later is seen to by a thread, made on first need
 *
 * As the shared state (shared_state.h) they are the process's own and outlive its cards: what was
 * asked for once is not asked for again by the next card, or in a forked child,
 * which has a copy of it all.
 *
 * All of it happens with the lock of current_session.h held, ops included. So these must not
 * look at where the process is, nor wait for someone who does.
 */
#ifndef SIM_PRIVATE_FAULT_EVENTS_H
#define SIM_PRIVATE_FAULT_EVENTS_H

#include "sim/state/fault_events.h"

/* The card is there, @cfg->arg's; what was waiting for it happens. One card at a time has
 * events: with another one nothing happens. Errors as of sim_fault_events_init(). */
int sim_private_fault_events_start(const struct sim_fault_events_cfg *cfg);

/* It goes, if it is @arg's that is there: on return nothing happens to it any more. */
void sim_private_fault_events_stop(const void *arg);

/* In a forked child: let go of the parent's card. */
void sim_private_fault_events_abandon(void);

/* For whoever changes the shared state's plan, with the lock of current_session.h held: when a rule that is
 * added now begins; and that the plan has changed. */
uint64_t sim_private_fault_events_rule_begin_ns(void);
void sim_private_fault_events_plan_changed(void);

#endif
