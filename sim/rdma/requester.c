/* SPDX-License-Identifier: BSD-3-Clause */
/* The requester of a queue pair: works in order, and the answers to messages.
 *
 *   [queued] --execute--> [executed] --no message--> [done]
 *                             '--all records written--> [unanswered] --answered--> [done]
 *
 * In model time (timing.h) a work that is done waits in @timed for its end.
 *
 * A work whose execute() accesses memory is executed while no message is unanswered: the responder executes requests in
 * the order of their posting. */
#include <errno.h>
#include <string.h>

#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "memory.h"
#include "unpolled.h"

#define ANNOUNCE_STEP_NS 50000 /* from one try to the next, while many requesters begin at once */

static void complete(struct sim_qp *qp, struct sim_rdma_work *work, int status)
{
	work->status = status;
	if (work->end_ns == 0 && STAILQ_EMPTY(&qp->timed)) {
		STAILQ_INSERT_TAIL(&qp->cfg.group->done, work, link);
		return;
	}
	qp->last_end_ns = work->end_ns = max_u64(work->end_ns, qp->last_end_ns);
	STAILQ_INSERT_TAIL(&qp->timed, work, link);
}

static struct sim_rdma_work *take_first(struct sim_work_list *list)
{
	struct sim_rdma_work *work = STAILQ_FIRST(list);

	if (work)
		STAILQ_REMOVE_HEAD(list, link);
	return work;
}

void sim_requester_release(struct sim_qp *qp, uint64_t until_ns)
{
	struct sim_rdma_work *work;

	while ((work = STAILQ_FIRST(&qp->timed)) && work->end_ns <= until_ns) {
		STAILQ_REMOVE_HEAD(&qp->timed, link);
		STAILQ_INSERT_TAIL(&qp->cfg.group->done, work, link);
	}
}

void sim_requester_flush(struct sim_qp *qp, int reason)
{
	struct sim_rdma_work *work;

	if (reason == -ECANCELED)
		sim_requester_release(qp, UINT64_MAX);
	if (reason == -ENETDOWN) { /* their answers have not come */
		STAILQ_CONCAT(&qp->timed, &qp->unanswered);
		STAILQ_CONCAT(&qp->unanswered, &qp->timed);
	}
	STAILQ_CONCAT(&qp->unanswered, &qp->queued);
	if (qp->far)
		sim_qp_far_flush(qp, &qp->unanswered);
	qp->first_untimed = NULL;
	while ((work = take_first(&qp->unanswered))) {
		if (reason == -ECANCELED || reason == -ENETDOWN)
			work->end_ns = 0;
		complete(qp, work, reason);
		reason = -ECANCELED;
	}
	qp->waits_since_ns = 0;
	qp->not_ready_since_ns = 0;
	qp->watch.signs = 0;
	qp->is_cut = false;
	qp->lost_since_ns = 0;
}

/* ---- messages ---- */

/* Write one record: @head, or NULL, then @len bytes from byte @at of the data on. */
static int write_bytes(struct sim_qp *qp, const struct sim_rdma_work *work, const struct sim_inbox_head *head,
		       uint64_t at, size_t len)
{
	uint32_t kind = !head ? SIM_INBOX_MORE : work->is_written ? SIM_INBOX_WRITTEN : SIM_INBOX_SEND;
	size_t head_len = head ? sizeof(*head) : 0;
	uint8_t copy[SIM_INBOX_RECORD_BYTES];
	const void *data = sim_rdma_find(work->segments, work->num_segments, at, len);
	int rc = 0;

	if (!data) {
		rc = sim_rdma_gather(work->segments, work->num_segments, at, copy, len);
		data = copy;
	}
	if (rc == 0)
		rc = sim_ring_write_parts(&qp->out, kind, head, head_len, data, len);
	return rc == -EFAULT ? sim_rdma_fail_lost() : rc;
}

