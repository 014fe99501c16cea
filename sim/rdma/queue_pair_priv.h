/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/queue_pair_priv.h - a queue pair's parts: its inbox, its requester and its responder. */
#ifndef SIM_RDMA_QUEUE_PAIR_PRIV_H
#define SIM_RDMA_QUEUE_PAIR_PRIV_H

#include "inbox.h"
#include "queue_pair.h"
#include "sim/shm/segment.h"

STAILQ_HEAD(sim_work_list, sim_rdma_work);

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
	int peer_wake_fd; /* -1 = none */
	/* Requester. */
	struct sim_work_list queued, unanswered, done;
	uint32_t num_works;
	uint64_t num_sent, num_answered; /* messages */
	uint64_t bytes_written;          /* of the message at the head of @queued */
	bool is_begun;                   /* its first record is written */
	uint64_t waits_since_ns;         /* for a peer that is not connected; 0 = does not wait */
	uint64_t not_ready_since_ns;     /* the peer has no receive; 0 = it has */
	/* Responder. */
	struct sim_rdma_receive *receive; /* that is being filled; NULL = none */
	uint64_t bytes_received;
	uint64_t num_executed;
};

/* ---- requester.c ---- */

/* Returns 0, or the -errno with which the queue pair goes to an error. */
int sim_requester_progress(struct sim_qp *qp, uint64_t now_ns);

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

/* ---- peer.c ---- */

/* Wake the peer, which has asked for it, or tell its engine in virtual time. */
void sim_qp_wake_peer(struct sim_qp *qp);
void sim_qp_post_to_peer(struct sim_qp *qp);

#endif
