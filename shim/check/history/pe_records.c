/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of progress engines. */
#include "pe_records.h"

#include <pthread.h>
#include <stdlib.h>

#define NUM_BUCKETS 64

static struct {
	pthread_mutex_t lock; /* for additions, and for queues, which the watchdog inspects, too */
	struct check_pe *_Atomic buckets[NUM_BUCKETS];
} engines = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct check_pe *_Atomic *bucket_of(const struct doca_pe *pe)
{
	return &engines.buckets[(uintptr_t)pe / 64 % NUM_BUCKETS];
}

static struct check_pe *find(const struct doca_pe *pe)
{
	struct check_pe *engine = atomic_load_explicit(bucket_of(pe), memory_order_acquire);

	while (engine && engine->pe != pe)
		engine = engine->next;
	return engine;
}

static struct check_pe *add(const struct doca_pe *pe)
{
	struct check_pe *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->pe = pe;
	engine->next = *bucket_of(pe);
	atomic_store_explicit(bucket_of(pe), engine, memory_order_release);
	return engine;
}

struct check_pe *check_pe_get(const struct doca_pe *pe)
{
	struct check_pe *engine = find(pe);

	if (doca_likely(engine))
		return engine;
	pthread_mutex_lock(&engines.lock);
	engine = find(pe);
	if (!engine)
		engine = add(pe);
	pthread_mutex_unlock(&engines.lock);
	return engine;
}

static void drop_queue(struct check_queue **link)
{
	struct check_queue *queue = *link;

	*link = queue->next;
	free(queue);
}

/* The watchdog may inspect the engine meanwhile. */
void check_pe_renew(struct check_pe *engine)
{
	engine->user = engine->owner = engine->progressed_by = NULL;
	engine->num_progress = engine->max_in_flight = engine->num_ended = 0;
	engine->num_small = engine->num_remote = engine->num_empty = engine->empty_since_ns = engine->empty_submitted =
		0;
	engine->submitted_at = engine->progressed_at = NULL;
	engine->ctx_name = engine->transitional_name = NULL;
	engine->transitional = engine->pending_check = NULL;
	engine->num_kept = 0;
	engine->has_events = false;
	engine->handle = engine->armed_handle = 0;
	engine->num_uncleared = 0;
	engine->uncleared_since_ns = 0;
	engine->incarnation++;
	pthread_mutex_lock(&engines.lock);
	engine->jobs = (struct check_jobs){ 0 };
	while (engine->queues) /* of a parent */
		drop_queue(&engine->queues);
	pthread_mutex_unlock(&engines.lock);
}

/* ---- queues, with the lock ---- */

static void count_queue(struct check_pe *engine, struct check_queue *queue)
{
	uint32_t submitted, returned;

	sim_queue_count(queue->queue, &submitted, &returned);
	engine->jobs.num_submitted += submitted - queue->submitted;
	engine->jobs.num_ended += returned - queue->returned;
	queue->submitted = submitted;
	queue->returned = returned;
}

struct check_jobs check_pe_jobs(struct check_pe *engine)
{
	struct check_jobs jobs;

	pthread_mutex_lock(&engines.lock);
	for (struct check_queue *queue = engine->queues; queue; queue = queue->next)
		count_queue(engine, queue);
	jobs = engine->jobs;
	pthread_mutex_unlock(&engines.lock);
	return jobs;
}

bool check_pe_has_done(struct check_pe *engine)
{
	bool has_done = false;

	pthread_mutex_lock(&engines.lock);
	for (const struct check_queue *queue = engine->queues; queue && !has_done; queue = queue->next)
		has_done = sim_queue_has_done(queue->queue);
	pthread_mutex_unlock(&engines.lock);
	return has_done;
}

uint64_t check_pe_take_ended(struct check_pe *engine)
{
	uint64_t num_ended = check_pe_jobs(engine).num_ended;

	pthread_mutex_lock(&engines.lock);
	engine->jobs = (struct check_jobs){ 0 };
	pthread_mutex_unlock(&engines.lock);
	return num_ended;
}

/* Without memory, the jobs of the queue are not known. */
static void queue_opened(const struct doca_ctx *ctx)
{
	struct check_pe *engine = ctx->pe ? check_pe_get(ctx->pe) : NULL;
	struct check_queue *queue = engine ? calloc(1, sizeof(*queue)) : NULL;

	if (!queue)
		return;
	queue->queue = ctx->queue;
	pthread_mutex_lock(&engines.lock);
	queue->next = engine->queues;
	engine->queues = queue;
	pthread_mutex_unlock(&engines.lock);
}

static void queue_closing(const struct doca_ctx *ctx)
{
	struct check_pe *engine = ctx->pe ? check_pe_get(ctx->pe) : NULL;
	struct check_queue **link;

	if (!engine)
		return;
	pthread_mutex_lock(&engines.lock);
	for (link = &engine->queues; *link && (*link)->queue != ctx->queue; link = &(*link)->next)
		;
	if (*link) {
		count_queue(engine, *link);
		drop_queue(link);
	}
	pthread_mutex_unlock(&engines.lock);
}

void check_pes_each(void (*see)(struct check_pe *engine, void *arg), void *arg)
{
	for (size_t i = 0; i < NUM_BUCKETS; i++)
		for (struct check_pe *engine = engines.buckets[i]; engine; engine = engine->next)
			see(engine, arg);
}

void check_pes_forked(void)
{
	pthread_mutex_init(&engines.lock, NULL);
}

const struct check_part check_pe_queues = {
	.mode = SIM_CHECK_API,
	.queue_opened = queue_opened,
	.queue_closing = queue_closing,
};
