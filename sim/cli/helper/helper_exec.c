/* SPDX-License-Identifier: BSD-3-Clause */
/* A program on this machine, for bfsim exec on another one.
 *
 *   helper --supervises--> worker: streams, signals --starts--> bfsim exec, which becomes the program, in a process group of its own
 *
 * When the program ends, or the connection, the worker ends all processes below it: SIGTERM, then SIGKILL after GRACE_MS. When the
 * helper or the worker is killed, the other one does that (sim/cli/run/supervisor.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/run/subreaper.h"
#include "sim/cli/run/supervisor.h"

#define GRACE_MS  2000
#define MAX_WORDS SIM_REACH_MAX_BYTES /* each has a byte at the least */

struct worker {
	struct cli_helper *helper;
	char *const *words;
	const sigset_t *original; /* the signal mask of programs */
};

struct execution {
	int sock, signal_fd;             /* a signalfd of SIGCHLD, and of SIGTERM: the helper is to end */
	int input, output, error_output; /* ends of pipes; -1 = closed */
	pid_t program;
	bool has_ended, is_lost;
	int status;
	char unread[SIM_REACH_INPUT_WINDOW]; /* input for the program */
	size_t unread_len, num_read;         /* num_read: bytes that the command has not been told of */
	bool is_input_over;
	bool has_output; /* it waits for room on the connection, as a wait in a call would hide signals */
};

/* ---- the program ---- */

static void __attribute__((noreturn)) exec_program(const struct worker *worker, const int *streams, pid_t parent)
{
	char *argv[MAX_WORDS + 8] = { "bfsim", "exec", "--session", (char *)worker->helper->dir };
	char *const *words = worker->words;
	size_t count = 4;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* of this thread's end, which is the helper's */
	if (getppid() != parent)
		_exit(CLI_OWN_FAILURE);
	setpgid(0, 0);
	for (int i = 0; i < 3; i++)
		dup2(streams[i], i);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	sigprocmask(SIG_SETMASK, worker->original, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (; *words && count < MAX_WORDS; words++)
		argv[count++] = *words;
	argv[count] = NULL;
	execv("/proc/self/exe", argv);
	_exit(CLI_OWN_FAILURE);
}

static int open_pipes(int pipes[3][2])
{
	for (int i = 0; i < 3; i++)
		if (pipe2(pipes[i], O_CLOEXEC) < 0)
			return -errno;
	return 0;
}

static int start(const struct worker *worker, struct execution *execution)
{
	int pipes[3][2], rc = open_pipes(pipes);
	const pid_t self = getpid();

	if (rc < 0)
		return rc;
	execution->program = fork();
	if (execution->program == 0)
		exec_program(worker, (const int[]){ pipes[0][0], pipes[1][1], pipes[2][1] }, self);
	setpgid(execution->program, execution->program); /* whichever of both comes first */
	close(pipes[0][0]);
	close(pipes[1][1]);
	close(pipes[2][1]);
	execution->input = pipes[0][1];
	execution->output = pipes[1][0];
	execution->error_output = pipes[2][0];
	fcntl(execution->input, F_SETFL, O_NONBLOCK);
	fcntl(execution->output, F_SETFL, O_NONBLOCK);
	fcntl(execution->error_output, F_SETFL, O_NONBLOCK);
	return execution->program < 0 ? -errno : 0;
}

/* ---- streams ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Give the program what it has not read. */
static void write_input(struct execution *execution)
{
	size_t at = 0;

	while (execution->input >= 0 && at < execution->unread_len) {
		ssize_t sent = write(execution->input, execution->unread + at, execution->unread_len - at);

		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (sent < 0)
			close_fd(&execution->input); /* it reads no more */
		at += sent > 0 ? (size_t)sent : 0;
	}
	if (execution->input < 0)
		at = execution->unread_len;
	memmove(execution->unread, execution->unread + at, execution->unread_len - at);
	execution->unread_len -= at;
	execution->num_read += at;
	if (execution->is_input_over && execution->unread_len == 0)
		close_fd(&execution->input);
}

/* The command knows the room, so one that sends more is none of bfsim's. */
static void add_input(struct execution *execution, const struct sim_reach_packet *packet)
{
	if (packet->len > sizeof(execution->unread) - execution->unread_len - execution->num_read) {
		execution->is_lost = true;
		return;
	}
	memcpy(execution->unread + execution->unread_len, packet->bytes, packet->len);
	execution->unread_len += packet->len;
	write_input(execution);
}

static void say_room(struct execution *execution)
{
	if (sim_reach_send_number(execution->sock, SIM_REACH_ROOM, (int32_t)execution->num_read) < 0)
		execution->is_lost = true;
	execution->num_read = 0;
}

/* Pass on what is there. Returns false at the end of the stream, or when nothing is there. */
static bool pass_output(struct execution *execution, int *fd, enum sim_reach_kind kind)
{
	char bytes[SIM_REACH_MAX_BYTES];
	ssize_t len = *fd < 0 ? 0 : read(*fd, bytes, sizeof(bytes));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (len <= 0)
		close_fd(fd);
	else if (sim_reach_send(execution->sock, kind, bytes, (size_t)len) < 0)
		execution->is_lost = true;
	return len > 0 && !execution->is_lost;
}

/* The connection takes packets. */
static void use_room(struct execution *execution)
{
	if (execution->num_read > 0)
		say_room(execution);
	if (execution->has_output) {
		pass_output(execution, &execution->output, SIM_REACH_OUTPUT);
		pass_output(execution, &execution->error_output, SIM_REACH_ERROR_OUTPUT);
	}
	execution->has_output = false;
}

static bool is_passed_on(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT || number == SIGUSR1 ||
	       number == SIGUSR2;
}

static void take_packet(struct execution *execution)
{
	static struct sim_reach_packet packet;

	if (sim_reach_recv(execution->sock, &packet, 0) < 0) {
		execution->is_lost = true;
		return;
	}
	if (packet.kind == SIM_REACH_INPUT) {
		add_input(execution, &packet);
	} else if (packet.kind == SIM_REACH_INPUT_END) {
		execution->is_input_over = true;
		write_input(execution);
	} else if (packet.kind == SIM_REACH_SIGNAL && is_passed_on(packet.number)) {
		kill(-execution->program, packet.number);
	}
}

/* ---- its end ---- */

static void reap(struct execution *execution)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(execution->signal_fd, &info, sizeof(info)) > 0)
		execution->is_lost |= info.ssi_signo == SIGTERM;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == execution->program) {
			execution->has_ended = true;
			execution->status = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_SIGNAL + WTERMSIG(status);
		}
}

