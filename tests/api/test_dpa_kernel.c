/* SPDX-License-Identifier: BSD-3-Clause */
/* RPCs and kernel launches on the DPA: arguments, values, events, order, and kernels that are fatal. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <doca_log.h>

#include "dpa_util.h"
#include "under_valgrind.h"

static struct doca_dev *dev;

/* unreachable: doca_sync_event_get_dpa_handle DOCA_ERROR_NOT_SUPPORTED: a card with a DPA supports it
 * unreachable: doca_sync_event_get_dpa_handle DOCA_ERROR_NO_MEMORY: a handle is small */

/* ---- RPCs ---- */

/* provokes: doca_dpa_rpc DOCA_ERROR_INVALID_VALUE */
static void test_rpc_takes_arguments_and_returns_a_value(void **state)
{
	struct doca_dpa *dpa = *state;
	uint64_t value;

	assert_ok(doca_dpa_rpc(dpa, add, &value, UINT64_C(1) << 40, (uint32_t)7));
	assert_int_equal(value, (UINT64_C(1) << 40) + 7);
	assert_invalid(doca_dpa_rpc(NULL, add, &value, UINT64_C(1), (uint32_t)7));
	assert_invalid(doca_dpa_rpc(dpa, NULL, &value));
	assert_invalid(doca_dpa_rpc(dpa, add, NULL, UINT64_C(1), (uint32_t)7));
	assert_invalid(doca_dpa_rpc(dpa, (doca_dpa_func_t *)doca_dpa_create, &value));
	assert_invalid(doca_dpa_rpc(dpa, record_rank, &value, value, value));
}

static void test_globals_belong_to_the_context(void **state)
{
	struct doca_dpa *other = dpa_open();
	uint64_t value;

	for (uint64_t i = 1; i <= 3; i++) {
		assert_ok(doca_dpa_rpc(*state, count_calls, &value));
		assert_int_equal(value, i);
	}
	assert_ok(doca_dpa_rpc(other, count_calls, &value));
	assert_int_equal(value, 1);
	assert_ok(doca_dpa_destroy(other));
}

static void test_heap_is_shared_with_kernels(void **state)
{
	doca_dpa_dev_uintptr_t block;
	uint64_t value, word = 5;

	assert_ok(doca_dpa_mem_alloc(*state, 8, &block));
	assert_ok(doca_dpa_h2d_memcpy(*state, block, &word, sizeof(word)));
	assert_ok(doca_dpa_rpc(*state, load, &value, block));
	assert_int_equal(value, 5);
	assert_ok(doca_dpa_rpc(*state, store, &value, block, UINT64_C(6)));
	assert_ok(doca_dpa_d2h_memcpy(*state, &word, block, sizeof(word)));
	assert_int_equal(word, 6);
}

#define CALLERS 4
#define CALLS   200

static void *call_often(void *dpa)
{
	uint64_t value;

	for (uint64_t i = 0; i < CALLS; i++)
		if (doca_dpa_rpc(dpa, add, &value, i, (uint32_t)1) != DOCA_SUCCESS || value != i + 1)
			return dpa;
	return NULL;
}

static void test_threads_call_at_the_same_time(void **state)
{
	pthread_t threads[CALLERS];
	void *failed;

	for (int i = 0; i < CALLERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_often, *state), 0);
	for (int i = 0; i < CALLERS; i++) {
		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
}

static void test_clocks_of_a_kernel(void **state)
{
	uint64_t few, many, now_us;
	struct timespec before, after;

	assert_ok(doca_dpa_rpc(*state, measure_cycles, &few, UINT64_C(100)));
	assert_ok(doca_dpa_rpc(*state, measure_cycles, &many, UINT64_C(10000)));
	assert_true(few > 0 && many > 20 * few);
	clock_gettime(CLOCK_REALTIME, &before);
	assert_ok(doca_dpa_rpc(*state, read_time_us, &now_us));
	clock_gettime(CLOCK_REALTIME, &after);
	assert_in_range(now_us, (uint64_t)before.tv_sec * 1000000 + (uint64_t)before.tv_nsec / 1000,
			(uint64_t)after.tv_sec * 1000000 + (uint64_t)after.tv_nsec / 1000);
}

