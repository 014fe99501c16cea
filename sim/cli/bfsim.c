/* SPDX-License-Identifier: BSD-3-Clause */
/* The bfsim command: finds and runs the subcommand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/helper/helper.h"

static void print_commands(FILE *out)
{
	fprintf(out, "Commands:\n");
	for (size_t i = 0; cli_command_at(i); i++)
		fprintf(out, "  %-14s%s\n", cli_command_at(i)->name, cli_command_at(i)->summary);
	fprintf(out, "  %-14s%s\n\n", "help", "explain a command: bfsim help COMMAND");
}

static void fail_unknown(struct argp_state *state, const char *name)
{
	const char *closest = cli_command_hint(name).name;

	if (closest)
		argp_error(state, "there is no command \"%s\"; did you mean \"%s\"? bfsim --help lists them", name,
			   closest);
	argp_error(state, "there is no command \"%s\"; bfsim --help lists them", name);
}

static void show_help(struct argp_state *state, const char *name)
{
	char *argv[] = { NULL, (char *)"--help", NULL };
	const struct cli_command *command = name ? cli_command_find(name) : NULL;

	if (name && !command)
		fail_unknown(state, name);
	if (!command)
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	else
		cli_command_run(command, cli_completion, 2, argv);
}

/* Does not return, unless argp was told not to exit. */
static void run_words(void *all, struct argp_state *state)
{
	const struct cli_words *words = all;
	const char *word = cli_word(words, 0);
	const struct cli_command *command;

	if (!word) {
		fprintf(stderr, "bfsim: which command? bfsim COMMAND --help explains one.\n\n");
		print_commands(stderr);
		exit(CLI_USAGE);
	}
	command = cli_command_find(word);
	if (strcmp(word, "help") == 0)
		show_help(state, cli_word(words, 1));
	if (strcmp(word, "version") == 0) {
		puts(argp_program_version);
		exit(CLI_OK);
	}
	if (!command)
		fail_unknown(state, word);
	else
		cli_command_run(command, cli_completion, (int)words->count, words->list);
}

/* Append the list of commands to the help. */
static char *list_commands(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t len;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&list, &len);
	if (!out)
		return NULL;
	print_commands(out);
	fprintf(out,
		"Exit status: 0, 1 for a failure, 2 for a wrong command line; exec and run pass on their programs'.");
	fclose(out);
	return list; /* argp frees it */
}

int main(int argc, char **argv)
{
	static const struct cli_args args = {
		.max_words = CLI_MANY_WORDS,
		.check = run_words,
		.args_doc = "COMMAND [ARGUMENT...]",
		.doc = "Run programs for a BlueField against a simulated card.",
		.help_filter = list_commands,
	};

	struct cli_words words = { 0 };

	cli_init();
	if (argc > 1 && strcmp(argv[1], SIM_REACH_COMMAND) == 0)
		return cli_helper_main(argc - 1, argv + 1);
	cli_args_parse(&args, argc, argv, ARGP_IN_ORDER, &words);
	return CLI_OK;
}
