/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting bfsimd: a process of its own that tells through a pipe when it is ready. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "install.h"
#include "session_make.h"

#define READY_FD 3
#define READY_FD_TEXT "3"
#define MAX_ARGS 16

struct launch {
	char *program;
	char *topology;         /* absolute, or NULL */
	const char *argv[MAX_ARGS];
	int log_fd;             /* its standard error, or -1 to have ours */
	off_t log_start;        /* what it says stands behind this offset */
};

/* The child: no terminal, no directory, no descriptor of ours. Does not return. */
static void become_daemon(const struct launch *launch, int ready_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t ends;

	/* Blocked from the start, as the daemon takes them as events later: an
	 * early one must not end it before it can clean up. */
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_SETMASK, &ends, NULL);
	setsid();
	dup2(null_fd, STDIN_FILENO);
	dup2(null_fd, STDOUT_FILENO);
	if (launch->log_fd >= 0)
		dup2(launch->log_fd, STDERR_FILENO);
	if (ready_fd == READY_FD)
		fcntl(READY_FD, F_SETFD, 0);
	else
		dup2(ready_fd, READY_FD);
	closefrom(READY_FD + 1);
	if (chdir("/") == 0)
		execv(launch->program, (char *const *)launch->argv);
	cli_fail("cannot start %s: %s; set BFSIM_BFSIMD to where bfsimd is", launch->program, strerror(errno));
	_exit(CLI_FAILED);
}

static void fill_arguments(const struct cli_daemon_cfg *cfg, struct launch *launch)
{
	const char **arg = launch->argv;

	*arg++ = launch->program;
	*arg++ = "--foreground";
	*arg++ = "--session";
	*arg++ = cfg->place->dir;
	*arg++ = "--ready-fd";
	*arg++ = READY_FD_TEXT;
	*arg++ = "--clock";
	*arg++ = sim_clock_mode_name(cfg->clock);
	if (launch->topology) {
		*arg++ = "--topology";
		*arg++ = launch->topology;
	}
	if (cfg->temporary)
		*arg++ = "--die-with-parent";
	if (cfg->temporary && cfg->place->made)
		*arg++ = "--remove-dir";
	*arg = NULL;
}

static int open_log(const char *dir, struct launch *launch)
{
	char *path;

	if (asprintf(&path, "%s/bfsimd.log", dir) < 0)
		return cli_fail("out of memory");
	launch->log_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (launch->log_fd < 0)
		cli_fail("cannot write the daemon's log %s: %s", path, strerror(errno));
	else
		launch->log_start = lseek(launch->log_fd, 0, SEEK_END);
	free(path);
	return launch->log_fd < 0 ? -1 : 0;
}

static int prepare(const struct cli_daemon_cfg *cfg, struct launch *launch)
{
	*launch = (struct launch){.log_fd = -1};
	launch->program = cli_bfsimd_path();
	if (!launch->program)
		return cli_fail("cannot find bfsimd from /proc/self/exe: set BFSIM_BFSIMD to where it is");
	if (cfg->topology) {
		launch->topology = realpath(cfg->topology, NULL);
		if (!launch->topology)
			return cli_fail("topology file %s: %s", cfg->topology, strerror(errno));
	}
	fill_arguments(cfg, launch);
	return cfg->temporary ? 0 : open_log(cfg->place->dir, launch);
}

static bool wait_until_ready(int ready_fd)
{
	char byte;
	ssize_t got;

	do {
		got = read(ready_fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	return got == 1;
}

/* Pass on what a daemon that failed has said. */
static void tell_why(const struct launch *launch, int status)
{
	char text[4096];
	ssize_t got;
	off_t at = launch->log_start;

	if (WIFSIGNALED(status))
		cli_fail("%s was killed by signal %d while it started", launch->program, WTERMSIG(status));
	while (launch->log_fd >= 0 && (got = pread(launch->log_fd, text, sizeof(text), at)) > 0) {
		fwrite(text, 1, (size_t)got, stderr);
		at += got;
	}
}

static pid_t launch_and_wait(const struct launch *launch)
{
	int ready[2], status = 0;
	pid_t pid;
	bool is_ready;

	if (pipe2(ready, O_CLOEXEC) < 0) {
		cli_fail("cannot start %s: %s", launch->program, strerror(errno));
		return -1;
	}
	pid = fork();
	if (pid == 0)
		become_daemon(launch, ready[1]);
	close(ready[1]);
	if (pid < 0)
		cli_fail("cannot start %s: %s", launch->program, strerror(errno));
	is_ready = pid > 0 && wait_until_ready(ready[0]);
	close(ready[0]);
	if (pid < 0 || is_ready)
		return pid;
	if (waitpid(pid, &status, 0) == pid)
		tell_why(launch, status);
	return -1;
}

pid_t cli_daemon_start(const struct cli_daemon_cfg *cfg)
{
	struct launch launch;
	pid_t pid = -1;

	if (prepare(cfg, &launch) == 0)
		pid = launch_and_wait(&launch);
	if (launch.log_fd >= 0)
		close(launch.log_fd);
	free(launch.topology);
	free(launch.program);
	if (pid < 0)
		cli_session_unmake(cfg->place);
	return pid;
}
