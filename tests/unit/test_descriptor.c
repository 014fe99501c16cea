/* SPDX-License-Identifier: BSD-3-Clause */
/* The 64-byte descriptor that an application passes to the other side. */
#include <errno.h>
#include <string.h>

#include <zlib.h>

#include "cmocka_test.h"
#include "sim/protocol/descriptor.h"

#define CHECKSUM_OFFSET (SIM_DESCRIPTOR_BYTES - 4)

static const uint8_t session[SIM_SESSION_ID_SIZE] = "this session...";
static const struct sim_key key = { .id = 0x0123456789abcdefull, .secret = "a secret of 16b" };

static void make(uint8_t bytes[SIM_DESCRIPTOR_BYTES])
{
	sim_descriptor_encode(session, &key, bytes);
}

/* A forger knows the format. */
static void sign(uint8_t bytes[SIM_DESCRIPTOR_BYTES])
{
	uint32_t sum = (uint32_t)crc32(0, bytes, CHECKSUM_OFFSET);

	memcpy(bytes + CHECKSUM_OFFSET, &sum, sizeof(sum));
}

static void expect_refused(const void *bytes, size_t len, int error)
{
	struct sim_key got = { .id = 7, .secret = "untouched" };

	assert_int_equal(sim_descriptor_decode(session, bytes, len, &got), error);
	assert_int_equal(got.id, 7);
	assert_string_equal((char *)got.secret, "untouched");
}

static void test_a_descriptor_gives_back_its_key(void **state)
{
	uint8_t bytes[SIM_DESCRIPTOR_BYTES];
	struct sim_key got = { 0 };

	make(bytes);
	assert_int_equal(sim_descriptor_decode(session, bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got.id, key.id);
	assert_memory_equal(got.secret, key.secret, SIM_SECRET_SIZE);
}

static void test_a_descriptor_at_an_odd_address_is_read(void **state)
{
	uint8_t buffer[SIM_DESCRIPTOR_BYTES + 1];
	struct sim_key got = { 0 };

	make(buffer + 1);
	assert_int_equal(sim_descriptor_decode(session, buffer + 1, SIM_DESCRIPTOR_BYTES, &got), 0);
	assert_int_equal(got.id, key.id);
}

/* 64 * 8 = 512 bits, each alone. */
static void test_any_single_flipped_bit_is_noticed(void **state)
{
	uint8_t bytes[SIM_DESCRIPTOR_BYTES];

	make(bytes);
	for (size_t bit = 0; bit < SIM_DESCRIPTOR_BYTES * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		expect_refused(bytes, sizeof(bytes), -EINVAL);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static void test_any_other_length_is_refused(void **state)
{
	uint8_t bytes[SIM_DESCRIPTOR_BYTES + 1] = { 0 };

	make(bytes);
	for (size_t len = 0; len < SIM_DESCRIPTOR_BYTES; len++)
		expect_refused(bytes, len, -EINVAL);
	expect_refused(bytes, sizeof(bytes), -EINVAL);
}

static void test_a_length_of_zero_needs_no_bytes(void **state)
{
	expect_refused(NULL, 0, -EINVAL);
}

static void test_a_descriptor_of_another_session_is_stale(void **state)
{
	uint8_t bytes[SIM_DESCRIPTOR_BYTES];

	sim_descriptor_encode((const uint8_t *)"another session", &key, bytes);
	expect_refused(bytes, sizeof(bytes), -ESTALE);
}

static void test_all_bytes_of_the_session_count(void **state)
{
	uint8_t bytes[SIM_DESCRIPTOR_BYTES], other[SIM_SESSION_ID_SIZE];

	for (size_t i = 0; i < SIM_SESSION_ID_SIZE; i++) {
		memcpy(other, session, sizeof(other));
		other[i] ^= 1;
		sim_descriptor_encode(other, &key, bytes);
		expect_refused(bytes, sizeof(bytes), -ESTALE);
	}
}

/* Bytes 8..11 are the version, 12..15 the length, 56..59 are reserved. */
static void test_a_well_signed_descriptor_of_another_format_is_refused(void **state)
{
	static const size_t fields[] = { 0, 8, 12, 56 };
	uint8_t bytes[SIM_DESCRIPTOR_BYTES];

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		make(bytes);
		bytes[fields[i]]++;
		sign(bytes);
		expect_refused(bytes, sizeof(bytes), -EINVAL);
	}
}

static void test_random_bytes_are_refused(void **state)
{
	uint8_t bytes[SIM_DESCRIPTOR_BYTES];

	memset(bytes, 0, sizeof(bytes));
	expect_refused(bytes, sizeof(bytes), -EINVAL);
	memset(bytes, 0xff, sizeof(bytes));
	expect_refused(bytes, sizeof(bytes), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_descriptor_gives_back_its_key),
		cmocka_unit_test(test_a_descriptor_at_an_odd_address_is_read),
		cmocka_unit_test(test_any_single_flipped_bit_is_noticed),
		cmocka_unit_test(test_any_other_length_is_refused),
		cmocka_unit_test(test_a_length_of_zero_needs_no_bytes),
		cmocka_unit_test(test_a_descriptor_of_another_session_is_stale),
		cmocka_unit_test(test_all_bytes_of_the_session_count),
		cmocka_unit_test(test_a_well_signed_descriptor_of_another_format_is_refused),
		cmocka_unit_test(test_random_bytes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
