/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs whose nodes wait for a task: more instances than a context has tasks. */
#include "graph_util.h"

enum { INSTANCES = 64, TASKS = 2 };

/* Many instances of (copy --> count) that share two tasks. */
struct crowd {
	struct rig *rig;
	struct doca_graph *graph;
	struct doca_graph_node *copy, *counter;
	struct doca_task *tasks[TASKS];
	struct doca_graph_instance *instances[INSTANCES];
	uint32_t num_counted;
	size_t most_in_flight; /* seen in the context */
};

static doca_error_t count_and_look(void *cookie)
{
	struct crowd *crowd = cookie;
	size_t in_flight = rig_in_flight(crowd->rig);

	crowd->num_counted++;
	if (in_flight > crowd->most_in_flight)
		crowd->most_in_flight = in_flight;
	return DOCA_SUCCESS;
}

static void note_nothing(struct doca_graph_instance *instance, union doca_data data, union doca_data rig)
{
}

static struct crowd *crowd_new(struct rig *rig)
{
	struct crowd *crowd = calloc(1, sizeof(*crowd));

	CHECK(crowd);
	crowd->rig = rig;
	crowd->graph = graph_new(rig, INSTANCES);
	MUST(doca_graph_set_conf(crowd->graph, note_nothing, instance_failed, INSTANCES));
	crowd->copy = ctx_node(crowd->graph, rig->ctx);
	MUST(doca_graph_node_create_from_user(crowd->graph, count_and_look, &crowd->counter));
	follows(crowd->graph, crowd->copy, crowd->counter);
	MUST(doca_graph_start(crowd->graph));
	/* Room for a byte of each instance: copies append. */
	for (size_t i = 0; i < TASKS; i++)
		crowd->tasks[i] = rig_task(rig, i, rig_src(rig, i, 1), rig_dst(rig, 4096 * (i + 1), INSTANCES));
	for (size_t i = 0; i < INSTANCES; i++) {
		crowd->instances[i] = instance_new(crowd->graph, i);
		MUST(doca_graph_instance_set_ctx_node_data(crowd->instances[i], crowd->copy, crowd->tasks[i % TASKS]));
		MUST(doca_graph_instance_set_user_node_data(crowd->instances[i], crowd->counter, crowd));
	}
	return crowd;
}

static void crowd_end(struct crowd *crowd)
{
	for (size_t i = 0; i < INSTANCES; i++)
		MUST(doca_graph_instance_destroy(crowd->instances[i]));
	for (size_t i = 0; i < TASKS; i++)
		doca_task_free(crowd->tasks[i]);
	graph_end(crowd->graph);
	free(crowd);
}

static void submit_all(struct crowd *crowd)
{
	for (size_t i = 0; i < INSTANCES; i++)
		assert_ok(doca_graph_instance_submit(crowd->instances[i]));
	/* Waiting nodes are in flight in the engine, but not in the context. */
	assert_int_equal(rig_pe_in_flight(crowd->rig), INSTANCES);
	assert_int_equal(rig_in_flight(crowd->rig), TASKS);
}

static void assert_all_ran(const struct crowd *crowd)
{
	assert_int_equal(crowd->num_counted, INSTANCES);
	assert_true(crowd->most_in_flight < TASKS); /* seen when one of them had just ended */
	assert_trace(crowd->rig, "");
	for (size_t task = 0; task < TASKS; task++)
		for (size_t i = 0; i < INSTANCES / TASKS; i++)
			assert_int_equal(crowd->rig->arena[4096 * (task + 1) + i], rig_byte(task));
}

static void test_more_instances_than_tasks_take_turns(void **state)
{
	struct crowd *crowd = crowd_new(*state);

	submit_all(crowd);
	rig_drain(crowd->rig);
	assert_all_ran(crowd);
	crowd_end(crowd);
}

static void test_turns_come_in_the_mode_that_progresses_all(void **state)
{
	struct crowd *crowd = crowd_new(*state);

	assert_ok(doca_pe_set_event_mode(crowd->rig->pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL));
	submit_all(crowd);
	rig_drain(crowd->rig);
	assert_all_ran(crowd);
	crowd_end(crowd);
}

/* A program that progresses once and then sleeps is woken for each node. */
static void test_sleeper_is_woken_for_each_turn(void **state)
{
	struct crowd *crowd = crowd_new(*state);
	struct doca_pe *pe = crowd->rig->pe;
	doca_notification_handle_t fd;

	assert_ok(doca_pe_get_notification_handle(pe, &fd));
	submit_all(crowd);
	while (crowd->num_counted < INSTANCES) {
		assert_ok(doca_pe_request_notification(pe));
		assert_true(rig_wait_readable(fd));
		assert_ok(doca_pe_clear_notification(pe, fd));
		doca_pe_progress(pe);
	}
	assert_all_ran(crowd);
	crowd_end(crowd);
}

