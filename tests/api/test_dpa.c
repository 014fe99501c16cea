/* SPDX-License-Identifier: BSD-3-Clause */
/* DPA contexts: life, extended contexts, limits, logs, memory, and what is left after a fatal kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_clock.h>

#include "dpa_util.h"
#include "under_valgrind.h"

/* unreachable: doca_dpa_create DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_create DOCA_ERROR_NO_MEMORY: the pool of contexts is small
 * unreachable: doca_dpa_start DOCA_ERROR_NO_MEMORY: the heap is reserved, not used
 * unreachable: doca_dpa_stop DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_device_extend DOCA_ERROR_NO_MEMORY: the pool of contexts is small
 * unreachable: doca_dpa_log_file_set_path DOCA_ERROR_NO_MEMORY: a path is small
 * unreachable: doca_dpa_trace_file_set_path DOCA_ERROR_NO_MEMORY: a path is small */

static struct doca_dev *dev;

/* ---- life ---- */

/* provokes: doca_dpa_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_cap_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_set_app DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_app DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_peek_at_last_error DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_uar_id DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_core_num DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_num_eus_per_core DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_total_num_eus_available DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_max_threads_per_kernel DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_get_kernel_max_run_time DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_device_extend DOCA_ERROR_INVALID_VALUE */
static void test_nothing_is_no_context(void **state)
{
	struct doca_dpa *dpa = *state, *other;
	struct doca_dpa_app *app;
	unsigned int number;
	unsigned long long seconds;
	doca_dpa_dev_t handle;
	uint32_t id;

	assert_invalid(doca_dpa_create(NULL, &other));
	assert_invalid(doca_dpa_create(api_dev(), NULL));
	assert_invalid(doca_dpa_destroy(NULL));
	assert_invalid(doca_dpa_start(NULL));
	assert_invalid(doca_dpa_stop(NULL));
	assert_invalid(doca_dpa_cap_is_supported(NULL));
	assert_invalid(doca_dpa_set_app(NULL, dpa_test_app));
	assert_invalid(doca_dpa_set_app(dpa, NULL));
	assert_invalid(doca_dpa_get_app(NULL, &app));
	assert_invalid(doca_dpa_get_app(dpa, NULL));
	assert_invalid(doca_dpa_peek_at_last_error(NULL));
	assert_invalid(doca_dpa_get_dpa_handle(NULL, &handle));
	assert_invalid(doca_dpa_get_dpa_handle(dpa, NULL));
	assert_invalid(doca_dpa_get_uar_id(NULL, &id));
	assert_invalid(doca_dpa_get_uar_id(dpa, NULL));
	assert_invalid(doca_dpa_get_core_num(NULL, &number));
	assert_invalid(doca_dpa_get_core_num(dpa, NULL));
	assert_invalid(doca_dpa_get_num_eus_per_core(NULL, &number));
	assert_invalid(doca_dpa_get_total_num_eus_available(NULL, &number));
	assert_invalid(doca_dpa_get_max_threads_per_kernel(NULL, &number));
	assert_invalid(doca_dpa_get_kernel_max_run_time(NULL, &seconds));
	assert_invalid(doca_dpa_device_extend(NULL, api_dev(), &other));
	assert_invalid(doca_dpa_device_extend(dpa, NULL, &other));
	assert_invalid(doca_dpa_device_extend(dpa, api_dev(), NULL));
}

/* provokes: doca_dpa_get_dpa_handle DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_get_uar_id DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_set_app DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_start DOCA_ERROR_DRIVER
 * provokes: doca_dpa_device_extend DOCA_ERROR_BAD_STATE */
