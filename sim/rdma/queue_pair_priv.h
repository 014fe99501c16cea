/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/queue_pair_priv.h - a queue pair's parts: its inbox, its requester and its responder. */
#ifndef SIM_RDMA_QUEUE_PAIR_PRIV_H
#define SIM_RDMA_QUEUE_PAIR_PRIV_H

#include "inbox.h"
#include "queue_pair.h"
#include "sim/shm/segment.h"

/* The doorbells of a peer's group, and what wakes that: imported once for all queue pairs that lead there. */
struct sim_peer_group {
	struct sim_key key;
	struct sim_remote *remote; /* its memory is valid between sim_remote_acquire() and sim_remote_release() */
	int wake_fd;               /* -1 = none */
	uint32_t num_users;
	LIST_ENTRY(sim_peer_group) entry;
};

/* What the peer's inbox said when it was revoked: after that its memory may be gone, as the peer may be of this process. */
struct sim_qp_last_words {
	atomic_bool is_set;
	uint64_t executed;
	uint32_t failure;
};

struct sim_qp {
	struct sim_session *session;
	struct sim_qp_cfg cfg;
	enum sim_qp_state state;
	/* In the group. */
	bool is_in_group, is_active, is_starved;
	uint32_t slot;
	TAILQ_ENTRY(sim_qp) in_all, in_slot, in_active, in_starved;
	/* The inbox of this end. */
	struct sim_segment memory;
	struct sim_inbox_shared *inbox;
	struct sim_ring in;
	struct sim_key key;
	bool is_exported;
	/* That of the peer, once connected. */
	struct sim_remote *peer;
	struct sim_inbox_shared *peer_inbox; /* valid between sim_remote_acquire() and sim_remote_release() */
	struct sim_qp_last_words last_words;
	uint32_t peer_access, peer_engine;
	bool peer_needs_no_connect;
	struct sim_ring out;
	struct sim_peer_group *peer_group;
	uint32_t peer_slot;
	/* Requester. */
	bool must_tell_responder; /* the peer: of records */
	uint64_t now_ns;          /* of this step; 0 = not read yet */
	struct sim_work_list queued, unanswered;
	uint32_t num_works;
	uint64_t num_sent, num_answered; /* messages */
	uint64_t bytes_written;          /* of the message at the head of @queued */
	bool is_begun;                   /* its first record is written */
	uint64_t waits_since_ns;         /* for a peer that is not connected; 0 = does not wait */
	uint64_t not_ready_since_ns;     /* the peer has no receive; 0 = it has */
	/* Responder. */
	bool must_tell_requester;         /* the peer: of answers, a state or space */
	struct sim_rdma_receive *receive; /* that is being filled; NULL = none */
	uint64_t bytes_received;
	uint64_t num_executed;
};

/* ---- requester.c ---- */

/* Returns 0, or the -errno with which the queue pair goes to an error. */
int sim_requester_progress(struct sim_qp *qp);

/* Complete all works: the oldest with @reason, the others with -ECANCELED. */
void sim_requester_flush(struct sim_qp *qp, int reason);

/* Whether progress would find an answer, or room for what it waits for; arms the peer. */
bool sim_requester_arm(struct sim_qp *qp);

/* ---- responder.c ---- */

/* Returns 0, or the -errno with which the queue pair goes to an error. */
int sim_responder_progress(struct sim_qp *qp);

/* Complete the receive that is being filled, if there is one. */
void sim_responder_flush(struct sim_qp *qp);

/* Whether progress would find a message that it can take; arms the ring. */
bool sim_responder_arm(struct sim_qp *qp);

/* Whether it has a message that it could take. */
bool sim_responder_has_work(const struct sim_qp *qp);

/* ---- peer.c ---- */

/* Import the doorbells with @key, and what wakes their owner; or use those that the group has. Returns 0 or -errno. */
int sim_peer_group_get(struct sim_qp *qp, const struct sim_key *key, struct sim_peer_group **ret_peer);
void sim_peer_group_put(struct sim_qp *qp);

/* In a forked child: no longer use the parent's. */
void sim_peer_group_abandon(struct sim_qp *qp);

/* Ring the peer's doorbell if it has to be told, and wake it if it sleeps. */
void sim_qp_tell_requester(struct sim_qp *qp);
void sim_qp_tell_responder(struct sim_qp *qp);

/* ---- queue_pair.c ---- */

static inline bool sim_qp_has_open_works(const struct sim_qp *qp)
{
	return !STAILQ_EMPTY(&qp->queued) || !STAILQ_EMPTY(&qp->unanswered);
}

/* Before the owner sleeps: have the peer wake it. Returns whether progress would find something already. */
bool sim_qp_arm(struct sim_qp *qp);

/* Whether progress may find something for which no doorbell rang. */
bool sim_qp_has_missed_ring(const struct sim_qp *qp);

/* ---- qp_group.c ---- */

/* Open the group for the first queue pair, as that is configured. Returns 0 or -errno. */
int sim_qp_group_open(struct sim_qp_group *group, struct sim_session *session, const struct sim_qp_cfg *cfg);

void sim_qp_group_add(struct sim_qp_group *group, struct sim_qp *qp);
void sim_qp_group_remove(struct sim_qp_group *group, struct sim_qp *qp);

/* After a step: whether the queue pair has works, and when it has to be looked after. */
void sim_qp_group_update(struct sim_qp_group *group, struct sim_qp *qp);

/* The queue pair has a message for which there is no receive. */
void sim_qp_group_starve(struct sim_qp_group *group, struct sim_qp *qp);

#endif
