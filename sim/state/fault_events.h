/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/fault_events.h - timed rules for functions, for the links of their cards, and for their network links.
 *
 *   rule --begins--> status word of a function (function_status.h), window of a link (sim/clock/link_state.h)
 *                    --> ops: close the objects that use the function, wake waiting threads
 *   rule --is added--> outage of a network link (sim/clock/net_outage.h), from its begin on
 *
 * Each owner of a card has one instance: the daemon of a session, or a process with a private card.
 * The instance evaluates the plan (sim/faults/inject/injector.h, "Events") for all functions whenever
 * a rule begins, and ends the window of a link when its rule is removed. The owner calls
 * sim_fault_events_run() after each change of the plan and at sim_fault_events_deadline_ns().
 *
 * Not thread-safe. Times are session time.
 */
#ifndef SIM_FAULT_EVENTS_H
#define SIM_FAULT_EVENTS_H

#include "shared_state.h"
#include "sim/faults/inject/injector.h"

/* The effects of events on the owner's other state; every slot is filled. */
struct sim_fault_events_ops {
	/* End exports and imports on a function, and connections through it or its representor. */
	void (*revoke_function)(void *arg, uint32_t function);
	/* End connections through the function's representor. */
	void (*disconnect_rep)(void *arg, uint32_t function);
	/* Wake sleeping threads, so that they check the status words. */
	void (*notify_functions_changed)(void *arg);
	/* A rule begins: evaluate the rules for sites other than functions, after those for functions. */
	void (*inject_others)(void *arg, uint64_t since_ns);
};

struct sim_fault_events {
	struct sim_shared_state *shared;
	const struct pcie_topology *topology;
	const struct sim_clock *clock;
	const struct sim_fault_events_ops *ops;
	void *arg;
	struct sim_injector *faults;
	uint64_t injected_ns;  /* rules that begin up to this time were evaluated for all functions */
	uint64_t last_rule_ns; /* begin of the last rule that was added; session time may stand still */
	uint64_t next_ns;      /* begin of the next rule ... */
	uint64_t generation;   /* ... as of this generation of the plan */
	uint64_t link_up_ns;   /* time at which the first of the failed links is up again */
};

struct sim_fault_events_cfg {
	struct sim_shared_state *shared; /* all four are borrowed */
	const struct pcie_topology *topology;
	const struct sim_clock *clock;
	const struct sim_fault_events_ops *ops;
	void *arg;
	uint64_t injected_ns; /* of an earlier instance on this shared state; 0 = none */
};

/* Prepare an instance; the first sim_fault_events_run() evaluates rules. Returns 0 or -errno.
 * sim_fault_events_fini() also accepts an instance whose init failed. */
int sim_fault_events_init(struct sim_fault_events *events, const struct sim_fault_events_cfg *cfg);
void sim_fault_events_fini(struct sim_fault_events *events);

/* Apply the events that are due. */
void sim_fault_events_run(struct sim_fault_events *events);

/* Returns the time at which a rule that is added now begins, for sim_plan_add(). */
uint64_t sim_fault_events_rule_begin_ns(struct sim_fault_events *events);

/* Returns the time of the next event; SIM_NEVER_NS = none. */
uint64_t sim_fault_events_deadline_ns(const struct sim_fault_events *events);

/* Returns the same deadline on CLOCK_MONOTONIC in milliseconds; UINT64_MAX = none. Virtual time has no
 * timer: while an event is pending, the deadline is one poll interval (1 ms) after @now_ms. */
uint64_t sim_fault_events_deadline_ms(const struct sim_fault_events *events, uint64_t now_ms);

/* net_faults.c: write the outages of network links whose begin is known, after a rule was added. sim_fault_events_run() does, too. */
void sim_fault_events_announce_net_links(struct sim_fault_events *events);

/* function_faults.c, for fault_events.c: evaluate the rules for all functions; clear SIM_FUNCTION_LINK_DOWN of
 * links that are up again. */
void sim_fault_events_inject_functions(struct sim_fault_events *events, uint64_t since_ns);
void sim_fault_events_update_links(struct sim_fault_events *events);
/* ... and close the windows of removed rules. */
void sim_fault_events_close_removed_windows(struct sim_fault_events *events);

/* net_faults.c: a rule for network links, with the delay that was drawn, begins at @link, an id of the topology; rules that begin
 * at @begin_ns do at trunks; close the windows of removed rules. */
void sim_fault_events_change_net_link(struct sim_fault_events *events, uint32_t link, uint32_t id,
				      const struct sim_rule *rule, uint64_t delay_ns);
void sim_fault_events_inject_trunks(struct sim_fault_events *events, uint64_t begin_ns);
void sim_fault_events_restore_net_links(struct sim_fault_events *events,
					bool (*rule_exists)(const void *arg, uint32_t rule));

#endif
