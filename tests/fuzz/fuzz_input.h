/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/fuzz/fuzz_input.h - a fuzz target's promises, and input that it takes byte by byte. */
#ifndef TESTS_FUZZ_FUZZ_INPUT_H
#define TESTS_FUZZ_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Unlike assert(), not compiled out. */
static inline void promise(bool kept)
{
	if (!kept)
		abort();
}

struct input {
	const uint8_t *bytes;
	size_t left;
};

/* The next byte; 0 at the end. */
static inline uint8_t byte_of(struct input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->bytes++;
}

/* Write the next @len bytes, or as many as there are, into the @room bytes at @to. */
static inline void take_bytes(struct input *in, void *to, size_t room, size_t len)
{
	if (len > in->left)
		len = in->left;
	if (len > room)
		len = room;
	memcpy(to, in->bytes, len);
	in->bytes += len;
	in->left -= len;
}

#endif
