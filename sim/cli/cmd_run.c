/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim run: run programs in a session that lasts as long as they do. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/fault/faults.h"
#include "sim/cli/abi/generation.h"
#include "sim/cli/run/supervisor.h"
#include "sim/cli/base/check_opt.h"
#include "sim/cli/base/install.h"
#include "sim/cli/base/number.h"
#include "sim/cli/run/run_worker.h"
#include "sim/cli/base/session_opt.h"
#include "sim/cli/base/trace_opt.h"
#include "sim/trace/trace.h"

enum {
	KEY_HOST = 0x100,
	KEY_DPU,
	KEY_TIMEOUT,
	KEY_REQUIRE_FAULTS,
	KEY_CLOCK,
	KEY_TRACE,
	KEY_REPORT,
	KEY_SHUFFLE,
};

struct options {
	struct cli_session_opt session;
	struct cli_faults faults;
	struct cli_check_opt check;
	bool require_faults;
	const char *topology;
	enum sim_clock_mode clock;
	uint32_t trace_level;
	const char *trace_path;
	const char *report_path;
	unsigned int timeout_s;
	enum cli_generation generation; /* of the commands that follow the option */
	bool has_generation;            /* else each program's symbols decide */
	struct cli_run_command *commands;
	size_t num_commands;
};

static const struct argp_option option_list[] = {
	{ "host", KEY_HOST, "CMD", 0, "Run CMD on the side \"host\"", 0 },
	{ "dpu", KEY_DPU, "CMD", 0, "Run CMD on the side \"dpu\"", 0 },
	{ "on", 'o', "SIDE=CMD", 0, "Run CMD on SIDE", 0 },
	{ "generation", 'g', "GENERATION", 0,
	  "Libraries of the commands after this option: " CLI_GENERATION_HELP
	  "; default: by the symbols of the first program in the command that uses DOCA",
	  0 },
	{ "topology", 't', "FILE", 0, "The card, as YAML (default: one BlueField-3 with two ports)", 0 },
	{ "clock", KEY_CLOCK, "MODE", 0, CLI_CLOCK_HELP, 0 },
	{ "require-faults", KEY_REQUIRE_FAULTS, NULL, 0, "Fail when a fault never hit", 0 },
	{ "trace", KEY_TRACE, "FILE", 0, "At the end, write a trace, as bfsim trace does", 0 },
	{ "report", KEY_REPORT, "FILE", 0,
	  "At the end, write a page about the run, as bfsim report does; the default --trace-level is full then", 0 },
	CLI_TRACE_LEVEL_OPTION,
	{ "shuffle", KEY_SHUFFLE, "SEED", OPTION_ARG_OPTIONAL,
	  "Complete the DMA tasks of a context in an order of chance, which a card may have; SEED repeats an order",
	  0 },
	{ "timeout", KEY_TIMEOUT, "SECONDS", 0, "End all programs after this time, with status 124", 0 },
	{ 0 },
};

static void add_command(struct options *options, const char *side, const char *text, struct argp_state *state)
{
	struct cli_run_command *commands =
		reallocarray(options->commands, options->num_commands + 1, sizeof(*commands));

	if (!commands)
		argp_failure(state, CLI_FAILED, 0, "out of memory");
	if (text[strspn(text, " \t\n")] == '\0') /* such as a shell variable that is not set */
		argp_error(state, "the command on %s is empty", side);
	commands[options->num_commands++] = (struct cli_run_command){
		.side = side,
		.text = text,
		.generation = options->has_generation ? options->generation : cli_generation_of_shell(text),
	};
	options->commands = commands;
}

/* Split "SIDE=CMD" in place. */
static void add_side_command(struct options *options, char *arg, struct argp_state *state)
{
	char *equals = strchr(arg, '=');

	if (!equals || equals == arg)
		argp_error(state, "--on %s: write SIDE=CMD", arg);
	*equals = '\0';
	add_command(options, arg, equals + 1, state);
}

static unsigned int parse_seconds(const char *text, struct argp_state *state)
{
	uint64_t number = 0;

	if (cli_number_parse(text, 10, 1, INT_MAX, &number, NULL) < 0)
		argp_error(state, "--timeout %s: not a number of seconds from 1 to %d", text, INT_MAX);
	return (unsigned int)number;
}

