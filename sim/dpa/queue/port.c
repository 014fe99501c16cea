/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that device code calls: threads, sync events, clocks. */
#include "port.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "async.h"
#include "completion.h"
#include "hash_table.h"
#include "msgq.h"
#include "notification.h"
#include "pcie_model/arith.h"
#include "rdma.h"
#include "sim/clock/clock.h"
#include "sim/dpa/exec/process_priv.h"

#define NUM_YIELDS   64
#define MIN_SLEEP_NS UINT64_C(50000)
#define MAX_SLEEP_NS UINT64_C(10000000)

static struct sim_dpa_work *current_work(void)
{
	return sim_dpa_eu_current()->current; /* does not change while the kernel runs */
}

/* ---- threads ---- */

static void port_log(unsigned level, const char *text)
{
	struct sim_dpa_process *process = sim_dpa_enter();

	process->cfg.ops->log(process->cfg.arg, level, text);
}

static void port_trace(const uint64_t values[5])
{
	struct sim_dpa_process *process = sim_dpa_enter();

	process->cfg.ops->trace(process->cfg.arg, values);
}

/* Nothing waits for it. */
static void port_trace_flush(void)
{
	sim_dpa_enter();
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
	sim_dpa_eu_share(sim_dpa_eu_current());
	sched_yield();
}

static void device_set(uint64_t device)
{
	struct sim_dpa_process *process = sim_dpa_enter();
	void *object;

	pthread_mutex_lock(&process->lock);
	object = sim_dpa_handle_find(&process->handles, SIM_DPA_DEVICE, device);
	pthread_mutex_unlock(&process->lock);
	if (!object)
		sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, device, "%#llx is no device of this DPA context",
				  (unsigned long long)device);
}

/* ---- sync events: a kernel's call holds the process's lock, so that the event stays ---- */

static void *find_event(struct sim_dpa_process *process, uint64_t event)
{
	return sim_dpa_handle_find(&process->handles, SIM_DPA_EVENT, event);
}

static void __attribute__((noreturn)) refuse_event(uint64_t event, int rc)
{
	sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, event,
			  rc ? "the sync event %#llx is stopped, or its memory is gone" :
			       "%#llx is no sync event of this DPA context",
			  (unsigned long long)event);
}

