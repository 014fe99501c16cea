/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor of the process behind a socket, and the pid behind a descriptor. */
#include "pidfd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int sim_pidfd_of_peer(int sock)
{
	struct ucred cred;
	socklen_t len = sizeof(int);
	int pidfd;

	if (getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0)
		return pidfd;
	len = sizeof(cred);
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	pidfd = cred.pid > 0 ? sim_pidfd_open(cred.pid) : -1;
	return pidfd >= 0 ? pidfd : cred.pid > 0 ? -errno : -ESRCH;
}

/* Read the line of the file that begins with @field. Returns whether there is one. */
static bool read_field(const char *path, const char *field, char *ret_line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found = false;

	while (file && !found && fgets(ret_line, (int)size, file))
		found = strncmp(ret_line, field, strlen(field)) == 0;
	if (file)
		fclose(file);
	return found;
}

/* "NSpid:" lists this process's pids from the namespace of /proc to its own: one, if these are the same. The line is
 * missing in kernels without PID namespaces. */
static bool is_own_proc(void)
{
	char line[256];
	int outer, inner;

	if (!read_field("/proc/self/status", "Pid:", line, sizeof(line)))
		return false;
	return !read_field("/proc/self/status", "NSpid:", line, sizeof(line)) ||
	       sscanf(line, "NSpid: %d %d", &outer, &inner) == 1;
}

pid_t sim_pidfd_pid(int pidfd)
{
	char path[64], line[64];
	int pid;

	if (!is_own_proc())
		return -ENOTSUP;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (!read_field(path, "Pid:", line, sizeof(line)) || sscanf(line, "Pid: %d", &pid) != 1 || pid <= 0)
		return -ESRCH;
	return pid;
}
