/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a queue pair: its inbox, its connection, its state, its steps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "sim/fabric/remote.h"
#include "sim/trace/trace.h"

bool sim_qp_state_can_become(enum sim_qp_state from, enum sim_qp_state to)
{
	static const bool edges[SIM_NUM_QP_STATES][SIM_NUM_QP_STATES] = {
		[SIM_QP_RESET] = { [SIM_QP_READY] = true, [SIM_QP_ERROR] = true },
		[SIM_QP_READY] = { [SIM_QP_ERROR] = true },
	};

	return edges[from][to];
}

/* The lock of the group is held. */
static void set_state(struct sim_qp *qp, enum sim_qp_state to)
{
	if (!sim_qp_state_can_become(qp->state, to))
		return;
	qp->state = to;
	if (to == SIM_QP_READY)
		atomic_store(&qp->inbox->ready_ns, atomic_load(&qp->held_until_ns));
	else
		atomic_store(&qp->held_until_ns, 0);
	atomic_store(&qp->inbox->state, to);
	qp->must_tell_requester = true;
	sim_qp_tell_requester(qp);
}

bool sim_qp_may_connect(const struct sim_qp *qp)
{
	return qp->state == SIM_QP_RESET || (qp->state == SIM_QP_READY && qp->has_connected_back);
}

void sim_qp_hold_connect(struct sim_qp *qp, uint64_t due_ns)
{
	if (qp->state == SIM_QP_RESET)
		atomic_store(&qp->held_until_ns, due_ns);
}

/* Returns whether the connect still lasts. */
static bool wait_for_connect(struct sim_qp *qp)
{
	if (sim_qp_now_ns(qp) < atomic_load(&qp->held_until_ns))
		return true;
	atomic_store(&qp->held_until_ns, 0);
	return false;
}