static uint64_t read_event(uint64_t event)
{
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
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

static uint64_t event_get(uint64_t event)
{
	sim_dpa_enter();
	sim_dpa_eu_share(sim_dpa_eu_current()); /* a kernel may call for long */
	return read_event(event);
}

static void update(uint64_t event, uint64_t value, bool is_add)
{
	struct sim_dpa_process *process = sim_dpa_enter();
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

/* Wait in turns. A plain store to an event's memory makes no turn; it is seen at a look without one. */
static void wait_in_turns(struct sim_dpa_turn *turn, uint64_t event, uint64_t value, uint64_t mask)
{
	bool has_turn = true;

	sim_dpa_turn_hear_sync(turn);
	sim_dpa_enter();
	while ((read_event(event) & mask) <= value || (!has_turn && !sim_dpa_turn_take_outside(turn))) {
		if (sim_dpa_thread_is_stopped(sim_dpa_thread_current()))
			sim_dpa_leave(SIM_DPA_STOPPED);
		has_turn = sim_dpa_turn_sleep(turn, SIM_CLOCK_NEVER_NS);
	}
}

/* Yield the CPU between looks at first; then sleep on the event, for longer and longer times, as the kernel may be told to end. */
static void pause_wait(uint64_t event, uint64_t value, uint64_t mask, uint32_t round)
{
	struct sim_dpa_process *process = sim_dpa_eu_current()->process;
	void *object;

	if (round < NUM_YIELDS) {
		sched_yield();
		return;
	}
	pthread_mutex_lock(&process->lock);
	object = find_event(process, event);
	pthread_mutex_unlock(&process->lock);
	if (object)
		process->cfg.ops->event_sleep(object, value, mask,
					      min_u64(MAX_SLEEP_NS, MIN_SLEEP_NS << min_u32(round - NUM_YIELDS, 10)));
}

static void wait_in_real_time(uint64_t event, uint64_t value, uint64_t mask)
{
	for (uint32_t round = 0; (event_get(event) & mask) <= value; round++) {
		if (sim_dpa_thread_is_stopped(sim_dpa_thread_current()))
			sim_dpa_leave(SIM_DPA_STOPPED);
		pause_wait(event, value, mask, round);
	}
}

static void event_wait_greater(uint64_t event, uint64_t value, uint64_t mask)
{
	struct sim_dpa_eu *eu = sim_dpa_eu_current();

	sim_dpa_eu_share(eu);
	atomic_store(&eu->waits, true); /* up to the end of the kernel, if that leaves here */
	if (eu->turn.source)
		wait_in_turns(&eu->turn, event, value, mask);
	else
		wait_in_real_time(event, value, mask);
	atomic_store(&eu->waits, false);
}

/* ---- windows ---- */

static uint64_t map_pointer(uint32_t map, uint64_t addr)
{
	uint64_t pointer = 0;
	int rc = sim_dpa_window_pointer(map, addr, &pointer);

	if (rc == -ENOENT)
		sim_dpa_refuse_as(SIM_DPA_CRASH_HANDLE, map, "%#x is no handle of a memory map that is started", map);
	if (rc == -EFAULT)
		sim_dpa_refuse("%#llx is outside of the range of the memory map %#x", (unsigned long long)addr, map);
	if (rc < 0)
		sim_dpa_refuse("no memory for a window to the memory map %#x", map);
	return pointer;
}

/* What hooks know of windows is void, too. */
static void window_invalidate(void)
{
	struct sim_dpa_eu *eu = sim_dpa_eu_current();

	sim_dpa_enter();
	sim_dpa_forget_ranges(&eu->guarded.thread);
	sim_dpa_window_invalidate(&eu->view);
	sim_dpa_eu_poll_empty(eu);
}

static void window_writeback(void)
{
	struct sim_dpa_eu *eu = sim_dpa_eu_current();

	sim_dpa_enter();
	eu->num_empty_polls = 0;
	sim_dpa_window_write_back(&eu->view);
}

/* ---- clocks ---- */

static uint64_t cycles(void)
{
	const struct sim_dpa_eu *eu = sim_dpa_eu_current();

	sim_dpa_enter();
	return sim_dpa_eu_cycles(eu);
}

/* Our choice: six instructions in a block, accesses among them. */
static uint64_t instructions(void)
{
	const struct sim_dpa_thread *thread = &sim_dpa_eu_current()->guarded.thread;

	return 6 * thread->blocks;
}

static uint64_t time_us(void)
{
	struct sim_dpa_process *process = sim_dpa_enter();

	return process->cfg.ops->time_us(process->cfg.arg);
}

/* ---- the table ---- */

const struct sim_dpa_port sim_dpa_port = {
	.version = SIM_DPA_PORT_VERSION,
	.log = port_log,
	.trace = port_trace,
	.trace_flush = port_trace_flush,
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
	.async_copy = sim_dpa_port_async_copy,
	.async_wait = sim_dpa_port_async_wait,
	.hash_add = sim_dpa_port_hash_add,
	.hash_find = sim_dpa_port_hash_find,
	.hash_remove = sim_dpa_port_hash_remove,
	.consumer_take = sim_dpa_port_consumer_take,
	.consumer_element_imm = sim_dpa_port_consumer_element_imm,
	.consumer_element_producer = sim_dpa_port_consumer_element_producer,
	.consumer_completion_ack = sim_dpa_port_consumer_completion_ack,
	.consumer_completion_arm = sim_dpa_port_consumer_completion_arm,
	.consumer_ack = sim_dpa_port_consumer_ack,
	.producer_is_consumer_empty = sim_dpa_port_producer_is_consumer_empty,
	.producer_send = sim_dpa_port_producer_send,
	.producer_copy = sim_dpa_port_producer_copy,
	.map_pointer = map_pointer,
	.window_invalidate = window_invalidate,
	.window_writeback = window_writeback,
	.rdma_post = sim_dpa_port_rdma_post,
	.rdma_receive = sim_dpa_port_rdma_receive,
	.rdma_receive_ack = sim_dpa_port_rdma_receive_ack,
	.rdma_signal = sim_dpa_port_rdma_signal,
	.cycles = cycles,
	.instructions = instructions,
	.time_us = time_us,
};
