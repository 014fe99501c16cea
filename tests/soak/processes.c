/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts, kills and restarts the soak's two processes. */
#include "processes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/control/control.h"

#define BACKLOG    8
#define END_MS     90000 /* for the last round */
#define FORGET_MS  20000 /* time for the session to forget a killed process */
#define MAX_STATUS 65536

const char *const crew_names[NUM_SIDES] = { "host", "dpu" };

int crew_mortal(uint64_t seed)
{
	struct random random = random_of(seed, 'k', 0);

	return random_bool(&random) ? HOST : DPU;
}

static int complain(const char *what, const char *why)
{
	fprintf(stderr, "soak: %s: %s\n", what, why);
	return -1;
}

/* ---- processes ---- */

/* The survivor listens. */
static int survivor(const struct crew *crew)
{
	return crew->shared->mortal == HOST ? DPU : HOST;
}

/* In the child. The survivor keeps the listening socket. */
static void become_side(struct crew *crew, int which)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	crew->start.which = which;
	if (which != survivor(crew)) {
		close(crew->start.listen_fd);
		crew->start.listen_fd = -1;
	}
	if (bfsim_session_enter(crew->session, crew_names[which]) < 0)
		exit(-complain(crew_names[which], bfsim_error()));
	side_run(&crew->start, crew->shared);
	exit(0);
}

static int start_side(struct crew *crew, int which)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_side(crew, which);
	if (pid < 0)
		return complain(crew_names[which], "can't be started");
	crew->pids[which] = pid;
	return 0;
}

/* A process that ended by itself failed a check. */
static int both_run(struct crew *crew)
{
	int rc = 0;

	for (int which = 0; which < NUM_SIDES; which++) {
		int status;

		if (!crew->pids[which] || waitpid(crew->pids[which], &status, WNOHANG) == 0)
			continue;
		crew->pids[which] = 0;
		rc = complain(crew_names[which], "has ended before its time");
	}
	return rc;
}

/* ---- death ---- */

/* Read the daemon's status as text. Returns 0 or -1. */
static int read_status(const struct crew *crew, char text[MAX_STATUS])
{
	int dir_fd = open(bfsim_session_dir(crew->session), O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct sim_msg msg = { .type = SIM_MSG_STATUS };
	ssize_t len = -1;

	if (dir_fd >= 0 && sim_control_exchange(dir_fd, &msg, -1, &fd) == 0 && fd >= 0)
		len = read(fd, text, MAX_STATUS - 1);
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	if (len <= 0)
		return complain("the session", "does not say who is in it");
	text[len] = '\0';
	return 0;
}

/* How many processes it lists besides this one. */
static int count_processes(const char *text)
{
	int count = 0;

	for (const char *at = text; (at = strstr(at, "\"exports\":")); at++)
		count++;
	return count;
}

/* Returns true if the session lists only the running processes; and without any, no server, connection or import. */
static bool is_clean(const char *text, int living)
{
	const char *brace = strchr(text, '{');

	return living ? count_processes(text) <= living : brace && !strchr(brace + 1, '{');
}

static int wait_until_forgotten(const struct crew *crew)
{
	int64_t start_ms = side_now_ms();
	int living = (crew->pids[HOST] != 0) + (crew->pids[DPU] != 0);
	static char text[MAX_STATUS];

	do {
		if (read_status(crew, text) < 0)
			return -1;
		if (is_clean(text, living))
			return 0;
		usleep(1000);
	} while (side_now_ms() - start_ms < FORGET_MS);
	fprintf(stderr, "%s\n", text);
	return complain("the session", "still lists who has gone");
}

/* Remove the rules for the killed process: they match no process any more and take room. */
static void remove_rule_of(struct crew *crew, int which)
{
	uint32_t id = atomic_exchange(&crew->shared->seen[which].rule, 0);

	if (id)
		bfsim_fault_remove(id); /* the process may just have removed the rule itself */
}

static int kill_mortal(struct crew *crew)
{
	int which = crew->shared->mortal, status;
	pid_t pid = crew->pids[which];

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return complain(crew_names[which], "had ended before it was killed");
	crew->pids[which] = 0;
	crew->num_killed++;
	remove_rule_of(crew, which);
	return wait_until_forgotten(crew);
}

/* The mortal's next turn but so many is its last; or, of a dead one, its first. */
static uint64_t draw_num_turns(struct crew *crew, bool lives)
{
	if (!lives)
		return random_in(&crew->random, 1, 10);
	if (random_in(&crew->random, 0, 3) == 0)
		return random_in(&crew->random, 1, 3);
	return random_in(&crew->random, 25, 250);
}

int crew_turn(struct crew *crew)
{
	int mortal = crew->shared->mortal, rc;

	if (both_run(crew) < 0)
		return -1;
	if (mortal == NOBODY || --crew->turns > 0)
		return 0;
	rc = crew->pids[mortal] ? kill_mortal(crew) : start_side(crew, mortal);
	crew->turns = draw_num_turns(crew, crew->pids[mortal]);
	return rc;
}

/* ---- life ---- */

static int open_listener(struct side *start)
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };

	start->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	start->address_len = sizeof(start->address);
	if (start->listen_fd < 0 || bind(start->listen_fd, (struct sockaddr *)&any, sizeof(any.sun_family)) < 0 ||
	    listen(start->listen_fd, BACKLOG) < 0 ||
	    getsockname(start->listen_fd, (struct sockaddr *)&start->address, &start->address_len) < 0)
		return complain("a socket to listen at", "can't be made");
	return 0;
}

int crew_start(struct crew *crew, struct bfsim_session *session, struct shared *shared)
{
	*crew = (struct crew){ .session = session, .shared = shared, .random = random_of(shared->seed, 'k', 1) };
	crew->turns = draw_num_turns(crew, true);
	if (open_listener(&crew->start) < 0 || start_side(crew, HOST) < 0 || start_side(crew, DPU) < 0)
		return -1;
	return 0;
}

static int end_side(struct crew *crew, int which, bool failed)
{
	int64_t start_ms = side_now_ms();
	int status = 0;

	if (failed)
		kill(crew->pids[which], SIGKILL);
	while (waitpid(crew->pids[which], &status, WNOHANG) == 0) {
		if (side_now_ms() - start_ms > END_MS) {
			fprintf(stderr, "soak: %s does not end: it hangs in round %llu\n", crew_names[which],
				(unsigned long long)crew->shared->seen[which].rounds + 1);
			kill(crew->pids[which], SIGABRT);
			start_ms = INT64_MAX / 2;
		}
		usleep(1000);
	}
	crew->pids[which] = 0;
	return status == 0 || failed ? 0 : complain(crew_names[which], "did not end well");
}

int crew_end(struct crew *crew, bool failed)
{
	int mortal = crew->shared->mortal, rc = 0;

	if (!failed && mortal != NOBODY && !crew->pids[mortal])
		rc = start_side(crew, mortal); /* its survivor wants to play to the end */
	crew->shared->stop = true;
	for (int which = 0; which < NUM_SIDES; which++)
		if (crew->pids[which] > 0)
			rc |= end_side(crew, which, failed || rc < 0);
	if (crew->start.listen_fd > 0)
		close(crew->start.listen_fd);
	return rc < 0 || failed ? -1 : wait_until_forgotten(crew);
}
