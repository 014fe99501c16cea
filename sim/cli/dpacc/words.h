/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/cli/dpacc/words.h - lists of words, of which dpacc makes command lines, and texts that grow. A lack of memory ends the
 * program. */
#ifndef SIM_CLI_DPACC_WORDS_H
#define SIM_CLI_DPACC_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words {
	char **list; /* NULL behind the last one */
	size_t count;
};

/* Add a copy. */
void words_add(struct words *words, const char *word);
void words_addf(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
void words_add_all(struct words *words, const struct words *more);

/* Add the parts of @text between blanks, and between commas if @has_commas. Quotes keep blanks in a part. */
void words_split(struct words *words, const char *text, bool has_commas);

/* Free the words, and empty the list. */
void words_clear(struct words *words);

struct text {
	char *bytes; /* ends with a zero */
	size_t len, size;
};

void text_add(struct text *text, const char *bytes, size_t len);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns false, with errno. */
bool text_read_file(struct text *text, const char *path);
bool text_write_file(const struct text *text, const char *path);

#endif
