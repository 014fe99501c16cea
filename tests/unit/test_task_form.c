/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of tasks that the checker has never seen, in a context of a library that it knows: a task without buffers, and one
 * without a source. They run under the checker, succeed and fail. */

#include <doca_buf_inventory.h>

#include "cmocka_test.h"
#include "shim/common/accel/buf_task.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/task_submit.h"
#include "doca_check.h"

static struct {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_ctx *ctx; /* a struct doca_dma in kind alone */
	struct shim_task_pool *pool;
	struct shim_lists_head lists; /* of its tasks */
	struct doca_mmap *map;
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	const struct shim_task_type *type; /* of the next context */
	uint32_t num_ended;
	uint8_t memory[4096] __attribute__((aligned(64)));
} world;

static doca_error_t check(struct doca_task *task)
{
	if (task->pool->type->form != SHIM_TASK_BUFS)
		return DOCA_SUCCESS;
	return shim_snapshot_take_lists(&shim_to_buf_task(task)->snapshot, &world.lists, NULL, 0,
					shim_to_buf_task(task)->dst, 1, false);
}

static doca_error_t post(struct doca_task *task)
{
	(void)task;
	return DOCA_SUCCESS;
}

static void complete(struct doca_task *task)
{
	(void)task;
	world.num_ended++;
}

#define TYPE(form_, struct_)                                                                           \
	{                                                                                              \
		.name = SIM_TASK_DMA_MEMCPY, .form = (form_), .size = sizeof(struct_), .check = check, \
		.validate = check, .post = post, .complete = complete,                                 \
	}
static const struct shim_task_type plain = TYPE(SHIM_TASK_PLAIN, struct doca_task);
static const struct shim_task_type without_source = TYPE(SHIM_TASK_BUFS, struct shim_buf_task);

static doca_error_t start(struct doca_ctx *ctx)
{
	return shim_task_pool_add(ctx, world.type, 1, &world.pool);
}

static const struct shim_ctx_ops ops = {
	.name = "dma",
	.start = start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = shim_ctx_progress_none,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = shim_ctx_nop,
};

static int open_all(void **state)
{
	struct doca_devinfo **list;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_ok(doca_dev_open(list[0], &world.dev));
	assert_ok(doca_devinfo_destroy_list(list));
	assert_ok(doca_pe_create(&world.pe));
	assert_ok(doca_mmap_create(&world.map));
	assert_ok(doca_mmap_add_dev(world.map, world.dev));
	assert_ok(doca_mmap_set_memrange(world.map, world.memory, sizeof(world.memory)));
	assert_ok(doca_mmap_set_permissions(world.map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	assert_ok(doca_mmap_start(world.map));
	assert_ok(doca_buf_inventory_create(1, &world.inventory));
	assert_ok(doca_buf_inventory_start(world.inventory));
	assert_ok(doca_buf_inventory_buf_get_by_addr(world.inventory, world.map, world.memory, 64, &world.buf));
	return 0;
}

static int close_all(void **state)
{
	assert_ok(doca_buf_dec_refcount(world.buf, NULL));
	assert_ok(doca_buf_inventory_destroy(world.inventory));
	assert_ok(doca_mmap_destroy(world.map));
	assert_ok(doca_pe_destroy(world.pe));
	assert_ok(doca_dev_close(world.dev));
	return 0;
}

static void run(const struct shim_task_type *type, doca_error_t status)
{
	struct doca_task *task;

	world.type = type;
	world.num_ended = 0;
	world.ctx = shim_object_new(SHIM_DMA, sizeof(*world.ctx) + 1024);
	assert_non_null(world.ctx);
	shim_ctx_init(world.ctx, &ops, world.dev);
	assert_ok(doca_pe_connect_ctx(world.pe, world.ctx));
	assert_ok(doca_ctx_start(world.ctx));
	assert_ok(shim_task_alloc(world.pool, world.ctx, (union doca_data){ 0 }, &task));
	if (type->form == SHIM_TASK_BUFS) {
		shim_to_buf_task(task)->src = NULL;
		shim_to_buf_task(task)->dst = world.buf;
	}
	assert_ok(doca_task_submit(task));
	shim_task_complete_posted(task, status);
	assert_int_equal(world.num_ended, 1);
	doca_task_free(task);
	assert_ok(doca_ctx_stop(world.ctx));
	assert_ok(shim_ctx_fini(world.ctx));
	shim_lists_free(&world.lists);
	shim_object_free(world.ctx, SHIM_DMA);
}

static void test_task_without_buffers_is_no_copy(void **state)
{
	run(&plain, DOCA_SUCCESS);
	run(&plain, DOCA_ERROR_IO_FAILED);
}

static void test_task_may_have_no_source(void **state)
{
	run(&without_source, DOCA_SUCCESS);
	run(&without_source, DOCA_ERROR_IO_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_task_without_buffers_is_no_copy),
		cmocka_unit_test(test_task_may_have_no_source),
	};

	return cmocka_run_group_tests_name("tasks that the checker has never seen", tests, open_all, close_all);
}
