/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/qp_group.h - the queue pairs that one thread progresses: those of a context.
 *
 *   peers --ring a slot--> doorbells --sim_qp_group_progress()--> the slot's queue pairs
 *   sim_qp_group_post_receive() ------> the queue pair that waits for a receive the longest
 *   alarm --> sim_qp_group_on_alarm() --> queue pairs that have works
 *   all of them --completed works, in the order of their ends--> sim_qp_group_reap()
 *
 * So a step costs the same with one connection and with thousands. The doorbells are memory that all peers map: a
 * hostile one can erase the rings of others, so they are a hint. The group looks at each inbox before its thread
 * sleeps, at one after the other while it polls, and at that of the last message each time: the next one is found before its ring,
 * which two atomic additions to the doorbells' lines precede. A slot leads to several queue pairs if there are more of them than slots.
 *
 * The owner embeds the group in its own object. One thread of the program at a time calls; beside it, the engine's thread serves
 * queue pairs that the program does not progress (unpolled.h). The lock of the receives protects what both use: the receives, the
 * list of those that wait for one, and the responders. The completed works, the deadline, the doorbells and the requesters are the
 * program's alone. The program changes the lists of queue pairs, under the lock.
 */
#ifndef SIM_RDMA_QP_GROUP_H
#define SIM_RDMA_QP_GROUP_H

#include <sys/queue.h>

#include "pcie_model/arith.h"
#include "receive_pool.h"
#include "sim/engine/engine.h"
#include "sim/session/session.h"
#include "sim/shm/doorbell.h"
#include "sim/shm/segment.h"

#define SIM_QP_GROUP_PEER_LISTS 64

struct sim_clock_net;
struct sim_qp;
struct sim_rdma_work;
struct sim_peer_group;
struct sim_far_queue;

STAILQ_HEAD(sim_work_list, sim_rdma_work);
TAILQ_HEAD(sim_qp_list, sim_qp);
LIST_HEAD(sim_peer_group_list, sim_peer_group);
LIST_HEAD(sim_far_queue_list, sim_far_queue);

struct sim_qp_group {
	struct sim_receive_pool receives; /* of all queue pairs; with the lock */
	struct sim_work_list done;        /* completed and not reaped */
	struct sim_qp_list all;
	struct sim_qp_list active;  /* those that have works, which may wait for a time */
	struct sim_qp_list starved; /* those whose message waits for a receive, the longest wait first */
	uint64_t deadline_ns;       /* the earliest of queue pairs since it was taken */
	uint32_t num_turns;
	struct sim_qp *swept;    /* the last whose inbox was looked at without a ring; NULL = none */
	struct sim_qp *heard;    /* got the last message, and has no other; NULL = none, or model time */
	struct sim_qp *answered; /* its peer has not been told of the last answers; NULL = none (queue_pair_priv.h) */
	bool is_in_turn;         /* sim_qp_group_progress() runs */
	/* Opened with the first queue pair. */
	struct sim_session *session;     /* NULL = not open */
	const struct sim_clock_net *net; /* of the session: outages */
	struct sim_segment doorbell_memory;
	struct sim_doorbells doorbells;
	struct sim_key key; /* of the doorbells */
	struct sim_qp_list *slots;
	uint32_t next_slot;
	struct sim_far_queue_list far_queues;                      /* requests to other machines (far_requests.h) */
	struct sim_peer_group_list peers[SIM_QP_GROUP_PEER_LISTS]; /* by the keys of their doorbells */
	struct {
		struct sim_session *session; /* NULL = the engine's thread does not serve the group */
		struct sim_engine_member member;
		LIST_ENTRY(sim_qp_group) entry;
		struct sim_qp_list watched; /* those that each tick looks at; under the lock */
		uint64_t num_kicks;         /* as of the last look at all; the engine's thread's */
	} unpolled;
};

/* An empty group, which holds no memory. */
void sim_qp_group_init(struct sim_qp_group *group);

/* Free what the queue pairs shared; there is none any more. The group is as after init. */
void sim_qp_group_close(struct sim_qp_group *group);

/* The same in a forked child: the doorbells are the parent's. */
void sim_qp_group_abandon(struct sim_qp_group *group);

/* Post a receive; a message that waits for one is moved at once. */
void sim_qp_group_post_receive(struct sim_qp_group *group, struct sim_rdma_receive *receive);

/* Do what can be done now. */
void sim_qp_group_progress(struct sim_qp_group *group);

/* The time of sim_qp_group_take_deadline() has come. */
void sim_qp_group_on_alarm(struct sim_qp_group *group);

/* The oldest work request that was completed; NULL = none. */
struct sim_rdma_work *sim_qp_group_reap(struct sim_qp_group *group);

/* Before the owner sleeps: have the peers wake it. Returns whether progress would find something already. */
bool sim_qp_group_arm(struct sim_qp_group *group);

/* When sim_qp_group_on_alarm() has to be called at the latest, of what is new since the last call; UINT64_MAX = nothing. */
static inline uint64_t sim_qp_group_take_deadline(struct sim_qp_group *group)
{
	uint64_t deadline_ns = group->deadline_ns;

	group->deadline_ns = UINT64_MAX;
	return deadline_ns;
}

static inline bool sim_qp_group_has_done(const struct sim_qp_group *group)
{
	return !STAILQ_EMPTY(&group->done);
}

#endif