/* One instance of one copy, and its task. */
struct single {
	struct doca_graph *graph;
	struct doca_graph_instance *instance;
	struct doca_task *task;
};

static struct single single_new(struct rig *rig, struct doca_task *task)
{
	struct single single = { .graph = graph_new(rig, 1), .task = task };
	struct doca_graph_node *copy = ctx_node(single.graph, rig->ctx);

	MUST(doca_graph_start(single.graph));
	single.instance = instance_new(single.graph, 1);
	MUST(doca_graph_instance_set_ctx_node_data(single.instance, copy, task));
	return single;
}

static void single_end(struct single *single)
{
	MUST(doca_graph_instance_destroy(single->instance));
	graph_end(single->graph);
}

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
}

/* The user's submission completes to the user, the graph's later one to the graph. */
static void test_task_that_the_user_submitted_is_waited_for(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_task(rig, 5, rig_src(rig, 0, 8), rig_dst(rig, 4096, 16));
	struct single single = single_new(rig, task);

	rig->on_task = keep;
	assert_ok(doca_task_submit(task));
	assert_ok(doca_graph_instance_submit(single.instance));
	assert_int_equal(rig_pe_in_flight(rig), 2);
	rig_drain(rig);
	assert_trace(rig, "task 5 done\ninstance 1 done\n");
	single_end(&single);
	doca_task_free(task);
}

static void test_task_freed_while_its_node_waits_fails_the_instance(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_task(rig, 5, rig_src(rig, 0, 8), rig_dst(rig, 4096, 16));
	struct single single = single_new(rig, task);

	assert_ok(doca_task_submit(task)); /* the rig's callback frees it */
	assert_ok(doca_graph_instance_submit(single.instance));
	rig_drain(rig);
	assert_trace(rig, "task 5 done\ninstance 1 failed\n");
	single_end(&single);
}

static void test_context_that_stops_fails_what_waits(void **state)
{
	struct rig *rig = *state;
	struct doca_task *task = rig_task(rig, 5, rig_src(rig, 0, 8), rig_dst(rig, 4096, 4)); /* too small */
	struct single single = single_new(rig, task);

	rig->on_task = keep;
	assert_ok(doca_task_submit(task));
	assert_ok(doca_graph_instance_submit(single.instance));
	rig_drain(rig);
	assert_trace(rig, "running -> stopping\ntask 5 failed: DOCA_ERROR_IO_FAILED\ninstance 1 failed\n");
	single_end(&single);
	doca_task_free(task);
}

/*	copy --> bad
 *	other (waits for a task that the user submitted, and did not send off yet)
 * When bad has failed, the other's turn never comes. */
static void test_waiting_node_of_a_failed_instance_does_not_begin(void **state)
{
	struct rig *rig = *state, *beside = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *copy = ctx_node(graph, rig->ctx), *other = ctx_node(graph, beside->ctx),
			       *bad = user_node(graph);
	struct step step = { .rig = rig, .name = "bad", .result = DOCA_ERROR_UNKNOWN };
	struct doca_task *copied = rig_small_task(rig, 1), *busy = rig_small_task(beside, 2);
	struct doca_graph_instance *instance;

	follows(graph, copy, bad);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, copy, copied));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, other, busy));
	assert_ok(doca_graph_instance_set_user_node_data(instance, bad, &step));
	assert_ok(doca_task_submit_ex(busy, DOCA_TASK_SUBMIT_FLAG_NONE));
	assert_ok(doca_graph_instance_submit(instance));
	while (rig_pe_in_flight(rig) > 1)
		doca_pe_progress(rig->pe);
	assert_trace(rig, "node bad\ninstance 1 failed\n");
	doca_ctx_flush_tasks(beside->ctx);
	rig_drain(rig);
	assert_trace(rig, "task 2 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(copied);
	graph_end(graph);
	rig_close(beside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_more_instances_than_tasks_take_turns),
		RIG_RUNNING(test_turns_come_in_the_mode_that_progresses_all),
		RIG_RUNNING(test_sleeper_is_woken_for_each_turn),
		RIG_RUNNING(test_task_that_the_user_submitted_is_waited_for),
		RIG_RUNNING(test_task_freed_while_its_node_waits_fails_the_instance),
		RIG_RUNNING(test_context_that_stops_fails_what_waits),
		RIG_RUNNING(test_waiting_node_of_a_failed_instance_does_not_begin),
	};

	return cmocka_run_group_tests_name("graphs that wait", tests, NULL, NULL);
}
