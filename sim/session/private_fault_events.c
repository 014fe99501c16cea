/* SPDX-License-Identifier: BSD-3-Clause */
/* Injection of timed faults on a private card, and the thread that does it. */
#include "private_fault_events.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "current_session.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"
#include "sim/trace/trace.h"

#define NS_PER_MS UINT64_C(1000000)

/* Protected by the lock of current_session.h. */
static struct {
	struct sim_fault_events events; /* the events of the card; valid while is_open */
	bool is_open;
	uint64_t injected_ns; /* injected_ns of the previous cards: faults up to this time are not injected again */
	pthread_t thread;
	int wake_fd; /* wakes the thread, which then reads the plan again */
	bool runs, stop, warned_no_thread;
} private_card;

static uint64_t now_ms(void)
{
	return sim_trace_now_ns() / NS_PER_MS;
}

/* The timeout for poll() until the next fault is due. */
static int poll_timeout_ms(void)
{
	uint64_t now = now_ms(), deadline = sim_fault_events_deadline_ms(&private_card.events, now);

	if (deadline == UINT64_MAX)
		return -1;
	if (deadline <= now)
		return 0;
	return deadline - now < INT_MAX ? (int)(deadline - now) : INT_MAX;
}

/* Inject the due faults. Returns whether the thread continues; *ret_wait_ms is the time until the next fault. */
static bool run_due_events(int *ret_wait_ms)
{
	struct sim_current_session current;
	bool go_on;

	if (sim_current_session_lock(&current) < 0)
		return false; /* not expected: the shared state existed at the start */
	go_on = !private_card.stop;
	if (go_on)
		sim_fault_events_run(&private_card.events);
	*ret_wait_ms = poll_timeout_ms();
	sim_current_session_unlock();
	return go_on;
}

static void *thread_body(void *arg)
{
	struct pollfd wake = { .fd = *(const int *)arg, .events = POLLIN };
	eventfd_t count;
	int ms;

	while (run_due_events(&ms))
		if (poll(&wake, 1, ms) > 0)
			eventfd_read(wake.fd, &count);
	return NULL;
}

/* Start the thread; needed once a fault is due later. */
static void start_thread(void)
{
	int rc;

	private_card.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = private_card.wake_fd < 0 ?
		     -errno :
		     sim_thread_start(&private_card.thread, "bfsim-events", thread_body, &private_card.wake_fd);
	private_card.runs = rc == 0;
	if (rc == 0)
		return;
	if (private_card.wake_fd >= 0)
		close(private_card.wake_fd);
	if (!private_card.warned_no_thread)
		sim_err("no thread for rules that begin or end later on this private card: they do when the plan is changed next (%s)",
			strerror(-rc));
	private_card.warned_no_thread = true;
}

void sim_private_fault_events_plan_changed(void)
{
	if (!private_card.is_open || private_card.stop)
		return;
	sim_fault_events_run(&private_card.events);
	if (private_card.runs)
		eventfd_write(private_card.wake_fd, 1);
	else if (sim_fault_events_deadline_ns(&private_card.events) != SIM_NEVER_NS)
		start_thread();
}

uint64_t sim_private_fault_events_rule_begin_ns(void)
{
	return private_card.is_open ? sim_fault_events_rule_begin_ns(&private_card.events) :
				      private_card.injected_ns + 1;
}

static void warn_of_slow_link(void *arg, const struct sim_plan_rule *rule)
{
	(void)arg;
	if (sim_rule_slows_links(&rule->rule))
		sim_warn(
			"rule %u (%s) has no effect: this private card's clock is functional, which shows no slower link; set BFSIM_CLOCK to timed or virtual",
			rule->id, rule->text);
}

int sim_private_fault_events_start(const struct sim_fault_events_cfg *cfg)
{
	struct sim_fault_events_cfg private_cfg = *cfg;
	struct sim_current_session current;
	int rc = sim_current_session_lock(&current);

	if (rc < 0)
		return rc;
	if (!private_card.is_open) {
		private_cfg.injected_ns = private_card.injected_ns;
		rc = sim_fault_events_init(&private_card.events, &private_cfg);
		private_card.is_open = rc == 0;
		if (sim_clock_mode(cfg->clock) == SIM_CLOCK_FUNCTIONAL)
			sim_plan_each(&cfg->shared->plan, warn_of_slow_link, NULL);
		sim_private_fault_events_plan_changed();
	}
	sim_current_session_unlock();
	return rc;
}

static void close_fault_events(void)
{
	private_card.injected_ns = private_card.events.injected_ns;
	sim_fault_events_fini(&private_card.events);
	private_card.is_open = private_card.runs = private_card.stop = false;
}

void sim_private_fault_events_stop(const void *arg)
{
	struct sim_current_session current;
	bool is_mine;

	if (!arg || sim_current_session_lock(&current) < 0)
		return;
	is_mine = private_card.is_open && private_card.events.arg == arg;
	private_card.stop |= is_mine;
	sim_current_session_unlock();
	if (!is_mine)
		return;
	if (private_card.runs) {
		eventfd_write(private_card.wake_fd, 1);
		pthread_join(private_card.thread, NULL);
		close(private_card.wake_fd);
	}
	if (sim_current_session_lock(&current) < 0)
		return;
	close_fault_events();
	sim_current_session_unlock();
}

void sim_private_fault_events_abandon(void)
{
	if (!private_card.is_open)
		return;
	if (private_card.runs)
		close(private_card.wake_fd);
	close_fault_events();
}
