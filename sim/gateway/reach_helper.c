/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper of a command of another machine: bfsim, with a socket as its descriptor 3. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reach.h"
#include "sim/control/reach.h"

#define HELPER_FD 3

extern char **environ;

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int sock)
{
	sigset_t all, none;
	int rc = posix_spawn_file_actions_init(actions);

	if (rc == 0)
		rc = posix_spawnattr_init(attributes);
	sigfillset(&all);
	sigemptyset(&none);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attributes, &all);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(attributes, &none);
	if (rc == 0)
		rc = posix_spawnattr_setflags(attributes,
					      POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, sock, HELPER_FD);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, HELPER_FD + 1);
	return -rc;
}

/* Returns the pid or -errno. */
static pid_t spawn(const struct gateway *gateway, const char *service, int sock)
{
	const char *const argv[] = { "bfsim", SIM_REACH_COMMAND, service, gateway->cfg.dir, gateway->cfg.name, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid = -1;
	int rc = prepare(&actions, &attributes, sock);

	if (rc == 0)
		rc = -posix_spawn(&pid, gateway->cfg.bfsim, &actions, &attributes, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return rc < 0 ? rc : pid;
}

pid_t reach_start_helper(const struct gateway *gateway, enum sim_reach_service service, int *ret_sock)
{
	int pair[2];
	pid_t pid;

	if (!gateway->cfg.bfsim)
		return -ENOENT;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid = spawn(gateway, service == SIM_REACH_EXEC ? "exec" : "control", pair[1]);
	close(pair[1]);
	if (pid > 0)
		*ret_sock = pair[0];
	else
		close(pair[0]);
	return pid;
}
