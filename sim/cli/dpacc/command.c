/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs compilers and linkers. */
#include "command.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void command_print(const struct words *command)
{
	for (size_t i = 0; i < command->count; i++)
		if (command->list[i][strcspn(command->list[i], " \t\"'\\$*()<>|&;")])
			fprintf(stderr, "%s'%s'", i ? " " : "", command->list[i]);
		else
			fprintf(stderr, "%s%s", i ? " " : "", command->list[i]);
	fputc('\n', stderr);
}

/* Both pipes are read at the same time, as the command writes to both. */
static void read_pipes(const int fds[2], struct text *const texts[2])
{
	struct pollfd polled[2] = { { .fd = fds[0], .events = POLLIN }, { .fd = fds[1], .events = POLLIN } };
	char bytes[16384];

	while (polled[0].fd >= 0 || polled[1].fd >= 0) {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			err(1, "poll");
		for (int i = 0; i < 2; i++) {
			ssize_t len;

			if (polled[i].fd < 0 || !polled[i].revents)
				continue;
			len = read(polled[i].fd, bytes, sizeof(bytes));
			if (len > 0)
				text_add(texts[i], bytes, (size_t)len);
			else if (len == 0 || errno != EINTR)
				polled[i].fd = -1;
		}
	}
}

static void close_all(const int fds[2])
{
	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

bool command_run(const struct words *command, struct text *ret_out, struct text *ret_err)
{
	struct text *const texts[2] = { ret_out, ret_err };
	int ends[2] = { -1, -1 }, writers[2] = { -1, -1 }, status, rc;
	posix_spawn_file_actions_t actions;
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 2; i++) {
		int fds[2];

		if (!texts[i])
			continue;
		text_add(texts[i], "", 0);
		if (pipe2(fds, O_CLOEXEC) != 0)
			err(1, "pipe");
		posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO + i);
		ends[i] = fds[0];
		writers[i] = fds[1];
	}
	rc = posix_spawnp(&child, command->list[0], &actions, NULL, command->list, environ);
	posix_spawn_file_actions_destroy(&actions);
	close_all(writers);
	if (rc != 0) {
		close_all(ends);
		warnx("%s: %s", command->list[0], strerror(rc));
		return false;
	}
	read_pipes(ends, texts);
	close_all(ends);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
