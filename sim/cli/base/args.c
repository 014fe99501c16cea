/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines: tables of options as argp's, and what argp does not know of. */
#include "args.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "doc_paths.h"
#include "number.h"
#include "pcie_model/did_you_mean.h"
#include "sim/base/printable.h"

#define MAX_OPTIONS 64
#define FIRST_KEY   0x100 /* of options without a letter */

/* An option of the command, of one of its parts, or of argp. */
struct slot {
	const struct cli_option *row;
	char *options; /* the struct that the row's value is in */
	bool was_given;
};

struct parser {
	const struct cli_args *args;
	char *options;
	struct slot slots[MAX_OPTIONS];
	size_t count;
	struct argp_option list[MAX_OPTIONS + 1]; /* for argp: the options, and headings */
	size_t list_count;
	const struct cli_option *current; /* whose value is set */
};

/* ---- the table for argp ---- */

static bool is_last(const struct cli_option *row)
{
	return !row->name && row->kind != CLI_KIND_SECTION;
}

static void add_to_list(struct parser *parser, const struct argp_option *option)
{
	assert(parser->list_count < MAX_OPTIONS);
	parser->list[parser->list_count++] = *option;
}

/* Rows and headings of a table, in its group or in those of its sections. */
static void add_rows(struct parser *parser, const struct cli_option *row, char *options, int group)
{
	for (; row && !is_last(row); row++) {
		if (row->kind == CLI_KIND_SECTION) {
			group = row->group;
			if (row->help)
				add_to_list(parser, &(struct argp_option){ .doc = row->help, .group = group });
			continue;
		}
		add_to_list(parser, &(struct argp_option){ row->name,
							   row->letter ? row->letter : FIRST_KEY + (int)parser->count,
							   row->value, row->flags, row->help, group });
		parser->slots[parser->count++] = (struct slot){ row, options, false };
	}
}

static void add_table(struct parser *parser, const struct cli_args *args, char *options)
{
	if (args->init)
		args->init(options);
	add_rows(parser, args->options, options, 0);
	for (const struct cli_part *part = args->parts; part->args; part++) {
		if (part->heading)
			add_to_list(parser, &(struct argp_option){ .doc = part->heading, .group = part->group });
		if (part->args->init)
			part->args->init(options + part->offset);
		add_rows(parser, part->args->options, options + part->offset, part->group);
	}
}

/* ---- the words of the command line, before argp reads them ---- */

static const char *slot_name(const void *arg, size_t i)
{
	const struct parser *parser = arg;

	return parser->slots[i].row->name;
}

static struct slot *find_short(struct parser *parser, char letter)
{
	for (size_t i = 0; i < parser->count; i++)
		if (parser->slots[i].row->letter == letter)
			return &parser->slots[i];
	return NULL;
}

/* The option of that name, or the first one that begins with it: argp reports those that are several. */
static struct slot *find_long(struct parser *parser, const char *name, size_t len)
{
	struct slot *found = NULL;

	for (size_t i = 0; i < parser->count; i++) {
		struct slot *slot = &parser->slots[i];

		if (strncmp(slot->row->name, name, len) != 0)
			continue;
		if (strlen(slot->row->name) == len)
			return slot;
		found = found ? found : slot;
	}
	return found;
}

static bool needs_value(const struct slot *slot)
{
	return slot->row->value && !(slot->row->flags & OPTION_ARG_OPTIONAL);
}

static void fail_unknown(const struct parser *parser, const char *program, char *word)
{
	const char *name = word + strspn(word, "-");
	const char *closest = pcie_did_you_mean(name, strcspn(name, "="), slot_name, parser, parser->count);

	sim_make_printable(word);
	fprintf(stderr, "%s: there is no option %s", program, word);
	if (closest)
		fprintf(stderr, "; did you mean --%s? %s --help lists them\n", closest, program);
	else
		fprintf(stderr, "; %s --help lists them\n", program);
	exit(CLI_USAGE);
}

/* An option with a value has one: a second would silently replace the first. */
static void check_repetition(struct slot *slot, const char *program)
{
	if (slot->was_given && slot->row->value && !(slot->row->flags & CLI_OPTION_REPEATS)) {
		fprintf(stderr, "%s: --%s is given twice; give it once\n", program, slot->row->name);
		exit(CLI_USAGE);
	}
	slot->was_given = true;
}

