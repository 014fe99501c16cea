/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes with contexts, work queues and their jobs: the code and the log line of each call. Card: data/poor.yaml.
 *
 * Errors that can't be provoked here:
 * unreachable: doca_ctx_start DOCA_ERROR_NOT_SUPPORTED: doca_ctx_dev_add() has refused such a device
 * unreachable: doca_workq_set_event_driven_enable DOCA_ERROR_OPERATING_SYSTEM: a queue has its descriptor from the beginning
 * unreachable: doca_dma_create DOCA_ERROR_INITIALIZATION: a context has no mutex whose making could fail
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "refuse.h"
#include "doca_check.h"
#include "rig.h"

static char memory[4096];

/* ---- handles ---- */

#define NUM_WRONG 4

/* NULL, a destroyed one, one of another kind, an unaligned one. */
static void wrong_queues(struct rig *rig, struct doca_workq *ret_wrong[NUM_WRONG])
{
	struct doca_workq *stale;

	assert_ok(doca_workq_create(1, &stale));
	assert_ok(doca_workq_destroy(stale));
	ret_wrong[0] = NULL;
	ret_wrong[1] = stale;
	ret_wrong[2] = (struct doca_workq *)rig->dma;
	ret_wrong[3] = (struct doca_workq *)((char *)rig->workq + 1);
}

static void wrong_ctxs(struct rig *rig, struct doca_ctx *ret_wrong[NUM_WRONG])
{
	struct doca_dma *stale;

	assert_ok(doca_dma_create(&stale));
	assert_ok(doca_dma_destroy(stale));
	ret_wrong[0] = NULL;
	ret_wrong[1] = (struct doca_ctx *)stale;
	ret_wrong[2] = (struct doca_ctx *)rig->workq;
	ret_wrong[3] = (struct doca_ctx *)((char *)rig->ctx + 1);
}

/* provokes: doca_workq_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_workq_get_depth DOCA_ERROR_INVALID_VALUE
 * provokes: doca_workq_get_event_driven_enable DOCA_ERROR_INVALID_VALUE
 * provokes: doca_workq_get_event_handle DOCA_ERROR_INVALID_VALUE
 * provokes: doca_workq_progress_retrieve DOCA_ERROR_INVALID_VALUE
 * provokes: doca_workq_set_event_driven_enable DOCA_ERROR_INVALID_VALUE
 * provokes: doca_workq_submit DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_queue_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_job job = { .type = DOCA_DMA_JOB_MEMCPY, .ctx = rig->ctx };
	struct doca_event event = { .type = 77 };
	struct doca_workq *wrong[NUM_WRONG];
	doca_event_handle_t handle = -7;
	uint32_t depth = 7;
	uint8_t yes = 7;

	wrong_queues(rig, wrong);
	for (int i = 0; i < NUM_WRONG; i++) {
		assert_refused_invalid(doca_workq_destroy(wrong[i]));
		assert_refused_invalid(doca_workq_get_depth(wrong[i], &depth));
		assert_refused_invalid(doca_workq_submit(wrong[i], &job));
		assert_refused_invalid(doca_workq_progress_retrieve(wrong[i], &event, 0));
		assert_refused_invalid(doca_workq_set_event_driven_enable(wrong[i], 1));
		assert_refused_invalid(doca_workq_get_event_driven_enable(wrong[i], &yes));
		assert_refused_invalid(doca_workq_get_event_handle(wrong[i], &handle));
		assert_refused_invalid(doca_workq_set_event_handle(wrong[i], 0, 0));
		assert_refused_invalid(doca_workq_event_handle_arm(wrong[i]));
		assert_refused_invalid(doca_workq_event_handle_clear(wrong[i], 0));
		assert_refused_invalid(doca_ctx_workq_add(rig->ctx, wrong[i]));
		assert_refused_invalid(doca_ctx_workq_rm(rig->ctx, wrong[i]));
	}
	assert_int_equal(event.type, 77); /* unchanged */
	assert_int_equal(handle, -7);
	assert_int_equal(depth, 7);
	assert_int_equal(yes, 7);
}