/* Write the next record of the message. Returns 0, -EAGAIN (no room; the peer tells when there is) or -errno. */
static int write_record(struct sim_qp *qp, const struct sim_rdma_work *work)
{
	uint64_t recorded_ns = qp->is_begun ? 0 : sim_trace_conn_stats_sample_ns(&qp->trace);
	const struct sim_inbox_head head = { .number = qp->num_sent + 1,
					     .bytes = work->bytes,
					     .has_immediate = work->has_immediate,
					     .is_recorded = recorded_ns > 0,
					     .immediate = work->immediate,
					     .due_ns = work->arrival_ns };
	uint64_t left = work->is_written ? 0 : work->bytes - qp->bytes_written;
	size_t len = (size_t)min_u64(left, SIM_INBOX_RECORD_BYTES);
	int rc;

	do
		rc = write_bytes(qp, work, qp->is_begun ? NULL : &head, qp->bytes_written, len);
	while (rc == -EAGAIN && sim_ring_arm_space(&qp->out, len + sizeof(head)));
	if (rc < 0)
		return rc;
	if (!qp->must_tell_responder)
		qp->tell_due_ns = work->arrival_ns;
	qp->must_tell_responder = true;
	if (!qp->is_begun) {
		qp->recorded_ns = recorded_ns;
		atomic_store(&qp->num_begun, head.number);
	}
	sim_unpolled_keep_watch(qp);
	qp->is_begun = true;
	qp->bytes_written += len;
	return 0;
}

static int write_records(struct sim_qp *qp, const struct sim_rdma_work *work)
{
	int rc;

	do
		rc = write_record(qp, work);
	while (rc == 0 && !work->is_written && qp->bytes_written < work->bytes);
	return rc;
}

/* The same for data that is not there all the time. */
static int find_and_write_records(struct sim_qp *qp, struct sim_rdma_work *work)
{
	int rc = work->find_data(work);

	if (rc == 0)
		rc = write_records(qp, work);
	work->leave_data(work);
	return rc;
}

/* Write what there is room for. Returns 0 (all of the message is written), -EAGAIN or -errno. */
static int write_message(struct sim_qp *qp, struct sim_rdma_work *work)
{
	int rc = __builtin_expect(work->find_data != NULL, 0) ? find_and_write_records(qp, work) :
								write_records(qp, work);

	if (rc < 0)
		return rc;
	work->number = ++qp->num_sent;
	qp->trace.task_ns = work->task_ns;
	sim_trace_conn_stats_sent(&qp->trace, work->number, work->bytes, qp->recorded_ns);
	qp->is_begun = false;
	qp->bytes_written = 0;
	return 0;
}

/* ---- a peer on another machine ---- */

static void reap_far(struct sim_qp *qp)
{
	struct sim_rdma_work *work;

	while ((work = sim_qp_far_reap(qp->far)))
		complete(qp, work, 0);
}

static int collect_far(struct sim_qp *qp)
{
	int rc = sim_qp_far_collect(qp);

	reap_far(qp);
	return rc;
}

/* Instead of start_work(): the memory is accessed later, and a message waits until that is done. */
static int start_far(struct sim_qp *qp, struct sim_rdma_work *work)
{
	int rc = 0;

	if (work->execute && !work->is_executed)
		rc = STAILQ_EMPTY(&qp->unanswered) ? sim_qp_far_execute(qp, work) : -EAGAIN;
	if (rc < 0)
		return rc;
	work->is_executed = true;
	if (!work->has_message) {
		STAILQ_REMOVE_HEAD(&qp->queued, link);
		STAILQ_INSERT_TAIL(&qp->far->under_way, work, link);
		reap_far(qp);
		return 0;
	}
	rc = sim_qp_far_is_busy(qp->far) ? -EAGAIN : write_message(qp, work);
	if (rc < 0)
		return rc;
	STAILQ_REMOVE_HEAD(&qp->queued, link);
	work->is_queued = false;
	STAILQ_INSERT_TAIL(&qp->unanswered, work, link);
	return 0;
}

/* ---- works ---- */

/* Do the first queued work as far as possible. Returns 0 (it is not queued any more), -EAGAIN or -errno. */
static int start_work(struct sim_qp *qp, struct sim_rdma_work *work)
{
	int rc = 0;

	if (work->not_before_ns > 0 && sim_qp_now_ns(qp) < work->not_before_ns)
		return -EAGAIN;
	work->not_before_ns = 0;
	if (__builtin_expect(qp->far != NULL, 0))
		return start_far(qp, work);
	if (work->execute && !work->is_executed) {
		if (!STAILQ_EMPTY(&qp->unanswered))
			return -EAGAIN;
		rc = work->execute(work);
		work->is_executed = true;
	}
	if (rc == 0 && work->has_message)
		rc = write_message(qp, work);
	if (rc < 0)
		return rc;
	if (qp->first_untimed == work) /* the peer's state changed while it was looked at */
		qp->first_untimed = STAILQ_NEXT(work, link);
	STAILQ_REMOVE_HEAD(&qp->queued, link);
	work->is_queued = false;
	if (work->has_message)
		STAILQ_INSERT_TAIL(&qp->unanswered, work, link);
	else
		complete(qp, work, 0);
	return 0;
}

/* ---- the peer ---- */

