/* SPDX-License-Identifier: BSD-3-Clause */
#include "generation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "releases.h"

/* Whether a release from @first to @last has it as it was linked. */
static bool has(const struct cli_import *import, enum cli_provider first, enum cli_provider last)
{
	for (enum cli_provider i = first; i <= last; i++) {
		if (cli_supply(import->symbol, import->version, i) == CLI_PRESENT)
			return true;
	}
	return false;
}

enum cli_generation cli_generation_of_imports(const struct cli_imports *imports)
{
	size_t only_old = 0, only_new = 0;

	for (size_t i = 0; i < imports->num; i++) {
		const struct cli_import *import = &imports->list[i];
		bool is_old = has(import, CLI_RELEASE_1_5, CLI_RELEASE_2_2);
		bool is_new = has(import, CLI_RELEASE_2_5, CLI_RELEASE_3_0) ||
			      has(import, CLI_BFSIM_TASK, CLI_BFSIM_TASK);

		only_old += is_old && !is_new;
		only_new += is_new && !is_old;
	}
	return only_old > only_new ? CLI_GENERATION_WORKQ : CLI_GENERATION_TASK;
}

/* ---- of a command ---- */

static char *in_dir(const char *dir, size_t len, const char *command)
{
	char *path;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir, len ? "/" : "", command) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* Where execvp() finds it; NULL: nowhere, or no memory. */
static char *find_program(const char *command)
{
	const char *list = getenv("PATH"), *end;
	char *path = NULL;

	if (strchr(command, '/') || !list)
		return strdup(command);
	do {
		end = strchrnul(list, ':');
		path = in_dir(list, (size_t)(end - list), command);
		list = end + 1;
	} while (!path && *end);
	return path;
}

enum cli_generation cli_generation_of_command(const char *command)
{
	enum cli_generation generation = CLI_GENERATION_TASK;
	struct cli_imports imports;
	char *path = find_program(command);

	if (path && cli_imports_read(path, &imports) == 0) {
		generation = cli_generation_of_imports(&imports);
		cli_imports_free(&imports);
	}
	free(path);
	return generation;
}

/* The first word of a shell command that assigns no variable; "" if there is none. */
static char *first_word(const char *text)
{
	for (;;) {
		size_t len;

		text += strspn(text, " \t\n");
		len = strcspn(text, " \t\n;&|<>()");
		if (len == 0 || !memchr(text, '=', len))
			return strndup(text, len);
		text += len;
	}
}

enum cli_generation cli_generation_of_shell(const char *text)
{
	char *word = first_word(text);
	enum cli_generation generation = word ? cli_generation_of_command(word) : CLI_GENERATION_TASK;

	free(word);
	return generation;
}
