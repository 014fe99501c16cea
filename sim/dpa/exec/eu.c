/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution units: threads that run kernels, one at a time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pcie_model/arith.h"
#include "process_priv.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"
#include "sim/clock/call_mark.h"

/* Published for a BlueField-3 (jukebox03/thrift_dpumesh_extended, transport benchmark notes): a load of a line by a window. */
#define WINDOW_LOAD_NS 980

/* In virtual time a kernel runs for so many blocks, a microsecond, before the others have their turn. */
#define VIRTUAL_BLOCKS 450

/* ---- while a kernel runs ---- */

static bool find_range(struct sim_dpa_thread *thread, uintptr_t addr, size_t len, bool is_write,
		       struct sim_dpa_range *ret_range)
{
	struct sim_dpa_eu *eu = thread->user;
	int rc;

	if (sim_dpa_heap_find(&eu->process->heap, addr, len, ret_range))
		return true;
	rc = sim_dpa_window_access(&eu->view, addr, len, is_write, ret_range);
	if (rc == -EFAULT)
		sim_dpa_refuse_as(SIM_DPA_CRASH_WINDOW, addr,
				  "%s of %zu bytes at %#lx, which is outside of the range of the window's memory map",
				  is_write ? "store" : "load", len, (unsigned long)addr);
	if (rc == -EACCES)
		sim_dpa_refuse_as(SIM_DPA_CRASH_WINDOW, addr,
				  "store of %zu bytes at %#lx, a window to a memory map that is read only", len,
				  (unsigned long)addr);
	if (rc == 0 && !is_write)
		sim_dpa_eu_spend(eu, WINDOW_LOAD_NS);
	return rc == 0;
}

static void at_block(struct sim_dpa_thread *thread)
{
	struct sim_dpa_eu *eu = thread->user;

	sim_dpa_enter();
	sim_dpa_eu_share(eu);
	if (sim_dpa_eu_cycles(eu) > eu->limit_cycles)
		sim_dpa_refuse_as(SIM_DPA_CRASH_RUN_TIME, 0, "the kernel has run for more than %llu ms of its own time",
				  (unsigned long long)(eu->process->cfg.run_time_ns / 1000000));
}

static const struct sim_dpa_thread_ops thread_ops = { .find_range = find_range, .at_block = at_block };

struct sim_fault_hit sim_dpa_find_fault(const struct sim_dpa_process *process, enum sim_op op)
{
	struct sim_fault_hit hit = { 0 };

	if (process->cfg.ops->find_fault && !process->cfg.ops->find_fault(process->cfg.arg, op, &hit))
		hit = (struct sim_fault_hit){ 0 };
	return hit;
}

static enum sim_dpa_end fail_by_fault(const struct sim_dpa_process *process, const struct sim_dpa_work *work,
				      struct sim_dpa_crash *ret_crash)
{
	*ret_crash =
		(struct sim_dpa_crash){ .reason = "a fault rule for dpa.kernel", .pc = (uintptr_t)work->kernel->run };
	sim_dpa_image_find_place(process->image, ret_crash->pc, &ret_crash->place);
	return SIM_DPA_FATAL;
}

/* ---- threads ---- */

