/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/pidfd.h - descriptors of processes (pidfd_open(2)). glibc has these calls since 2.36; Ubuntu 22.04 has 2.35.
 *
 * A pid is a number in a PID namespace and is reused; a pidfd refers to one process for good, and can be passed to
 * other processes. */
#ifndef SIM_PIDFD_H
#define SIM_PIDFD_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A descriptor, or -1 with errno. */
static inline int sim_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* 0, or -1 with errno. */
static inline int sim_pidfd_send_signal(int pidfd, int signal)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

/* A descriptor of the process that connected the Unix socket @sock, also if its pid is not visible here. Kernels before
 * 6.5 open it by the pid that they show, which a process that ended meanwhile may have left to another one. Returns the
 * descriptor or -errno. */
int sim_pidfd_of_peer(int sock);

/* The pid by which system calls of this process reach the process of @pidfd. Returns -ESRCH if there is none: the
 * process has ended, or is in a PID namespace that this process does not see; or -ENOTSUP: /proc is not that of this
 * process's PID namespace. */
pid_t sim_pidfd_pid(int pidfd);

#endif
