/* SPDX-License-Identifier: BSD-3-Clause */
/* The generation of bfsim's libraries that a program was linked for. */
#include "generation.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_words.h"
#include "releases.h"

/* What starts a program is short; a longer script would take time, as each word is looked up. */
#define MAX_SCRIPT_BYTES 8192
#define MAX_DEPTH        4

/* Returns whether a release from @first to @last has the symbol in the version it was linked with. */
static bool is_in_releases(const struct cli_import *import, enum cli_provider first, enum cli_provider last)
{
	for (enum cli_provider i = first; i <= last; i++) {
		if (cli_symbol_status(import->symbol, import->version, i) == CLI_PRESENT)
			return true;
	}
	return false;
}

static bool uses_library(const struct cli_imports *imports, const char *library)
{
	for (size_t i = 0; i < imports->num; i++) {
		const struct cli_symbol *symbol = cli_symbol_find(imports->list[i].symbol);

		if (symbol && strcmp(symbol->library, library) == 0)
			return true;
	}
	return false;
}

/* Returns whether the program is of 2.5 or 2.6 and uses what later releases have as another interface. */
static bool is_of_task_2_5(const struct cli_imports *imports)
{
	size_t only_2_5 = 0, only_later = 0;

	if (!uses_library(imports, "libdoca_rdma"))
		return false;
	for (size_t i = 0; i < imports->num; i++) {
		bool is_2_5 = is_in_releases(&imports->list[i], CLI_RELEASE_2_5, CLI_RELEASE_2_6);
		bool is_later = is_in_releases(&imports->list[i], CLI_RELEASE_2_10, CLI_LAST_RELEASE);

		only_2_5 += is_2_5 && !is_later;
		only_later += is_later && !is_2_5;
	}
	return imports->is_of_task_2_5 || only_2_5 > only_later;
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
	if (only_old > only_new)
		return CLI_GENERATION_WORKQ;
	return is_of_task_2_5(imports) ? CLI_GENERATION_TASK_2_5 : CLI_GENERATION_TASK;
}

static bool has_doca_symbols(const struct cli_imports *imports)
{
	for (size_t i = 0; i < imports->num; i++)
		if (cli_is_doca_symbol(imports->list[i].symbol))
			return true;
	return false;
}

/* A search for the program. A copy of it goes into what another shell does: its directory is its own. */
struct search {
	char dir[PATH_MAX]; /* of the last "cd"; "" = the current one */
	unsigned int depth; /* of scripts in scripts, and of commands for shells */
};

static bool search_text(struct search *search, const char *text, enum cli_generation *ret_generation);

/* The file that a word names: below the directory of the last "cd", or as execvp() finds it. NULL: none. */
static char *find_file(const struct search *search, const char *word)
{
	char *path = NULL, *found = NULL;

	if (search->dir[0] && word[0] != '/' && strchr(word, '/') && asprintf(&path, "%s/%s", search->dir, word) > 0)
		found = cli_program_find(path);
	free(path);
	return found ? found : cli_program_find(word);
}

/* The text of a script; NULL: it is none. The caller frees it. */
static char *read_script(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = fd < 0 ? NULL : malloc(MAX_SCRIPT_BYTES + 1);
	ssize_t len = text ? read(fd, text, MAX_SCRIPT_BYTES) : -1;

	if (fd >= 0)
		close(fd);
	if (len < 2 || memcmp(text, "#!", 2) != 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

static bool search_script(const struct search *search, const char *path, enum cli_generation *ret_generation)
{
	struct search inner = *search;
	char *text = ++inner.depth > MAX_DEPTH ? NULL : read_script(path);
	bool found = text && search_text(&inner, text, ret_generation);

	free(text);
	return found;
}

/* Returns whether @word is a program that uses DOCA, or a script that starts one, and the program's generation. */
static bool search_word(const struct search *search, const char *word, enum cli_generation *ret_generation)
{
	char *path = find_file(search, word);
	struct cli_imports imports;
	bool found = false;

	if (path && cli_imports_read(path, &imports) == 0) {
		found = has_doca_symbols(&imports);
		if (found)
			*ret_generation = cli_generation_of_imports(&imports);
		cli_imports_free(&imports);
	} else if (path) {
		found = search_script(search, path, ret_generation);
	}
	free(path);
	return found;
}

static void change_dir(struct search *search, const char *word)
{
	size_t len = word[0] == '/' ? 0 : strlen(search->dir);

	snprintf(search->dir + len, sizeof(search->dir) - len, "%s%s", len ? "/" : "", word);
}

/* The argument of a shell's -c. */
static bool search_command(const struct search *search, const char *text, enum cli_generation *ret_generation)
{
	struct search inner = *search;

	return ++inner.depth <= MAX_DEPTH && search_text(&inner, text, ret_generation);
}

static bool search_text(struct search *search, const char *text, enum cli_generation *ret_generation)
{
	enum { ANY, DIR_OF_CD, COMMAND_OF_SHELL } next = ANY;
	char *word = malloc(strlen(text) + 1);
	bool found = false;

	while (word && !found && *(text += strspn(text, CLI_BETWEEN_WORDS))) {
		cli_next_word(&text, word);
		if (next == DIR_OF_CD)
			change_dir(search, word);
		else
			found = search_word(search, word, ret_generation) ||
				(next == COMMAND_OF_SHELL && search_command(search, word, ret_generation));
		next = strcmp(word, "cd") == 0 ? DIR_OF_CD : strcmp(word, "-c") == 0 ? COMMAND_OF_SHELL : ANY;
	}
	free(word);
	return found;
}

enum cli_generation cli_generation_of_shell(const char *text)
{
	enum cli_generation generation = CLI_GENERATION_TASK;
	struct search search = { .depth = 0 };

	search_text(&search, text, &generation);
	return generation;
}

enum cli_generation cli_generation_of_command(char *const *command)
{
	enum cli_generation generation = CLI_GENERATION_TASK;
	struct search search = { .depth = 0 };

	for (; *command; command++)
		if (search_word(&search, *command, &generation) || search_command(&search, *command, &generation))
			break;
	return generation;
}
