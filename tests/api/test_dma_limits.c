/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a card's DMA engine, on the built-in card and on others that a
 * topology describes; and memory that runs out. */
#include "api_util.h"
#include "dma_util.h"

#define MAX_BYTES ((size_t)2 << 20)
#define MAX_LIST  64

static void ignore(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
}

/* A card accepts a task beyond its limits, fails it, and the context stops. */
static void expect_failure(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task = rig_task(rig, 1, src, dst);

	assert_invalid(doca_task_try_submit(task));
	assert_ok(doca_task_submit(task));
	assert_ok(doca_task_submit_ex(rig_task(rig, 2, rig_src(rig, 0, 8), rig_dst(rig, 8, 8)),
				      DOCA_TASK_SUBMIT_FLAG_FLUSH));
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "running -> stopping\ntask 1 failed: DOCA_ERROR_IO_FAILED\n"
			  "task 2 failed: DOCA_ERROR_IO_FAILED\nstopping -> idle\n");
	assert_true(rig_is_untouched(rig, 0, rig->arena_bytes));
	rig_start(rig);
}

static void expect_copy(struct rig *rig, const struct doca_buf *src, struct doca_buf *dst)
{
	assert_ok(doca_task_try_submit(rig_task(rig, 1, src, dst)));
	rig_drain(rig);
	assert_trace(rig, "task 1 done\n");
}

/* @count buffers of @len bytes each, side by side from @offset; data in all of them, or in none. */
static struct doca_buf *list_of(struct rig *rig, size_t count, size_t offset, size_t len, bool full)
{
	struct doca_buf *list = rig_buf(rig, rig->mmap, rig->arena + offset, len, 0, full ? len : 0);

	for (size_t i = 1; i < count; i++)
		MUST(doca_buf_chain_list(
			list, rig_buf(rig, rig->mmap, rig->arena + offset + i * len, len, 0, full ? len : 0)));
	return list;
}

/* ---- the built-in card: 2 MiB in lists of 64 ---- */

static void test_2_mib_are_copied(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = 2 * MAX_BYTES + 2 }));
	struct doca_buf *dst = rig_dst(rig, MAX_BYTES + 1, MAX_BYTES);

	expect_copy(rig, rig_src(rig, 0, MAX_BYTES), dst);
	assert_true(rig_is_untouched(rig, 0, MAX_BYTES + 1));
	assert_true(rig_was_copied(rig, MAX_BYTES + 1, 0, MAX_BYTES));
	assert_true(rig_is_untouched(rig, 2 * MAX_BYTES + 1, 1));
	assert_int_equal(rig_data_len(dst), MAX_BYTES);
	rig_close(rig);
}

static void test_2_mib_and_a_byte_fail(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = 2 * MAX_BYTES + 2 }));

	expect_failure(rig, rig_src(rig, 0, MAX_BYTES + 1), rig_dst(rig, MAX_BYTES + 1, MAX_BYTES + 1));
	rig_close(rig);
}

/* The limit holds for the task's sum. */
static void test_2_mib_and_a_byte_in_a_list_fail(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = 2 * MAX_BYTES + 2 }));
	struct doca_buf *src = rig_src(rig, 0, MAX_BYTES);

	MUST(doca_buf_chain_list(src, rig_src(rig, MAX_BYTES, 1)));
	expect_failure(rig, src, rig_dst(rig, MAX_BYTES + 1, MAX_BYTES + 1));
	rig_close(rig);
}

/* A destination beyond the limit is fine: the source's data counts. */
static void test_destination_may_be_larger_than_the_limit(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .arena_bytes = 2 * MAX_BYTES }));

	expect_copy(rig, rig_src(rig, 0, 100), rig_dst(rig, 100, 2 * MAX_BYTES - 100));
	assert_true(rig_was_copied(rig, 100, 0, 100));
	rig_close(rig);
}

