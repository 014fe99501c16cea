/* SPDX-License-Identifier: BSD-3-Clause */
/* Stall detection: one look at the busy participant at a time. */
#include "stall_watch.h"

#include <stdlib.h>

#include <string.h>

#include "pcie_model/quantity.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define DEFAULT_PATIENCE_NS \
	SIM_NS_PER_S /* on a busy machine a process that is about to call gets the CPU within a tenth */
#define MAX_PATIENCE_NS  (3600 * SIM_NS_PER_S)
#define SLEEPING_PART    50 /* of the patience with a thread that runs */
#define MIN_STALL_CHECKS 5
#define IDLE_PART        4 /* a thread sleeps if it neither ran nor was ready to for one part of so many of the time */

void sim_stall_patience_init(struct sim_stall_patience *patience)
{
	static const struct pcie_unit units[] = { { "ms", SIM_NS_PER_MS }, { "s", SIM_NS_PER_S }, { NULL, 0 } };
	static const struct pcie_quantity_syntax syntax = { .units = units };
	const char *text = getenv("BFSIM_CLOCK_PATIENCE");
	uint64_t ns = DEFAULT_PATIENCE_NS;

	if (text && (pcie_quantity_parse(text, strlen(text), &syntax, MAX_PATIENCE_NS, &ns) < 0 || ns == 0)) {
		sim_err("BFSIM_CLOCK_PATIENCE=%s: give a duration, such as 500ms or 10s; it is 1s now", text);
		ns = DEFAULT_PATIENCE_NS;
	}
	*patience = (struct sim_stall_patience){ .running_ns = ns, .sleeping_ns = ns / SLEEPING_PART };
}

static struct sim_stall_watch look_at(const struct sim_clock_participant *busy)
{
	return (struct sim_stall_watch){
		.shared = busy,
		.heartbeats = atomic_load_explicit(&busy->heartbeats, memory_order_relaxed),
		.in_call = atomic_load_explicit(&busy->in_call, memory_order_relaxed),
		.owner = atomic_load_explicit(&busy->owner, memory_order_relaxed),
		.since_ns = sim_monotonic_ns(),
	};
}

static void read_account(const struct sim_clock_participant *busy, const struct sim_participant *self,
			 struct sim_stall_watch *seen)
{
	if (atomic_load_explicit(&busy->pid_namespace, memory_order_relaxed) ==
	    atomic_load_explicit(&self->shared->pid_namespace, memory_order_relaxed))
		sim_thread_account_read((uint32_t)(seen->owner >> 32),
					atomic_load_explicit(&busy->thread_id, memory_order_relaxed), &seen->account);
}

static bool is_same(const struct sim_stall_watch *before, const struct sim_stall_watch *now)
{
	return before->shared == now->shared && before->heartbeats == now->heartbeats && before->owner == now->owner &&
	       before->in_call == now->in_call;
}

/* Why the participant has stalled, or NONE. */
static enum sim_stall judge(const struct sim_stall_watch *before, const struct sim_stall_watch *now,
			    const struct sim_stall_patience *patience)
{
	uint64_t ns = now->since_ns - before->since_ns;

	if (now->account.state == SIM_THREAD_ENDED)
		return SIM_STALL_ENDED;
	if (before->checks < MIN_STALL_CHECKS)
		return SIM_STALL_NONE;
	if (ns > patience->running_ns)
		return SIM_STALL_RUNS;
	if (ns <= patience->sleeping_ns || now->in_call > 0)
		return SIM_STALL_NONE;
	if (now->account.state == SIM_THREAD_STOPPED && before->account.state == SIM_THREAD_STOPPED)
		return SIM_STALL_STOPPED;
	if (now->account.state == SIM_THREAD_SLEEPS && before->account.state != SIM_THREAD_UNKNOWN &&
	    now->account.active_ns - before->account.active_ns < ns - ns / IDLE_PART)
		return SIM_STALL_SLEEPS;
	return SIM_STALL_NONE;
}

bool sim_stall_watch_check(struct sim_stall_watch *watch, const struct sim_participant *self,
			   const struct sim_stall_patience *patience, struct sim_stalled *ret_stalled)
{
	const struct sim_clock_participant *busy = sim_clock_page_find_busy(self->page);
	struct sim_stall_watch seen;
	enum sim_stall reason;

	*ret_stalled = (struct sim_stalled){ .reason = SIM_STALL_NONE };
	if (!busy || busy == self->shared) {
		watch->shared = NULL;
		return false;
	}
	seen = look_at(busy);
	if (!is_same(watch, &seen)) {
		*watch = seen;
		return true;
	}
	read_account(busy, self, &seen);
	if (watch->checks++ == 0) {
		watch->since_ns = seen.since_ns;
		watch->account = seen.account;
	}
	reason = judge(watch, &seen, patience);
	if (reason != SIM_STALL_NONE && sim_clock_page_detach_busy(self->page, busy, watch->owner))
		*ret_stalled = (struct sim_stalled){ .reason = reason,
						     .owner = watch->owner,
						     .for_ns = seen.since_ns - watch->since_ns };
	return true;
}
