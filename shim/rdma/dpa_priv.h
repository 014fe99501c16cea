/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/rdma/dpa_priv.h - contexts whose data path is on a DPA: kernels post requests and receives, and poll completions.
 *
 *   kernel --post--> [pending] --flush--> queue pair --> completion --> the ring of a completion context --> kernel
 *                 (dpa_request.c)         executed by the EU that flushes, or by the context's thread
 *
 *   kernel --post receive--> group's receives --a message of a peer--> completion       (dpa_receive.c)
 *
 * No progress engine of the program takes part. What does not end within a kernel's call is the work of the context's thread
 * (dpa_progress.c), which stands for the card: it takes messages and answers, and looks after times. The thread sleeps until a peer, an EU
 * or the host wakes it. In virtual time it is a participant, to which these post.
 *
 * The lock makes EUs, the thread and the host's calls one program thread for the queue pairs. No other lock but those of sim/ is
 * taken under it.
 */
#ifndef SHIM_RDMA_DPA_PRIV_H
#define SHIM_RDMA_DPA_PRIV_H

#include <pthread.h>

#include "rdma_priv.h"
#include "shim/common/dpa/dpa.h"
#include "sim/dpa/exec/turn.h"
#include "sim/dpa/memory/map.h"
#include "sim/dpa/queue/rdma.h"
#include "sim/shm/wake.h"

/* What a kernel can ask for. */
struct rdma_dpa_request;

struct rdma_dpa_op {
	const char *name;
	enum sim_op rule_op; /* in fault rules */
	enum pcie_net_op net_op;
	uint32_t peer_access; /* enum sim_access bit that the peer has to permit; 0 = a message */
	bool has_message, is_written, has_immediate;
	bool writes_local; /* @dst is this side's, and @src the peer's */
	bool is_event;
	int (*access)(struct rdma_dpa_request *request); /* the peer's memory or event: 0 or -errno */
};

/* A request of a kernel. */
struct rdma_dpa_request {
	struct sim_rdma_work work; /* first */
	struct rdma_dpa *dpa;
	struct doca_rdma_connection *connection;
	const struct rdma_dpa_op *op;
	struct sim_dpa_span dst, src;
	uint64_t operand;                         /* what is added, or the value of an event */
	struct doca_sync_event_remote_net *event; /* held; NULL = none */
	bool is_reported;                         /* a completion tells of its success, too */
	uint32_t index;
	struct sim_fault_hit *hit; /* NULL = none */
	/* From the flush on: */
	int (*access)(struct rdma_dpa_request *request); /* @op's, or that with a fault */
	int problem;                                     /* -errno: it fails when it is its turn */
	struct sim_dpa_map *local, *other;               /* held while memory is accessed; NULL = none */
	struct sim_rdma_segment segment;                 /* of this side */
	STAILQ_ENTRY(rdma_dpa_request) link;
};

/* A receive of a kernel: a place of the receive queue. */
struct rdma_dpa_receive {
	struct sim_rdma_receive receive; /* first */
	struct rdma_dpa *dpa;
	struct sim_fault_hit *hit; /* NULL = none */
	struct sim_dpa_span dst;
	struct sim_dpa_map *map; /* held while some of a message is written; NULL = none */
	int problem;             /* -errno, why the memory can't be written */
	struct sim_rdma_segment segment;
	uint32_t index;
	STAILQ_ENTRY(rdma_dpa_receive) link;
};

STAILQ_HEAD(rdma_dpa_requests, rdma_dpa_request);
STAILQ_HEAD(rdma_dpa_receives, rdma_dpa_receive);

struct rdma_dpa {
	struct sim_dpa_rdma queue; /* first */
	struct doca_rdma *rdma;
	struct sim_dpa_completion *completion;
	struct sim_wake wake;
	pthread_t thread;
	struct sim_dpa_turn turn; /* the thread's */
	pthread_cond_t changed;   /* @has_begun */
	pthread_mutex_t lock;     /* of what follows, the context's group, and its list of connections */
	bool has_begun;           /* the thread: @turn may be used */
	bool is_stopping;
	bool has_lost_completions;
	bool is_deaf;                     /* a peer has shut @wake down */
	uint64_t deadline_ns;             /* when the thread looks after the queue pairs; UINT64_MAX = not by itself */
	struct rdma_dpa_requests pending; /* posted, not flushed */
	struct rdma_dpa_receive *receives;
	struct rdma_dpa_receives free, complete; /* complete: not posted again, the oldest first */
};

/* ---- each of the following files knows those before it ---- */