/* provokes: doca_ctx_dev_add DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_dev_rm DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_get_event_driven_supported DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_stop DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_workq_add DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_workq_rm DOCA_ERROR_INVALID_VALUE */
static void test_a_handle_of_no_live_context_is_refused_everywhere(void **state)
{
	struct rig *rig = *state;
	struct doca_job job = { .type = DOCA_DMA_JOB_MEMCPY };
	struct doca_ctx *wrong[NUM_WRONG];
	void *any = rig;
	uint8_t yes = 7;

	wrong_ctxs(rig, wrong);
	for (int i = 0; i < NUM_WRONG; i++) {
		assert_refused_invalid(doca_ctx_dev_add(wrong[i], rig->dev));
		assert_refused_invalid(doca_ctx_dev_rm(wrong[i], rig->dev));
		assert_refused_invalid(doca_ctx_start(wrong[i]));
		assert_refused_invalid(doca_ctx_stop(wrong[i]));
		assert_refused_invalid(doca_ctx_workq_add(wrong[i], rig->workq));
		assert_refused_invalid(doca_ctx_workq_rm(wrong[i], rig->workq));
		assert_refused_invalid(doca_ctx_get_event_driven_supported(wrong[i], &yes));
		assert_refused_invalid(doca_ctx_set_datapath_on_gpu(wrong[i], any));
		assert_refused_invalid(doca_dma_destroy((struct doca_dma *)wrong[i]));
		assert_null(doca_dma_as_ctx((struct doca_dma *)wrong[i]));
		job.ctx = wrong[i];
		assert_refused_invalid(doca_workq_submit(rig->workq, &job));
	}
	assert_int_equal(yes, 7);
}

static void test_a_handle_of_no_open_device_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *stale = rig_open(2), *wrong[] = { NULL, stale, (struct doca_dev *)rig->workq };
	struct doca_dma *dma;

	assert_ok(doca_dev_close(stale));
	assert_ok(doca_dma_create(&dma));
	for (int i = 0; i < 3; i++) {
		assert_refused_invalid(doca_ctx_dev_add(doca_dma_as_ctx(dma), wrong[i]));
		assert_refused_invalid(doca_ctx_dev_rm(doca_dma_as_ctx(dma), wrong[i]));
	}
	assert_ok(doca_dma_destroy(dma));
}

/* provokes: doca_workq_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dma_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_ctx_get_max_num_ctx DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dma_get_max_buf_size DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dma_get_max_list_buf_num_elem DOCA_ERROR_INVALID_VALUE
 * provokes: doca_dma_job_get_supported DOCA_ERROR_INVALID_VALUE */
static void test_null_is_no_place_for_an_answer_and_numbers_have_limits(void **state)
{
	struct rig *rig = *state;
	struct doca_devinfo *info = doca_dev_as_devinfo(rig->dev), *wrong = (struct doca_devinfo *)rig->workq;
	struct doca_workq *queue = NULL;
	struct doca_event event;
	uint64_t size;
	uint32_t count;

	assert_refused_invalid(doca_workq_create(0, &queue));
	assert_refused_invalid(doca_workq_create(UINT32_MAX, &queue));
	assert_null(queue);
	assert_refused_invalid(doca_workq_create(1, NULL));
	assert_refused_invalid(doca_workq_get_depth(rig->workq, NULL));
	assert_refused_invalid(doca_workq_submit(rig->workq, NULL));
	assert_refused_invalid(doca_workq_progress_retrieve(rig->workq, NULL, 0));
	assert_refused_invalid(doca_workq_progress_retrieve(rig->workq, &event, 1));
	assert_refused_invalid(doca_workq_set_event_driven_enable(rig->workq, 2));
	assert_refused_invalid(doca_workq_get_event_driven_enable(rig->workq, NULL));
	assert_refused_invalid(doca_ctx_get_event_driven_supported(rig->ctx, NULL));
	assert_refused_invalid(doca_ctx_get_max_num_ctx(NULL));
	assert_refused_invalid(doca_ctx_set_datapath_on_gpu(rig->ctx, NULL));
	assert_refused_invalid(doca_dma_create(NULL));
	for (int i = 0; i < 2; i++) {
		assert_refused_invalid(doca_dma_job_get_supported(i ? wrong : NULL, DOCA_DMA_JOB_MEMCPY));
		assert_refused_invalid(doca_dma_get_max_buf_size(i ? wrong : NULL, &size));
		assert_refused_invalid(doca_dma_get_max_list_buf_num_elem(i ? wrong : NULL, &count));
	}
	assert_refused_invalid(doca_dma_job_get_supported(info, DOCA_DMA_JOB_MEMCPY + 1));
	assert_refused_invalid(doca_dma_get_max_buf_size(info, NULL));
	assert_refused_invalid(doca_dma_get_max_list_buf_num_elem(info, NULL));
}

