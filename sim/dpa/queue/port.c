/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that device code calls: threads, sync events, clocks. */
#include "port.h"

#include <sched.h>
#include <time.h>

#include "completion.h"
#include "hash_table.h"
#include "notification.h"
#include "pcie_model/arith.h"
#include "sim/base/monotonic.h"
#include "sim/dpa/exec/process_priv.h"

static struct sim_dpa_process *current_process(void)
{
	return sim_dpa_eu_current()->process;
}

static struct sim_dpa_work *current_work(void)
{
	return sim_dpa_eu_current()->current; /* does not change while the kernel runs */
}

/* ---- threads ---- */

static void port_log(unsigned level, const char *text)
{
	struct sim_dpa_process *process = current_process();

	process->cfg.ops->log(process->cfg.arg, level, text);
}

static unsigned thread_rank(void)
{
	return current_work()->rank;
}

static unsigned num_threads(void)
{
	return current_work()->num_ranks;
}

static uint64_t thread_local_storage(void)
{
	const struct sim_dpa_activity *activity = current_work()->activity;

	if (!activity)
		sim_dpa_refuse("only DPA threads have local storage, not RPCs and kernel launches");
	return sim_dpa_activity_local_storage(activity);
}

static void __attribute__((noreturn)) thread_reschedule(void)
{
	if (!current_work()->activity)
		sim_dpa_refuse("only DPA threads can be rescheduled, not RPCs and kernel launches");
	sim_dpa_leave(SIM_DPA_RESCHEDULED);
}

static void __attribute__((noreturn)) thread_finish(void)
{
	if (!current_work()->activity)
		sim_dpa_refuse("only DPA threads can finish, not RPCs and kernel launches");
	sim_dpa_leave(SIM_DPA_FINISHED);
}

static void yield(void)
{
	if (current_work()->activity)
		sim_dpa_refuse("DPA threads can't yield; they reschedule");
	sched_yield();
}

static void device_set(uint64_t device)
{
	struct sim_dpa_process *process = current_process();
	void *object;

	pthread_mutex_lock(&process->lock);
	object = sim_dpa_handle_find(&process->handles, SIM_DPA_DEVICE, device);
	pthread_mutex_unlock(&process->lock);
	if (!object)
		sim_dpa_refuse("%#llx is no device of this DPA context", (unsigned long long)device);
}

/* ---- sync events: a kernel's call holds the process's lock, so that the event stays ---- */

static void *find_event(struct sim_dpa_process *process, uint64_t event)
{
	return sim_dpa_handle_find(&process->handles, SIM_DPA_EVENT, event);
}

static void __attribute__((noreturn)) refuse_event(uint64_t event, int rc)
{
	sim_dpa_refuse(rc ? "the sync event %#llx is stopped, or its memory is gone" :
			    "%#llx is no sync event of this DPA context",
		       (unsigned long long)event);
}

static uint64_t event_get(uint64_t event)
{
	struct sim_dpa_process *process = current_process();
	uint64_t value = 0;
	void *object;
	int rc = 0;

	pthread_mutex_lock(&process->lock);
	object = find_event(process, event);
	if (object)
		rc = process->cfg.ops->event_get(object, &value);
	pthread_mutex_unlock(&process->lock);
	if (!object || rc < 0)
		refuse_event(event, rc);
	return value;
}

static void update(uint64_t event, uint64_t value, bool is_add)
{
	struct sim_dpa_process *process = current_process();
	const struct sim_dpa_process_ops *ops = process->cfg.ops;
	void *object;
	int rc = 0;

	pthread_mutex_lock(&process->lock);
	object = find_event(process, event);
	if (object)
		rc = is_add ? ops->event_add(object, value) : ops->event_set(object, value);
	pthread_mutex_unlock(&process->lock);
	if (!object || rc < 0)
		refuse_event(event, rc);
}

static void event_set(uint64_t event, uint64_t value)
{
	update(event, value, false);
}

static void event_add(uint64_t event, uint64_t value)
{
	update(event, value, true);
}

/* Wait for memory that changes unannounced: yield the CPU at first, then sleep for longer and longer times. */
static void pause_poll(uint32_t round)
{
	const uint64_t max_ns = 200000;
	struct timespec pause;

	if (round < 64) {
		sched_yield();
		return;
	}
	pause = sim_timespec_from_ns(min_u64(max_ns, UINT64_C(1000) << min_u32(round - 64, 10)));
	nanosleep(&pause, NULL);
}

static void event_wait_greater(uint64_t event, uint64_t value, uint64_t mask)
{
	for (uint32_t round = 0; (event_get(event) & mask) <= value; round++) {
		if (sim_dpa_thread_is_stopped(sim_dpa_thread_current()))
			sim_dpa_leave(SIM_DPA_STOPPED);
		pause_poll(round);
	}
}

/* ---- clocks ---- */

static uint64_t cycles(void)
{
	return sim_dpa_eu_cycles(sim_dpa_eu_current());
}

/* Our choice: four instructions in a block. */
static uint64_t instructions(void)
{
	const struct sim_dpa_thread *thread = &sim_dpa_eu_current()->guarded.thread;

	return 4 * thread->blocks + thread->accesses;
}

static uint64_t time_us(void)
{
	struct sim_dpa_process *process = current_process();

	return process->cfg.ops->time_us(process->cfg.arg);
}

/* ---- the table ---- */

const struct sim_dpa_port sim_dpa_port = {
	.version = SIM_DPA_PORT_VERSION,
	.log = port_log,
	.thread_rank = thread_rank,
	.num_threads = num_threads,
	.thread_local_storage = thread_local_storage,
	.thread_reschedule = thread_reschedule,
	.thread_finish = thread_finish,
	.yield = yield,
	.thread_notify = sim_dpa_port_notify,
	.device_set = device_set,
	.completion_take = sim_dpa_port_take,
	.completion_element = sim_dpa_port_element,
	.completion_ack = sim_dpa_port_ack,
	.completion_arm = sim_dpa_port_arm,
	.event_get = event_get,
	.event_set = event_set,
	.event_add = event_add,
	.event_wait_greater = event_wait_greater,
	.hash_add = sim_dpa_port_hash_add,
	.hash_find = sim_dpa_port_hash_find,
	.hash_remove = sim_dpa_port_hash_remove,
	.cycles = cycles,
	.instructions = instructions,
	.time_us = time_us,
};