static void test_context_starts_with_an_application_and_stops(void **state)
{
	struct doca_dpa_app *app;
	struct doca_dpa *dpa, *extended;
	doca_dpa_dev_t handle;
	uint32_t id;

	assert_ok(doca_dpa_create(api_dev(), &dpa));
	assert_doca(doca_dpa_start(dpa), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_set_app(dpa, dpa_test_app));
	assert_doca(doca_dpa_get_dpa_handle(dpa, &handle), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_get_uar_id(dpa, &id), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_device_extend(dpa, api_dev(), &extended), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_start(dpa));
	assert_doca(doca_dpa_set_app(dpa, dpa_test_app), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_get_dpa_handle(dpa, &handle));
	assert_true(handle != 0);
	assert_ok(doca_dpa_get_uar_id(dpa, &id));
	assert_ok(doca_dpa_get_app(dpa, &app));
	assert_ptr_equal(app, dpa_test_app);
	assert_ok(doca_dpa_stop(dpa));
	assert_ok(doca_dpa_set_app(dpa, dpa_test_app));
	assert_ok(doca_dpa_start(dpa));
	assert_ok(doca_dpa_destroy(dpa));
	assert_invalid(doca_dpa_stop(dpa));
}

/* provokes: doca_dpa_app_get_name DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_app_get_name DOCA_ERROR_DRIVER */
static void test_application_has_a_name(void **state)
{
	uint64_t something[16] = { 0 };
	char name[64];
	uint32_t len = sizeof(name);

	assert_ok(doca_dpa_app_get_name(dpa_test_app, name, &len));
	assert_string_equal(name, "dpa_test_app");
	assert_int_equal(len, sizeof("dpa_test_app"));
	len = 3;
	assert_invalid(doca_dpa_app_get_name(dpa_test_app, name, &len));
	assert_invalid(doca_dpa_app_get_name(NULL, name, &len));
	assert_doca(doca_dpa_app_get_name((struct doca_dpa_app *)something, name, &len), DOCA_ERROR_DRIVER);
}

/* provokes: doca_dpa_stop DOCA_ERROR_IN_USE
 * provokes: doca_dpa_destroy DOCA_ERROR_IN_USE */
static void test_context_with_objects_does_not_end(void **state)
{
	struct doca_dpa_thread *thread;
	struct doca_dpa *dpa = *state;

	assert_ok(doca_dpa_thread_create(dpa, &thread));
	assert_doca(doca_dpa_stop(dpa), DOCA_ERROR_IN_USE);
	assert_doca(doca_dpa_destroy(dpa), DOCA_ERROR_IN_USE);
	assert_ok(doca_dpa_thread_destroy(thread));
	assert_ok(doca_dpa_stop(dpa));
}

/* The built-in card: 190 execution units of 16 cores. */
static void test_limits_are_the_cards(void **state)
{
	unsigned long long seconds;
	struct doca_dpa *dpa = *state;
	unsigned int number;

	assert_ok(doca_dpa_cap_is_supported(doca_dev_as_devinfo(api_dev())));
	assert_ok(doca_dpa_get_core_num(dpa, &number));
	assert_int_equal(number, 16);
	assert_ok(doca_dpa_get_num_eus_per_core(dpa, &number));
	assert_int_equal(number, 16);
	assert_ok(doca_dpa_get_total_num_eus_available(dpa, &number));
	assert_int_equal(number, 190);
	assert_ok(doca_dpa_get_max_threads_per_kernel(dpa, &number));
	assert_int_equal(number, 128);
	assert_ok(doca_dpa_get_kernel_max_run_time(dpa, &seconds));
	assert_int_equal(seconds, 12);
}

/* ---- extended contexts ---- */

/* provokes: doca_dpa_device_extend DOCA_ERROR_DRIVER
 * provokes: doca_dpa_set_log_level DOCA_ERROR_NOT_PERMITTED */