/* ---- launches ---- */

/* provokes: doca_dpa_kernel_launch_update_set DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_kernel_launch_update_add DOCA_ERROR_INVALID_VALUE */
static void test_ranks_of_a_launch_run_behind_its_event(void **state)
{
	struct doca_dpa *dpa = *state;
	struct doca_sync_event *wait = dpa_event_new(dpa, NULL), *done = dpa_event_new(dpa, NULL);
	doca_dpa_dev_uintptr_t ranks;
	uint64_t back[8] = { 0 }, value = 0;

	assert_ok(doca_dpa_mem_alloc(dpa, sizeof(back), &ranks));
	assert_ok(doca_dpa_memset(dpa, ranks, 0, sizeof(back)));
	assert_invalid(doca_dpa_kernel_launch_update_set(NULL, NULL, 0, NULL, 0, 1, record_rank, ranks, value));
	assert_invalid(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, NULL));
	assert_invalid(doca_dpa_kernel_launch_update_add(NULL, NULL, 0, NULL, 0, 1, record_rank, ranks, value));
	assert_invalid(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, NULL, 0, 0, record_rank, ranks, value));
	assert_invalid(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, NULL, 0, 129, record_rank, ranks, value));
	assert_invalid(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 1, add, ranks, (uint32_t)1));
	assert_invalid(doca_dpa_kernel_launch_update_set(dpa, (struct doca_sync_event *)dpa, 0, NULL, 0, 1, record_rank,
							 ranks, value));
	assert_ok(doca_dpa_kernel_launch_update_set(dpa, wait, 4, done, 10, 8, record_rank, ranks, UINT64_C(100)));
	assert_ok(doca_dpa_kernel_launch_update_add(dpa, NULL, 0, done, 3, 2, record_rank, ranks, UINT64_C(200)));
	assert_ok(doca_sync_event_update_set(wait, 4));
	assert_ok(doca_sync_event_get(done, &value));
	assert_int_equal(value, 0);
	assert_ok(doca_sync_event_update_set(wait, 5));
	dpa_event_wait(done, 12);
	assert_ok(doca_sync_event_get(done, &value));
	assert_int_equal(value, 13);
	assert_ok(doca_dpa_d2h_memcpy(dpa, back, ranks, sizeof(back)));
	for (int i = 0; i < 8; i++)
		assert_int_equal(back[i], i < 2 ? 202 : 108);
	assert_ok(doca_sync_event_destroy(wait));
	assert_ok(doca_sync_event_destroy(done));
}

/* provokes: doca_sync_event_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_publisher_location_dpa DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_add_subscriber_location_dpa DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_cap_is_export_to_dpa_supported DOCA_ERROR_INVALID_VALUE */
static void test_kernel_hears_and_changes_events(void **state)
{
	struct doca_dpa *dpa = *state;
	doca_dpa_dev_sync_event_t heard, said, again;
	struct doca_sync_event *to = dpa_event_new(dpa, &heard), *from = dpa_event_new(dpa, &said), *unstarted;
	uint64_t value;

	assert_ok(doca_sync_event_cap_is_export_to_dpa_supported(doca_dev_as_devinfo(api_dev())));
	assert_invalid(doca_sync_event_cap_is_export_to_dpa_supported(NULL));
	assert_ok(doca_sync_event_create(&unstarted));
	assert_invalid(doca_sync_event_get_dpa_handle(unstarted, dpa, &again));
	assert_invalid(doca_sync_event_get_dpa_handle(NULL, dpa, &again));
	assert_invalid(doca_sync_event_get_dpa_handle(to, NULL, &again));
	assert_invalid(doca_sync_event_add_publisher_location_dpa(unstarted, (struct doca_dpa *)to));
	assert_invalid(doca_sync_event_add_publisher_location_dpa(to, dpa));
	assert_invalid(doca_sync_event_add_subscriber_location_dpa(unstarted, NULL));
	assert_ok(doca_sync_event_destroy(unstarted));
	assert_ok(doca_sync_event_get_dpa_handle(to, dpa, &again));
	assert_int_equal(again, heard);
	assert_ok(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, from, 20, 1, follow_event, heard, said));
	assert_ok(doca_sync_event_update_set(to, 6));
	assert_ok(doca_sync_event_update_set(to, 7));
	dpa_event_wait(from, 19);
	assert_ok(doca_dpa_rpc(dpa, get_event, &value, said));
	assert_int_equal(value, 20);
	assert_ok(doca_sync_event_destroy(to));
	assert_ok(doca_sync_event_destroy(from));
	assert_doca(doca_dpa_rpc(dpa, get_event, &value, said), DOCA_ERROR_DRIVER);
	dpa_remove_crash_file(NULL);
}

