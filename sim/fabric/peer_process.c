/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes behind pids: one pidfd for each, shared by all its users. */
#include "peer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/base/fork.h"
#include "sim/base/pidfd.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, sim_peer_process) processes = LIST_HEAD_INITIALIZER(processes);

/* Another thread of the parent may have held the lock. A half-done change of the list does no harm: its entries
 * remain, and one that is not in the list is only not shared. */
SIM_AT_FORK(SIM_FORK_LOCKS, .lock = &lock);

bool sim_peer_process_check(struct sim_peer_process *process)
{
	struct pollfd ended = { .fd = process->pidfd, .events = POLLIN };
	uint64_t now_ns = sim_monotonic_ns();
	int rc;

	do {
		rc = poll(&ended, 1, 0);
	} while (rc < 0 && errno == EINTR);
	if (rc != 0)
		return false;
	atomic_store_explicit(&process->checked_ns, now_ns, memory_order_relaxed);
	return true;
}

static int open_process(int32_t pid, int pidfd, struct sim_peer_process **ret_process)
{
	struct sim_peer_process *process = calloc(1, sizeof(*process));

	if (!process)
		return -ENOMEM;
	*process = (struct sim_peer_process){ .pid = pid, .pidfd = fcntl(pidfd, F_DUPFD_CLOEXEC, 0), .refs = 1 };
	if (process->pidfd < 0) {
		int rc = -errno;

		free(process);
		return rc;
	}
	LIST_INSERT_HEAD(&processes, process, entry);
	*ret_process = process;
	return 0;
}

static struct sim_peer_process *find_living(int32_t pid)
{
	struct sim_peer_process *process;

	LIST_FOREACH(process, &processes, entry)
		if (process->pid == pid && sim_peer_process_check(process))
			break;
	return process;
}

int sim_peer_process_get(int pidfd, struct sim_peer_process **ret_process)
{
	struct sim_peer_process *process;
	pid_t pid = sim_pidfd_pid(pidfd);
	int rc = 0;

	if (pid < 0)
		return pid;
	pthread_mutex_lock(&lock);
	process = find_living(pid);
	if (process)
		process->refs++;
	else
		rc = open_process(pid, pidfd, &process);
	pthread_mutex_unlock(&lock);
	if (rc == 0)
		*ret_process = process;
	return rc;
}

void sim_peer_process_put(struct sim_peer_process *process)
{
	bool is_last;

	if (!process)
		return;
	pthread_mutex_lock(&lock);
	is_last = --process->refs == 0;
	if (is_last)
		LIST_REMOVE(process, entry);
	pthread_mutex_unlock(&lock);
	if (!is_last)
		return;
	close(process->pidfd);
	free(process);
}
