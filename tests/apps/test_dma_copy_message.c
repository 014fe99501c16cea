/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of DMA Copy on the wire: decoding returns what was encoded, the bytes do not depend on the machine,
 * and invalid messages are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dma_copy/message.h"

/* One of each type, with every number different. */
static const struct message hello = { .type = MESSAGE_HELLO,
				      .hello = { .has_file = true, .mode = 0640, .size_bytes = 0x0102030405060708 } };
static const struct message window = { .type = MESSAGE_WINDOW,
				       .window = { .addr = 0x7f0000001000,
						   .slot_bytes = 4096,
						   .num_slots = 3,
						   .descriptor_bytes = 5,
						   .descriptor = { 1, 2, 3, 4, 5 } } };
static const struct message full = { .type = MESSAGE_FULL, .piece = { .index = UINT64_MAX, .len_bytes = UINT32_MAX } };
static const struct message empty = { .type = MESSAGE_EMPTY, .piece = { .index = 1, .len_bytes = 2 } };
static const struct message end = { .type = MESSAGE_END, .digest = { 1, 2, [31] = 32 } };
static const struct message done = { .type = MESSAGE_DONE, .digest = { 3, 4, [31] = 5 } };
static const struct message bye = { .type = MESSAGE_BYE };
static const struct message give_up = { .type = MESSAGE_ABORT, .text = "no space left" };
static const struct message *const all[] = { &hello, &window, &full, &empty, &end, &done, &bye, &give_up };

#define NUM_ALL (sizeof(all) / sizeof(all[0]))

static void test_every_message_survives_the_wire(void **state)
{
	for (size_t i = 0; i < NUM_ALL; i++) {
		uint8_t bytes[MESSAGE_MAX_BYTES], again[MESSAGE_MAX_BYTES];
		size_t len = message_pack(all[i], bytes);
		struct message message;

		assert_null(message_unpack(bytes, len, &message));
		assert_int_equal(message.type, all[i]->type);
		assert_int_equal(message_pack(&message, again), len);
		assert_memory_equal(again, bytes, len);
	}
}

/* Header of 12 bytes, then 1 + 4 + 8. */
static void test_numbers_are_big_endian_and_without_gaps(void **state)
{
	static const uint8_t wanted[] = { 'D', 'M', 'A', 'C',  0, 1, 0, 1, 0, 0, 0, 25, 1,
					  0,   0,   1,   0xa0, 1, 2, 3, 4, 5, 6, 7, 8 };
	uint8_t bytes[MESSAGE_MAX_BYTES];

	assert_int_equal(message_pack(&hello, bytes), sizeof(wanted));
	assert_memory_equal(bytes, wanted, sizeof(wanted));
}

static void test_largest_descriptor_fills_a_message(void **state)
{
	struct message message = { .type = MESSAGE_WINDOW }, read;
	uint8_t bytes[MESSAGE_MAX_BYTES];

	message.window.descriptor_bytes = MESSAGE_MAX_DESCRIPTOR_BYTES;
	memset(message.window.descriptor, 0x5a, MESSAGE_MAX_DESCRIPTOR_BYTES);
	assert_int_equal(message_pack(&message, bytes), MESSAGE_MAX_BYTES);
	assert_null(message_unpack(bytes, MESSAGE_MAX_BYTES, &read));
	assert_memory_equal(read.window.descriptor, message.window.descriptor, MESSAGE_MAX_DESCRIPTOR_BYTES);
}

/* Cut anywhere, and with the header's length as it was or as it is now. */
static void test_cut_message_is_refused(void **state)
{
	for (size_t i = 0; i < NUM_ALL; i++) {
		uint8_t bytes[MESSAGE_MAX_BYTES];
		size_t len = message_pack(all[i], bytes);
		struct message message;

		for (size_t cut = 0; cut < len; cut++) {
			assert_non_null(message_unpack(bytes, cut, &message));
			if (cut < MESSAGE_HEADER_BYTES || all[i]->type == MESSAGE_ABORT)
				continue; /* a text may be shorter */
			bytes[11] = (uint8_t)cut;
			assert_non_null(message_unpack(bytes, cut, &message));
			bytes[11] = (uint8_t)len;
		}
	}
}

