/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer arrays: the functions that run on the CPU. test_dpa_map.c has a kernel that uses one; GPUs are not simulated. */
#include <doca_buf_array.h>

#include "buf_util.h"
#include "dpa_util.h"

enum { NUM_ELEMENTS = 4, ELEMENT_BYTES = 1024 }; /* as large as the map */

static struct doca_dpa *dpa;

static int open_dpa(void **state)
{
	open_all(state);
	assert_ok(doca_dpa_create(dev, &dpa));
	assert_ok(doca_dpa_set_app(dpa, dpa_test_app));
	assert_ok(doca_dpa_start(dpa));
	return 0;
}

static int close_dpa(void **state)
{
	assert_ok(doca_dpa_destroy(dpa));
	return close_all(state);
}

static struct doca_buf_arr *array_of(size_t num)
{
	struct doca_buf_arr *arr;

	assert_ok(doca_buf_arr_create(num, &arr));
	assert_ok(doca_buf_arr_set_target_dpa(arr, dpa));
	return arr;
}

static int setup(void **state)
{
	*state = array_of(NUM_ELEMENTS);
	return 0;
}

static int teardown(void **state)
{
	assert_ok(doca_buf_arr_destroy(*state));
	return 0;
}

static void start(struct doca_buf_arr *arr)
{
	assert_ok(doca_buf_arr_set_params(arr, map, ELEMENT_BYTES, 0));
	assert_ok(doca_buf_arr_start(arr));
}

/* A device of another kind: the function checks only whether there is one. */
static char no_device;

/* ---- life ---- */

/* provokes: doca_buf_arr_create DOCA_ERROR_INVALID_VALUE */
static void test_array_has_at_least_one_element(void **state)
{
	struct doca_buf_arr *arr = NULL;

	assert_invalid(doca_buf_arr_create(0, &arr));
	assert_null(arr);
	assert_invalid(doca_buf_arr_create(1, NULL));
}

static void test_array_is_destroyed_in_any_state(void **state)
{
	struct doca_buf_arr *arr;

	assert_ok(doca_buf_arr_create(NUM_ELEMENTS, &arr));
	assert_ok(doca_buf_arr_destroy(arr));
	arr = array_of(NUM_ELEMENTS);
	start(arr);
	assert_ok(doca_buf_arr_destroy(arr));
}

static void test_array_without_target_does_not_start(void **state)
{
	struct doca_buf_arr *arr;

	assert_ok(doca_buf_arr_create(NUM_ELEMENTS, &arr));
	assert_ok(doca_buf_arr_set_params(arr, map, ELEMENT_BYTES, 0));
	assert_doca(doca_buf_arr_start(arr), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_arr_destroy(arr));
}

