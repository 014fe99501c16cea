/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of sync events: their number, and their arguments. */
#include "sync_event_util.h"

static struct doca_dev *dev;

/* ---- configuration ---- */

static void on_get(struct doca_sync_event_task_get *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_set(struct doca_sync_event_task_notify_set *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_add(struct doca_sync_event_task_notify_add *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_eq(struct doca_sync_event_task_wait_eq *task, union doca_data user_data, union doca_data ctx_data)
{
}

static void on_neq(struct doca_sync_event_task_wait_neq *task, union doca_data user_data, union doca_data ctx_data)
{
}

/* provokes: doca_sync_event_task_get_set_conf DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_task_notify_set_set_conf DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_task_notify_add_set_conf DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_task_wait_eq_set_conf DOCA_ERROR_INVALID_VALUE
 * provokes: doca_sync_event_task_wait_neq_set_conf DOCA_ERROR_INVALID_VALUE */
static void test_configuration_without_event_or_callback_is_refused(void **state)
{
	struct doca_sync_event *event = ((struct se_ctx *)*state)->event;

	assert_invalid(doca_sync_event_task_get_set_conf(NULL, on_get, on_get, 1));
	assert_invalid(doca_sync_event_task_get_set_conf(event, NULL, on_get, 1));
	assert_invalid(doca_sync_event_task_get_set_conf(event, on_get, NULL, 1));
	assert_invalid(doca_sync_event_task_notify_set_set_conf(NULL, on_set, on_set, 1));
	assert_invalid(doca_sync_event_task_notify_set_set_conf(event, NULL, on_set, 1));
	assert_invalid(doca_sync_event_task_notify_set_set_conf(event, on_set, NULL, 1));
	assert_invalid(doca_sync_event_task_notify_add_set_conf(NULL, on_add, on_add, 1));
	assert_invalid(doca_sync_event_task_notify_add_set_conf(event, NULL, on_add, 1));
	assert_invalid(doca_sync_event_task_notify_add_set_conf(event, on_add, NULL, 1));
	assert_invalid(doca_sync_event_task_wait_eq_set_conf(NULL, on_eq, on_eq, 1));
	assert_invalid(doca_sync_event_task_wait_eq_set_conf(event, NULL, on_eq, 1));
	assert_invalid(doca_sync_event_task_wait_eq_set_conf(event, on_eq, NULL, 1));
	assert_invalid(doca_sync_event_task_wait_neq_set_conf(NULL, on_neq, on_neq, 1));
	assert_invalid(doca_sync_event_task_wait_neq_set_conf(event, NULL, on_neq, 1));
	assert_invalid(doca_sync_event_task_wait_neq_set_conf(event, on_neq, NULL, 1));
}

static void assert_not_permitted(struct doca_sync_event *event)
{
	/* provokes: doca_sync_event_task_get_set_conf DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_sync_event_task_get_set_conf(event, on_get, on_get, 1), DOCA_ERROR_NOT_PERMITTED);
	/* provokes: doca_sync_event_task_notify_set_set_conf DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_sync_event_task_notify_set_set_conf(event, on_set, on_set, 1), DOCA_ERROR_NOT_PERMITTED);
	/* provokes: doca_sync_event_task_notify_add_set_conf DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_sync_event_task_notify_add_set_conf(event, on_add, on_add, 1), DOCA_ERROR_NOT_PERMITTED);
	/* provokes: doca_sync_event_task_wait_eq_set_conf DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_sync_event_task_wait_eq_set_conf(event, on_eq, on_eq, 1), DOCA_ERROR_NOT_PERMITTED);
	/* provokes: doca_sync_event_task_wait_neq_set_conf DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_sync_event_task_wait_neq_set_conf(event, on_neq, on_neq, 1), DOCA_ERROR_NOT_PERMITTED);
}

static void test_started_event_is_not_configured(void **state)
{
	struct doca_sync_event *alone = se_started(dev);

	assert_not_permitted(((struct se_ctx *)*state)->event);
	assert_not_permitted(alone);
	se_end(alone);
}

/* A program that configures no tasks of a kind starts, and gets none. */
static void test_no_tasks_of_a_kind_are_fine(void **state)
{
	struct se_ctx *se = *state;
	struct doca_sync_event_task_get *get;
	union doca_data data = { 0 };
	uint64_t value;

	assert_ok(doca_sync_event_task_get_set_conf(se->event, on_get, on_get, 0));
	assert_ok(doca_ctx_start(se->ctx));
	assert_doca(doca_sync_event_task_get_alloc_init(se->event, &value, data, &get), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_task_submit(se_set(se, 1, 1)));
	se_progress(se);
}

/* ---- allocation ---- */

/* provokes: doca_sync_event_task_get_alloc_init DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_task_notify_set_alloc_init DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_task_notify_add_alloc_init DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_task_wait_eq_alloc_init DOCA_ERROR_NO_MEMORY
 * provokes: doca_sync_event_task_wait_neq_alloc_init DOCA_ERROR_NO_MEMORY */
static void test_no_more_tasks_than_configured(void **state)
{
	struct se_ctx *se = *state;
	struct doca_task *tasks[SE_TASKS * 5];
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event_task_wait_neq *neq;
	union doca_data data = { 0 };
	uint64_t value;

	for (size_t i = 0; i < API_COUNT(tasks); i += 5) {
		tasks[i] = se_get(se, i, &value);
		tasks[i + 1] = se_set(se, i, 1);
		tasks[i + 2] = se_add(se, i, 1, &value);
		tasks[i + 3] = se_wait_eq(se, i, 1, 0);
		tasks[i + 4] = se_wait_neq(se, i, 1, 0);
	}
	assert_doca(doca_sync_event_task_get_alloc_init(se->event, &value, data, &get), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_sync_event_task_notify_set_alloc_init(se->event, 1, data, &set), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_sync_event_task_notify_add_alloc_init(se->event, 1, &value, data, &add), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_sync_event_task_wait_eq_alloc_init(se->event, 1, 0, data, &eq), DOCA_ERROR_NO_MEMORY);
	assert_doca(doca_sync_event_task_wait_neq_alloc_init(se->event, 1, 0, data, &neq), DOCA_ERROR_NO_MEMORY);
	for (size_t i = 0; i < API_COUNT(tasks); i++)
		doca_task_free(tasks[i]);
}

static void test_tasks_are_allocated_while_running_only(void **state)
{
	struct se_ctx *se = *state;
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_wait_eq *eq;
	union doca_data data = { 0 };
	uint64_t value;

	assert_doca(doca_sync_event_task_get_alloc_init(se->event, &value, data, &get), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_sync_event_task_wait_eq_alloc_init(se->event, 1, 0, data, &eq), DOCA_ERROR_BAD_STATE);
	assert_invalid(doca_sync_event_task_get_alloc_init(NULL, &value, data, &get));
	assert_invalid(doca_sync_event_task_get_alloc_init(se->event, &value, data, NULL));
}

/* ---- arguments of a task ---- */

static void test_tasks_values_can_be_read_and_changed(void **state)
{
	struct se_ctx *se = *state;
	union doca_data data = { 0 };
	struct doca_sync_event_task_get *get;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_notify_add *add;
	uint64_t one, other;

	assert_ok(doca_sync_event_task_get_alloc_init(se->event, &one, data, &get));
	assert_ptr_equal(doca_sync_event_task_get_get_ret_val_ptr(get), &one);
	doca_sync_event_task_get_set_ret_val_ptr(get, &other);
	assert_ptr_equal(doca_sync_event_task_get_get_ret_val_ptr(get), &other);
	assert_ok(doca_sync_event_task_notify_set_alloc_init(se->event, 4, data, &set));
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(set), 4);
	doca_sync_event_task_notify_set_set_set_val(set, 5);
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(set), 5);
	assert_ok(doca_sync_event_task_notify_add_alloc_init(se->event, 6, &one, data, &add));
	assert_int_equal(doca_sync_event_task_notify_add_get_inc_val(add), 6);
	assert_ptr_equal(doca_sync_event_task_notify_add_get_fetched_val_ptr(add), &one);
	doca_sync_event_task_notify_add_set_inc_val(add, 7);
	doca_sync_event_task_notify_add_set_fetched_val_ptr(add, &other);
	assert_int_equal(doca_sync_event_task_notify_add_get_inc_val(add), 7);
	assert_ptr_equal(doca_sync_event_task_notify_add_get_fetched_val_ptr(add), &other);
	assert_ok(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(set)));
	assert_ok(doca_task_submit(doca_sync_event_task_notify_add_as_doca_task(add)));
	se_progress(se);
	assert_int_equal(other, 5);
	assert_ok(doca_task_submit(doca_sync_event_task_get_as_doca_task(get)));
	se_progress(se);
	assert_int_equal(other, 12);
}

static void test_waits_values_can_be_read_and_changed(void **state)
{
	struct se_ctx *se = *state;
	union doca_data data = { 0 };
	struct doca_sync_event_task_wait_eq *eq;
	struct doca_sync_event_task_wait_neq *neq;

	assert_ok(doca_sync_event_task_wait_eq_alloc_init(se->event, 8, 0xff, data, &eq));
	assert_int_equal(doca_sync_event_task_wait_eq_get_wait_val(eq), 8);
	assert_int_equal(doca_sync_event_task_wait_eq_get_mask(eq), 0xff);
	doca_sync_event_task_wait_eq_set_wait_val(eq, 9);
	doca_sync_event_task_wait_eq_set_mask(eq, 0xffff);
	assert_int_equal(doca_sync_event_task_wait_eq_get_wait_val(eq), 9);
	assert_int_equal(doca_sync_event_task_wait_eq_get_mask(eq), 0xffff);
	assert_ok(doca_sync_event_task_wait_neq_alloc_init(se->event, 1, 0xff, data, &neq));
	assert_int_equal(doca_sync_event_task_wait_neq_get_wait_val(neq), 1);
	assert_int_equal(doca_sync_event_task_wait_neq_get_mask(neq), 0xff);
	doca_sync_event_task_wait_neq_set_wait_val(neq, 0);
	doca_sync_event_task_wait_neq_set_mask(neq, UINT64_MAX);
	assert_int_equal(doca_sync_event_task_wait_neq_get_wait_val(neq), 0);
	assert_int_equal(doca_sync_event_task_wait_neq_get_mask(neq), UINT64_MAX);
	assert_ok(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(eq)));
	assert_ok(doca_task_submit(doca_sync_event_task_wait_neq_as_doca_task(neq)));
	doca_sync_event_task_wait_eq_set_wait_val(eq, 0); /* in flight: it stays */
	doca_sync_event_task_wait_neq_set_mask(neq, 0);
	se_progress(se);
	assert_se_trace(se, "");
	assert_ok(doca_sync_event_update_set(se->event, 9));
	se_progress(se);
	assert_se_trace(se, "wait_eq 0 done\nwait_neq 0 done\n");
}