static void test_extended_context_is_another_device_of_its_base(void **state)
{
	struct doca_dev *other = api_open("03:00.1");
	struct doca_dpa *base = *state, *extended, *more;
	doca_dpa_dev_t handle, of_base;
	uint64_t value;

	assert_ok(doca_dpa_device_extend(base, other, &extended));
	assert_ok(doca_dpa_get_dpa_handle(extended, &handle));
	assert_ok(doca_dpa_get_dpa_handle(base, &of_base));
	assert_true(handle != of_base);
	assert_ok(doca_dpa_rpc(base, set_device, &value, handle));
	assert_int_equal(value, 1);
	assert_doca(doca_dpa_set_log_level(extended, DOCA_DPA_DEV_LOG_LEVEL_INFO), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_dpa_device_extend(extended, other, &more), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_destroy(base), DOCA_ERROR_IN_USE);
	assert_ok(doca_dpa_destroy(extended));
	assert_doca(doca_dpa_rpc(base, set_device, &value, handle), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
	assert_doca(doca_dpa_device_extend(base, other, &extended), DOCA_ERROR_DRIVER);
	assert_ok(doca_dev_close(other));
}

/* ---- logs ---- */

/* provokes: doca_dpa_log_file_set_path DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_log_file_set_path DOCA_ERROR_OPERATING_SYSTEM
 * provokes: doca_dpa_log_file_set_path DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_log_file_get_path DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_log_file_get_path DOCA_ERROR_NO_MEMORY
 * provokes: doca_dpa_set_log_level DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_set_log_level DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_get_log_level DOCA_ERROR_INVALID_VALUE */
static void test_lines_go_to_the_file_that_was_set(void **state)
{
	char folder[] = "/tmp/test_dpa.XXXXXX", path[64], other[64], text[256];
	struct doca_dpa *dpa = dpa_new();
	doca_dpa_dev_log_level_t level;
	uint32_t len = sizeof(other);
	uint64_t value;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/log", folder);
	assert_invalid(doca_dpa_log_file_set_path(NULL, path));
	assert_invalid(doca_dpa_log_file_set_path(dpa, NULL));
	assert_doca(doca_dpa_log_file_set_path(dpa, "/no/such/folder"), DOCA_ERROR_OPERATING_SYSTEM);
	assert_ok(doca_dpa_log_file_set_path(dpa, path));
	assert_ok(doca_dpa_log_file_get_path(dpa, other, &len));
	assert_string_equal(other, path);
	len = 2;
	assert_doca(doca_dpa_log_file_get_path(dpa, other, &len), DOCA_ERROR_NO_MEMORY);
	assert_invalid(doca_dpa_log_file_get_path(dpa, NULL, &len));
	assert_invalid(doca_dpa_set_log_level(dpa, (doca_dpa_dev_log_level_t)11));
	assert_ok(doca_dpa_set_log_level(dpa, DOCA_DPA_DEV_LOG_LEVEL_DEBUG));
	assert_ok(doca_dpa_get_log_level(dpa, &level));
	assert_int_equal(level, DOCA_DPA_DEV_LOG_LEVEL_DEBUG);
	assert_invalid(doca_dpa_get_log_level(dpa, NULL));
	assert_ok(doca_dpa_start(dpa));
	assert_doca(doca_dpa_log_file_set_path(dpa, path), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_set_log_level(dpa, DOCA_DPA_DEV_LOG_LEVEL_INFO), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_rpc(dpa, say, &value, UINT64_C(3)));
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_non_null(strstr(text, "error 3\n"));
	assert_non_null(strstr(text, "information 3\n"));
	assert_non_null(strstr(text, "detail 3\n"));
	assert_doca(doca_dpa_rpc(dpa, load, &value, UINT64_C(8)), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(path);
	assert_ok(doca_dpa_destroy(dpa));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* ---- traces ---- */

static void expect_text(const char *path, const char *text)
{
	char got[256];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	got[fread(got, 1, sizeof(got) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(got, text);
}

#define FIRST  "0x7 0x8 0x0 0xffffffffffffffff 0x5\n"
#define SECOND "0x20 0x21 0x0 0xffffffffffffffff 0x5\n"

/* provokes: doca_dpa_trace_file_set_path DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_trace_file_set_path DOCA_ERROR_OPERATING_SYSTEM
 * provokes: doca_dpa_trace_file_set_path DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_trace_file_get_path DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_trace_file_get_path DOCA_ERROR_NO_MEMORY */
static void test_traces_go_to_the_file_that_was_set(void **state)
{
	char folder[] = "/tmp/test_dpa.XXXXXX", path[64], other[64];
	struct doca_dpa *dpa = dpa_new();
	uint32_t len = 1;
	uint64_t value;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/trace", folder);
	assert_ok(doca_dpa_trace_file_get_path(dpa, other, &len));
	assert_string_equal(other, "");
	assert_invalid(doca_dpa_trace_file_set_path(NULL, path));
	assert_invalid(doca_dpa_trace_file_set_path(dpa, NULL));
	assert_doca(doca_dpa_trace_file_set_path(dpa, "/no/such/folder"), DOCA_ERROR_OPERATING_SYSTEM);
	assert_ok(doca_dpa_trace_file_set_path(dpa, path));
	len = (uint32_t)strlen(path);
	assert_doca(doca_dpa_trace_file_get_path(dpa, other, &len), DOCA_ERROR_NO_MEMORY);
	len = sizeof(other);
	assert_ok(doca_dpa_trace_file_get_path(dpa, other, &len));
	assert_string_equal(other, path);
	assert_int_equal(len, strlen(path) + 1);
	assert_invalid(doca_dpa_trace_file_get_path(dpa, NULL, &len));
	assert_ok(doca_dpa_start(dpa));
	assert_doca(doca_dpa_trace_file_set_path(dpa, path), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_rpc(dpa, trace_numbers, &value, UINT64_C(7), UINT64_C(1)));
	expect_text(path, FIRST);
	assert_ok(doca_dpa_stop(dpa));
	assert_ok(doca_dpa_start(dpa)); /* with the same file */
	assert_ok(doca_dpa_rpc(dpa, trace_numbers, &value, UINT64_C(32), UINT64_C(0)));
	expect_text(path, FIRST SECOND);
	assert_ok(doca_dpa_destroy(dpa));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* A context without a file. */
static void test_traces_without_a_file_are_dropped(void **state)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(*state, trace_numbers, &value, UINT64_C(7), UINT64_C(1)));
}

/* ---- memory ---- */

/* provokes: doca_dpa_mem_alloc DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_mem_alloc DOCA_ERROR_DRIVER
 * provokes: doca_dpa_mem_free DOCA_ERROR_DRIVER
 * provokes: doca_dpa_h2d_memcpy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_h2d_memcpy DOCA_ERROR_DRIVER
 * provokes: doca_dpa_d2h_memcpy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_d2h_memcpy DOCA_ERROR_DRIVER
 * provokes: doca_dpa_memset DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_memset DOCA_ERROR_DRIVER */
static void test_copies_reach_blocks_of_the_heap_alone(void **state)
{
	uint64_t there[4] = { 1, 2, 3, 4 }, back[4] = { 0 };
	doca_dpa_dev_uintptr_t block, other;
	struct doca_dpa *dpa = *state;

	assert_invalid(doca_dpa_mem_alloc(dpa, 0, &block));
	assert_invalid(doca_dpa_mem_alloc(dpa, 8, NULL));
	assert_doca(doca_dpa_mem_alloc(dpa, SIZE_MAX, &block), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_mem_alloc(dpa, sizeof(there), &block));
	assert_ok(doca_dpa_mem_alloc(dpa, sizeof(there), &other));
	assert_true(other != block && other % 64 == 0 && block % 64 == 0);
	assert_ok(doca_dpa_memset(dpa, block, 0x11, sizeof(there)));
	assert_ok(doca_dpa_d2h_memcpy(dpa, back, block, sizeof(back)));
	assert_int_equal(back[3], 0x1111111111111111);
	assert_ok(doca_dpa_h2d_memcpy(dpa, block, there, sizeof(there)));
	assert_ok(doca_dpa_d2h_memcpy(dpa, back, block, sizeof(back)));
	assert_memory_equal(back, there, sizeof(there));
	assert_invalid(doca_dpa_h2d_memcpy(dpa, block, NULL, 8));
	assert_invalid(doca_dpa_h2d_memcpy(dpa, block, there, 0));
	assert_invalid(doca_dpa_d2h_memcpy(dpa, NULL, block, 8));
	assert_invalid(doca_dpa_memset(NULL, block, 0, 8));
	assert_doca(doca_dpa_h2d_memcpy(dpa, block + 8, there, sizeof(there)), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_d2h_memcpy(dpa, back, block - 8, 8), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_memset(dpa, (uintptr_t)back, 0, 8), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_mem_free(dpa, block + 8), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_mem_free(dpa, block));
	assert_doca(doca_dpa_mem_free(dpa, block), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_d2h_memcpy(dpa, back, block, 8), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_mem_free(dpa, other));
}

/* provokes: doca_dpa_mem_alloc DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_mem_free DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_h2d_memcpy DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_d2h_memcpy DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_memset DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_rpc DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_kernel_launch_update_set DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_kernel_launch_update_add DOCA_ERROR_BAD_STATE */
static void test_stopped_context_has_no_memory_and_no_kernels(void **state)
{
	struct doca_dpa *dpa = dpa_new();
	doca_dpa_dev_uintptr_t block = 64;
	uint64_t value;

	assert_doca(doca_dpa_mem_alloc(dpa, 8, &block), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_mem_free(dpa, block), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_h2d_memcpy(dpa, block, &value, 8), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_d2h_memcpy(dpa, &value, block, 8), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_memset(dpa, block, 0, 8), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_rpc(dpa, count_calls, &value), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, record_rank, block, value),
		    DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, NULL, 0, 1, record_rank, block, value),
		    DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dpa_destroy(dpa));
}

/* provokes: doca_dpa_h2d_buf_memcpy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_h2d_buf_memcpy DOCA_ERROR_DRIVER
 * provokes: doca_dpa_h2d_buf_memcpy DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_d2h_buf_memcpy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_d2h_buf_memcpy DOCA_ERROR_DRIVER
 * provokes: doca_dpa_d2h_buf_memcpy DOCA_ERROR_BAD_STATE */
static void test_copies_from_and_to_buffers(void **state)
{
	uint64_t bytes[8] = { 5, 6, 7, 8 };
	struct doca_dpa *dpa = *state, *stopped = dpa_new();
	struct doca_buf_inventory *inventory;
	doca_dpa_dev_uintptr_t block;
	struct doca_mmap *mmap;
	struct doca_buf *buf;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_add_dev(mmap, api_dev()));
	assert_ok(doca_mmap_set_memrange(mmap, bytes, sizeof(bytes)));
	assert_ok(doca_mmap_start(mmap));
	assert_ok(doca_buf_inventory_create(1, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, mmap, bytes, 16, &buf));
	assert_ok(doca_dpa_mem_alloc(dpa, 32, &block));
	assert_ok(doca_dpa_h2d_buf_memcpy(dpa, block, buf, 16));
	bytes[0] = bytes[1] = 0;
	assert_ok(doca_dpa_d2h_buf_memcpy(dpa, buf, block, 16));
	assert_int_equal(bytes[0], 5);
	assert_int_equal(bytes[1], 6);
	assert_invalid(doca_dpa_h2d_buf_memcpy(dpa, block, NULL, 8));
	assert_invalid(doca_dpa_h2d_buf_memcpy(dpa, block, buf, 24));
	assert_invalid(doca_dpa_d2h_buf_memcpy(dpa, NULL, block, 8));
	assert_invalid(doca_dpa_d2h_buf_memcpy(dpa, buf, block, sizeof(bytes) + 8));
	assert_doca(doca_dpa_h2d_buf_memcpy(dpa, block + 24, buf, 16), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_d2h_buf_memcpy(dpa, buf, block + 24, 16), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_h2d_buf_memcpy(stopped, block, buf, 16), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_d2h_buf_memcpy(stopped, buf, block, 16), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dpa_destroy(stopped));
}

/* ---- after a fatal kernel ---- */

/* provokes: doca_dpa_peek_at_last_error DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_rpc DOCA_ERROR_DRIVER
 * provokes: doca_dpa_kernel_launch_update_set DOCA_ERROR_DRIVER
 * provokes: doca_dpa_kernel_launch_update_add DOCA_ERROR_DRIVER */
static void test_fatal_context_answers_driver(void **state)
{
	struct doca_dpa *dpa = dpa_open_fatal(), *healthy = *state;
	doca_dpa_dev_uintptr_t block;
	uint64_t value;

	assert_doca(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_mem_alloc(dpa, 8, &block), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_rpc(dpa, count_calls, &value), DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, record_rank, value, value),
		    DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, NULL, 0, 1, record_rank, value, value),
		    DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_peek_at_last_error(healthy));
	assert_ok(doca_dpa_rpc(healthy, count_calls, &value));
	assert_ok(doca_dpa_stop(dpa));
	assert_ok(doca_dpa_start(dpa));
	assert_ok(doca_dpa_peek_at_last_error(dpa));
	assert_ok(doca_dpa_rpc(dpa, count_calls, &value));
	assert_int_equal(value, 1);
	assert_ok(doca_dpa_destroy(dpa));
}

