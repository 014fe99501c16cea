/* SPDX-License-Identifier: BSD-3-Clause */
/* What a queue pair does while the path to its peer is down. */
#include "network_path.h"

#include <errno.h>

#include "pcie_model/arith.h"
#include "queue_pair_priv.h"
#include "sim/base/log.h"
#include "sim/fabric/remote.h"

/* Without virtual time, someone may end the outage earlier: its rule is removed. */
#define MAX_GAP_NS 10000000

static const struct sim_clock_net *net_of(const struct sim_session *session)
{
	return &sim_clock_page(sim_session_clock(session))->net;
}

static uint64_t up_ns(const struct sim_qp *qp, uint64_t at_ns)
{
	return sim_clock_net_way_up_ns(qp->cfg.group->net, &qp->way, at_ns);
}

static uint64_t next_look_ns(const struct sim_session *session, uint64_t up_ns, uint64_t now_ns)
{
	bool is_virtual = sim_clock_mode(sim_session_clock(session)) == SIM_CLOCK_VIRTUAL;

	return is_virtual ? up_ns : min_u64(up_ns, now_ns + MAX_GAP_NS);
}

uint64_t sim_network_path_retry_ns(const struct sim_session *session, uint32_t from, uint32_t to)
{
	struct sim_clock_net_way way;
	uint64_t now_ns, until_ns;

	if (!sim_clock_net_has_outages(net_of(session)))
		return 0;
	now_ns = sim_session_now_ns(session);
	sim_clock_net_find_way(sim_session_topology(session), from, to, &way);
	until_ns = sim_clock_net_way_up_ns(net_of(session), &way, now_ns);
	return until_ns > 0 ? next_look_ns(session, until_ns, now_ns) : 0;
}

/* When what was lost at @lost_ns is sent again. */
static uint64_t retransmission_ns(const struct sim_qp *qp, uint64_t lost_ns, uint64_t up_ns, uint64_t now_ns)
{
	uint64_t gap_ns = qp->timing ? sim_qp_timing_retransmission_ns(qp->timing) : 0;

	if (gap_ns == 0)
		return next_look_ns(qp->session, up_ns, now_ns);
	return add_saturating_u64(now_ns, gap_ns - (now_ns - min_u64(lost_ns, now_ns)) % gap_ns);
}

uint64_t sim_qp_message_lost_until_ns(struct sim_qp *qp, uint64_t arrival_ns, uint64_t now_ns)
{
	uint64_t at_ns, until_ns;

	if (!sim_qp_has_outages(qp) && qp->lost_until_ns == 0)
		return 0;
	at_ns = now_ns > 0 ? now_ns : sim_session_now_ns(qp->session);
	if (at_ns < qp->lost_until_ns)
		return qp->lost_until_ns;
	until_ns = up_ns(qp, at_ns);
	qp->lost_until_ns = until_ns > 0 ? retransmission_ns(qp, arrival_ns, until_ns, at_ns) : 0;
	return qp->lost_until_ns;
}

/* In model time: the arrival of the oldest message, if the path was down then; 0 = it was up. */
static uint64_t find_lost_message_ns(struct sim_qp *qp)
{
	uint64_t arrival_ns = sim_qp_has_message_under_way(qp) ? sim_qp_oldest_message(qp)->arrival_ns : 0;

	return arrival_ns > 0 && arrival_ns <= sim_qp_now_ns(qp) && up_ns(qp, arrival_ns) > 0 ? arrival_ns : 0;
}

/* Whether a request or an answer has to pass now. */
static bool needs_path(struct sim_qp *qp)
{
	const struct sim_rdma_work *first = STAILQ_FIRST(&qp->timed);

	return sim_qp_has_open_works(qp) || (first && first->end_ns <= sim_qp_now_ns(qp));
}

/* Once for each outage, though it concerns many connections. */
static void report_outage(const struct sim_qp *qp, uint64_t lost_ns)
{
	static _Atomic uint64_t reported_ns;
	uint64_t until_ns = up_ns(qp, lost_ns);

	if (atomic_exchange(&reported_ns, until_ns) != until_ns)
		sim_warn(
			"RDMA: the network link of %s, or another one on the way to a peer, is down; requests are repeated",
			qp->cfg.device ? qp->cfg.device : "a device");
}

/* The first loss: what the requester knew of the peer is no reason to give it up. */
static void begin_retries(struct sim_qp *qp, uint64_t lost_ns)
{
	report_outage(qp, lost_ns);
	qp->lost_since_ns = max_u64(lost_ns, 1);
	qp->retry_ns = lost_ns;
	qp->waits_since_ns = 0;
	qp->not_ready_since_ns = 0;
	qp->watch.signs = 0;
}

/* A message that has been lost arrives now. */
static void repeat_message(struct sim_qp *qp, struct sim_rdma_work *work)
{
	if (work->arrival_ns <= sim_qp_now_ns(qp))
		work->arrival_ns = sim_qp_now_ns(qp);
}

/* A request passes, now, and the messages behind it. */
static void end_retries(struct sim_qp *qp)
{
	struct sim_rdma_work *work;

	qp->lost_since_ns = 0;
	if (!qp->timing)
		return;
	STAILQ_FOREACH(work, &qp->unanswered, link)
		repeat_message(qp, work);
	if (qp->is_begun)
		repeat_message(qp, STAILQ_FIRST(&qp->queued));
}

/* What the peer has not begun, it will not take. */
static int give_up(struct sim_qp *qp)
{
	if (sim_qp_has_message_under_way(qp) && sim_remote_acquire(qp->peer)) {
		sim_inbox_give_up(qp->peer_inbox, qp->num_answered + 1);
		sim_remote_release(qp->peer);
	}
	return -ENETDOWN;
}

/* Requests are lost. Returns 0 or -ENETDOWN. */
static int retry(struct sim_qp *qp, uint64_t until_ns)
{
	uint64_t now_ns = sim_qp_now_ns(qp);

	if (until_ns == 0 && now_ns >= qp->retry_ns && qp->retry_ns > qp->lost_since_ns) {
		end_retries(qp);
		return 0;
	}
	qp->is_cut = true;
	if (now_ns >= add_saturating_u64(qp->lost_since_ns, qp->cfg.ack_timeout_ns))
		return give_up(qp);
	if (now_ns >= qp->retry_ns)
		qp->retry_ns = retransmission_ns(qp, qp->lost_since_ns, until_ns, now_ns);
	return 0;
}

int sim_qp_check_outages(struct sim_qp *qp)
{
	uint64_t until_ns = up_ns(qp, sim_qp_now_ns(qp)), lost_ns;

	if (!needs_path(qp)) {
		qp->is_cut = until_ns > 0;
		qp->lost_since_ns = 0;
		return 0;
	}
	if (qp->lost_since_ns == 0) {
		lost_ns = find_lost_message_ns(qp);
		if (until_ns == 0 && lost_ns == 0)
			return 0;
		begin_retries(qp, lost_ns > 0 ? lost_ns : sim_qp_now_ns(qp));
	}
	return retry(qp, until_ns);
}

bool sim_qp_is_cut_in_tick(const struct sim_qp *qp)
{
	return sim_qp_has_outages(qp) && up_ns(qp, sim_session_now_ns(qp->session)) > 0;
}

uint64_t sim_qp_retry_deadline_ns(const struct sim_qp *qp)
{
	return min_u64(qp->retry_ns, add_saturating_u64(qp->lost_since_ns, qp->cfg.ack_timeout_ns));
}
