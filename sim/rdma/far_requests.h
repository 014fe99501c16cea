/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/far_requests.h - requests for memory of other machines: parts of works in a queue to this machine's gateway.
 *
 *   [queued work] --begin()--> parts: [posted] --returned--> [done] --in the order of the posts--> bytes of a read --> work is done
 *                    '--no slot is free: the queue pair waits for one
 *
 * Parts of many works are under way at once. A work is completed when all of its parts are done, and all works before it. A message
 * waits for the works before it, as its way to the peer is another one. All of it runs in the program's thread.
 *
 * A queue leads from one group to one function of another machine; its queue pairs share it, in turns if all slots are used. A part whose queue pair has ended keeps
 * its slot until the gateway returns it. The gateway answers each request in time, as it finds out when a machine is lost; a gateway
 * that does not is ended by the daemon, and with it all of its connections.
 */
#ifndef SIM_RDMA_FAR_REQUESTS_H
#define SIM_RDMA_FAR_REQUESTS_H

#include "queue_pair.h"
#include "sim/fabric/served/served.h"

struct sim_far_queue;
struct sim_far_part;
struct sim_peer_group;

/* What a work does to memory of another machine. The caller's, like the work. */
struct sim_rdma_far {
	/* begin() fills it in. */
	enum sim_served_kind kind;
	struct sim_remote *remote;
	uint64_t addr;
	struct sim_far_operands operands;
	/* The queue pair's. */
	uint64_t bytes; /* of all parts */
	uint64_t posted, done;
	int status; /* a local failure, which is reported behind the works before */
};

/* A queue pair's requests. */
struct sim_qp_far {
	struct sim_far_queue *queue;
	uint16_t stream;
	bool is_introduced;                /* the gateway knows the queue, or is about to */
	struct sim_work_list under_way;    /* all of their parts are posted */
	STAILQ_HEAD(, sim_far_part) parts; /* not done with, in the order of their posts */
	uint32_t num_parts;
	bool is_ready, waits; /* whether the queue pair is in these lists of the queue */
	bool has_turn;        /* it has waited: it may post a part though others wait */
};

TAILQ_HEAD(sim_far_qp_list, sim_qp);

/* Connect the queue pair to the queue of the peer's group, which is the gateway, and make that if there is none. Returns 0 or -errno. */
int sim_qp_far_open(struct sim_qp *qp);

/* Its parts end. NULL as @far of the queue pair is fine. */
void sim_qp_far_close(struct sim_qp *qp);

/* Unexport and free the queue; no queue pair uses it. NULL is fine. In a forked child the parent keeps its own. */
void sim_far_queue_destroy(struct sim_far_queue *queue);
void sim_far_queue_abandon(struct sim_far_queue *queue);

/* Do the first queued work as far as possible. Returns 0 (all of it is posted), -EAGAIN or -errno. */
int sim_qp_far_execute(struct sim_qp *qp, struct sim_rdma_work *work);

/* The next work under way that is done, in their order; NULL = there is none. */
struct sim_rdma_work *sim_qp_far_reap(struct sim_qp_far *far);

/* Whether works or parts are under way. */
bool sim_qp_far_is_busy(const struct sim_qp_far *far);

/* Take the answers that have come; reap afterwards, also of a failure. Returns 0, or the -errno of the oldest work that is not done. */
int sim_qp_far_collect(struct sim_qp *qp);

/* Works under way, the oldest first; their parts go on alone. */
void sim_qp_far_flush(struct sim_qp *qp, struct sim_work_list *to);

/* When a step is due; UINT64_MAX = none. */
uint64_t sim_qp_far_deadline_ns(const struct sim_qp *qp);

/* Take answers. Returns whether there are queue pairs to progress, as answers have come for them, or there are slots for which they wait. */
bool sim_far_queues_have_turns(struct sim_qp_group *group);

/* The next of them; NULL = there is none. */
struct sim_qp *sim_far_queues_next(struct sim_qp_group *group);

/* Before a sleep: the gateway is to wake the owner. Returns whether there are answers already. */
bool sim_far_queues_arm(struct sim_qp_group *group);

/* For begin(): check the access as sim_copy() does, and fill in a request. Returns 0 or -errno. */
int sim_rdma_far_copy(struct sim_rdma_far *far, enum sim_served_kind kind, struct sim_remote *remote, uint64_t addr,
		      uint64_t bytes);
struct sim_rdma_atomic;
int sim_rdma_far_atomic(struct sim_rdma_far *far, struct sim_remote *remote, uint64_t addr,
			const struct sim_rdma_atomic *atomic);
int sim_rdma_far_event(struct sim_rdma_far *far, struct sim_remote *remote, enum sim_far_op op, uint64_t operand);

#endif
