/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that drive progress engines, and their sources. */
#include <stdlib.h>

#include "vclock_priv.h"

void sim_vclock_thread_destroy(struct sim_vclock_thread *thread)
{
	struct sim_vclock_source *source;

	LIST_REMOVE(thread, link);
	LIST_FOREACH(source, &thread->sources, link) {
		source->thread = NULL;
		sim_clock_page_drive_engine(thread->sched->page, source->cfg.engine, NULL);
	}
	LIST_INIT(&thread->sources);
	sim_vclock_sleeper_stop(thread);
	sim_participant_leave(&thread->participant);
	pthread_cond_destroy(&thread->changed);
	free(thread);
}

void sim_vclock_thread_on_exit(void *arg)
{
	struct sim_vclock_thread *thread = arg;
	struct sim_vclock_sched *sched = thread->sched;

	pthread_mutex_lock(&sched->lock);
	sim_vclock_thread_destroy(thread);
	pthread_mutex_unlock(&sched->lock);
}

static struct sim_vclock_thread *thread_create(struct sim_vclock_sched *sched)
{
	struct sim_vclock_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return NULL;
	thread->sched = sched;
	thread->participant.spins = sched->may_spin;
	LIST_INIT(&thread->sources);
	pthread_cond_init(&thread->changed, NULL);
	if (pthread_setspecific(sched->key, thread) != 0) {
		free(thread);
		return NULL;
	}
	LIST_INSERT_HEAD(&sched->threads, thread, link);
	return thread;
}

void sim_vclock_thread_unbind(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = source->thread;

	if (!thread)
		return;
	LIST_REMOVE(source, link);
	source->thread = NULL;
	thread->num_sources--;
	thread->num_holds -= source->holds;
	sim_clock_page_drive_engine(source->sched->page, source->cfg.engine, NULL);
	if (LIST_EMPTY(&thread->sources))
		sim_participant_leave(&thread->participant);
}

/* The participant of @thread drives @source. */
static void connect_source(const struct sim_vclock_thread *thread, const struct sim_vclock_source *source)
{
	struct sim_participant participant = thread->participant;

	sim_clock_page_drive_engine(participant.page, source->cfg.engine, &participant);
	if (source->cfg.hears_sync)
		sim_participant_hear_sync(&participant, true);
}

bool sim_vclock_thread_bind(struct sim_vclock_source *source)
{
	struct sim_vclock_sched *sched = source->sched;
	struct sim_vclock_thread *thread;

	if (sched->is_destroyed)
		return false;
	thread = pthread_getspecific(sched->key);
	if (!thread)
		thread = thread_create(sched);
	if (!thread)
		return false;
	if (source->thread != thread) {
		sim_vclock_thread_unbind(source);
		source->thread = thread;
		LIST_INSERT_HEAD(&thread->sources, source, link);
		thread->num_sources++;
		thread->num_holds += source->holds;
	}
	if (sim_participant_is_ours(&thread->participant)) {
		connect_source(thread, source);
		return true;
	}
	/* The thread is new, or another participant has taken its slot. */
	if (sim_participant_join(&thread->participant, sched->page, sched->rank) < 0)
		return false;
	LIST_FOREACH(source, &thread->sources, link)
		connect_source(thread, source);
	sim_participant_remember_calls(&thread->participant);
	sim_clock_launch_end(sched->page, &sched->launch);
	return true;
}

struct sim_vclock_thread *sim_vclock_thread_join(struct sim_vclock_source *source)
{
	struct sim_vclock_thread *thread = source->thread;
	bool bound = true;

	if (!thread || thread != pthread_getspecific(source->sched->key) ||
	    !sim_participant_is_ours(&thread->participant)) {
		pthread_mutex_lock(&source->sched->lock);
		bound = sim_vclock_thread_bind(source);
		thread = source->thread;
		pthread_mutex_unlock(&source->sched->lock);
	}
	if (!bound)
		return NULL;
	sim_participant_heartbeat(&thread->participant);
	return thread;
}
