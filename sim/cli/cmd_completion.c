/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim completion: the completion of bfsim's commands and options, for shells. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"

/* share/completion, as strings */
extern const char cli_completion_bash[], cli_completion_zsh[], cli_completion_fish[];

struct options {
	const char *name; /* of the shell, or of the command to list */
	bool list;
};

static const struct argp_option option_list[] = {
	{ "list", 'l', NULL, 0, "List the commands, or COMMAND's actions and options, for the script", 0 },
	{ 0 },
};

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'l':
		options->list = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->name)
			argp_error(state, "give one name");
		options->name = arg;
		return 0;
	case ARGP_KEY_END:
		if (!options->name && !options->list)
			argp_error(state, "for which shell? Give bash, zsh or fish");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int print_script(const char *shell)
{
	const char *script = strcmp(shell, "bash") == 0 ? cli_completion_bash :
			     strcmp(shell, "zsh") == 0  ? cli_completion_zsh :
			     strcmp(shell, "fish") == 0 ? cli_completion_fish :
							  NULL;

	if (!script) {
		cli_fail("completion %s: there is none for that shell; give bash, zsh or fish", shell);
		return CLI_USAGE;
	}
	fputs(script, stdout);
	return CLI_OK;
}

static void list_commands(void)
{
	for (size_t i = 0; cli_command_at(i); i++)
		printf("%s\t%s\n", cli_command_at(i)->name, cli_command_at(i)->summary);
	printf("help\texplain a command\n");
}

/* The command prints its options itself. */
static int list_words(const char *name)
{
	char *argv[] = { NULL, (char *)CLI_ARGS_LIST, NULL };
	const struct cli_command *command = cli_command_find(name);

	if (!command)
		return CLI_OK; /* a shell asks for what is typed */
	for (const char *word = command->words; *word; word += strcspn(word, " "), word += strspn(word, " "))
		printf("%.*s\taction\n", (int)strcspn(word, " "), word);
	cli_command_run(command, cli_completion, 2, argv);
}

int cli_completion(int argc, char **argv)
{
	static const struct argp argp = {
		.options = option_list,
		.parser = parse_opt,
		.args_doc = "bash|zsh|fish\n--list [COMMAND]",
		.doc = "Print the completion of bfsim's commands and options for a shell.\v"
		       "For one shell: eval \"$(bfsim completion bash)\", source <(bfsim completion zsh), or bfsim completion "
		       "fish | source. An installation has the scripts where each shell looks for them.",
	};
	struct options options = { 0 };

	cli_args_parse(&argp, argc, argv, 0, &options);
	if (!options.list)
		return print_script(options.name);
	if (options.name)
		return list_words(options.name);
	list_commands();
	return CLI_OK;
}
