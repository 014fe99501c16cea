/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/session_util.h - a session directory and its daemon, for tests of several processes. */
#ifndef TESTS_MULTI_SESSION_UTIL_H
#define TESTS_MULTI_SESSION_UTIL_H

#include "proc.h"

/* The current test's session. The setups fill it. */
extern struct session_fixture {
	char *dir;
	struct proc daemon;
} test_session;

/* Start the daemon of session @dir, and wait until it is ready. */
void daemon_start(struct proc *daemon, const char *dir, const char *topology);

/* The same with a limit on the daemon's open descriptors. */
void daemon_start_limited(struct proc *daemon, const char *dir, int max_fds);

/* The same of a session whose processes pass their memory on; @group shares it if that is not 0. */
void daemon_start_passing(struct proc *daemon, const char *dir, gid_t group);

/* Run sim_daemon_run() in a process without waiting, and read its return value: at its end or its failure. */
void daemon_try(struct proc *daemon, const char *dir, const char *topology);
int daemon_result(struct proc *daemon);

/* Whether the daemon lists process @pid; whether the daemon removes the process from the list within the deadline. */
bool daemon_knows(const char *dir, pid_t pid);
bool daemon_forgets(const char *dir, pid_t pid);

/* The daemon's status of its processes: JSON without white space. */
void daemon_read_status(const char *dir, char *text, size_t size);

/* Send SIGTERM and expect that sim_daemon_run() returns 0. */
void daemon_stop(struct proc *daemon);

/* cmocka setups: an empty directory, or a session with its daemon. The latter sets BFSIM_SESSION for the processes. */
int session_dir_setup(void **state);
int session_setup(void **state);

/* cmocka teardowns: kill all processes and remove the directory; the second first expects that the daemon still runs
 * and stops well. */
int session_teardown(void **state);
int session_stop_teardown(void **state);

#endif