static void test_context_lasts_as_long_as_its_arrays(void **state)
{
	start(*state);
	assert_doca(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
}

/* provokes: doca_buf_arr_start DOCA_ERROR_BAD_STATE */
static void test_array_starts_once_until_it_is_stopped(void **state)
{
	assert_doca(doca_buf_arr_start(*state), DOCA_ERROR_BAD_STATE); /* no parameters */
	start(*state);
	assert_doca(doca_buf_arr_start(*state), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_arr_stop(*state));
	assert_ok(doca_buf_arr_stop(*state));
	assert_ok(doca_buf_arr_start(*state));
}

/* ---- parameters ---- */

/* provokes: doca_buf_arr_set_params DOCA_ERROR_BAD_STATE */
static void test_parameters_are_set_while_stopped_and_the_last_count(void **state)
{
	assert_ok(doca_buf_arr_set_params(*state, map, ELEMENT_BYTES + 1, 0));
	assert_doca(doca_buf_arr_start(*state), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_buf_arr_set_params(*state, map, ELEMENT_BYTES, 0));
	assert_ok(doca_buf_arr_start(*state));
	assert_doca(doca_buf_arr_set_params(*state, map, 1, 0), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_arr_stop(*state));
	assert_ok(doca_buf_arr_set_params(*state, map, 1, 0));
}

/* provokes: doca_buf_arr_set_params DOCA_ERROR_INVALID_VALUE */
static void test_refused_parameters_leave_the_earlier_ones(void **state)
{
	struct doca_mmap *without_range;

	assert_ok(doca_buf_arr_set_params(*state, map, ELEMENT_BYTES, 0));
	assert_ok(doca_mmap_create(&without_range));
	assert_invalid(doca_buf_arr_set_params(*state, without_range, 1, 0));
	assert_ok(doca_mmap_destroy(without_range));
	assert_invalid(doca_buf_arr_set_params(*state, without_range, 1, 0));
	assert_invalid(doca_buf_arr_set_params(*state, NULL, 1, 0));
	assert_invalid(doca_buf_arr_set_params(*state, (struct doca_mmap *)dev, 1, 0));
	assert_invalid(doca_buf_arr_set_params(*state, map, 0, 0));
	assert_ok(doca_buf_arr_start(*state));
}

struct fit {
	size_t num, bytes;
	uint64_t offset;
	bool fits;
};

static const struct fit fits[] = {
	{ 4, 1024, 0, true },
	{ 4, 1024, 1, false },
	{ 3, 1024, 1024, true },
	{ 3, 1024, 1025, false },
	{ 1, 1, sizeof(memory) - 1, true },
	{ 1, 1, sizeof(memory), false },
	{ 1, sizeof(memory) + 1, 0, false },
	/* sums and products beyond what a size_t holds: */
	{ 1, 1, UINT64_MAX, false },
	{ SIZE_MAX >> 20, SIZE_MAX, 0, false },
	{ (size_t)1 << 43, (size_t)1 << 21, 0, false },
	{ SIZE_MAX >> 20, 1, UINT64_MAX, false },
};

/* provokes: doca_buf_arr_start DOCA_ERROR_NO_MEMORY */
static void test_array_starts_if_its_elements_fit_into_the_map(void **state)
{
	struct doca_buf_arr *arr;

	for (size_t i = 0; i < API_COUNT(fits); i++) {
		arr = array_of(fits[i].num);
		assert_ok(doca_buf_arr_set_params(arr, map, fits[i].bytes, fits[i].offset));
		assert_doca(doca_buf_arr_start(arr), fits[i].fits ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY);
		assert_ok(doca_buf_arr_destroy(arr));
	}
}

/* ---- the map ---- */

static void test_map_starts_before_the_array_and_may_go_before_it(void **state)
{
	struct doca_mmap *other, *in_its_place;

	assert_ok(doca_mmap_create(&other));
	assert_ok(doca_mmap_add_dev(other, dev));
	assert_ok(doca_mmap_set_memrange(other, memory, sizeof(memory)));
	assert_ok(doca_buf_arr_set_params(*state, other, ELEMENT_BYTES, 0));
	assert_doca(doca_buf_arr_start(*state), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_mmap_start(other));
	assert_ok(doca_buf_arr_start(*state));
	assert_ok(doca_mmap_stop(other));
	assert_ok(doca_mmap_destroy(other));
	in_its_place = api_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	assert_ok(doca_buf_arr_stop(*state));
	assert_doca(doca_buf_arr_start(*state), DOCA_ERROR_BAD_STATE); /* another map at its address is not it */
	assert_ok(doca_mmap_destroy(in_its_place));
}

/* ---- targets and handles ---- */

/* provokes: doca_buf_arr_set_target_dpa DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_arr_set_target_dpa DOCA_ERROR_BAD_STATE
 * provokes: doca_buf_arr_set_target_gpu DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_arr_set_target_gpu DOCA_ERROR_BAD_STATE */
static void test_target_is_a_dpa_as_gpus_are_not_supported(void **state)
{
	struct doca_gpu *gpu = (struct doca_gpu *)&no_device;

	assert_invalid(doca_buf_arr_set_target_dpa(*state, NULL));
	assert_invalid(doca_buf_arr_set_target_dpa(*state, (struct doca_dpa *)&no_device));
	assert_invalid(doca_buf_arr_set_target_gpu(*state, NULL));
	assert_doca(doca_buf_arr_set_target_gpu(*state, gpu), DOCA_ERROR_NOT_SUPPORTED);
	start(*state);
	assert_doca(doca_buf_arr_set_target_dpa(*state, dpa), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_buf_arr_set_target_gpu(*state, gpu), DOCA_ERROR_BAD_STATE);
}

/* provokes: doca_buf_arr_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_arr_get_dpa_handle DOCA_ERROR_BAD_STATE
 * provokes: doca_buf_arr_get_gpu_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_arr_get_gpu_handle DOCA_ERROR_BAD_STATE */
static void test_handle_is_that_of_a_started_array(void **state)
{
	struct doca_gpu_buf_arr *gpu_handle = NULL;
	doca_dpa_dev_buf_arr_t dpa_handle = 7;

	assert_doca(doca_buf_arr_get_dpa_handle(*state, &dpa_handle), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_buf_arr_get_gpu_handle(*state, &gpu_handle), DOCA_ERROR_BAD_STATE);
	assert_int_equal(dpa_handle, 7);
	start(*state);
	assert_invalid(doca_buf_arr_get_dpa_handle(*state, NULL));
	assert_invalid(doca_buf_arr_get_gpu_handle(*state, NULL));
	assert_ok(doca_buf_arr_get_dpa_handle(*state, &dpa_handle));
	assert_int_equal(dpa_handle % 64, 0);
	assert_doca(doca_buf_arr_get_gpu_handle(*state, &gpu_handle), DOCA_ERROR_NOT_SUPPORTED);
	assert_null(gpu_handle);
}

/* ---- arguments ---- */

/* provokes: doca_buf_arr_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_arr_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_buf_arr_stop DOCA_ERROR_INVALID_VALUE */
static void refuses_every_call(struct doca_buf_arr *no_arr)
{
	struct doca_gpu_buf_arr *gpu_handle;
	doca_dpa_dev_buf_arr_t dpa_handle;

	assert_invalid(doca_buf_arr_destroy(no_arr));
	assert_invalid(doca_buf_arr_start(no_arr));
	assert_invalid(doca_buf_arr_stop(no_arr));
	assert_invalid(doca_buf_arr_set_params(no_arr, map, 1, 0));
	assert_invalid(doca_buf_arr_set_target_dpa(no_arr, (struct doca_dpa *)&no_device));
	assert_invalid(doca_buf_arr_set_target_gpu(no_arr, (struct doca_gpu *)&no_device));
	assert_invalid(doca_buf_arr_get_dpa_handle(no_arr, &dpa_handle));
	assert_invalid(doca_buf_arr_get_gpu_handle(no_arr, &gpu_handle));
}

static void test_call_on_no_array_or_another_handle_is_refused(void **state)
{
	struct doca_buf_arr *destroyed;

	assert_ok(doca_buf_arr_create(1, &destroyed));
	assert_ok(doca_buf_arr_destroy(destroyed));
	refuses_every_call(NULL);
	refuses_every_call((struct doca_buf_arr *)map);
	refuses_every_call(destroyed);
}

/* ---- memory runs out ---- */

static struct doca_buf_arr *oom_arr;

static doca_error_t step_create(void)
{
	return doca_buf_arr_create(4, &oom_arr);
}

/* provokes: doca_buf_arr_create DOCA_ERROR_NO_MEMORY */
static void test_array_without_memory_for_it_fails_and_the_call_can_be_repeated(void **state)
{
	api_fail_each_allocation(step_create, NULL);
	assert_ok(doca_buf_arr_destroy(oom_arr));
}

#define WITH_ARRAY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_array_has_at_least_one_element),
	cmocka_unit_test(test_array_is_destroyed_in_any_state),
	cmocka_unit_test(test_array_without_target_does_not_start),
	WITH_ARRAY(test_context_lasts_as_long_as_its_arrays),
	WITH_ARRAY(test_array_starts_once_until_it_is_stopped),
	WITH_ARRAY(test_parameters_are_set_while_stopped_and_the_last_count),
	WITH_ARRAY(test_refused_parameters_leave_the_earlier_ones),
	cmocka_unit_test(test_array_starts_if_its_elements_fit_into_the_map),
	WITH_ARRAY(test_map_starts_before_the_array_and_may_go_before_it),
	WITH_ARRAY(test_target_is_a_dpa_as_gpus_are_not_supported),
	WITH_ARRAY(test_handle_is_that_of_a_started_array),
	cmocka_unit_test(test_call_on_no_array_or_another_handle_is_refused),
};
static const struct CMUnitTest oom_tests[] = {
	cmocka_unit_test(test_array_without_memory_for_it_fails_and_the_call_can_be_repeated),
};

int main(void)
{
	return API_RUN(API_ON_DPU("arrays", "memory.yaml", tests, open_dpa, close_dpa),
		       { .name = "no memory", .side = "dpu", API_WITH(oom_tests) });
}
