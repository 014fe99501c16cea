/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/queue_pair_priv.h - a queue pair's parts: its inbox, its requester and its responder. */
#ifndef SIM_RDMA_QUEUE_PAIR_PRIV_H
#define SIM_RDMA_QUEUE_PAIR_PRIV_H

#include "far_requests.h"
#include "inbox.h"
#include "queue_pair.h"
#include "sim/clock/net_outage.h"
#include "sim/session/kick.h"
#include "sim/shm/segment.h"
#include "sim/trace/trace.h"
#include "timing.h"

/* The doorbells of a peer's group, what wakes that, and its process: imported once for all queue pairs that lead there. */
struct sim_peer_group {
	struct sim_key key;
	struct sim_remote *remote; /* its memory is valid between sim_remote_acquire() and sim_remote_release() */
	int wake_fd;               /* -1 = none */
	struct sim_kick_target *kick_target;
	struct sim_far_queue *far_queue; /* of a gateway's; else NULL */
	uint32_t num_users;
	LIST_ENTRY(sim_peer_group) entry;
};

/* The words of the peer's inbox as it was revoked: after that its memory may be gone, as the peer may be of this process. */
struct sim_qp_last_words {
	atomic_bool is_set;
	uint64_t executed;
	uint32_t failure;
	bool has_left;
};

/* One thread's watch on the peer's signs of life (peer.c). */
struct sim_qp_watch {
	uint64_t signs;             /* as of @signs_ns; 0 = no message is under way */
	uint64_t signs_ns, kick_ns; /* when the peer's process is kicked, if there are no more signs by then */
	uint32_t num_kicks;         /* since the last sign */
	bool is_stopped;            /* virtual time: the peer's process, at the last kick */
};

/* Fields of the responder are used under the group's lock, and those of the requester by the program's thread. What
 * has no comment is written before the queue pair is in the group, or before its state is ready. */
struct sim_qp {
	struct sim_session *session;
	struct sim_qp_cfg cfg;
	enum sim_qp_state state;        /* written by the program's thread, under the lock */
	_Atomic uint64_t held_until_ns; /* the connect lasts until then; 0 = it is done */
	/* In the group: @is_starved is the responder's, the others the requester's. */
	bool is_in_group, is_active, is_starved;
	uint32_t slot;
	TAILQ_ENTRY(sim_qp) in_all, in_slot, in_active, in_starved, in_watched;
	/* Those that serve the senders of messages to this one, which needs no peer; and of a server, that one (server.c). */
	LIST_HEAD(, sim_qp) servers;
	LIST_ENTRY(sim_qp) in_servers;
	struct sim_qp *served_for;
	bool has_idle_server; /* one of @servers may have lost its peer */
	/* The inbox of this end. */
	struct sim_segment memory;
	struct sim_inbox_shared *inbox;
	struct sim_ring in;
	struct sim_key key;
	bool is_exported;
	struct sim_trace_conn_stats trace; /* the requester counts what is sent, the responder what is received */
	/* That of the peer, once connected. */
	struct sim_remote *peer;
	struct sim_inbox_shared *peer_inbox; /* valid between sim_remote_acquire() and sim_remote_release() */
	struct sim_qp_last_words last_words;
	uint32_t peer_access, peer_engine;
	uint64_t peer_stream_id;
	bool peer_needs_no_connect;
	bool has_connected_back; /* to the requester of a message, without a call of the owner */
	bool is_sender;          /* of messages to the peer; of a peer that needs no connect, the first one is */
	struct sim_ring out;
	struct sim_peer_group *peer_group;
	uint32_t peer_slot;
	struct sim_clock_net_way way; /* to the peer, and back */
	struct sim_qp_timing *timing; /* NULL = no model */
	bool knows_end;               /* the owner knows that the peer has left */
	/* Requester. */
	bool seeks_server;        /* for its messages; until then they wait */
	bool is_announced;        /* to the peer, which makes one */
	bool must_tell_responder; /* the peer: of records */
	uint64_t now_ns;          /* of this step; 0 = not read yet */
	uint64_t tell_due_ns;     /* the arrival of the first of them; 0 = now */
	struct sim_work_list queued, unanswered;
	struct sim_qp_far *far;              /* the peer is on another machine; else NULL */
	struct sim_work_list timed;          /* done, up to their ends by the model */
	struct sim_rdma_work *first_untimed; /* of @queued; NULL = none */
	uint64_t last_end_ns;                /* of the works in @timed */
	uint32_t num_works;
	uint64_t num_sent, num_answered; /* messages */
	uint64_t bytes_written;          /* of the message at the head of @queued */
	bool is_begun;                   /* its first record is written */
	uint64_t recorded_ns;            /* when that was; 0 = the message is not recorded */
	uint64_t waits_since_ns;         /* for a peer that is not connected; 0 = does not wait */
	uint64_t peer_ready_ns;          /* until then, as it has said; UINT64_MAX = it has not */
	uint64_t not_ready_since_ns;     /* the peer has no receive; 0 = it has */
	struct sim_qp_watch watch;
	bool is_cut;                /* as of this step: no packet passes */
	uint64_t lost_since_ns;     /* requests are sent again since then; 0 = they are not lost */
	uint64_t retry_ns;          /* then the next time */
	_Atomic uint64_t num_begun; /* messages of which a record is written; the engine's thread reads it */
	/* Engine's thread. */
	atomic_bool is_watched; /* in the group's list; written under the lock */
	struct sim_qp_watch tick_watch;
	atomic_bool
		is_overdue_in_tick; /* the peer gave no sign of life in time, by that watch; the requester reads it */
	/* Responder. */
	bool must_tell_requester;         /* the peer: of answers, a state or space */
	struct sim_rdma_receive *receive; /* that is being filled; NULL = none */
	atomic_bool is_filling;           /* @receive is not NULL; the requester reads it */
	_Atomic int responder_failure;    /* -errno; the program's thread takes the queue pair to its error. 0 = none */
	uint64_t bytes_received;
	bool is_recorded; /* the message that is being received */
	uint64_t num_executed;
	_Atomic uint64_t message_due_ns; /* the message at the ring's head arrives then; 0 = it has, or there is none */
	uint64_t lost_until_ns;          /* that message was lost, and is sent again then; 0 = it was not */
	/* In lists of the queue of @far. */
	TAILQ_ENTRY(sim_qp) far_ready, far_waiting;
};

