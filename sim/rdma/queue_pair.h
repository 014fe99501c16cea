/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/queue_pair.h - one end of a reliable connection between two functions of the network.
 *
 *   create --> [reset] --connect--> [ready] --a request failed, or the peer is lost--> [error] --> destroy
 *
 * A queue pair is requester and responder. As requester it executes work requests in the order in which they were
 * posted, and completes them in that order:
 *
 *   post --> [queued] --execute()--> completed                           memory of the peer: read, write, atomics
 *               '------message into the peer's inbox--> [unanswered] --executed by the peer--> completed
 *
 * A request that accesses memory is executed when no earlier message is unanswered, as the responder executes requests in
 * order. As responder, the queue pair moves each message into the oldest receive of its group, which has the queue pairs
 * of a context (qp_group.h).
 *
 * A message that finds no receive waits at the responder. The requester gives it up after @rnr_budget_ns. A request
 * that fails takes the queue pair to an error: all later requests are completed with -ECANCELED.
 *
 * A responder whose program does not progress it is served by its engine's thread (unpolled.h), which the requester wakes when a
 * message is not answered for a while. A responder that gives no sign of life for @ack_timeout_ns, as its process is stopped, fails
 * the message.
 *
 * The peer's queue pair need not be connected when this one is: requests wait for it, at most @ack_timeout_ns. One with
 * @needs_no_peer serves requests as it is. For each requester that sends messages it gets a queue pair that serves this one
 * alone (server.c); requesters on another machine send by its own inbox, to one of which it connects by itself.
 *
 * In timed and virtual time, a work request that was done is reaped at its end by the model of the network (timing.h), and
 * the responder takes a message at its arrival.
 *
 * Of a peer on another machine, requests for memory are not executed here: many are under way at once (far_requests.h).
 *
 * The queue pair knows bytes, -errno and session time; the caller owns work requests and receives. One thread of the program at
 * a time.
 */
#ifndef SIM_RDMA_QUEUE_PAIR_H
#define SIM_RDMA_QUEUE_PAIR_H

#include <sys/queue.h>

#include "pcie_model/net.h"
#include "qp_group.h"

enum sim_qp_state {
	SIM_QP_RESET,
	SIM_QP_READY,
	SIM_QP_ERROR,
	SIM_NUM_QP_STATES,
};

/* Whether the picture above has that edge. */
bool sim_qp_state_can_become(enum sim_qp_state from, enum sim_qp_state to);

struct sim_qp_cfg {
	struct sim_qp_group *group; /* outlives the queue pair */
	uint32_t function;          /* id of the device's function; of all queue pairs of the group, like @wake_fd */
	uint32_t max_works;         /* posted and not reaped, > 0 */
	uint64_t rnr_budget_ns;     /* how long a message waits for a receive; UINT64_MAX = for ever */
	uint64_t ack_timeout_ns;    /* how long requests wait for a peer that is not connected, or shows no life */
	uint32_t mtu_bytes;         /* of data in a packet at most, for the model; 0 = as the network has it */
	uint32_t access;            /* enum sim_access bits: what the peer may do with this end's memory */
	bool needs_no_peer;         /* serve requesters to which this queue pair has not connected */
	int wake_fd;                /* by which the peer wakes the owner (sim/shm/wake.h); -1 = none */
	uint32_t engine;            /* the owner's address in virtual time; 0 = none */
	uint32_t trace_id;          /* in recordings: the object of the owner's context; @device is the device's name */
	const char *device;
	/* In any thread: the peer was lost, or the engine's thread has taken messages. Must not call into the session, or into a
	 * queue pair. NULL = nothing. */
	void (*notify)(void *arg);
	void *arg;
};

/* A work request. The caller's, from its reaping to the next post. */
struct sim_rdma_work {
	/* Set before the post. */
	enum pcie_net_op op;                        /* for the model */
	int (*execute)(struct sim_rdma_work *work); /* access the peer's memory: 0 or -errno. NULL = nothing */
	/* Instead of that, if the peer is on another machine: set @far (far_requests.h), or leave it NULL, as there is nothing to do.
	 * Returns 0 or -errno, and may be called again. NULL = execute() it in the program's thread. */
	int (*begin)(struct sim_rdma_work *work);
	struct sim_rdma_far *far;
	bool has_message; /* a message follows */
	bool is_written;  /* it says that memory was written, and has no data: @bytes is what was written */
	bool has_immediate;
	uint32_t immediate;
	const struct sim_rdma_segment *segments; /* the data of the message */
	uint32_t num_segments;
	/* Before some of the message is written, which may be so several times: set the segments. 0 or -errno: it fails. And behind that.
	 * NULL = they are set, and their memory is there to the end. */
	int (*find_data)(struct sim_rdma_work *work);
	void (*leave_data)(struct sim_rdma_work *work);
	uint64_t bytes;
	uint64_t
		not_before_ns; /* it, and those behind it, are executed at this session time or later; UINT64_MAX = never */
	uint64_t task_ns;      /* in recordings: when its task was submitted; 0 = not recorded */
	/* Result. */
	int status; /* 0 or -errno */
	/* The queue pair's. */
	struct sim_qp *qp;
	bool is_executed;
	bool is_queued;              /* memory of the task is accessed later */
	uint64_t number;             /* of its message */
	uint64_t arrival_ns, end_ns; /* by the model; 0 = no model */
	STAILQ_ENTRY(sim_rdma_work) link;
};

