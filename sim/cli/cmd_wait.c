/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim wait: until machines have joined a session. */
#include <limits.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/json.h"
#include "sim/cli/base/session_client.h"

#define POLL_NS 50000000

struct options {
	struct cli_session_opt session;
	bool ever, left;
	struct cli_words machines;
	uint64_t timeout_s;
};

static const struct cli_option option_list[] = {
	CLI_NUMBER(0, "timeout", "SECONDS", struct options, timeout_s, 1, INT_MAX, "a number of seconds",
		   "Give up after that time (default: 60)"),
	CLI_FLAG(
		0, "ever", struct options, ever,
		"A machine that has joined, and left again or was lost, counts, too: its program may have ended already"),
	CLI_FLAG(0, "left", struct options, left, "Wait until the machines have left the session, or are lost"),
	{ 0 },
};

static json_object *find_machine(json_object *machines, const char *name)
{
	json_object *list = cli_json_list(machines, "list");

	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		json_object *machine = json_object_array_get_idx(list, i);

		if (strcmp(cli_json_text(machine, "name"), name) == 0)
			return machine;
	}
	return NULL;
}

/* Whether the machine is as the command waits for. */
static bool is_awaited(const struct options *options, json_object *machine)
{
	const char *state = cli_json_text(machine, "state");
	bool is_there = strcmp(state, "joined") == 0 || strcmp(state, "this machine") == 0;

	if (options->left) /* while this machine's gateway does not run, nobody knows */
		return machine && !is_there && strcmp(state, "unknown") != 0;
	return is_there || (options->ever && (strcmp(state, "left") == 0 || strcmp(state, "lost") == 0));
}

/* Why a machine that is not there will never be. */
enum hopeless {
	HOPE,
	UNKNOWN_NAME,
	SINGLE_MACHINE,
};

/* Returns the first machine that is not as wanted, or NULL. */
static const char *find_missing(const struct options *options, enum hopeless *ret_hopeless)
{
	json_object *status = cli_session_status(options->session.dir), *machines = cli_json_member(status, "machines");
	const char *missing = NULL;

	*ret_hopeless = HOPE;
	for (size_t i = 0; i < options->machines.count && !missing; i++) {
		json_object *machine = find_machine(machines, options->machines.list[i]);

		if (!is_awaited(options, machine) &&
		    !(options->left && !status)) /* without a session, nobody is in it */
			missing = options->machines.list[i];
		if (status && !machines)
			*ret_hopeless = SINGLE_MACHINE;
		else if (!machine && cli_json_list(machines, "list") &&
			 json_object_array_length(cli_json_list(machines, "list")) > 0)
			*ret_hopeless = UNKNOWN_NAME;
	}
	json_object_put(status);
	return missing;
}

static int wait_for_all(const struct options *options)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	const int64_t end_ms = sim_monotonic_ms() + (int64_t)options->timeout_s * 1000;
	const char *missing;
	enum hopeless hopeless;

	while ((missing = find_missing(options, &hopeless))) {
		if (hopeless == SINGLE_MACHINE)
			return cli_fail(
				"the session is on this machine alone, and %s cannot join it; bfsim up --listen starts one that others can join",
				missing);
		if (hopeless == UNKNOWN_NAME)
			return cli_fail("the session's topology has no machine %s; see bfsim ps", missing);
		if (sim_monotonic_ms() >= end_ms && options->left)
			return cli_fail("%s has not left the session within %llu s; see bfsim ps", missing,
					(unsigned long long)options->timeout_s);
		if (sim_monotonic_ms() >= end_ms)
			return cli_fail(
				"%s has not joined the session within %llu s; see bfsim ps, and bfsim join there",
				missing, (unsigned long long)options->timeout_s);
		nanosleep(&pause, NULL);
	}
	return CLI_OK;
}

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->ever && options->left)
		argp_error(state, "give --ever or --left");
}

int cli_wait(int argc, char **argv)
{
	static const struct cli_args args = {
		.options = option_list,
		.parts = { CLI_PART(struct options, session, cli_session_args) },
		.words = offsetof(struct options, machines),
		.max_words = CLI_MANY_WORDS,
		.no_words = "for which machines? Give their names, as node1",
		.args_doc = "MACHINE...",
		.check = check_options,
		.doc = "Wait until machines have joined a session, or have left it.",
	};
	struct options options = { .timeout_s = 60 };

	cli_args_parse(&args, argc, argv, 0, &options);
	return wait_for_all(&options);
}
