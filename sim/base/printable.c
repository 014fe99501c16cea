/* SPDX-License-Identifier: BSD-3-Clause */
/* Validation of UTF-8, and replacement of what a terminal would obey. */
#include "printable.h"

#include <string.h>

static bool is_continuation(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The length of the valid character at @at; 0 = there is none. The checks stop at the text's zero byte. */
static size_t utf8_len(const uint8_t *at)
{
	if (at[0] < 0x80)
		return at[0] != 0;
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

size_t sim_utf8_read(const char *text, uint32_t *ret_code)
{
	static const uint8_t first_bits[] = { [1] = 0x7f, [2] = 0x1f, [3] = 0x0f, [4] = 0x07 };
	const uint8_t *at = (const uint8_t *)text;
	size_t len = utf8_len(at);

	if (len == 0)
		return 0;
	*ret_code = at[0] & first_bits[len];
	for (size_t i = 1; i < len; i++)
		*ret_code = *ret_code << 6 | (at[i] & 0x3f);
	return len;
}

bool sim_is_printable_code(uint32_t code)
{
	bool is_control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
	bool is_separator_or_direction = code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
					 (code >= 0x2066 && code <= 0x2069);

	return !is_control && !is_separator_or_direction;
}

void sim_make_printable(char *text)
{
	while (*text) {
		uint32_t code = 0;
		size_t len = sim_utf8_read(text, &code);
		size_t step = len ? len : 1;

		if (!sim_is_printable_code(code))
			memset(text, '?', step);
		text += step;
	}
}

void sim_make_printable_array(char *text, size_t size)
{
	text[size - 1] = '\0';
	sim_make_printable(text);
}
