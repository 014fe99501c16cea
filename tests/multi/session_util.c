/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and stops the daemon of a test's session, and reads the daemon's status. */
#include "cmocka_test.h"
#include "session_util.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/daemon/daemon.h"
#include "sim/protocol/session_dir.h"
#include "sim/protocol/wire.h"

struct session_fixture test_session;

struct daemon_arg {
	const char *dir, *topology;
	int max_fds; /* 0 = as many as the machine allows */
	bool passes_memory;
	gid_t group; /* 0 = none */
};

static void run_daemon(int ctl, const void *arg)
{
	const struct daemon_arg *how = arg;
	struct sim_daemon_cfg cfg = { .dir = how->dir,
				      .topology_path = how->topology,
				      .passes_memory = how->passes_memory,
				      .has_group = how->group != 0,
				      .group = how->group,
				      .ready_fd = dup(ctl) };
	struct rlimit limit = { .rlim_cur = (rlim_t)how->max_fds, .rlim_max = (rlim_t)how->max_fds };
	int rc;

	if (how->max_fds)
		CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	rc = sim_daemon_run(&cfg);
	send(ctl, &rc, sizeof(rc), MSG_NOSIGNAL);
}

static void wait_until_ready(struct proc *daemon)
{
	char byte;

	proc_recv(daemon->ctl, &byte, 1);
}

void daemon_try(struct proc *daemon, const char *dir, const char *topology)
{
	struct daemon_arg arg = { .dir = dir, .topology = topology };

	proc_start(daemon, run_daemon, &arg);
}

void daemon_start(struct proc *daemon, const char *dir, const char *topology)
{
	daemon_try(daemon, dir, topology);
	wait_until_ready(daemon);
}

void daemon_start_limited(struct proc *daemon, const char *dir, int max_fds)
{
	struct daemon_arg arg = { .dir = dir, .max_fds = max_fds };

	proc_start(daemon, run_daemon, &arg);
	wait_until_ready(daemon);
}

void daemon_start_passing(struct proc *daemon, const char *dir, gid_t group)
{
	struct daemon_arg arg = { .dir = dir, .passes_memory = true, .group = group };

	proc_start(daemon, run_daemon, &arg);
	wait_until_ready(daemon);
}

int daemon_result(struct proc *daemon)
{
	int rc;

	proc_recv(daemon->ctl, &rc, sizeof(rc));
	proc_end(daemon);
	return rc;
}

void daemon_stop(struct proc *daemon)
{
	proc_signal(daemon, SIGTERM);
	assert_int_equal(daemon_result(daemon), 0);
}

void daemon_read_status(const char *dir, char *text, size_t size)
{
	int dir_fd = sim_session_dir_open(dir, false), sock = sim_session_dir_connect(dir_fd), fd = -1;
	struct sim_msg msg = { .type = SIM_MSG_STATUS };
	ssize_t got;
	char *to = text;

	assert_true(sock >= 0);
	assert_int_equal(sim_msg_send(sock, &msg, -1), 0);
	assert_true(proc_readable_within(sock, PROC_DEADLINE_MS));
	assert_int_equal(sim_msg_recv(sock, &msg, &fd), 0);
	got = read(fd, text, size - 1);
	assert_true(got > 0);
	for (const char *from = text; from < text + got; from++)
		if (*from != ' ' && *from != '\n')
			*to++ = *from;
	*to = '\0';
	close(fd);
	close(sock);
	close(dir_fd);
}

bool daemon_knows(const char *dir, pid_t pid)
{
	char text[65536], field[64];

	snprintf(field, sizeof(field), "\"pid\":%d,\"program\"", (int)pid);
	daemon_read_status(dir, text, sizeof(text));
	return strstr(text, field) != NULL;
}

bool daemon_forgets(const char *dir, pid_t pid)
{
	int64_t end = proc_now_ms() + PROC_DEADLINE_MS;

	while (daemon_knows(dir, pid))
		if (proc_now_ms() > end)
			return false;
	return true;
}

int session_dir_setup(void **state)
{
	test_session.dir = proc_make_dir();
	return 0;
}

int session_setup(void **state)
{
	session_dir_setup(state);
	daemon_start(&test_session.daemon, test_session.dir, NULL);
	setenv("BFSIM_SESSION", test_session.dir, 1);
	return 0;
}

int session_teardown(void **state)
{
	proc_kill_all();
	proc_remove_dir(test_session.dir);
	return 0;
}

int session_stop_teardown(void **state)
{
	daemon_stop(&test_session.daemon);
	return session_teardown(state);
}
