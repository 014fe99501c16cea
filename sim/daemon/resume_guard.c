/* SPDX-License-Identifier: BSD-3-Clause */
/* The resume guard: a child that continues a stopped process when the daemon is killed.
 *
 * The guard sleeps on a pipe whose other end closes with the daemon, and then sends SIGCONT. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/base/log.h"
#include "sim/base/pidfd.h"

/* The guard's only descriptors. */
enum { PROCESS_PIDFD, DAEMON_ALIVE_FD, READY_FD, NUM_FDS };

/* The guard closes its copies of the daemon's descriptors. Otherwise the session's directory would stay
 * locked, and epoll would still watch sockets that the daemon closed. It has a session of its own, so
 * signals to the daemon's process group do not reach it. */
static void __attribute__((noreturn)) run_guard(const int *fds)
{
	int high[NUM_FDS];
	char byte = 0;

	setsid();
	prctl(PR_SET_NAME, "bfsimd-guard");
	for (int i = 0; i < NUM_FDS; i++) /* dup2() below must not close one of them */
		high[i] = fcntl(fds[i], F_DUPFD, NUM_FDS);
	for (int i = 0; i < NUM_FDS; i++)
		if (high[i] < 0 || dup2(high[i], i) < 0)
			_exit(1);
	close_range(NUM_FDS, UINT_MAX, 0);
	if (write(READY_FD, &byte, 1) != 1)
		_exit(1);
	close(READY_FD);
	while (read(DAEMON_ALIVE_FD, &byte, 1) < 0 && errno == EINTR)
		;
	sim_pidfd_send_signal(PROCESS_PIDFD, SIGCONT);
	_exit(0);
}

/* Wait until the guard has closed its copies of the daemon's descriptors. */
static int wait_guard_ready(int fd)
{
	char byte;
	ssize_t len;

	do {
		len = read(fd, &byte, 1);
	} while (len < 0 && errno == EINTR);
	return len == 1 ? 0 : -ECHILD;
}

static int fork_guard(int pidfd, const int *alive_pipe, const int *ready, struct resume_guard *ret_guard)
{
	const int fds[NUM_FDS] = { [PROCESS_PIDFD] = pidfd, [DAEMON_ALIVE_FD] = alive_pipe[0], [READY_FD] = ready[1] };
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		run_guard(fds);
	*ret_guard = (struct resume_guard){ .pid = pid, .pipe_fd = alive_pipe[1] };
	return 0;
}

static int spawn_guard(int pidfd, struct resume_guard *ret_guard)
{
	int alive_pipe[2], ready[2], rc;

	if (pipe2(alive_pipe, O_CLOEXEC) < 0)
		return -errno;
	rc = pipe2(ready, O_CLOEXEC) < 0 ? -errno : 0;
	if (rc == 0) {
		rc = fork_guard(pidfd, alive_pipe, ready, ret_guard);
		close(ready[1]);
		if (rc == 0 && wait_guard_ready(ready[0]) < 0)
			sim_warn("the guard of a process that is paused ended at once");
		close(ready[0]);
	}
	close(alive_pipe[0]);
	if (rc < 0)
		close(alive_pipe[1]);
	return rc;
}

void daemon_resume_guard_start(int pidfd, struct resume_guard *guard)
{
	int rc = guard->pid > 0 ? 0 : spawn_guard(pidfd, guard);

	if (rc < 0)
		sim_warn(
			"no guard for a process that is paused: if the daemon is killed meanwhile it stays stopped (%s)",
			strerror(-rc));
}

void daemon_resume_guard_stop(struct resume_guard *guard)
{
	if (guard->pid <= 0)
		return;
	kill(guard->pid, SIGKILL); /* before close() below, which the guard would take for the daemon's death */
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(guard->pipe_fd);
	*guard = (struct resume_guard){ 0 };
}
