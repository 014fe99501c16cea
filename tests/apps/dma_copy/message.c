/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the messages between the two sides. */
#include "message.h"

#include <string.h>

static const uint8_t magic[4] = { 'D', 'M', 'A', 'C' };

/* Where to write or read next. Reading stops at the end: beyond it, all is zero and short is set. */
struct cursor {
	uint8_t *out;
	const uint8_t *in;
	size_t left;
	bool is_short;
};

/* --- Writing --- */

static void put_bytes(struct cursor *cursor, const void *bytes, size_t len)
{
	memcpy(cursor->out, bytes, len);
	cursor->out += len;
}

static void put(struct cursor *cursor, uint64_t value, unsigned int width)
{
	while (width-- > 0)
		*cursor->out++ = (uint8_t)(value >> (8 * width));
}

static void put_window(struct cursor *cursor, const struct message_window *window)
{
	put(cursor, window->addr, 8);
	put(cursor, window->slot_bytes, 4);
	put(cursor, window->num_slots, 4);
	put(cursor, window->descriptor_bytes, 4);
	put_bytes(cursor, window->descriptor, window->descriptor_bytes);
}

static void put_body(struct cursor *cursor, const struct message *message)
{
	switch (message->type) {
	case MESSAGE_HELLO:
		put(cursor, message->hello.has_file, 1);
		put(cursor, message->hello.mode, 4);
		put(cursor, message->hello.size_bytes, 8);
		break;
	case MESSAGE_WINDOW:
		put_window(cursor, &message->window);
		break;
	case MESSAGE_FULL:
	case MESSAGE_EMPTY:
		put(cursor, message->piece.index, 8);
		put(cursor, message->piece.len_bytes, 4);
		break;
	case MESSAGE_END:
	case MESSAGE_DONE:
		put_bytes(cursor, message->digest, DIGEST_BYTES);
		break;
	case MESSAGE_BYE:
		break;
	case MESSAGE_ABORT:
		put_bytes(cursor, message->text, strlen(message->text));
		break;
	}
}

size_t message_pack(const struct message *message, uint8_t ret_bytes[MESSAGE_MAX_BYTES])
{
	struct cursor body = { .out = ret_bytes + MESSAGE_HEADER_BYTES }, header = { .out = ret_bytes };
	size_t len;

	put_body(&body, message);
	len = (size_t)(body.out - ret_bytes);
	put_bytes(&header, magic, sizeof(magic));
	put(&header, MESSAGE_VERSION, 2);
	put(&header, message->type, 2);
	put(&header, len, 4);
	return len;
}

/* --- Reading --- */

static void take_bytes(struct cursor *cursor, void *ret_bytes, size_t len)
{
	if (len > cursor->left) {
		cursor->is_short = true;
		memset(ret_bytes, 0, len);
		return;
	}
	memcpy(ret_bytes, cursor->in, len);
	cursor->in += len;
	cursor->left -= len;
}

static uint64_t take(struct cursor *cursor, unsigned int width)
{
	uint8_t bytes[8];
	uint64_t value = 0;

	take_bytes(cursor, bytes, width);
	for (unsigned int i = 0; i < width; i++)
		value = value << 8 | bytes[i];
	return value;
}

static const char *take_hello(struct cursor *cursor, struct message_hello *hello)
{
	uint64_t has_file = take(cursor, 1);

	hello->has_file = has_file == 1;
	hello->mode = (uint32_t)take(cursor, 4);
	hello->size_bytes = take(cursor, 8);
	if (has_file > 1)
		return "neither says that there is a file nor that there is none";
	if (hello->mode > 0777)
		return "has permission bits that there are not";
	if (hello->size_bytes > INT64_MAX)
		return "tells of a file larger than any";
	return NULL;
}

static const char *take_window(struct cursor *cursor, struct message_window *window)
{
	window->addr = take(cursor, 8);
	window->slot_bytes = (uint32_t)take(cursor, 4);
	window->num_slots = (uint32_t)take(cursor, 4);
	window->descriptor_bytes = (uint32_t)take(cursor, 4);
	if (window->descriptor_bytes > sizeof(window->descriptor))
		return "has a descriptor that is longer than a message";
	take_bytes(cursor, window->descriptor, window->descriptor_bytes);
	return NULL;
}

static const char *take_text(struct cursor *cursor, char text[MESSAGE_MAX_TEXT + 1])
{
	size_t len = cursor->left;

	if (len > MESSAGE_MAX_TEXT)
		return "has a text that is too long";
	take_bytes(cursor, text, len);
	text[len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	}
	return NULL;
}

static const char *take_body(struct cursor *cursor, struct message *message)
{
	switch (message->type) {
	case MESSAGE_HELLO:
		return take_hello(cursor, &message->hello);
	case MESSAGE_WINDOW:
		return take_window(cursor, &message->window);
	case MESSAGE_FULL:
	case MESSAGE_EMPTY:
		message->piece.index = take(cursor, 8);
		message->piece.len_bytes = (uint32_t)take(cursor, 4);
		return NULL;
	case MESSAGE_END:
	case MESSAGE_DONE:
		take_bytes(cursor, message->digest, DIGEST_BYTES);
		return NULL;
	case MESSAGE_BYE:
		return NULL;
	case MESSAGE_ABORT:
		return take_text(cursor, message->text);
	}
	return "is of a type that there is not";
}

static const char *take_header(struct cursor *cursor, size_t len, struct message *message)
{
	uint8_t begin[sizeof(magic)];
	uint64_t version;

	take_bytes(cursor, begin, sizeof(begin));
	version = take(cursor, 2);
	message->type = (enum message_type)take(cursor, 2);
	if (memcmp(begin, magic, sizeof(magic)) != 0)
		return "is none of DMA Copy's";
	if (version != MESSAGE_VERSION)
		return "is of another version of DMA Copy: run the same on both sides";
	if (take(cursor, 4) != len || cursor->is_short)
		return "has lost its end, or got another's";
	return NULL;
}

const char *message_unpack(const uint8_t *bytes, size_t len, struct message *ret_message)
{
	struct cursor cursor = { .in = bytes, .left = len };
	const char *wrong = take_header(&cursor, len, ret_message);

	if (!wrong)
		wrong = take_body(&cursor, ret_message);
	if (!wrong && (cursor.is_short || cursor.left > 0))
		wrong = "has a length that its type doesn't have";
	return wrong;
}

const char *message_name(enum message_type type)
{
	static const char *const names[] = {
		[MESSAGE_HELLO] = "HELLO", [MESSAGE_WINDOW] = "WINDOW", [MESSAGE_FULL] = "FULL",
		[MESSAGE_EMPTY] = "EMPTY", [MESSAGE_END] = "END",       [MESSAGE_DONE] = "DONE",
		[MESSAGE_BYE] = "BYE",     [MESSAGE_ABORT] = "ABORT",
	};

	return type >= MESSAGE_HELLO && type <= MESSAGE_ABORT ? names[type] : "unknown";
}
