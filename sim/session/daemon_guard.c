/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that was stopped goes on even when the daemon is killed before it can say so: a child of the
 * daemon waits for that. All it does is to sleep on a pipe that ends with the daemon. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon_priv.h"
#include "sim/log.h"

#define PIDFD_AT 0 /* descriptors of the guard; it has no others */
#define PIPE_AT 1

/* Descriptors of ours, such as the lock of the session's directory, must not outlive us in it. A signal to our
 * process group is not for it. */
static void __attribute__((noreturn)) keep_guard(int pidfd, int pipe_fd)
{
	char byte;

	setsid();
	prctl(PR_SET_NAME, "bfsimd-guard");
	pidfd = fcntl(pidfd, F_DUPFD, PIPE_AT + 1); /* so that neither is where the other goes */
	pipe_fd = fcntl(pipe_fd, F_DUPFD, PIPE_AT + 1);
	if (dup2(pidfd, PIDFD_AT) < 0 || dup2(pipe_fd, PIPE_AT) < 0)
		_exit(1);
	close_range(PIPE_AT + 1, UINT_MAX, 0);
	while (read(PIPE_AT, &byte, 1) < 0 && errno == EINTR)
		;
	pidfd_send_signal(PIDFD_AT, SIGCONT, NULL, 0);
	_exit(0);
}

static int start(int pidfd, struct guard *ret_guard)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		keep_guard(pidfd, fds[0]);
	}
	close(fds[0]);
	if (pid < 0) {
		int rc = -errno;

		close(fds[1]);
		return rc;
	}
	*ret_guard = (struct guard){.pid = pid, .pipe_fd = fds[1]};
	return 0;
}

void daemon_guard_start(int pidfd, struct guard *guard)
{
	int rc = guard->pid > 0 ? 0 : start(pidfd, guard);

	if (rc < 0)
		sim_warn("no guard for a process that is paused: if the daemon is killed meanwhile it stays stopped (%s)",
			 strerror(-rc));
}

void daemon_guard_end(struct guard *guard)
{
	if (guard->pid <= 0)
		return;
	kill(guard->pid, SIGKILL); /* before it takes the pipe's end for our death */
	while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(guard->pipe_fd);
	*guard = (struct guard){0};
}