/* Representors are the DPU's.
 * provokes: doca_devinfo_rep_list_create DOCA_ERROR_NOT_SUPPORTED */
static void test_a_device_of_the_host_has_no_representors(void **state)
{
	struct rig *rig = *state;
	struct doca_devinfo_rep **list = NULL;
	uint32_t count;

	assert_refused(doca_devinfo_rep_list_create(rig->dev, DOCA_DEV_REP_FILTER_ALL, &list, &count),
		       DOCA_ERROR_NOT_SUPPORTED);
	assert_null(list);
}

/* ---- the wrong moment ---- */

/* provokes: doca_ctx_dev_add DOCA_ERROR_BAD_STATE
 * provokes: doca_ctx_dev_add DOCA_ERROR_IN_USE
 * provokes: doca_ctx_dev_add DOCA_ERROR_NOT_SUPPORTED
 * provokes: doca_ctx_dev_rm DOCA_ERROR_BAD_STATE
 * provokes: doca_ctx_dev_rm DOCA_ERROR_NOT_FOUND
 * provokes: doca_ctx_workq_add DOCA_ERROR_BAD_STATE
 * provokes: doca_ctx_workq_rm DOCA_ERROR_BAD_STATE
 * provokes: doca_dma_job_get_supported DOCA_ERROR_NOT_SUPPORTED */
static void test_a_context_is_configured_before_it_starts_and_has_queues_after(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *poor = rig_open(1), *other = rig_open(2);
	struct doca_dma *dma;
	struct doca_ctx *ctx;

	assert_ok(doca_dma_create(&dma));
	ctx = doca_dma_as_ctx(dma);
	assert_refused_invalid(doca_ctx_start(ctx)); /* no device */
	assert_refused(doca_ctx_stop(ctx), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_ctx_workq_add(ctx, rig->workq), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_ctx_workq_rm(ctx, rig->workq), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_dma_job_get_supported(doca_dev_as_devinfo(poor), DOCA_DMA_JOB_MEMCPY),
		    DOCA_ERROR_NOT_SUPPORTED);
	assert_refused(doca_ctx_dev_add(ctx, poor), DOCA_ERROR_NOT_SUPPORTED);
	assert_refused(doca_ctx_dev_rm(ctx, rig->dev), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_ctx_dev_add(ctx, rig->dev));
	assert_refused(doca_ctx_dev_add(ctx, rig->dev), DOCA_ERROR_IN_USE);
	assert_refused(doca_ctx_dev_add(ctx, other), DOCA_ERROR_IN_USE);
	assert_refused(doca_ctx_dev_rm(ctx, other), DOCA_ERROR_NOT_FOUND);
	assert_ok(doca_ctx_start(ctx));
	assert_refused(doca_ctx_start(ctx), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_ctx_dev_add(ctx, other), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_ctx_dev_rm(ctx, rig->dev), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_ctx_set_datapath_on_gpu(ctx, (void *)rig), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_dma_destroy(dma));
	assert_ok(doca_dev_close(poor));
	assert_ok(doca_dev_close(other));
}