void sim_dpa_eu_run(struct sim_dpa_eu *eu, struct sim_dpa_work *work)
{
	struct sim_dpa_process *process = eu->process;
	struct sim_dpa_crash crash;
	enum sim_dpa_end end;
	struct sim_fault_hit hit;
	uint64_t began_ns, fault_ns = work->fault_ns;

	work->fault_ns = 0; /* from here on, that of the run behind this one */
	eu->current = work;
	atomic_store(&eu->waits, false);
	work->eu = eu;
	if (work->begins)
		work->begins(work);
	pthread_mutex_unlock(&process->lock);
	hit = sim_dpa_find_fault(process, SIM_OP_DPA_KERNEL);
	if (fault_ns > 0 || hit.delay_ns > 0)
		sim_dpa_eu_share(eu);
	eu->limit_cycles =
		process->cfg.run_time_ns ? sim_dpa_eu_cycles(eu) + process->cfg.run_time_ns / 5 * 9 : UINT64_MAX;
	end = sim_dpa_eu_begin_time(eu, work->delay_ns, add_saturating_u64(fault_ns, hit.delay_ns)) ? SIM_DPA_RETURNED :
												      SIM_DPA_STOPPED;
	began_ns = sim_trace_now_ns();
	if (end == SIM_DPA_RETURNED && hit.actions & SIM_ACT_BIT(SIM_ACT_FATAL))
		end = fail_by_fault(process, work, &crash);
	else if (end == SIM_DPA_RETURNED)
		end = sim_dpa_run(&eu->guarded, process->image, work->kernel, work->args, &work->value, &crash);
	if (end != SIM_DPA_STOPPED && !sim_dpa_eu_settle(eu))
		end = SIM_DPA_STOPPED;
	if (end == SIM_DPA_FATAL || end == SIM_DPA_STOPPED)
		sim_dpa_window_drop(&eu->view);
	else
		sim_dpa_window_write_back(&eu->view);
	sim_dpa_window_invalidate(&eu->view);
	pthread_mutex_lock(&process->lock);
	eu->current = NULL;
	if (end == SIM_DPA_FATAL)
		sim_dpa_fail(eu, work, &crash);
	if (work->trace) {
		work->trace->times.began_ns = work->trace->times.began_ns ? work->trace->times.began_ns : began_ns;
		work->trace->times.ended_ns = sim_trace_now_ns();
	}
	sim_dpa_trace_kernel(&process->trace, &eu->trace, work, began_ns, end);
	if (work->is_stopping && !atomic_load(&process->is_over))
		sim_dpa_thread_resume(&eu->guarded);
	eu->has_turn = end != SIM_DPA_STOPPED;
	if (!eu->has_turn) /* it waits for its turn from now on, before the thread that has stopped it goes on */
		sim_dpa_turn_signal(&eu->turn, &eu->wake);
	work->eu = NULL;
	work->ended(work, end);
	pthread_cond_broadcast(&process->changed);
}

/* The process may be over while the EU is lent: it stays then until it is given back. */
static void idle(struct sim_dpa_eu *eu)
{
	bool has_turn = false;

	eu->is_idle = true;
	LIST_INSERT_HEAD(&eu->process->idle, eu, idle_link);
	while ((eu->is_idle || eu->is_lent || !has_turn) && (eu->is_lent || !atomic_load(&eu->process->is_over)))
		has_turn = sim_dpa_turn_wait(&eu->turn, &eu->wake, &eu->process->lock);
	if (eu->is_idle)
		LIST_REMOVE(eu, idle_link);
	eu->is_idle = false;
}

/* In virtual time the thread has begun, or its kernel was ended by another thread: wait for the turn. Under the lock, which is released
 * meanwhile. */
static void take_turn(struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = eu->process;

	pthread_mutex_unlock(&process->lock);
	while (!atomic_load(&process->is_over) && !sim_dpa_turn_sleep(&eu->turn, 0))
		continue;
	pthread_mutex_lock(&process->lock);
	eu->has_turn = true;
}

static void wake_any(struct sim_dpa_process *process);

/* The EU may have been woken for work of any EU, before fixed work came, which may run for ever: another EU takes the former. */
static struct sim_dpa_work *take_work(struct sim_dpa_eu *eu)
{
	struct sim_dpa_work *work = sim_dpa_take_first(&eu->queue);

	if (!work)
		return sim_dpa_take_first(&eu->process->queue);
	if (!TAILQ_EMPTY(&eu->process->queue))
		wake_any(eu->process);
	return work;
}

/* Under the lock. 0 or -ENOMEM. */
static int make_ready(struct sim_dpa_eu *eu)
{
	int rc = eu->is_ready ? 0 : sim_dpa_guarded_init(&eu->guarded, &thread_ops);

	if (eu->is_ready || rc < 0)
		return rc;
	if (sim_dpa_is_virtual(eu->process))
		eu->guarded.num_blocks = VIRTUAL_BLOCKS;
	eu->is_ready = true;
	sim_dpa_trace_begin_eu(&eu->trace, &eu->process->trace, eu->id, eu->process->cfg.device);
	return 0;
}

static void end_ready(struct sim_dpa_eu *eu)
{
	if (eu->is_ready)
		sim_dpa_trace_end_eu(&eu->trace);
	eu->is_ready = false;
}

