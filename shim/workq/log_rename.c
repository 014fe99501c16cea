/* SPDX-License-Identifier: BSD-3-Clause */
/* The SDK's records in the work-queue libraries: function names become those of that generation.
 *
 *   core_mmap_start: ...                      doca_mmap_start: ...
 *   core_pe_request_notification: ...         doca_workq_event_handle_arm: ...
 *   ... call doca_buf_dec_refcount() first    ... call doca_buf_refcount_rm() first
 *
 * The generated renamed_symbols.h lists functions with another public name. Any other core_... at the
 * beginning of a line becomes doca_... .
 */
#include "log_rename.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PREFIX_LEN 5 /* doca_, core_ */

static const char *const public_names[][2] = {
#define PAIR(name, public_name) { name, public_name },
	SHIM_WORKQ_RENAMED_SYMBOLS(PAIR)
};

struct line_buf {
	size_t len;
	char bytes[SHIM_LOG_LINE_MAX];
};

static void append(struct line_buf *text, const char *bytes, size_t len)
{
	size_t space = sizeof(text->bytes) - 1 - text->len;

	if (len > space)
		len = space;
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
}

static size_t word_len(const char *at)
{
	size_t len = 0;

	while (isalnum((unsigned char)at[len]) || at[len] == '_')
		len++;
	return len;
}

static bool has_prefix(const char *word, size_t len, const char *prefix)
{
	return len > PREFIX_LEN && memcmp(word, prefix, PREFIX_LEN) == 0;
}

/* The public name of a function; NULL if @word names no listed function. */
static const char *find_public_name(const char *word, size_t len)
{
	if (!has_prefix(word, len, "doca_") && !has_prefix(word, len, "core_"))
		return NULL;
	for (size_t i = 0; i < sizeof(public_names) / sizeof(public_names[0]); i++) {
		const char *name = public_names[i][0];

		if (strlen(name) == len && memcmp(name + PREFIX_LEN, word + PREFIX_LEN, len - PREFIX_LEN) == 0)
			return public_names[i][1];
	}
	return NULL;
}

static void append_word(struct line_buf *text, const char *word, size_t len)
{
	const char *name = find_public_name(word, len);

	if (name) {
		append(text, name, strlen(name));
	} else if (text->len == 0 && has_prefix(word, len, "core_") && word[len] == ':') {
		append(text, "doca_", PREFIX_LEN);
		append(text, word + PREFIX_LEN, len - PREFIX_LEN);
	} else {
		append(text, word, len);
	}
}

void shim_log_stream_put_renamed(struct shim_log_stream *stream, const struct shim_log_location *place, uint32_t level,
				 const char *line)
{
	struct line_buf text = { 0 };

	for (const char *at = line; *at;) {
		size_t len = word_len(at);

		if (len > 0)
			append_word(&text, at, len);
		else
			append(&text, at, 1);
		at += len ? len : 1;
	}
	shim_log_stream_put(stream, place, level, "%s", text.bytes);
}
