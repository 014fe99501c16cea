/* SPDX-License-Identifier: BSD-3-Clause */
#include "sanitize.h"

#include <stdbool.h>
#include <stdint.h>

static bool is_more(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Bytes of the character that begins at @at; 0 = it is none. A zero byte ends the text, so nothing behind is read. */
static size_t len_of(const uint8_t *at)
{
	if (at[0] < 0x80)
		return at[0] >= 0x20 && at[0] != 0x7f;
	if (at[0] < 0xc2 || at[0] > 0xf4 || !is_more(at[1]))
		return 0;
	if (at[0] < 0xe0)
		return 2;
	if (!is_more(at[2]) || (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f))
		return 0;
	if (at[0] < 0xf0)
		return 3;
	if (!is_more(at[3]) || (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return 4;
}

void sim_trace_text_clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	while (*text) {
		size_t len = len_of((const uint8_t *)text);

		if (len == 0)
			*text = '?';
		text += len ? len : 1;
	}
}
