/* SPDX-License-Identifier: BSD-3-Clause */
/* The watchdog's thread. */
#include "watchdog.h"

#include <errno.h>
#include <pthread.h>

#include "pe_rules.h"
#include "shim/check/base/sampling.h"
#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"

#define TICKS_PER_TIMEOUT 8
#define MAX_TICK_NS       (10 * SIM_NS_PER_MS)
#define MIN_TICK_NS       (5 * SIM_NS_PER_MS)
#define QUIET_TICKS       4

_Atomic bool check_watchdog_is_awake;

static struct {
	pthread_mutex_t lock; /* held during an inspection */
	pthread_cond_t kicked;
	bool has_thread, has_ended;
	uint64_t last_tick_ns;
} watchdog = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void init_condition(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&watchdog.kicked, &attr);
	pthread_condattr_destroy(&attr);
}

static uint64_t tick_interval_ns(void)
{
	uint64_t ns = check_stall_timeout_ns() / TICKS_PER_TIMEOUT;

	if (ns > MAX_TICK_NS)
		return MAX_TICK_NS;
	return ns < MIN_TICK_NS ? MIN_TICK_NS : ns;
}

struct inspection {
	uint64_t ns;
	bool found;
};

static void inspect(struct check_pe *engine, void *arg)
{
	struct inspection *inspection = arg;

	if (engine->watch.incarnation != engine->incarnation)
		engine->watch = (struct check_pe_watch){ .incarnation = engine->incarnation };
	check_stop_inspect(engine, inspection->ns);
	inspection->found |= check_progress_inspect(engine, inspection->ns);
}

/* Inspect all engines. A tick that is late shows a machine that is busy, or a process that was stopped: that time does not count,
 * as the program may have been held up as well. Returns whether something waits. */
static bool inspect_all(void)
{
	uint64_t now = sim_monotonic_ns(), passed = now - watchdog.last_tick_ns;
	struct inspection inspection = { .ns = passed <= tick_interval_ns() + check_stall_timeout_ns() / 4 ? passed :
													     0 };

	watchdog.last_tick_ns = now;
	check_sampling_resume();
	check_pes_each(inspect, &inspection);
	return inspection.found;
}

/* Wait until the next tick. */
static void wait_interval(void)
{
	struct timespec at = sim_timespec_from_ns(sim_monotonic_ns() + tick_interval_ns());

	while (!watchdog.has_ended && pthread_cond_timedwait(&watchdog.kicked, &watchdog.lock, &at) != ETIMEDOUT)
		;
}

static bool is_awake(void)
{
	return atomic_load_explicit(&check_watchdog_is_awake, memory_order_relaxed);
}

static void set_awake(bool awake)
{
	atomic_store_explicit(&check_watchdog_is_awake, awake, memory_order_relaxed);
}

/* A thread that counts up a moment before the mark changes does not kick. So there is one more inspection behind the mark. */
static void sleep_until_kicked(void)
{
	set_awake(false);
	wait_interval();
	if (inspect_all())
		set_awake(true);
	while (!is_awake() && !watchdog.has_ended)
		pthread_cond_wait(&watchdog.kicked, &watchdog.lock);
	watchdog.last_tick_ns = sim_monotonic_ns();
}

static void *run(void *unused)
{
	uint32_t num_quiet = 0;

	pthread_mutex_lock(&watchdog.lock);
	watchdog.last_tick_ns = sim_monotonic_ns();
	while (!watchdog.has_ended) {
		wait_interval();
		num_quiet = !watchdog.has_ended && inspect_all() ? 0 : num_quiet + 1;
		if (num_quiet >= QUIET_TICKS) {
			sleep_until_kicked();
			num_quiet = 0;
		}
	}
	pthread_mutex_unlock(&watchdog.lock);
	return unused;
}

static void start_thread(void)
{
	pthread_t thread;
	int rc = sim_thread_start(&thread, "bfsim-check", run, NULL);

	watchdog.has_thread = true; /* also after a failure, which is logged once */
	if (rc < 0) {
		check_sampling_forbid();
		sim_err("the checker has no thread: it does not see engines that are not progressed");
	} else {
		pthread_detach(thread);
	}
}

void check_watchdog_wake(void)
{
	pthread_mutex_lock(&watchdog.lock);
	set_awake(true);
	if (watchdog.has_thread)
		pthread_cond_signal(&watchdog.kicked);
	else if (!watchdog.has_ended)
		start_thread();
	pthread_mutex_unlock(&watchdog.lock);
}

/* While the hooks pause, the watchdog is awake: it ends the pause. */
static void task_posted(struct doca_task *task)
{
	(void)task;
	check_watchdog_kick();
}

static void forked(void)
{
	init_condition();
	watchdog.has_thread = false;
	set_awake(false);
	check_sampling_resume();
}

static void at_exit(void)
{
	pthread_mutex_lock(&watchdog.lock);
	watchdog.has_ended = true;
	set_awake(true); /* further kicks return at once */
	pthread_cond_signal(&watchdog.kicked);
	pthread_mutex_unlock(&watchdog.lock);
}

const struct check_part check_watchdog = {
	.mode = SIM_CHECK_API,
	.start = init_condition,
	.task_posted = task_posted,
	.hooks_paused = check_watchdog_wake,
	.lock = &watchdog.lock,
	.forked = forked,
	.exit = at_exit,
};