/* provokes: doca_ctx_stop DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_ctx_workq_add DOCA_ERROR_IN_USE
 * provokes: doca_ctx_workq_rm DOCA_ERROR_NOT_FOUND
 * provokes: doca_dma_destroy DOCA_ERROR_IN_USE
 * provokes: doca_workq_destroy DOCA_ERROR_IN_USE */
static void test_attached_objects_are_destroyed_in_order(void **state)
{
	struct rig *rig = *state;
	struct doca_workq *other;

	assert_ok(doca_workq_create(1, &other));
	assert_refused(doca_ctx_workq_add(rig->ctx, rig->workq), DOCA_ERROR_IN_USE);
	assert_refused(doca_ctx_workq_rm(rig->ctx, other), DOCA_ERROR_NOT_FOUND);
	assert_refused(doca_ctx_stop(rig->ctx), DOCA_ERROR_NOT_PERMITTED);
	assert_refused(doca_workq_destroy(rig->workq), DOCA_ERROR_IN_USE);
	assert_refused(doca_dma_destroy(rig->dma), DOCA_ERROR_IN_USE);
	assert_refused(doca_dev_close(rig->dev), DOCA_ERROR_IN_USE);
	assert_ok(doca_workq_destroy(other));
}

/* provokes: doca_workq_event_handle_arm DOCA_ERROR_BAD_STATE
 * provokes: doca_workq_event_handle_clear DOCA_ERROR_BAD_STATE
 * provokes: doca_workq_get_event_handle DOCA_ERROR_BAD_STATE
 * provokes: doca_workq_set_event_driven_enable DOCA_ERROR_BAD_STATE */