static void test_context_is_the_parents_in_a_forked_child(void **state)
{
	struct doca_dpa *dpa = *state;
	uint64_t value;
	pid_t child;

	assert_ok(doca_dpa_rpc(dpa, count_calls, &value));
	child = api_fork();
	/* In a child, destroy leaves the memory of the EUs' threads alone, which valgrind would report. */
	if (child == 0)
		_exit(doca_dpa_rpc(dpa, count_calls, &value) == DOCA_ERROR_DRIVER &&
				      (RUNNING_ON_VALGRIND || doca_dpa_destroy(dpa) == DOCA_SUCCESS) ?
			      0 :
			      1);
	api_join(child);
	assert_ok(doca_dpa_rpc(dpa, count_calls, &value));
}

/* Objects of which a kernel runs, or may be about to. */
struct objects {
	struct doca_sync_event *event;
	struct doca_dpa_thread *thread;
	struct doca_dpa_completion *completion;
	struct doca_dpa_notification_completion *notification;
	struct doca_dpa_hash_table *table;
	struct doca_dpa_async_ops *queue;
};

static void open_objects(struct doca_dpa *dpa, struct objects *objects)
{
	doca_dpa_dev_notification_completion_t handle;
	doca_dpa_dev_sync_event_t event;
	uint64_t value;

	objects->event = dpa_event_new(dpa, &event);
	assert_ok(doca_dpa_thread_create(dpa, &objects->thread));
	assert_ok(doca_dpa_thread_set_func_arg(objects->thread, wait_for_ever, event));
	assert_ok(doca_dpa_thread_start(objects->thread));
	assert_ok(doca_dpa_completion_create(dpa, 4, &objects->completion));
	assert_ok(doca_dpa_completion_start(objects->completion));
	assert_ok(doca_dpa_notification_completion_create(dpa, objects->thread, &objects->notification));
	assert_ok(doca_dpa_notification_completion_start(objects->notification));
	assert_ok(doca_dpa_notification_completion_get_dpa_handle(objects->notification, &handle));
	assert_ok(doca_dpa_hash_table_create(dpa, 4, &objects->table));
	assert_ok(doca_dpa_async_ops_create(dpa, 4, 0, &objects->queue));
	assert_ok(doca_dpa_async_ops_attach(objects->queue, objects->completion));
	assert_ok(doca_dpa_async_ops_start(objects->queue));
	assert_ok(doca_dpa_thread_run(objects->thread));
	assert_ok(doca_dpa_rpc(dpa, notify, &value, handle));
	dpa_event_wait(objects->event, 0);
}

