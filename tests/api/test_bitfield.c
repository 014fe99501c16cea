/* SPDX-License-Identifier: BSD-3-Clause */
/* Bit-fields: registers are compared with the bytes that the network would see. Also built as C++. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doca_bitfield.h>

#ifdef __cplusplus
extern "C" { /* cmocka.h doesn't say so itself */
#endif
#include <cmocka.h>
#ifdef __cplusplus
}
#endif

static void assert_be16(doca_be16_t value, uint8_t byte0, uint8_t byte1)
{
	const uint8_t bytes[] = { byte0, byte1 };

	assert_memory_equal(&value, bytes, sizeof(bytes));
}

static void assert_be32(doca_be32_t value, uint8_t byte0, uint8_t byte1, uint8_t byte2, uint8_t byte3)
{
	const uint8_t bytes[] = { byte0, byte1, byte2, byte3 };

	assert_memory_equal(&value, bytes, sizeof(bytes));
}

static void test_shift_is_the_lowest_bit_that_is_set(void **state)
{
	assert_int_equal(DOCA_SHIFT(0), -1);
	assert_int_equal(DOCA_SHIFT(1), 0);
	assert_int_equal(DOCA_SHIFT(0xf0), 4);
	assert_int_equal(DOCA_SHIFT(0x8000000000000000), 63);
	assert_int_equal(DOCA_SHIFT(2 | 4), 1);
}

static void test_network_order_has_the_highest_byte_first(void **state)
{
	assert_be16(DOCA_HTOBE16(0x1234), 0x12, 0x34);
	assert_be32(DOCA_HTOBE32(0x12345678), 0x12, 0x34, 0x56, 0x78);
	assert_int_equal(DOCA_BETOH16(DOCA_HTOBE16(0x1234)), 0x1234);
	assert_int_equal(DOCA_BETOH32(DOCA_HTOBE32(0x12345678)), 0x12345678);
}

static void test_mask_has_both_its_ends_and_all_between(void **state)
{
	assert_int_equal(DOCA_U8_GENMASK(7, 4), 0xf0);
	assert_int_equal(DOCA_U8_GENMASK(7, 0), 0xff);
	assert_int_equal(DOCA_U8_GENMASK(0, 0), 0x01);
	assert_int_equal(DOCA_U8_GENMASK(7, 7), 0x80);
	assert_be16(DOCA_BE16_GENMASK(11, 4), 0x0f, 0xf0);
	assert_be16(DOCA_BE16_GENMASK(15, 0), 0xff, 0xff);
	assert_be16(DOCA_BE16_GENMASK(15, 15), 0x80, 0x00);
	assert_be32(DOCA_BE32_GENMASK(23, 4), 0x00, 0xff, 0xff, 0xf0);
	assert_be32(DOCA_BE32_GENMASK(31, 0), 0xff, 0xff, 0xff, 0xff);
	assert_be32(DOCA_BE32_GENMASK(31, 31), 0x80, 0x00, 0x00, 0x00);
	assert_be32(DOCA_BE32_GENMASK(0, 0), 0x00, 0x00, 0x00, 0x01);
}

static void test_mask_is_written_where_a_pointer_says(void **state)
{
	uint8_t u8[3] = { 1, 1, 1 };
	doca_be16_t be16[2] = { 0, 0x0101 };
	doca_be32_t be32[2] = { 0, 0x01010101 };

	DOCA_U8P_GENMASK(6, 5, u8 + 1);
	assert_int_equal(u8[0], 1);
	assert_int_equal(u8[1], 0x60);
	assert_int_equal(u8[2], 1);
	DOCA_BE16P_GENMASK(11, 4, &be16[0]);
	assert_be16(be16[0], 0x0f, 0xf0);
	assert_be16(be16[1], 1, 1);
	DOCA_BE32P_GENMASK(23, 4, &be32[0]);
	assert_be32(be32[0], 0x00, 0xff, 0xff, 0xf0);
	assert_be32(be32[1], 1, 1, 1, 1);
}