/* Returns whether the next word is the value of this one's option. */
static bool check_long(struct parser *parser, const char *program, char *word)
{
	size_t len = strcspn(word + 2, "=");
	struct slot *slot = find_long(parser, word + 2, len);

	if (!slot)
		fail_unknown(parser, program, word);
	check_repetition(slot, program);
	return needs_value(slot) && !word[2 + len];
}

/* The same for "-abc", which may be several options. */
static bool check_short(struct parser *parser, const char *program, char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		struct slot *slot = find_short(parser, *letter);

		if (!slot)
			fail_unknown(parser, program, word);
		check_repetition(slot, program);
		if (slot->row->value)
			return needs_value(slot) && !letter[1];
	}
	return false;
}

/* Other tools' spellings of options that each command has. */
static void replace_synonym(struct parser *parser, char **word)
{
	static char help[] = "--help", version[] = "--version";

	if (strcmp(*word, "-h") == 0 && !find_short(parser, 'h'))
		*word = help;
	else if (strcmp(*word, "-v") == 0 && !find_short(parser, 'v'))
		*word = version;
}

static void check_words(struct parser *parser, int argc, char **argv, unsigned int flags)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool skips_next = false;

		replace_synonym(parser, &argv[i]);
		if (strncmp(argv[i], "--", 2) == 0)
			skips_next = check_long(parser, argv[0], argv[i]);
		else if (argv[i][0] == '-' && argv[i][1])
			skips_next = check_short(parser, argv[0], argv[i]);
		else if (flags & ARGP_IN_ORDER)
			return; /* what follows is the command line of another program */
		i += skips_next;
	}
}

/* For completion in a shell. */
static void list_options(const struct parser *parser)
{
	for (size_t i = 0; i < parser->count; i++) {
		const struct cli_option *row = parser->slots[i].row;

		if (!(row->flags & OPTION_HIDDEN))
			printf("--%s%s\t%s\n", row->name, needs_value(&parser->slots[i]) ? "=" : "", row->help);
	}
	exit(CLI_OK);
}

/* ---- values ---- */

static const char *name_of_list(const void *arg, size_t i)
{
	const char *const *names = arg;

	return names[i];
}

struct cli_hint cli_hint(const char *text, const char *const *names, size_t count)
{
	struct cli_hint hint = { .name = pcie_did_you_mean(text, strlen(text), name_of_list, names, count) };

	if (hint.name)
		snprintf(hint.text, sizeof(hint.text), "; did you mean %s", hint.name);
	return hint;
}

static void set_number(const struct cli_option *row, void *to, const char *text, struct argp_state *state)
{
	uint64_t number = 0;

	if (cli_number_parse(text, 10, row->min, row->max, &number, NULL) < 0)
		argp_error(state, "--%s %s: not %s from %" PRIu64 " to %" PRIu64, row->name, text, row->what, row->min,
			   row->max);
	if (row->size == sizeof(uint64_t))
		*(uint64_t *)to = number;
	else
		*(uint32_t *)to = (uint32_t)number;
}

struct names {
	char text[256];
};

/* "table, json or openmetrics" */
static struct names join_names(const char *const *names, size_t count)
{
	struct names list = { "" };
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof(list.text); i++)
		used += (size_t)snprintf(list.text + used, sizeof(list.text) - used, "%s%s",
					 i == 0        ? "" :
					 i + 1 < count ? ", " :
							 " or ",
					 names[i]);
	return list;
}

static void set_choice(const struct cli_option *row, int *to, const char *text, struct argp_state *state)
{
	size_t count = 0;

	for (; row->names[count]; count++) {
		if (strcmp(row->names[count], text) != 0)
			continue;
		*to = (int)count;
		return;
	}
	argp_error(state, "--%s %s: there is no such %s%s; give %s", row->name, text, row->what,
		   cli_hint(text, row->names, count).text, join_names(row->names, count).text);
}

const struct cli_option *cli_option_of(const struct argp_state *state)
{
	const struct parser *parser = state->input;

	return parser->current;
}

