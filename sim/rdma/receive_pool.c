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
	STAILQ_INIT(&pool->fetched);
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

void sim_receive_pool_fetch(struct sim_receive_pool *pool)
{
	STAILQ_CONCAT(&pool->fetched, &pool->done);
	atomic_store_explicit(&pool->has_done, false, memory_order_relaxed);
}

/* The oldest that is complete; NULL = none. */
static struct sim_rdma_receive *find_first(struct sim_receive_pool *pool)
{
	if (STAILQ_EMPTY(&pool->fetched) && sim_receive_pool_has_done(pool)) {
		pthread_mutex_lock(&pool->lock);
		sim_receive_pool_fetch(pool);
		pthread_mutex_unlock(&pool->lock);
	}
	return STAILQ_FIRST(&pool->fetched);
}

bool sim_receive_pool_has_hold(struct sim_receive_pool *pool)
{
	const struct sim_rdma_receive *first = find_first(pool);

	return first && first->hold_ns > 0;
}

struct sim_rdma_receive *sim_receive_pool_reap(struct sim_receive_pool *pool, uint64_t now_ns)
{
	struct sim_rdma_receive *first = find_first(pool);

	return first && !is_held(first, now_ns) ? take_first(&pool->fetched) : NULL;
}

uint64_t sim_receive_pool_due_ns(struct sim_receive_pool *pool)
{
	const struct sim_rdma_receive *first = find_first(pool);

	return first ? first->due_ns : UINT64_MAX;
}

static void flush_locked(struct sim_receive_pool *pool)
{
	struct sim_rdma_receive *receive;

	sim_receive_pool_fetch(pool);
	STAILQ_FOREACH(receive, &pool->fetched, link)
		receive->hold_ns = 0;
	STAILQ_CONCAT(&pool->posted, &pool->hung);
	while ((receive = take_first(&pool->posted)))
		sim_receive_pool_complete(pool, receive, -ECANCELED);
}

void sim_receive_pool_flush(struct sim_receive_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	flush_locked(pool);
	pthread_mutex_unlock(&pool->lock);
}

static uint32_t count_receives(const struct sim_receive_list *list)
{
	const struct sim_rdma_receive *receive;
	uint32_t num = 0;

	STAILQ_FOREACH(receive, list, link)
		num++;
	return num;
}

bool sim_receive_pool_flush_waiting(struct sim_receive_pool *pool, uint32_t num)
{
	bool are_all_waiting;

	pthread_mutex_lock(&pool->lock);
	are_all_waiting = count_receives(&pool->posted) + count_receives(&pool->hung) == num;
	if (are_all_waiting)
		flush_locked(pool);
	pthread_mutex_unlock(&pool->lock);
	return are_all_waiting;
}