/* A peer that needs no connect has no responder before it connects: its memory is reached, but nobody takes messages. */
static bool is_peer_ready_for(struct sim_qp *qp, const struct sim_rdma_work *work)
{
	uint64_t ready_ns;

	if (qp->seeks_server && work->has_message)
		return false;
	if (qp->peer_needs_no_connect && !work->has_message)
		return true;
	if (atomic_load(&qp->peer_inbox->state) != SIM_QP_READY)
		return false;
	ready_ns = atomic_load(&qp->peer_inbox->ready_ns);
	return ready_ns == 0 || sim_qp_now_ns(qp) >= ready_ns;
}

/* The peer is there: the card sends what was posted. */
static void run_model(struct sim_qp *qp)
{
	for (; qp->first_untimed && is_peer_ready_for(qp, qp->first_untimed);
	     qp->first_untimed = STAILQ_NEXT(qp->first_untimed, link))
		sim_qp_timing_run(qp->timing, qp->first_untimed);
}

/* The peer had no receive when the message arrived: the answer leaves now. */
static void restart_answer(struct sim_qp *qp, struct sim_rdma_work *work)
{
	if (qp->not_ready_since_ns > 0 && work->end_ns > work->arrival_ns)
		work->end_ns =
			max_u64(work->end_ns, add_saturating_u64(sim_qp_now_ns(qp), work->end_ns - work->arrival_ns));
}

/* The messages of this end that the peer has executed. One that serves several requesters counts those of its sender. */
static uint64_t count_executed(const struct sim_qp *qp, uint64_t executed)
{
	return qp->is_sender ? executed : qp->num_answered;
}

/* Of a peer that serves several requesters, an error ends the sender alone, unless the peer has left. */
static bool has_peer_ended(const struct sim_qp *qp)
{
	return atomic_load(&qp->peer_inbox->state) == SIM_QP_ERROR &&
	       (qp->is_sender || atomic_load(&qp->peer_inbox->has_left) != 0);
}

/* The works that the peer has executed. Returns 0 or -EPROTO. */
static int collect_answers(struct sim_qp *qp, uint64_t executed)
{
	if (executed < qp->num_answered || executed > qp->num_sent)
		return -EPROTO;
	for (; qp->num_answered < executed; qp->num_answered++) {
		struct sim_rdma_work *work = take_first(&qp->unanswered);

		restart_answer(qp, work);
		complete(qp, work, 0);
		qp->not_ready_since_ns = 0;
	}
	return 0;
}

void sim_requester_collect(struct sim_qp *qp)
{
	if (qp->far)
		collect_far(qp);
	if (STAILQ_EMPTY(&qp->unanswered))
		return;
	if (sim_remote_acquire(qp->peer)) {
		collect_answers(qp, count_executed(qp, atomic_load(&qp->peer_inbox->executed)));
		sim_remote_release(qp->peer);
	} else if (atomic_load(&qp->last_words.is_set)) {
		collect_answers(qp, count_executed(qp, qp->last_words.executed));
	}
}

/* The reason for which the peer's end went to an error: that of the oldest unanswered message, or the end of the peer. */
static int to_reason(uint32_t failure, int otherwise)
{
	return failure > 0 && failure < 4096 ? -(int)failure : otherwise;
}

/* Since @since_ns, which is 1 if it was 0, the begin of virtual time. */
static uint64_t elapsed_ns(struct sim_qp *qp, uint64_t since_ns)
{
	uint64_t now_ns = sim_qp_now_ns(qp);

	return now_ns > since_ns ? now_ns - since_ns : 0;
}

/* Give the oldest message up if it has waited for a receive long enough. Returns 0 or -ENOBUFS. */
static int check_receiver(struct sim_qp *qp)
{
	uint64_t number = qp->num_answered + 1;

	if (!sim_qp_has_message_under_way(qp) || atomic_load(&qp->peer_inbox->not_ready) != number) {
		qp->not_ready_since_ns = 0;
		return 0;
	}
	if (qp->not_ready_since_ns == 0)
		qp->not_ready_since_ns = max_u64(sim_qp_now_ns(qp), 1);
	if (elapsed_ns(qp, qp->not_ready_since_ns) < qp->cfg.rnr_budget_ns ||
	    !sim_inbox_give_up(qp->peer_inbox, number))
		return 0;
	return -ENOBUFS;
}

