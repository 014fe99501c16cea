/* SPDX-License-Identifier: BSD-3-Clause */
/* One command of bfsim run: starting its shell, and ending its input. */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/cli/base/cli.h"
#include "sim/cli/base/side_env.h"
#include "sim/clock/launch.h"

enum { NUM_PIPES = 3 }; /* standard input, output, error; [0] reads, [1] writes */

static void close_pipes(int pipes[][2], int count)
{
	for (int i = 0; i < count; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
}

static int open_pipes(int pipes[NUM_PIPES][2])
{
	for (int i = 0; i < NUM_PIPES; i++) {
		if (pipe2(pipes[i], O_CLOEXEC) < 0) {
			close_pipes(pipes, i);
			return -1;
		}
	}
	return 0;
}

/* Let programs know which pipe the output goes to: they write lines to it (shim/common/process/line_output.c). */
static int set_output_env(int fd)
{
	struct stat info;
	char text[64];

	if (fstat(fd, &info) < 0)
		return -1;
	snprintf(text, sizeof(text), "%ju:%ju", (uintmax_t)info.st_dev, (uintmax_t)info.st_ino);
	return setenv("BFSIM_OUTPUT", text, 1);
}

/* The child. Does not return. */
static void exec_program(const struct cli_program_cfg *cfg, int pipes[NUM_PIPES][2])
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(pipes[STDIN_FILENO][0], STDIN_FILENO);
	dup2(pipes[STDOUT_FILENO][1], STDOUT_FILENO);
	dup2(pipes[STDERR_FILENO][1], STDERR_FILENO);
	if (set_output_env(STDOUT_FILENO) < 0 || cli_set_side_env(cfg->dir, cfg->side, cfg->generation) < 0 ||
	    cli_check_set_env(cfg->check, cfg->hits_path) < 0 ||
	    (cfg->launch && setenv(SIM_CLOCK_LAUNCH_ENV, cfg->launch, 1) < 0))
		_exit(CLI_OWN_FAILURE);
	sigprocmask(SIG_SETMASK, cfg->mask, NULL);
	execl("/bin/sh", "sh", "-c", cfg->text, (char *)NULL);
	cli_fail("cannot start /bin/sh: %s", strerror(errno));
	_exit(CLI_NOT_EXECUTABLE);
}

static int relay_output(const struct cli_program_cfg *cfg, int pipes[NUM_PIPES][2], struct cli_program *program)
{
	int rc = cli_output_relay_init(&program->out, pipes[STDOUT_FILENO][0], stdout, cfg->label, cfg->name_width,
				       cfg->epoll_fd);
	int rc_err = cli_output_relay_init(&program->err, pipes[STDERR_FILENO][0], stderr, cfg->label, cfg->name_width,
					   cfg->epoll_fd);

	if (rc == 0 && rc_err == 0)
		return 0;
	return cli_error("cannot pass on the output of the command on %s: %s", cfg->label,
			 strerror(rc ? -rc : -rc_err));
}

int cli_program_start(const struct cli_program_cfg *cfg, struct cli_program *ret_program)
{
	int pipes[NUM_PIPES][2];
	pid_t pid;

	if (open_pipes(pipes) < 0)
		return cli_error("cannot start the command on %s: %s", cfg->label, strerror(errno));
	pid = fork();
	if (pid == 0)
		exec_program(cfg, pipes);
	if (pid < 0) {
		cli_fail("cannot start the command on %s: %s", cfg->label, strerror(errno));
		close_pipes(pipes, NUM_PIPES);
		return -1;
	}
	setpgid(pid, pid); /* in parent and child: the first call counts */
	close(pipes[STDIN_FILENO][0]);
	close(pipes[STDOUT_FILENO][1]);
	close(pipes[STDERR_FILENO][1]);
	*ret_program = (struct cli_program){
		.label = cfg->label, .was_started = true, .status = -1, .pid = pid, .in_fd = pipes[STDIN_FILENO][1]
	};
	return relay_output(cfg, pipes, ret_program);
}

void cli_program_end_input(struct cli_program *program)
{
	if (program->in_fd < 0)
		return;
	if (write(program->in_fd, "\n", 1) < 0 && errno != EPIPE)
		cli_fail("cannot write to the command on %s: %s", program->label, strerror(errno));
	close(program->in_fd);
	program->in_fd = -1;
}

void cli_program_fini(struct cli_program *program)
{
	if (program->in_fd >= 0)
		close(program->in_fd);
	program->in_fd = -1;
	cli_output_relay_fini(&program->out);
	cli_output_relay_fini(&program->err);
}
