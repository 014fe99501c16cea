/* SPDX-License-Identifier: BSD-3-Clause */
/* The sleeper: a helper thread that waits for virtual time while its thread sleeps on its progress engines. */
#include <stddef.h>

#include "sim/base/log.h"
#include "sim/base/monotonic.h"
#include "sim/base/thread.h"
#include "vclock_priv.h"

/* The interval of stall checks while a participant is busy; and of looks whether one is. */
#define STALL_CHECK_NS (2 * SIM_NS_PER_MS)
#define BUSY_CHECK_NS  (50 * SIM_NS_PER_MS)

static void wake_sources(struct sim_vclock_thread *thread)
{
	struct sim_vclock_source *source;

	LIST_FOREACH(source, &thread->sources, link) {
		if (source->asleep) {
			source->asleep = false;
			source->wake_pending = true;
			source->cfg.wake(source->cfg.arg);
		}
	}
}

static void *sleeper_thread(void *arg)
{
	struct sim_vclock_thread *thread = arg;
	struct sim_vclock_sched *sched = thread->sched;
	struct sim_stall_watch watch = { 0 };

	pthread_mutex_lock(&sched->lock);
	while (!thread->stop) {
		/* The thread may leave meanwhile, and only it reads and writes what its spins have brought. */
		struct sim_participant participant = { .page = thread->participant.page,
						       .shared = thread->participant.shared,
						       .owner = thread->participant.owner };

		if (!thread->asleep || !sim_participant_is_ours(&participant)) {
			thread->asleep = false;
			pthread_cond_wait(&thread->changed, &sched->lock);
			continue;
		}
		if (sim_participant_state(&participant) != SIM_PARTICIPANT_WAITING) {
			thread->asleep = false;
			wake_sources(thread);
			continue;
		}
		pthread_mutex_unlock(&sched->lock);
		sim_participant_sleep(&participant, sim_vclock_check_stall(sched, &participant, &watch) ?
							    sim_stall_check_interval_ns(&participant, STALL_CHECK_NS) :
							    BUSY_CHECK_NS);
		pthread_mutex_lock(&sched->lock);
	}
	pthread_mutex_unlock(&sched->lock);
	return NULL;
}

/* Under the lock. */
static void ensure_started(struct sim_vclock_thread *thread)
{
	int rc;

	if (thread->started)
		return;
	rc = sim_thread_start(&thread->sleeper, "bfsim-clock", sleeper_thread, thread);
	thread->started = rc == 0;
	if (rc < 0)
		sim_err("cannot start a thread that waits for virtual time (error %d): poll the progress engine, or raise the limit of threads",
			-rc);
}

void sim_vclock_sleeper_begin(struct sim_vclock_thread *thread, struct sim_vclock_source *source)
{
	pthread_mutex_lock(&thread->sched->lock);
	ensure_started(thread);
	source->asleep = true;
	thread->asleep = true;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->sched->lock);
}

void sim_vclock_sleeper_stop(struct sim_vclock_thread *thread)
{
	bool started = thread->started;

	thread->stop = true;
	thread->started = false;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->sched->lock);
	if (started) {
		sim_participant_wake(&thread->participant);
		pthread_join(thread->sleeper, NULL);
	}
	pthread_mutex_lock(&thread->sched->lock);
}
