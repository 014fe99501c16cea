/* SPDX-License-Identifier: BSD-3-Clause */
/* The terminal of a live view: control sequences, signals and keys. */
#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sim/base/monotonic.h"
#include "sim/trace/trace.h"

#define ENTER_ALT_SCREEN "\033[?1049h\033[?25l" /* hides the cursor, too */
#define LEAVE_ALT_SCREEN "\033[?25h\033[?1049l"
#define CURSOR_HOME      "\033[H"
#define CLEAR_LINE       "\033[K"
#define CLEAR_BELOW      "\033[J"

static bool write_all(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t written = write(STDOUT_FILENO, text, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		text += written;
		len -= (size_t)written;
	}
	return true;
}

static void acquire_terminal(struct cli_screen *screen)
{
	struct termios keys;

	if (!screen->is_terminal)
		return;
	screen->has_keyboard = tcgetattr(STDIN_FILENO, &screen->saved_termios) == 0;
	if (screen->has_keyboard) {
		keys = screen->saved_termios;
		keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		keys.c_cc[VMIN] = 0;
		keys.c_cc[VTIME] = 0;
		tcsetattr(STDIN_FILENO, TCSANOW, &keys);
	}
	screen->is_acquired = write_all(ENTER_ALT_SCREEN, strlen(ENTER_ALT_SCREEN));
}

static void restore_terminal(struct cli_screen *screen)
{
	if (!screen->is_acquired)
		return;
	screen->is_acquired = false;
	write_all(LEAVE_ALT_SCREEN, strlen(LEAVE_ALT_SCREEN));
	if (screen->has_keyboard)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen->saved_termios);
}

static sigset_t handled_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&set, numbers[i]);
	return set;
}

int cli_screen_open(struct cli_screen *screen)
{
	const char *term = getenv("TERM");
	sigset_t set = handled_signals();

	*screen = (struct cli_screen){ .is_terminal = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 };
	sigprocmask(SIG_BLOCK, &set, &screen->saved_mask);
	screen->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (screen->signal_fd < 0) {
		int rc = -errno;

		sigprocmask(SIG_SETMASK, &screen->saved_mask, NULL);
		return rc;
	}
	acquire_terminal(screen);
	return 0;
}

void cli_screen_close(struct cli_screen *screen)
{
	restore_terminal(screen);
	close(screen->signal_fd);
	sigprocmask(SIG_SETMASK, &screen->saved_mask, NULL);
}

void cli_screen_size(const struct cli_screen *screen, unsigned int *ret_columns, unsigned int *ret_lines)
{
	struct winsize size;

	*ret_columns = 80;
	*ret_lines = screen->is_terminal ? 24 : 0;
	if (!screen->is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
		return;
	*ret_columns = size.ws_col;
	*ret_lines = size.ws_row;
}

/* Overwrite the screen line by line, so that it does not flicker. */
static bool show_lines(const char *text, size_t len)
{
	bool good = write_all(CURSOR_HOME, strlen(CURSOR_HOME));

	while (good && len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line = end ? (size_t)(end - text) : len;

		good = write_all(text, line) && write_all(CLEAR_LINE "\n", strlen(CLEAR_LINE "\n"));
		text += end ? line + 1 : line;
		len -= end ? line + 1 : line;
	}
	return good && write_all(CLEAR_BELOW, strlen(CLEAR_BELOW));
}

bool cli_screen_show(const struct cli_screen *screen, const char *text, size_t len)
{
	return screen->is_acquired ? show_lines(text, len) : write_all(text, len) && write_all("\n", 1);
}

/* Take the default action of the signal. After SIGTSTP, the process continues here. */
static void raise_default_action(struct cli_screen *screen, int number)
{
	sigset_t set;

	restore_terminal(screen);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	acquire_terminal(screen);
}

/* Returns whether the screen must be drawn again. */
static bool handle_signals(struct cli_screen *screen)
{
	struct signalfd_siginfo info;
	bool changed = false;

	while (read(screen->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGWINCH)
			raise_default_action(screen, (int)info.ssi_signo);
		changed = true;
	}
	return changed;
}

/* The event of the first key that has one; CLI_SCREEN_TIME if none has. */
static enum cli_screen_event read_key(void)
{
	char key;

	while (read(STDIN_FILENO, &key, 1) == 1) {
		if (key == 'q' || key == 'Q')
			return CLI_SCREEN_QUIT;
		if (key == 'h' || key == 'H' || key == '?')
			return CLI_SCREEN_HELP;
	}
	return CLI_SCREEN_TIME;
}

/* Of standard output or the keyboard. A terminal that was hung up is always ready, and nothing can be read from it. */
static bool is_gone(const struct pollfd *fd)
{
	return fd->revents & (POLLERR | POLLHUP | POLLNVAL);
}

enum cli_screen_event cli_screen_wait(struct cli_screen *screen, uint64_t until_ns)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = screen->signal_fd, .events = POLLIN },
					{ .fd = screen->has_keyboard ? STDIN_FILENO : -1, .events = POLLIN },
					{ .fd = STDOUT_FILENO } };
		uint64_t now_ns = sim_monotonic_ns();
		uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
		struct timespec left = { .tv_sec = (time_t)(left_ns / 1000000000),
					 .tv_nsec = (long)(left_ns % 1000000000) };
		int count = ppoll(fds, 3, &left, NULL);
		enum cli_screen_event key;

		if (count < 0 && errno != EINTR)
			return CLI_SCREEN_FAILED;
		if (count == 0)
			return CLI_SCREEN_TIME;
		if (fds[0].revents && handle_signals(screen))
			return CLI_SCREEN_SIZE;
		if (is_gone(&fds[1]) || is_gone(&fds[2]))
			return CLI_SCREEN_GONE;
		key = fds[1].revents ? read_key() : CLI_SCREEN_TIME;
		if (key != CLI_SCREEN_TIME)
			return key;
	}
}
