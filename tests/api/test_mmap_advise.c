/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints about memory: the context and its cache-invalidate task. */
#include "api_util.h"
#include "dma_util.h"

#include <doca_mmap_advise.h>

#define MAX_BYTES ((size_t)2 << 20)
#define NUM_TASKS 4

typedef struct doca_mmap_advise_task_invalidate_cache invalidate_task;

/* A context beside the rig's DMA context, on its engine and with its trace. */
struct advice {
	struct rig *rig;
	struct doca_mmap_advise *advise;
	struct doca_ctx *ctx;
};

static void done(invalidate_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct advice *advice = ctx_data.ptr;

	rig_note(advice->rig, "invalidate %" PRIu64 " done\n", task_data.u64);
	doca_task_free(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
}

static void failed(invalidate_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct advice *advice = ctx_data.ptr;
	struct doca_task *base = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);

	rig_note(advice->rig, "invalidate %" PRIu64 " failed: %s\n", task_data.u64,
		 doca_error_get_name(doca_task_get_status(base)));
	doca_task_free(base);
}

static struct advice *make_idle(size_t arena_bytes)
{
	struct advice *advice = calloc(1, sizeof(*advice));

	CHECK(advice);
	advice->rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = arena_bytes }));
	MUST(doca_mmap_advise_create(advice->rig->dev, &advice->advise));
	advice->ctx = doca_mmap_advise_as_ctx(advice->advise);
	CHECK(advice->ctx);
	MUST(doca_mmap_advise_task_invalidate_cache_set_conf(advice->advise, done, failed, NUM_TASKS));
	MUST(doca_ctx_set_user_data(advice->ctx, (union doca_data){ .ptr = advice }));
	MUST(doca_pe_connect_ctx(advice->rig->pe, advice->ctx));
	return advice;
}

static enum doca_ctx_states state_of(const struct advice *advice)
{
	enum doca_ctx_states state;

	MUST(doca_ctx_get_state(advice->ctx, &state));
	return state;
}

static void progress_to_idle(struct advice *advice)
{
	struct rig_deadline deadline = rig_deadline();

	while (state_of(advice) != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(advice->rig->pe);
		CHECK(!rig_is_over(deadline));
	}
}

static void end(struct advice *advice)
{
	doca_ctx_stop(advice->ctx);
	progress_to_idle(advice);
	MUST(doca_mmap_advise_destroy(advice->advise));
	rig_close(advice->rig);
	free(advice);
}

static int setup_idle(void **state)
{
	*state = make_idle(0);
	return 0;
}

static int setup_running(void **state)
{
	struct advice *advice = make_idle(2 * MAX_BYTES);

	MUST(doca_ctx_start(advice->ctx));
	*state = advice;
	return 0;
}

static int teardown(void **state)
{
	end(*state);
	return 0;
}

#define IDLE(test)    cmocka_unit_test_setup_teardown(test, setup_idle, teardown)
#define RUNNING(test) cmocka_unit_test_setup_teardown(test, setup_running, teardown)

static struct doca_task *task_for(struct advice *advice, uint64_t number, struct doca_buf *buf)
{
	invalidate_task *task;

	MUST(doca_mmap_advise_task_invalidate_cache_alloc_init(advice->advise, buf, (union doca_data){ .u64 = number },
							       &task));
	return doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
}

/* ---- what it does ---- */

static void test_invalidate_completes_and_the_bytes_stay(void **state)
{
	struct advice *advice = *state;

	assert_ok(doca_task_submit(task_for(advice, 7, rig_src(advice->rig, 100, 1000))));
	assert_int_equal(rig_pe_in_flight(advice->rig), 1);
	rig_drain(advice->rig);
	assert_trace(advice->rig, "invalidate 7 done\n");
	assert_true(rig_is_untouched(advice->rig, 0, advice->rig->arena_bytes));
}

static void test_tasks_complete_in_the_order_of_submission(void **state)
{
	struct advice *advice = *state;

	for (uint64_t i = 1; i <= NUM_TASKS; i++)
		assert_ok(doca_task_try_submit(task_for(advice, i, rig_src(advice->rig, i * 64, i))));
	rig_drain(advice->rig);
	assert_trace(advice->rig, "invalidate 1 done\ninvalidate 2 done\ninvalidate 3 done\ninvalidate 4 done\n");
}

