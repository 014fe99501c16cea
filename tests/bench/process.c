/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and ends the other processes of a benchmark. */
#include "process.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define MAX_ARGS 16

/* Fork with a socket between. Returns the child's pid, 0 in the child, or -1. */
static pid_t fork_with_socket(int *ret_fd)
{
	pid_t parent = getpid(), pid;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return bench_fail("socketpair: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return bench_fail("fork: %s", strerror(errno));
	}
	close(fds[pid == 0 ? 0 : 1]);
	*ret_fd = fds[pid == 0 ? 1 : 0];
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

int bench_process_fork(int (*run)(void *arg, int fd), void *arg, struct bench_process *ret_process)
{
	int fd;
	pid_t pid = fork_with_socket(&fd);

	if (pid < 0)
		return -1;
	if (pid == 0)
		exit(run(arg, fd) < 0);
	*ret_process = (struct bench_process){ .pid = pid, .fd = fd };
	return 0;
}

/* The path of @program in our own directory. */
static void path_of_program(const char *program, char *path, size_t size)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[len > 0 ? len : 0] = '\0';
	slash = strrchr(self, '/');
	snprintf(path, size, "%.*s%s", slash ? (int)(slash - self + 1) : 0, self, program);
}

static void become(const char *program, const char *const *args, int fd)
{
	const char *argv[MAX_ARGS + 3] = { program };
	char path[PATH_MAX + 64], number[16];
	int argc = 1;

	path_of_program(program, path, sizeof(path));
	fd = dup(fd); /* without close-on-exec */
	snprintf(number, sizeof(number), "%d", fd);
	argv[argc++] = number;
	while (argc < MAX_ARGS && args && *args)
		argv[argc++] = *args++;
	execv(path, (char *const *)(uintptr_t)argv);
	bench_fail("cannot start %s: %s", path, strerror(errno));
	_exit(127);
}

int bench_process_exec(const char *program, const char *const *args, struct bench_process *ret_process)
{
	int fd;
	pid_t pid = fork_with_socket(&fd);

	if (pid < 0)
		return -1;
	if (pid == 0)
		become(program, args, fd);
	*ret_process = (struct bench_process){ .pid = pid, .fd = fd };
	return 0;
}

int bench_process_end(struct bench_process *process)
{
	int status = 0;

	if (process->pid <= 0)
		return 0;
	shutdown(process->fd, SHUT_RDWR); /* later forks may hold it open */
	close(process->fd);
	while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	process->pid = 0;
	return status == 0 ? 0 :
			     bench_fail("a process of the benchmark ended badly (status %#x)", (unsigned int)status);
}

int bench_send(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -1;
}

int bench_receive(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len ? 0 : -1;
}

void bench_wait_for_end(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, 0) > 0)
		;
}

int bench_one_cpu_begin(cpu_set_t *ret_before)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	if (sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0 || sched_setaffinity(0, sizeof(one), &one) < 0)
		return bench_fail("no choice of a CPU: %s", strerror(errno));
	return 0;
}

void bench_one_cpu_end(const cpu_set_t *before)
{
	sched_setaffinity(0, sizeof(*before), before);
}