/* A launch that waits, one that is queued behind it, and a kernel that waits for ever. */
static void test_context_ends_with_launches_under_way(void **state)
{
	struct doca_dpa *dpa = dpa_open();
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *wait = dpa_event_new(dpa, NULL), *event = dpa_event_new(dpa, &handle);

	assert_ok(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 3, wait_for_ever, handle));
	dpa_event_wait(event, 2);
	assert_ok(doca_dpa_kernel_launch_update_set(dpa, wait, 1, event, 1, 1, wait_for_ever, handle));
	assert_ok(doca_dpa_destroy(dpa));
	dpa = dpa_open();
	assert_ok(doca_dpa_kernel_launch_update_set(dpa, wait, 1, event, 1, 1, wait_for_ever, handle));
	assert_ok(doca_dpa_destroy(dpa));
	assert_ok(doca_sync_event_destroy(wait));
	assert_ok(doca_sync_event_destroy(event));
}

/* ---- hash tables ---- */

/* provokes: doca_dpa_hash_table_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_hash_table_create DOCA_ERROR_BAD_STATE
 * provokes: doca_dpa_hash_table_create DOCA_ERROR_DRIVER
 * provokes: doca_dpa_hash_table_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dpa_hash_table_get_dpa_handle DOCA_ERROR_INVALID_VALUE
 * unreachable: doca_dpa_hash_table_destroy DOCA_ERROR_DRIVER: no driver is asked
 * unreachable: doca_dpa_hash_table_destroy DOCA_ERROR_BAD_STATE: nothing holds a table */
static void test_kernel_fills_a_table(void **state)
{
	struct doca_dpa *dpa = *state, *stopped = dpa_new(), *fatal = dpa_open_fatal();
	struct doca_dpa_hash_table *table;
	doca_dpa_dev_hash_table_t handle;
	uint64_t value;

	assert_invalid(doca_dpa_hash_table_create(NULL, 8, &table));
	assert_invalid(doca_dpa_hash_table_create(dpa, 0, &table));
	assert_doca(doca_dpa_hash_table_create(stopped, 8, &table), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dpa_hash_table_create(fatal, 8, &table), DOCA_ERROR_DRIVER);
	assert_ok(doca_dpa_hash_table_create(dpa, 8, &table));
	assert_invalid(doca_dpa_hash_table_get_dpa_handle(NULL, &handle));
	assert_ok(doca_dpa_hash_table_get_dpa_handle(table, &handle));
	assert_ok(doca_dpa_rpc(dpa, fill_table, &value, handle, (uint32_t)8));
	assert_int_equal(value, 0 + 2 + 3 + 4 + 5 + 6 + 7);
	assert_ok(doca_dpa_hash_table_destroy(table));
	assert_invalid(doca_dpa_hash_table_destroy(NULL));
	assert_ok(doca_dpa_destroy(stopped));
	assert_ok(doca_dpa_destroy(fatal));
}

/* ---- what is fatal ---- */

static void assert_fatal(struct doca_dpa *dpa, doca_error_t result)
{
	assert_doca(result, DOCA_ERROR_DRIVER);
	assert_doca(doca_dpa_peek_at_last_error(dpa), DOCA_ERROR_BAD_STATE);
	dpa_remove_crash_file(NULL);
}