/* A program copies, then drops the source from the cache. */
static void test_source_of_a_copy_is_invalidated_after_it(void **state)
{
	struct advice *advice = *state;
	struct rig *rig = advice->rig;
	struct doca_buf *src = rig_src(rig, 0, 64);

	assert_ok(doca_task_submit(rig_task(rig, 1, src, rig_dst(rig, 4096, 64))));
	rig_drain(rig);
	assert_ok(doca_task_submit(task_for(advice, 2, src)));
	rig_drain(rig);
	assert_trace(rig, "task 1 done\ninvalidate 2 done\n");
	assert_true(rig_was_copied(rig, 4096, 0, 64));
}

static void test_sleeper_is_woken(void **state)
{
	struct advice *advice = *state;
	doca_notification_handle_t fd;

	assert_ok(doca_pe_get_notification_handle(advice->rig->pe, &fd));
	assert_ok(doca_task_submit(task_for(advice, 1, rig_src(advice->rig, 0, 64))));
	assert_ok(doca_pe_request_notification(advice->rig->pe));
	assert_true(rig_wait_readable(fd));
	assert_ok(doca_pe_clear_notification(advice->rig->pe, fd));
	rig_drain(advice->rig);
	assert_trace(advice->rig, "invalidate 1 done\n");
}

static void test_task_has_the_buffer_that_was_set_last(void **state)
{
	struct advice *advice = *state;
	struct doca_buf *first = rig_src(advice->rig, 0, 64), *second = rig_src(advice->rig, 64, 64);
	invalidate_task *task;
	struct doca_task *base;

	assert_ok(doca_mmap_advise_task_invalidate_cache_alloc_init(advice->advise, first,
								    (union doca_data){ .u64 = 1 }, &task));
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), first);
	doca_mmap_advise_task_invalidate_cache_set_buf(task, second);
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), second);
	base = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);
	assert_ok(doca_task_submit(base));
	doca_mmap_advise_task_invalidate_cache_set_buf(task, first); /* too late */
	assert_ptr_equal(doca_mmap_advise_task_invalidate_cache_get_buf(task), second);
	rig_drain(advice->rig);
	assert_null(doca_mmap_advise_task_invalidate_cache_get_buf(task)); /* freed */
}

/* ---- refusals and failures ---- */

/* Either the submission is refused; or the task fails, the one behind it too, and the context stops. */
static void expect_failure(struct advice *advice, struct doca_buf *buf)
{
	struct doca_task *task = task_for(advice, 1, buf);

	assert_invalid(doca_task_try_submit(task));
	assert_ok(doca_task_submit(task));
	assert_ok(doca_task_submit(task_for(advice, 2, rig_src(advice->rig, 0, 8))));
	progress_to_idle(advice);
	assert_trace(advice->rig, "invalidate 1 failed: DOCA_ERROR_IO_FAILED\n"
				  "invalidate 2 failed: DOCA_ERROR_IO_FAILED\n");
	assert_ok(doca_ctx_start(advice->ctx));
}

static void test_2_mib_are_fine_and_a_byte_more_fails(void **state)
{
	struct advice *advice = *state;

	assert_ok(doca_task_try_submit(task_for(advice, 1, rig_src(advice->rig, 1, MAX_BYTES))));
	rig_drain(advice->rig);
	assert_trace(advice->rig, "invalidate 1 done\n");
	expect_failure(advice, rig_src(advice->rig, 1, MAX_BYTES + 1));
}

static void test_buffer_without_data_fails(void **state)
{
	struct advice *advice = *state;

	expect_failure(advice, rig_dst(advice->rig, 0, 64));
}

static void test_map_without_the_device_fails(void **state)
{
	struct advice *advice = *state;
	struct doca_dev *other = rig_open_dev(1);
	uint8_t memory[64] = { 0 };
	struct doca_mmap *mmap = rig_make_mmap(other, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_buf *buf = rig_buf(advice->rig, mmap, memory, 64, 0, 64);

	expect_failure(advice, buf);
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(doca_dev_close(other));
}

static void test_map_that_was_stopped_fails(void **state)
{
	struct advice *advice = *state;
	uint8_t memory[64] = { 0 };
	struct doca_mmap *mmap;
	struct doca_buf *buf;

	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_add_dev(mmap, advice->rig->dev));
	assert_ok(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	assert_ok(doca_mmap_enable_thread_safety(mmap)); /* else the buffer would keep the map from stopping */
	assert_ok(doca_mmap_start(mmap));
	buf = rig_buf(advice->rig, mmap, memory, 64, 0, 64);
	assert_ok(doca_mmap_stop(mmap));
	expect_failure(advice, buf);
	assert_ok(doca_mmap_destroy(mmap));
	expect_failure(advice, buf);
}

static void test_list_and_no_buffer_at_all_are_refused(void **state)
{
	struct advice *advice = *state;
	struct doca_buf *head = rig_src(advice->rig, 0, 64), *tail = rig_src(advice->rig, 64, 64);
	struct doca_buf *bufs[] = { head, tail, NULL };

	assert_ok(doca_buf_chain_list(head, tail));
	for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
		struct doca_task *task = task_for(advice, i, bufs[i]);

		assert_invalid(doca_task_submit(task));
		assert_invalid(doca_task_try_submit(task));
		doca_task_free(task);
	}
	assert_int_equal(rig_pe_in_flight(advice->rig), 0);
}

