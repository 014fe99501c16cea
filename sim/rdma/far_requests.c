/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for memory of other machines. */
#include "far_requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "far_queue.h"
#include "memory.h"
#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "sim/fabric/remote.h"
#include "sim/shm/wake.h"

#define MAX_PARTS_OF_ONE (SIM_FAR_SLOTS / 4) /* of a queue pair: others get slots, too */
#define RETRY_NS         1000000u            /* of an introduction, while another one is being read */

/* The use of a slot. */
struct sim_far_part {
	struct sim_qp *qp; /* NULL = it has ended */
	struct sim_rdma_work *work;
	uint64_t at; /* of the work's bytes */
	uint32_t len;
	bool is_posted, is_done;
	int status;
	STAILQ_ENTRY(sim_far_part) link;
};

struct sim_far_queue {
	struct sim_session *session;
	struct sim_segment memory;
	struct sim_far_queue_shared *shared;
	struct sim_key key;
	int wake_fd; /* of the gateway */
	uint32_t num_posted, num_returned;
	uint16_t next_stream;
	uint32_t num_free, free[SIM_FAR_SLOTS];
	struct sim_far_part parts[SIM_FAR_SLOTS];
	struct sim_far_qp_list ready;   /* they have answers */
	struct sim_far_qp_list waiting; /* for a slot */
	LIST_ENTRY(sim_far_queue) entry;
};

/* ---- life ---- */

static int export(struct sim_far_queue *queue, const struct sim_qp_cfg *cfg)
{
	struct sim_region region = { .len_bytes = sizeof(struct sim_far_queue_shared),
				     .access = SIM_ACCESS_NET | SIM_ACCESS_INBOX,
				     .function = cfg->function };
	int fd, rc = sim_segment_create(sizeof(struct sim_far_queue_shared), &queue->memory, &fd);

	if (rc < 0)
		return rc;
	queue->shared = queue->memory.base;
	region.addr = region.cpu_addr = (uintptr_t)queue->shared;
	rc = sim_session_export_inbox(queue->session, &region, fd, cfg->wake_fd, &queue->key);
	close(fd);
	return rc;
}

static int create(const struct sim_qp *qp, struct sim_far_queue **ret_queue)
{
	struct sim_far_queue *queue = calloc(1, sizeof(*queue));
	int rc;

	if (!queue)
		return -ENOMEM;
	queue->session = qp->session;
	queue->wake_fd = qp->peer_group->wake_fd;
	TAILQ_INIT(&queue->ready);
	TAILQ_INIT(&queue->waiting);
	for (uint32_t i = 0; i < SIM_FAR_SLOTS; i++)
		queue->free[queue->num_free++] = SIM_FAR_SLOTS - 1 - i;
	rc = export(queue, &qp->cfg);
	if (rc < 0) {
		sim_segment_unmap(&queue->memory);
		free(queue);
		return rc;
	}
	LIST_INSERT_HEAD(&qp->cfg.group->far_queues, queue, entry);
	*ret_queue = queue;
	return 0;
}

void sim_far_queue_destroy(struct sim_far_queue *queue)
{
	if (!queue)
		return;
	sim_session_unexport(queue->session, queue->key.id);
	sim_far_queue_abandon(queue);
}

void sim_far_queue_abandon(struct sim_far_queue *queue)
{
	if (!queue)
		return;
	LIST_REMOVE(queue, entry);
	sim_segment_unmap(&queue->memory);
	free(queue);
}

int sim_qp_far_open(struct sim_qp *qp)
{
	struct sim_qp_far *far = calloc(1, sizeof(*far));
	int rc = far ? 0 : -ENOMEM;

	if (rc == 0 && !qp->peer_group->far_queue)
		rc = create(qp, &qp->peer_group->far_queue);
	if (rc < 0) {
		free(far);
		return rc;
	}
	far->queue = qp->peer_group->far_queue;
	far->stream = far->queue->next_stream++;
	STAILQ_INIT(&far->under_way);
	STAILQ_INIT(&far->parts);
	qp->inbox->far_queue = far->queue->key;
	qp->far = far;
	return 0;
}

static void free_slot(struct sim_far_queue *queue, const struct sim_far_part *part)
{
	queue->free[queue->num_free++] = (uint32_t)(part - queue->parts);
}

