/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts, kills and restarts the soak's two processes. */
#include "processes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/control/control.h"

#define BACKLOG    8
#define END_MS     90000 /* for the last round */
#define FORGET_MS  20000 /* time for the session to forget a killed process */
#define MAX_STATUS 65536
#define MAX_WORDS  8 /* of a side's command */

const char *const side_names[NUM_SIDES] = { "host", "dpu" };

int processes_victim_of(uint64_t seed)
{
	struct random random = random_of(seed, 'k', 0);

	return random_bool(&random) ? HOST : DPU;
}

static int print_error(const char *what, const char *why)
{
	fprintf(stderr, "soak: %s: %s\n", what, why);
	return -1;
}

/* ---- processes ---- */

/* The survivor listens. */
static int survivor(const struct processes *processes)
{
	return processes->shared->victim == HOST ? DPU : HOST;
}

/* Become a program of another build, perhaps by an emulator: it gets descriptors, and the address, by which the kernel
 * has named the socket: a zero byte and some characters. */
static void exec_side(const struct processes *processes, int which)
{
	const struct side *start = &processes->start;
	char shared_fd[16], listen_fd[16], address[sizeof(start->address.sun_path)] = "", *words[MAX_WORDS + 9];
	size_t count = 0;

	for (char *word = strtok(processes->programs[which], " "); word && count < MAX_WORDS; word = strtok(NULL, " "))
		words[count++] = word;
	snprintf(shared_fd, sizeof(shared_fd), "%d", processes->shared_fd);
	snprintf(listen_fd, sizeof(listen_fd), "%d", start->listen_fd);
	memcpy(address, &start->address.sun_path[1], start->address_len - offsetof(struct sockaddr_un, sun_path) - 1);
	memcpy(&words[count],
	       (char *[]){ "--side", (char *)(uintptr_t)side_names[which], "--shared-fd", shared_fd, "--listen-fd",
			   listen_fd, "--address", address, NULL },
	       9 * sizeof(words[0]));
	fcntl(processes->shared_fd, F_SETFD, 0);
	if (start->listen_fd >= 0)
		fcntl(start->listen_fd, F_SETFD, 0);
	execvp(words[0], words);
	exit(-print_error(words[0], strerror(errno)));
}

int processes_be_side(const char *side, int shared_fd, int listen_fd, const char *address)
{
	struct side start = { .which = strcmp(side, side_names[DPU]) == 0 ? DPU : HOST,
			      .listen_fd = listen_fd,
			      .address = { .sun_family = AF_UNIX },
			      .address_len =
				      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address)) };
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd, 0);

	if (shared == MAP_FAILED || strlen(address) >= sizeof(start.address.sun_path) - 1)
		return -print_error(side, "can't begin as the soak's options say");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(shared_fd);
	if (listen_fd >= 0)
		fcntl(listen_fd, F_SETFD, FD_CLOEXEC);
	strcpy(&start.address.sun_path[1], address);
	side_run(&start, shared);
	return 0;
}

/* In the child. The survivor keeps the listening socket. */
static void become_side(struct processes *processes, int which)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	processes->start.which = which;
	if (which != survivor(processes)) {
		close(processes->start.listen_fd);
		processes->start.listen_fd = -1;
	}
	if (bfsim_session_enter(processes->session, side_names[which]) < 0)
		exit(-print_error(side_names[which], bfsim_error()));
	if (processes->programs[which])
		exec_side(processes, which);
	side_run(&processes->start, processes->shared);
	exit(0);
}

static int start_side(struct processes *processes, int which)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_side(processes, which);
	if (pid < 0)
		return print_error(side_names[which], "can't be started");
	processes->pids[which] = pid;
	return 0;
}

/* A process that ended by itself failed a check. */
static int both_run(struct processes *processes)
{
	int rc = 0;

	for (int which = 0; which < NUM_SIDES; which++) {
		int status;

		if (!processes->pids[which] || waitpid(processes->pids[which], &status, WNOHANG) == 0)
			continue;
		processes->pids[which] = 0;
		rc = print_error(side_names[which], "has ended before its time");
	}
	return rc;
}

/* ---- deaths ---- */