static void test_lists_of_64_are_copied(void **state)
{
	struct rig *rig = rig_start(rig_open(NULL));

	expect_copy(rig, list_of(rig, MAX_LIST, 0, 7, true), list_of(rig, MAX_LIST, 10000, 7, false));
	assert_true(rig_was_copied(rig, 10000, 0, 7 * MAX_LIST));
	rig_close(rig);
}

static void test_lists_of_65_fail(void **state)
{
	struct rig *rig = rig_start(rig_open(NULL));

	expect_failure(rig, list_of(rig, MAX_LIST + 1, 0, 7, true), rig_dst(rig, 10000, 1000));
	expect_failure(rig, rig_src(rig, 0, 100), list_of(rig, MAX_LIST + 1, 10000, 7, false));
	rig_close(rig);
}

/* ---- memory runs out ---- */

static struct rig *short_of_memory;
static struct doca_dma *made_dma;
static struct doca_pe *made_pe;

static doca_error_t make_dma(void)
{
	return doca_dma_create(short_of_memory->dev, &made_dma);
}

static doca_error_t make_pe(void)
{
	return doca_pe_create(&made_pe);
}

/* A start returns INITIALIZATION; the context stays idle, whichever allocation fails. */
static doca_error_t start(void)
{
	doca_error_t result = doca_ctx_start(short_of_memory->ctx);

	/* provokes: doca_ctx_start DOCA_ERROR_INITIALIZATION */
	assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_INITIALIZATION);
	assert_int_equal(rig_state(short_of_memory),
			 result == DOCA_SUCCESS ? DOCA_CTX_STATE_RUNNING : DOCA_CTX_STATE_IDLE);
	return result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

/* The rig's own objects are the first of their kinds, so that these need new memory. */
static void test_create_without_memory_fails(void **state)
{
	short_of_memory = *state;
	/* provokes: doca_dma_create DOCA_ERROR_NO_MEMORY */
	api_fail_each_allocation(make_dma, NULL);
	MUST(doca_dma_destroy(made_dma));
	api_fail_each_allocation(make_pe, NULL);
	MUST(doca_pe_destroy(made_pe));
}

static void test_start_without_memory_fails_and_works_later(void **state)
{
	short_of_memory = *state;
	api_fail_each_allocation(start, NULL);
	assert_trace(short_of_memory, "idle -> running\n");
	rig_submit_small(short_of_memory, 0);
	rig_drain(short_of_memory);
	assert_trace(short_of_memory, "task 0 done\n");
}

/* ---- a card with small limits: 4 KiB, lists of 2, 3 tasks, 1 vector ---- */

static const char small_card[] =
	"cards:\n"
	"  - profile: bluefield-3\n"
	"    functions:\n"
	"      - {side: dpu, type: pf, pci: \"03:00.0\", caps: {dma-max-buf-bytes: 4 KiB, dma-max-list-len: 2,\n"
	"         dma-max-tasks: 3, num-completion-vectors: 1}}\n";

static void test_small_card_says_its_limits(void **state)
{
	struct rig *rig = rig_open(&(struct rig_cfg){ .num_tasks = 3 });
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(rig->dev);
	uint32_t len, tasks, vectors;
	uint64_t size;

	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_size(devinfo, &size));
	assert_ok(doca_dma_cap_task_memcpy_get_max_buf_list_len(devinfo, &len));
	assert_ok(doca_dma_cap_get_max_num_tasks(rig->dma, &tasks));
	assert_ok(doca_ctx_cap_get_num_completion_vectors(devinfo, &vectors));
	assert_int_equal(size, 4096);
	assert_int_equal(len, 2);
	assert_int_equal(tasks, 3);
	assert_int_equal(vectors, 1);
	assert_invalid(doca_ctx_set_completion_vector(rig->ctx, 1));
	assert_invalid(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, 4));
	rig_close(rig);
}

