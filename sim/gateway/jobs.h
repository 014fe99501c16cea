/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/gateway/jobs.h - calls that may block, in threads of their own.
 *
 *   main thread: jobs_add() --> [queued] --a worker: run()--> [done] --main thread: jobs_finish(): done()--> freed by done()
 *
 * Workers are started when they are needed, and end with the process. Slow jobs wait for a program that may be stopped: they have a
 * part of the workers, so that others go on.
 */
#ifndef SIM_GATEWAY_JOBS_H
#define SIM_GATEWAY_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

struct job {
	void (*run)(struct job *job);
	void (*done)(struct job *job);
	bool is_slow;
	STAILQ_ENTRY(job) entry;
};

STAILQ_HEAD(job_list, job);

#define JOBS_MAX_WORKERS 8
#define JOBS_MAX_SLOW    4 /* that run at once */

struct jobs {
	pthread_mutex_t lock; /* protects what follows */
	pthread_cond_t added;
	struct job_list queued, queued_slow, finished;
	unsigned int num_workers, num_idle, num_queued, num_slow;
	int wake_fd;          /* an eventfd, which is readable when a job is finished */
	atomic_bool has_news; /* it may be: it need not be read otherwise */
};

/* Returns 0 or -errno. */
int jobs_open(struct jobs *jobs);

void jobs_add(struct jobs *jobs, struct job *job);

/* Wake the main thread, from any thread. */
void jobs_wake(struct jobs *jobs);

/* Main thread: end the jobs that have run. Returns whether there was one, or a wake-up. */
bool jobs_finish(struct jobs *jobs);

#endif
