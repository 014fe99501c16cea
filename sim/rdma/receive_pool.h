/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/rdma/receive_pool.h - the receives that all queue pairs of a context share.
 *
 *   post --> [posted] --a queue pair takes the oldest--> [filling] --complete--> [done] --fetch--> [fetched] --reap--> the owner's
 *
 * Two threads use a pool: the program's, one at a time, and the engine's, which serves queue pairs that the program does not
 * progress (unpolled.h). The pool's lock protects the receives and the responders of the group (qp_group.h). The caller owns
 * the receives.
 */
#ifndef SIM_RDMA_RECEIVE_POOL_H
#define SIM_RDMA_RECEIVE_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct sim_qp;
struct sim_remote;

/* A range of memory: of this process, or imported by it. */
struct sim_rdma_segment {
	struct sim_remote *remote; /* NULL = of this process */
	uint64_t addr;             /* of the remote, else of this process's mapping */
	uint64_t bytes;
	void *arg; /* the caller's */
};

struct sim_rdma_receive {
	/* Set before the post. */
	const struct sim_rdma_segment *segments;
	uint32_t num_segments;
	uint64_t room_bytes; /* of all segments */
	/* Before some of a message is written, if it has data: set the segments. 0 or -errno: the message fails. And behind that. NULL = they
	 * are set, and their memory is there to the end. */
	int (*find_data)(struct sim_rdma_receive *receive);
	void (*leave_data)(struct sim_rdma_receive *receive);
	uint64_t
		hold_ns; /* it is reaped so much after its message, and with it those behind it; UINT64_MAX = by a flush */
	bool fails;      /* it has -EIO then, and its message is lost */
	/* Result. */
	int status;      /* 0; -EMSGSIZE (the message was longer), -ECANCELED or another -errno */
	void *qp_arg;    /* of the configuration of the queue pair that its message came by; NULL = none came */
	bool is_written; /* the message says that memory was written; the receive's memory is untouched */
	bool has_immediate;
	uint32_t immediate;
	uint64_t bytes;
	/* The pool's. */
	uint64_t due_ns; /* once a hold has begun */
	STAILQ_ENTRY(sim_rdma_receive) link;
};

STAILQ_HEAD(sim_receive_list, sim_rdma_receive);

struct sim_receive_pool {
	pthread_mutex_t lock; /* protects what follows */
	struct sim_receive_list posted, done, hung;
	uint64_t num_taken, num_missed; /* receives; messages that found none, as all were taken */
	atomic_bool has_done;           /* @done is not empty; written under the lock */
	/* The program's thread's alone. */
	struct sim_receive_list fetched; /* complete, before those in @done */
};

void sim_receive_pool_init(struct sim_receive_pool *pool);

/* ---- under the lock, which the caller holds ---- */

void sim_receive_pool_post(struct sim_receive_pool *pool, struct sim_rdma_receive *receive);

/* Whether a receive is posted. */
bool sim_receive_pool_has_posted(const struct sim_receive_pool *pool);

/* Take the oldest posted receive; NULL = none. */
struct sim_rdma_receive *sim_receive_pool_take(struct sim_receive_pool *pool);

/* A message finds no receive. */
void sim_receive_pool_note_missed(struct sim_receive_pool *pool);

/* A receive that was taken is complete. */
void sim_receive_pool_complete(struct sim_receive_pool *pool, struct sim_rdma_receive *receive, int status);

/* The program's thread: fetch what is complete, so that its reaping takes no lock. */
void sim_receive_pool_fetch(struct sim_receive_pool *pool);

/* ---- the program's thread, without the lock ---- */

/* Whether a receive is complete; it may be held. A poll that finds none takes no lock; what is completed meanwhile is found by the
 * next one. */
static inline bool sim_receive_pool_has_done(const struct sim_receive_pool *pool)
{
	return !STAILQ_EMPTY(&pool->fetched) || atomic_load_explicit(&pool->has_done, memory_order_relaxed);
}

/* The oldest receive that is complete, unless it is held; NULL = none. @now_ns counts if there is one that has a hold. */
struct sim_rdma_receive *sim_receive_pool_reap(struct sim_receive_pool *pool, uint64_t now_ns);

/* Whether the oldest receive that is complete has a hold. */
bool sim_receive_pool_has_hold(struct sim_receive_pool *pool);

/* When a receive can be reaped: 0 = now, UINT64_MAX = none is complete. */
uint64_t sim_receive_pool_due_ns(struct sim_receive_pool *pool);

/* Complete all posted receives, and those that hang, with -ECANCELED, and hold none any more. */
void sim_receive_pool_flush(struct sim_receive_pool *pool);

/* The same if @num receives, that is all, wait for a message or hang. Returns whether they do. */
bool sim_receive_pool_flush_waiting(struct sim_receive_pool *pool, uint32_t num);

#endif
