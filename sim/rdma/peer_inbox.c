/* SPDX-License-Identifier: BSD-3-Clause */
/* The inbox of a queue pair's peer: imported and checked when the peer is reached, and then what the queue pair reads and writes in
 * it outside of the data path. */
#include <errno.h>
#include <string.h>

#include "queue_pair_priv.h"
#include "sim/clock/vclock_sched.h"
#include "sim/fabric/remote.h"

/* ---- reaching the peer ---- */

static int check_peer(const struct sim_remote *peer)
{
	const struct sim_inbox_shared *inbox = (const void *)peer->base;

	if (!(peer->region.access & SIM_ACCESS_INBOX))
		return -EMEDIUMTYPE;
	if (!inbox || peer->region.len_bytes != SIM_INBOX_BYTES || (uintptr_t)inbox % 64 != 0 ||
	    inbox->version != SIM_INBOX_VERSION)
		return -EPROTO;
	return 0;
}

/* The peer's inbox is revoked; its memory is still there. Called in the thread that revokes. */
static void on_revoked(void *arg)
{
	struct sim_qp *qp = arg;

	qp->last_words.executed = atomic_load(&qp->peer_inbox->executed);
	qp->last_words.failure = atomic_load(&qp->peer_inbox->failure);
	qp->last_words.has_left = atomic_load(&qp->peer_inbox->has_left);
	atomic_store(&qp->last_words.is_set, true);
	sim_doorbell_ring_own(&qp->cfg.group->doorbells, qp->slot);
	if (qp->cfg.notify)
		qp->cfg.notify(qp->cfg.arg);
}

/* Words of the peer's inbox, which are read once. */
struct peer_words {
	struct sim_key doorbells;
	uint64_t stream_id;
	bool is_mirror;
};

static int read_inbox(struct sim_qp *qp, const struct sim_remote *peer, struct peer_words *ret_words)
{
	struct sim_inbox_shared *inbox = (struct sim_inbox_shared *)(void *)peer->base;
	struct sim_ring_cfg cfg = sim_inbox_ring_cfg();
	int rc = check_peer(peer);

	if (rc < 0)
		return rc;
	*ret_words = (struct peer_words){ .doorbells = inbox->doorbells,
					  .stream_id = inbox->stream_id,
					  .is_mirror = inbox->is_mirror != 0 };
	qp->peer_slot = *(volatile uint32_t *)&inbox->slot;
	if (qp->peer_slot >= SIM_DOORBELL_SLOTS)
		return -EPROTO;
	qp->peer_inbox = inbox;
	sim_ring_init(&qp->out, &cfg, inbox->ring);
	qp->out.remembers_space = true; /* a requester learns of what was read by answers */
	qp->peer_access = inbox->access;
	qp->peer_engine = inbox->engine;
	qp->peer_needs_no_connect = inbox->needs_no_peer;
	return 0;
}

/* The memory is this process's own if the peer is: the peer's thread may be about to end it. */
static int use_peer(struct sim_qp *qp, struct sim_remote *peer)
{
	struct peer_words words;
	int rc;

	if (!sim_remote_acquire(peer))
		return -ESTALE;
	rc = read_inbox(qp, peer, &words);
	sim_remote_release(peer);
	if (rc == 0)
		rc = sim_qp_timing_create(qp->session, qp->cfg.function, peer->region.function, qp->cfg.mtu_bytes,
					  &qp->timing);
	if (rc == 0)
		rc = sim_peer_group_get(qp, &words.doorbells, &qp->peer_group);
	if (rc == 0 && words.is_mirror)
		rc = sim_qp_far_open(qp);
	if (rc < 0)
		return rc;
	if (!sim_remote_acquire(peer))
		return -ESTALE;
	if (!qp->peer_needs_no_connect && !sim_inbox_take(qp->peer_inbox, NULL)) {
		sim_remote_release(peer);
		return -EADDRINUSE;
	}
	qp->is_sender = !qp->peer_needs_no_connect;
	sim_clock_net_find_way(sim_session_topology(qp->session), qp->cfg.function, peer->region.function, &qp->way);
	qp->peer = peer;
	qp->peer_stream_id = words.stream_id;
	sim_remote_on_revoked(peer, on_revoked, qp);
	if (qp->far)
		sim_qp_introduce(qp);
	sim_remote_release(peer);
	return 0;
}

