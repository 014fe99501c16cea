/* SPDX-License-Identifier: BSD-3-Clause */
/* The resumer: a child that continues a stopped process when the daemon is killed.
 *
 * The resumer sleeps on a pipe whose other end closes with the daemon, and then sends SIGCONT. */
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

/* The resumer's only descriptors. */
enum { PROCESS_PIDFD, DAEMON_ALIVE_FD, READY_FD, NUM_FDS };

/* The resumer closes its copies of the daemon's descriptors. Otherwise the session's directory would stay
 * locked, and epoll would still watch sockets that the daemon closed. It has a session of its own, so
 * signals to the daemon's process group do not reach it. */
static void __attribute__((noreturn)) run_resumer(const int *fds)
{
	int high[NUM_FDS];
	char byte = 0;

	setsid();
	prctl(PR_SET_NAME, "bfsimd-resumer");
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

/* Wait until the resumer has closed its copies of the daemon's descriptors. */
static int wait_resumer_ready(int fd)
{
	char byte;
	ssize_t len;

	do {
		len = read(fd, &byte, 1);
	} while (len < 0 && errno == EINTR);
	return len == 1 ? 0 : -ECHILD;
}

static int fork_resumer(int pidfd, const int *alive_pipe, const int *ready, struct resumer *ret_resumer)
{
	const int fds[NUM_FDS] = { [PROCESS_PIDFD] = pidfd, [DAEMON_ALIVE_FD] = alive_pipe[0], [READY_FD] = ready[1] };
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0)
		run_resumer(fds);
	*ret_resumer = (struct resumer){ .pid = pid, .pipe_fd = alive_pipe[1] };
	return 0;
}

static int spawn_resumer(int pidfd, struct resumer *ret_resumer)
{
	int alive_pipe[2], ready[2], rc;

	if (pipe2(alive_pipe, O_CLOEXEC) < 0)
		return -errno;
	rc = pipe2(ready, O_CLOEXEC) < 0 ? -errno : 0;
	if (rc == 0) {
		rc = fork_resumer(pidfd, alive_pipe, ready, ret_resumer);
		close(ready[1]);
		if (rc == 0 && wait_resumer_ready(ready[0]) < 0)
			sim_warn("the resumer of a process that is paused ended at once");
		close(ready[0]);
	}
	close(alive_pipe[0]);
	if (rc < 0)
		close(alive_pipe[1]);
	return rc;
}

void daemon_resumer_start(int pidfd, struct resumer *resumer)
{
	int rc = resumer->pid > 0 ? 0 : spawn_resumer(pidfd, resumer);

	if (rc < 0)
		sim_warn(
			"no resumer for a process that is paused: if the daemon is killed meanwhile it stays stopped (%s)",
			strerror(-rc));
}

void daemon_resumer_stop(struct resumer *resumer)
{
	if (resumer->pid <= 0)
		return;
	kill(resumer->pid, SIGKILL); /* before close() below, which the resumer would take for the daemon's death */
	while (waitpid(resumer->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(resumer->pipe_fd);
	*resumer = (struct resumer){ 0 };
}