/* Create a queue pair in its group and export its inbox. Returns 0, -ENOMEM, or an error of sim_session_export(). */
int sim_qp_create(struct sim_session *session, const struct sim_qp_cfg *cfg, struct sim_qp **ret_qp);

/* End the connection and free the queue pair. The caller must have reaped all works, or forget them. A receive that is
 * being filled is completed with -ECANCELED. NULL is fine. */
void sim_qp_destroy(struct sim_qp *qp);

/* In a forked child: the queue pair is the parent's. Frees nothing that the parent shares. */
void sim_qp_abandon(struct sim_qp *qp);

/* The key of the inbox, for the peer's connect. */
const struct sim_key *sim_qp_key(const struct sim_qp *qp);

enum sim_qp_state sim_qp_get_state(const struct sim_qp *qp);

/* Connect to the peer whose inbox has @key. Returns 0, -EISCONN (connected before), -EMEDIUMTYPE (the key is not of an
 * inbox), -EPROTO (of another version), -EADDRINUSE (another queue pair is connected to it), or an error of
 * sim_session_import(). On failure nothing has changed. */
int sim_qp_connect(struct sim_qp *qp, const struct sim_key *key);

/* Import the peer's inbox without connecting to it; sim_qp_connect() may follow with the same key. The inbox tells the peer what it has
 * to know before. Returns 0, or an error of sim_qp_connect(). */
int sim_qp_reach(struct sim_qp *qp, const struct sim_key *key);

/* A request for a connection and its answer travel outside of virtual time. The end that was asked tells the other one, which it
 * has reached, at which time it got the request, and at which it answers. */
enum sim_qp_answer {
	SIM_QP_NOT_ASKED, /* the request is on its way */
	SIM_QP_ASKED,
	SIM_QP_ANSWERED, /* the answer is on its way */
};
void sim_qp_tell_answer(struct sim_qp *qp, enum sim_qp_answer answer);
enum sim_qp_answer sim_qp_get_answer(const struct sim_qp *qp); /* what the other end has told */

/* Whether the owner may connect: it has not yet, though the queue pair may have by itself. */
bool sim_qp_may_connect(const struct sim_qp *qp);

/* Before a connect: it lasts until @due_ns, session time; UINT64_MAX = for ever, 0 = not. Meanwhile the peer finds this end not
 * connected, and requests wait. */
void sim_qp_hold_connect(struct sim_qp *qp, uint64_t due_ns);

/* Whether a work request can be posted. Returns 0, -ENOBUFS (max_works) or -ENOTCONN (not connected, or in error). */
int sim_qp_check_post(const struct sim_qp *qp);

/* Post a work request. Returns 0, an error of sim_qp_check_post() or -EADDRINUSE (it has a message, and another queue pair sends
 * messages to a peer that needs no connect and is on another machine). */
int sim_qp_post(struct sim_qp *qp, struct sim_rdma_work *work);

/* Do what can be done now: as requester and as responder, or as requester, after a post. @now_ns is session time, or 0: the
 * clock is read when that is needed. The group calls it when there is something. */
void sim_qp_progress(struct sim_qp *qp, uint64_t now_ns);
void sim_qp_progress_requests(struct sim_qp *qp);

/* Take the queue pair to an error: all works are completed, the head with @reason, the others with -ECANCELED. If @reason is
 * -ECANCELED, none waits for its end by the model any more. */
void sim_qp_fail(struct sim_qp *qp, int reason);

/* The same, and let the peer know that the owner has left on purpose. */
void sim_qp_leave(struct sim_qp *qp, int reason);

/* Return whether the peer has left, and how long a message takes there and back, in model time; false and 0 in functional time. */
bool sim_qp_peer_has_left(struct sim_qp *qp);
uint64_t sim_qp_round_trip_ns(const struct sim_qp *qp);

/* When progress has to be called at the latest; UINT64_MAX = no limit. */
uint64_t sim_qp_deadline_ns(const struct sim_qp *qp);

/* Return the accesses to its memory that the peer permits (enum sim_access), and the peer's function. The queue pair is connected. */
uint32_t sim_qp_peer_access(const struct sim_qp *qp);
uint32_t sim_qp_peer_function(const struct sim_qp *qp);

/* Called in a work request's execute(): check whether the request may have @access (enum sim_access) to memory of @function. Returns 0, -EACCES (the peer's
 * end does not permit it) or -EXDEV (the peer is another function). */
int sim_qp_check_access(const struct sim_qp *qp, uint32_t access, uint32_t function);

/* Called in a work request's execute(): the request needs @access, which the peer's end or the memory there does not permit. The peer
 * reads it by sim_qp_take_refused(). */
void sim_qp_note_refused(struct sim_qp *qp, uint32_t access, bool by_memory);

/* The accesses (enum sim_access) that requests of the peer needed, and that this end did not permit, or its memory, since the
 * last call. */
uint32_t sim_qp_take_refused(struct sim_qp *qp, bool by_memory);

/* Whether a message of the peer waits for a receive, and none is posted. */
bool sim_qp_awaits_receive(const struct sim_qp *qp);

/* Whether the queue pair is connected, and its peer has not ended. */
bool sim_qp_has_peer(const struct sim_qp *qp);

/* Requests that were posted and not reaped. */
uint32_t sim_qp_num_works(const struct sim_qp *qp);

#endif