static void test_buffer_returned_in_flight_fails(void **state)
{
	struct advice *advice = *state;
	struct doca_buf *buf = rig_src(advice->rig, 0, 64);

	assert_ok(doca_task_submit_ex(task_for(advice, 1, buf), DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_ok(doca_buf_dec_refcount(buf, NULL));
	doca_ctx_flush_tasks(advice->ctx);
	progress_to_idle(advice);
	assert_trace(advice->rig, "invalidate 1 failed: DOCA_ERROR_IO_FAILED\n");
}

/* ---- life ---- */

static void test_tasks_are_as_many_as_configured(void **state)
{
	struct advice *advice = *state;
	struct doca_buf *buf = rig_src(advice->rig, 0, 64);
	struct doca_task *tasks[NUM_TASKS];
	invalidate_task *one_more = NULL;

	for (size_t i = 0; i < NUM_TASKS; i++)
		tasks[i] = task_for(advice, i, buf);
	/* provokes: doca_mmap_advise_task_invalidate_cache_alloc_init DOCA_ERROR_NO_MEMORY */
	assert_doca(doca_mmap_advise_task_invalidate_cache_alloc_init(advice->advise, buf, (union doca_data){ 0 },
								      &one_more),
		    DOCA_ERROR_NO_MEMORY);
	assert_null(one_more);
	assert_doca(doca_mmap_advise_destroy(advice->advise), DOCA_ERROR_IN_USE);
	for (size_t i = 0; i < NUM_TASKS; i++)
		doca_task_free(tasks[i]);
}

static void test_idle_context_has_no_tasks_and_running_one_no_new_configuration(void **state)
{
	struct advice *advice = *state;
	invalidate_task *task;

	assert_doca(
		doca_mmap_advise_task_invalidate_cache_alloc_init(advice->advise, NULL, (union doca_data){ 0 }, &task),
		DOCA_ERROR_BAD_STATE);
	assert_ok(doca_ctx_start(advice->ctx));
	/* provokes: doca_mmap_advise_task_invalidate_cache_set_conf DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_mmap_advise_task_invalidate_cache_set_conf(advice->advise, done, failed, 1),
		    DOCA_ERROR_NOT_PERMITTED);
}

static void test_context_without_configuration_does_not_start(void **state)
{
	struct advice *advice = *state;
	struct doca_mmap_advise *bare;

	assert_ok(doca_mmap_advise_create(advice->rig->dev, &bare));
	assert_ok(doca_pe_connect_ctx(advice->rig->pe, doca_mmap_advise_as_ctx(bare)));
	assert_invalid(doca_ctx_start(doca_mmap_advise_as_ctx(bare)));
	assert_ok(doca_mmap_advise_destroy(bare));
}

/* provokes: doca_mmap_advise_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_advise_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_advise_cap_task_cache_invalidate_is_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_advise_task_cache_invalidate_get_max_buf_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_mmap_advise_task_invalidate_cache_set_conf DOCA_ERROR_INVALID_VALUE */
static void test_bad_arguments_are_refused(void **state)
{
	struct advice *advice = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(advice->rig->dev);
	struct doca_mmap_advise *made = NULL, *others = (struct doca_mmap_advise *)advice->rig->dma;
	invalidate_task *task = NULL, *copy;
	uint64_t size;

	assert_invalid(doca_mmap_advise_create(NULL, &made));
	assert_invalid(doca_mmap_advise_create(advice->rig->dev, NULL));
	assert_null(made);
	assert_invalid(doca_mmap_advise_destroy(NULL));
	assert_invalid(doca_mmap_advise_destroy(others));
	assert_null(doca_mmap_advise_as_ctx(NULL));
	assert_null(doca_mmap_advise_as_ctx(others));
	assert_invalid(doca_mmap_advise_cap_task_cache_invalidate_is_supported(NULL));
	assert_invalid(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(NULL, &size));
	assert_invalid(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(devinfo, NULL));
	assert_invalid(doca_mmap_advise_task_invalidate_cache_set_conf(NULL, done, failed, 1));
	assert_invalid(doca_mmap_advise_task_invalidate_cache_set_conf(advice->advise, NULL, failed, 1));
	assert_invalid(doca_mmap_advise_task_invalidate_cache_set_conf(advice->advise, done, NULL, 1));
	assert_invalid(doca_mmap_advise_task_invalidate_cache_set_conf(advice->advise, done, failed, 0));
	assert_invalid(doca_mmap_advise_task_invalidate_cache_set_conf(advice->advise, done, failed, 65537));
	assert_invalid(doca_mmap_advise_task_invalidate_cache_alloc_init(NULL, NULL, (union doca_data){ 0 }, &task));
	assert_invalid(
		doca_mmap_advise_task_invalidate_cache_alloc_init(advice->advise, NULL, (union doca_data){ 0 }, NULL));
	assert_null(doca_mmap_advise_task_invalidate_cache_as_doca_task(NULL));
	assert_null(doca_mmap_advise_task_invalidate_cache_get_buf(NULL));
	doca_mmap_advise_task_invalidate_cache_set_buf(NULL, NULL);

	copy = (invalidate_task *)rig_small_task(advice->rig, 1); /* a task, but of another kind */
	assert_null(doca_mmap_advise_task_invalidate_cache_as_doca_task(copy));
	assert_null(doca_mmap_advise_task_invalidate_cache_get_buf(copy));
	doca_mmap_advise_task_invalidate_cache_set_buf(copy, NULL);
	assert_ok(doca_task_submit((struct doca_task *)copy));
	rig_drain(advice->rig);
	assert_trace(advice->rig, "task 1 done\n");
}

/* Our choice of 2 MiB: the maximum of one copy. */
static void test_dpu_function_says_its_limit(void **state)
{
	const struct doca_devinfo *devinfo = api_devinfo_nth(0);
	uint64_t size = 0;

	assert_ok(doca_mmap_advise_cap_task_cache_invalidate_is_supported(devinfo));
	assert_ok(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(devinfo, &size));
	assert_int_equal(size, MAX_BYTES);
}

static struct doca_dev *device;
static struct doca_mmap_advise *made;

static doca_error_t create(void)
{
	return doca_mmap_advise_create(device, &made);
}

static void test_create_without_memory_fails(void **state)
{
	device = rig_open_dev(0);
	/* provokes: doca_mmap_advise_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(create, NULL);
	assert_ok(doca_mmap_advise_destroy(made));
	assert_ok(doca_dev_close(device));
}

/* The cache is that of the DPU's cores: a host's functions can't reach it. */
static void test_host_function_can_not_and_its_context_does_not_start(void **state)
{
	struct advice *advice = make_idle(0);
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(advice->rig->dev);
	uint64_t size = 1;

	/* provokes: doca_mmap_advise_cap_task_cache_invalidate_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_mmap_advise_cap_task_cache_invalidate_is_supported(devinfo), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(devinfo, &size));
	assert_int_equal(size, 0);
	assert_doca(doca_ctx_start(advice->ctx), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(state_of(advice), DOCA_CTX_STATE_IDLE);
	end(advice);
}

int main(void)
{
	static const struct CMUnitTest on_dpu[] = {
		cmocka_unit_test(test_create_without_memory_fails),
		cmocka_unit_test(test_dpu_function_says_its_limit),
		RUNNING(test_invalidate_completes_and_the_bytes_stay),
		RUNNING(test_tasks_complete_in_the_order_of_submission),
		RUNNING(test_source_of_a_copy_is_invalidated_after_it),
		RUNNING(test_sleeper_is_woken),
		RUNNING(test_task_has_the_buffer_that_was_set_last),
		RUNNING(test_2_mib_are_fine_and_a_byte_more_fails),
		RUNNING(test_buffer_without_data_fails),
		RUNNING(test_map_without_the_device_fails),
		RUNNING(test_map_that_was_stopped_fails),
		RUNNING(test_list_and_no_buffer_at_all_are_refused),
		RUNNING(test_buffer_returned_in_flight_fails),
		RUNNING(test_tasks_are_as_many_as_configured),
		IDLE(test_idle_context_has_no_tasks_and_running_one_no_new_configuration),
		IDLE(test_context_without_configuration_does_not_start),
		IDLE(test_bad_arguments_are_refused),
	};
	static const struct CMUnitTest on_host[] = {
		cmocka_unit_test(test_host_function_can_not_and_its_context_does_not_start),
	};

	return API_RUN({ .name = "mmap_advise on the DPU", .side = "dpu", API_WITH(on_dpu) },
		       { .name = "mmap_advise on the host", .side = "host", API_WITH(on_host) });
}
