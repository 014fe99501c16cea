/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/base/args.h - command lines as tables.
 *
 *   struct cli_args: rows of options, parts, words --> argp --> the command's struct of options
 *
 * A row has the kind and the place of its value: a member of the command's struct. A part is a table of several commands, for a
 * struct inside the command's (the session, the checker). Words are the arguments that are no options.
 * An unknown option is a usage error that names the closest one, and so is an option with a value that is given twice: the
 * first value would be lost. -h is --help and -v is --version.
 */
#ifndef SIM_CLI_BASE_ARGS_H
#define SIM_CLI_BASE_ARGS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the flags of a row, beside those of argp: the option may be given again. argp itself uses the bits below. */
#define CLI_OPTION_REPEATS 0x1000

/* The first argument of a command that is asked for its options: prints "--name\tdescription" for each, and exits. */
#define CLI_ARGS_LIST "--complete-options"

enum cli_option_kind {
	CLI_KIND_FLAG,     /* bool: set */
	CLI_KIND_TEXT,     /* const char *, of argv */
	CLI_KIND_NUMBER,   /* of 4 or 8 bytes, from min to max */
	CLI_KIND_CONSTANT, /* int: min */
	CLI_KIND_CHOICE,   /* int: the number of one of the names */
	CLI_KIND_CALL,     /* anything: a function sets it */
	CLI_KIND_SECTION,  /* no option: a heading of --help */
};

/* Set the value at @to. @text is NULL if the option was given without its optional value. Calls argp_error() for a text that is
 * wrong. */
typedef void cli_option_set(void *to, char *text, struct argp_state *state);

struct cli_option;

/* In such a function: the row of its option. */
const struct cli_option *cli_option_of(const struct argp_state *state);

struct cli_option {
	int letter;        /* of the short form; 0 = none */
	const char *name;  /* of the long form */
	const char *value; /* its name in --help; NULL = there is none */
	const char *help;
	enum cli_option_kind kind;
	size_t offset, size; /* the member */
	const char *what;    /* number: "a number"; choice: "format", for messages */
	uint64_t min, max;
	const char *const *names; /* of a choice, or for the function; NULL ends them */
	cli_option_set *set;
	int flags;
	int group; /* of a section: sections are in the order of their groups */
};

/* The offset of a member, which must have the type @of. */
#define CLI_MEMBER(type, member, of) (offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (of *)0))

#define CLI_FLAG(letter_, name_, type, member, help_)                                                           \
	{                                                                                                       \
		.letter = (letter_), .name = (name_), .help = (help_), .offset = CLI_MEMBER(type, member, bool) \
	}
#define CLI_VALUE(kind_, letter_, name_, value_, type, member, help_, ...)                                 \
	{                                                                                                  \
		.letter = (letter_), .name = (name_), .value = (value_), .help = (help_), .kind = (kind_), \
		.offset = offsetof(type, member), .size = sizeof(((type *)0)->member), __VA_ARGS__         \
	}
#define CLI_TEXT(letter_, name_, value_, type, member, help_)                                                    \
	{                                                                                                        \
		.letter = (letter_), .name = (name_), .value = (value_), .help = (help_), .kind = CLI_KIND_TEXT, \
		.offset = CLI_MEMBER(type, member, const char *)                                                 \
	}
#define CLI_CONSTANT(letter, name, type, member, value, help) \
	CLI_VALUE(CLI_KIND_CONSTANT, letter, name, NULL, type, member, help, .min = (value))
#define CLI_NUMBER(letter, name, value, type, member, min_, max_, what_, help)                            \
	CLI_VALUE(CLI_KIND_NUMBER, letter, name, value, type, member, help, .min = (min_), .max = (max_), \
		  .what = (what_))
#define CLI_CHOICE(letter, name, value, type, member, names_, what_, help) \
	CLI_VALUE(CLI_KIND_CHOICE, letter, name, value, type, member, help, .names = (names_), .what = (what_))
/* @set_ gets the member, or the whole struct. CLI_CALL_OPTIONAL(): also without a text. */
#define CLI_CALL(letter, name, value, type, member, set_, help) \
	CLI_VALUE(CLI_KIND_CALL, letter, name, value, type, member, help, .set = (set_))
#define CLI_CALL_OPTIONAL(letter, name, value, type, member, set_, help) \
	CLI_VALUE(CLI_KIND_CALL, letter, name, value, type, member, help, .set = (set_), .flags = OPTION_ARG_OPTIONAL)
#define CLI_CALL_WHOLE(letter_, name_, value_, set_, flags_, help_)                                              \
	{                                                                                                        \
		.letter = (letter_), .name = (name_), .value = (value_), .help = (help_), .kind = CLI_KIND_CALL, \
		.set = (set_), .flags = (flags_)                                                                 \
	}
#define CLI_SECTION(heading, group_)                                           \
	{                                                                      \
		.kind = CLI_KIND_SECTION, .help = (heading), .group = (group_) \
	}

struct cli_args;

/* A table whose struct is a member of the command's. */
struct cli_part {
	const struct cli_args *args;
	size_t offset;
	const char *heading; /* of --help; NULL = among the command's options */
	int group;
};

#define CLI_MAX_PARTS 4
#define CLI_PART(type, member, args)                     \
	{                                                \
		&(args), offsetof(type, member), NULL, 0 \
	}

struct cli_words {
	char **list; /* NULL behind the last one, with the command's own last words */
	size_t count;
};

struct cli_args {
	const struct cli_option *options;         /* a row without name and kind ends them; NULL = none */
	struct cli_part parts[CLI_MAX_PARTS + 1]; /* their checks are called from the last to the first */
	size_t words, max_words;     /* offset of a struct cli_words, and how many there may be at the most */
	const char *no_words;        /* the message without any; NULL = there may be none */
	const char *many_words;      /* the message for too many; NULL = argp's */
	void (*init)(void *options); /* set defaults; NULL = none */
	void (*check)(void *options, struct argp_state *state); /* when all are known; NULL = nothing to check */
	const char *args_doc, *doc;                             /* of struct argp */
	char *(*help_filter)(int key, const char *text, void *input);
};

#define CLI_MANY_WORDS SIZE_MAX

/* Parse the command line into @options, with @flags of argp_parse(). Exits when that fails. */
void cli_args_parse(const struct cli_args *args, int argc, char **argv, unsigned int flags, void *options);

/* The @i-th word, or NULL. */
static inline const char *cli_word(const struct cli_words *words, size_t i)
{
	return i < words->count ? words->list[i] : NULL;
}

/* "; did you mean NAME" for the one of @count names that @text may be a mistyped form of; "" = for none. */
struct cli_hint {
	char text[128];
	const char *name; /* NULL = none */
};
struct cli_hint cli_hint(const char *text, const char *const *names, size_t count);

/* Print that @command has no action @action, and which ones it has: @actions, with blanks between them. Returns CLI_USAGE. */
int cli_args_fail_action(const char *command, const char *action, const char *actions);

#endif
