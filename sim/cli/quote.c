/* SPDX-License-Identifier: BSD-3-Clause */
#include "quote.h"

#include <stdio.h>
#include <stdlib.h>

/* Between single quotes only the single quote itself means something. */
char *cli_quote(const char *text)
{
	char *quoted = NULL;
	size_t len;
	FILE *out = open_memstream(&quoted, &len);

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
