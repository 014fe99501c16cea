/* SPDX-License-Identifier: BSD-3-Clause */
#include "bfsim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/session/current_session.h"
#include "sim/control/launch.h"
#include "sim/control/side.h"
#include "sim/base/last_error.h"
#include "topology_priv.h"

#define STOP_PATIENCE_MS 10000

/* What decides on which card a process will be. */
enum { VAR_SESSION, VAR_SIDE, VAR_TOPOLOGY, NUM_VARS };
static const char *const var_names[NUM_VARS] = {"BFSIM_SESSION", "BFSIM_SIDE", "BFSIM_TOPOLOGY"};

struct bfsim_session {
	struct sim_place place;
	struct pcie_topology *topology;
	pid_t owner;           /* who started it */
	pid_t daemon;
	int daemon_fd;         /* its pidfd: a number that is used again would be somebody else's */
	pid_t entered_by;      /* whose environment was changed; 0 = nobody's */
	char *before[NUM_VARS]; /* what stood there; NULL = nothing */
};

extern char **environ;

/* Start --------------------------------------------------------------------------- */

static int start_daemon(struct bfsim_session *session, const char *topology, enum sim_clock_mode clock)
{
	struct sim_launch_cfg cfg = {.place = &session->place, .topology = topology, .clock = clock, .temporary = true};
	pid_t pid = sim_launch(&cfg);

	if (pid < 0)
		return pid;
	session->daemon = pid;
	session->daemon_fd = pidfd_open(pid, 0);
	if (session->daemon_fd < 0)
		return sim_because(-errno, "cannot watch the daemon: %s", strerror(errno));
	return 0;
}

int bfsim_session_start(const struct bfsim_session_cfg *cfg, struct bfsim_session **ret_session)
{
	const char *topology = cfg ? cfg->topology : NULL;
	enum sim_clock_mode clock = SIM_CLOCK_FUNCTIONAL;
	struct bfsim_session *session;
	int rc;

	if (!ret_session)
		return sim_because(-EINVAL, "there is no place for the session: ret_session is NULL");
	if (cfg && cfg->clock && sim_clock_mode_parse(cfg->clock, &clock) < 0)
		return sim_because(-EINVAL, "clock \"%s\": write " SIM_CLOCK_MODES, cfg->clock);
	session = calloc(1, sizeof(*session));
	if (!session)
		return sim_because(-ENOMEM, "out of memory");
	session->owner = getpid();
	session->daemon_fd = -1;
	rc = api_load_topology(AT_FDCWD, topology, &session->topology);
	if (rc == 0)
		rc = sim_place_temporary(&session->place);
	if (rc == 0)
		rc = start_daemon(session, topology, clock);
	if (rc < 0) {
		bfsim_session_stop(session);
		return rc;
	}
	*ret_session = session;
	return 0;
}

const char *bfsim_session_dir(const struct bfsim_session *session)
{
	return session ? session->place.dir : NULL;
}

/* Use ----------------------------------------------------------------------------- */

static int check_side(const struct bfsim_session *session, const char *side)
{
	if (!session || !side)
		return sim_because(-EINVAL, "the %s is NULL", session ? "side" : "session");
	return sim_side_check(session->topology, "the session's card", side);
}

/* The number of the variable that @entry of an environment sets, or NUM_VARS. */
static int var_of(const char *entry)
{
	int var = 0;

	while (var < NUM_VARS) {
		size_t len = strlen(var_names[var]);

		if (strncmp(entry, var_names[var], len) == 0 && entry[len] == '=')
			break;
		var++;
	}
	return var;
}

/* Pointers first, then what they point to. */
int bfsim_session_env(const struct bfsim_session *session, const char *side, char ***ret_env)
{
	size_t count = 3, len = 0; /* two of ours, and the end */
	char **env, *text;
	int rc = check_side(session, side);

	if (rc == 0 && !ret_env)
		rc = sim_because(-EINVAL, "there is no place for the environment: ret_env is NULL");
	if (rc < 0)
		return rc;
	for (char **entry = environ; entry && *entry; entry++) {
		count++;
		len += strlen(*entry) + 1;
	}
	len += strlen("BFSIM_SESSION=") + strlen(session->place.dir) + 1 + strlen("BFSIM_SIDE=") + strlen(side) + 1;
	env = malloc(count * sizeof(*env) + len);
	if (!env)
		return sim_because(-ENOMEM, "out of memory");
	*ret_env = env;
	text = (char *)(env + count);
	for (char **entry = environ; entry && *entry; entry++) {
		if (var_of(*entry) == NUM_VARS) {
			*env++ = text;
			text = stpcpy(text, *entry) + 1;
		}
	}
	*env++ = text;
	text = stpcpy(stpcpy(text, "BFSIM_SESSION="), session->place.dir) + 1;
	*env++ = text;
	stpcpy(stpcpy(text, "BFSIM_SIDE="), side);
	*env = NULL;
	return 0;
}

