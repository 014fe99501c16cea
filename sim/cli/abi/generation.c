/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation of bfsim's libraries that a program was linked for. */
#include "generation.h"

#include <stdlib.h>
#include <string.h>

#include "command_words.h"
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
	char *path = cli_program_find(word);
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

static bool detect_from_text(const char *text, enum cli_generation *ret_generation)
{
	char *word = malloc(strlen(text) + 1);
	bool found = false;

	while (word && !found && *(text += strspn(text, CLI_BETWEEN_WORDS))) {
		cli_next_word(&text, word);
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
