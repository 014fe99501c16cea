/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs over a context without room. No library lacks room on demand: so the test has one of its own. Its context
 * keeps one task at a time, refuses the others with AGAIN, and completes the kept one when the test says so and
 * the engine progresses. */
#include <string.h>
#include <sys/select.h>

#include <doca_dev.h>
#include <doca_graph.h>

#include "cmocka_test.h"
#include "shim/common/pe/ctx_life.h"
#include "shim/common/pe/task_submit.h"
#include "doca_check.h"

enum { TASKS = 3 };

struct narrow {
	struct doca_ctx ctx;
	struct shim_task_pool *pool;
	struct doca_task *kept;
	bool may_finish;
	uint32_t num_refused;
};

static struct narrow *narrow_of(const struct doca_ctx *ctx)
{
	return (struct narrow *)(uintptr_t)ctx;
}

static doca_error_t check(struct doca_task *task)
{
	return DOCA_SUCCESS;
}

static doca_error_t post(struct doca_task *task)
{
	struct narrow *narrow = narrow_of(task->ctx);

	if (narrow->kept) {
		narrow->num_refused++;
		return DOCA_ERROR_AGAIN;
	}
	narrow->kept = task;
	return DOCA_SUCCESS;
}

static void complete(struct doca_task *task)
{
	fail_msg("the task's own callback was called");
}

static const struct shim_task_type type = {
	.name = SIM_TASK_DMA_MEMCPY, /* of a kind with one task */
	.size = sizeof(struct doca_task),
	.check = check,
	.validate = check,
	.post = post,
	.complete = complete,
};

static doca_error_t start(struct doca_ctx *ctx)
{
	return shim_task_pool_add(ctx, &type, TASKS, &narrow_of(ctx)->pool);
}

static bool progress(struct doca_ctx *ctx)
{
	struct narrow *narrow = narrow_of(ctx);
	struct doca_task *task = narrow->kept;

	if (!task || !narrow->may_finish)
		return false;
	narrow->kept = NULL;
	narrow->may_finish = false;
	shim_task_complete_posted(task, DOCA_SUCCESS);
	return true;
}

static const struct shim_ctx_ops ops = {
	.name = "narrow",
	.start = start,
	.may_stop = shim_ctx_may_stop_always,
	.begin_stop = shim_ctx_nop,
	.progress = progress,
	.arm = shim_ctx_arm_none,
	.is_drained = shim_ctx_is_drained_always,
	.stopped = shim_ctx_nop,
};

/* Three instances of a graph of one node. */
static struct {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct narrow *narrow;
	struct doca_graph *graph;
	struct doca_task *tasks[TASKS];
	struct doca_graph_instance *instances[TASKS];
	char order[TASKS + 1]; /* in which they ended: "0", "01", ... */
} world;

static void note_done(struct doca_graph_instance *instance, union doca_data data, union doca_data graph)
{
	world.order[strlen(world.order)] = (char)('0' + data.u64);
}

static void note_failed(struct doca_graph_instance *instance, union doca_data data, union doca_data graph)
{
	fail_msg("an instance failed");
}

static void open_device(void)
{
	struct doca_devinfo **list;
	uint32_t count;

	assert_ok(doca_devinfo_create_list(&list, &count));
	assert_true(count > 0);
	assert_ok(doca_dev_open(list[0], &world.dev));
	assert_ok(doca_devinfo_destroy_list(list));
}

/* The kind does not matter: no function of that library is called. */
static void make_context(void)
{
	open_device();
	world.narrow = shim_object_new(SHIM_DMA, sizeof(*world.narrow));
	assert_non_null(world.narrow);
	shim_ctx_init(&world.narrow->ctx, &ops, world.dev);
	assert_ok(doca_pe_create(&world.pe));
	assert_ok(doca_pe_connect_ctx(world.pe, &world.narrow->ctx));
	assert_ok(doca_ctx_start(&world.narrow->ctx));
}