static void *run_eu(void *arg)
{
	struct sim_dpa_eu *eu = arg;
	struct sim_dpa_process *process = eu->process;
	struct sim_dpa_work *work;
	bool may_run;

	if (sim_dpa_is_virtual(process)) /* else others may look at it, as the EU has been lent */
		sim_dpa_turn_begin(&eu->turn, process->cfg.vclock);
	pthread_mutex_lock(&process->lock);
	may_run = make_ready(eu) == 0 && sim_dpa_thread_begin(&eu->guarded) == 0;
	eu->has_begun = true;
	pthread_cond_broadcast(&process->changed);
	if (!may_run) {
		sim_err("no memory for execution unit %u of the DPA", eu->id);
		atomic_store(&process->is_fatal, true);
		atomic_store(&process->is_over, true);
		sim_dpa_end_all(process);
	}
	for (;;) {
		if (!eu->has_turn && eu->turn.source)
			take_turn(eu);
		work = take_work(eu);
		if (work)
			sim_dpa_eu_run(eu, work);
		else if (atomic_load(&process->is_over))
			break;
		else
			idle(eu);
	}
	end_ready(eu);
	pthread_mutex_unlock(&process->lock);
	sim_dpa_turn_end(&eu->turn);
	if (may_run)
		sim_dpa_thread_end();
	return NULL;
}

/* In virtual time: wait until the thread takes part, so that threads do that in the order of their starts. */
static void wait_for_begin(const struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = eu->process;
	bool marked = sim_clock_begin_wait();

	while (!eu->has_begun)
		pthread_cond_wait(&process->changed, &process->lock);
	sim_clock_end_wait(marked);
}

/* Returns 0 or -errno. Under the lock, which the thread takes later. */
static int start_thread(struct sim_dpa_eu *eu)
{
	char name[16];
	int rc;

	snprintf(name, sizeof(name), "eu-%u", eu->id);
	rc = sim_thread_start_sized(&eu->thread, name, SIM_DPA_STACK_BYTES, run_eu, eu);
	eu->has_thread = rc == 0;
	if (rc == 0 && sim_dpa_is_virtual(eu->process))
		wait_for_begin(eu);
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
	pthread_mutex_lock(&process->lock);
	for (uint32_t i = 0; process->eus && i < process->cfg.num_eus; i++)
		while (process->eus[i].is_lent)
			pthread_cond_wait(&process->changed, &process->lock);
	pthread_mutex_unlock(&process->lock);
	for (uint32_t i = 0; process->eus && i < process->cfg.num_eus; i++) {
		struct sim_dpa_eu *eu = &process->eus[i];

		if (eu->has_thread)
			pthread_join(eu->thread, NULL);
		end_ready(eu);
		sim_dpa_guarded_fini(&eu->guarded);
		pthread_cond_destroy(&eu->wake);
	}
	free(process->eus);
	process->eus = NULL;
}

/* ---- the EU of a work ---- */

/* Take it from the idle ones. Returns whether it has to be signalled. */
static bool end_idle(struct sim_dpa_eu *eu)
{
	if (!eu->is_idle)
		return false;
	eu->is_idle = false;
	LIST_REMOVE(eu, idle_link);
	return true;
}

static void signal_eu(struct sim_dpa_eu *eu)
{
	if (eu)
		sim_dpa_turn_signal(&eu->turn, &eu->wake);
}

/* An EU that runs nothing: one that idles, or a new one. NULL: all are busy. */
static struct sim_dpa_eu *take_free(struct sim_dpa_process *process)
{
	struct sim_dpa_eu *eu = LIST_FIRST(&process->idle);

	if (eu) {
		end_idle(eu);
		return eu;
	}
	for (; process->next_eu < process->cfg.num_eus; process->next_eu++) {
		eu = &process->eus[process->next_eu];
		if (!eu->has_thread && !eu->is_ready)
			return eu;
	}
	return NULL;
}

/* Let the EU's thread look for work. *ret_asleep: it is to be signalled. Returns 0 or -errno. */
static int wake_thread(struct sim_dpa_eu *eu, struct sim_dpa_eu **ret_asleep)
{
	if (!eu->has_thread)
		return start_thread(eu);
	*ret_asleep = eu;
	return 0;
}

/* All EUs may be busy: the first that is free takes the work. */
static int find_any(struct sim_dpa_process *process, struct sim_dpa_eu **ret_asleep)
{
	struct sim_dpa_eu *eu = take_free(process);

	return eu ? wake_thread(eu, ret_asleep) : 0;
}

