/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution units: threads that run kernels, one at a time. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_priv.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"

/* For kernels, and for the simulator below them. */
#define STACK_BYTES (512 * 1024)

/* The cost of a basic block and of an access, in tenths of a cycle of 1.8 GHz: 4 cycles, and 2 ns. */
#define BLOCK_TENTHS  40
#define ACCESS_TENTHS 36

uint64_t sim_dpa_eu_cycles(const struct sim_dpa_eu *eu)
{
	const struct sim_dpa_thread *thread = &eu->guarded.thread;

	return (thread->blocks * BLOCK_TENTHS + thread->accesses * ACCESS_TENTHS) / 10;
}

struct sim_dpa_eu *sim_dpa_eu_current(void)
{
	return (struct sim_dpa_eu *)sim_dpa_thread_current();
}

/* ---- while a kernel runs ---- */

static bool find_range(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write,
		       struct sim_dpa_range *ret_range)
{
	struct sim_dpa_eu *eu = thread->user;

	(void)is_write;
	return sim_dpa_heap_find(&eu->process->heap, addr, len, ret_range);
}

static void check_run_time(struct sim_dpa_thread *thread)
{
	struct sim_dpa_eu *eu = thread->user;

	if (sim_dpa_eu_cycles(eu) > eu->limit_cycles)
		sim_dpa_refuse("the kernel has run for more than %llu ms of its own time",
			       (unsigned long long)(eu->process->cfg.run_time_ns / 1000000));
}

static const struct sim_dpa_thread_ops thread_ops = { .find_range = find_range, .at_block = check_run_time };

/* ---- fatal ---- */

static void report(struct sim_dpa_eu *eu, const struct sim_dpa_work *work, const struct sim_dpa_crash *crash)
{
	const struct sim_dpa_failure failure = { .kernel = work->kernel->name, .eu = eu->id, .crash = crash };
	const struct sim_dpa_process *process = eu->process;
	char line[16] = "";

	if (crash->place.line > 0)
		snprintf(line, sizeof(line), ":%u", crash->place.line);
	sim_err("DPA application %s, kernel %s on EU %u: %s (%s, %s%s); the DPA context is in a fatal state",
		sim_dpa_image_name(process->image), work->kernel->name, eu->id, crash->reason, crash->place.function,
		crash->place.file[0] ? crash->place.file : "no line known", line);
	process->cfg.ops->fatal(process->cfg.arg, &failure);
}

static void end_list(struct sim_dpa_work_list *list)
{
	struct sim_dpa_work *work;

	while ((work = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, work, link);
		work->ended(work, SIM_DPA_STOPPED);
	}
}

void sim_dpa_end_all(struct sim_dpa_process *process)
{
	end_list(&process->queue);
	for (uint32_t i = 0; process->eus && i < process->cfg.num_eus; i++) {
		struct sim_dpa_eu *eu = &process->eus[i];

		end_list(&eu->queue);
		if (eu->is_ready) {
			sim_dpa_thread_stop(&eu->guarded);
			pthread_cond_signal(&eu->wake);
		}
	}
}

/* Under the lock, which is released meanwhile. */
static void fail(struct sim_dpa_eu *eu, const struct sim_dpa_work *work, const struct sim_dpa_crash *crash)
{
	struct sim_dpa_process *process = eu->process;

	if (atomic_exchange(&process->is_fatal, true))
		return;
	atomic_store(&process->is_over, true);
	sim_dpa_end_all(process);
	pthread_mutex_unlock(&process->lock);
	report(eu, work, crash);
	pthread_mutex_lock(&process->lock);
	pthread_cond_broadcast(&process->launch_wake);
}

/* ---- threads ---- */

static void run_work(struct sim_dpa_eu *eu, struct sim_dpa_work *work)
{
	struct sim_dpa_process *process = eu->process;
	struct sim_dpa_crash crash;
	enum sim_dpa_end end;

	eu->current = work;
	work->eu = eu;
	if (work->begins)
		work->begins(work);
	pthread_mutex_unlock(&process->lock);
	eu->limit_cycles =
		process->cfg.run_time_ns ? sim_dpa_eu_cycles(eu) + process->cfg.run_time_ns / 5 * 9 : UINT64_MAX;
	end = sim_dpa_run(&eu->guarded, process->image, work->kernel, work->args, &work->value, &crash);
	pthread_mutex_lock(&process->lock);
	if (end == SIM_DPA_FATAL)
		fail(eu, work, &crash);
	eu->current = NULL;
	if (work->is_stopping && !atomic_load(&process->is_over))
		sim_dpa_thread_resume(&eu->guarded);
	work->eu = NULL;
	work->ended(work, end);
	pthread_cond_broadcast(&process->changed);
}

static struct sim_dpa_work *take_from(struct sim_dpa_work_list *list)
{
	struct sim_dpa_work *work = TAILQ_FIRST(list);