static void test_value_is_put_where_the_mask_is_and_cut_to_it(void **state)
{
	assert_int_equal(DOCA_U8_SET(0x70, 5), 0x50);
	assert_int_equal(DOCA_U8_SET(0x70, 0xff), 0x70);
	assert_be16(DOCA_BE16_SET(DOCA_BE16_GENMASK(11, 4), 0x12), 0x01, 0x20);
	assert_be16(DOCA_BE16_SET(DOCA_BE16_GENMASK(11, 4), 0xfff), 0x0f, 0xf0);
	assert_be32(DOCA_BE32_SET(DOCA_BE32_GENMASK(23, 4), 0x12345), 0x00, 0x12, 0x34, 0x50);
	assert_be32(DOCA_BE32_SET(DOCA_BE32_GENMASK(31, 24), 0xff), 0xff, 0x00, 0x00, 0x00);
	assert_be32(DOCA_BE32_SET(DOCA_BE32_GENMASK(31, 24), -1), 0xff, 0x00, 0x00, 0x00);
}

static void test_field_is_added_to_those_in_the_register(void **state)
{
	uint8_t u8[2] = { 0x81, 0x55 };
	doca_be16_t be16 = DOCA_HTOBE16(0x8001);
	doca_be32_t be32 = DOCA_HTOBE32(0x80000001);

	DOCA_U8P_SET(0x70, 5, u8);
	assert_int_equal(u8[0], 0xd1);
	DOCA_U8P_SET(0x70, 2, u8)      /* needs no semicolon */
	assert_int_equal(u8[0], 0xf1); /* what was there is not cleared */
	assert_int_equal(u8[1], 0x55);
	DOCA_BE16P_SET(DOCA_BE16_GENMASK(11, 4), 0x12, &be16);
	assert_be16(be16, 0x81, 0x21);
	DOCA_BE32P_SET(DOCA_BE32_GENMASK(23, 4), 0x12345, &be32);
	assert_be32(be32, 0x80, 0x12, 0x34, 0x51);
}

static void test_value_is_got_back_from_among_the_others(void **state)
{
	const doca_be16_t mask16 = DOCA_BE16_GENMASK(11, 4);
	const doca_be32_t mask32 = DOCA_BE32_GENMASK(31, 20);

	assert_int_equal(DOCA_U8_GET(0x70, 0xd9), 5);
	assert_int_equal(DOCA_BE16_GET(mask16, DOCA_HTOBE16(0xa12b)), 0x12);
	assert_int_equal(DOCA_BE32_GET(mask32, DOCA_HTOBE32(0xfed54321)), 0xfed);
	for (uint32_t value = 0; value < 0x1000; value += 0x111)
		assert_int_equal(DOCA_BE32_GET(mask32, DOCA_BE32_SET(mask32, value)), value);
}

static void test_arguments_are_expressions(void **state)
{
	const unsigned int low = 2;
	uint8_t reg[2] = { 0, 0 };

	assert_int_equal(DOCA_U8_GENMASK(low + 1, low), 0x0c);
	assert_int_equal(DOCA_U8_SET(0x08 | 0x04, 1 | 2), 0x0c);
	assert_int_equal(DOCA_U8_GET(0x08 | 0x04, 0x80 | 0x04), 1);
	DOCA_U8P_SET(0x08 | 0x04, 1 | 2, reg + 1);
	assert_int_equal(reg[1], 0x0c);
	assert_int_equal(2 * DOCA_SHIFT(0x08), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift_is_the_lowest_bit_that_is_set),
		cmocka_unit_test(test_network_order_has_the_highest_byte_first),
		cmocka_unit_test(test_mask_has_both_its_ends_and_all_between),
		cmocka_unit_test(test_mask_is_written_where_a_pointer_says),
		cmocka_unit_test(test_value_is_put_where_the_mask_is_and_cut_to_it),
		cmocka_unit_test(test_field_is_added_to_those_in_the_register),
		cmocka_unit_test(test_value_is_got_back_from_among_the_others),
		cmocka_unit_test(test_arguments_are_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
