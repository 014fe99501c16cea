/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of kernels: one after the other, each behind its event. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "process_priv.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"
#include "sim/clock/call_mark.h"
#include "sim/clock/clock.h"
#include "sim/clock/thread_account.h"

/* Behind a launch, its thread looks for the next one for so long before it sleeps: a program that waits for launches
 * makes the next one soon, and a wake-up takes as long. */
#define SPIN_NS UINT64_C(50000)

/* Room for kernels, and for what lies at the stack's end: the thread-local memory of sanitizers is large. */
#define LAUNCH_STACK_BYTES (2 * SIM_DPA_STACK_BYTES)

struct sim_dpa_launch {
	TAILQ_ENTRY(sim_dpa_launch) link;
	struct sim_dpa_process *process;
	const struct sim_dpa_launch_ops *ops;
	void *arg;
	struct sim_dpa_work *ranks; /* an array */
	uint32_t num_ranks, num_running;
	struct sim_dpa_call_trace trace;
	bool has_failed; /* a rank did not run to its end */
	uint64_t args[]; /* the kernel's block */
};

static void free_launch(struct sim_dpa_launch *launch)
{
	if (launch)
		free(launch->ranks);
	free(launch);
}

static void end_rank(struct sim_dpa_work *work, enum sim_dpa_end end)
{
	struct sim_dpa_launch *launch = work->owner;

	launch->num_running--;
	if (end != SIM_DPA_RETURNED)
		launch->has_failed = true;
	sim_dpa_wake_launches(launch->process);
}

/* Whether the thread of launches may go on: it has its turn, or needs none. */
static bool may_go_on(const struct sim_dpa_process *process, bool has_turn)
{
	return has_turn || !process->launch_turn.source || atomic_load(&process->is_ending);
}

/* An EU on which the thread of launches runs the ranks, one after the other; a rank that runs for long, or waits, lets others do so at
 * the same time. NULL: all ranks run at the same time, as in a model of time they must. */
static struct sim_dpa_eu *borrow_eu(struct sim_dpa_process *process)
{
	bool is_modelled = process->cfg.clock && sim_clock_mode(process->cfg.clock) != SIM_CLOCK_FUNCTIONAL;

	return !is_modelled && sim_dpa_image_is_guarded(process->image) ? sim_dpa_eu_borrow(process) : NULL;
}

static void run_ranks_here(struct sim_dpa_launch *launch, struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = launch->process;

	for (uint32_t i = 0; i < launch->num_ranks; i++)
		sim_dpa_submit_late(process, &launch->ranks[i]);
	for (uint32_t i = 0; i < launch->num_ranks; i++) {
		if (!launch->ranks[i].is_queued)
			continue;
		sim_dpa_take(&process->queue, &launch->ranks[i]);
		sim_dpa_eu_run(eu, &launch->ranks[i]);
	}
}

/* Under the lock. @eu: of borrow_eu(). */
static void run_ranks(struct sim_dpa_launch *launch, struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = launch->process;
	bool has_turn = true;

	launch->num_running = launch->num_ranks;
	if (eu)
		run_ranks_here(launch, eu);
	for (uint32_t i = 0; !eu && i < launch->num_ranks; i++)
		sim_dpa_submit(process, &launch->ranks[i]);
	while (launch->num_running > 0 || !may_go_on(process, has_turn))
		has_turn = sim_dpa_turn_wait(&process->launch_turn, &process->launch_wake, &process->lock);
}

/* In virtual time: wait for the launch's event. Returns 0 or -errno. */
static int wait_in_turns(struct sim_dpa_launch *launch)
{
	struct sim_dpa_process *process = launch->process;
	bool has_turn = true;
	int rc;

	while ((rc = launch->ops->poll(launch->arg)) == -EAGAIN ||
	       (!has_turn && !sim_dpa_turn_take_outside(&process->launch_turn))) {
		if (atomic_load(&process->is_over) && may_go_on(process, has_turn))
			return -ECANCELED;
		has_turn = sim_dpa_turn_sleep(&process->launch_turn, SIM_CLOCK_NEVER_NS);
	}
	return rc;
}

static int wait_for_event(struct sim_dpa_launch *launch)
{
	if (launch->process->launch_turn.source)
		return wait_in_turns(launch);
	return launch->ops->wait(launch->arg, &launch->process->is_over);
}

/* Under the lock, which is released while the launch waits. */
static void run_launch(struct sim_dpa_launch *launch)
{
	struct sim_dpa_process *process = launch->process;
	bool has_run = false;

	pthread_mutex_unlock(&process->lock);
	if (wait_for_event(launch) == 0) {
		struct sim_dpa_eu *eu = borrow_eu(process);

		pthread_mutex_lock(&process->lock);
		run_ranks(launch, eu);
		pthread_mutex_unlock(&process->lock);
		if (eu)
			sim_dpa_eu_give_back(eu);
		has_run = !launch->has_failed;
	}
	launch->ops->end(launch->arg, has_run);
	pthread_mutex_lock(&process->lock);
	sim_dpa_trace_done(&launch->trace, has_run ? NULL : sim_dpa_trace_reason(SIM_DPA_STOPPED));
	free_launch(launch);
}

