/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/view/screen.h - the terminal of a live view.
 *
 *   open --> show, wait, show, wait, ... --> close
 *
 * The view uses the alternate screen, so that the terminal's contents come back at the end. Signals that end or stop
 * the process arrive in cli_screen_wait(), which restores the terminal before their default action. If standard
 * output is no terminal, views are written one after another.
 *
 * The few control sequences (ECMA-48, and xterm's alternate screen) are common to all current terminals; curses would
 * add a library and a terminal database.
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
	bool has_keyboard; /* standard input is a terminal */
	struct termios saved_termios;
	sigset_t saved_mask; /* of signals */
	int signal_fd;
};

enum cli_screen_event {
	CLI_SCREEN_TIME,
	CLI_SCREEN_SIZE,
	CLI_SCREEN_HELP,
	CLI_SCREEN_QUIT,
	CLI_SCREEN_GONE, /* the terminal was hung up, or the pipe's reader has closed it */
	CLI_SCREEN_FAILED,
};

/* Returns 0 or -errno. */
int cli_screen_open(struct cli_screen *screen);
void cli_screen_close(struct cli_screen *screen);

/* The size of the terminal; else 80 columns and 0 lines, which means no limit. */
void cli_screen_size(const struct cli_screen *screen, unsigned int *ret_columns, unsigned int *ret_lines);

/* Show @text in place of the last text. Returns false after a write error. */
bool cli_screen_show(const struct cli_screen *screen, const char *text, size_t len);

/* Wait until @until_ns (CLOCK_MONOTONIC), a change of the size, or a key: "q" (quit), "h" or "?" (help). Does not return when a signal ends
 * the process. */
enum cli_screen_event cli_screen_wait(struct cli_screen *screen, uint64_t until_ns);

#endif
