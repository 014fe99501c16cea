/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/fault_events.h - what rules have in store for functions and for their cards' links, by the clock.
 *
 *   rule --its time has come--> a function's word (function_status.h), a link's window (sim/clock/link_state.h)
 *                               --> ops: what was open on it ends, who sleeps is woken to see it
 *
 * Whoever owns a card's state has one: the daemon of a session, or a process with a
 * private card. It asks the plan (sim/faults/inject/injector.h, "Events") for all functions
 * whenever a rule begins, and sees when a link's rule is taken out. The owner calls
 * sim_fault_events_run() when something may have changed, and when sim_fault_events_deadline_ns() says.
 *
 * Not thread-safe. Times are session time.
 */
#ifndef SIM_FAULT_EVENTS_H
#define SIM_FAULT_EVENTS_H

#include "shared_state.h"
#include "sim/faults/inject/injector.h"

/* What events do to the rest of the owner's state; every slot is filled. */
struct sim_fault_events_ops {
	/* What is open on a function ends: exports and imports by way of it, connections through it or its representor. */
	void (*revoke_function)(void *arg, uint32_t function);
	/* Connections through its representor end. */
	void (*disconnect_rep)(void *arg, uint32_t function);
	/* Who sleeps is to look at the functions. */
	void (*notify_functions_changed)(void *arg);
	/* Something begins: ask for whatever else there are rules for, behind functions, as they are asked for. */
	void (*inject_others)(void *arg, uint64_t since_ns);
};

struct sim_fault_events {
	struct sim_shared_state *shared;
	const struct pcie_topology *topology;
	const struct sim_clock *clock;
	const struct sim_fault_events_ops *ops;
	void *arg;
	struct sim_injector *faults;
	uint64_t injected_ns;  /* what begins up to then was asked for, for all that are there */
	uint64_t last_rule_ns; /* the last rule was added then: session time may stand still */
	uint64_t next_ns;      /* the next rule begins then ... */
	uint64_t generation;   /* ... as of this one of the plan */
	uint64_t link_up_ns;   /* the first of the links that are down is up again then */
};

struct sim_fault_events_cfg {
	struct sim_shared_state *shared; /* all four are borrowed */
	const struct pcie_topology *topology;
	const struct sim_clock *clock;
	const struct sim_fault_events_ops *ops;
	void *arg;
	uint64_t injected_ns; /* of another one before on this shared state; 0 = there was none */
};

/* Nothing is asked before the first sim_fault_events_run(). Returns 0 or -errno; then it may be finished, too. */
int sim_fault_events_init(struct sim_fault_events *events, const struct sim_fault_events_cfg *cfg);
void sim_fault_events_fini(struct sim_fault_events *events);

/* Do what is due. */
void sim_fault_events_run(struct sim_fault_events *events);

/* For the plan: when a rule that is added now begins. */
uint64_t sim_fault_events_rule_begin_ns(struct sim_fault_events *events);

/* When something is due next; SIM_NEVER_NS = nothing is. */
uint64_t sim_fault_events_deadline_ns(const struct sim_fault_events *events);

/* The same by CLOCK_MONOTONIC in milliseconds; UINT64_MAX = never. Virtual time has no alarm that
 * could be set: while something is due in it, it is looked at every millisecond. */
uint64_t sim_fault_events_deadline_ms(const struct sim_fault_events *events, uint64_t now_ms);

/* function_faults.c, for fault_events.c: ask for all functions; and take notice of links that are up by now. */
void sim_fault_events_inject_functions(struct sim_fault_events *events, uint64_t since_ns);
void sim_fault_events_update_links(struct sim_fault_events *events);
/* ... close the windows of rules that were taken out. */
void sim_fault_events_close_removed_windows(struct sim_fault_events *events);

#endif