/* Returns the number of calls that failed. */
static int close_objects(const struct objects *objects)
{
	return (doca_dpa_async_ops_destroy(objects->queue) != DOCA_SUCCESS) +
	       (doca_dpa_hash_table_destroy(objects->table) != DOCA_SUCCESS) +
	       (doca_dpa_notification_completion_destroy(objects->notification) != DOCA_SUCCESS) +
	       (doca_dpa_completion_destroy(objects->completion) != DOCA_SUCCESS) +
	       (doca_dpa_thread_destroy(objects->thread) != DOCA_SUCCESS);
}

/* The child has no thread that ends the kernel. */
static void test_child_destroys_what_kernels_of_its_parent_use(void **state)
{
	struct doca_dpa *dpa = *state;
	struct objects objects;
	pid_t child;

	open_objects(dpa, &objects);
	child = api_fork();
	if (child == 0)
		_exit(close_objects(&objects) + (doca_dpa_destroy(dpa) != DOCA_SUCCESS));
	api_join(child);
	assert_int_equal(close_objects(&objects), 0);
	assert_ok(doca_sync_event_destroy(objects.event));
}

/* ---- maps of the heap ---- */

#define HEAP_BYTES 8192

/* Something else comes to the addresses. */
static void test_tasks_fail_whose_heap_has_ended(void **state)
{
	static uint8_t here[64];
	struct doca_buf_inventory *inventory = api_inventory(2);
	struct doca_mmap *heap, *host = api_map(api_dev(), here, sizeof(here), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_dpa *dpa = dpa_open();
	struct doca_buf *from, *to;
	doca_dpa_dev_uintptr_t addr;
	uint8_t *there;
	size_t len;
	void *at;

	assert_ok(doca_dpa_mem_alloc(dpa, HEAP_BYTES, &addr));
	assert_ok(doca_mmap_create(&heap));
	assert_ok(doca_mmap_set_dpa_memrange(heap, dpa, addr, HEAP_BYTES));
	assert_ok(doca_mmap_start(heap));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, heap, (void *)(uintptr_t)addr, sizeof(here), &from));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, host, here, sizeof(here), &to));
	assert_ok(api_copy(api_dev(), to, from));
	assert_ok(doca_buf_reset_data_len(to));
	assert_ok(doca_dpa_destroy(dpa));
	there = mmap((void *)(uintptr_t)(addr & ~UINT64_C(4095)), 2 * HEAP_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_ptr_not_equal(there, MAP_FAILED);
	memset(there, 's', 2 * HEAP_BYTES);
	assert_int_not_equal(api_copy(api_dev(), to, from), DOCA_SUCCESS);
	assert_int_not_equal(here[0], 's');
	assert_doca(doca_mmap_get_memrange(heap, &at, &len), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_buf_dec_refcount(from, NULL));
	assert_ok(doca_buf_dec_refcount(to, NULL));
	assert_invalid(doca_mmap_start(heap));
	assert_ok(doca_mmap_destroy(heap));
	assert_ok(doca_mmap_destroy(host));
	assert_ok(doca_buf_inventory_destroy(inventory));
	munmap(there, 2 * HEAP_BYTES);
}