static void test_only_an_event_driven_queue_has_a_handle(void **state)
{
	struct rig *rig = *state;
	struct doca_workq *queue;
	doca_event_handle_t handle = -7;

	assert_refused(doca_workq_get_event_handle(rig->workq, &handle), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_workq_set_event_handle(rig->workq, 0, 0), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_workq_event_handle_arm(rig->workq), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_workq_event_handle_clear(rig->workq, 0), DOCA_ERROR_BAD_STATE);
	assert_refused(doca_workq_set_event_driven_enable(rig->workq, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(handle, -7);
	assert_ok(doca_workq_create(1, &queue));
	assert_ok(doca_workq_set_event_driven_enable(queue, 1));
	assert_refused_invalid(doca_workq_get_event_handle(queue, NULL));
	assert_refused_invalid(doca_workq_set_event_handle(queue, -1, 0));
	assert_doca(doca_workq_set_event_handle(queue, 0, 0), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_workq_destroy(queue));
}

/* A program that replaces the descriptor of the handle by its own.
 * provokes: doca_workq_event_handle_clear DOCA_ERROR_OPERATING_SYSTEM */
static void test_a_handle_that_the_program_replaced_can_not_be_cleared(void **state)
{
	doca_event_handle_t handle;
	struct doca_workq *queue;
	int sink;

	assert_ok(doca_workq_create(1, &queue));
	assert_ok(doca_workq_set_event_driven_enable(queue, 1));
	assert_ok(doca_workq_get_event_handle(queue, &handle));
	sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(dup2(sink, handle), handle);
	close(sink);
	assert_refused(doca_workq_event_handle_clear(queue, handle), DOCA_ERROR_OPERATING_SYSTEM);
	assert_ok(doca_workq_destroy(queue));
}

/* ---- jobs ---- */

/* provokes: doca_workq_progress_retrieve DOCA_ERROR_AGAIN
 * provokes: doca_workq_submit DOCA_ERROR_BAD_STATE
 * provokes: doca_workq_submit DOCA_ERROR_NOT_FOUND */
static void test_a_job_goes_to_a_started_context_of_the_queue(void **state)
{
	struct rig *rig = *state;
	struct doca_event event;
	struct doca_workq *other;
	struct doca_dma *dma;
	struct doca_job job;

	assert_ok(doca_dma_create(&dma));
	assert_ok(doca_workq_create(1, &other));
	job = (struct doca_job){ .type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(dma) };
	assert_refused(doca_workq_submit(rig->workq, &job), DOCA_ERROR_BAD_STATE);
	job.ctx = rig->ctx;
	assert_refused(doca_workq_submit(other, &job), DOCA_ERROR_NOT_FOUND);
	job.type = DOCA_ACTION_NONE;
	assert_refused_invalid(doca_workq_submit(rig->workq, &job));
	job.type = INT32_MIN;
	assert_refused_invalid(doca_workq_submit(rig->workq, &job));
	assert_doca(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
	assert_ok(doca_workq_destroy(other));
	assert_ok(doca_dma_destroy(dma));
}

/* A buffer of 64 bytes at each address, in a map with these permissions and this device. */
struct pair {
	struct doca_mmap *mmap;
	struct doca_buf *from, *to;
};

static struct pair pair_new(struct rig *rig, struct doca_dev *dev, uint32_t access, size_t from_at, size_t to_at)
{
	struct rig place = { .dev = dev, .inventory = rig->inventory };
	struct pair pair = { .mmap = rig_map(&place, memory, sizeof(memory), access) };

	pair.from = rig_data(rig, pair.mmap, memory + from_at, 64);
	pair.to = rig_room(rig, pair.mmap, memory + to_at, 64);
	return pair;
}

static void pair_free(struct pair *pair)
{
	rig_return(pair->from);
	rig_return(pair->to);
	assert_ok(doca_mmap_destroy(pair->mmap));
}

/* The card detects the error during the job: the submission succeeds, the event has the error.
 * provokes: doca_workq_progress_retrieve DOCA_ERROR_IO_FAILED */
static void assert_fails(struct rig *rig, struct doca_buf *to, const struct doca_buf *from)
{
	struct doca_dma_job_memcpy job = rig_job(rig, to, from, 5);
	struct doca_event event = { 0 };
	char before[sizeof(memory)];

	memcpy(before, memory, sizeof(memory));
	assert_doca(rig_do(rig, &job, &event), DOCA_ERROR_IO_FAILED);
	assert_int_equal(event.type, DOCA_DMA_JOB_MEMCPY);
	assert_int_equal(event.user_data.u64, 5);
	assert_int_equal(event.result.u64, DOCA_ERROR_IO_FAILED);
	assert_memory_equal(before, memory, sizeof(memory));
}

static void test_a_copy_to_read_only_memory_fails(void **state)
{
	struct rig *rig = *state;
	struct pair pair = pair_new(rig, rig->dev, DOCA_ACCESS_LOCAL_READ_ONLY, 0, 100);

	assert_fails(rig, pair.to, pair.from);
	pair_free(&pair);
}

static void test_a_copy_of_memory_of_another_device_fails(void **state)
{
	struct rig *rig = *state;
	struct doca_dev *foreign = rig_open(2);
	struct pair pair = pair_new(rig, foreign, DOCA_ACCESS_LOCAL_READ_WRITE, 0, 100);
	struct pair own = pair_new(rig, rig->dev, DOCA_ACCESS_LOCAL_READ_WRITE, 0, 100);

	assert_fails(rig, own.to, pair.from);
	assert_fails(rig, pair.to, own.from);
	pair_free(&pair);
	pair_free(&own);
	assert_ok(doca_dev_close(foreign));
}

static void test_a_copy_of_nothing_fails_and_so_does_one_without_room(void **state)
{
	struct rig *rig = *state;
	struct pair pair = pair_new(rig, rig->dev, DOCA_ACCESS_LOCAL_READ_WRITE, 0, 100);
	struct doca_buf *small = rig_room(rig, pair.mmap, memory + 200, 63);

	assert_fails(rig, small, pair.from);
	assert_ok(doca_buf_set_data(small, memory + 200, 63));
	assert_fails(rig, small, pair.from);
	assert_ok(doca_buf_reset_data_len(pair.from));
	assert_fails(rig, pair.to, pair.from);
	rig_return(small);
	pair_free(&pair);
}

/* From a list's middle, or to it; to where it comes from. */
static void test_members_of_lists_are_refused_and_overlaps_stay_inside(void **state)
{
	struct rig *rig = *state;
	struct pair pair = pair_new(rig, rig->dev, DOCA_ACCESS_LOCAL_READ_WRITE, 0, 32);
	struct doca_buf *head = rig_room(rig, pair.mmap, memory + 500, 8);
	struct doca_dma_job_memcpy job = rig_job(rig, pair.to, pair.from, 1);
	struct doca_event event;

	memset(memory, 'a', 64);
	memset(memory + 64, 'b', 64);
	assert_ok(rig_do(rig, &job, &event));
	assert_int_equal(memory[31], 'a');
	assert_int_equal(memory[96], 'b');
	assert_ok(doca_buf_list_chain(head, pair.to));
	assert_refused_invalid(doca_workq_submit(rig->workq, &job.base));
	job = rig_job(rig, head, pair.to, 1);
	assert_refused_invalid(doca_workq_submit(rig->workq, &job.base));
	assert_ok(doca_buf_list_unchain(head, pair.to));
	rig_return(head);
	pair_free(&pair);
}

/* The device has no more places than the queue has depth. A full queue logs nothing: programs may poll for a free place.
 * provokes: doca_workq_submit DOCA_ERROR_NO_MEMORY
 * provokes: doca_ctx_workq_rm DOCA_ERROR_NOT_PERMITTED */
static void test_a_full_queue_takes_nothing_and_is_not_removed(void **state)
{
	struct rig *rig = *state;
	struct pair pair = pair_new(rig, rig->dev, DOCA_ACCESS_LOCAL_READ_WRITE, 0, 100);
	struct doca_dma_job_memcpy job = rig_job(rig, pair.to, pair.from, 1);
	struct doca_event event;

	for (int i = 0; i < RIG_DEPTH; i++)
		assert_ok(doca_workq_submit(rig->workq, &job.base));
	assert_doca(doca_workq_submit(rig->workq, &job.base), DOCA_ERROR_NO_MEMORY);
	assert_refused(doca_ctx_workq_rm(rig->ctx, rig->workq), DOCA_ERROR_NOT_PERMITTED);
	for (int i = 0; i < RIG_DEPTH; i++)
		while (doca_workq_progress_retrieve(rig->workq, &event, 0) == DOCA_ERROR_AGAIN)
			;
	assert_doca(doca_workq_progress_retrieve(rig->workq, &event, 0), DOCA_ERROR_AGAIN);
	pair_free(&pair);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_handle_of_no_live_queue_is_refused_everywhere),
		TEST(test_a_handle_of_no_live_context_is_refused_everywhere),
		TEST(test_a_handle_of_no_open_device_is_refused),
		TEST(test_null_is_no_place_for_an_answer_and_numbers_have_limits),
		TEST(test_a_device_of_the_host_has_no_representors),
		TEST(test_a_context_is_configured_before_it_starts_and_has_queues_after),
		TEST(test_attached_objects_are_destroyed_in_order),
		TEST(test_only_an_event_driven_queue_has_a_handle),
		TEST(test_a_handle_that_the_program_replaced_can_not_be_cleared),
		TEST(test_a_job_goes_to_a_started_context_of_the_queue),
		TEST(test_a_copy_to_read_only_memory_fails),
		TEST(test_a_copy_of_memory_of_another_device_fails),
		TEST(test_a_copy_of_nothing_fails_and_so_does_one_without_room),
		TEST(test_members_of_lists_are_refused_and_overlaps_stay_inside),
		TEST(test_a_full_queue_takes_nothing_and_is_not_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
