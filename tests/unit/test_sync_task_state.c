/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a sync event's tasks: every pair of states, and the event's lists that follow a task. */
#include "cmocka_test.h"
#include "shim/common/sync/sync_event_priv.h"

/* The picture in sync_event_priv.h; the other pairs are no edges. */
static const struct {
	enum shim_sync_task_state from, to;
} edges[] = {
	{ SHIM_SYNC_TASK_IDLE, SHIM_SYNC_TASK_WAITING },  { SHIM_SYNC_TASK_IDLE, SHIM_SYNC_TASK_DEFERRED },
	{ SHIM_SYNC_TASK_IDLE, SHIM_SYNC_TASK_DONE },     { SHIM_SYNC_TASK_WAITING, SHIM_SYNC_TASK_IDLE },
	{ SHIM_SYNC_TASK_DEFERRED, SHIM_SYNC_TASK_DONE }, { SHIM_SYNC_TASK_WAITING, SHIM_SYNC_TASK_DEFERRED },
	{ SHIM_SYNC_TASK_DONE, SHIM_SYNC_TASK_IDLE },
};

static bool is_edge(enum shim_sync_task_state from, enum shim_sync_task_state to)
{
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (edges[i].from == from && edges[i].to == to)
			return true;
	return false;
}

static void test_a_task_has_the_edges_of_the_picture_alone(void **state)
{
	for (int from = 0; from < SHIM_SYNC_TASK_NUM_STATES; from++)
		for (int to = 0; to < SHIM_SYNC_TASK_NUM_STATES; to++)
			assert_int_equal(shim_sync_task_has_edge(from, to), is_edge(from, to));
}

static void go(struct shim_sync_task *task, enum shim_sync_task_state to)
{
	struct doca_sync_event *event = (struct doca_sync_event *)task->task.ctx;

	shim_sync_task_set_state(task, to);
	assert_int_equal(task->state, to);
	for (int each = 0; each < SHIM_SYNC_TASK_NUM_STATES; each++)
		assert_int_equal(TAILQ_FIRST(&event->tasks[each]) == task,
				 each != SHIM_SYNC_TASK_IDLE && each == (int)to);
}

/* Each way from idle back to idle walks over all edges. */
static void test_a_task_is_in_the_list_of_its_state(void **state)
{
	static const enum shim_sync_task_state ways[][4] = {
		{ SHIM_SYNC_TASK_DONE },
		{ SHIM_SYNC_TASK_WAITING },
		{ SHIM_SYNC_TASK_DEFERRED, SHIM_SYNC_TASK_DONE },
		{ SHIM_SYNC_TASK_WAITING, SHIM_SYNC_TASK_DEFERRED, SHIM_SYNC_TASK_DONE },
	};
	struct doca_sync_event event = { 0 };
	struct shim_sync_task task = { .task.ctx = &event.ctx };

	for (int each = 0; each < SHIM_SYNC_TASK_NUM_STATES; each++)
		TAILQ_INIT(&event.tasks[each]);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		for (size_t step = 0; ways[i][step] != SHIM_SYNC_TASK_IDLE; step++)
			go(&task, ways[i][step]);
		go(&task, SHIM_SYNC_TASK_IDLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_task_has_the_edges_of_the_picture_alone),
		cmocka_unit_test(test_a_task_is_in_the_list_of_its_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