/* Read the daemon's status as text. Returns 0 or -1. */
static int read_status(const struct processes *processes, char text[MAX_STATUS])
{
	int dir_fd = open(bfsim_session_dir(processes->session), O_DIRECTORY | O_CLOEXEC), fd = -1;
	struct sim_msg msg = { .type = SIM_MSG_STATUS };
	ssize_t len = -1;

	if (dir_fd >= 0 && sim_control_exchange(dir_fd, &msg, -1, &fd) == 0 && fd >= 0)
		len = read(fd, text, MAX_STATUS - 1);
	if (fd >= 0)
		close(fd);
	if (dir_fd >= 0)
		close(dir_fd);
	if (len <= 0)
		return print_error("the session", "does not list its processes");
	text[len] = '\0';
	return 0;
}

/* How many processes the status lists besides this one. */
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

static int wait_until_forgotten(const struct processes *processes)
{
	int64_t start_ms = side_now_ms();
	int living = (processes->pids[HOST] != 0) + (processes->pids[DPU] != 0);
	static char text[MAX_STATUS];

	do {
		if (read_status(processes, text) < 0)
			return -1;
		if (is_clean(text, living))
			return 0;
		usleep(1000);
	} while (side_now_ms() - start_ms < FORGET_MS);
	fprintf(stderr, "%s\n", text);
	return print_error("the session", "still lists a killed process");
}

/* Remove the rules for the killed process: they match no process any more and take room. */
static void remove_rule_of(struct processes *processes, int which)
{
	uint32_t id = atomic_exchange(&processes->shared->seen[which].rule, 0);

	if (id)
		bfsim_fault_remove(id); /* the process may just have removed the rule itself */
}

static int kill_victim(struct processes *processes)
{
	int which = processes->shared->victim, status;
	pid_t pid = processes->pids[which];

	kill(pid, SIGKILL);
	if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return print_error(side_names[which], "had ended before it was killed");
	processes->pids[which] = 0;
	processes->num_killed++;
	remove_rule_of(processes, which);
	return wait_until_forgotten(processes);
}

/* The number of turns until the victim is killed; or, when it is dead, until the next one starts. */
static uint64_t draw_num_turns(struct processes *processes, bool lives)
{
	if (!lives)
		return random_in(&processes->random, 1, 10);
	if (random_in(&processes->random, 0, 3) == 0)
		return random_in(&processes->random, 1, 3);
	return random_in(&processes->random, 25, 250);
}

int processes_turn(struct processes *processes)
{
	int victim = processes->shared->victim, rc;

	if (both_run(processes) < 0)
		return -1;
	if (victim == NO_SIDE || --processes->turns > 0)
		return 0;
	rc = processes->pids[victim] ? kill_victim(processes) : start_side(processes, victim);
	processes->turns = draw_num_turns(processes, processes->pids[victim]);
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
		return print_error("a socket to listen at", "can't be made");
	return 0;
}

int processes_start(struct processes *processes, struct bfsim_session *session, struct shared *shared)
{
	processes->session = session;
	processes->shared = shared;
	processes->random = random_of(shared->seed, 'k', 1);
	processes->turns = draw_num_turns(processes, true);
	if (open_listener(&processes->start) < 0 || start_side(processes, HOST) < 0 || start_side(processes, DPU) < 0)
		return -1;
	return 0;
}

static int end_side(struct processes *processes, int which, bool failed)
{
	int64_t start_ms = side_now_ms();
	int status = 0;

	if (failed)
		kill(processes->pids[which], SIGKILL);
	while (waitpid(processes->pids[which], &status, WNOHANG) == 0) {
		if (side_now_ms() - start_ms > END_MS) {
			fprintf(stderr, "soak: %s does not end: it hangs in round %llu\n", side_names[which],
				(unsigned long long)processes->shared->seen[which].rounds + 1);
			kill(processes->pids[which], SIGABRT);
			start_ms = INT64_MAX / 2;
		}
		usleep(1000);
	}
	processes->pids[which] = 0;
	return status == 0 || failed ? 0 : print_error(side_names[which], "did not end well");
}

int processes_end(struct processes *processes, bool failed)
{
	int victim = processes->shared->victim, rc = 0;

	if (!failed && victim != NO_SIDE && !processes->pids[victim])
		rc = start_side(processes, victim); /* the survivor's rounds need a peer to the end */
	processes->shared->stop = true;
	for (int which = 0; which < NUM_SIDES; which++)
		if (processes->pids[which] > 0)
			rc |= end_side(processes, which, failed || rc < 0);
	if (processes->start.listen_fd > 0)
		close(processes->start.listen_fd);
	return rc < 0 || failed ? -1 : wait_until_forgotten(processes);
}
