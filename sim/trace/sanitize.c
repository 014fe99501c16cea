/* SPDX-License-Identifier: BSD-3-Clause */
/* Validation of UTF-8. */
#include "sanitize.h"

#include <stdbool.h>
#include <stdint.h>

static bool is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The length of the character at @at; 0 = invalid. The checks stop at the text's zero byte. */
static size_t utf8_len(const uint8_t *at)
{
	if (at[0] < 0x80)
		return at[0] >= 0x20 && at[0] != 0x7f;
	if (at[0] < 0xc2 || at[0] > 0xf4 || !is_continuation(at[1]))
		return 0;
	if (at[0] < 0xe0)
		return 2;
	if (!is_continuation(at[2]) || (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
		return 0;
	if (at[0] < 0xf0)
		return 3;
	if (!is_continuation(at[3]) || (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return 4;
}

void sim_trace_sanitize_text(char *text, size_t size)
{
	text[size - 1] = '\0';
	while (*text) {
		size_t len = utf8_len((const uint8_t *)text);

		if (len == 0)
			*text = '?';
		text += len ? len : 1;
	}
}
