/* SPDX-License-Identifier: BSD-3-Clause */
/* Stall detection: one look at the busy participant at a time. */
#include "stall_watch.h"

#include <stdlib.h>
#include <string.h>

#include "participant_priv.h"
#include "pcie_model/arith.h"
#include "pcie_model/quantity.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"

#define DEFAULT_PATIENCE_NS \
	SIM_NS_PER_S /* on a busy machine a process that is about to call gets the CPU within a tenth */
#define MAX_PATIENCE_NS  (3600 * SIM_NS_PER_S)
#define SLEEPING_PART    50 /* of the patience with a thread that runs */
#define MIN_STALL_CHECKS 5
#define MAX_INTERVALS    32 /* between two checks of a participant that is not the one to check */
#define IDLE_PART        4  /* a thread sleeps if it neither ran nor was ready to for one part of so many of the time */

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
	*patience = (struct sim_stall_patience){ .running_ns = ns,
						 .sleeping_ns = ns / SLEEPING_PART,
						 .num_cpus = sim_thread_num_cpus() };
}

static struct sim_stall_watch look_at(const struct sim_participant *self)
{
	const struct sim_clock_participant *shared = sim_clock_page_find_busy(self->page);
	bool holds = false;

	if (!shared) {
		shared = sim_clock_page_find_holder(self->page);
		holds = shared != NULL;
	}
	if (!shared || (shared == self->shared && !holds))
		return (struct sim_stall_watch){ .shared = NULL };
	return (struct sim_stall_watch){
		.shared = shared,
		.holds = holds,
		.heartbeats = atomic_load_explicit(&shared->heartbeats, memory_order_relaxed),
		.in_call = atomic_load_explicit(&shared->in_call, memory_order_relaxed),
		.owner = atomic_load_explicit(&shared->owner, memory_order_relaxed),
		.now_ns = atomic_load_explicit(&self->page->now_ns, memory_order_relaxed),
		.since_ns = sim_monotonic_ns(),
	};
}

/* A process that was started and has not attached has no thread yet. */
static bool has_account(const struct sim_stall_watch *seen, const struct sim_participant *self)
{
	return atomic_load_explicit(&seen->shared->thread_id, memory_order_acquire) != 0 &&
	       atomic_load_explicit(&seen->shared->pid_namespace, memory_order_relaxed) ==
		       atomic_load_explicit(&self->shared->pid_namespace, memory_order_relaxed);
}

static void read_account(const struct sim_participant *self, struct sim_stall_watch *seen)
{
	uint32_t thread_id = atomic_load_explicit(&seen->shared->thread_id, memory_order_relaxed);

	if (has_account(seen, self))
		sim_thread_account_read(seen->holds ? thread_id : (uint32_t)(seen->owner >> 32), thread_id,
					&seen->account);
}

/* What @before began to watch goes on. A participant that holds time may call meanwhile. */
static bool is_same(const struct sim_stall_watch *before, const struct sim_stall_watch *now)
{
	if (before->shared != now->shared || before->owner != now->owner || before->holds != now->holds)
		return false;
	return now->holds ? before->now_ns == now->now_ns :
			    before->heartbeats == now->heartbeats && before->in_call == now->in_call;
}

static bool is_asleep(const struct sim_stall_watch *before, const struct sim_stall_watch *now)
{
	uint64_t ns = now->since_ns - before->calm_ns;

	return now->account.state == SIM_THREAD_SLEEPS && now->in_call == 0 &&
	       before->account.state != SIM_THREAD_UNKNOWN &&
	       now->account.active_ns - before->account.active_ns <= ns - ns / IDLE_PART;
}

/* While a thread waits for a CPU, the kernel's account of its waits stands still: what it has not run since the last check, it waited. */
static void count_ready(struct sim_stall_watch *watch, const struct sim_stall_watch *now)
{
	if (watch->checks > 0 && watch->last.is_ready && now->account.is_ready) {
		watch->ready_ns += now->since_ns - watch->last_ns;
		watch->ran_ns += now->account.ran_ns - watch->last.ran_ns; /* in steps of a tick */
	}
	watch->last = now->account;
	watch->last_ns = now->since_ns;
}

/* For how long the participant could have called. */
static uint64_t waited_ns(const struct sim_stall_watch *before, const struct sim_stall_watch *now,
			  const struct sim_stall_patience *patience)
{
	uint64_t no_cpu_ns = before->ready_ns - min_u64(before->ran_ns, before->ready_ns);

	return now->since_ns - before->since_ns -
	       min_u64(no_cpu_ns, sim_stall_longest_ns(patience) - patience->running_ns);
}