static void test_task_without_a_place_for_its_result_is_refused(void **state)
{
	struct se_ctx *se = *state;
	struct doca_task *get = se_get(se, 1, NULL), *add = se_add(se, 2, 5, NULL);

	assert_invalid(doca_task_submit(get));
	assert_invalid(doca_task_try_submit(get));
	assert_invalid(doca_task_submit(add));
	assert_int_equal(se_value(se->event), 0);
	doca_task_free(get);
	doca_task_free(add);
}

/* NULL, freed, or of another kind: getters return 0, and setters change nothing. */
static void test_handles_that_are_no_such_task_are_recognised(void **state)
{
	struct se_ctx *se = *state;
	struct doca_task *task = se_set(se, 1, 7);
	struct doca_sync_event_task_notify_set *set = (struct doca_sync_event_task_notify_set *)task;
	struct doca_sync_event_task_get *get = (struct doca_sync_event_task_get *)task;
	struct doca_sync_event_task_wait_eq *eq = (struct doca_sync_event_task_wait_eq *)task;
	struct doca_sync_event_task_wait_neq *neq = (struct doca_sync_event_task_wait_neq *)task;
	struct doca_sync_event_task_notify_add *add = (struct doca_sync_event_task_notify_add *)task;
	uint64_t value;

	assert_null(doca_sync_event_task_get_as_doca_task(NULL));
	assert_null(doca_sync_event_task_get_as_doca_task(get));
	assert_null(doca_sync_event_task_notify_add_as_doca_task(add));
	assert_null(doca_sync_event_task_wait_eq_as_doca_task(eq));
	assert_null(doca_sync_event_task_wait_neq_as_doca_task(neq));
	assert_null(doca_sync_event_task_get_get_ret_val_ptr(get));
	assert_int_equal(doca_sync_event_task_wait_eq_get_wait_val(eq), 0);
	doca_sync_event_task_get_set_ret_val_ptr(get, &value);
	doca_sync_event_task_wait_eq_set_wait_val(eq, 8);
	doca_sync_event_task_notify_add_set_inc_val(add, 8);
	doca_sync_event_task_notify_set_set_set_val(NULL, 8);
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(set), 7);
	doca_task_free(task);
	assert_null(doca_sync_event_task_notify_set_as_doca_task(set));
	assert_int_equal(doca_sync_event_task_notify_set_get_set_val(set), 0);
}

static const struct CMUnitTest tests[] = {
	SE_IDLE(test_configuration_without_event_or_callback_is_refused),
	SE_RUNNING(test_started_event_is_not_configured),
	SE_IDLE(test_no_tasks_of_a_kind_are_fine),
	SE_RUNNING(test_no_more_tasks_than_configured),
	SE_IDLE(test_tasks_are_allocated_while_running_only),
	SE_RUNNING(test_tasks_values_can_be_read_and_changed),
	SE_RUNNING(test_waits_values_can_be_read_and_changed),
	SE_RUNNING(test_task_without_a_place_for_its_result_is_refused),
	SE_RUNNING(test_handles_that_are_no_such_task_are_recognised),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}