static void make_instance(struct doca_graph_node *node, uint64_t number)
{
	assert_ok(
		shim_task_alloc(world.narrow->pool, &world.narrow->ctx, (union doca_data){ 0 }, &world.tasks[number]));
	assert_ok(doca_graph_instance_create(world.graph, &world.instances[number]));
	assert_ok(doca_graph_instance_set_user_data(world.instances[number], (union doca_data){ .u64 = number }));
	assert_ok(doca_graph_instance_set_ctx_node_data(world.instances[number], node, world.tasks[number]));
}

static int setup(void **state)
{
	struct doca_graph_node *node;

	memset(&world, 0, sizeof(world));
	make_context();
	assert_ok(doca_graph_create(world.pe, &world.graph));
	assert_ok(doca_graph_set_conf(world.graph, note_done, note_failed, TASKS));
	assert_ok(doca_graph_node_create_from_ctx(world.graph, &world.narrow->ctx, &node));
	assert_ok(doca_graph_start(world.graph));
	for (uint64_t i = 0; i < TASKS; i++)
		make_instance(node, i);
	return 0;
}

static int teardown(void **state)
{
	for (size_t i = 0; i < TASKS; i++) {
		assert_ok(doca_graph_instance_destroy(world.instances[i]));
		doca_task_free(world.tasks[i]);
	}
	assert_ok(doca_graph_stop(world.graph));
	assert_ok(doca_graph_destroy(world.graph));
	assert_ok(doca_ctx_stop(&world.narrow->ctx));
	assert_ok(shim_ctx_fini(&world.narrow->ctx));
	shim_object_free(world.narrow, SHIM_DMA);
	assert_ok(doca_pe_destroy(world.pe));
	assert_ok(doca_dev_close(world.dev));
	return 0;
}

static void submit_all(void)
{
	for (size_t i = 0; i < TASKS; i++)
		assert_ok(doca_graph_instance_submit(world.instances[i]));
}

static size_t in_flight(void)
{
	size_t count;

	assert_ok(doca_pe_get_num_inflight_tasks(world.pe, &count));
	return count;
}

/* Progress until nothing is left to do. */
static void progress_all(void)
{
	while (doca_pe_progress(world.pe))
		;
}

static void test_context_without_room_is_no_failure(void **state)
{
	submit_all();
	assert_int_equal(world.narrow->num_refused, 2);
	assert_int_equal(in_flight(), TASKS);
	assert_int_equal(doca_pe_progress(world.pe), 0); /* still no room */
	assert_string_equal(world.order, "");
	for (size_t i = 0; i < TASKS; i++) {
		assert_int_equal(strlen(world.order), i);
		world.narrow->may_finish = true;
		progress_all();
	}
	assert_string_equal(world.order, "012"); /* first come, first served */
	assert_int_equal(in_flight(), 0);
}

/* Room is only found by a try: an owner tries again before it sleeps. */
static void test_no_owner_sleeps_while_a_node_may_have_room(void **state)
{
	doca_notification_handle_t fd;
	fd_set readable;
	struct timeval none = { 0 };

	submit_all();
	assert_ok(doca_pe_request_notification(world.pe));
	assert_ok(doca_pe_get_notification_handle(world.pe, &fd));
	FD_ZERO(&readable);
	FD_SET(fd, &readable);
	assert_int_equal(select(fd + 1, &readable, NULL, NULL, &none), 1);
	assert_ok(doca_pe_clear_notification(world.pe, fd));
	for (size_t i = 0; i < TASKS; i++) {
		world.narrow->may_finish = true;
		progress_all();
	}
	assert_string_equal(world.order, "012");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_context_without_room_is_no_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_owner_sleeps_while_a_node_may_have_room, setup, teardown),
	};

	return cmocka_run_group_tests_name("graphs over a context without room", tests, NULL, NULL);
}
