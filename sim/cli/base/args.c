/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: unknown options, and what argp does not know of. */
#include "args.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "doc_paths.h"
#include "pcie_model/did_you_mean.h"
#include "sim/base/printable.h"

#define MAX_OPTIONS 64

/* The options of a command: its own, those of its children, and those that argp adds. */
struct option_table {
	const struct argp_option *options[MAX_OPTIONS];
	bool was_given[MAX_OPTIONS];
	size_t count;
};

static bool is_last(const struct argp_option *option)
{
	return !option->name && !option->key && !option->doc && !option->group;
}

static void add_options(struct option_table *table, const struct argp_option *option)
{
	for (; option && !is_last(option); option++)
		if (table->count < MAX_OPTIONS && option->name)
			table->options[table->count++] = option;
}

static void collect_options(struct option_table *table, const struct argp *argp)
{
	add_options(table, argp->options);
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		collect_options(table, child->argp);
}

static const char *option_name(const void *arg, size_t i)
{
	const struct option_table *table = arg;

	return table->options[i]->name;
}

static const struct argp_option *find_short(const struct option_table *table, char letter)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->options[i]->key == letter)
			return table->options[i];
	return NULL;
}

/* The option of that name, or the first one that begins with it: argp reports those that are several. */
static const struct argp_option *find_long(const struct option_table *table, const char *name, size_t len)
{
	const struct argp_option *found = NULL;

	for (size_t i = 0; i < table->count; i++) {
		const struct argp_option *option = table->options[i];

		if (strncmp(option->name, name, len) != 0)
			continue;
		if (strlen(option->name) == len)
			return option;
		found = found ? found : option;
	}
	return found;
}

static bool needs_value(const struct argp_option *option)
{
	return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

static void fail_unknown(const struct option_table *table, const char *program, char *word)
{
	const char *name = word + strspn(word, "-");
	const char *closest = pcie_did_you_mean(name, strcspn(name, "="), option_name, table, table->count);

	sim_make_printable(word);
	fprintf(stderr, "%s: there is no option %s", program, word);
	if (closest)
		fprintf(stderr, "; did you mean --%s? %s --help lists them\n", closest, program);
	else
		fprintf(stderr, "; %s --help lists them\n", program);
	exit(CLI_USAGE);
}

/* An option with a value has one: a second would silently replace the first. */
static void check_repetition(struct option_table *table, const char *program, const struct argp_option *option)
{
	size_t i = 0;

	while (table->options[i] != option)
		i++;
	if (table->was_given[i] && option->arg && !(option->flags & CLI_OPTION_REPEATS)) {
		fprintf(stderr, "%s: --%s is given twice; give it once\n", program, option->name);
		exit(CLI_USAGE);
	}
	table->was_given[i] = true;
}

/* Returns whether the next word is the value of this one's option. */
static bool check_long(struct option_table *table, const char *program, char *word)
{
	size_t len = strcspn(word + 2, "=");
	const struct argp_option *option = find_long(table, word + 2, len);

	if (!option)
		fail_unknown(table, program, word);
	check_repetition(table, program, option);
	return needs_value(option) && !word[2 + len];
}

/* The same for "-abc", which may be several options. */
static bool check_short(struct option_table *table, const char *program, char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct argp_option *option = find_short(table, *letter);

		if (!option)
			fail_unknown(table, program, word);
		check_repetition(table, program, option);
		if (option->arg)
			return needs_value(option) && !letter[1];
	}
	return false;
}

/* Other tools' spellings of options that each command has. */
static void replace_synonym(const struct option_table *table, char **word)
{
	static char help[] = "--help", version[] = "--version";

	if (strcmp(*word, "-h") == 0 && !find_short(table, 'h'))
		*word = help;
	else if (strcmp(*word, "-v") == 0 && !find_short(table, 'v'))
		*word = version;
}

static void check_words(struct option_table *table, int argc, char **argv, unsigned int flags)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool skips_next = false;

		replace_synonym(table, &argv[i]);
		if (strncmp(argv[i], "--", 2) == 0)
			skips_next = check_long(table, argv[0], argv[i]);
		else if (argv[i][0] == '-' && argv[i][1])
			skips_next = check_short(table, argv[0], argv[i]);
		else if (flags & ARGP_IN_ORDER)
			return; /* what follows is the command line of another program */
		i += skips_next;
	}
}

/* For completion in a shell. */
static void list_options(const struct option_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct argp_option *option = table->options[i];

		if (!(option->flags & OPTION_HIDDEN))
			printf("--%s%s\t%s\n", option->name, needs_value(option) ? "=" : "",
			       option->doc ? option->doc : "");
	}
	exit(CLI_OK);
}

/* argp frees a text that is not its own. */
static char *name_installed_documents(int key, const char *text, void *input)
{
	(void)key;
	(void)input;
	return text && strstr(text, "doc/") ? cli_doc_paths_expand(text) : (char *)(uintptr_t)text;
}

void cli_args_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	static const struct argp_option standard[] = {
		{ "help", '?', NULL, 0, "Explain the command", 0 },
		{ "usage", 1, NULL, OPTION_HIDDEN, "Print the command line's form", 0 },
		{ "version", 'V', NULL, 0, "Print the version", 0 },
		{ 0 },
	};
	struct option_table table = { .count = 0 };
	struct argp with_filter = *argp;

	collect_options(&table, argp);
	add_options(&table, standard);
	if (argc > 1 && strcmp(argv[1], CLI_ARGS_LIST) == 0)
		list_options(&table);
	check_words(&table, argc, argv, flags);
	if (!with_filter.help_filter) /* that of bfsim adds the list of commands */
		with_filter.help_filter = name_installed_documents;
	argp_parse(&with_filter, argc, argv, flags, NULL, input);
}

static const char *name_of_list(const void *arg, size_t i)
{
	const char *const *names = arg;

	return names[i];
}

const char *cli_closest_name(const char *text, const char *const *names, size_t count)
{
	return pcie_did_you_mean(text, strlen(text), name_of_list, names, count);
}

int cli_args_fail_action(const char *command, const char *action, const char *const *actions, size_t count)
{
	const char *closest = cli_closest_name(action, actions, count);
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 i == 0        ? "" :
					 i + 1 < count ? ", " :
							 " or ",
					 actions[i]);
	if (closest)
		cli_fail("%s %s: unknown action; did you mean %s? Give %s", command, action, closest, list);
	else
		cli_fail("%s %s: unknown action; give %s", command, action, list);
	return CLI_USAGE;
}