/* The process lets go of the card that it is on; not as long as devices of it are open. */
static int check_free(void)
{
	struct sim_here here;
	int rc;

	if (sim_here_leave())
		return 0;
	rc = sim_here_lock(&here);
	if (rc < 0)
		return sim_because(rc, "no memory: %s", strerror(-rc));
	rc = sim_because(-EBUSY, "this process has devices of %s%s open: close them first, or enter a session in a forked child",
			 here.dir ? "the card of session " : "its private card", here.dir ? here.dir : "");
	sim_here_unlock();
	return rc;
}

static int set(int var, const char *value)
{
	return value ? setenv(var_names[var], value, 1) : unsetenv(var_names[var]);
}

static int keep_environment(struct bfsim_session *session)
{
	for (int var = 0; var < NUM_VARS; var++) {
		const char *value = getenv(var_names[var]);

		free(session->before[var]);
		session->before[var] = value ? strdup(value) : NULL;
		if (value && !session->before[var])
			return -ENOMEM;
	}
	session->entered_by = getpid();
	return 0;
}

static void restore_environment(struct bfsim_session *session)
{
	const char *current = getenv("BFSIM_SESSION");

	if (session->entered_by != getpid() || !current || strcmp(current, session->place.dir) != 0)
		return;
	for (int var = 0; var < NUM_VARS; var++)
		set(var, session->before[var]);
}

int bfsim_session_enter(struct bfsim_session *session, const char *side)
{
	int rc = check_side(session, side);

	if (rc == 0)
		rc = check_free();
	if (rc == 0 && session->entered_by != getpid())
		rc = keep_environment(session);
	if (rc == 0 && (set(VAR_SESSION, session->place.dir) < 0 || set(VAR_SIDE, side) < 0 || set(VAR_TOPOLOGY, NULL) < 0))
		rc = -ENOMEM;
	return rc == -ENOMEM ? sim_because(rc, "out of memory") : rc;
}

/* Stop ---------------------------------------------------------------------------- */

static bool ended_within(int pidfd, int ms)
{
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
	int ready;

	do {
		ready = poll(&poll_fd, 1, ms);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

static int end_daemon(const struct bfsim_session *session)
{
	int rc = 0;

	if (session->daemon_fd < 0) { /* it could not be watched: its number is still its own */
		kill(session->daemon, SIGKILL);
	} else {
		pidfd_send_signal(session->daemon_fd, SIGTERM, NULL, 0);
		if (!ended_within(session->daemon_fd, STOP_PATIENCE_MS)) {
			pidfd_send_signal(session->daemon_fd, SIGKILL, NULL, 0);
			rc = sim_because(-ETIMEDOUT, "the daemon of session %s did not end within %d s and was killed",
					 session->place.dir, STOP_PATIENCE_MS / 1000);
		}
	}
	while (waitpid(session->daemon, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}

/* A process that is in it, and has closed its devices, goes in order: its card does not vanish under it. */
static void leave(const struct bfsim_session *session)
{
	char *dir = session->place.dir ? realpath(session->place.dir, NULL) : NULL;
	struct sim_here here;
	bool is_in;

	if (!dir || sim_here_lock(&here) < 0) {
		free(dir);
		return;
	}
	is_in = here.attached && here.dir && strcmp(here.dir, dir) == 0;
	sim_here_unlock();
	if (is_in)
		sim_here_leave();
	free(dir);
}

int bfsim_session_stop(struct bfsim_session *session)
{
	int rc = 0;

	if (!session)
		return 0;
	leave(session);
	if (session->daemon > 0 && session->owner == getpid()) {
		rc = end_daemon(session);
		sim_place_unmake(&session->place); /* the daemon did, unless it was killed */
	}
	if (session->place.dir)
		restore_environment(session);
	for (int var = 0; var < NUM_VARS; var++)
		free(session->before[var]);
	if (session->daemon_fd >= 0)
		close(session->daemon_fd);
	sim_place_fini(&session->place);
	pcie_topology_destroy(session->topology);
	free(session);
	return rc;
}