static void test_small_card_keeps_its_limits(void **state)
{
	struct rig *rig = rig_start(rig_open(&(struct rig_cfg){ .num_tasks = 3 }));

	expect_failure(rig, rig_src(rig, 0, 4097), rig_dst(rig, 8192, 4097));
	expect_failure(rig, list_of(rig, 3, 0, 10, true), rig_dst(rig, 8192, 30));
	expect_copy(rig, list_of(rig, 2, 0, 2048, true), list_of(rig, 2, 8192, 2048, false));
	assert_true(rig_was_copied(rig, 8192, 0, 4096));
	rig_close(rig);
}

/* ---- a card without a DMA engine ---- */

static const char no_dma_card[] = "cards:\n"
				  "  - profile: bluefield-3\n"
				  "    functions:\n"
				  "      - {side: dpu, type: pf, pci: \"03:00.0\", caps: {dma-memcpy: false}}\n";

static void test_device_without_dma_says_so_and_does_not_start(void **state)
{
	struct rig *rig = rig_open(NULL);

	/* provokes: doca_dma_cap_task_memcpy_is_supported DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_dma_cap_task_memcpy_is_supported(doca_dev_as_devinfo(rig->dev)), DOCA_ERROR_NOT_SUPPORTED);
	/* provokes: doca_ctx_start DOCA_ERROR_NOT_SUPPORTED */
	assert_doca(doca_ctx_start(rig->ctx), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
	assert_trace(rig, "");
	rig_close(rig);
}

/* ---- a card with more tasks than a machine has memory for ---- */

static const char huge_card[] = "cards:\n"
				"  - profile: bluefield-3\n"
				"    functions:\n"
				"      - {side: dpu, type: pf, pci: \"03:00.0\", caps: {dma-max-tasks: 0xffffffff}}\n";

static void test_more_tasks_than_memory_do_not_start(void **state)
{
	struct rig *rig = rig_open(NULL);

	assert_ok(doca_dma_task_memcpy_set_conf(rig->dma, ignore, ignore, UINT32_MAX));
	assert_doca(doca_ctx_start(rig->ctx), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_IDLE);
	rig_close(rig);
}

/* ---- the other side: a host function has the engine as well ---- */

static void test_host_copies_its_own_memory_too(void **state)
{
	struct rig *rig = rig_start(rig_open(NULL));

	expect_copy(rig, rig_src(rig, 0, 4096), rig_dst(rig, 8192, 4096));
	assert_true(rig_was_copied(rig, 8192, 0, 4096));
	rig_close(rig);
}

static const struct CMUnitTest builtin[] = {
	RIG_IDLE(test_create_without_memory_fails), /* first: objects come from pools */
	RIG_IDLE(test_start_without_memory_fails_and_works_later),
	cmocka_unit_test(test_2_mib_are_copied),
	cmocka_unit_test(test_2_mib_and_a_byte_fail),
	cmocka_unit_test(test_2_mib_and_a_byte_in_a_list_fail),
	cmocka_unit_test(test_destination_may_be_larger_than_the_limit),
	cmocka_unit_test(test_lists_of_64_are_copied),
	cmocka_unit_test(test_lists_of_65_fail),
};

static const struct CMUnitTest small[] = {
	cmocka_unit_test(test_small_card_says_its_limits),
	cmocka_unit_test(test_small_card_keeps_its_limits),
};

static const struct CMUnitTest no_dma[] = {
	cmocka_unit_test(test_device_without_dma_says_so_and_does_not_start),
};

static const struct CMUnitTest huge[] = {
	cmocka_unit_test(test_more_tasks_than_memory_do_not_start),
};

static const struct CMUnitTest host[] = {
	cmocka_unit_test(test_host_copies_its_own_memory_too),
};

int main(void)
{
	return API_RUN({ .name = "the built-in card", .side = "dpu", API_WITH(builtin) },
		       { .name = "a card with small limits", .topology = small_card, .side = "dpu", API_WITH(small) },
		       { .name = "a card without DMA", .topology = no_dma_card, .side = "dpu", API_WITH(no_dma) },
		       { .name = "a card with too many tasks", .topology = huge_card, .side = "dpu", API_WITH(huge) },
		       { .name = "the built-in card's host", .side = "host", API_WITH(host) });
}
