/* SPDX-License-Identifier: BSD-3-Clause */
/* Quoting for a POSIX shell. */
#include "shell_quote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-"

/* Between single quotes only the single quote is special. */
char *sim_shell_quote(const char *text)
{
	char *quoted = NULL;
	size_t len;
	FILE *out;

	if (*text && strspn(text, PLAIN) == strlen(text))
		return strdup(text);
	out = open_memstream(&quoted, &len);
	if (!out)
		return NULL;
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	}
	fputc('\'', out);
	if (fclose(out) != 0) {
		free(quoted);
		return NULL;
	}
	return quoted;
}