/* After a step: whether the queue pair has works, and when it has to be looked after. */
static void update_group(struct sim_qp *qp)
{
	struct sim_qp_group *group = qp->cfg.group;
	bool is_active = sim_qp_has_open_works(qp) || sim_qp_waits_for_model(qp) || sim_qp_is_held(qp);

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

/* ---- the inbox ---- */

static int create_inbox(struct sim_qp *qp)
{
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();
	struct sim_region region;
	int fd;
	int rc = sim_segment_create(SIM_INBOX_BYTES, &qp->memory, &fd);

	if (rc < 0)
		return rc;
	qp->inbox = qp->memory.base;
	qp->inbox->version = SIM_INBOX_VERSION;
	qp->inbox->engine = qp->cfg.engine;
	qp->inbox->needs_no_peer = qp->cfg.needs_no_peer;
	qp->inbox->access = qp->cfg.access;
	qp->inbox->stream_id = sim_trace_new_stream_id();
	qp->inbox->doorbells = qp->cfg.group->key;
	qp->inbox->slot = qp->slot;
	sim_ring_init(&qp->in, &cfg, qp->inbox->ring);
	region = (struct sim_region){ .addr = (uintptr_t)qp->inbox,
				      .cpu_addr = (uintptr_t)qp->inbox,
				      .len_bytes = SIM_INBOX_BYTES,
				      .access = SIM_ACCESS_NET | SIM_ACCESS_INBOX,
				      .function = qp->cfg.function };
	rc = sim_session_export(qp->session, &region, fd, &qp->key);
	close(fd);
	qp->is_exported = rc == 0;
	return rc;
}

int sim_qp_create(struct sim_session *session, const struct sim_qp_cfg *cfg, struct sim_qp **ret_qp)
{
	struct sim_qp *qp = calloc(1, sizeof(*qp));
	int rc;

	if (!qp)
		return -ENOMEM;
	qp->session = session;
	qp->cfg = *cfg;
	STAILQ_INIT(&qp->queued);
	STAILQ_INIT(&qp->unanswered);
	STAILQ_INIT(&qp->timed);
	LIST_INIT(&qp->servers);
	rc = sim_qp_group_open(cfg->group, session, cfg);
	if (rc == 0) {
		qp->slot = sim_qp_group_next_slot(cfg->group);
		rc = create_inbox(qp);
	}
	if (rc < 0) {
		sim_qp_destroy(qp);
		return rc;
	}
	sim_qp_group_add(cfg->group, qp);
	*ret_qp = qp;
	return 0;
}

static void free_memory(struct sim_qp *qp)
{
	sim_qp_timing_destroy(qp->timing);
	sim_segment_unmap(&qp->memory);
	free(qp);
}

void sim_qp_destroy(struct sim_qp *qp)
{
	if (!qp)
		return;
	while (!LIST_EMPTY(&qp->servers))
		sim_qp_destroy(LIST_FIRST(&qp->servers));
	if (qp->served_for)
		LIST_REMOVE(qp, in_servers);
	if (qp->inbox)
		sim_qp_fail(qp, -ECANCELED);
	sim_qp_group_remove(qp->cfg.group, qp);
	if (qp->is_exported)
		sim_session_unexport(qp->session, qp->key.id);
	sim_session_release(qp->session, qp->peer);
	sim_qp_far_close(qp);
	sim_peer_group_put(qp);
	free_memory(qp);
}

void sim_qp_abandon(struct sim_qp *qp)
{
	while (!LIST_EMPTY(&qp->servers))
		sim_qp_abandon(LIST_FIRST(&qp->servers));
	if (qp->served_for)
		LIST_REMOVE(qp, in_servers);
	sim_qp_group_remove(qp->cfg.group, qp);
	sim_qp_far_close(qp);
	sim_peer_group_abandon(qp);
	free_memory(qp);
}

const struct sim_key *sim_qp_key(const struct sim_qp *qp)
{
	return &qp->key;
}

enum sim_qp_state sim_qp_get_state(const struct sim_qp *qp)
{
	return qp->state;
}

/* ---- the connection ---- */

/* Describe the end of a connection for recordings; NULL = one of the programs has ended it, or itself. */
static const char *describe_end(int reason)
{
	bool is_usual = reason == -ECANCELED || reason == -ECONNRESET || reason == -EPIPE;

	return is_usual ? NULL : strerror(-reason);
}

int sim_qp_connect(struct sim_qp *qp, const struct sim_key *key)
{
	int rc;

	if (qp->state == SIM_QP_READY && qp->has_connected_back && qp->peer->key == key->id) {
		qp->has_connected_back = false;
		return 0;
	}
	rc = qp->peer && qp->state == SIM_QP_RESET ? 0 : sim_qp_reach(qp, key);
	if (rc < 0)
		return rc;
	sim_trace_conn_stats_open(&qp->trace, qp->cfg.trace_id, "RDMA", qp->cfg.device, qp->peer_stream_id,
				  qp->inbox->stream_id);
	atomic_store(&qp->inbox->connected_to, key->id);
	sim_qp_group_lock(qp->cfg.group);
	set_state(qp, SIM_QP_READY); /* from now on the engine's thread uses what the connect has set */
	sim_qp_group_unlock(qp->cfg.group);
	if (sim_qp_is_held(qp))
		update_group(qp);
	return 0;
}

enum sim_qp_answer sim_qp_get_answer(const struct sim_qp *qp)
{
	return (enum sim_qp_answer)atomic_load(&qp->inbox->answer);
}

/* ---- progress ---- */

void sim_qp_fail(struct sim_qp *qp, int reason)
{
	sim_requester_collect(qp);
	sim_qp_group_lock(qp->cfg.group);
	set_state(qp, SIM_QP_ERROR);
	atomic_store(&qp->message_due_ns, 0);
	sim_responder_flush(qp);
	sim_trace_conn_stats_close(&qp->trace, describe_end(reason));
	sim_qp_group_unlock(qp->cfg.group);
	sim_requester_flush(qp, reason);
	update_group(qp);
}

void sim_qp_leave(struct sim_qp *qp, int reason)
{
	struct sim_qp *server;

	LIST_FOREACH(server, &qp->servers, in_servers)
		sim_qp_leave(server, reason);
	atomic_store(&qp->inbox->has_left, 1);
	sim_qp_fail(qp, reason);
}

bool sim_qp_peer_has_left(struct sim_qp *qp)
{
	bool has_left;

	if (!qp->timing)
		return false;
	if (!sim_remote_acquire(qp->peer))
		return atomic_load(&qp->last_words.is_set) && qp->last_words.has_left;
	has_left = atomic_load(&qp->peer_inbox->has_left) != 0;
	sim_remote_release(qp->peer);
	return has_left;
}

uint64_t sim_qp_round_trip_ns(const struct sim_qp *qp)
{
	return qp->timing ? sim_qp_timing_round_trip_ns(qp->timing) : 0;
}

/* The first message to a peer that serves several requesters; it waits for the peer, which makes an inbox for it, or connects to this
 * end if that is on another machine. Returns whether this end may send messages; to a peer that is gone it may, as the message will
 * fail. */
static bool become_sender(struct sim_qp *qp)
{
	if (!qp->far) {
		qp->seeks_server = true;
		return true;
	}
	if (!sim_remote_acquire(qp->peer))
		return true;
	qp->is_sender = sim_inbox_take(qp->peer_inbox, &qp->key);
	sim_remote_release(qp->peer);
	if (qp->is_sender && !qp->must_tell_responder)
		qp->tell_due_ns = 0;
	qp->must_tell_responder |= qp->is_sender;
	return qp->is_sender;
}

int sim_qp_check_post(const struct sim_qp *qp)
{
	if (qp->state != SIM_QP_READY)
		return -ENOTCONN;
	return qp->num_works < qp->cfg.max_works ? 0 : -ENOBUFS;
}

int sim_qp_post(struct sim_qp *qp, struct sim_rdma_work *work)
{
	int rc = sim_qp_check_post(qp);

	if (rc < 0)
		return rc;
	if (work->has_message && !qp->is_sender && !qp->seeks_server && !become_sender(qp))
		return -EADDRINUSE;
	work->is_executed = false;
	work->is_queued = true;
	work->arrival_ns = work->end_ns = 0;
	work->qp = qp;
	qp->num_works++;
	STAILQ_INSERT_TAIL(&qp->queued, work, link);
	if (qp->timing && !qp->first_untimed)
		qp->first_untimed = work;
	return 0;
}

/* A responder that needs no connect got its first message: connect to the requester, which waits for answers. If that is gone, its
 * messages are lost, and requests for memory go on. */
static void connect_to_sender(struct sim_qp *qp)
{
	struct sim_key key = qp->inbox->requester;

	qp->has_connected_back = sim_qp_connect(qp, &key) == 0;
	if (!qp->has_connected_back)
		atomic_store(&qp->inbox->taken, SIM_INBOX_TAKEN);
}

static bool has_sender(const struct sim_qp *qp)
{
	return qp->cfg.needs_no_peer && atomic_load(&qp->inbox->taken) == SIM_INBOX_TAKEN_BY;
}

/* In model time: complete works that have ended, and notify the owner of a peer that has left. */
static void progress_model(struct sim_qp *qp)
{
	if (!qp->is_cut)
		sim_requester_release(qp, sim_qp_now_ns(qp));
	if (qp->state != SIM_QP_READY)
		update_group(qp);
	if (qp->knows_end || !sim_qp_peer_has_left(qp))
		return;
	qp->knows_end = true;
	if (qp->cfg.notify)
		qp->cfg.notify(qp->cfg.arg);
}

static void progress_as(struct sim_qp *qp, uint64_t now_ns, bool is_responder)
{
	int rc = 0;

	qp->now_ns = now_ns;
	if (qp->state == SIM_QP_RESET && is_responder && has_sender(qp))
		connect_to_sender(qp);
	if (qp->state == SIM_QP_READY && sim_qp_is_held(qp) && wait_for_connect(qp)) {
		update_group(qp);
		return;
	}
	if (qp->state == SIM_QP_READY)
		rc = sim_qp_check_path(qp);
	if (rc < 0)
		sim_qp_fail(qp, rc);
	if (qp->timing)
		progress_model(qp);
	if (qp->state != SIM_QP_READY)
		return;
	if (is_responder)
		rc = sim_responder_progress(qp);
	if (rc == 0 && !qp->is_cut)
		rc = sim_requester_progress(qp, !is_responder);
	if (rc < 0)
		sim_qp_fail(qp, rc);
	else
		update_group(qp);
}

void sim_qp_progress(struct sim_qp *qp, uint64_t now_ns)
{
	progress_as(qp, now_ns, true);
}

void sim_qp_progress_requests(struct sim_qp *qp)
{
	progress_as(qp, 0, false);
}

bool sim_qp_arm(struct sim_qp *qp)
{
	bool finds_message, finds_answer;

	if (qp->cfg.needs_no_peer) {
		sim_ring_arm(&qp->in); /* which a requester looks at that sends its first message */
		if (sim_qp_has_callers(qp))
			return true;
	}
	if (qp->state == SIM_QP_RESET)
		return has_sender(qp);
	if (qp->state != SIM_QP_READY)
		return false;
	if (sim_qp_is_held(qp))
		return sim_qp_has_come(qp, atomic_load(&qp->held_until_ns));
	finds_message = sim_responder_arm(qp);
	finds_answer = sim_requester_arm(qp);
	return finds_message || finds_answer;
}

bool sim_qp_has_missed_ring(struct sim_qp *qp)
{
	if (sim_qp_has_callers(qp) || (qp->served_for && atomic_load(&qp->last_words.is_set)))
		return true;
	if (qp->state == SIM_QP_RESET)
		return has_sender(qp);
	return qp->state == SIM_QP_READY && (sim_qp_has_open_works(qp) || sim_responder_has_work(qp));
}

/* The next end of a work, or arrival of a message. */
static uint64_t model_deadline_ns(const struct sim_qp *qp)
{
	const struct sim_rdma_work *first = STAILQ_FIRST(&qp->timed);
	uint64_t deadline_ns = first ? first->end_ns : UINT64_MAX;
	uint64_t message_due_ns = atomic_load(&qp->message_due_ns);

	return message_due_ns > 0 ? min_u64(deadline_ns, message_due_ns) : deadline_ns;
}

uint64_t sim_qp_deadline_ns(const struct sim_qp *qp)
{
	const struct sim_rdma_work *first = STAILQ_FIRST(&qp->queued);
	uint64_t deadline_ns = first && first->not_before_ns > 0 ? first->not_before_ns : UINT64_MAX;
	uint64_t message_due_ns = atomic_load(&qp->message_due_ns);

	if (sim_qp_is_held(qp))
		return atomic_load(&qp->held_until_ns);
	if (qp->lost_since_ns > 0)
		return min_u64(sim_qp_retry_deadline_ns(qp), message_due_ns > 0 ? message_due_ns : UINT64_MAX);
	if (sim_qp_waits_for_model(qp))
		deadline_ns = min_u64(deadline_ns, model_deadline_ns(qp));
	if (qp->waits_since_ns > 0)
		deadline_ns = min_u64(deadline_ns,
				      min_u64(qp->waits_since_ns + sim_qp_ack_timeout_ns(qp), qp->peer_ready_ns));
	if (qp->not_ready_since_ns > 0 && qp->cfg.rnr_budget_ns < UINT64_MAX)
		deadline_ns = min_u64(deadline_ns, qp->not_ready_since_ns + qp->cfg.rnr_budget_ns);
	if (qp->far)
		deadline_ns = min_u64(deadline_ns, sim_qp_far_deadline_ns(qp));
	return min_u64(deadline_ns, sim_qp_watch_deadline_ns(qp));
}

uint32_t sim_qp_take_refused(struct sim_qp *qp, bool by_memory)
{
	uint32_t refused = atomic_exchange(by_memory ? &qp->inbox->refused_by_memory : &qp->inbox->refused_access, 0);
	struct sim_qp *server;

	LIST_FOREACH(server, &qp->servers, in_servers)
		refused |= sim_qp_take_refused(server, by_memory);
	return refused;
}

bool sim_qp_awaits_receive(const struct sim_qp *qp)
{
	const struct sim_qp *server;
	bool awaits;

	LIST_FOREACH(server, &qp->servers, in_servers)
		if (sim_qp_awaits_receive(server))
			return true;
	sim_qp_group_lock(qp->cfg.group);
	awaits = qp->state == SIM_QP_READY && !qp->receive && !sim_receive_pool_has_posted(&qp->cfg.group->receives) &&
		 atomic_load(&qp->inbox->not_ready) == qp->num_executed + 1;
	sim_qp_group_unlock(qp->cfg.group);
	return awaits;
}

bool sim_qp_has_peer(const struct sim_qp *qp)
{
	const struct sim_qp *server;

	LIST_FOREACH(server, &qp->servers, in_servers)
		if (sim_qp_has_peer(server))
			return true;
	return qp->state == SIM_QP_READY && !atomic_load(&qp->peer->revoked);
}

uint32_t sim_qp_num_works(const struct sim_qp *qp)
{
	return qp->num_works;
}
