/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of libraries without a list of functions. */
#include "unlisted.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const char *skip_prefix(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) == 0 ? text + len : text;
}

const char *cli_unlisted_library(const char *name)
{
	const char *rest = skip_prefix(skip_prefix(name, "lib"), "doca_");

	for (const struct cli_unlisted *row = cli_unlisted; row->word; row++) {
		size_t len = strlen(row->word);

		if (strncmp(rest, row->word, len) == 0 && !isalnum((unsigned char)rest[len]))
			return row->library;
	}
	return NULL;
}