/* The current time, read once a step of the requester. */
static inline uint64_t sim_qp_now_ns(struct sim_qp *qp)
{
	if (qp->now_ns == 0)
		qp->now_ns = sim_session_now_ns(qp->session);
	return qp->now_ns;
}

/* Whether the model has the session time come; 0 = no model. */
static inline bool sim_qp_has_come(const struct sim_qp *qp, uint64_t ns)
{
	return ns == 0 || ns <= sim_session_now_ns(qp->session);
}

/* ---- requester.c ---- */

/* Returns 0, or the -errno with which the queue pair goes to an error. @is_post: a work was posted. */
int sim_requester_progress(struct sim_qp *qp, bool is_post);

/* Works whose ends by the model are at @until_ns or before are done. */
void sim_requester_release(struct sim_qp *qp, uint64_t until_ns);

/* Before a flush: complete the works that the peer has executed. */
void sim_requester_collect(struct sim_qp *qp);

/* Complete all works: the oldest with @reason, the others with -ECANCELED. */
void sim_requester_flush(struct sim_qp *qp, int reason);

/* Whether progress would find an answer, or room for what it waits for; arms the peer. */
bool sim_requester_arm(struct sim_qp *qp);

/* ---- responder.c ---- */

/* Returns 0, or the -errno with which the queue pair goes to an error. */
int sim_responder_progress(struct sim_qp *qp);

/* The same in any thread, under the lock, but the caller tells the requester (sim_qp_tell_requester()). Of a failure the group's
 * doorbell rings. @now_ns: session time; 0 = read it if that is needed. */
int sim_responder_run(struct sim_qp *qp, uint64_t now_ns);

/* Complete the receive that is being filled, if there is one. The lock is held. */
void sim_responder_flush(struct sim_qp *qp);

/* Whether the ring has a record, as its numbers show without the lock. */
bool sim_responder_may_have_record(const struct sim_qp *qp);

/* Whether progress would find a message that it can take; arms the ring. The lock is held. */
bool sim_responder_arm(struct sim_qp *qp);

/* Whether it has a message that it could take. */
bool sim_responder_has_work(struct sim_qp *qp);

