/* SPDX-License-Identifier: BSD-3-Clause */
/* The random order of a shuffled queue. */
#include "queue_priv.h"

/* xorshift64*: any state but 0. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d) >> 32;
}

void sim_queue_set_shuffle(struct sim_queue *queue, uint64_t seed)
{
	if (queue->clock || seed == 0)
		return;
	queue->shuffle_run = seed;
	queue->shuffle_poll = seed ^ UINT64_C(0x9e3779b97f4a7c15) ? seed ^ UINT64_C(0x9e3779b97f4a7c15) : 1;
}

/* An unsignaled job stays before the signaled one that reports it. */
void queue_shuffle_next(struct sim_queue *queue, uint32_t run, uint32_t end)
{
	uint32_t other = run + (uint32_t)(next_random(&queue->shuffle_run) % (end - run));
	struct sim_job **first = &queue->ring[run & queue->mask], **second = &queue->ring[other & queue->mask];
	struct sim_job *job = *first;

	if (job->unsignaled || (*second)->unsignaled)
		return;
	*first = *second;
	*second = job;
}

bool queue_shuffle_poll_is_empty(struct sim_queue *queue)
{
	return next_random(&queue->shuffle_poll) % 4 == 0;
}
