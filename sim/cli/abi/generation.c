/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation of bfsim's libraries that a program was linked for. */
#include "generation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "releases.h"

/* Returns whether a release from @first to @last has the symbol in the version it was linked with. */
static bool is_in_releases(const struct cli_import *import, enum cli_provider first, enum cli_provider last)
{
	for (enum cli_provider i = first; i <= last; i++) {
		if (cli_symbol_status(import->symbol, import->version, i) == CLI_PRESENT)
			return true;
	}
	return false;
}

enum cli_generation cli_generation_of_imports(const struct cli_imports *imports)
{
	size_t only_old = 0, only_new = 0;

	for (size_t i = 0; i < imports->num; i++) {
		const struct cli_import *import = &imports->list[i];
		bool is_old = is_in_releases(import, CLI_RELEASE_1_5, CLI_RELEASE_2_2);
		bool is_new = is_in_releases(import, CLI_RELEASE_2_5, CLI_LAST_RELEASE) ||
			      is_in_releases(import, CLI_BFSIM_TASK, CLI_BFSIM_TASK);

		only_old += is_old && !is_new;
		only_new += is_new && !is_old;
	}
	return only_old > only_new ? CLI_GENERATION_WORKQ : CLI_GENERATION_TASK;
}

static bool is_executable_file(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static char *find_in_dir(const char *dir, size_t len, const char *command)
{
	char *path;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir, len ? "/" : "", command) < 0)
		return NULL;
	if (is_executable_file(path))
		return path;
	free(path);
	return NULL;
}

/* The path that execvp() finds; NULL: none, or no memory. */
static char *find_program(const char *command)
{
	const char *list = getenv("PATH"), *end;
	char *path = NULL;

	if (strchr(command, '/') || !list)
		return is_executable_file(command) ? strdup(command) : NULL;
	do {
		end = strchrnul(list, ':');
		path = find_in_dir(list, (size_t)(end - list), command);
		list = end + 1;
	} while (!path && *end);
	return path;
}

static bool has_doca_symbols(const struct cli_imports *imports)
{
	for (size_t i = 0; i < imports->num; i++)
		if (cli_is_doca_symbol(imports->list[i].symbol))
			return true;
	return false;
}

/* Returns whether @word is a program that uses DOCA, and its generation. */
static bool detect_from_word(const char *word, enum cli_generation *ret_generation)
{
	struct cli_imports imports;
	char *path = find_program(word);
	bool found = false;

	if (path && cli_imports_read(path, &imports) == 0) {
		found = has_doca_symbols(&imports);
		if (found)
			*ret_generation = cli_generation_of_imports(&imports);
		cli_imports_free(&imports);
	}
	free(path);
	return found;
}

#define BETWEEN_WORDS " \t\n;&|<>()"

/* Copy the next word at *text without its quotes to @word, which has the size of the text. */
static void next_word(const char **text, char *word)
{
	char quote = '\0';

	for (; **text && (quote || !strchr(BETWEEN_WORDS, **text)); (*text)++) {
		if (**text == quote)
			quote = '\0';
		else if (!quote && (**text == '\'' || **text == '"'))
			quote = **text;
		else if (quote != '\'' && **text == '\\' && (*text)[1])
			*word++ = *++*text;
		else
			*word++ = **text;
	}
	*word = '\0';
}

static bool detect_from_text(const char *text, enum cli_generation *ret_generation)
{
	char *word = malloc(strlen(text) + 1);
	bool found = false;

	while (word && !found && *(text += strspn(text, BETWEEN_WORDS))) {
		next_word(&text, word);
		found = detect_from_word(word, ret_generation);
	}
	free(word);
	return found;
}

enum cli_generation cli_generation_of_shell(const char *text)
{
	enum cli_generation generation = CLI_GENERATION_TASK;

	detect_from_text(text, &generation);
	return generation;
}

enum cli_generation cli_generation_of_command(char *const *command)
{
	enum cli_generation generation = CLI_GENERATION_TASK;

	for (; *command; command++)
		if (detect_from_word(*command, &generation) || detect_from_text(*command, &generation))
			break;
	return generation;
}