int sim_qp_reach(struct sim_qp *qp, const struct sim_key *key)
{
	struct sim_remote *peer;
	int rc;

	if (qp->state != SIM_QP_RESET)
		return -EISCONN;
	rc = sim_session_import(qp->session, key, qp->cfg.function, &peer, NULL);
	if (rc < 0)
		return rc;
	rc = use_peer(qp, peer);
	if (rc < 0) {
		sim_qp_far_close(qp);
		sim_peer_group_put(qp);
		sim_qp_timing_destroy(qp->timing);
		qp->timing = NULL;
		sim_session_release(qp->session, peer);
	}
	return rc;
}

/* Whether the peer's owner is that of the inbox that this end has reached, as its words say. */
static int check_server(const struct sim_qp *qp, const struct sim_remote *server)
{
	const struct sim_inbox_shared *inbox = (const void *)server->base;
	int rc = check_peer(server);

	if (rc < 0)
		return rc;
	return server->region.function == qp->peer->region.function && inbox->doorbells.id == qp->peer_group->key.id &&
			       !inbox->needs_no_peer && !inbox->is_mirror ?
		       0 :
		       -EPROTO;
}

/* Both are there, and no message is under way. */
static int move_to(struct sim_qp *qp, struct sim_remote *server)
{
	struct peer_words words;
	int rc = check_server(qp, server);

	if (rc < 0)
		return rc;
	sim_session_release(qp->session, qp->peer); /* from now on it tells nothing */
	qp->peer = server;
	atomic_store(&qp->last_words.is_set, false);
	sim_qp_group_lock(qp->cfg.group); /* the engine's thread tells the peer of answers */
	rc = read_inbox(qp, server, &words);
	if (rc == 0 && !sim_inbox_take(qp->peer_inbox, NULL))
		rc = -EADDRINUSE;
	sim_qp_group_unlock(qp->cfg.group);
	qp->is_sender = rc == 0;
	if (rc == 0)
		qp->peer_stream_id = qp->trace.tx_stream_id = words.stream_id;
	sim_remote_on_revoked(server, on_revoked, qp);
	return rc;
}

int sim_qp_move_to(struct sim_qp *qp, const struct sim_key *key)
{
	struct sim_remote *server;
	int rc = sim_session_import(qp->session, key, qp->cfg.function, &server, NULL);

	if (rc < 0)
		return rc;
	rc = sim_remote_acquire(server) ? 0 : -ESTALE;
	if (rc == 0) {
		rc = move_to(qp, server);
		sim_remote_release(server);
	}
	if (qp->peer != server)
		sim_session_release(qp->session, server);
	return rc;
}

/* ---- the peer that is reached ---- */

uint32_t sim_qp_peer_access(const struct sim_qp *qp)
{
	return qp->peer_access;
}

uint32_t sim_qp_peer_function(const struct sim_qp *qp)
{
	return qp->peer->region.function;
}

int sim_qp_check_access(const struct sim_qp *qp, uint32_t access, uint32_t function)
{
	if (!(qp->peer_access & access))
		return -EACCES;
	return qp->peer->region.function == function ? 0 : -EXDEV;
}

void sim_qp_note_refused(struct sim_qp *qp, uint32_t access, bool by_memory)
{
	atomic_fetch_or(by_memory ? &qp->peer_inbox->refused_by_memory : &qp->peer_inbox->refused_access, access);
}

/* The other end's program runs, at this time, and finds the word. */
void sim_qp_tell_answer(struct sim_qp *qp, enum sim_qp_answer answer)
{
	struct sim_vclock_sched *sched = sim_session_vclock(qp->session);

	if (!sim_remote_acquire(qp->peer))
		return;
	atomic_store(&qp->peer_inbox->answer, answer);
	sim_remote_release(qp->peer);
	if (sched && qp->peer_engine > 0)
		sim_vclock_sched_post(sched, qp->peer_engine, 0);
}