static enum sim_stall judge_late(const struct sim_stall_watch *before, const struct sim_stall_watch *now)
{
	if (now->holds)
		return SIM_STALL_HOLDS;
	return is_asleep(before, now) ? SIM_STALL_SLEEPS : SIM_STALL_RUNS;
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
	if (waited_ns(before, now, patience) > patience->running_ns)
		return judge_late(before, now);
	if (ns <= patience->sleeping_ns || now->in_call > 0 || before->heartbeats != now->heartbeats)
		return SIM_STALL_NONE;
	if (now->account.state == SIM_THREAD_STOPPED && before->account.state == SIM_THREAD_STOPPED)
		return SIM_STALL_STOPPED;
	if (now->since_ns - before->calm_ns <= patience->sleeping_ns)
		return SIM_STALL_NONE;
	return is_asleep(before, now) ? SIM_STALL_SLEEPS : SIM_STALL_NONE;
}

static bool give_up(struct sim_clock_page *page, const struct sim_stall_watch *watch)
{
	if (!watch->holds)
		return sim_clock_page_detach_busy(page, watch->shared, watch->owner);
	sim_clock_page_end_hold(page, watch->shared, watch->owner);
	return true;
}

/* The participant that made this one busy wakes it after that. On a busy machine that can take long, and then this one
 * sleeps for no reason of its own. Returns whether it was woken now, which the next check will see. */
static bool wake_in_time(struct sim_stall_watch *watch, const struct sim_stall_watch *now,
			 const struct sim_stall_patience *patience)
{
	if (watch->is_woken || now->holds || now->account.state != SIM_THREAD_SLEEPS ||
	    now->since_ns - watch->since_ns < patience->sleeping_ns / 4)
		return false;
	watch->is_woken = true;
	sim_clock_page_wake(now->shared);
	return true;
}

static int find_system_call(const struct sim_stall_watch *seen)
{
	return seen->account.state == SIM_THREAD_SLEEPS && !seen->holds ?
		       sim_thread_read_system_call(
			       (uint32_t)(seen->owner >> 32),
			       atomic_load_explicit(&seen->shared->thread_id, memory_order_relaxed)) :
		       -1;
}

bool sim_stall_watch_check(struct sim_stall_watch *watch, const struct sim_participant *self,
			   const struct sim_stall_patience *patience, struct sim_stalled *ret_stalled)
{
	struct sim_stall_watch seen = look_at(self);
	enum sim_stall reason;

	*ret_stalled = (struct sim_stalled){ .reason = SIM_STALL_NONE };
	if (!seen.shared || !is_same(watch, &seen)) {
		*watch = seen;
		return seen.shared != NULL;
	}
	read_account(self, &seen);
	count_ready(watch, &seen);
	if (watch->checks == 0)
		watch->since_ns = seen.since_ns;
	if (watch->checks++ == 0 || sim_thread_count_ready() > patience->num_cpus) {
		watch->calm_ns = seen.since_ns;
		watch->account = seen.account;
	}
	if (wake_in_time(watch, &seen, patience))
		return true;
	reason = judge(watch, &seen, patience);
	if (reason != SIM_STALL_NONE && give_up(self->page, watch))
		*ret_stalled = (struct sim_stalled){ .reason = reason,
						     .owner = watch->owner,
						     .for_ns = seen.since_ns - watch->since_ns,
						     .system_call = find_system_call(&seen) };
	return true;
}

uint64_t sim_stall_check_interval_ns(const struct sim_participant *self, uint64_t ns)
{
	struct sim_clock_page *page = self->page;
	uint32_t number = sim_clock_page_number_of(page, self->shared);
	uint64_t now_ns = sim_monotonic_ns();

	if (atomic_load_explicit(&page->stall_checker, memory_order_relaxed) != number &&
	    atomic_load_explicit(&page->stall_checker_ns, memory_order_relaxed) > now_ns)
		return ns * min_u32(atomic_load_explicit(&page->end, memory_order_relaxed), MAX_INTERVALS);
	atomic_store_explicit(&page->stall_checker, number, memory_order_relaxed);
	atomic_store_explicit(&page->stall_checker_ns, now_ns + 2 * ns, memory_order_relaxed);
	return ns;
}
