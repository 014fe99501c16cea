/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous operations of kernels. */
#include "async.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pause.h"
#include "sim/base/log.h"
#include "sim/base/thread.h"
#include "sim/clock/call_mark.h"
#include "sim/dpa/exec/process_priv.h"
#include "sim/dpa/memory/map.h"
#include "sim/fabric/remote.h"

enum { DONE = 0, FAILED = 13 }; /* types of completions of the device API */

struct sim_dpa_async_op {
	bool is_wait, is_reported;
	uint32_t index;
	struct sim_dpa_span dst, src; /* of a copy */
	uint64_t event, value;        /* of a wait */
	enum sim_dpa_compare compare;
	STAILQ_ENTRY(sim_dpa_async_op) link;
};

/* ---- execution ---- */

/* Memory of the network's peers is reached by RDMA alone. */
static int check_map(uint32_t handle)
{
	struct sim_dpa_map *map = sim_dpa_map_hold(handle);
	int rc = 0;

	if (!map)
		return -ENOENT;
	if (map->remote && map->remote->region.access & SIM_ACCESS_NET)
		rc = -EACCES;
	sim_dpa_map_release(map);
	return rc;
}

static int copy(const struct sim_dpa_async_op *op)
{
	int rc = check_map(op->dst.map);

	if (rc == 0)
		rc = check_map(op->src.map);
	return rc == 0 ? sim_dpa_map_copy(&op->dst, &op->src) : rc;
}

/* Returns 0 (as the event says), -EAGAIN, or another -errno: there is no such event any more. */
static int look_at_event(struct sim_dpa_process *process, const struct sim_dpa_async_op *op)
{
	uint64_t value = 0;
	void *event;
	int rc = -ENOENT;

	pthread_mutex_lock(&process->lock);
	event = sim_dpa_handle_find(&process->handles, SIM_DPA_EVENT, op->event);
	if (event)
		rc = process->cfg.ops->event_get(event, &value);
	pthread_mutex_unlock(&process->lock);
	if (rc < 0)
		return rc;
	return (op->compare == SIM_DPA_GREATER ? value > op->value : value != op->value) ? 0 : -EAGAIN;
}

static void push(struct sim_dpa_async *async, const struct sim_dpa_async_op *op, uint32_t type)
{
	const struct sim_dpa_element element = { .type = type, .user_data = async->user_data, .index = op->index };

	if (sim_dpa_completion_push(async->completion, &element) == 0 || async->has_lost_completions)
		return;
	async->has_lost_completions = true;
	sim_err("a completion context of the DPA is full: completions are lost; kernels give places back by doca_dpa_dev_completion_ack()");
}

static const char *describe(const struct sim_dpa_async_op *op, int rc)
{
	switch (-rc) {
	case ENOENT:
		return op->is_wait ? "its event was stopped, or is none" :
				     "a handle is no map's, or the map was stopped";
	case EFAULT:
		return "it is outside of a map";
	case EACCES:
		return "a map does not permit it, or is of a peer's memory";
	default:
		return strerror(-rc);
	}
}

/* The lock is held. */
static void end_op(struct sim_dpa_async *async, struct sim_dpa_async_op *op, int rc)
{
	STAILQ_REMOVE_HEAD(&async->queued, link);
	async->num_ops--;
	if (rc < 0 && !async->has_failed)
		sim_err("an asynchronous %s of a kernel failed: %s", op->is_wait ? "wait" : "copy", describe(op, rc));
	async->has_failed |= rc < 0;
	if (rc < 0 || op->is_reported)
		push(async, op, rc < 0 ? FAILED : DONE);
	free(op);
}

/* Execute the first that is queued, unless another thread does. Returns 0, -EAGAIN (it waits, or is executed) or -ENOENT (there is
 * none). The lock is held, but not meanwhile. */
static int execute_first(struct sim_dpa_async *async)
{
	struct sim_dpa_async_op *op = STAILQ_FIRST(&async->queued);
	int rc = async->has_failed ? -ECANCELED : 0;

	if (!op)
		return -ENOENT;
	if (async->is_running)
		return -EAGAIN;
	if (rc == 0) {
		async->is_running = true;
		pthread_mutex_unlock(&async->lock);
		rc = op->is_wait ? look_at_event(async->callable.process, op) : copy(op);
		pthread_mutex_lock(&async->lock);
		async->is_running = false;
	}
	if (rc == -EAGAIN)
		return rc;
	end_op(async, op, rc);
	return 0;
}

/* The thread waits in its turns, and the lock is held, but not while it waits. A plain store to an event's memory makes no turn; it is seen at
 * a look without one. */
static void run_in_turns(struct sim_dpa_async *async)
{
	bool has_turn = false;

	while (!async->is_stopping) {
		const struct sim_dpa_async_op *first = STAILQ_FIRST(&async->queued);

		if (!has_turn && first && first->is_wait && look_at_event(async->callable.process, first) != -EAGAIN)
			has_turn = sim_dpa_turn_take_outside(&async->turn);
		if (!has_turn || execute_first(async) < 0)
			has_turn = sim_dpa_turn_wait(&async->turn, &async->wake, &async->lock);
	}
}

