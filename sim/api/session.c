/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim.h: start, enter and stop a session. */
#include "bfsim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/pidfd.h"
#include "sim/session/current_session.h"
#include "sim/control/launch.h"
#include "sim/control/side.h"
#include "sim/base/last_error.h"
#include "topology_priv.h"

#define STOP_TIMEOUT_MS 10000

/* The environment variables that choose the card of a process. */
enum { VAR_SESSION, VAR_SIDE, VAR_TOPOLOGY, NUM_VARS };
static const char *const var_names[NUM_VARS] = { "BFSIM_SESSION", "BFSIM_SIDE", "BFSIM_TOPOLOGY" };

struct bfsim_session {
	struct sim_session_dir session_dir;
	struct pcie_topology *topology;
	pid_t owner_pid; /* the process that started the session */
	pid_t daemon_pid;
	int daemon_pidfd;          /* the kernel may reuse a pid, but not a pidfd */
	pid_t entered_pid;         /* the process whose environment was changed; 0 = none */
	char *saved_env[NUM_VARS]; /* the values before; NULL = not set */
	char *put_env[NUM_VARS];   /* entries that the environment refers to, or did; NULL = none */
};

extern char **environ;

/* Start --------------------------------------------------------------------------- */

static int start_daemon(struct bfsim_session *session, const char *topology, enum sim_clock_mode clock)
{
	struct sim_launch_cfg cfg = {
		.session_dir = &session->session_dir, .topology = topology, .clock = clock, .temporary = true
	};
	pid_t pid = sim_launch(&cfg);

	if (pid < 0)
		return pid;
	session->daemon_pid = pid;
	session->daemon_pidfd = sim_pidfd_open(pid);
	if (session->daemon_pidfd < 0)
		return sim_set_error(-errno, "cannot watch the daemon: %s", strerror(errno));
	return 0;
}

int bfsim_session_start(const struct bfsim_session_cfg *cfg, struct bfsim_session **ret_session)
{
	const char *topology = cfg ? cfg->topology : NULL;
	enum sim_clock_mode clock = SIM_CLOCK_FUNCTIONAL;
	struct bfsim_session *session;
	int rc;

	if (!ret_session)
		return sim_set_error(-EINVAL, "there is no place for the session: ret_session is NULL");
	if (cfg && cfg->clock && sim_clock_mode_parse(cfg->clock, &clock) < 0)
		return sim_set_error(-EINVAL, "clock \"%s\": write " SIM_CLOCK_MODES, cfg->clock);
	session = calloc(1, sizeof(*session));
	if (!session)
		return sim_set_error(-ENOMEM, "out of memory");
	session->owner_pid = getpid();
	session->daemon_pidfd = -1;
	rc = api_load_topology(AT_FDCWD, topology, &session->topology);
	if (rc == 0)
		rc = sim_session_dir_create_temporary(&session->session_dir);
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
	return session ? session->session_dir.dir : NULL;
}

/* Use ----------------------------------------------------------------------------- */

static int check_side(const struct bfsim_session *session, const char *side)
{
	if (!session || !side)
		return sim_set_error(-EINVAL, "the %s is NULL", session ? "side" : "session");
	return sim_side_check(session->topology, "the session's card", side);
}

/* Returns the index of the variable that the environment entry @entry sets, or NUM_VARS. */
static int find_var(const char *entry)
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

/* The block holds the pointers first, and then the strings. */
int bfsim_session_env(const struct bfsim_session *session, const char *side, char ***ret_env)
{
	size_t count = 3, len = 0; /* two variables of bfsim, and the terminating NULL */
	char **env, *text;
	int rc = check_side(session, side);

	if (rc == 0 && !ret_env)
		rc = sim_set_error(-EINVAL, "there is no place for the environment: ret_env is NULL");
	if (rc < 0)
		return rc;
	for (char **entry = environ; entry && *entry; entry++) {
		count++;
		len += strlen(*entry) + 1;
	}
	len += strlen("BFSIM_SESSION=") + strlen(session->session_dir.dir) + 1 + strlen("BFSIM_SIDE=") + strlen(side) +
	       1;
	env = malloc(count * sizeof(*env) + len);
	if (!env)
		return sim_set_error(-ENOMEM, "out of memory");
	*ret_env = env;
	text = (char *)(env + count);
	for (char **entry = environ; entry && *entry; entry++) {
		if (find_var(*entry) == NUM_VARS) {
			*env++ = text;
			text = stpcpy(text, *entry) + 1;
		}
	}
	*env++ = text;
	text = stpcpy(stpcpy(text, "BFSIM_SESSION="), session->session_dir.dir) + 1;
	*env++ = text;
	stpcpy(stpcpy(text, "BFSIM_SIDE="), side);
	*env = NULL;
	return 0;
}

/* Detach from the current card; this fails while devices of the card are open. */
static int leave_current_card(void)
{
	struct sim_current_session current;
	int rc;

	if (sim_current_session_detach())
		return 0;
	rc = sim_current_session_lock(&current);
	if (rc < 0)
		return sim_set_error(rc, "no memory: %s", strerror(-rc));
	rc = sim_set_error(
		-EBUSY, "this process has devices of %s%s open: close them first, or enter a session in a forked child",
		current.dir ? "the card of session " : "its private card", current.dir ? current.dir : "");
	sim_current_session_unlock();
	return rc;
}