/* Parts that the gateway has keep their slots. */
static void drop_parts(struct sim_qp_far *far)
{
	struct sim_far_part *part;

	while ((part = STAILQ_FIRST(&far->parts))) {
		STAILQ_REMOVE_HEAD(&far->parts, link);
		part->qp = NULL;
		if (part->is_done)
			free_slot(far->queue, part);
	}
	far->num_parts = 0;
}

static void unlist(struct sim_qp *qp)
{
	struct sim_qp_far *far = qp->far;

	if (far->is_ready)
		TAILQ_REMOVE(&far->queue->ready, qp, far_ready);
	if (far->waits)
		TAILQ_REMOVE(&far->queue->waiting, qp, far_waiting);
	far->is_ready = far->waits = false;
}

void sim_qp_far_close(struct sim_qp *qp)
{
	if (!qp->far)
		return;
	unlist(qp);
	drop_parts(qp->far);
	free(qp->far);
	qp->far = NULL;
}

/* ---- what a work asks for ---- */

int sim_rdma_far_copy(struct sim_rdma_far *far, enum sim_served_kind kind, struct sim_remote *remote, uint64_t addr,
		      uint64_t bytes)
{
	uint32_t access = kind == SIM_SERVED_READ ? SIM_ACCESS_READ : SIM_ACCESS_WRITE;
	int rc = bytes > 0 ? sim_remote_check(remote, addr, bytes, access) : 0;

	*far = (struct sim_rdma_far){ .kind = kind, .remote = remote, .addr = addr, .bytes = bytes };
	return rc;
}

int sim_rdma_far_atomic(struct sim_rdma_far *far, struct sim_remote *remote, uint64_t addr,
			const struct sim_rdma_atomic *atomic)
{
	int rc = addr % sizeof(uint64_t) != 0 ? -EINVAL : 0;

	if (rc == 0)
		rc = sim_remote_check(remote, addr, sizeof(uint64_t), SIM_ACCESS_ATOMIC);
	*far = (struct sim_rdma_far){ .kind = SIM_SERVED_FAR_OP,
				      .remote = remote,
				      .addr = addr,
				      .operands = { .op = atomic->is_swap ? SIM_FAR_SWAP : SIM_FAR_ADD,
						    .compare = atomic->compare,
						    .operand = atomic->operand },
				      .bytes = sizeof(struct sim_far_operands) };
	return rc;
}

int sim_rdma_far_event(struct sim_rdma_far *far, struct sim_remote *remote, enum sim_far_op op, uint64_t operand)
{
	*far = (struct sim_rdma_far){ .kind = SIM_SERVED_FAR_OP,
				      .remote = remote,
				      .addr = remote->region.addr,
				      .operands = { .op = op, .operand = operand },
				      .bytes = sizeof(struct sim_far_operands) };
	return atomic_load(&remote->revoked) ? -EIO : 0;
}

/* ---- posts ---- */

static void wait_for_slot(struct sim_qp *qp)
{
	struct sim_qp_far *far = qp->far;

	if (!far->waits)
		TAILQ_INSERT_TAIL(&far->queue->waiting, qp, far_waiting);
	far->waits = true;
}

static int fill(struct sim_far_queue *queue, uint32_t number, const struct sim_rdma_work *work, uint32_t len)
{
	uint8_t *data = queue->shared->data[number];

	if (work->far->kind == SIM_SERVED_WRITE)
		return sim_rdma_gather(work->segments, work->num_segments, work->far->posted, data, len);
	if (work->far->kind == SIM_SERVED_FAR_OP)
		memcpy(data, &work->far->operands, sizeof(work->far->operands));
	return 0;
}

/* The gateway sees the number, or this end sees that it sleeps. */
static void publish(struct sim_far_queue *queue, uint32_t number)
{
	struct sim_far_queue_shared *shared = queue->shared;

	shared->posts[queue->num_posted % SIM_FAR_SLOTS] = number;
	atomic_store(&shared->num_posted, ++queue->num_posted);
	if (atomic_load(&shared->gateway_asleep) && atomic_exchange(&shared->gateway_asleep, 0) && queue->wake_fd >= 0)
		sim_wake_send(queue->wake_fd);
}