/* An EU that is busy looks for more work itself, as does one that is given back. */
static int find_fixed(struct sim_dpa_eu *eu, struct sim_dpa_eu **ret_asleep)
{
	bool is_new = !eu->has_thread && !eu->is_ready;

	return end_idle(eu) || is_new ? wake_thread(eu, ret_asleep) : 0;
}

static void wake_any(struct sim_dpa_process *process)
{
	struct sim_dpa_eu *asleep = NULL;

	find_any(process, &asleep);
	signal_eu(asleep);
}

/* Returns false if the process is over: the work has ended. */
static bool queue_work(struct sim_dpa_process *process, struct sim_dpa_work_list *list, struct sim_dpa_work *work)
{
	if (atomic_load(&process->is_over)) {
		work->ended(work, SIM_DPA_STOPPED);
		return false;
	}
	TAILQ_INSERT_TAIL(list, work, link);
	work->is_queued = true;
	return true;
}

void sim_dpa_submit(struct sim_dpa_process *process, struct sim_dpa_work *work)
{
	struct sim_dpa_eu *eu = work->fixed_eu == SIM_DPA_ANY_EU ? NULL : &process->eus[work->fixed_eu];
	struct sim_dpa_eu *asleep = NULL;
	int rc;

	if (!queue_work(process, eu ? &eu->queue : &process->queue, work))
		return;
	rc = eu ? find_fixed(eu, &asleep) : find_any(process, &asleep);
	if (rc < 0)
		sim_dpa_fail_without_thread(process, rc);
	signal_eu(asleep);
}

/* ---- EUs that another thread than their own works for ---- */

void sim_dpa_submit_late(struct sim_dpa_process *process, struct sim_dpa_work *work)
{
	if (queue_work(process, &process->queue, work))
		atomic_store_explicit(&process->has_late, true, memory_order_relaxed);
}

void sim_dpa_eu_share(struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = eu->process;

	if (!atomic_load_explicit(&process->has_late, memory_order_relaxed))
		return;
	pthread_mutex_lock(&process->lock);
	if (TAILQ_EMPTY(&process->queue))
		atomic_store_explicit(&process->has_late, false, memory_order_relaxed);
	else
		wake_any(process);
	pthread_mutex_unlock(&process->lock);
}

/* The EU is free, or has to look for work. Under the lock. */
static void end_loan(struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = eu->process;
	bool is_over = atomic_load(&process->is_over);
	struct sim_dpa_eu *asleep = NULL;
	int rc = 0;

	eu->is_lent = false;
	if (is_over && eu->has_thread) {
		asleep = eu;
	} else if (!is_over && TAILQ_EMPTY(&eu->queue) && TAILQ_EMPTY(&process->queue)) {
		eu->is_idle = true;
		LIST_INSERT_HEAD(&process->idle, eu, idle_link);
	} else if (!is_over) {
		rc = wake_thread(eu, &asleep);
	}
	if (rc < 0)
		sim_dpa_fail_without_thread(process, rc);
	signal_eu(asleep);
	pthread_cond_broadcast(&process->changed);
}

struct sim_dpa_eu *sim_dpa_eu_borrow(struct sim_dpa_process *process)
{
	struct sim_dpa_eu *eu = NULL;

	if (sim_dpa_is_virtual(process) || !sim_dpa_thread_has_stack())
		return NULL;
	pthread_mutex_lock(&process->lock);
	if (!atomic_load(&process->is_over))
		eu = take_free(process);
	if (eu && make_ready(eu) < 0) /* a new one */
		eu = NULL;
	if (eu)
		eu->is_lent = true;
	pthread_mutex_unlock(&process->lock);
	if (!eu || sim_dpa_thread_begin(&eu->guarded) == 0)
		return eu;
	pthread_mutex_lock(&process->lock);
	end_loan(eu);
	pthread_mutex_unlock(&process->lock);
	return NULL;
}

void sim_dpa_eu_give_back(struct sim_dpa_eu *eu)
{
	struct sim_dpa_process *process = eu->process;

	sim_dpa_thread_end();
	pthread_mutex_lock(&process->lock);
	end_loan(eu);
	pthread_mutex_unlock(&process->lock);
}
