/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of kernels: one after the other, each behind its event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "process_priv.h"
#include "sim/base/thread.h"

struct sim_dpa_launch {
	TAILQ_ENTRY(sim_dpa_launch) link;
	struct sim_dpa_process *process;
	const struct sim_dpa_launch_ops *ops;
	void *arg;
	struct sim_dpa_work *ranks; /* an array */
	uint32_t num_ranks, num_running;
	bool has_failed; /* a rank did not run to its end */
	uint64_t args[]; /* the kernel's block */
};

static void free_launch(struct sim_dpa_launch *launch)
{
	if (launch)
		free(launch->ranks);
	free(launch);
}

static void end_rank(struct sim_dpa_work *work, enum sim_dpa_end end)
{
	struct sim_dpa_launch *launch = work->owner;

	launch->num_running--;
	if (end != SIM_DPA_RETURNED)
		launch->has_failed = true;
	pthread_cond_broadcast(&launch->process->launch_wake);
}

/* Under the lock. */
static void run_ranks(struct sim_dpa_launch *launch)
{
	struct sim_dpa_process *process = launch->process;

	launch->num_running = launch->num_ranks;
	for (uint32_t i = 0; i < launch->num_ranks; i++)
		sim_dpa_submit(process, &launch->ranks[i]);
	while (launch->num_running > 0)
		pthread_cond_wait(&process->launch_wake, &process->lock);
}

/* Under the lock, which is released while the launch waits. */
static void run_launch(struct sim_dpa_launch *launch)
{
	struct sim_dpa_process *process = launch->process;
	bool has_run = false;

	pthread_mutex_unlock(&process->lock);
	if (launch->ops->wait(launch->arg, &process->is_over) == 0) {
		pthread_mutex_lock(&process->lock);
		run_ranks(launch);
		pthread_mutex_unlock(&process->lock);
		has_run = !launch->has_failed;
	}
	launch->ops->end(launch->arg, has_run);
	free_launch(launch);
	pthread_mutex_lock(&process->lock);
}

/* After the process is over, launches that wait end without having run. */
static void *run_launches(void *arg)
{
	struct sim_dpa_process *process = arg;
	struct sim_dpa_launch *launch;

	pthread_mutex_lock(&process->lock);
	for (;;) {
		launch = TAILQ_FIRST(&process->launches);
		if (launch) {
			TAILQ_REMOVE(&process->launches, launch, link);
			run_launch(launch);
		} else if (atomic_load(&process->is_over)) {
			break;
		} else {
			pthread_cond_wait(&process->launch_wake, &process->lock);
		}
	}
	pthread_mutex_unlock(&process->lock);
	return NULL;
}

void sim_dpa_launches_fini(struct sim_dpa_process *process)
{
	if (process->was_launch_thread_started)
		pthread_join(process->launch_thread, NULL);
}

static struct sim_dpa_launch *make_launch(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel,
					  const void *args, uint32_t num_threads)
{
	struct sim_dpa_launch *launch = calloc(1, sizeof(*launch) + kernel->args_bytes);

	if (launch)
		launch->ranks = calloc(num_threads, sizeof(*launch->ranks));
	if (!launch || !launch->ranks) {
		free_launch(launch);
		return NULL;
	}
	launch->process = process;
	launch->num_ranks = num_threads;
	memcpy(launch->args, args, kernel->args_bytes);
	for (uint32_t i = 0; i < num_threads; i++)
		launch->ranks[i] = (struct sim_dpa_work){ .kernel = kernel,
							  .args = launch->args,
							  .fixed_eu = SIM_DPA_ANY_EU,
							  .rank = i,
							  .num_ranks = num_threads,
							  .ended = end_rank,
							  .owner = launch };
	return launch;
}

/* Under the lock. Returns 0, -EIO or -errno. */
static int queue_launch(struct sim_dpa_process *process, struct sim_dpa_launch *launch)
{
	int rc;

	if (atomic_load(&process->is_over))
		return -EIO;
	if (!process->was_launch_thread_started) {
		rc = sim_thread_start(&process->launch_thread, "dpa-launches", run_launches, process);
		if (rc < 0)
			return rc;
		process->was_launch_thread_started = true;
	}
	TAILQ_INSERT_TAIL(&process->launches, launch, link);
	pthread_cond_broadcast(&process->launch_wake);
	return 0;
}

int sim_dpa_process_launch(struct sim_dpa_process *process, const struct sim_dpa_kernel *kernel, const void *args,
			   uint32_t num_threads, const struct sim_dpa_launch_ops *ops, void *arg)
{
	struct sim_dpa_launch *launch = make_launch(process, kernel, args, num_threads);
	int rc;

	if (!launch)
		return -ENOMEM;
	launch->ops = ops;
	launch->arg = arg;
	pthread_mutex_lock(&process->lock);
	rc = queue_launch(process, launch);
	pthread_mutex_unlock(&process->lock);
	if (rc < 0)
		free_launch(launch);
	return rc;
}
