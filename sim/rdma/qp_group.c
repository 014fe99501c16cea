/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of queue pairs: doorbells, turns, and going to sleep. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "queue_pair_priv.h"
#include "sim/fabric/remote.h"

#define SWEEP_TURNS 16 /* from a look at one inbox to that at the next */

/* ---- life ---- */

void sim_qp_group_init(struct sim_qp_group *group)
{
	*group = (struct sim_qp_group){ .deadline_ns = UINT64_MAX };
	sim_receive_pool_init(&group->receives);
	STAILQ_INIT(&group->done);
	TAILQ_INIT(&group->all);
	TAILQ_INIT(&group->active);
	TAILQ_INIT(&group->starved);
}

static int make_slots(struct sim_qp_group *group)
{
	group->slots = calloc(SIM_DOORBELL_SLOTS, sizeof(*group->slots));
	for (uint32_t i = 0; group->slots && i < SIM_DOORBELL_SLOTS; i++)
		TAILQ_INIT(&group->slots[i]);
	return group->slots ? 0 : -ENOMEM;
}

static int export_doorbells(struct sim_qp_group *group, struct sim_session *session, const struct sim_qp_cfg *cfg)
{
	const size_t len = sizeof(struct sim_doorbell_shared);
	struct sim_region region = { .len_bytes = len,
				     .access = SIM_ACCESS_NET | SIM_ACCESS_INBOX,
				     .function = cfg->function };
	int fd, rc = sim_segment_create(len, &group->doorbell_memory, &fd);

	if (rc < 0)
		return rc;
	group->doorbells.shared = group->doorbell_memory.base;
	region.addr = region.cpu_addr = (uintptr_t)group->doorbell_memory.base;
	rc = sim_session_export_inbox(session, &region, fd, cfg->wake_fd, &group->key);
	close(fd);
	return rc;
}

int sim_qp_group_open(struct sim_qp_group *group, struct sim_session *session, const struct sim_qp_cfg *cfg)
{
	int rc;

	if (group->session)
		return 0;
	rc = make_slots(group);
	if (rc == 0)
		rc = export_doorbells(group, session, cfg);
	if (rc < 0) {
		sim_qp_group_abandon(group);
		return rc;
	}
	group->session = session;
	return 0;
}

void sim_qp_group_close(struct sim_qp_group *group)
{
	if (group->session)
		sim_session_unexport(group->session, group->key.id);
	sim_qp_group_abandon(group);
}

void sim_qp_group_abandon(struct sim_qp_group *group)
{
	sim_segment_unmap(&group->doorbell_memory);
	group->doorbells = (struct sim_doorbells){ 0 };
	free(group->slots);
	group->slots = NULL;
	group->session = NULL;
	group->next_slot = 0;
}

uint32_t sim_qp_group_next_slot(struct sim_qp_group *group)
{
	return group->next_slot++ % SIM_DOORBELL_SLOTS;
}

void sim_qp_group_add(struct sim_qp_group *group, struct sim_qp *qp)
{
	TAILQ_INSERT_TAIL(&group->slots[qp->slot], qp, in_slot);
	sim_qp_group_lock(group);
	TAILQ_INSERT_TAIL(&group->all, qp, in_all);
	sim_qp_group_unlock(group);
	qp->is_in_group = true;
}

/* @qp no longer waits for a receive; the lock is held. */
static void feed(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (!qp->is_starved)
		return;
	TAILQ_REMOVE(&group->starved, qp, in_starved);
	qp->is_starved = false;
}

static void forget_works(struct sim_qp_group *group, const struct sim_qp *qp)
{
	struct sim_rdma_work *work, *next;

	for (work = STAILQ_FIRST(&group->done); work; work = next) {
		next = STAILQ_NEXT(work, link);
		if (work->qp == qp)
			STAILQ_REMOVE(&group->done, work, sim_rdma_work, link);
	}
}

void sim_qp_group_remove(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (!qp->is_in_group)
		return;
	if (qp->is_active)
		TAILQ_REMOVE(&group->active, qp, in_active);
	TAILQ_REMOVE(&group->slots[qp->slot], qp, in_slot);
	if (group->swept == qp)
		group->swept = TAILQ_PREV(qp, sim_qp_list, in_all);
	sim_qp_group_lock(group);
	feed(group, qp);
	TAILQ_REMOVE(&group->all, qp, in_all);
	sim_qp_group_unlock(group);
	qp->is_in_group = qp->is_active = false;
	if (qp->num_works > 0)
		forget_works(group, qp);
}

