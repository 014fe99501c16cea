/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads /proc/self/task/TID/syscall: the system call that a thread is in, with its arguments. */
#include "sleepers.h"

#include <dirent.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_POLL_FDS 256

struct system_call {
	long number;
	unsigned long args[3];
};

/* Another thread's memory may be gone: it may have woken up, and returned. */
static bool read_memory(unsigned long addr, void *ret, size_t len)
{
	struct iovec local = { .iov_base = ret, .iov_len = len };
	struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool polls(const struct system_call *call, int fd)
{
	unsigned long count = call->args[1] < MAX_POLL_FDS ? call->args[1] : MAX_POLL_FDS;
	struct pollfd fds[MAX_POLL_FDS];

	if (count == 0 || !read_memory(call->args[0], fds, count * sizeof(fds[0])))
		return false;
	for (unsigned long i = 0; i < count; i++)
		if (fds[i].fd == fd && fds[i].events & POLLIN)
			return true;
	return false;
}

static bool selects(const struct system_call *call, int fd)
{
	size_t bytes = ((size_t)fd / (8 * sizeof(long)) + 1) * sizeof(long);
	fd_set set;

	FD_ZERO(&set);
	return fd < FD_SETSIZE && (unsigned long)fd < call->args[0] && call->args[1] &&
	       read_memory(call->args[1], &set, bytes) && FD_ISSET(fd, &set);
}

static bool epoll_has(int epoll_fd, int fd)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;
	int member;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", epoll_fd);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "tfd: %d", &member) == 1 && member == fd;
	if (file)
		fclose(file);
	return found;
}

static bool waits_for(const struct system_call *call, int fd)
{
	switch (call->number) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return polls(call, fd);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return selects(call, fd);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return epoll_has((int)call->args[0], fd);
	case SYS_read:
		return (int)call->args[0] == fd;
	default:
		return false;
	}
}

/* Returns false if the thread runs, or has ended. */
static bool read_system_call(const char *tid, struct system_call *ret_call)
{
	unsigned long *args = ret_call->args;
	char path[64];
	bool is_read;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/syscall", tid);
	file = fopen(path, "re");
	is_read = file && fscanf(file, "%ld %lx %lx %lx", &ret_call->number, &args[0], &args[1], &args[2]) == 4;
	if (file)
		fclose(file);
	return is_read;
}

bool check_is_slept_on(int fd)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	struct system_call call;
	bool found = false;

	while (tasks && !found && (task = readdir(tasks)))
		found = task->d_name[0] != '.' && read_system_call(task->d_name, &call) && waits_for(&call, fd);
	if (tasks)
		closedir(tasks);
	return found;
}
