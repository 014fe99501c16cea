/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim completion: the completion of bfsim's commands and options, for shells. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"

/* share/completion, as strings */
extern const char cli_completion_bash[], cli_completion_zsh[], cli_completion_fish[];

struct options {
	struct cli_words words; /* the shell, or the command to list */
	bool list;
};

static const struct cli_option option_list[] = {
	CLI_FLAG('l', "list", struct options, list,
		 "List the commands, or COMMAND's actions and options, for the script"),
	{ 0 },
};

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;

	if (options->words.count == 0 && !options->list)
		argp_error(state, "for which shell? Give bash, zsh or fish");
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
	static const struct cli_args args = {
		.options = option_list,
		.words = offsetof(struct options, words),
		.max_words = 1,
		.many_words = "give one name",
		.check = check_options,
		.args_doc = "bash|zsh|fish\n--list [COMMAND]",
		.doc = "Print the completion of bfsim's commands and options for a shell.\v"
		       "For one shell: eval \"$(bfsim completion bash)\", source <(bfsim completion zsh), or bfsim completion "
		       "fish | source. An installation has the scripts where each shell looks for them.",
	};
	struct options options = { 0 };

	cli_args_parse(&args, argc, argv, 0, &options);
	if (!options.list)
		return print_script(options.words.list[0]);
	if (options.words.count > 0)
		return list_words(options.words.list[0]);
	list_commands();
	return CLI_OK;
}