/* ---- peer.c ---- */

/* Import the doorbells with @key, and what wakes their owner; or use those that the group has. Returns 0 or -errno. */
int sim_peer_group_get(struct sim_qp *qp, const struct sim_key *key, struct sim_peer_group **ret_peer);
void sim_peer_group_put(struct sim_qp *qp);

/* In a forked child: no longer use the parent's. */
void sim_peer_group_abandon(struct sim_qp *qp);

/* Of a peer on another machine; its inbox is there: tell the gateway of this end, if it has not been told. */
void sim_qp_introduce(struct sim_qp *qp);

/* Ring the peer's doorbell if it has to be told, and wake it if it sleeps. The responder: the peer's inbox is there. */
void sim_qp_tell_requester(struct sim_qp *qp);
void sim_qp_ring_responder(struct sim_qp *qp); /* it has to be told */

static inline void sim_qp_tell_responder(struct sim_qp *qp)
{
	if (qp->must_tell_responder)
		sim_qp_ring_responder(qp);
}

/* Ring the peer's doorbell, and wake it whether or not it sleeps. */
void sim_qp_wake_peer(struct sim_qp *qp);

/* In a turn of the group, in functional time, a requester that does not sleep is told of answers with the next message to it, or in
 * the next turn: a program that answers a message rings once for both. If neither comes, the requester that polls finds the answer
 * without a ring. The lock is held. */
void sim_qp_tell_requester_later(struct sim_qp *qp);
void sim_qp_group_ring_answered(struct sim_qp_group *group); /* there is one to be told */

static inline void sim_qp_group_tell_answers(struct sim_qp_group *group)
{
	if (group->answered)
		sim_qp_group_ring_answered(group);
}

/* The peer's inbox is there: kick the peer's process if a message is under way, and the peer gives no sign of life. Returns 0,
 * or -EHOSTDOWN: it gave none for the time-out. */
int sim_qp_watch_peer(struct sim_qp *qp);

/* In virtual time: when that has to be called again; UINT64_MAX = no limit. */
uint64_t sim_qp_watch_deadline_ns(const struct sim_qp *qp);

/* The same for a program that does not progress its requester, which is notified after the time-out: engine's thread, under the
 * lock, once a tick. Returns whether to tick on. */
bool sim_qp_watch_peer_in_tick(struct sim_qp *qp);

/* ---- peer_inbox.c ---- */

/* Instead of the peer's inbox, use that with @key, which the peer has made for this end. Returns 0 or -errno. */
int sim_qp_move_to(struct sim_qp *qp, const struct sim_key *key);

/* ---- caller.c ---- */

/* The requester: ask the peer for an inbox, or move to the one that the peer has made; if the peer has connected to this end, its own
 * will do. Returns 0 or -errno. */
int sim_qp_seek_server(struct sim_qp *qp);

/* Whether the peer has made one, or has connected to this end, which does not use that yet. The peer's inbox is there. */
static inline bool sim_qp_has_found_server(const struct sim_qp *qp)
{
	return qp->seeks_server &&
	       (atomic_load(&qp->inbox->has_server) != 0 || atomic_load(&qp->peer_inbox->connected_to) == qp->key.id);
}

/* ---- server.c ---- */

/* A step, as sim_qp_progress(). Before it, requesters that want an inbox get one, and servers whose requesters have ended are freed. */
void sim_qp_progress_servers(struct sim_qp *qp);

/* Whether there are requesters that want an inbox. */
static inline bool sim_qp_has_callers(const struct sim_qp *qp)
{
	for (int i = 0; qp->cfg.needs_no_peer && i < SIM_INBOX_CALLERS; i++)
		if (atomic_load(&qp->inbox->places[i]) == SIM_INBOX_PLACE_FULL)
			return true;
	return false;
}

/* ---- network_path.c ---- */

static inline bool sim_qp_has_outages(const struct sim_qp *qp)
{
	return sim_clock_net_has_outages(qp->cfg.group->net);
}

/* The rest of sim_qp_check_path(): there are outages, or were. */
int sim_qp_check_outages(struct sim_qp *qp);

/* At the begin of a step of the requester: set @is_cut. Returns 0, or -ENETDOWN: the retries are over. */
static inline int sim_qp_check_path(struct sim_qp *qp)
{
	qp->is_cut = false;
	return sim_qp_has_outages(qp) || qp->lost_since_ns > 0 ? sim_qp_check_outages(qp) : 0;
}

