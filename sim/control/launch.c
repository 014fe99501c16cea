/* SPDX-License-Identifier: BSD-3-Clause */
/* Start of the daemon: fork, exec, wait until the daemon is ready. */
#include "launch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/protocol/session_dir.h"
#include "sim/trace/trace.h"
#include "sim/base/last_error.h"

#define READY_FD      3
#define READY_FD_TEXT "3"
#define MAX_ARGS      40

struct launch {
	char *program;
	const char *dir;  /* of the session */
	char *topology;   /* absolute, or NULL */
	char *token_file; /* likewise */
	char group[16];
	const char *argv[MAX_ARGS];
	int log_fd;      /* the daemon's standard error; -1 = the same as this process's */
	off_t log_start; /* the daemon's messages begin at this offset of the log */
};

/* The child: detach from the terminal, the working directory and this process's descriptors, then exec. Does not
 * return. */
static void exec_daemon(const struct launch *launch, int ready_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t term_signals;

	/* Block the signals before the exec, as the daemon reads them as events. An early signal must not end the
	 * daemon before it can clean up. */
	sigemptyset(&term_signals);
	sigaddset(&term_signals, SIGTERM);
	sigaddset(&term_signals, SIGINT);
	sigprocmask(SIG_SETMASK, &term_signals, NULL);
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
	dprintf(STDERR_FILENO, "bfsim: cannot start %s: %s\n", launch->program, strerror(errno));
	_exit(EXIT_FAILURE);
}

/* Returns the next argument. */
static const char **fill_machines(const struct sim_machines_cfg *machines, const struct launch *launch,
				  const char **arg)
{
	if (!machines->name)
		return arg;
	*arg++ = "--as";
	*arg++ = machines->name;
	if (machines->join) {
		*arg++ = "--join";
		*arg++ = machines->join;
	}
	if (machines->listen) {
		*arg++ = "--listen";
		*arg++ = machines->listen;
	}
	if (machines->advertise) {
		*arg++ = "--advertise";
		*arg++ = machines->advertise;
	}
	*arg++ = "--token-file";
	*arg++ = launch->token_file;
	if (machines->fabric) {
		*arg++ = "--fabric";
		*arg++ = machines->fabric;
	}
	if (machines->is_trusted)
		*arg++ = "--trusted-network";
	if (machines->allows_exec)
		*arg++ = "--allow-exec";
	return arg;
}

static void fill_arguments(const struct sim_launch_cfg *cfg, struct launch *launch)
{
	const char **arg = launch->argv;

	*arg++ = launch->program;
	*arg++ = "--foreground";
	*arg++ = "--session";
	*arg++ = cfg->session_dir->dir;
	*arg++ = "--ready-fd";
	*arg++ = READY_FD_TEXT;
	*arg++ = "--clock";
	*arg++ = sim_clock_mode_name(cfg->clock);
	if (launch->topology) {
		*arg++ = "--topology";
		*arg++ = launch->topology;
	}
	if (cfg->trace_level) {
		*arg++ = "--trace-level";
		*arg++ = sim_trace_level_name(cfg->trace_level);
	}
	if (cfg->has_group) {
		snprintf(launch->group, sizeof(launch->group), "%u", (unsigned int)cfg->group);
		*arg++ = "--group";
		*arg++ = launch->group;
	}
	if (cfg->passes_memory)
		*arg++ = "--procmem";
	arg = fill_machines(&cfg->machines, launch, arg);
	if (cfg->temporary)
		*arg++ = "--die-with-parent";
	if (cfg->temporary && cfg->session_dir->created)
		*arg++ = "--remove-dir";
	*arg = NULL;
}

static int open_log(const char *dir, struct launch *launch)
{
	int dir_fd = sim_session_dir_open(dir, false);
	int fd = dir_fd < 0 ? dir_fd : sim_session_dir_open_log(dir_fd);

	if (dir_fd >= 0)
		close(dir_fd);
	if (fd < 0)
		return sim_set_error(fd, "cannot write the daemon's log %s/bfsimd.log: %s", dir,
				     sim_session_dir_strerror(fd));
	launch->log_fd = fd;
	launch->log_start = lseek(fd, 0, SEEK_END);
	return 0;
}

