/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim top: a live view of a session. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/view/screen.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/session_client.h"
#include "sim/base/last_error.h"
#include "sim/cli/view/top.h"

#define NS_PER_S 1e9

struct options {
	struct cli_session_opt session;
	uint64_t interval_ns;
	bool once;
};

/* The help page stands in place of the view while the user wants it. */
struct view {
	struct cli_screen screen;
	bool shows_help;
};

static void set_interval(void *to, char *text, struct argp_state *state)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.05 && seconds <= 3600))
		argp_error(state, "--interval %s: not a number of seconds from 0.05 to 3600", text);
	*(uint64_t *)to = (uint64_t)(seconds * NS_PER_S);
}

static const struct cli_option option_list[] = {
	CLI_CALL('i', "interval", "SECONDS", struct options, interval_ns, set_interval,
		 "Interval between two views (default: 1; from 0.05 to 3600)"),
	CLI_FLAG(0, "once", struct options, once, "Print one view after one interval, and end"),
	{ 0 },
};

/* Returns whether the view could be written. */
static bool show_snapshot(const struct view *view, const struct cli_top_snapshot *snapshot, const char *dir)
{
	const struct cli_screen *screen = &view->screen;
	unsigned int columns, lines;
	char *text = NULL;
	size_t len;
	bool good;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return false;
	cli_screen_size(screen, &columns, &lines);
	if (view->shows_help)
		cli_top_print_help(columns, lines, out);
	else
		cli_top_print(snapshot, dir, columns, lines, screen->is_terminal, out);
	good = fclose(out) == 0 && cli_screen_show(screen, text, len);
	free(text);
	return good;
}

/* Wait until the next snapshot is due. Returns false at the end: when the user quits, or with a failure in *ret_status. */
static bool wait_for_next(struct view *view, const struct cli_top_snapshot *snapshot, const struct options *options,
			  int *ret_status)
{
	for (;;) {
		switch (cli_screen_wait(&view->screen, snapshot->time_ns + options->interval_ns)) {
		case CLI_SCREEN_TIME:
			return true;
		case CLI_SCREEN_HELP:
			view->shows_help = !view->shows_help;
			/* fall through */
		case CLI_SCREEN_SIZE:
			if (!view->screen.is_terminal || show_snapshot(view, snapshot, options->session.dir))
				break;
			/* fall through */
		case CLI_SCREEN_GONE:
		case CLI_SCREEN_FAILED:
			*ret_status = CLI_FAILED;
			return false;
		case CLI_SCREEN_QUIT:
			return false;
		}
	}
}

/* Show views until the user quits. *ret_lost: a message was printed on the alternate screen, which is gone. */
static int watch_session(struct view *view, const struct options *options, int dir_fd, bool *ret_lost)
{
	struct cli_top_snapshot snapshot, next;
	int status = CLI_OK;

	if (cli_top_snapshot_take(dir_fd, options->session.dir, NULL, &snapshot) < 0)
		return CLI_FAILED;
	if (!options->once && view->screen.is_terminal && !show_snapshot(view, &snapshot, options->session.dir))
		status = CLI_FAILED;
	while (status == CLI_OK && wait_for_next(view, &snapshot, options, &status)) {
		if (cli_top_snapshot_take(dir_fd, options->session.dir, &snapshot, &next) < 0) {
			*ret_lost = view->screen.is_acquired;
			status = CLI_FAILED;
			break;
		}
		cli_top_snapshot_fini(&snapshot);
		snapshot = next;
		if (!show_snapshot(view, &snapshot, options->session.dir))
			status = CLI_FAILED;
		if (options->once)
			break;
	}
	cli_top_snapshot_fini(&snapshot);
	return status;
}

static int run_top(const struct options *options)
{
	int dir_fd = cli_session_open(options->session.dir), rc, status;
	struct view view = { .shows_help = false };
	bool lost = false;

	if (dir_fd < 0)
		return CLI_FAILED;
	rc = cli_screen_open(&view.screen);
	if (rc < 0) {
		close(dir_fd);
		return cli_fail("cannot watch for signals: %s", strerror(-rc));
	}
	status = watch_session(&view, options, dir_fd, &lost);
	cli_screen_close(&view.screen);
	close(dir_fd);
	if (lost)
		cli_fail("%s", sim_last_error());
	return status;
}

int cli_top(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, session.words),
		.max_words = 1,
		.args_doc = "[SESSION]",
		.doc = "Show the activity of each context and connection of a session while it runs, the busiest first.\v"
		       "Rates are since the last view. FLY is the number of tasks in flight. FAIL and FLT are the failed tasks "
		       "and the faults that hit, since the context was created. \"q\" quits, \"h\" shows help. If standard output is no "
		       "terminal, views are printed one after another. SESSION is the session's directory, as with --session.",
	};
	struct options options = { .interval_ns = (uint64_t)NS_PER_S };

	cli_args_parse(&args, argc, argv, 0, &options);
	return run_top(&options);
}
