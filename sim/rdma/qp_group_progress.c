/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of queue pairs: turns, and going to sleep. */
#include "queue_pair_priv.h"

#define SWEEP_TURNS 16 /* from a look at one inbox to that at the next */
#define FAR_TURNS   128

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

		sim_qp_group_feed(group, qp);
		if (qp->state == SIM_QP_READY) {
			sim_responder_run(qp, 0);
			sim_qp_tell_requester(qp);
		}
		if (atomic_load(&qp->message_due_ns) > 0) /* the next message: progress sees to its time */
			sim_doorbell_requeue(&group->doorbells, qp->slot);
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
		sim_qp_progress_servers(qp);
}

/* Another peer may have erased a ring, and may ring all the time: look at the next inbox whether or not a slot rang. */
static void find_missed_ring(struct sim_qp_group *group)
{
	struct sim_qp *next = group->swept ? TAILQ_NEXT(group->swept, in_all) : NULL;

	group->swept = next ? next : TAILQ_FIRST(&group->all);
	if (group->swept && sim_qp_has_missed_ring(group->swept))
		sim_qp_progress_servers(group->swept);
}

/* So many turns, as answers come all the time. */
static void progress_far(struct sim_qp_group *group)
{
	struct sim_qp *qp;

	if (!sim_far_queues_have_turns(group))
		return;
	for (uint32_t i = 0; i < FAR_TURNS && (qp = sim_far_queues_next(group)); i++)
		sim_qp_progress(qp, 0);
}

/* Each slot that rang, at most as often as there are slots, as a hostile peer may ring all the time. A receive that was posted went
 * to the queue pair that waited longest, if one did. Rings without anything to find do not change whose turn is next. */
static void progress_slots(struct sim_qp_group *group)
{
	uint32_t begin = group->doorbells.cursor, slot, count = 0;

	while (count < SIM_DOORBELL_SLOTS && sim_doorbell_next(&group->doorbells, &slot)) {
		progress_slot(group, slot);
		count++;
	}
	if (count > 0)
		group->doorbells.cursor = begin;
}

void sim_qp_group_progress(struct sim_qp_group *group)
{
	if (!group->session)
		return;
	sim_qp_group_tell_answers(group);
	group->is_in_turn = true;
	if (sim_doorbell_has_rung(&group->doorbells))
		progress_slots(group);
	else if (group->heard && sim_responder_may_have_record(group->heard))
		sim_qp_progress(group->heard, 0);
	if (++group->num_turns % SWEEP_TURNS == 0)
		find_missed_ring(group);
	if (!LIST_EMPTY(&group->far_queues))
		progress_far(group);
	group->is_in_turn = false;
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
	sim_qp_group_tell_answers(group);
	sim_qp_group_lock(group);
	TAILQ_FOREACH(qp, &group->all, in_all)
		if (sim_qp_arm(qp))
			sim_doorbell_requeue(&group->doorbells, qp->slot);
	sim_qp_group_unlock(group);
	if (sim_far_queues_arm(group))
		return true;
	return sim_doorbell_arm(&group->doorbells) || sim_qp_group_has_done(group);
}
