/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine's thread serves queue pairs that the program does not progress. */
#include "unpolled.h"

#include <pthread.h>
#include <stddef.h>

#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "sim/base/fork.h"
#include "sim/base/monotonic.h"
#include "sim/session/kick.h"

#define BUSY_TICK_NS 50000 /* from one tick to the next while messages come */

/* Held while the engine's thread is in a group, and during a fork. The thread never waits for it, as the thread that forks waits for
 * other locks then. */
static pthread_mutex_t serving = PTHREAD_MUTEX_INITIALIZER;

/* The groups that the thread serves, for a fork. Nothing is waited for under the lock. */
static struct {
	pthread_mutex_t lock;
	LIST_HEAD(, sim_qp_group) list;
} groups = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void before_fork(void)
{
	pthread_mutex_lock(&serving);
	pthread_mutex_lock(&groups.lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&groups.lock);
	pthread_mutex_unlock(&serving);
}

/* Another thread of the parent's program may have been in a group: the child has no such thread, and gets free locks. The thread of
 * the engine is the parent's. */
static void in_child(void)
{
	struct sim_qp_group *group;

	while ((group = LIST_FIRST(&groups.list))) {
		LIST_REMOVE(group, unpolled.entry);
		group->unpolled.session = NULL;
		pthread_mutex_init(&group->receives.lock, NULL);
	}
	in_parent();
}

SIM_AT_FORK(SIM_FORK_USERS, .before = before_fork, .parent = in_parent, .child = in_child);

/* What a tick can change of a queue pair. */
struct progress {
	uint64_t num_records;
	int failure;
};

static struct progress get_progress(const struct sim_qp *qp)
{
	return (struct progress){ .num_records = qp->in.count, .failure = atomic_load(&qp->responder_failure) };
}

/* Serve one queue pair. Returns whether anything has changed. */
static bool serve(struct sim_qp *qp)
{
	struct progress before = get_progress(qp), after;

	sim_responder_run(qp, 0);
	sim_qp_tell_requester(qp);
	after = get_progress(qp);
	if (after.num_records == before.num_records && after.failure == before.failure)
		return false;
	if (qp->cfg.notify)
		qp->cfg.notify(qp->cfg.arg);
	return true;
}

/* Returns whether there may be work in the next tick; *ret_has_served: messages were taken. */
static bool tick_one(struct sim_qp *qp, bool is_virtual, bool *ret_has_served)
{
	uint64_t kicks = atomic_load(&qp->inbox->kicks);
	bool is_kicked = kicks != atomic_load_explicit(&qp->inbox->looks, memory_order_relaxed);
	bool is_ready = qp->state == SIM_QP_READY && sim_qp_has_come(qp, atomic_load(&qp->held_until_ns));

	*ret_has_served = is_ready && (is_kicked || !is_virtual) && serve(qp);
	if (is_kicked)
		atomic_store(&qp->inbox->looks, kicks);
	return *ret_has_served || (is_ready && !is_virtual && sim_qp_watch_peer_in_tick(qp));
}

/* A kick says the process, and not the queue pair. */
static void find_kicked(struct sim_qp_group *group)
{
	uint64_t num_kicks = sim_session_num_kicks(group->unpolled.session);
	struct sim_qp *qp;

	if (num_kicks == group->unpolled.num_kicks)
		return;
	group->unpolled.num_kicks = num_kicks;
	TAILQ_FOREACH(qp, &group->all, in_all)
		if (atomic_load(&qp->inbox->kicks) != atomic_load_explicit(&qp->inbox->looks, memory_order_relaxed))
			sim_qp_group_watch(group, qp);
}

/* Returns whether there may be work in the next tick; *ret_has_served: messages were taken. A queue pair is no longer watched before
 * its tick looks for messages: one that begins meanwhile is seen, or its requester sees that the queue pair is not watched. */
static bool tick_group(struct sim_qp_group *group, bool *ret_has_served)
{
	bool is_virtual = sim_session_vclock(group->unpolled.session) != NULL, has_served_one, goes_on;
	struct sim_qp_list list = TAILQ_HEAD_INITIALIZER(list);
	struct sim_qp *qp;

	*ret_has_served = false;
	sim_qp_group_lock(group);
	find_kicked(group);
	TAILQ_CONCAT(&list, &group->unpolled.watched, in_watched);
	while ((qp = TAILQ_FIRST(&list))) {
		TAILQ_REMOVE(&list, qp, in_watched);
		atomic_store(&qp->is_watched, false);
		if (tick_one(qp, is_virtual, &has_served_one))
			sim_qp_group_watch(group, qp);
		*ret_has_served |= has_served_one;
	}
	goes_on = !TAILQ_EMPTY(&group->unpolled.watched);
	sim_qp_group_unlock(group);
	return goes_on;
}

static bool tick(struct sim_engine_member *member, uint64_t *next_ns)
{
	struct sim_qp_group *group =
		(struct sim_qp_group *)((uintptr_t)member - offsetof(struct sim_qp_group, unpolled.member));
	bool has_served, goes_on;

	if (pthread_mutex_trylock(&serving) != 0)
		return true;
	goes_on = tick_group(group, &has_served);
	pthread_mutex_unlock(&serving);
	if (has_served)
		*next_ns = min_u64(*next_ns, sim_monotonic_ns() + BUSY_TICK_NS);
	return goes_on;
}

void sim_unpolled_begin(struct sim_qp_group *group, struct sim_session *session)
{
	group->unpolled.session = session;
	group->unpolled.num_kicks = sim_session_num_kicks(session);
	group->unpolled.member = (struct sim_engine_member){ .tick = tick };
	pthread_mutex_lock(&groups.lock);
	LIST_INSERT_HEAD(&groups.list, group, unpolled.entry);
	pthread_mutex_unlock(&groups.lock);
	sim_engine_add(sim_session_engine(session), &group->unpolled.member);
}

void sim_unpolled_end(struct sim_qp_group *group)
{
	if (!group->unpolled.session)
		return;
	sim_engine_remove(sim_session_engine(group->unpolled.session), &group->unpolled.member);
	pthread_mutex_lock(&groups.lock);
	LIST_REMOVE(group, unpolled.entry);
	pthread_mutex_unlock(&groups.lock);
	group->unpolled.session = NULL;
}

void sim_unpolled_keep_watch(struct sim_qp *qp)
{
	struct sim_qp_group *group = qp->cfg.group;

	if (!group->unpolled.session || sim_session_vclock(group->unpolled.session))
		return;
	if (!atomic_load(&qp->is_watched)) {
		sim_qp_group_lock(group);
		sim_qp_group_watch(group, qp);
		sim_qp_group_unlock(group);
	}
	sim_engine_keep_awake(sim_session_engine(group->unpolled.session));
}