/* Post the next part in a slot that is free. Returns 0 or -errno. */
static int post_part(struct sim_qp *qp, struct sim_rdma_work *work)
{
	struct sim_qp_far *far = qp->far;
	struct sim_rdma_far *wanted = work->far;
	struct sim_far_queue *queue = far->queue;
	uint32_t number = queue->free[queue->num_free - 1];
	struct sim_far_part *part = &queue->parts[number];
	uint32_t len = (uint32_t)min_u64(wanted->bytes - wanted->posted, SIM_FAR_SLOT_BYTES);
	int rc = fill(queue, number, work, len);

	if (rc < 0)
		return rc;
	far->has_turn = false;
	queue->num_free--;
	queue->shared->slots[number] =
		(struct sim_far_slot){ .grant = *sim_remote_grant(wanted->remote),
				       .offset = wanted->addr - wanted->remote->region.addr + wanted->posted,
				       .len_bytes = len,
				       .kind = (uint16_t)wanted->kind,
				       .is_first = far->num_parts == 0,
				       .stream = far->stream };
	*part = (struct sim_far_part){ .qp = qp, .work = work, .at = wanted->posted, .len = len, .is_posted = true };
	STAILQ_INSERT_TAIL(&far->parts, part, link);
	far->num_parts++;
	wanted->posted += len;
	publish(queue, number);
	return 0;
}

static int post_parts(struct sim_qp *qp, struct sim_rdma_work *work)
{
	struct sim_qp_far *far = qp->far;

	while (work->far->posted < work->far->bytes && work->far->status == 0) {
		if (far->num_parts == MAX_PARTS_OF_ONE)
			return -EAGAIN;
		if (far->queue->num_free == 0 || (!TAILQ_EMPTY(&far->queue->waiting) && !far->has_turn)) {
			wait_for_slot(qp);
			return -EAGAIN;
		}
		work->far->status = post_part(qp, work);
	}
	return work->far->status < 0 && sim_qp_far_is_busy(far) ? -EAGAIN : work->far->status;
}

/* A failure is reported behind the works before. A work that only execute() can do waits for them. */
int sim_qp_far_execute(struct sim_qp *qp, struct sim_rdma_work *work)
{
	bool is_busy = sim_qp_far_is_busy(qp->far);
	int rc = 0;

	if (!work->begin)
		return is_busy ? -EAGAIN : work->execute(work);
	if (!work->far)
		rc = work->begin(work);
	if (rc < 0)
		return is_busy ? -EAGAIN : rc;
	return work->far ? post_parts(qp, work) : 0;
}

bool sim_qp_far_is_busy(const struct sim_qp_far *far)
{
	return far->num_parts > 0 || !STAILQ_EMPTY(&far->under_way);
}

/* ---- answers ---- */

static void end_part(struct sim_far_queue *queue, uint32_t number)
{
	struct sim_far_part *part = number < SIM_FAR_SLOTS ? &queue->parts[number] : NULL;
	int status;

	if (!part || !part->is_posted)
		return;
	status = *(volatile int32_t *)&queue->shared->slots[number].status;
	part->status = status > 0 || status < -4095 ? -EPROTO : status == -ESTALE ? -EIO : status;
	part->is_posted = false;
	part->is_done = true;
	if (!part->qp) {
		free_slot(queue, part);
	} else if (!part->qp->far->is_ready) {
		part->qp->far->is_ready = true;
		TAILQ_INSERT_TAIL(&queue->ready, part->qp, far_ready);
	}
}

static bool has_answers(const struct sim_far_queue *queue)
{
	return atomic_load_explicit(&queue->shared->num_returned, memory_order_acquire) != queue->num_returned;
}

/* At most as many as there are slots: the gateway is not trusted. */
static void take_answers(struct sim_far_queue *queue)
{
	if (has_answers(queue) && atomic_load_explicit(&queue->shared->requester_asleep, memory_order_relaxed))
		atomic_store_explicit(&queue->shared->requester_asleep, 0,
				      memory_order_relaxed); /* no wake-up for the next ones */
	for (uint32_t i = 0; i < SIM_FAR_SLOTS && has_answers(queue); i++)
		end_part(queue, queue->shared->returns[queue->num_returned++ % SIM_FAR_SLOTS]);
}

