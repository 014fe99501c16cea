/* SPDX-License-Identifier: BSD-3-Clause */
/* Going through the environment. */
#include "env_check.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pcie_model/did_you_mean.h"
#include "printable.h"

#define PREFIX     "BFSIM_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

/* @words: its values, with blanks between them; NULL = any text, or a number up to @max if that is not 0. */
static const struct variable {
	const char *name;
	const char *words;
	uint64_t max;
} variables[] = {
	{ "BFSIM_BFSIMD", NULL, 0 },
	{ "BFSIM_CHECK", NULL, 0 }, /* this and what belongs to it: said by the checker */
	{ "BFSIM_CHECK_FAIL", NULL, 0 },
	{ "BFSIM_CHECK_HITS", NULL, 0 },
	{ "BFSIM_CHECK_MUTES", NULL, 0 },
	{ "BFSIM_CHECK_REPORT", NULL, 0 },
	{ "BFSIM_CHECK_SEED", NULL, 0 },
	{ "BFSIM_CHECK_STALL_TIMEOUT", NULL, 0 },
	{ "BFSIM_CHECK_SYNC", "doca any", 0 },
	{ "BFSIM_CLOCK", NULL, 0 }, /* said at the attach, as BFSIM_TRACE is */
	{ "BFSIM_CLOCK_PATIENCE", NULL, 0 },
	{ "BFSIM_COMCH_EVENTS", "on off", 0 },
	{ "BFSIM_COMCH_WAIT", NULL, INT32_MAX },
	{ "BFSIM_GATEWAY", NULL, 0 },
	{ "BFSIM_LAUNCH", NULL, 0 },
	{ "BFSIM_LOG_LEVEL", NULL, 0 }, /* sim_log_check_level() */
	{ SIM_ENV_NAMED, NULL, 0 },
	{ "BFSIM_OUTPUT", NULL, 0 },
	{ "BFSIM_PAGE_SIZE", NULL, 0 },
	{ "BFSIM_PATH", "in-place mapped procmem cma shm tcp", 0 },
	{ "BFSIM_SESSION", NULL, 0 },
	{ "BFSIM_SHUFFLE", NULL, UINT64_MAX },
	{ "BFSIM_SIDE", NULL, 0 },
	{ "BFSIM_TEST_FOLDER", NULL, 0 },
	{ "BFSIM_TEST_SEED", NULL, 0 },
	{ "BFSIM_TOPOLOGY", NULL, 0 },
	{ "BFSIM_TRACE", NULL, 0 },
};

#define NUM_VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* Whether @words has the word of @len bytes. */
static bool has_word(const char *words, const char *word, size_t len)
{
	for (const char *at = words; at && *at; at += strcspn(at, " "), at += strspn(at, " "))
		if (strcspn(at, " ") == len && memcmp(at, word, len) == 0)
			return true;
	return false;
}

bool sim_env_was_named(const char *variable)
{
	return has_word(getenv(SIM_ENV_NAMED), variable, strlen(variable));
}

static bool is_number(const char *text, uint64_t max)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 0);
	return isdigit((unsigned char)text[0]) && !*end && errno == 0 && number <= max;
}

static const char *name_at(const void *arg, size_t i)
{
	(void)arg;
	return variables[i].name + PREFIX_LEN;
}

/* Write what is wrong with "NAME=VALUE"; "" = nothing. */
static void describe(const char *entry, size_t len, char *line, size_t size)
{
	const char *value = entry + len + 1, *closest;

	line[0] = '\0';
	for (size_t i = 0; i < NUM_VARIABLES; i++) {
		const struct variable *known = &variables[i];

		if (strlen(known->name) != len || memcmp(known->name, entry, len) != 0)
			continue;
		if (known->words && *value && !has_word(known->words, value, strlen(value)))
			snprintf(line, size, "%s: not a value; give one of: %s", entry, known->words);
		else if (known->max && *value && !is_number(value, known->max))
			snprintf(line, size, "%s: not a number from 0 to %llu", entry, (unsigned long long)known->max);
		return;
	}
	closest = pcie_did_you_mean(entry + PREFIX_LEN, len - PREFIX_LEN, name_at, NULL, NUM_VARIABLES);
	if (closest)
		snprintf(line, size, "%.*s has no effect; did you mean " PREFIX "%s?", (int)len, entry, closest);
}

void sim_env_check(void (*say)(const char *line), char *ret_names, unsigned int size)
{
	const char *named = getenv(SIM_ENV_NAMED);
	unsigned int used = 0;

	for (char **entry = environ; entry && *entry; entry++) {
		size_t len = strcspn(*entry, "=");
		char line[512];

		if (strncmp(*entry, PREFIX, PREFIX_LEN) != 0 || !(*entry)[len] || has_word(named, *entry, len))
			continue;
		describe(*entry, len, line, sizeof(line));
		if (!line[0])
			continue;
		sim_make_printable(line);
		say(line);
		if (ret_names && used < size)
			used += (unsigned int)snprintf(ret_names + used, size - used, "%s%.*s", used ? " " : "",
						       (int)len, *entry);
	}
	if (ret_names && used == 0)
		ret_names[0] = '\0';
}
