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

/* tests/apps/comch_hello, tests/apps/rdma_hello and share/new, as strings */
extern const char cli_new_comch_host[], cli_new_comch_dpu[], cli_new_comch_scenario[];
extern const char cli_new_rdma_host[], cli_new_rdma_dpu[], cli_new_rdma_scenario[];
extern const char cli_new_makefile[], cli_new_job[];

#define MAX_NAME 64

struct entry {
	const char *path; /* in the new directory; after the directories that it needs */
	const char *text; /* NULL = a directory */
};

#define NUM_ENTRIES 7
#define ENTRIES(kind)                                                                                 \
	{                                                                                             \
		{ "host.c", cli_new_##kind##_host }, { "dpu.c", cli_new_##kind##_dpu },               \
			{ "Makefile", cli_new_makefile }, { "test.yaml", cli_new_##kind##_scenario }, \
			{ ".github", NULL }, { ".github/workflows", NULL },                           \
			{ ".github/workflows/bfsim.yml", cli_new_job },                               \
	}

static const struct kind {
	const char *name;
	const char *template_name; /* what its programs are called */
	struct entry entries[NUM_ENTRIES];
} kinds[] = {
	{ "comch", "comch_hello", ENTRIES(comch) },
	{ "rdma", "rdma_hello", ENTRIES(rdma) },
};

struct options {
	struct cli_words words; /* the kind, and the name */
};

static bool is_name(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return text[0] && text[0] != '-' && strlen(text) <= MAX_NAME && text[strspn(text, letters)] == '\0';
}

/* Returns NULL if there is no such kind. */
static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static void check_options(void *all, struct argp_state *state)
{
	const struct options *options = all;
	const char *kind = cli_word(&options->words, 0), *name = cli_word(&options->words, 1);

	if (!find_kind(kind))
		argp_error(state, "a new what? There are comch and rdma: bfsim new comch NAME");
	if (!name || !is_name(name))
		argp_error(state,
			   "new %s: give a name of letters, digits, \"_\" and \"-\" (at most %d), for the "
			   "directory and the programs",
			   kind, MAX_NAME);
}

/* Write @text with @name for the template's and the kind's name for "@KIND@". Returns whether all was written. */
static bool write_text(FILE *file, const struct kind *kind, const char *text, const char *name)
{
	const char *const words[][2] = { { "@NAME@", name }, { "@KIND@", kind->name }, { kind->template_name, name } };

	while (*text) {
		size_t i = 0;

		while (i < 3 && strncmp(text, words[i][0], strlen(words[i][0])) != 0)
			i++;
		if (i < 3)
			fputs(words[i][1], file);
		else
			fputc(*text, file);
		text += i < 3 ? strlen(words[i][0]) : 1;
	}
	return !ferror(file);
}

static int write_file(const char *path, const struct kind *kind, const char *text, const char *name)
{
	FILE *file = fopen(path, "wxe");
	bool is_written = file && write_text(file, kind, text, name);

	if (file && fclose(file) != 0)
		is_written = false;
	return is_written ? CLI_OK : cli_fail("new: cannot write %s: %s", path, strerror(errno));
}

static int write_entry(const char *dir, const struct kind *kind, const struct entry *entry)
{
	char *whole;
	int status;

	if (asprintf(&whole, "%s/%s", dir, entry->path) < 0)
		return cli_fail("out of memory");
	if (entry->text)
		status = write_file(whole, kind, entry->text, dir);
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
		.args_doc = "comch|rdma NAME",
		.doc = "Write a host and a DPU program that talk over Comch or RDMA, in a new directory NAME, with a "
		       "Makefile, a scenario with one fault, and a job for GitHub.\v"
		       "make builds both, make test runs the scenario.",
	};
	struct options options = { 0 };
	const struct kind *kind;
	const char *name;

	cli_args_parse(&args, argc, argv, 0, &options);
	kind = find_kind(options.words.list[0]);
	name = options.words.list[1];
	if (mkdir(name, 0777) < 0)
		return cli_fail("new: cannot make the directory %s: %s", name, strerror(errno));
	for (size_t i = 0; i < NUM_ENTRIES; i++) {
		int status = write_entry(name, kind, &kind->entries[i]);

		if (status != CLI_OK)
			return status;
	}
	printf("%s: host.c, dpu.c, Makefile, test.yaml, .github/workflows/bfsim.yml\n", name);
	printf("  cd %s && make test\n", name);
	return CLI_OK;
}
