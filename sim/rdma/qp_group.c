/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of queue pairs: their life, and the lists of their queue pairs. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "queue_pair_priv.h"
#include "sim/fabric/remote.h"

void sim_qp_group_init(struct sim_qp_group *group)
{
	*group = (struct sim_qp_group){ .deadline_ns = UINT64_MAX };
	sim_receive_pool_init(&group->receives);
	STAILQ_INIT(&group->done);
	TAILQ_INIT(&group->all);
	TAILQ_INIT(&group->active);
	TAILQ_INIT(&group->starved);
	TAILQ_INIT(&group->unpolled.watched);
	LIST_INIT(&group->far_queues);
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
	group->net = &sim_clock_page(sim_session_clock(session))->net;
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
	group->net = NULL;
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

void sim_qp_group_starve(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (qp->is_starved)
		return;
	qp->is_starved = true;
	TAILQ_INSERT_TAIL(&group->starved, qp, in_starved);
}

void sim_qp_group_feed(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (!qp->is_starved)
		return;
	TAILQ_REMOVE(&group->starved, qp, in_starved);
	qp->is_starved = false;
}

void sim_qp_group_watch(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (atomic_load(&qp->is_watched))
		return;
	TAILQ_INSERT_TAIL(&group->unpolled.watched, qp, in_watched);
	atomic_store(&qp->is_watched, true);
}

static void unwatch(struct sim_qp_group *group, struct sim_qp *qp)
{
	if (!atomic_load(&qp->is_watched))
		return;
	TAILQ_REMOVE(&group->unpolled.watched, qp, in_watched);
	atomic_store(&qp->is_watched, false);
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
	if (group->heard == qp)
		group->heard = NULL;
	if (group->answered == qp)
		group->answered = NULL;
	sim_qp_group_lock(group);
	sim_qp_group_feed(group, qp);
	unwatch(group, qp);
	TAILQ_REMOVE(&group->all, qp, in_all);
	sim_qp_group_unlock(group);
	qp->is_in_group = qp->is_active = false;
	if (qp->num_works > 0)
		forget_works(group, qp);
}