/* ---- progress ---- */

void sim_qp_group_update(struct sim_qp_group *group, struct sim_qp *qp)
{
	bool is_active = sim_qp_has_open_works(qp) || sim_qp_waits_for_model(qp);

	if (is_active != qp->is_active) {
		if (is_active)
			TAILQ_INSERT_TAIL(&group->active, qp, in_active);
		else
			TAILQ_REMOVE(&group->active, qp, in_active);
		qp->is_active = is_active;
	}
	if (is_active)
		group->deadline_ns = min_u64(group->deadline_ns, sim_qp_deadline_ns(qp));
}

void sim_qp_group_starve(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (qp->is_starved)
		return;
	qp->is_starved = true;
	TAILQ_INSERT_TAIL(&group->starved, qp, in_starved);
}

/* Whether a queue pair that waits for a receive would get one; the lock is held. */
static bool can_feed(const struct sim_qp_group *group)
{
	return sim_receive_pool_has_posted(&group->receives) && !TAILQ_EMPTY(&group->starved);
}

/* Serve queue pairs that wait for a receive, the one that waits longest first; one that finds none goes to the end. The lock
 * is held. */
static void feed_starved(struct sim_qp_group *group)
{
	while (can_feed(group)) {
		struct sim_qp *qp = TAILQ_FIRST(&group->starved);

		feed(group, qp);
		if (qp->state == SIM_QP_READY)
			sim_responder_run(qp, 0);
	}
}

void sim_qp_group_post_receive(struct sim_qp_group *group, struct sim_rdma_receive *receive)
{
	sim_qp_group_lock(group);
	sim_receive_pool_post(&group->receives, receive);
	feed_starved(group);
	sim_qp_group_unlock(group);
}

static void progress_slot(struct sim_qp_group *group, uint32_t slot)
{
	struct sim_qp *qp;

	TAILQ_FOREACH(qp, &group->slots[slot], in_slot)
		sim_qp_progress(qp, 0);
}

/* Another peer may have erased a ring, and may ring all the time: look at the next inbox whether or not a slot rang. */
static void find_missed_ring(struct sim_qp_group *group)
{
	struct sim_qp *next = group->swept ? TAILQ_NEXT(group->swept, in_all) : NULL;

	group->swept = next ? next : TAILQ_FIRST(&group->all);
	if (group->swept && sim_qp_has_missed_ring(group->swept))
		sim_qp_progress(group->swept, 0);
}

/* Each slot that rang, at most as often as there are slots, as a hostile peer may ring all the time. A receive that was posted went
 * to the queue pair that waited longest, if one did. Rings without anything to find do not change whose turn is next. */
void sim_qp_group_progress(struct sim_qp_group *group)
{
	uint32_t begin, slot, count = 0;

	if (!group->session)
		return;
	begin = group->doorbells.cursor;
	while (count < SIM_DOORBELL_SLOTS && sim_doorbell_next(&group->doorbells, &slot)) {
		progress_slot(group, slot);
		count++;
	}
	if (count > 0)
		group->doorbells.cursor = begin;
	if (++group->num_turns % SWEEP_TURNS == 0)
		find_missed_ring(group);
}

void sim_qp_group_on_alarm(struct sim_qp_group *group)
{
	struct sim_qp *qp, *next;

	for (qp = TAILQ_FIRST(&group->active); qp; qp = next) {
		next = TAILQ_NEXT(qp, in_active);
		sim_qp_progress(qp, 0);
	}
}

struct sim_rdma_work *sim_qp_group_reap(struct sim_qp_group *group)
{
	struct sim_rdma_work *work = STAILQ_FIRST(&group->done);

	if (!work)
		return NULL;
	STAILQ_REMOVE_HEAD(&group->done, link);
	work->qp->num_works--;
	return work;
}

bool sim_qp_group_arm(struct sim_qp_group *group)
{
	struct sim_qp *qp;

	if (!group->session)
		return false;
	TAILQ_FOREACH(qp, &group->all, in_all)
		if (sim_qp_arm(qp))
			sim_doorbell_requeue(&group->doorbells, qp->slot);
	return sim_doorbell_arm(&group->doorbells) || sim_qp_group_has_done(group);
}