/* Of a context whose data path is elsewhere, or of a forked child's: nothing. */
static inline void rdma_dpa_lock(const struct doca_rdma *rdma)
{
	if (doca_unlikely(rdma->dpa != NULL) && shim_ctx_is_same_process(&rdma->ctx))
		pthread_mutex_lock(&rdma->dpa->lock);
}

static inline void rdma_dpa_unlock(const struct doca_rdma *rdma)
{
	if (doca_unlikely(rdma->dpa != NULL) && shim_ctx_is_same_process(&rdma->ctx))
		pthread_mutex_unlock(&rdma->dpa->lock);
}

/* ---- dpa_completion.c ---- */

/* Push a completion for kernels. The lock is held. */
void rdma_dpa_push(struct rdma_dpa *dpa, uint32_t type, uint32_t connection_id, uint32_t immediate, uint32_t index);

/* ---- dpa_request.c: the lock is held ---- */

extern const struct rdma_dpa_op rdma_dpa_post_ops[]; /* by enum sim_dpa_rdma_op */
extern const struct rdma_dpa_op rdma_dpa_set_op, rdma_dpa_add_op;

/* The work of a request that has a problem, or accesses memory or an event of the peer. */
int rdma_dpa_execute(struct sim_rdma_work *work);

/* Make the work of a request, whose memory is looked up. */
void rdma_dpa_prepare(struct rdma_dpa_request *request);

/* A request has ended: push its completion, unless @is_silent, and free it. */
void rdma_dpa_end_request(struct rdma_dpa_request *request, bool is_silent);

/* ---- dpa_fault.c: the lock is held ---- */

/* Ask for a fault of what a kernel posts. *ret_hit: the hit, for the object; NULL = none. Returns 0, or -EAGAIN: the post is refused. */
int rdma_dpa_fault_ask_request(struct rdma_dpa *dpa, const struct rdma_dpa_request *request,
			       struct sim_fault_hit **ret_hit);
int rdma_dpa_fault_ask_receive(struct rdma_dpa *dpa, const struct sim_dpa_span *dst, struct sim_fault_hit **ret_hit);

/* Of an object that has a hit: change the work of a request, before its post; the receive before its post; and the bytes that have come to its
 * memory, which is held. */
void rdma_dpa_fault_apply_request(struct rdma_dpa_request *request);
void rdma_dpa_fault_apply_receive(struct rdma_dpa_receive *receive);
void rdma_dpa_fault_flip_received(const struct rdma_dpa_receive *receive);

/* ---- dpa_receive.c: the lock is held ---- */

/* Make the places of the receive queue. Returns 0 or -ENOMEM. */
int rdma_dpa_receives_init(struct rdma_dpa *dpa, uint32_t size);

/* Post a receive whose memory is set; it takes the hit. */
void rdma_dpa_post_receive(struct rdma_dpa *dpa, struct rdma_dpa_receive *receive, struct sim_fault_hit *hit);

/* A receive has ended: push its completion, unless @is_silent. */
void rdma_dpa_end_receive(struct rdma_dpa_receive *receive, bool is_silent);

/* ---- dpa_progress.c ---- */

/* Wake the thread. Any thread. */
void rdma_dpa_wake(const struct rdma_dpa *dpa);

/* End what is complete. The lock is held. */
void rdma_dpa_reap(struct rdma_dpa *dpa, bool is_silent);

/* After a change by a kernel or the host: push completions, and have the thread see to the rest. The lock is held. */
void rdma_dpa_settle(struct rdma_dpa *dpa);

/* The thread's. */
void *rdma_dpa_run(void *dpa);

/* ---- dpa_post.c ---- */

/* Hand what kernels have posted to the queue pairs. The lock is held. */
void rdma_dpa_flush(struct rdma_dpa *dpa);

/* Operations for kernels. */
int rdma_dpa_post(struct sim_dpa_rdma *queue, const struct sim_dpa_rdma_post *post);
int rdma_dpa_signal(struct sim_dpa_rdma *queue, uint32_t connection, void *event, bool is_add, uint64_t value);
int rdma_dpa_receive(struct sim_dpa_rdma *queue, const struct sim_dpa_span *dst);
int rdma_dpa_receive_again(struct sim_dpa_rdma *queue, uint32_t *num);

/* ---- dpa.c ---- */

/* The context starts, and stops. start returns INITIALIZATION or NOT_SUPPORTED. After quiesce, neither kernels nor the thread use
 * the context; drop forgets what a flush has completed. */
doca_error_t rdma_dpa_start(struct doca_rdma *rdma);
void rdma_dpa_quiesce(struct doca_rdma *rdma);
void rdma_dpa_drop(struct doca_rdma *rdma);

/* Free what start made; the group has no receives and requests. */
void rdma_dpa_destroy(struct rdma_dpa *dpa);

#endif
