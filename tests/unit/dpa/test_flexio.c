/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution units of an application, from YAML. */
#include <string.h>

#include <libflexio/flexio_ver.h>
#define FLEXIO_VER_USED FLEXIO_VER(25, 4, 0)
#include <libflexio/flexio.h>

#include "cmocka_test.h"

static flexio_status create(const char *yaml, struct flexio_resource **res)
{
	return flexio_resources_create("app", yaml, strlen(yaml), res);
}

static void test_units_and_ranges_are_taken_in_their_order(void **state)
{
	static const uint32_t expected[] = { 7, 2, 3, 4 };
	struct flexio_resource *res;

	assert_int_equal(create("apps:\n  other: {eus: [1]}\n  app:\n    eus: [7, 2-4]\n", &res),
			 FLEXIO_STATUS_SUCCESS);
	assert_int_equal(flexio_resources_get_eus_num(res), 4);
	assert_memory_equal(flexio_resources_get_eus(res), expected, sizeof(expected));
	assert_int_equal(flexio_resources_get_eugs_num(res), 0);
	assert_int_equal(flexio_resources_destroy(res), FLEXIO_STATUS_SUCCESS);
	assert_int_equal(create("app: {eugs: [1, 2]}\n", &res), FLEXIO_STATUS_SUCCESS);
	assert_int_equal(flexio_resources_get_eugs_num(res), 2);
	flexio_resources_destroy(res);
}

static void test_what_is_wrong_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "other: {eus: [1]}\n",
					     "app: {eus: 1}\n",
					     "app: {eus: [x]}\n",
					     "app: {eus: [4-2]}\n",
					     "app: {eus: [1-]}\n",
					     "app: {eus: [99999999999999999999]}\n",
					     "app: {eus: [0-4095, 0]}\n",
					     "app: {units: [1]}\n",
					     "app: [\n" };
	struct flexio_resource *res = NULL;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(create(wrong[i], &res), FLEXIO_STATUS_FAILED);
	assert_null(res);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_and_ranges_are_taken_in_their_order),
		cmocka_unit_test(test_what_is_wrong_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
