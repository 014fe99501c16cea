/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of words and texts. */
#include "words.h"

#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *memory, size_t bytes)
{
	memory = realloc(memory, bytes);
	if (!memory)
		errx(1, "no memory");
	return memory;
}

void words_add(struct words *words, const char *word)
{
	words->list = grow(words->list, (words->count + 2) * sizeof(*words->list));
	words->list[words->count] = strdup(word);
	if (!words->list[words->count++])
		errx(1, "no memory");
	words->list[words->count] = NULL;
}

void words_addf(struct words *words, const char *format, ...)
{
	va_list args;
	char *word;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		errx(1, "no memory");
	va_end(args);
	words_add(words, word);
	free(word);
}

void words_add_all(struct words *words, const struct words *more)
{
	for (size_t i = 0; i < more->count; i++)
		words_add(words, more->list[i]);
}

void words_split(struct words *words, const char *text, bool has_commas)
{
	struct text word = { 0 };
	char quote = 0;
	bool is_in_word = false;

	for (const char *at = text;; at++) {
		bool is_end =
			!*at || (!quote && (*at == ' ' || *at == '\t' || *at == '\n' || (has_commas && *at == ',')));

		if (is_end && is_in_word)
			words_add(words, word.bytes ? word.bytes : "");
		if (is_end) {
			word.len = 0;
			if (word.bytes)
				word.bytes[0] = 0;
			is_in_word = false;
		}
		if (!*at)
			break;
		if (is_end)
			continue;
		is_in_word = true;
		if (quote ? *at == quote : *at == '"' || *at == '\'')
			quote = quote ? 0 : *at;
		else
			text_add(&word, at, 1);
	}
	free(word.bytes);
}

void words_clear(struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->list[i]);
	free(words->list);
	*words = (struct words){ 0 };
}

void text_add(struct text *text, const char *bytes, size_t len)
{
	if (text->len + len >= text->size) {
		text->size = 2 * (text->len + len + 1);
		text->bytes = grow(text->bytes, text->size);
	}
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = 0;
}

void text_addf(struct text *text, const char *format, ...)
{
	va_list args;
	char *more;
	int len;

	va_start(args, format);
	len = vasprintf(&more, format, args);
	va_end(args);
	if (len < 0)
		errx(1, "no memory");
	text_add(text, more, (size_t)len);
	free(more);
}

bool text_read_file(struct text *text, const char *path)
{
	FILE *file = fopen(path, "re");
	char bytes[16384];
	size_t len;
	bool is_read;

	if (!file)
		return false;
	text_add(text, "", 0);
	while ((len = fread(bytes, 1, sizeof(bytes), file)) > 0)
		text_add(text, bytes, len);
	is_read = !ferror(file);
	fclose(file);
	return is_read;
}

bool text_write_file(const struct text *text, const char *path)
{
	FILE *file = fopen(path, "we");
	bool is_written;

	if (!file)
		return false;
	is_written = fwrite(text->bytes, 1, text->len, file) == text->len;
	return fclose(file) == 0 && is_written;
}
