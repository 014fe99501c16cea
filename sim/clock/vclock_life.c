/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of the virtual-clock scheduler, and of its sources and engines. */
#include <errno.h>
#include <stdlib.h>

#include "vclock_priv.h"

/* ---- the scheduler ---- */

int sim_vclock_sched_create(struct sim_clock *clock, uint32_t rank, const struct sim_clock_launch *launch,
			    struct sim_vclock_sched **ret_sched)
{
	struct sim_vclock_sched *sched = calloc(1, sizeof(*sched));

	if (!sched)
		return -ENOMEM;
	sched->clock = clock;
	sched->page = sim_clock_page(clock);
	sched->rank = rank;
	if (launch)
		sched->launch = *launch;
	sim_stall_patience_init(&sched->patience);
	sched->may_spin = sched->patience.num_cpus > 1;
	LIST_INIT(&sched->threads);
	if (pthread_key_create(&sched->key, sim_vclock_thread_on_exit) != 0) {
		free(sched);
		return -ENOMEM;
	}
	pthread_mutex_init(&sched->lock, NULL);
	*ret_sched = sched;
	return 0;
}

static void sched_free(struct sim_vclock_sched *sched)
{
	pthread_mutex_destroy(&sched->lock);
	free(sched);
}

void sim_vclock_sched_set_advance(struct sim_vclock_sched *sched, uint64_t (*advance)(void *arg), void *arg)
{
	sched->advance = advance;
	sched->advance_arg = arg;
}

void sim_vclock_sched_destroy(struct sim_vclock_sched *sched)
{
	bool in_use;

	if (!sched)
		return;
	pthread_key_delete(sched->key);
	sim_participant_forget_calls();
	pthread_mutex_lock(&sched->lock);
	sched->is_destroyed = true;
	while (!LIST_EMPTY(&sched->threads))
		sim_vclock_thread_destroy(LIST_FIRST(&sched->threads));
	in_use = sched->num_sources > 0;
	pthread_mutex_unlock(&sched->lock);
	if (!in_use) /* else the last source frees it */
		sched_free(sched);
}

void sim_vclock_sched_abandon(struct sim_vclock_sched *sched)
{
	if (sched)
		pthread_key_delete(sched->key);
}

const struct sim_stall_patience *sim_vclock_sched_patience(const struct sim_vclock_sched *sched)
{
	return &sched->patience;
}

/* ---- its sources and engines ---- */

int sim_vclock_source_create(struct sim_vclock_sched *sched, const struct sim_vclock_source_cfg *cfg,
			     struct sim_vclock_source **ret_source)
{
	struct sim_vclock_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->sched = sched;
	source->cfg = *cfg;
	pthread_mutex_lock(&sched->lock);
	sched->num_sources++;
	sim_vclock_thread_bind(source);
	pthread_mutex_unlock(&sched->lock);
	*ret_source = source;
	return 0;
}

void sim_vclock_source_destroy(struct sim_vclock_source *source)
{
	struct sim_vclock_sched *sched;
	bool last;

	if (!source)
		return;
	sched = source->sched;
	pthread_mutex_lock(&sched->lock);
	sim_vclock_thread_unbind(source);
	last = --sched->num_sources == 0 && sched->is_destroyed;
	pthread_mutex_unlock(&sched->lock);
	free(source);
	if (last)
		sched_free(sched);
}

uint32_t sim_vclock_sched_add_engine(struct sim_vclock_sched *sched)
{
	return sim_clock_page_add_engine(sched->page);
}

void sim_vclock_sched_remove_engine(struct sim_vclock_sched *sched, uint32_t engine)
{
	sim_clock_page_remove_engine(sched->page, engine);
}