static void test_memory_of_the_host_is_fatal(void **state)
{
	uint64_t word = 1, value;

	assert_fatal(*state, doca_dpa_rpc(*state, store, &value, (uint64_t)(uintptr_t)&word, UINT64_C(2)));
	assert_int_equal(word, 1);
}

static void read_crash_file(char *text, size_t size)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/doca_dpa_fatal.%d.crash", (int)getpid());
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

static void test_log_and_file_name_kernel_function_and_line(void **state)
{
	struct doca_log_backend *backend;
	char expected[64], file[1024], *log = NULL;
	size_t len;
	FILE *stream = open_memstream(&log, &len);
	uint64_t line, value;

	assert_non_null(stream);
	assert_ok(doca_log_backend_create_with_file_sdk(stream, &backend));
	assert_ok(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_ERROR));
	assert_ok(doca_dpa_rpc(*state, load_or_line, &line, UINT64_C(0)));
	assert_doca(doca_dpa_rpc(*state, load_or_line, &value, UINT64_C(64)), DOCA_ERROR_DRIVER);
	assert_ok(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DISABLE));
	fflush(stream);
	assert_non_null(
		strstr(log, "DPA application dpa_test_app, kernel load_or_line on EU 0: load of 8 bytes at 0x40,"));
	snprintf(expected, sizeof(expected), "/tests/api/dpa/kernels.c:%u)", (unsigned int)line);
	assert_non_null(strstr(log, "(load_or_line, "));
	assert_non_null(strstr(log, expected));
	read_crash_file(file, sizeof(file));
	snprintf(expected, sizeof(expected), "/tests/api/dpa/kernels.c:%u\n", (unsigned int)line);
	assert_non_null(strstr(file, "kernel: load_or_line\nexecution unit: 0\nreason: load of 8 bytes at 0x40,"));
	assert_non_null(strstr(file, "function: load_or_line\nplace: "));
	assert_non_null(strstr(file, expected));
	dpa_remove_crash_file(NULL);
}

static void test_freed_memory_is_fatal(void **state)
{
	doca_dpa_dev_uintptr_t block;
	uint64_t value;

	assert_ok(doca_dpa_mem_alloc(*state, 64, &block));
	assert_ok(doca_dpa_rpc(*state, load, &value, block + 56));
	assert_ok(doca_dpa_mem_free(*state, block));
	assert_fatal(*state, doca_dpa_rpc(*state, load, &value, block + 56));
}

static void test_byte_behind_a_block_is_fatal(void **state)
{
	doca_dpa_dev_uintptr_t block;
	uint64_t value;

	assert_ok(doca_dpa_mem_alloc(*state, 64, &block));
	assert_fatal(*state, doca_dpa_rpc(*state, load, &value, block + 57));
}

/* A jump ends by a signal, whose registers are known. */
static void test_crash_file_has_the_registers(void **state)
{
	char file[2048];
	uint64_t value;

	if (RUNNING_ON_VALGRIND)
		skip(); /* it reports the jump */
	assert_doca(doca_dpa_rpc(*state, jump, &value, UINT64_C(16)), DOCA_ERROR_DRIVER);
	read_crash_file(file, sizeof(file));
#if defined(__x86_64__)
	assert_non_null(strstr(file, "registers: rip: 0x10, rsp: 0x"));
	assert_non_null(strstr(file, "r15: 0x"));
#else
	assert_non_null(strstr(file, "registers: pc: 0x10, sp: 0x"));
	assert_non_null(strstr(file, "x30: 0x"));
#endif
	assert_non_null(strstr(file, "function: jump\n"));
	dpa_remove_crash_file(NULL);
}

/* An aarch64 processor gives 0 and goes on. */
static void test_division_by_zero_is_fatal(void **state)
{
	uint64_t value;

#if defined(__aarch64__)
	skip();
#endif
	assert_fatal(*state, doca_dpa_rpc(*state, divide, &value, UINT64_C(1), UINT64_C(0)));
}

