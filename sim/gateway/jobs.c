/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs and their workers. */
#include "jobs.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "sim/base/log.h"
#include "sim/base/thread.h"

int jobs_open(struct jobs *jobs)
{
	*jobs = (struct jobs){ .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	pthread_mutex_init(&jobs->lock, NULL);
	pthread_cond_init(&jobs->added, NULL);
	STAILQ_INIT(&jobs->queued);
	STAILQ_INIT(&jobs->queued_slow);
	STAILQ_INIT(&jobs->finished);
	return jobs->wake_fd < 0 ? -errno : 0;
}

void jobs_wake(struct jobs *jobs)
{
	eventfd_write(jobs->wake_fd, 1);
	atomic_store(&jobs->has_news, true); /* after it, so that a readable descriptor is never left without news */
}

/* The next job that may run now, or NULL. */
static struct job *take(struct jobs *jobs)
{
	struct job_list *list =
		STAILQ_EMPTY(&jobs->queued) && jobs->num_slow < JOBS_MAX_SLOW ? &jobs->queued_slow : &jobs->queued;
	struct job *job = STAILQ_FIRST(list);

	if (!job)
		return NULL;
	STAILQ_REMOVE_HEAD(list, entry);
	jobs->num_queued--;
	jobs->num_slow += job->is_slow;
	return job;
}

static void *work(void *arg)
{
	struct jobs *jobs = arg;

	pthread_mutex_lock(&jobs->lock);
	for (;;) {
		struct job *job = take(jobs);

		if (!job) {
			jobs->num_idle++;
			pthread_cond_wait(&jobs->added, &jobs->lock);
			jobs->num_idle--;
			continue;
		}
		pthread_mutex_unlock(&jobs->lock);
		job->run(job);
		pthread_mutex_lock(&jobs->lock);
		jobs->num_slow -= job->is_slow;
		STAILQ_INSERT_TAIL(&jobs->finished, job, entry);
		jobs_wake(jobs);
	}
	return NULL;
}

void jobs_add(struct jobs *jobs, struct job *job)
{
	bool needs_worker;
	pthread_t worker;

	pthread_mutex_lock(&jobs->lock);
	if (job->is_slow)
		STAILQ_INSERT_TAIL(&jobs->queued_slow, job, entry);
	else
		STAILQ_INSERT_TAIL(&jobs->queued, job, entry);
	needs_worker = ++jobs->num_queued > jobs->num_idle && jobs->num_workers < JOBS_MAX_WORKERS;
	jobs->num_workers += needs_worker;
	pthread_cond_signal(&jobs->added);
	pthread_mutex_unlock(&jobs->lock);
	if (needs_worker && sim_thread_start(&worker, "gateway-worker", work, jobs) < 0) {
		sim_err("the gateway cannot start a thread");
		pthread_mutex_lock(&jobs->lock);
		jobs->num_workers--;
		pthread_mutex_unlock(&jobs->lock);
	}
}

bool jobs_finish(struct jobs *jobs)
{
	struct job_list finished = STAILQ_HEAD_INITIALIZER(finished);
	eventfd_t count = 0;
	struct job *job;

	if (!atomic_load_explicit(&jobs->has_news, memory_order_relaxed))
		return false;
	atomic_store(&jobs->has_news, false);
	eventfd_read(jobs->wake_fd, &count);
	pthread_mutex_lock(&jobs->lock);
	STAILQ_CONCAT(&finished, &jobs->finished);
	pthread_mutex_unlock(&jobs->lock);
	while ((job = STAILQ_FIRST(&finished))) {
		STAILQ_REMOVE_HEAD(&finished, entry);
		job->done(job);
	}
	return true;
}
