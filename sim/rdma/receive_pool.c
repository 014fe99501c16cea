/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives: posted, taken by queue pairs, and reaped by their owner. */
#include "receive_pool.h"

#include <errno.h>
#include <stddef.h>

void sim_receive_pool_init(struct sim_receive_pool *pool)
{
	STAILQ_INIT(&pool->posted);
	STAILQ_INIT(&pool->done);
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
	return take_first(&pool->posted);
}

void sim_receive_pool_complete(struct sim_receive_pool *pool, struct sim_rdma_receive *receive, int status)
{
	receive->status = status;
	STAILQ_INSERT_TAIL(&pool->done, receive, link);
}

struct sim_rdma_receive *sim_receive_pool_reap(struct sim_receive_pool *pool)
{
	return take_first(&pool->done);
}

void sim_receive_pool_flush(struct sim_receive_pool *pool)
{
	struct sim_rdma_receive *receive;

	while ((receive = sim_receive_pool_take(pool)))
		sim_receive_pool_complete(pool, receive, -ECANCELED);
}
