/* SPDX-License-Identifier: BSD-3-Clause */
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

/* Under the lock of here.h. */
static struct {
	struct sim_events events; /* of a card, if there is one */
	bool is_open;
	uint64_t asked_ns;        /* of the cards before */
	pthread_t thread;
	int wake_fd;              /* the thread's: look again */
	bool runs, stop, told;
} own;

static uint64_t now_ms(void)
{
	return sim_trace_now_ns() / NS_PER_MS;
}

/* For poll(): until something is due. */
static int wait_ms(void)
{
	uint64_t now = now_ms(), deadline = sim_events_deadline_ms(&own.events, now);

	if (deadline == UINT64_MAX)
		return -1;
	if (deadline <= now)
		return 0;
	return deadline - now < INT_MAX ? (int)(deadline - now) : INT_MAX;
}

/* Do what is due. Whether to go on, and how long there is nothing to do. */
static bool look(int *ret_wait_ms)
{
	struct sim_here here;
	bool go_on;

	if (sim_here_lock(&here) < 0)
		return false; /* there is no board: there was one when we began */
	go_on = !own.stop;
	if (go_on)
		sim_events_take(&own.events);
	*ret_wait_ms = wait_ms();
	sim_here_unlock();
	return go_on;
}

static void *thread_body(void *arg)
{
	struct pollfd wake = {.fd = *(const int *)arg, .events = POLLIN};
	eventfd_t count;
	int ms;

	while (look(&ms))
		if (poll(&wake, 1, ms) > 0)
			eventfd_read(wake.fd, &count);
	return NULL;
}

/* Needed once something comes later. */
static void start_thread(void)
{
	int rc;

	own.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = own.wake_fd < 0 ? -errno : sim_thread_start(&own.thread, "bfsim-events", thread_body, &own.wake_fd);
	own.runs = rc == 0;
	if (rc == 0)
		return;
	if (own.wake_fd >= 0)
		close(own.wake_fd);
	if (!own.told)
		sim_err("no thread for rules that begin or end later on this private card: they do when the plan is changed next (%s)",
			strerror(-rc));
	own.told = true;
}

void sim_own_events_changed(void)
{
	if (!own.is_open || own.stop)
		return;
	sim_events_take(&own.events);
	if (own.runs)
		eventfd_write(own.wake_fd, 1);
	else if (sim_events_deadline_ns(&own.events) != SIM_NEVER_NS)
		start_thread();
}

uint64_t sim_own_events_begin_ns(void)
{
	return own.is_open ? sim_events_begin_ns(&own.events) : own.asked_ns + 1;
}

int sim_own_events_begin(const struct sim_events_cfg *cfg)
{
	struct sim_events_cfg own_cfg = *cfg;
	struct sim_here here;
	int rc = sim_here_lock(&here);

	if (rc < 0)
		return rc;
	if (!own.is_open) {
		own_cfg.asked_ns = own.asked_ns;
		rc = sim_events_init(&own.events, &own_cfg);
		own.is_open = rc == 0;
		sim_own_events_changed();
	}
	sim_here_unlock();
	return rc;
}

static void close_card(void)
{
	own.asked_ns = own.events.asked_ns;
	sim_events_fini(&own.events);
	own.is_open = own.runs = own.stop = false;
}

void sim_own_events_end(const void *arg)
{
	struct sim_here here;
	bool is_mine;

	if (!arg || sim_here_lock(&here) < 0)
		return;
	is_mine = own.is_open && own.events.arg == arg;
	own.stop |= is_mine;
	sim_here_unlock();
	if (!is_mine)
		return;
	if (own.runs) {
		eventfd_write(own.wake_fd, 1);
		pthread_join(own.thread, NULL);
		close(own.wake_fd);
	}
	if (sim_here_lock(&here) < 0)
		return;
	close_card();
	sim_here_unlock();
}

void sim_own_events_abandon(void)
{
	if (!own.is_open)
		return;
	if (own.runs)
		close(own.wake_fd);
	close_card();
}
