/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/base/pidfd.h - descriptors of processes (pidfd_open(2)). glibc has these calls since 2.36; Ubuntu 22.04 has 2.35. */
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

#endif
