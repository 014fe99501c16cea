/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/screen.h - the terminal, borrowed for a live view and given back as it was.
 *
 *   open --> show, wait, show, wait, ... --> close
 *
 * The view has the terminal's other screen, so that what stood there comes back. Signals
 * that end or stop the process arrive in wait(), which gives the terminal back
 * before it lets them do their work. Where standard output is no terminal, what is
 * shown is written there, one after another.
 *
 * A handful of control sequences that all terminals of today have (ECMA-48, and the
 * other screen of xterm) do; curses would bring a library and a terminal
 * database for these.
 */
#ifndef SIM_CLI_VIEW_SCREEN_H
#define SIM_CLI_VIEW_SCREEN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

struct cli_screen {
	bool is_terminal; /* standard output */
	bool is_acquired;
	bool has_keyboard; /* standard input is a terminal, too */
	struct termios saved_termios;
	sigset_t saved_mask; /* of signals, before */
	int signal_fd;
};

enum cli_screen_event { CLI_SCREEN_TIME, CLI_SCREEN_SIZE, CLI_SCREEN_QUIT, CLI_SCREEN_FAILED };

/* Returns 0 or -errno. */
int cli_screen_open(struct cli_screen *screen);
void cli_screen_close(struct cli_screen *screen);

/* How large it is; of what is no terminal 80 columns, and 0 lines: as many as it takes. */
void cli_screen_size(const struct cli_screen *screen, unsigned int *ret_columns, unsigned int *ret_lines);

/* Show @text instead of what was shown. Whether it could be written. */
bool cli_screen_show(const struct cli_screen *screen, const char *text, size_t len);

/* Wait until @until_ns (CLOCK_MONOTONIC), until the size changes or the user has enough ("q"). Does not
 * return when a signal ends the process. */
enum cli_screen_event cli_screen_wait(struct cli_screen *screen, uint64_t until_ns);

#endif
