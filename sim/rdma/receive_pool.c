/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives: posted, taken by queue pairs, and reaped by their owner. */
#include "receive_pool.h"

#include <errno.h>
#include <stddef.h>

#include "pcie_model/arith.h"

void sim_receive_pool_init(struct sim_receive_pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
	atomic_init(&pool->has_done, false);
	STAILQ_INIT(&pool->posted);
	STAILQ_INIT(&pool->done);
	STAILQ_INIT(&pool->hung);
	pool->num_taken = 0;
	pool->num_missed = 0;
}

void sim_receive_pool_post(struct sim_receive_pool *pool, struct sim_rdma_receive *receive)
{
	STAILQ_INSERT_TAIL(&pool->posted, receive, link);
}

bool sim_receive_pool_has_posted(const struct sim_receive_pool *pool)
{
	return !STAILQ_EMPTY(&pool->posted);
}

static struct sim_rdma_receive *take_first(struct sim_receive_list *list)
{
	struct sim_rdma_receive *first = STAILQ_FIRST(list);

	if (first)
		STAILQ_REMOVE_HEAD(list, link);
	return first;
}

struct sim_rdma_receive *sim_receive_pool_take(struct sim_receive_pool *pool)
{
	pool->num_taken++;
	return take_first(&pool->posted);
}

void sim_receive_pool_note_missed(struct sim_receive_pool *pool)
{
	if (pool->num_taken > 0)
		pool->num_missed++;
}

void sim_receive_pool_complete(struct sim_receive_pool *pool, struct sim_rdma_receive *receive, int status)
{
	receive->status = status == 0 && receive->fails ? -EIO : status;
	if (status != 0)
		receive->hold_ns = 0;
	if (receive->hold_ns == UINT64_MAX) {
		STAILQ_INSERT_TAIL(&pool->hung, receive, link);
		return;
	}
	STAILQ_INSERT_TAIL(&pool->done, receive, link);
	atomic_store_explicit(&pool->has_done, true, memory_order_relaxed);
}

/* Whether the oldest complete receive is still held. Its hold begins when it is the oldest. */
static bool is_held(struct sim_rdma_receive *receive, uint64_t now_ns)
{
	if (receive->hold_ns == 0)
		return false;
	if (receive->due_ns == 0)
		receive->due_ns = add_saturating_u64(now_ns, receive->hold_ns);
	return now_ns < receive->due_ns;
}

static struct sim_rdma_receive *reap_locked(struct sim_receive_pool *pool, uint64_t now_ns)
{
	struct sim_rdma_receive *first = STAILQ_FIRST(&pool->done);

	if (!first || is_held(first, now_ns))
		return NULL;
	take_first(&pool->done);
	atomic_store_explicit(&pool->has_done, !STAILQ_EMPTY(&pool->done), memory_order_relaxed);
	return first;
}

struct sim_rdma_receive *sim_receive_pool_reap(struct sim_receive_pool *pool, uint64_t now_ns)
{
	struct sim_rdma_receive *reaped;

	if (!sim_receive_pool_has_done(pool))
		return NULL;
	pthread_mutex_lock(&pool->lock);
	reaped = reap_locked(pool, now_ns);
	pthread_mutex_unlock(&pool->lock);
	return reaped;
}

uint64_t sim_receive_pool_due_ns(struct sim_receive_pool *pool)
{
	uint64_t due_ns = UINT64_MAX;

	if (!sim_receive_pool_has_done(pool))
		return due_ns;
	pthread_mutex_lock(&pool->lock);
	if (!STAILQ_EMPTY(&pool->done))
		due_ns = STAILQ_FIRST(&pool->done)->due_ns;
	pthread_mutex_unlock(&pool->lock);
	return due_ns;
}

void sim_receive_pool_flush(struct sim_receive_pool *pool)
{
	struct sim_rdma_receive *receive;

	pthread_mutex_lock(&pool->lock);
	STAILQ_FOREACH(receive, &pool->done, link)
		receive->hold_ns = 0;
	STAILQ_CONCAT(&pool->posted, &pool->hung);
	while ((receive = take_first(&pool->posted)))
		sim_receive_pool_complete(pool, receive, -ECANCELED);
	pthread_mutex_unlock(&pool->lock);
}
