/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of progress engines. */
#include "engines.h"

#include <pthread.h>
#include <stdlib.h>

#define NUM_BUCKETS 64

static struct {
	pthread_mutex_t lock; /* for additions */
	struct check_engine *_Atomic buckets[NUM_BUCKETS];
} engines = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct check_engine *_Atomic *bucket_of(const struct doca_pe *pe)
{
	return &engines.buckets[(uintptr_t)pe / 64 % NUM_BUCKETS];
}

static struct check_engine *find(const struct doca_pe *pe)
{
	struct check_engine *engine = atomic_load_explicit(bucket_of(pe), memory_order_acquire);

	while (engine && engine->pe != pe)
		engine = engine->next;
	return engine;
}

static struct check_engine *add(const struct doca_pe *pe)
{
	struct check_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->pe = pe;
	engine->next = *bucket_of(pe);
	atomic_store_explicit(bucket_of(pe), engine, memory_order_release);
	return engine;
}

struct check_engine *check_engine_get(const struct doca_pe *pe)
{
	struct check_engine *engine = find(pe);

	if (doca_likely(engine))
		return engine;
	pthread_mutex_lock(&engines.lock);
	engine = find(pe);
	if (!engine)
		engine = add(pe);
	pthread_mutex_unlock(&engines.lock);
	return engine;
}

/* The watchdog may look meanwhile. */
void check_engine_renew(struct check_engine *engine)
{
	engine->user = engine->owner = engine->progressed_by = NULL;
	engine->num_progress = engine->num_submitted = engine->num_ended = engine->max_in_flight = 0;
	engine->num_small = engine->num_remote = engine->num_empty = engine->empty_since_ns = 0;
	engine->submitted_at = engine->progressed_at = NULL;
	engine->ctx_name = engine->unsettled_name = NULL;
	engine->unsettled = engine->wanted = NULL;
	engine->num_kept = 0;
	engine->has_events = false;
	engine->armed_handle = 0;
	engine->incarnation++;
}

void check_engines_each(void (*see)(struct check_engine *engine, void *arg), void *arg)
{
	for (size_t i = 0; i < NUM_BUCKETS; i++)
		for (struct check_engine *engine = engines.buckets[i]; engine; engine = engine->next)
			see(engine, arg);
}

void check_engines_forked(void)
{
	pthread_mutex_init(&engines.lock, NULL);
}