/* Processes find the seed in their environment. */
static void set_shuffle(const char *text, struct argp_state *state)
{
	uint64_t seed = 0;
	char number[24];

	if (!text && getrandom(&seed, sizeof(uint32_t), 0) < 0)
		argp_failure(state, CLI_FAILED, errno, "no random numbers; give --shuffle=SEED");
	if (text && cli_number_parse(text, 10, 0, UINT64_MAX, &seed, NULL) < 0)
		argp_error(state, "--shuffle=%s: not a number", text);
	snprintf(number, sizeof(number), "%" PRIu64, seed);
	if (setenv("BFSIM_SHUFFLE", number, 1) < 0)
		argp_failure(state, CLI_FAILED, errno, "cannot set the environment");
	if (!text)
		fprintf(stderr, "bfsim run: the order of tasks is repeated by --shuffle=%s\n", number);
}

/* Of the commands that follow. */
static void set_generation(struct options *options, const char *text, struct argp_state *state)
{
	if (cli_generation_parse(text, &options->generation) < 0)
		argp_error(state, CLI_GENERATION_WRONG, text);
	options->has_generation = true;
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->session;
		state->child_inputs[1] = &options->faults;
		state->child_inputs[2] = &options->check;
		return 0;
	case KEY_REQUIRE_FAULTS:
		options->require_faults = true;
		return 0;
	case KEY_HOST:
		add_command(options, "host", arg, state);
		return 0;
	case KEY_DPU:
		add_command(options, "dpu", arg, state);
		return 0;
	case 'o':
		add_side_command(options, arg, state);
		return 0;
	case 'g':
		set_generation(options, arg, state);
		return 0;
	case 't':
		options->topology = arg;
		return 0;
	case KEY_CLOCK:
		options->clock = cli_clock_mode(arg, state);
		return 0;
	case KEY_TRACE:
		options->trace_path = arg;
		return 0;
	case KEY_SHUFFLE:
		set_shuffle(arg, state);
		return 0;
	case KEY_REPORT:
		options->report_path = arg;
		return 0;
	case CLI_KEY_TRACE_LEVEL:
		options->trace_level = cli_trace_level(arg, state);
		return 0;
	case KEY_TIMEOUT:
		options->timeout_s = parse_seconds(arg, state);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state,
			   "\"%s\" belongs to no side; a command with its arguments is one word: --host './app %s'",
			   arg, arg);
		return EINVAL;
	case ARGP_KEY_END:
		if (options->num_commands == 0)
			argp_error(state, "run what? Give --host CMD, --dpu CMD or --on SIDE=CMD");
		if (options->report_path && options->trace_level == SIM_TRACE_UNSET)
			options->trace_level = SIM_TRACE_FULL;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int run_session(const struct options *options)
{
	struct sim_session_dir session_dir;
	struct cli_run_cfg cfg = { .session_dir = &session_dir,
				   .topology = options->topology,
				   .clock = options->clock,
				   .trace_level = options->trace_level,
				   .trace_path = options->trace_path,
				   .report_path = options->report_path,
				   .check = &options->check,
				   .commands = options->commands,
				   .num_commands = options->num_commands,
				   .faults = &options->faults,
				   .require_faults = options->require_faults };
	struct cli_supervisor_cfg supervisor = { .work = cli_run_worker, .arg = &cfg, .timeout_s = options->timeout_s };
	int status;

	if (options->session.is_from_option ? cli_session_prepare(options->session.dir, &session_dir) :
					      cli_session_prepare_temporary(&session_dir))
		return CLI_FAILED;
	status = cli_supervise(&supervisor);
	sim_session_dir_remove(&session_dir); /* in case that the daemon was killed */
	sim_session_dir_fini(&session_dir);
	return status;
}

int cli_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &cli_session_argp, 0, NULL, 0 },
						      { &cli_faults_argp, 0, NULL, 0 },
						      { &cli_check_argp, 0, NULL, 0 },
						      { 0 } };
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.doc = "Run commands on the sides of a card, in a session that lasts as long as they do.\v"
		       "/bin/sh runs each CMD. The exit status is 0 when all commands return 0, else that of the first command "
		       "that failed. Without --session, the session's directory is temporary. Faults that never hit are named "
		       "at the end.",
		.children = children,
	};
	struct options options = { 0 };
	int status;

	cli_args_parse(&argp, argc, argv, 0, &options);
	status = run_session(&options);
	free(options.commands);
	cli_faults_fini(&options.faults);
	cli_check_fini(&options.check);
	return status;
}