/* ---- other devices ---- */

/* provokes: doca_dpa_cap_is_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_dpa_create DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_sync_event_cap_is_export_to_dpa_supported DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_clock_cap_nic_dpa_timer_is_supported DOCA_ERROR_NOT_SUPPORTED */
static void test_card_without_dpa(void **state)
{
	struct doca_devinfo *devinfo = doca_dev_as_devinfo(api_dev());
	union doca_clock_timespec_t now;
	struct doca_clock *clock;
	struct doca_dpa *dpa;

	assert_doca(doca_sync_event_cap_is_export_to_dpa_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_clock_cap_nic_dpa_timer_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_clock_create(api_dev(), &clock));
	assert_doca(doca_clock_get_timestamp(clock, DOCA_CLOCK_NIC_DPA_TIMER, &now), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_clock_destroy(clock));

	assert_doca(doca_dpa_cap_is_supported(doca_dev_as_devinfo(api_dev())), DOCA_ERROR_NOT_SUPPORTED);
	assert_doca(doca_dpa_create(api_dev(), &dpa), DOCA_ERROR_NOT_SUPPORTED);
}

static void test_sf_is_no_base(void **state)
{
	struct doca_dev *sf = api_open_nth(1);
	struct doca_dpa *dpa, *base = dpa_open();
	unsigned int number;

	assert_ok(doca_dpa_create(sf, &dpa));
	assert_ok(doca_dpa_set_app(dpa, dpa_test_app));
	assert_doca(doca_dpa_start(dpa), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_destroy(dpa));
	assert_ok(doca_dpa_device_extend(base, sf, &dpa));
	assert_ok(doca_dpa_get_total_num_eus_available(base, &number));
	assert_int_equal(number, 4);
	assert_ok(doca_dpa_destroy(dpa));
	assert_ok(doca_dpa_destroy(base));
	assert_ok(doca_dev_close(sf));
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, dpa_setup, dpa_teardown)

