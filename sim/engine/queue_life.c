/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue's life, its size and its clock. */
#include "queue_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/clock/clock.h"

#define MAX_JOBS (UINT32_C(1) << 30) /* counters are compared by their difference */

/* @max_jobs is MAX_JOBS at most. */
static uint32_t ring_size(uint32_t max_jobs)
{
	uint32_t size = 1;

	while (size < max_jobs)
		size <<= 1;
	return size;
}

int sim_queue_create(struct sim_engine *engine, uint32_t max_jobs, void (*notify)(void *arg), void *arg,
		     struct sim_queue **ret_queue)
{
	uint32_t size = max_jobs <= MAX_JOBS ? ring_size(max_jobs) : 0;
	struct sim_queue *queue = size ? malloc(sizeof(*queue)) : NULL;

	if (!queue)
		return -ENOMEM;
	*queue = (struct sim_queue){
		.engine = engine,
		.member = { .tick = queue_tick, .advance_own = queue_advance_own },
		.ring = malloc(size * sizeof(*queue->ring)),
		.mask = size - 1,
		.max_jobs = max_jobs,
		.notify = notify,
		.notify_arg = arg,
		.running = ATOMIC_FLAG_INIT,
		.guard.find = queue_find_memory,
	};
	if (!queue->ring) {
		free(queue);
		return -ENOMEM;
	}
	sim_engine_add(engine, &queue->member);
	*ret_queue = queue;
	return 0;
}

/* The engine's thread is not in the queue. */
static int grow_unpinned(struct sim_queue *queue, uint32_t size)
{
	struct sim_job **ring = malloc(size * sizeof(*ring));

	if (!ring || (queue->clock && queue_clock_grow(&queue->clock, queue, size) < 0)) {
		free(ring);
		return -ENOMEM;
	}
	for (uint32_t n = sim_queue_own(&queue->head); n != sim_queue_own(&queue->staged); n++)
		ring[n & (size - 1)] = queue->ring[n & queue->mask];
	free(queue->ring);
	queue->ring = ring;
	queue->mask = size - 1;
	return 0;
}

int sim_queue_grow(struct sim_queue *queue, uint32_t max_jobs)
{
	int rc = max_jobs <= MAX_JOBS ? 0 : -ENOMEM;

	if (rc == 0 && max_jobs > queue->mask + 1) {
		sim_engine_lock_unpinned(queue->engine, &queue->member);
		rc = grow_unpinned(queue, ring_size(max_jobs));
		pthread_mutex_unlock(&queue->engine->lock);
	}
	if (rc == 0)
		queue->max_jobs = max_jobs;
	return rc;
}

void sim_queue_destroy(struct sim_queue *queue)
{
	if (!queue)
		return;
	sim_engine_remove(queue->engine, &queue->member);
	free(queue->clock);
	free(queue->ring);
	free(queue);
}

int sim_queue_set_clock(struct sim_queue *queue, const struct sim_queue_time *cfg)
{
	struct queue_clock *clock;

	if (!cfg->clock || sim_clock_mode(cfg->clock) == SIM_CLOCK_FUNCTIONAL)
		return 0;
	if (queue_clock_create(cfg, queue->mask + 1, &clock) < 0)
		return -ENOMEM;
	sim_engine_lock_unpinned(queue->engine, &queue->member);
	queue->clock = clock;
	pthread_mutex_unlock(&queue->engine->lock);
	return 0;
}