static void test_message_with_something_behind_it_is_refused(void **state)
{
	for (size_t i = 0; i < NUM_ALL; i++) {
		uint8_t bytes[MESSAGE_MAX_BYTES] = { 0 };
		size_t len = message_pack(all[i], bytes);
		struct message message;

		assert_non_null(message_unpack(bytes, len + 1, &message));
		bytes[11]++;
		if (all[i]->type != MESSAGE_ABORT)
			assert_non_null(message_unpack(bytes, len + 1, &message));
	}
}

/* One byte of a valid message is changed; the error contains @want. */
static void expect_refusal(const struct message *good, size_t offset, uint8_t value, const char *want)
{
	uint8_t bytes[MESSAGE_MAX_BYTES];
	size_t len = message_pack(good, bytes);
	struct message message;
	const char *wrong;

	bytes[offset] = value;
	wrong = message_unpack(bytes, len, &message);
	assert_non_null(wrong);
	assert_non_null(strstr(wrong, want));
}

static void test_foreign_messages_are_recognised(void **state)
{
	expect_refusal(&bye, 0, 'd', "none of DMA Copy's");
	expect_refusal(&bye, 5, MESSAGE_VERSION + 1, "another version");
	expect_refusal(&bye, 7, 0, "type that there is not");
	expect_refusal(&bye, 7, MESSAGE_ABORT + 1, "type that there is not");
	expect_refusal(&bye, 6, 1, "type that there is not");
}

static void test_values_that_there_are_not_are_refused(void **state)
{
	expect_refusal(&hello, 12, 2, "neither says");
	expect_refusal(&hello, 13, 1, "permission bits");
	expect_refusal(&hello, 17, 0x80, "larger than any");
	expect_refusal(&window, 12 + 16, 1, "longer than a message");
	expect_refusal(&window, 12 + 19, 6, "length");
}

/* A peer's text goes to a terminal. */
static void test_text_is_made_printable(void **state)
{
	struct message message = { .type = MESSAGE_ABORT, .text = "a\033[2Jb\n\x80" }, read;
	uint8_t bytes[MESSAGE_MAX_BYTES];
	size_t len = message_pack(&message, bytes);

	assert_null(message_unpack(bytes, len, &read));
	assert_string_equal(read.text, "a?[2Jb??");
}

static void test_text_that_is_too_long_is_refused(void **state)
{
	struct message message = { .type = MESSAGE_ABORT }, read;
	uint8_t bytes[MESSAGE_MAX_BYTES];

	memset(message.text, 'x', MESSAGE_MAX_TEXT);
	message.text[MESSAGE_MAX_TEXT] = '\0';
	assert_int_equal(message_pack(&message, bytes), MESSAGE_HEADER_BYTES + MESSAGE_MAX_TEXT);
	assert_null(message_unpack(bytes, MESSAGE_HEADER_BYTES + MESSAGE_MAX_TEXT, &read));
	assert_string_equal(read.text, message.text);

	bytes[11]++;
	bytes[MESSAGE_HEADER_BYTES + MESSAGE_MAX_TEXT] = 'x';
	assert_non_null(message_unpack(bytes, MESSAGE_HEADER_BYTES + MESSAGE_MAX_TEXT + 1, &read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_message_survives_the_wire),
		cmocka_unit_test(test_numbers_are_big_endian_and_without_gaps),
		cmocka_unit_test(test_largest_descriptor_fills_a_message),
		cmocka_unit_test(test_cut_message_is_refused),
		cmocka_unit_test(test_message_with_something_behind_it_is_refused),
		cmocka_unit_test(test_foreign_messages_are_recognised),
		cmocka_unit_test(test_values_that_there_are_not_are_refused),
		cmocka_unit_test(test_text_is_made_printable),
		cmocka_unit_test(test_text_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