static void test_deep_recursion_is_fatal(void **state)
{
	uint64_t value;

	assert_ok(doca_dpa_rpc(*state, recurse_deeply, &value, UINT64_C(3)));
	assert_int_equal(value, 6);
	assert_fatal(*state, doca_dpa_rpc(*state, recurse_deeply, &value, UINT64_C(1) << 30));
}

static void test_wrong_handles_are_fatal(void **state)
{
	struct doca_dpa *dpa = *state;
	uint64_t value;

	assert_fatal(dpa, doca_dpa_rpc(dpa, get_event, &value, UINT64_C(77)));
	assert_ok(doca_dpa_stop(dpa));
	assert_ok(doca_dpa_start(dpa));
	assert_fatal(dpa, doca_dpa_rpc(dpa, notify, &value, UINT64_C(77)));
	assert_ok(doca_dpa_stop(dpa));
	assert_ok(doca_dpa_start(dpa));
	assert_fatal(dpa, doca_dpa_rpc(dpa, reschedule_rpc, &value));
}

/* The run time is the kernel's own: 20 ms of it pass in less on most machines, and never in an hour. */
static void test_endless_kernel_is_ended(void **state)
{
	uint64_t value;

	assert_fatal(*state, doca_dpa_rpc(*state, run_for_ever, &value));
}

static void *call_for_ever(void *dpa)
{
	uint64_t value;

	return doca_dpa_rpc(dpa, run_for_ever, &value) == DOCA_ERROR_DRIVER ? NULL : dpa;
}

/* A fatal kernel ends those that run, those that wait, and calls that wait for them. */
static void test_fatal_kernel_ends_the_others(void **state)
{
	struct doca_dpa *dpa = *state;
	doca_dpa_dev_sync_event_t handle;
	struct doca_sync_event *event = dpa_event_new(dpa, &handle);
	pthread_t caller;
	void *failed;
	uint64_t value;

	assert_ok(doca_dpa_kernel_launch_update_set(dpa, NULL, 0, NULL, 0, 2, wait_for_ever, handle));
	dpa_event_wait(event, 1);
	assert_int_equal(pthread_create(&caller, NULL, call_for_ever, dpa), 0);
	assert_fatal(dpa, doca_dpa_rpc(dpa, load, &value, UINT64_C(64)));
	assert_int_equal(pthread_join(caller, &failed), 0);
	assert_null(failed);
	assert_ok(doca_sync_event_destroy(event));
}

static void test_context_survives_many_fatal_kernels(void **state)
{
	for (int i = 0; i < 50; i++) {
		struct doca_dpa *dpa = dpa_open_fatal();

		assert_ok(doca_dpa_destroy(dpa));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, dpa_setup, dpa_teardown)

static const struct CMUnitTest on_card[] = {
	TEST(rpc_takes_arguments_and_returns_a_value),
	TEST(globals_belong_to_the_context),
	TEST(heap_is_shared_with_kernels),
	TEST(threads_call_at_the_same_time),
	TEST(clocks_of_a_kernel),
	TEST(ranks_of_a_launch_run_behind_its_event),
	TEST(kernel_hears_and_changes_events),
	cmocka_unit_test(test_context_ends_with_launches_under_way),
	TEST(kernel_fills_a_table),
	TEST(memory_of_the_host_is_fatal),
	TEST(log_and_file_name_kernel_function_and_line),
	TEST(freed_memory_is_fatal),
	TEST(byte_behind_a_block_is_fatal),
	TEST(crash_file_has_the_registers),
	TEST(division_by_zero_is_fatal),
	TEST(deep_recursion_is_fatal),
	TEST(wrong_handles_are_fatal),
	TEST(fatal_kernel_ends_the_others),
	cmocka_unit_test(test_context_survives_many_fatal_kernels),
};

static const struct CMUnitTest with_short_time[] = { TEST(endless_kernel_is_ended) };

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(on_card) },
		       { .name = "20 ms",
			 .topology = "cards:\n- profile: bluefield-3\n  dpa: {run-time-ms: 20, eus: 2}\n  functions:\n"
				     "  - {side: dpu, type: pf, pci: \"03:00.0\"}\n",
			 .side = "dpu",
			 .dev = &dev,
			 API_WITH(with_short_time) });
}