static void set_value(const struct slot *slot, char *text, struct argp_state *state)
{
	void *to = slot->options + slot->row->offset;

	switch (slot->row->kind) {
	case CLI_KIND_FLAG:
		*(bool *)to = true;
		break;
	case CLI_KIND_TEXT:
		*(const char **)to = text;
		break;
	case CLI_KIND_NUMBER:
		set_number(slot->row, to, text, state);
		break;
	case CLI_KIND_CONSTANT:
		*(int *)to = (int)slot->row->min;
		break;
	case CLI_KIND_CHOICE:
		set_choice(slot->row, to, text, state);
		break;
	case CLI_KIND_CALL:
		slot->row->set(to, text, state);
		break;
	case CLI_KIND_SECTION:
		break;
	}
}

static void take_words(const struct parser *parser, struct argp_state *state)
{
	struct cli_words words = { state->argv + state->next, (size_t)(state->argc - state->next) };

	if (words.count > parser->args->max_words)
		argp_error(state, "%s", parser->args->many_words ? parser->args->many_words : "Too many arguments");
	*(struct cli_words *)(parser->options + parser->args->words) = words;
}

static void check_options(const struct parser *parser, struct argp_state *state)
{
	const struct cli_part *part = parser->args->parts;

	if (parser->args->check)
		parser->args->check(parser->options, state);
	while (part->args)
		part++;
	while (part-- > parser->args->parts)
		if (part->args->check)
			part->args->check(parser->options + part->offset, state);
}

static error_t parse_opt(int key, char *arg, struct argp_state *state)
{
	struct parser *parser = state->input;

	switch (key) {
	case ARGP_KEY_ARGS:
		take_words(parser, state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		if (parser->args->no_words)
			argp_error(state, "%s", parser->args->no_words);
		return 0;
	case ARGP_KEY_END:
		check_options(parser, state);
		return 0;
	default:
		for (size_t i = 0; i < parser->count; i++) {
			int letter = parser->slots[i].row->letter;

			if (key != (letter ? letter : FIRST_KEY + (int)i))
				continue;
			parser->current = parser->slots[i].row;
			set_value(&parser->slots[i], arg, state);
			return 0;
		}
		return ARGP_ERR_UNKNOWN;
	}
}

/* argp frees a text that is not its own. */
static char *name_installed_documents(int key, const char *text, void *input)
{
	(void)key;
	(void)input;
	return text && strstr(text, "doc/") ? cli_doc_paths_expand(text) : (char *)(uintptr_t)text;
}

void cli_args_parse(const struct cli_args *args, int argc, char **argv, unsigned int flags, void *options)
{
	static const struct cli_option standard[] = {
		{ .name = "help", .letter = '?', .help = "Explain the command" },
		{ .name = "usage", .help = "Print the command line's form", .flags = OPTION_HIDDEN },
		{ .name = "version", .letter = 'V', .help = "Print the version" },
		{ 0 },
	};
	struct parser parser = { .args = args, .options = options };
	size_t list_count;
	struct argp argp = { .parser = parse_opt,
			     .args_doc = args->args_doc,
			     .doc = args->doc,
			     /* that of bfsim adds the list of commands */
			     .help_filter = args->help_filter ? args->help_filter : name_installed_documents };

	add_table(&parser, args, options);
	list_count = parser.list_count;
	add_rows(&parser, standard, NULL, 0);
	parser.list[list_count] = (struct argp_option){ 0 }; /* argp has them already */
	if (list_count > 0)
		argp.options = parser.list; /* glibc's help leaks memory for a list without an option */
	if (argc > 1 && strcmp(argv[1], CLI_ARGS_LIST) == 0)
		list_options(&parser);
	check_words(&parser, argc, argv, flags);
	argp_parse(&argp, argc, argv, flags, NULL, &parser);
}

int cli_args_fail_action(const char *command, const char *action, const char *actions)
{
	char words[128], *list[16], *rest = words;
	struct cli_hint hint;
	size_t count = 0;

	snprintf(words, sizeof(words), "%s", actions);
	while (count < sizeof(list) / sizeof(list[0]) && (list[count] = strsep(&rest, " ")))
		count++;
	hint = cli_hint(action, (const char *const *)list, count);
	cli_fail("%s %s: unknown action%s%s %s", command, action, hint.text, hint.name ? "? Give" : "; give",
		 join_names((const char *const *)list, count).text);
	return CLI_USAGE;
}
