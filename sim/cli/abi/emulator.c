/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the programs of a command that this machine does not execute. */
#include "emulator.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_words.h"
#include "machine.h"
#include "sim/base/shell_quote.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/install.h"

/* Where a word stands in its command. */
struct position {
	bool is_program; /* the word may name the program */
	bool is_wrapped; /* a word such as "timeout" came before: its options are no programs */
};

static const struct position begin = { .is_program = true };

/* Words that run the rest of the command; and words of sh(1) that a command follows. */
static bool is_wrapper(const char *word)
{
	static const char *const wrappers[] = { "command", "env",   "exec",    "nice", "nohup", "setsid",
						"stdbuf",  "time",  "timeout", "if",   "then",  "else",
						"do",      "while", "until",   "!",    "{" };

	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (strcmp(word, wrappers[i]) == 0)
			return true;
	return false;
}

static bool is_assignment(const char *word)
{
	const char *end = word;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	return end > word && *end == '=';
}

/* The path of qemu for @arch, which the caller frees; NULL: not found, or no memory. */
static char *find_emulator(const char *arch)
{
	static const char *const names[] = { "qemu-%s-static", "qemu-%s" };
	char *path = NULL;

	for (size_t i = 0; i < 2 && !path; i++) {
		char name[64];

		snprintf(name, sizeof(name), names[i], arch);
		path = cli_program_find(name);
	}
	return path;
}

static bool is_in_tree(const char *tree, const char *path)
{
	char *whole = NULL;
	bool found = asprintf(&whole, "%s%s", tree, path) > 0 && access(whole, F_OK) == 0;

	free(whole);
	return found;
}

/* The loader and the C library are on this machine, or in a tree that the emulator looks into first: the user's, or that
 * of a cross-compiler. */
static bool find_loader(const struct cli_machine *machine)
{
	const char *tree = getenv("QEMU_LD_PREFIX");
	char cross_tree[64];

	if (!machine->interpreter[0] || is_in_tree(tree ? tree : "", machine->interpreter) ||
	    is_in_tree("", machine->interpreter))
		return true;
	snprintf(cross_tree, sizeof(cross_tree), "/usr/%s-linux-gnu", cli_machine_arch(machine->machine));
	return !tree && is_in_tree(cross_tree, machine->interpreter) && setenv("QEMU_LD_PREFIX", cross_tree, 0) == 0;
}

/* Print what the program at @path lacks, in one line. */
static void say_what_is_missing(const char *path, const struct cli_machine *machine, const char *emulator)
{
	const char *arch = cli_machine_arch(machine->machine), *debian = cli_machine_debian_arch(machine->machine);
	char *prefix;

	if (!emulator) {
		cli_fail(
			"%s is an %s program, and there is no qemu-%s-static or qemu-%s in PATH: install qemu-user-static",
			path, arch, arch, arch);
		return;
	}
	if (!find_loader(machine)) {
		cli_fail(
			"%s is an %s program, and its loader %s is missing: install libc6:%s (dpkg --add-architecture %s), "
			"or name the tree that has it in QEMU_LD_PREFIX",
			path, arch, machine->interpreter, debian, debian);
		return;
	}
	prefix = cli_prefix_without(arch);
	if (prefix)
		cli_fail(
			"%s is an %s program, and bfsim's libraries for %s are not installed in %s: doc/arm.md says how",
			path, arch, arch, prefix);
	free(prefix);
}

/* @word with its first variable expanded ("$DIR/app", "${DIR}/app"), as far as the environment has it; a copy, NULL without
 * memory. */
static char *expand(const char *word)
{
	const char *dollar = strchr(word, '$'), *from, *end;
	char *name, *path = NULL;
	const char *value;

	if (!dollar)
		return strdup(word);
	from = dollar + 1 + (dollar[1] == '{');
	for (end = from; isalnum((unsigned char)*end) || *end == '_'; end++)
		;
	name = strndup(from, (size_t)(end - from));
	value = name ? getenv(name) : NULL;
	end += dollar[1] == '{' && *end == '}';
	if (name && asprintf(&path, "%.*s%s%s", (int)(dollar - word), word, value ? value : "", end) < 0)
		path = NULL;
	free(name);
	return path;
}

static char *find_program(const char *word)
{
	char *expanded = expand(word), *path = expanded ? cli_program_find(expanded) : NULL;

	free(expanded);
	return path;
}

/* The emulator for the program @word, if @at lets it be one; moves *at on. NULL: it needs none, or there is none. */
static char *emulator_for(const char *word, struct position *at)
{
	struct cli_machine machine;
	char *path, *emulator = NULL;

	if (!at->is_program || is_assignment(word))
		return NULL;
	if (is_wrapper(word)) {
		at->is_wrapped = true;
		return NULL;
	}
	path = find_program(word);
	if (path && cli_machine_of_file(path, &machine) && machine.machine != CLI_OWN_MACHINE &&
	    cli_machine_arch(machine.machine)) {
		emulator = find_emulator(cli_machine_arch(machine.machine));
		say_what_is_missing(path, &machine, emulator);
	}
	at->is_program = !path && at->is_wrapped;
	free(path);
	return emulator;
}

/* ---- a command for a shell ---- */

/* Skip what separates words. Returns whether the next word is a file of a redirection. */
static bool skip_separators(const char **text, struct position *at)
{
	size_t len = strspn(*text, CLI_BETWEEN_WORDS);
	bool is_redirected = false, ends_command = false;

	for (size_t i = 0; i < len; i++) {
		is_redirected |= strchr("<>", (*text)[i]) != NULL;
		ends_command |= strchr("\n;&|()", (*text)[i]) != NULL;
	}
	*text += len;
	if (ends_command && !is_redirected)
		*at = begin;
	return is_redirected;
}

static void print_word(FILE *to, const char *emulator, const char *from, const char *end)
{
	char *quoted = emulator ? sim_shell_quote(emulator) : NULL;

	if (quoted)
		fprintf(to, "%s ", quoted);
	fwrite(from, 1, (size_t)(end - from), to);
	free(quoted);
}

static void print_shell(FILE *to, const char *text, char *word)
{
	struct position at = begin;

	while (*text) {
		const char *from = text;
		bool is_redirected = skip_separators(&text, &at);
		const char *word_from = text;
		char *emulator;

		fwrite(from, 1, (size_t)(text - from), to);
		cli_next_word(&text, word);
		emulator = is_redirected || !word[0] ? NULL : emulator_for(word, &at);
		print_word(to, emulator, word_from, text);
		free(emulator);
	}
}

char *cli_emulate_shell(const char *text)
{
	char *word = malloc(strlen(text) + 1), *result = NULL;
	size_t size;
	FILE *to = word ? open_memstream(&result, &size) : NULL;

	if (to) {
		print_shell(to, text, word);
		if (fclose(to) != 0) {
			free(result);
			result = NULL;
		}
	}
	free(word);
	return result;
}

/* ---- words ---- */

char **cli_emulate_command(char *const *command)
{
	struct position at = begin;
	size_t num = 0, used = 0;
	char **words;

	while (command[num])
		num++;
	words = calloc(2 * num + 1, sizeof(*words));
	for (size_t i = 0; words && i < num; i++) {
		char *emulator = emulator_for(command[i], &at); /* stays: the process becomes the program */

		if (emulator)
			words[used++] = emulator;
		words[used++] = command[i];
	}
	return words;
}