static int set_var(int var, const char *value)
{
	return value ? setenv(var_names[var], value, 1) : unsetenv(var_names[var]);
}

static int save_environment(struct bfsim_session *session)
{
	for (int var = 0; var < NUM_VARS; var++) {
		const char *value = getenv(var_names[var]);

		free(session->saved_env[var]);
		session->saved_env[var] = value ? strdup(value) : NULL;
		if (value && !session->saved_env[var])
			return -ENOMEM;
	}
	session->entered_pid = getpid();
	return 0;
}

static void restore_environment(struct bfsim_session *session)
{
	const char *current = getenv("BFSIM_SESSION");

	if (session->entered_pid != getpid() || !current || strcmp(current, session->session_dir.dir) != 0)
		return;
	for (int var = 0; var < NUM_VARS; var++)
		set_var(var, session->saved_env[var]);
}

/* Copy the current variables as environment entries; NULL = not set. */
static int copy_variables(char *entries[NUM_VARS])
{
	for (int var = 0; var < NUM_VARS; var++) {
		const char *value = getenv(var_names[var]);

		if (value && asprintf(&entries[var], "%s=%s", var_names[var], value) < 0) {
			entries[var] = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* Restore without allocation: putenv() replaces an existing entry and keeps the string. */
static void put_variables_back(struct bfsim_session *session, char *entries[NUM_VARS])
{
	for (int var = 0; var < NUM_VARS; var++) {
		if (entries[var])
			putenv(entries[var]);
		else
			unsetenv(var_names[var]);
		free(session->put_env[var]);
		session->put_env[var] = entries[var];
		entries[var] = NULL;
	}
}

/* An entry that is still in the environment stays allocated. */
static void free_put_entries(struct bfsim_session *session)
{
	for (int var = 0; var < NUM_VARS; var++) {
		const char *value = getenv(var_names[var]), *entry = session->put_env[var];

		if (entry && value != entry + strlen(var_names[var]) + 1)
			free(session->put_env[var]);
	}
}

/* Set all variables, or none on failure. */
static int set_variables(struct bfsim_session *session, const char *side)
{
	char *before[NUM_VARS] = { 0 };
	int rc = copy_variables(before);

	if (rc == 0 && (set_var(VAR_SESSION, session->session_dir.dir) < 0 || set_var(VAR_SIDE, side) < 0 ||
			set_var(VAR_TOPOLOGY, NULL) < 0)) {
		put_variables_back(session, before);
		rc = -ENOMEM;
	}
	for (int var = 0; var < NUM_VARS; var++)
		free(before[var]);
	return rc;
}

int bfsim_session_enter(struct bfsim_session *session, const char *side)
{
	int rc = check_side(session, side);

	if (rc == 0)
		rc = leave_current_card();
	if (rc == 0 && session->entered_pid != getpid())
		rc = save_environment(session);
	if (rc == 0)
		rc = set_variables(session, side);
	return rc == -ENOMEM ? sim_set_error(rc, "out of memory") : rc;
}

/* Stop ---------------------------------------------------------------------------- */

static bool wait_exit(int pidfd, int ms)
{
	struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };
	int ready;

	do {
		ready = poll(&poll_fd, 1, ms);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

static int stop_daemon(const struct bfsim_session *session)
{
	int rc = 0;

	if (session->daemon_pidfd < 0) { /* a daemon without a pidfd is not yet reaped, so its pid is still valid */
		kill(session->daemon_pid, SIGKILL);
	} else {
		sim_pidfd_send_signal(session->daemon_pidfd, SIGTERM);
		if (!wait_exit(session->daemon_pidfd, STOP_TIMEOUT_MS)) {
			sim_pidfd_send_signal(session->daemon_pidfd, SIGKILL);
			rc = sim_set_error(-ETIMEDOUT,
					   "the daemon of session %s did not end within %d s and was killed",
					   session->session_dir.dir, STOP_TIMEOUT_MS / 1000);
		}
	}
	while (waitpid(session->daemon_pid, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}

/* Detach this process from the session, if it is in it and has closed its devices. */
static void leave_session(const struct bfsim_session *session)
{
	char *dir = session->session_dir.dir ? realpath(session->session_dir.dir, NULL) : NULL;
	struct sim_current_session current;
	bool is_attached;

	if (!dir || sim_current_session_lock(&current) < 0) {
		free(dir);
		return;
	}
	is_attached = current.attached && current.dir && strcmp(current.dir, dir) == 0;
	sim_current_session_unlock();
	if (is_attached)
		sim_current_session_detach();
	free(dir);
}

int bfsim_session_stop(struct bfsim_session *session)
{
	int rc = 0;

	if (!session)
		return 0;
	leave_session(session);
	if (session->daemon_pid > 0 && session->owner_pid == getpid()) {
		rc = stop_daemon(session);
		sim_session_dir_remove(&session->session_dir); /* the daemon removes it, unless it was killed */
	}
	if (session->session_dir.dir)
		restore_environment(session);
	free_put_entries(session);
	for (int var = 0; var < NUM_VARS; var++)
		free(session->saved_env[var]);
	if (session->daemon_pidfd >= 0)
		close(session->daemon_pidfd);
	sim_session_dir_fini(&session->session_dir);
	pcie_topology_destroy(session->topology);
	free(session);
	return rc;
}