/* Under the lock, which is released meanwhile. */
static void look_for_launch(struct sim_dpa_process *process)
{
	uint64_t until_ns = sim_monotonic_ns() + SPIN_NS;

	pthread_mutex_unlock(&process->lock);
	while (atomic_load(&process->num_launches) == 0 && !atomic_load(&process->is_over) &&
	       sim_monotonic_ns() < until_ns)
		sched_yield();
	pthread_mutex_lock(&process->lock);
}

/* After the process is over, launches that wait end without having run. */
static void *run_launches(void *arg)
{
	struct sim_dpa_process *process = arg;
	struct sim_dpa_launch *launch;
	bool may_spin = !sim_dpa_is_virtual(process) && sim_thread_num_cpus() > 1, has_turn = false;

	sim_dpa_turn_begin(&process->launch_turn, process->cfg.vclock);
	sim_dpa_turn_hear_sync(&process->launch_turn);
	pthread_mutex_lock(&process->lock);
	process->is_launch_thread_ready = true;
	pthread_cond_broadcast(&process->changed);
	for (;;) {
		launch = may_go_on(process, has_turn) ? TAILQ_FIRST(&process->launches) : NULL;
		if (launch) {
			TAILQ_REMOVE(&process->launches, launch, link);
			atomic_fetch_sub(&process->num_launches, 1);
			run_launch(launch);
			if (may_spin)
				look_for_launch(process);
		} else if (atomic_load(&process->is_over) && may_go_on(process, has_turn)) {
			break;
		} else {
			has_turn = sim_dpa_turn_wait(&process->launch_turn, &process->launch_wake, &process->lock);
		}
	}
	process->is_launch_thread_ready = false;
	pthread_mutex_unlock(&process->lock);
	sim_dpa_turn_end(&process->launch_turn);
	return NULL;
}

void sim_dpa_launches_fini(struct sim_dpa_process *process)
{
	if (process->was_launch_thread_started)
		pthread_join(process->launch_thread, NULL);
}

static struct sim_dpa_launch *make_launch(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel,
					  const void *args, uint32_t num_threads)
{
	struct sim_dpa_launch *launch = calloc(1, sizeof(*launch) + kernel->args_bytes);

	if (launch)
		launch->ranks = calloc(num_threads, sizeof(*launch->ranks));
	if (!launch || !launch->ranks) {
		free_launch(launch);
		return NULL;
	}
	launch->process = process;
	launch->num_ranks = num_threads;
	memcpy(launch->args, args, kernel->args_bytes);
	for (uint32_t i = 0; i < num_threads; i++)
		launch->ranks[i] = (struct sim_dpa_work){ .kernel = kernel,
							  .args = launch->args,
							  .fixed_eu = SIM_DPA_ANY_EU,
							  .rank = i,
							  .num_ranks = num_threads,
							  .delay_ns = process->cfg.launch_ns,
							  .trace = &launch->trace,
							  .ended = end_rank,
							  .owner = launch };
	return launch;
}

/* Under the lock. Returns 0 or -errno. */
static int start_thread(struct sim_dpa_process *process)
{
	bool marked;
	int rc;

	if (process->was_launch_thread_started)
		return 0;
	rc = sim_thread_start_sized(&process->launch_thread, "dpa-launches", LAUNCH_STACK_BYTES, run_launches, process);
	if (rc < 0)
		return rc;
	process->was_launch_thread_started = true;
	marked = sim_clock_begin_wait();
	while (sim_dpa_is_virtual(process) &&
	       !process->is_launch_thread_ready) /* so that threads take part in one order */
		pthread_cond_wait(&process->changed, &process->lock);
	sim_clock_end_wait(marked);
	return 0;
}

/* Under the lock. Returns 0, -EIO or -errno. */
static int queue_launch(struct sim_dpa_process *process, struct sim_dpa_launch *launch)
{
	int rc;

	if (atomic_load(&process->is_over))
		return -EIO;
	rc = start_thread(process);
	if (rc < 0)
		return rc;
	sim_dpa_trace_submit(&launch->trace, &process->trace.launch);
	TAILQ_INSERT_TAIL(&process->launches, launch, link);
	atomic_fetch_add(&process->num_launches, 1);
	sim_dpa_wake_launches(process);
	return 0;
}

int sim_dpa_process_launch(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel, const void *args,
			   uint32_t num_threads, const struct sim_dpa_launch_ops *ops, void *arg)
{
	struct sim_dpa_launch *launch = make_launch(process, kernel, args, num_threads);
	int rc;

	if (!launch)
		return -ENOMEM;
	launch->ops = ops;
	launch->arg = arg;
	pthread_mutex_lock(&process->lock);
	rc = queue_launch(process, launch);
	pthread_mutex_unlock(&process->lock);
	if (rc < 0)
		free_launch(launch);
	return rc;
}