/* Nothing of the program stays. */
static void end_all(struct execution *execution)
{
	const int64_t end_ms = sim_monotonic_ms() + GRACE_MS;
	struct pollfd ended = { .fd = execution->signal_fd, .events = POLLIN };

	while (cli_signal_children(SIGTERM, NULL, NULL) > 0 && sim_monotonic_ms() < end_ms) {
		poll(&ended, 1, 100);
		reap(execution);
	}
	cli_kill_descendants(NULL);
}

static void step(struct execution *execution)
{
	const bool has_output = execution->has_output, sends = has_output || execution->num_read > 0;
	struct pollfd fds[] = {
		{ .fd = execution->sock, .events = (short)(POLLIN | (sends ? POLLOUT : 0)) },
		{ .fd = execution->signal_fd, .events = POLLIN },
		{ .fd = has_output ? -1 : execution->output, .events = POLLIN },
		{ .fd = has_output ? -1 : execution->error_output, .events = POLLIN },
		{ .fd = execution->unread_len > 0 ? execution->input : -1, .events = POLLOUT },
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return;
	if (fds[0].revents & POLLIN)
		take_packet(execution);
	else if (fds[0].revents & ~POLLOUT)
		execution->is_lost = true;
	if (fds[0].revents & POLLOUT)
		use_room(execution);
	execution->has_output |= fds[2].revents || fds[3].revents;
	if (fds[4].revents)
		write_input(execution);
	if (fds[1].revents)
		reap(execution);
}

static int run(struct execution *execution)
{
	while (!execution->has_ended && !execution->is_lost)
		step(execution);
	if (!execution->has_ended || cli_signal_children(0, NULL, NULL) > 0)
		end_all(execution);
	while (!execution->is_lost && pass_output(execution, &execution->output, SIM_REACH_OUTPUT))
		;
	while (!execution->is_lost && pass_output(execution, &execution->error_output, SIM_REACH_ERROR_OUTPUT))
		;
	return execution->status;
}

static int work(void *arg, const sigset_t *original)
{
	struct worker *worker = arg;
	static struct execution execution; /* too large for a stack */
	sigset_t watched;
	int rc;

	execution.sock = worker->helper->sock;
	execution.status = CLI_OWN_FAILURE;
	worker->original = original;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	execution.signal_fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
	rc = execution.signal_fd < 0 ? -errno : start(worker, &execution);
	if (rc < 0)
		return cli_fail("cannot start a program for another machine: %s", strerror(-rc));
	return run(&execution);
}

int cli_helper_exec(struct cli_helper *helper, char *const *words)
{
	struct worker worker = { .helper = helper, .words = words };
	sigset_t original;
	int status;

	cli_set_failure_status(CLI_OWN_FAILURE);
	cli_hold_signals(&original);
	status = cli_supervise(&(struct cli_supervisor_cfg){ .work = work, .arg = &worker, .original = &original });
	sigprocmask(SIG_SETMASK, &original, NULL);
	return status;
}
