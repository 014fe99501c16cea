/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of a sync event, and deferred ones. A card makes a deferred update when it is due, though the program's threads block.
 *
 * The owner runs those that are due when it polls; in virtual time, also while it blocks in a call. The engine's thread runs the
 * others, in virtual time those of an owner that time does not wait for. */
#include <stddef.h>

#include "pcie_model/arith.h"
#include "shim/common/pe/pe_vclock.h"
#include "sim/base/monotonic.h"
#include "sync_event_priv.h"

static struct doca_sync_event *event_of(struct sim_engine_member *member)
{
	return (struct doca_sync_event *)((char *)member - offsetof(struct doca_sync_event, deferred.member));
}

int shim_sync_task_update(struct shim_sync_task *task)
{
	struct shim_sync_value *value = &shim_sync_task_event(&task->task)->value;

	return task->kind == SHIM_SYNC_SET ? shim_sync_value_set(value, task->operand) :
					     shim_sync_value_add(value, task->operand, &task->result);
}

/* Returns the time of the next one, or SIM_CLOCK_NEVER_NS. Under the lock. */
static uint64_t run_due(struct doca_sync_event *event, uint64_t now_ns)
{
	struct shim_sync_task *task = TAILQ_FIRST(&event->deferred.updates);
	uint64_t next_ns = SIM_CLOCK_NEVER_NS;

	while (task) {
		struct shim_sync_task *next = TAILQ_NEXT(task, update_link);

		if (task->due_ns <= now_ns) {
			TAILQ_REMOVE(&event->deferred.updates, task, update_link);
			task->rc = shim_sync_task_update(task);
			task->has_run = true;
		} else {
			next_ns = min_u64(next_ns, task->due_ns);
		}
		task = next;
	}
	return next_ns;
}

/* ---- engine ---- */

static uint64_t advance_own(struct sim_engine_member *member)
{
	struct doca_sync_event *event = event_of(member);
	uint64_t next_ns = SIM_CLOCK_NEVER_NS;

	pthread_mutex_lock(&event->deferred.lock);
	if (!TAILQ_EMPTY(&event->deferred.updates) && shim_pe_vclock_is_own(&event->ctx))
		next_ns = run_due(event, shim_now_ns());
	pthread_mutex_unlock(&event->deferred.lock);
	return next_ns;
}

/* Let virtual time pass until the next one is due, in place of an owner that time does not wait for. Without the lock. */
static void pass_time(struct sim_vclock_sched *vclock, uint64_t due_ns)
{
	const struct sim_vclock_source_cfg cfg = { 0 };
	struct sim_vclock_source *source;

	if (sim_vclock_source_create(vclock, &cfg, &source) < 0)
		return;
	sim_vclock_source_wait_turn(source, due_ns);
	sim_vclock_source_destroy(source);
}

/* Returns the time of the next one that the engine's thread has to run, or SIM_CLOCK_NEVER_NS. */
static uint64_t find_due(struct doca_sync_event *event, bool *ret_pending)
{
	uint64_t due_ns = SIM_CLOCK_NEVER_NS;

	pthread_mutex_lock(&event->deferred.lock);
	*ret_pending = !TAILQ_EMPTY(&event->deferred.updates);
	if (*ret_pending && !(event->deferred.vclock && shim_pe_vclock_patience_ns(&event->ctx) > 0))
		due_ns = run_due(event, shim_now_ns());
	pthread_mutex_unlock(&event->deferred.lock);
	return due_ns;
}

static bool tick(struct sim_engine_member *member, uint64_t *next_ns)
{
	struct doca_sync_event *event = event_of(member);
	uint64_t due_ns, now_ns;
	bool pending;

	due_ns = find_due(event, &pending);
	if (due_ns == SIM_CLOCK_NEVER_NS)
		return pending;
	if (event->deferred.vclock) {
		pass_time(event->deferred.vclock, due_ns);
		return true;
	}
	now_ns = shim_now_ns();
	*next_ns = min_u64(*next_ns, sim_monotonic_ns() + (due_ns > now_ns ? due_ns - now_ns : 0));
	return true;
}

/* ---- the owner ---- */

static void begin(struct shim_sync_deferred *deferred)
{
	struct sim_engine *engine = sim_session_engine(shim_session());

	deferred->vclock = shim_vclock;
	deferred->member = (struct sim_engine_member){ .tick = tick, .advance_own = advance_own };
	TAILQ_INIT(&deferred->updates);
	pthread_mutex_init(&deferred->lock, NULL);
	sim_engine_add(engine, &deferred->member);
	deferred->engine = engine;
}

void shim_sync_deferred_add(struct shim_sync_task *task)
{
	struct shim_sync_deferred *deferred = &shim_sync_task_event(&task->task)->deferred;

	if (!deferred->engine)
		begin(deferred);
	pthread_mutex_lock(&deferred->lock);
	TAILQ_INSERT_TAIL(&deferred->updates, task, update_link);
	pthread_mutex_unlock(&deferred->lock);
	sim_engine_keep_awake(deferred->engine);
}

void shim_sync_deferred_run(struct doca_sync_event *event, uint64_t now_ns)
{
	if (!event->deferred.engine)
		return;
	pthread_mutex_lock(&event->deferred.lock);
	run_due(event, now_ns);
	pthread_mutex_unlock(&event->deferred.lock);
}

void shim_sync_deferred_drop_all(struct doca_sync_event *event)
{
	if (!event->deferred.engine)
		return;
	pthread_mutex_lock(&event->deferred.lock);
	TAILQ_INIT(&event->deferred.updates);
	pthread_mutex_unlock(&event->deferred.lock);
}

void shim_sync_deferred_end(struct doca_sync_event *event)
{
	struct shim_sync_deferred *deferred = &event->deferred;

	if (!deferred->engine)
		return;
	sim_engine_remove(deferred->engine, &deferred->member);
	pthread_mutex_destroy(&deferred->lock);
	deferred->engine = NULL;
}
