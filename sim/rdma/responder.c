/* SPDX-License-Identifier: BSD-3-Clause */
/* The responder of a queue pair: messages from the inbox into receives.
 *
 *   [idle] --first record, a receive is posted--> [filling] --all bytes are here--> [idle]
 *      '--no receive, or its time has not come: the message waits
 *
 * All of it runs under the group's lock, in the program's thread or the engine's.
 *
 * The head of a message is copied out of the ring before it is checked, and each record's length and kind. */
#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "sim/base/log.h"
#include "memory.h"

static void answer(struct sim_qp *qp)
{
	qp->num_executed++;
	atomic_store(&qp->inbox->executed, qp->num_executed);
	qp->must_tell_requester = true;
}

static void set_receive(struct sim_qp *qp, struct sim_rdma_receive *receive)
{
	qp->receive = receive;
	atomic_store_explicit(&qp->is_filling, receive != NULL, memory_order_relaxed);
}

/* The message is complete, or has failed. Returns 0 or -errno: the queue pair goes to an error. */
static int end_message(struct sim_qp *qp, int status)
{
	struct sim_rdma_receive *receive = qp->receive;

	set_receive(qp, NULL);
	if (status == 0)
		sim_trace_conn_stats_received(&qp->trace, qp->num_executed + 1, receive->bytes, qp->is_recorded);
	sim_receive_pool_complete(&qp->cfg.group->receives, receive, status);
	if (status == 0)
		answer(qp);
	else
		atomic_store(&qp->inbox->failure, (uint32_t)-status);
	return status;
}

void sim_responder_flush(struct sim_qp *qp)
{
	struct sim_rdma_receive *receive = qp->receive;

	set_receive(qp, NULL);
	if (receive)
		sim_receive_pool_complete(&qp->cfg.group->receives, receive, -ECANCELED);
}

static bool is_valid_head(const struct sim_qp *qp, uint32_t kind, const struct sim_inbox_head *head)
{
	return (kind == SIM_INBOX_SEND || kind == SIM_INBOX_WRITTEN) && head->number == qp->num_executed + 1;
}

/* The message at the ring's head finds no receive. */
static void refuse_until_ready(struct sim_qp *qp, uint64_t number)
{
	sim_qp_group_starve(qp->cfg.group, qp);
	if (atomic_load_explicit(&qp->inbox->not_ready, memory_order_relaxed) == number)
		return;
	sim_receive_pool_note_missed(&qp->cfg.group->receives);
	atomic_store(&qp->inbox->not_ready, number);
	qp->must_tell_requester = true;
}

/* Whether the message arrives later than now: it travels, or was lost. */
static bool is_on_its_way(struct sim_qp *qp, const struct sim_inbox_head *head, uint64_t now_ns)
{
	uint64_t due_ns = head->due_ns;

	if (due_ns > 0 && due_ns <= (now_ns > 0 ? now_ns : sim_session_now_ns(qp->session)))
		due_ns = 0;
	if (due_ns == 0)
		due_ns = sim_qp_message_lost_until_ns(qp, head->due_ns, now_ns);
	if (atomic_load(&qp->message_due_ns) != due_ns)
		atomic_store(&qp->message_due_ns, due_ns);
	return due_ns > 0;
}

/* Take a receive for the message at the ring's head. Returns 0, -EAGAIN (none, or no message) or -errno. */
static int begin_message(struct sim_qp *qp, uint64_t now_ns)
{
	struct sim_inbox_head head = { 0 }; /* a record may be shorter */
	struct sim_rdma_receive *receive;
	const void *record;
	uint32_t kind;
	size_t len;
	int rc = sim_ring_begin_read(&qp->in, &kind, &record, &len);

	if (rc < 0)
		return rc;
	memcpy(&head, record, min_u64(len, sizeof(head)));
	if (!is_valid_head(qp, kind, &head))
		return -EPROTO;
	if (is_on_its_way(qp, &head, now_ns))
		return -EAGAIN;
	if (!sim_receive_pool_has_posted(&qp->cfg.group->receives)) {
		refuse_until_ready(qp, head.number);
		return -EAGAIN;
	}
	if (!sim_inbox_begin(qp->inbox, head.number))
		return -ECONNRESET; /* the requester gave the message up, and goes to an error */
	receive = sim_receive_pool_take(&qp->cfg.group->receives);
	receive->qp_arg = qp->cfg.arg;
	receive->is_written = kind == SIM_INBOX_WRITTEN;
	receive->has_immediate = head.has_immediate != 0;
	receive->immediate = head.immediate;
	receive->bytes = head.bytes;
	set_receive(qp, receive);
	qp->lost_until_ns = 0;
	qp->bytes_received = 0;
	qp->is_recorded = head.is_recorded != 0;
	if (receive->is_written)
		return 0;
	rc = head.bytes > receive->room_bytes ? -EMSGSIZE : 0;
	return rc < 0 ? end_message(qp, rc) : 0;
}