static int take_bytes(const struct sim_far_queue *queue, const struct sim_far_part *part)
{
	const struct sim_rdma_work *work = part->work;
	const uint8_t *data = queue->shared->data[part - queue->parts];

	if (work->far->kind == SIM_SERVED_READ)
		return sim_rdma_scatter(work->segments, work->num_segments, part->at, data, part->len);
	if (work->far->kind == SIM_SERVED_FAR_OP && work->far->operands.op != SIM_FAR_SET_EVENT)
		return sim_rdma_scatter(work->segments, work->num_segments, 0, data, sizeof(uint64_t));
	return 0;
}

static bool is_done(const struct sim_rdma_work *work)
{
	return !work->far || work->far->done == work->far->bytes;
}

struct sim_rdma_work *sim_qp_far_reap(struct sim_qp_far *far)
{
	struct sim_rdma_work *work = STAILQ_FIRST(&far->under_way);

	if (!work || !is_done(work))
		return NULL;
	STAILQ_REMOVE_HEAD(&far->under_way, link);
	return work;
}

/* The first part is done. Returns its status. */
static int collect_first(struct sim_qp *qp)
{
	struct sim_qp_far *far = qp->far;
	struct sim_far_part *part = STAILQ_FIRST(&far->parts);
	int rc = part->status < 0 ? part->status : take_bytes(far->queue, part);

	STAILQ_REMOVE_HEAD(&far->parts, link);
	far->num_parts--;
	if (rc == 0)
		part->work->far->done += part->len;
	free_slot(far->queue, part);
	return rc;
}

int sim_qp_far_collect(struct sim_qp *qp)
{
	const struct sim_far_part *part;
	int rc = 0;

	take_answers(qp->far->queue);
	while (rc == 0 && (part = STAILQ_FIRST(&qp->far->parts)) && part->is_done)
		rc = collect_first(qp);
	return rc;
}

void sim_qp_far_flush(struct sim_qp *qp, struct sim_work_list *to)
{
	struct sim_work_list behind = STAILQ_HEAD_INITIALIZER(behind);

	STAILQ_CONCAT(&behind, to);
	STAILQ_CONCAT(to, &qp->far->under_way);
	STAILQ_CONCAT(to, &behind);
	unlist(qp);
	drop_parts(qp->far);
}

uint64_t sim_qp_far_deadline_ns(const struct sim_qp *qp)
{
	return qp->far->is_introduced ? UINT64_MAX : sim_session_now_ns(qp->session) + RETRY_NS;
}

/* ---- turns of the group ---- */

static bool has_turns(const struct sim_far_queue *queue)
{
	return !TAILQ_EMPTY(&queue->ready) || (queue->num_free > 0 && !TAILQ_EMPTY(&queue->waiting));
}

bool sim_far_queues_have_turns(struct sim_qp_group *group)
{
	struct sim_far_queue *queue;
	bool has = false;

	LIST_FOREACH(queue, &group->far_queues, entry) {
		if (has_answers(queue))
			take_answers(queue);
		has |= has_turns(queue);
	}
	return has;
}

static struct sim_qp *next_of(struct sim_far_queue *queue)
{
	struct sim_qp *qp = TAILQ_FIRST(&queue->ready);

	if (qp) {
		TAILQ_REMOVE(&queue->ready, qp, far_ready);
		qp->far->is_ready = false;
		return qp;
	}
	qp = TAILQ_FIRST(&queue->waiting);
	TAILQ_REMOVE(&queue->waiting, qp, far_waiting);
	qp->far->waits = false;
	qp->far->has_turn = true;
	return qp;
}

struct sim_qp *sim_far_queues_next(struct sim_qp_group *group)
{
	struct sim_far_queue *queue;

	LIST_FOREACH(queue, &group->far_queues, entry)
		if (has_turns(queue))
			return next_of(queue);
	return NULL;
}

bool sim_far_queues_arm(struct sim_qp_group *group)
{
	struct sim_far_queue *queue;
	bool has = false;

	LIST_FOREACH(queue, &group->far_queues, entry) {
		atomic_store(&queue->shared->requester_asleep, 1);
		has |= atomic_load(&queue->shared->num_returned) != queue->num_returned || has_turns(queue);
	}
	return has;
}
