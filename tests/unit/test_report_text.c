/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a report in human-readable form (sim/cli/base/human_format.h). */
#include "cmocka_test.h"
#include "sim/cli/base/human_format.h"

#define assert_reads(put, value, wanted)            \
	do {                                        \
		char text_[CLI_HUMAN_SIZE];         \
		put(value, text_);                  \
		assert_string_equal(text_, wanted); \
	} while (0)

static void test_small_numbers_are_exact(void **state)
{
	assert_reads(cli_human_bytes, 0, "0 B");
	assert_reads(cli_human_bytes, 999, "999 B");
	assert_reads(cli_human_count, 64, "64");
	assert_reads(cli_human_time, 640, "640 ns");
}

static void test_large_numbers_are_rounded_to_three_digits(void **state)
{
	assert_reads(cli_human_bytes, 1000, "1.00 kB");
	assert_reads(cli_human_bytes, 4096, "4.10 kB");
	assert_reads(cli_human_bytes, 65536, "65.5 kB");
	assert_reads(cli_human_bytes, 65556, "65.6 kB");
	assert_reads(cli_human_bytes, 1048576, "1.05 MB");
	assert_reads(cli_human_byte_rate, 415817364, "416 MB/s");
	assert_reads(cli_human_time, 12346, "12.3 \u00b5s");
}

static void test_what_rounds_to_a_thousand_gets_the_next_unit(void **state)
{
	assert_reads(cli_human_bytes, 9994, "9.99 kB");
	assert_reads(cli_human_bytes, 9996, "10.0 kB");
	assert_reads(cli_human_bytes, 99960, "100 kB");
	assert_reads(cli_human_bytes, 999499, "999 kB");
	assert_reads(cli_human_bytes, 999500, "1.00 MB");
}

/* There is no unit above the last one. */
static void test_the_largest_number_is_written(void **state)
{
	assert_reads(cli_human_time, UINT64_MAX, "18446744073 s");
	assert_reads(cli_human_bytes, UINT64_MAX, "18446744 TB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_numbers_are_exact),
		cmocka_unit_test(test_large_numbers_are_rounded_to_three_digits),
		cmocka_unit_test(test_what_rounds_to_a_thousand_gets_the_next_unit),
		cmocka_unit_test(test_the_largest_number_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
