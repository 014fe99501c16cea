/* SPDX-License-Identifier: BSD-3-Clause */
/* bfsim new: write an application to start from: both sides, how they are built, a scenario, and a job for CI. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "sim/cli/base/args.h"
#include "sim/cli/base/cli.h"

/* tests/apps/comch_hello and share/new/comch, as strings */
extern const char cli_new_host[], cli_new_dpu[], cli_new_scenario[], cli_new_makefile[], cli_new_job[];

#define TEMPLATE_NAME "comch_hello" /* what they are called there */
#define MAX_NAME      64

static const struct {
	const char *path; /* in the new directory; after the directories that it needs */
	const char *text; /* NULL = a directory */
} files[] = {
	{ "host.c", cli_new_host },
	{ "dpu.c", cli_new_dpu },
	{ "Makefile", cli_new_makefile },
	{ "test.yaml", cli_new_scenario },
	{ ".github", NULL },
	{ ".github/workflows", NULL },
	{ ".github/workflows/bfsim.yml", cli_new_job },
};

struct options {
	struct cli_words words; /* the kind, and the name */
};

static bool is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return text[0] && text[0] != '-' && strlen(text) <= MAX_NAME && text[strspn(text, letters)] == '\0';
}

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;
	const char *kind = cli_word(&options->words, 0), *name = cli_word(&options->words, 1);

	if (!kind || strcmp(kind, "comch") != 0)
		argp_error(state, "a new what? There is comch: bfsim new comch NAME");
	if (!name || !is_name(name))
		argp_error(state,
			   "new comch: give a name of letters, digits, \"_\" and \"-\" (at most %d), for the "
			   "directory and the server",
			   MAX_NAME);
}

/* @text with @name for the template's. Returns whether all was written. */
static bool write_text(FILE *file, const char *text, const char *name)
{
	const char *found;

	for (; (found = strstr(text, TEMPLATE_NAME)); text = found + strlen(TEMPLATE_NAME))
		fprintf(file, "%.*s%s", (int)(found - text), text, name);
	fputs(text, file);
	return !ferror(file);
}

static int write_file(const char *path, const char *text, const char *name)
{
	FILE *file = fopen(path, "wxe");
	bool is_written = file && write_text(file, text, name);

	if (file && fclose(file) != 0)
		is_written = false;
	return is_written ? CLI_OK : cli_fail("new: cannot write %s: %s", path, strerror(errno));
}

static int write_entry(const char *dir, const char *path, const char *text)
{
	char *whole;
	int status;

	if (asprintf(&whole, "%s/%s", dir, path) < 0)
		return cli_fail("out of memory");
	if (text)
		status = write_file(whole, text, dir);
	else
		status = mkdir(whole, 0777) == 0 ? CLI_OK : cli_fail("new: cannot make %s: %s", whole, strerror(errno));
	free(whole);
	return status;
}

int cli_new(int argc, char **argv)
{
	static const struct cli_args args = {
		.words = offsetof(struct options, words),
		.max_words = 2,
		.many_words = "give one kind and one name",
		.check = check_options,
		.args_doc = "comch NAME",
		.doc = "Write a host and a DPU program that talk over Comch, in a new directory NAME, with a Makefile, a "
		       "scenario with one fault, and a job for GitHub.\v"
		       "make builds both, make test runs the scenario.",
	};
	struct options options = { 0 };
	const char *name;

	cli_args_parse(&args, argc, argv, 0, &options);
	name = options.words.list[1];
	if (mkdir(name, 0777) < 0)
		return cli_fail("new: cannot make the directory %s: %s", name, strerror(errno));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int status = write_entry(name, files[i].path, files[i].text);

		if (status != CLI_OK)
			return status;
	}
	printf("%s: host.c, dpu.c, Makefile, test.yaml, .github/workflows/bfsim.yml\n", name);
	printf("  cd %s && make test\n", name);
	return CLI_OK;
}
