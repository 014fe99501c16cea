/* SPDX-License-Identifier: BSD-3-Clause */
/* The descriptor of the process behind a socket, and the pid behind a descriptor. */
#include "pidfd.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

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
 * missing in kernels without PID namespaces. The kernel takes microseconds to write the file: it is read once. */
static bool read_is_own_proc(void)
{
	FILE *file = fopen("/proc/self/status", "re");
	bool has_pid = false, has_namespace = false;
	int outer, inner, count = 1;
	char line[256];

	while (file && !has_namespace && fgets(line, sizeof(line), file)) {
		has_pid |= strncmp(line, "Pid:", 4) == 0;
		has_namespace = strncmp(line, "NSpid:", 6) == 0;
	}
	if (file)
		fclose(file);
	if (has_namespace)
		count = sscanf(line, "NSpid: %d %d", &outer, &inner);
	return has_pid && count == 1;
}

/* A process never changes its PID namespace, so the answer holds as long as the file system at /proc is the same. */
static bool is_own_proc(void)
{
	static _Thread_local struct {
		pid_t pid; /* 0 = not asked yet */
		dev_t device;
		struct timespec mounted;
		bool is_own;
	} last;
	struct stat proc;

	if (stat("/proc", &proc) < 0)
		return false;
	if (last.pid != getpid() || last.device != proc.st_dev || last.mounted.tv_sec != proc.st_ctim.tv_sec ||
	    last.mounted.tv_nsec != proc.st_ctim.tv_nsec) {
		last.is_own = read_is_own_proc();
		last.device = proc.st_dev;
		last.mounted = proc.st_ctim;
		last.pid = getpid();
	}
	return last.is_own;
}

/* The kernel's struct pidfd_info of its first version. */
struct info {
	uint64_t mask, cgroup;
	uint32_t pid, rest[11];
};

#define WANTS_PID 1u
#define GET_INFO  _IOWR(0xff, 11, struct info)

static pid_t read_pid(int pidfd)
{
	char path[64], line[64];
	int pid;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (!read_field(path, "Pid:", line, sizeof(line)) || sscanf(line, "Pid: %d", &pid) != 1 || pid <= 0)
		return -ESRCH;
	return pid;
}

pid_t sim_pidfd_pid(int pidfd)
{
	struct info info = { .mask = WANTS_PID };

	if (!is_own_proc())
		return -ENOTSUP;
	if (ioctl(pidfd, GET_INFO, &info) == 0)
		return (pid_t)info.pid;
	return errno == ESRCH ? -ESRCH : read_pid(pidfd); /* before Linux 6.13 */
}