	if (work)
		TAILQ_REMOVE(list, work, link);
	return work;
}

static void idle(struct sim_dpa_eu *eu)
{
	eu->is_idle = true;
	LIST_INSERT_HEAD(&eu->process->idle, eu, idle_link);
	while (eu->is_idle && !atomic_load(&eu->process->is_over))
		pthread_cond_wait(&eu->wake, &eu->process->lock);
	if (eu->is_idle)
		LIST_REMOVE(eu, idle_link);
	eu->is_idle = false;
}

static void *run_eu(void *arg)
{
	struct sim_dpa_eu *eu = arg;
	struct sim_dpa_process *process = eu->process;
	struct sim_dpa_work *work;
	sigset_t faults;
	bool is_ready;

	sigemptyset(&faults);
	sigaddset(&faults, SIGILL);
	sigaddset(&faults, SIGFPE);
	pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
	is_ready = sim_dpa_thread_begin(&eu->guarded, &thread_ops) == 0;
	pthread_mutex_lock(&process->lock);
	eu->is_ready = is_ready;
	if (!is_ready) {
		sim_err("no memory for execution unit %u of the DPA", eu->id);
		atomic_store(&process->is_fatal, true);
		atomic_store(&process->is_over, true);
		sim_dpa_end_all(process);
	}
	for (;;) {
		work = take_from(&eu->queue);
		if (!work)
			work = take_from(&process->queue);
		if (work)
			run_work(eu, work);
		else if (atomic_load(&process->is_over))
			break;
		else
			idle(eu);
	}
	pthread_mutex_unlock(&process->lock);
	if (is_ready)
		sim_dpa_thread_end(&eu->guarded);
	return NULL;
}

/* Returns 0 or -errno. Under the lock, which the thread takes later. */
static int start_thread(struct sim_dpa_eu *eu)
{
	char name[16];
	int rc;

	if (eu->has_thread)
		return 0;
	snprintf(name, sizeof(name), "eu-%u", eu->id);
	rc = sim_thread_start_sized(&eu->thread, name, STACK_BYTES, run_eu, eu);
	eu->has_thread = rc == 0;
	return rc;
}

int sim_dpa_eus_init(struct sim_dpa_process *process)
{
	process->eus = calloc(process->cfg.num_eus, sizeof(*process->eus));
	if (!process->eus)
		return -ENOMEM;
	for (uint32_t i = 0; i < process->cfg.num_eus; i++) {
		struct sim_dpa_eu *eu = &process->eus[i];

		eu->process = process;
		eu->id = i;
		eu->guarded.thread.user = eu;
		pthread_cond_init(&eu->wake, NULL);
		TAILQ_INIT(&eu->queue);
	}
	return 0;
}

void sim_dpa_eus_fini(struct sim_dpa_process *process)
{
	for (uint32_t i = 0; process->eus && i < process->cfg.num_eus; i++) {
		if (process->eus[i].has_thread)
			pthread_join(process->eus[i].thread, NULL);
		pthread_cond_destroy(&process->eus[i].wake);
	}
	free(process->eus);
	process->eus = NULL;
}

/* ---- the EU of a work ---- */

static void wake(struct sim_dpa_eu *eu)
{
	if (!eu->is_idle)
		return;
	eu->is_idle = false;
	LIST_REMOVE(eu, idle_link);
	pthread_cond_signal(&eu->wake);
}

/* Wake an EU that idles, or start one more. All may be busy: the first that is free takes the work. Returns 0 or -errno. */
static int wake_any(struct sim_dpa_process *process)
{
	if (!LIST_EMPTY(&process->idle)) {
		wake(LIST_FIRST(&process->idle));
		return 0;
	}
	while (process->next_eu < process->cfg.num_eus && process->eus[process->next_eu].has_thread)
		process->next_eu++;
	return process->next_eu < process->cfg.num_eus ? start_thread(&process->eus[process->next_eu]) : 0;
}

void sim_dpa_submit(struct sim_dpa_process *process, struct sim_dpa_work *work)
{
	struct sim_dpa_eu *eu = work->fixed_eu == SIM_DPA_ANY_EU ? NULL : &process->eus[work->fixed_eu];
	struct sim_dpa_work_list *list = eu ? &eu->queue : &process->queue;
	int rc;

	if (atomic_load(&process->is_over)) {
		work->ended(work, SIM_DPA_STOPPED);
		return;
	}
	TAILQ_INSERT_TAIL(list, work, link);
	rc = eu ? start_thread(eu) : wake_any(process);
	if (eu)
		wake(eu);
	if (rc < 0) {
		sim_err("no thread for an execution unit of the DPA: %s", strerror(-rc));
		atomic_store(&process->is_fatal, true);
		atomic_store(&process->is_over, true);
		sim_dpa_end_all(process);
	}
}
