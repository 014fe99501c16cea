/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a program on another machine that its user sees. */
#include "reach_exec.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "reach.h"
#include "sim/cli/base/cli.h"

struct terminal {
	struct cli_reach reach;
	int signal_fd;
	int input;   /* -1 = at its end */
	size_t room; /* bytes of input that the helper takes */
	bool is_over;
	int status;
	/* A packet of output that was not written yet. */
	struct sim_reach_packet packet;
	size_t written;
};

/* Signals that are for the program. */
static int watch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void end(struct terminal *terminal, int status)
{
	terminal->is_over = true;
	terminal->status = status;
}

static bool can_send(const struct terminal *terminal)
{
	struct pollfd writable = { .fd = terminal->reach.sock, .events = POLLOUT };

	return poll(&writable, 1, 0) == 1 && writable.revents & POLLOUT;
}

/* Pass the signal on. If the connection takes nothing, which is so only when machines do not answer, this process ends, and with it the
 * program. */
static void take_signal(struct terminal *terminal)
{
	struct signalfd_siginfo info;

	if (read(terminal->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (can_send(terminal))
		sim_reach_send_number(terminal->reach.sock, SIM_REACH_SIGNAL, (int32_t)info.ssi_signo);
	else
		end(terminal, CLI_SIGNAL + (int)info.ssi_signo);
}

static void take_input(struct terminal *terminal)
{
	char bytes[SIM_REACH_MAX_BYTES];
	ssize_t len = read(terminal->input, bytes, terminal->room < sizeof(bytes) ? terminal->room : sizeof(bytes));

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len > 0) {
		terminal->room -= (size_t)len;
		sim_reach_send(terminal->reach.sock, SIM_REACH_INPUT, bytes, (size_t)len);
		return;
	}
	terminal->input = -1;
	sim_reach_send(terminal->reach.sock, SIM_REACH_INPUT_END, NULL, 0);
}

static void take_room(struct terminal *terminal)
{
	if (terminal->packet.number >= 0 && (size_t)terminal->packet.number <= SIM_REACH_INPUT_WINDOW - terminal->room)
		terminal->room += (size_t)terminal->packet.number;
}

static bool is_output(const struct sim_reach_packet *packet)
{
	return packet->kind == SIM_REACH_OUTPUT || packet->kind == SIM_REACH_ERROR_OUTPUT;
}

static void take_packet(struct terminal *terminal)
{
	struct sim_reach_packet *packet = &terminal->packet;
	int rc = sim_reach_recv(terminal->reach.sock, packet, 0);

	if (rc == 0 && packet->kind == SIM_REACH_LOST)
		rc = packet->number < 0 ? packet->number : -EPIPE;
	if (rc < 0) {
		packet->len = 0;
		cli_reach_fail(&terminal->reach, rc);
		end(terminal, CLI_OWN_FAILURE);
	} else if (packet->kind == SIM_REACH_EXIT) {
		end(terminal, packet->number & 0xff);
	} else if (packet->kind == SIM_REACH_ROOM) {
		take_room(terminal);
	}
	if (!is_output(packet))
		packet->len = 0;
	terminal->written = 0;
}

/* ---- output ---- */

static bool has_output(const struct terminal *terminal)
{
	return terminal->written < terminal->packet.len;
}

static int output_fd(const struct terminal *terminal)
{
	return terminal->packet.kind == SIM_REACH_OUTPUT ? STDOUT_FILENO : STDERR_FILENO;
}

/* The descriptor can be written to. A pipe that can takes PIPE_BUF bytes at once; a longer write might wait, and hide signals. */
static void write_some(struct terminal *terminal)
{
	size_t len = terminal->packet.len - terminal->written;
	ssize_t written =
		write(output_fd(terminal), terminal->packet.bytes + terminal->written, len < PIPE_BUF ? len : PIPE_BUF);

	if (written < 0 && errno != EINTR && errno != EAGAIN)
		end(terminal, CLI_SIGNAL + SIGPIPE); /* as the program would have ended */
	terminal->written += written > 0 ? (size_t)written : 0;
}

/* Wait for signals, and for room where the output goes; no more packets are read before. */
static void wait_to_write(struct terminal *terminal)
{
	struct pollfd fds[] = {
		{ .fd = terminal->signal_fd, .events = POLLIN },
		{ .fd = output_fd(terminal), .events = POLLOUT },
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return;
	if (fds[0].revents)
		take_signal(terminal);
	if (fds[1].revents)
		write_some(terminal);
}

/* Input is read when there is room to send it, so that a wait for room hides no signal. Returns whether there is some. */
static bool wait_for_all(struct terminal *terminal, bool has_input)
{
	struct pollfd fds[] = {
		{ .fd = terminal->signal_fd, .events = POLLIN },
		{ .fd = terminal->reach.sock, .events = (short)(POLLIN | (has_input ? POLLOUT : 0)) },
		{ .fd = has_input || terminal->room == 0 ? -1 : terminal->input, .events = POLLIN },
	};

	if (poll(fds, sizeof(fds) / sizeof(fds[0]), -1) < 0)
		return has_input;
	if (fds[0].revents)
		take_signal(terminal);
	if (fds[1].revents & ~POLLOUT) {
		take_packet(terminal);
	} else if (fds[1].revents) {
		take_input(terminal);
		return false;
	}
	return has_input || fds[2].revents;
}

static void run(struct terminal *terminal)
{
	bool has_input = false;

	while (!terminal->is_over)
		if (has_output(terminal))
			wait_to_write(terminal);
		else
			has_input = wait_for_all(terminal, has_input);
}

int cli_reach_exec(const char *dir, const char *machine, const char *const *words)
{
	static struct terminal terminal = { .input = STDIN_FILENO, .room = SIM_REACH_INPUT_WINDOW };

	signal(SIGPIPE, SIG_IGN);
	terminal.signal_fd = watch_signals();
	if (terminal.signal_fd < 0)
		return cli_fail("cannot watch for signals");
	if (cli_reach_begin(dir, machine, SIM_REACH_EXEC, words, &terminal.reach) < 0)
		return CLI_OWN_FAILURE;
	run(&terminal);
	close(terminal.reach.sock);
	return terminal.status;
}