/* Find bfsimd beside this library in a build tree, or in an installation's bin, two levels above. */
static char *find_own_bfsimd(void)
{
	static const char *const places[] = { "cli/bfsimd", "../../bin/bfsimd" };
	char *lib, *slash, *path = NULL;
	Dl_info self;

	if (!dladdr((void *)(uintptr_t)find_own_bfsimd, &self) || !self.dli_fname)
		return NULL;
	lib = realpath(self.dli_fname, NULL);
	slash = lib ? strrchr(lib, '/') : NULL;
	for (size_t i = 0; slash && !path && i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(&path, "%.*s/%s", (int)(slash - lib), lib, places[i]) < 0)
			path = NULL;
		else if (access(path, X_OK) < 0) {
			free(path);
			path = NULL;
		}
	}
	free(lib);
	return path;
}

static int find_program(const char *given, struct launch *launch)
{
	const char *chosen = given ? given : getenv("BFSIM_BFSIMD");

	if (!chosen || !chosen[0])
		launch->program = find_own_bfsimd();
	else if (!(launch->program = realpath(chosen, NULL))) /* absolute, as the daemon starts in another directory */
		launch->program = strdup(chosen);
	if (!launch->program)
		return sim_set_error(-ENOENT,
				     "cannot find bfsimd from where libbfsim is: set BFSIM_BFSIMD to where it is");
	if (access(launch->program, X_OK) == 0)
		return 0;
	return sim_set_error(-errno, "cannot start %s: %s; set BFSIM_BFSIMD to where bfsimd is", launch->program,
			     strerror(errno));
}

static int prepare_launch(const struct sim_launch_cfg *cfg, struct launch *launch)
{
	int rc = find_program(cfg->program, launch);

	if (rc < 0)
		return rc;
	if (cfg->topology) {
		launch->topology = realpath(cfg->topology, NULL);
		if (!launch->topology)
			return sim_set_error(-errno, "topology file %s: %s", cfg->topology, strerror(errno));
	}
	if (cfg->machines.name) {
		launch->token_file = realpath(cfg->machines.token_file, NULL);
		if (!launch->token_file)
			return sim_set_error(-errno, "token file %s: %s; make one with bfsim token >%s",
					     cfg->machines.token_file, strerror(errno), cfg->machines.token_file);
	}
	fill_arguments(cfg, launch);
	return cfg->temporary ? 0 : open_log(cfg->session_dir->dir, launch);
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

/* Show what the daemon wrote to its log. Returns 0, or -errno: it could not write. */
static int show_log(const struct launch *launch)
{
	char text[4096];
	ssize_t got;
	off_t at = launch->log_start;

	while ((got = pread(launch->log_fd, text, sizeof(text), at)) > 0) {
		fwrite(text, 1, (size_t)got, stderr);
		at += got;
	}
	if (at == launch->log_start && pwrite(launch->log_fd, "\n", 1, at) < 0)
		return -errno;
	return 0;
}

/* Report the failed daemon's messages. */
static int report_start_failure(const struct launch *launch, int status)
{
	int rc = launch->log_fd >= 0 ? show_log(launch) : 0;

	if (rc < 0)
		return sim_set_error(
			rc, "%s ended while it started, and could not write why into its log %s/bfsimd.log: %s",
			launch->program, launch->dir, strerror(-rc));
	if (WIFSIGNALED(status))
		return sim_set_error(-EIO, "%s was killed by signal %d while it started", launch->program,
				     WTERMSIG(status));
	return sim_set_error(-ECHILD, "%s ended while it started, and said why on standard error", launch->program);
}

static pid_t launch_and_wait(const struct launch *launch)
{
	int ready[2], status = 0, rc = 0;
	pid_t pid;
	bool is_ready;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return sim_set_error(-errno, "cannot start %s: %s", launch->program, strerror(errno));
	pid = fork();
	if (pid == 0)
		exec_daemon(launch, ready[1]);
	if (pid < 0)
		rc = sim_set_error(-errno, "cannot start %s: %s", launch->program, strerror(errno));
	close(ready[1]);
	is_ready = pid > 0 && wait_until_ready(ready[0]);
	close(ready[0]);
	if (rc < 0 || is_ready)
		return rc < 0 ? rc : pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return report_start_failure(launch, status);
}

pid_t sim_launch(const struct sim_launch_cfg *cfg)
{
	struct launch launch = { .dir = cfg->session_dir->dir, .log_fd = -1 };
	pid_t pid = prepare_launch(cfg, &launch);

	if (pid == 0)
		pid = launch_and_wait(&launch);
	if (launch.log_fd >= 0)
		close(launch.log_fd);
	free(launch.topology);
	free(launch.token_file);
	free(launch.program);
	if (pid < 0)
		sim_session_dir_remove(cfg->session_dir);
	return pid;
}