static const struct CMUnitTest with_dpa[] = {
	TEST(nothing_is_no_context),
	cmocka_unit_test(test_context_starts_with_an_application_and_stops),
	cmocka_unit_test(test_application_has_a_name),
	TEST(context_with_objects_does_not_end),
	TEST(limits_are_the_cards),
	TEST(extended_context_is_another_device_of_its_base),
	cmocka_unit_test(test_lines_go_to_the_file_that_was_set),
	cmocka_unit_test(test_traces_go_to_the_file_that_was_set),
	TEST(traces_without_a_file_are_dropped),
	TEST(copies_reach_blocks_of_the_heap_alone),
	cmocka_unit_test(test_stopped_context_has_no_memory_and_no_kernels),
	TEST(copies_from_and_to_buffers),
	TEST(fatal_context_answers_driver),
	TEST(context_is_the_parents_in_a_forked_child),
	TEST(child_destroys_what_kernels_of_its_parent_use),
	cmocka_unit_test(test_tasks_fail_whose_heap_has_ended),
};

static const struct CMUnitTest without_dpa[] = { cmocka_unit_test(test_card_without_dpa) };
static const struct CMUnitTest with_sf[] = { cmocka_unit_test(test_sf_is_no_base) };

int main(void)
{
	return API_RUN(
		{ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(with_dpa) },
		{ .name = "bluefield-2",
		  .topology =
			  "cards:\n- profile: bluefield-2\n  functions:\n  - {side: dpu, type: pf, pci: \"03:00.0\"}\n",
		  .side = "dpu",
		  .dev = &dev,
		  API_WITH(without_dpa) },
		{ .name = "switched off",
		  .topology = "cards:\n- profile: bluefield-3\n  dpa: {enabled: false}\n  functions:\n"
			      "  - {side: dpu, type: pf, pci: \"03:00.0\"}\n",
		  .side = "dpu",
		  .dev = &dev,
		  API_WITH(without_dpa) },
		{ .name = "sf",
		  .topology = "cards:\n- profile: bluefield-3\n  dpa: {eus: 4}\n  functions:\n"
			      "  - {side: dpu, type: pf, pci: \"03:00.0\"}\n"
			      "  - {side: dpu, type: sf, pci: \"03:00.0\", sf-index: 4}\n",
		  .side = "dpu",
		  .dev = &dev,
		  API_WITH(with_sf) });
}