static void *run(void *arg)
{
	struct sim_dpa_async *async = arg;
	uint32_t round = 0;

	pthread_mutex_lock(&async->lock);
	sim_dpa_turn_begin(&async->turn, async->callable.process->cfg.vclock);
	sim_dpa_turn_hear_sync(&async->turn);
	async->has_begun = true;
	pthread_cond_broadcast(&async->wake);
	if (async->turn.source)
		run_in_turns(async);
	while (!async->is_stopping) {
		int rc = execute_first(async);

		if (rc == 0) {
			round = 0;
		} else if (rc == -ENOENT) {
			pthread_cond_wait(&async->wake, &async->lock);
		} else {
			pthread_mutex_unlock(&async->lock);
			sim_dpa_pause(round++);
			pthread_mutex_lock(&async->lock);
		}
	}
	pthread_mutex_unlock(&async->lock);
	sim_dpa_turn_end(&async->turn);
	return NULL;
}

/* Returns 0 or -errno. The lock is held. In virtual time, threads take part in the order of their starts. */
static int start_thread(struct sim_dpa_async *async)
{
	int rc = sim_thread_start(&async->thread, "bfsim-dpa-async", run, async);
	bool marked;

	if (rc < 0)
		return rc;
	async->has_thread = true;
	marked = sim_clock_begin_wait();
	while (sim_dpa_is_virtual(async->callable.process) && !async->has_begun)
		pthread_cond_wait(&async->wake, &async->lock);
	sim_clock_end_wait(marked);
	return 0;
}

/* ---- start and stop ---- */

int sim_dpa_async_start(struct sim_dpa_process *process, struct sim_dpa_completion *completion, uint32_t size,
			uint32_t user_data, struct sim_dpa_async *async)
{
	*async = (struct sim_dpa_async){ .completion = completion, .size = size, .user_data = user_data };
	pthread_mutex_init(&async->lock, NULL);
	pthread_cond_init(&async->wake, NULL);
	STAILQ_INIT(&async->pending);
	STAILQ_INIT(&async->queued);
	return sim_dpa_callable_start(process, SIM_DPA_ASYNC, &async->callable);
}

static void drop(struct sim_dpa_async_list *list)
{
	struct sim_dpa_async_op *op;

	while ((op = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, link);
		free(op);
	}
}

void sim_dpa_async_stop(struct sim_dpa_async *async)
{
	bool marked;

	sim_dpa_callable_stop(&async->callable);
	pthread_mutex_lock(&async->lock);
	async->is_stopping = true;
	sim_dpa_turn_interrupt(&async->turn, &async->wake);
	pthread_mutex_unlock(&async->lock);
	marked = sim_clock_begin_wait();
	if (async->has_thread)
		pthread_join(async->thread, NULL);
	sim_clock_end_wait(marked);
	drop(&async->pending);
	drop(&async->queued);
}

/* ---- posts ---- */

static void flush(struct sim_dpa_async *async)
{
	STAILQ_CONCAT(&async->queued, &async->pending);
	while (execute_first(async) == 0)
		;
	if (async->has_thread)
		sim_dpa_turn_signal(&async->turn, &async->wake);
}

/* Returns 0, -EAGAIN (the queue is full for now, or there is no memory) or -errno: no thread. */
static int post(struct sim_dpa_async *async, const struct sim_dpa_async_op *with, bool is_flush)
{
	struct sim_dpa_async_op *op;
	int rc;

	if (async->num_ops >= async->size) {
		flush(async);
		return -EAGAIN;
	}
	if (with->is_wait && !async->has_thread) {
		rc = start_thread(async);
		if (rc < 0)
			return rc;
	}
	op = malloc(sizeof(*op));
	if (!op)
		return -EAGAIN;
	*op = *with;
	op->index = async->num_posted++ % async->size;
	STAILQ_INSERT_TAIL(&async->pending, op, link);
	async->num_ops++;
	if (is_flush)
		flush(async);
	return 0;
}

static struct sim_dpa_async *begin_call(uint64_t handle)
{
	const struct sim_dpa_work *work = sim_dpa_eu_current()->current;

	if (!work->activity && !work->is_rpc)
		sim_dpa_refuse("DPA threads and RPCs can post asynchronous operations, but not kernel launches");
	return (struct sim_dpa_async *)sim_dpa_call_begin(SIM_DPA_ASYNC, handle, "queue of asynchronous operations");
}

static void post_or_wait(uint64_t handle, const struct sim_dpa_async_op *op, bool is_flush)
{
	for (uint32_t round = 0;; round++) {
		struct sim_dpa_async *async = begin_call(handle);
		int rc;

		pthread_mutex_lock(&async->lock);
		rc = post(async, op, is_flush);
		pthread_mutex_unlock(&async->lock);
		sim_dpa_call_end(&async->callable);
		if (rc == 0)
			return;
		if (rc != -EAGAIN)
			sim_dpa_refuse("no thread for the wait: %s", strerror(-rc));
		sim_dpa_wait_for_room(round);
	}
}

void sim_dpa_port_async_copy(uint64_t handle, const struct sim_dpa_span *dst, const struct sim_dpa_span *src,
			     uint32_t flags)
{
	const struct sim_dpa_async_op op = { .is_reported = !(flags & SIM_DPA_POST_OPTIMIZE_REPORTS),
					     .dst = *dst,
					     .src = *src };

	post_or_wait(handle, &op, flags & SIM_DPA_POST_FLUSH);
}

void sim_dpa_port_async_wait(uint64_t handle, uint64_t event, enum sim_dpa_compare compare, uint64_t value)
{
	const struct sim_dpa_async_op op = {
		.is_wait = true, .is_reported = true, .event = event, .value = value, .compare = compare
	};

	post_or_wait(handle, &op, true);
}