static int scatter(struct sim_rdma_receive *receive, uint64_t at, const uint8_t *data, size_t len)
{
	int rc = receive->find_data ? receive->find_data(receive) : 0;

	if (rc == 0)
		rc = sim_rdma_scatter(receive->segments, receive->num_segments, at, data, len);
	if (receive->leave_data)
		receive->leave_data(receive);
	return rc;
}

/* Copy a record's data into the receive. The peer may change the bytes meanwhile, and spoils its message alone. Returns 0
 * (more is to come), 1 (that was all) or -errno. */
static int take_data(struct sim_qp *qp, uint32_t kind, const uint8_t *record, size_t len)
{
	struct sim_rdma_receive *receive = qp->receive;
	uint64_t left = receive->is_written ? 0 : receive->bytes - qp->bytes_received;
	size_t head_len = kind == SIM_INBOX_MORE ? 0 : sizeof(struct sim_inbox_head);
	int rc;

	if ((kind == SIM_INBOX_MORE) == (qp->bytes_received == 0) || len < head_len ||
	    len - head_len != min_u64(left, SIM_INBOX_RECORD_BYTES))
		return -EPROTO;
	rc = scatter(receive, qp->bytes_received, record + head_len, len - head_len);
	if (rc < 0)
		return rc;
	qp->bytes_received += len - head_len;
	return left == len - head_len;
}

/* Move a record of the message that is being received. Returns 0, -EAGAIN (it is not here yet) or -errno. */
static int take_record(struct sim_qp *qp)
{
	const void *record;
	uint32_t kind;
	size_t len;
	int rc = sim_ring_begin_read(&qp->in, &kind, &record, &len);

	if (rc < 0)
		return rc;
	rc = take_data(qp, kind, record, len);
	sim_ring_end_read(&qp->in, len);
	qp->must_tell_requester |= sim_ring_needs_notify(&qp->in);
	return rc == 0 ? 0 : end_message(qp, rc == 1 ? 0 : rc);
}

static int get_failure(const struct sim_qp *qp)
{
	return atomic_load_explicit(&qp->responder_failure, memory_order_relaxed);
}

/* The requester learns of the failure now, though the program's thread takes the queue pair to its error later. */
static void fail(struct sim_qp *qp, int reason)
{
	if (reason == -EPROTO)
		sim_err("RDMA: the peer of a connection wrote an invalid message; the connection ends");
	atomic_store_explicit(&qp->responder_failure, -ECONNRESET, memory_order_relaxed);
	atomic_store(&qp->inbox->state, SIM_QP_ERROR);
	qp->must_tell_requester = true;
	sim_doorbell_ring_own(&qp->cfg.group->doorbells, qp->slot);
}

int sim_responder_run(struct sim_qp *qp, uint64_t now_ns)
{
	int rc = get_failure(qp);

	while (rc == 0)
		rc = qp->receive ? take_record(qp) : begin_message(qp, now_ns);
	if (rc != -EAGAIN && get_failure(qp) == 0)
		fail(qp, rc);
	return get_failure(qp);
}

bool sim_responder_may_have_record(const struct sim_qp *qp)
{
	return sim_ring_get_head(&qp->in) != sim_ring_get_tail(&qp->in);
}

int sim_responder_progress(struct sim_qp *qp)
{
	int rc = get_failure(qp);

	if (rc < 0 || !sim_responder_may_have_record(qp))
		return rc;
	sim_qp_group_lock(qp->cfg.group);
	rc = sim_responder_run(qp, qp->now_ns);
	sim_qp_tell_requester_later(qp);
	sim_receive_pool_fetch(&qp->cfg.group->receives);
	sim_qp_group_unlock(qp->cfg.group);
	qp->cfg.group->heard = qp->timing || sim_responder_may_have_record(qp) ? NULL : qp;
	return rc;
}

/* The message at the ring's head may be one for which there is no receive. */
static bool has_work_locked(const struct sim_qp *qp)
{
	return sim_ring_get_head(&qp->in) != qp->in.count && sim_qp_has_come(qp, qp->message_due_ns) &&
	       (qp->receive || !qp->is_starved);
}

bool sim_responder_has_work(struct sim_qp *qp)
{
	bool has_work;

	if (get_failure(qp) < 0 || !sim_responder_may_have_record(qp))
		return get_failure(qp) < 0;
	sim_qp_group_lock(qp->cfg.group);
	has_work = has_work_locked(qp);
	sim_qp_group_unlock(qp->cfg.group);
	return has_work;
}

/* A ring that is still armed has got no message since its last arming, which found none: its writer wakes this end for the next. With
 * the model, a message that it had then may have arrived. */
bool sim_responder_arm(struct sim_qp *qp)
{
	if (get_failure(qp) < 0)
		return true;
	if (sim_ring_is_armed(&qp->in) && !qp->timing)
		return false;
	sim_ring_arm(&qp->in);
	return has_work_locked(qp);
}
