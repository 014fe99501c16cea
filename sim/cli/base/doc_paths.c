/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the names of documents in a text. */
#include "doc_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "install.h"

#define FOLDER       "doc/"
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz_0123456789-"

/* The length of a document's name, doc/NAME.md, at the beginning of @text; 0 = there is none. */
static size_t name_len(const char *text)
{
	size_t len = strlen(FOLDER), letters;

	if (strncmp(text, FOLDER, len) != 0)
		return 0;
	letters = strspn(text + len, NAME_LETTERS);
	len += letters;
	return letters > 0 && strncmp(text + len, ".md", 3) == 0 ? len + 3 : 0;
}

/* Print the path of the document called @name, or the name if it is not installed. */
static void put_document(FILE *out, const char *docs, const char *name, size_t len)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%.*s", docs, (int)len, name) < 0)
		path = NULL;
	if (path && access(path, R_OK) == 0)
		fputs(path, out);
	else
		fwrite(name, 1, len, out);
	free(path);
}

char *cli_doc_paths_expand(const char *text)
{
	char *docs = cli_doc_dir(), *expanded = NULL;
	const char *begin = text;
	size_t size, len;
	FILE *out = docs ? open_memstream(&expanded, &size) : NULL;

	for (; out && *text; text += len ? len : 1) {
		len = text == begin || !strchr("/" NAME_LETTERS, text[-1]) ? name_len(text) : 0;
		if (len > 0)
			put_document(out, docs, text, len);
		else
			fputc(*text, out);
	}
	free(docs);
	if (!out || fclose(out) == 0)
		return expanded;
	free(expanded);
	return NULL;
}