/* Returns -EAGAIN, or -ETIMEDOUT: the peer has not connected in time. */
static int wait_for_peer(struct sim_qp *qp)
{
	if (qp->waits_since_ns == 0)
		qp->waits_since_ns = max_u64(sim_qp_now_ns(qp), 1);
	if (qp->seeks_server)
		qp->peer_ready_ns = qp->is_announced ? UINT64_MAX : sim_qp_now_ns(qp) + ANNOUNCE_STEP_NS;
	else if (atomic_load(&qp->peer_inbox->state) == SIM_QP_READY)
		qp->peer_ready_ns = atomic_load(&qp->peer_inbox->ready_ns);
	else
		qp->peer_ready_ns = UINT64_MAX;
	return elapsed_ns(qp, qp->waits_since_ns) < sim_qp_ack_timeout_ns(qp) ? -EAGAIN : -ETIMEDOUT;
}

static int start_or_wait(struct sim_qp *qp, struct sim_rdma_work *work)
{
	if (!is_peer_ready_for(qp, work))
		return wait_for_peer(qp);
	qp->waits_since_ns = 0;
	run_model(qp);
	return start_work(qp, work);
}

/* Go on while the peer's inbox is there. */
static int advance(struct sim_qp *qp)
{
	bool is_in_error = has_peer_ended(qp);
	struct sim_rdma_work *work;
	int rc = collect_answers(qp, count_executed(qp, atomic_load(&qp->peer_inbox->executed)));

	if (rc == 0 && __builtin_expect(qp->far != NULL, 0)) {
		sim_qp_introduce(qp);
		rc = collect_far(qp);
	}
	if (rc < 0)
		return rc;
	if (is_in_error)
		return to_reason(atomic_load(&qp->peer_inbox->failure), -ECONNRESET);
	rc = check_receiver(qp);
	while (rc == 0 && (work = STAILQ_FIRST(&qp->queued)))
		rc = start_or_wait(qp, work);
	return rc == -EAGAIN ? 0 : rc;
}

/* The peer's inbox is gone. */
static int end_with_last_words(struct sim_qp *qp)
{
	int rc;

	if (!atomic_load(&qp->last_words.is_set)) /* about to be */
		return 0;
	rc = qp->far ? collect_far(qp) : 0;
	if (rc == 0)
		rc = collect_answers(qp, count_executed(qp, qp->last_words.executed));
	return rc < 0 ? rc : to_reason(qp->last_words.failure, -EPIPE);
}

/* In functional time, the watch begins with the first progress behind a post: the post reads no clock. */
static bool begins_watch_later(const struct sim_qp *qp, bool is_post)
{
	return is_post && !qp->timing;
}

/* Without a request, a requester does not learn of its peer's end. */
int sim_requester_progress(struct sim_qp *qp, bool is_post)
{
	int rc;

	if (!sim_qp_has_open_works(qp) && !atomic_load_explicit(&qp->is_filling, memory_order_relaxed))
		return 0;
	rc = qp->seeks_server ? sim_qp_seek_server(qp) : 0;
	if (rc < 0)
		return rc;
	if (!sim_remote_acquire(qp->peer))
		return end_with_last_words(qp);
	rc = advance(qp);
	sim_qp_tell_responder(qp);
	if (rc == 0 && !begins_watch_later(qp, is_post))
		rc = sim_qp_watch_peer(qp);
	sim_remote_release(qp->peer);
	return rc;
}

static bool would_advance(struct sim_qp *qp)
{
	const struct sim_rdma_work *first = STAILQ_FIRST(&qp->queued);
	bool is_held = first && first->not_before_ns > 0;

	atomic_store(&qp->peer_inbox->asleep, 1);
	if (sim_qp_has_found_server(qp))
		return true;
	if (has_peer_ended(qp) || count_executed(qp, atomic_load(&qp->peer_inbox->executed)) != qp->num_answered)
		return true;
	if (qp->far && (sim_qp_far_is_busy(qp->far) || qp->far->waits)) /* for the gateway (sim_far_queues_arm()) */
		return false;
	if (!sim_qp_has_message_under_way(qp)) /* waits for the peer's connect, or for nothing */
		return is_peer_ready_for(qp, first) && !is_held;
	if (atomic_load(&qp->peer_inbox->not_ready) == qp->num_answered + 1 && qp->not_ready_since_ns == 0)
		return true;
	return first && !first->execute && !is_held && sim_ring_arm_space(&qp->out, SIM_INBOX_RECORD_BYTES);
}

bool sim_requester_arm(struct sim_qp *qp)
{
	bool would;

	if (!sim_qp_has_open_works(qp) || qp->is_cut)
		return false;
	if (!sim_remote_acquire(qp->peer))
		return atomic_load(&qp->last_words.is_set);
	would = would_advance(qp);
	sim_remote_release(qp->peer);
	return would;
}