/* While the requester sends again: when a step is due. */
uint64_t sim_qp_retry_deadline_ns(const struct sim_qp *qp);

/* If the message at the ring's head, which had to arrive at @arrival_ns, was lost: when it is sent again; else 0. The lock is
 * held. @now_ns: session time, or 0. */
uint64_t sim_qp_message_lost_until_ns(struct sim_qp *qp, uint64_t arrival_ns, uint64_t now_ns);

/* Whether no packet passes now, as the engine's thread asks. */
bool sim_qp_is_cut_in_tick(const struct sim_qp *qp);

/* ---- queue_pair.c ---- */

static inline bool sim_qp_has_open_works(const struct sim_qp *qp)
{
	return !STAILQ_EMPTY(&qp->queued) || !STAILQ_EMPTY(&qp->unanswered) ||
	       (__builtin_expect(qp->far != NULL, 0) && sim_qp_far_is_busy(qp->far));
}

/* Whether a message is unanswered, or begun: a long one is written as the ring has room. */
static inline bool sim_qp_has_message_under_way(const struct sim_qp *qp)
{
	return qp->is_begun || !STAILQ_EMPTY(&qp->unanswered);
}

/* The oldest message of which the peer has a part, and no answer has come; there is one. */
static inline struct sim_rdma_work *sim_qp_oldest_message(const struct sim_qp *qp)
{
	return STAILQ_FIRST(STAILQ_EMPTY(&qp->unanswered) ? &qp->queued : &qp->unanswered);
}

/* Whether its own requests and those of its peer wait, as the connect lasts. */
static inline bool sim_qp_is_held(const struct sim_qp *qp)
{
	return atomic_load_explicit(&qp->held_until_ns, memory_order_relaxed) > 0;
}

/* Whether something waits for a time of the model. */
static inline bool sim_qp_waits_for_model(const struct sim_qp *qp)
{
	return !STAILQ_EMPTY(&qp->timed) || qp->message_due_ns > 0;
}

/* Before the owner sleeps: have the peer wake it. Returns whether progress would find something already. The lock is held. */
bool sim_qp_arm(struct sim_qp *qp);

/* Whether progress may find something for which no doorbell rang. */
bool sim_qp_has_missed_ring(struct sim_qp *qp);

/* ---- qp_group.c ---- */

/* Open the group for the first queue pair, as that is configured. Returns 0 or -errno. */
int sim_qp_group_open(struct sim_qp_group *group, struct sim_session *session, const struct sim_qp_cfg *cfg);

static inline void sim_qp_group_lock(struct sim_qp_group *group)
{
	pthread_mutex_lock(&group->receives.lock);
}

static inline void sim_qp_group_unlock(struct sim_qp_group *group)
{
	pthread_mutex_unlock(&group->receives.lock);
}

/* The slot of the next queue pair, which is added when its inbox is there. */
uint32_t sim_qp_group_next_slot(struct sim_qp_group *group);

void sim_qp_group_add(struct sim_qp_group *group, struct sim_qp *qp);
void sim_qp_group_remove(struct sim_qp_group *group, struct sim_qp *qp);

/* The queue pair has a message for which there is no receive. The lock is held. */
void sim_qp_group_starve(struct sim_qp_group *group, struct sim_qp *qp);

/* The queue pair no longer waits for a receive. The lock is held. */
void sim_qp_group_feed(struct sim_qp_group *group, struct sim_qp *qp);

/* The ticks of the engine's thread look at the queue pair. The lock is held. */
void sim_qp_group_watch(struct sim_qp_group *group, struct sim_qp *qp);

/* A peer may show no life for so long. On another machine two gateways and the network are on the way, which may all be busy: the gateway
 * says when the machine is lost, and this is longer than it waits for that. */
#define SIM_QP_FAR_ACK_NS 9000000000u

static inline uint64_t sim_qp_ack_timeout_ns(const struct sim_qp *qp)
{
	return qp->far && qp->cfg.ack_timeout_ns < SIM_QP_FAR_ACK_NS ? SIM_QP_FAR_ACK_NS : qp->cfg.ack_timeout_ns;
}

#endif
