/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs in graphs. */
#include "graph_util.h"

static void no_callback(struct doca_graph_instance *instance, union doca_data data, union doca_data rig)
{
	CHECK(false);
}

/*	inner: copy --> inside
 *	outer: before --> (inner) --> after, and a copy of its own */
struct nest {
	struct rig *rig;
	struct doca_graph *inner, *outer;
	struct doca_graph_node *copy, *inside, *before, *sub, *own, *after;
	struct doca_graph_instance *inner_one, *outer_one;
	struct doca_task *tasks[2];
	struct step steps[3]; /* before, inside, after */
};

static void fill_inner(struct nest *nest)
{
	MUST(doca_graph_start(nest->inner));
	nest->inner_one = instance_new(nest->inner, 2);
	MUST(doca_graph_instance_set_ctx_node_data(nest->inner_one, nest->copy, nest->tasks[0]));
	MUST(doca_graph_instance_set_user_node_data(nest->inner_one, nest->inside, &nest->steps[1]));
}

static void fill_outer(struct nest *nest)
{
	MUST(doca_graph_start(nest->outer));
	nest->outer_one = instance_new(nest->outer, 1);
	MUST(doca_graph_instance_set_ctx_node_data(nest->outer_one, nest->own, nest->tasks[1]));
	MUST(doca_graph_instance_set_user_node_data(nest->outer_one, nest->before, &nest->steps[0]));
	MUST(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, nest->inner_one));
	MUST(doca_graph_instance_set_user_node_data(nest->outer_one, nest->after, &nest->steps[2]));
}

static void empty_outer(struct nest *nest)
{
	MUST(doca_graph_instance_destroy(nest->outer_one));
	MUST(doca_graph_stop(nest->outer));
}

static void empty_inner(struct nest *nest)
{
	MUST(doca_graph_instance_destroy(nest->inner_one));
	MUST(doca_graph_stop(nest->inner));
}

static void make_inner(struct nest *nest)
{
	nest->inner = graph_new(nest->rig, 2);
	MUST(doca_graph_set_conf(nest->inner, no_callback, no_callback, 2));
	nest->copy = ctx_node(nest->inner, nest->rig->ctx);
	nest->inside = user_node(nest->inner);
	follows(nest->inner, nest->copy, nest->inside);
}

static void make_outer(struct nest *nest)
{
	nest->outer = graph_new(nest->rig, 1);
	nest->own = ctx_node(nest->outer, nest->rig->ctx);
	nest->before = user_node(nest->outer);
	nest->sub = sub_node(nest->outer, nest->inner);
	nest->after = user_node(nest->outer);
	follows(nest->outer, nest->before, nest->sub);
	follows(nest->outer, nest->sub, nest->after);
}

static int setup(void **state)
{
	static const char *const names[] = { "before", "inside", "after" };
	struct nest *nest = calloc(1, sizeof(*nest));

	CHECK(nest);
	nest->rig = rig_start(rig_open(NULL));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		nest->steps[i] = (struct step){ .rig = nest->rig, .name = names[i] };
	for (size_t i = 0; i < ARRAY_LEN(nest->tasks); i++)
		nest->tasks[i] =
			rig_task(nest->rig, i, rig_src(nest->rig, 0, 8), rig_dst(nest->rig, 4096 * (i + 1), 64));
	make_inner(nest);
	fill_inner(nest);
	make_outer(nest);
	fill_outer(nest);
	*state = nest;
	return 0;
}

static int teardown(void **state)
{
	struct nest *nest = *state;

	empty_outer(nest);
	empty_inner(nest);
	MUST(doca_graph_destroy(nest->outer));
	MUST(doca_graph_destroy(nest->inner));
	doca_task_free(nest->tasks[0]);
	doca_task_free(nest->tasks[1]);
	rig_close(nest->rig);
	free(nest);
	return 0;
}

#define NESTED(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

/* ---- running ---- */

static void test_sub_graph_runs_as_a_node_without_its_own_callback(void **state)
{
	struct nest *nest = *state;

	for (int round = 0; round < 2; round++) {
		assert_ok(doca_graph_instance_submit(nest->outer_one));
		assert_trace(nest->rig, "node before\n");
		assert_int_equal(rig_pe_in_flight(nest->rig), 2);
		rig_drain(nest->rig);
		assert_trace(nest->rig, "node inside\nnode after\ninstance 1 done\n");
	}
}

/* provokes: doca_graph_instance_set_sub_graph_node_data DOCA_ERROR_BAD_STATE */
static void test_sub_instance_runs_while_its_node_does(void **state)
{
	struct nest *nest = *state;

	assert_ok(doca_graph_instance_submit(nest->outer_one));
	assert_doca(doca_graph_instance_submit(nest->inner_one), DOCA_ERROR_IN_USE);
	assert_doca(doca_graph_instance_destroy(nest->inner_one), DOCA_ERROR_IN_USE);
	assert_doca(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, nest->inner_one),
		    DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_stop(nest->inner), DOCA_ERROR_IN_USE);
	rig_drain(nest->rig);
	assert_trace(nest->rig, "node before\nnode inside\nnode after\ninstance 1 done\n");
}

static void test_failure_inside_is_the_nodes_failure(void **state)
{
	struct nest *nest = *state;

	nest->steps[1].result = DOCA_ERROR_NOT_FOUND;
	assert_ok(doca_graph_instance_submit(nest->outer_one));
	rig_drain(nest->rig);
	assert_trace(nest->rig, "node before\nnode inside\ninstance 1 failed\n");
}

static doca_error_t fail_quietly(void *cookie)
{
	return DOCA_ERROR_UNKNOWN;
}

/* The outer graph's own copy is first in the queue: its successor fails while the inner copy is in flight. */
static void test_failure_outside_keeps_the_inner_nodes_from_beginning(void **state)
{
	struct nest *nest = *state;
	struct doca_graph_node *bad;

	empty_outer(nest);
	assert_ok(doca_graph_node_create_from_user(nest->outer, fail_quietly, &bad));
	follows(nest->outer, nest->own, bad);
	fill_outer(nest);
	assert_ok(doca_graph_instance_submit(nest->outer_one));
	rig_drain(nest->rig);
	assert_trace(nest->rig, "node before\ninstance 1 failed\n");
	assert_int_equal(nest->rig->arena[4096], rig_byte(0)); /* the inner copy was made */
}

/* The user runs the inner instance: the outer's node waits for it. */
static void test_sub_instance_that_is_busy_is_waited_for(void **state)
{
	struct nest *nest = *state;

	empty_outer(nest);
	empty_inner(nest);
	MUST(doca_graph_set_conf(nest->inner, instance_done, instance_failed, 1));
	fill_inner(nest);
	fill_outer(nest);
	assert_ok(doca_graph_instance_submit(nest->inner_one));
	assert_doca(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, nest->inner_one),
		    DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_instance_submit(nest->outer_one));
	rig_drain(nest->rig);
	assert_trace(nest->rig,
		     "node before\nnode inside\ninstance 2 done\nnode inside\nnode after\ninstance 1 done\n");
}

/* ---- data ---- */

static void test_sub_instance_without_data_fails_its_node(void **state)
{
	struct nest *nest = *state;
	struct doca_graph_instance *bare = instance_new(nest->inner, 3);

	assert_ok(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, bare));
	assert_ok(doca_graph_instance_submit(nest->outer_one));
	rig_drain(nest->rig);
	assert_trace(nest->rig, "node before\ninstance 1 failed\n");
	assert_doca(doca_graph_instance_destroy(bare), DOCA_ERROR_IN_USE);
	assert_ok(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, nest->inner_one));
	assert_ok(doca_graph_instance_destroy(bare));
}

/* provokes: doca_graph_instance_set_sub_graph_node_data DOCA_ERROR_NOT_PERMITTED */
static void test_sub_instance_must_be_of_the_nodes_graph(void **state)
{
	struct nest *nest = *state;
	struct doca_graph_instance *running = instance_new(nest->inner, 3);
	struct doca_task *task = rig_small_task(nest->rig, 3);

	assert_doca(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, nest->outer_one),
		    DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->after, nest->inner_one),
		    DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_instance_set_sub_graph_node_data(nest->inner_one, nest->sub, nest->inner_one),
		    DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_instance_set_ctx_node_data(running, nest->copy, task));
	assert_ok(doca_graph_instance_set_user_node_data(running, nest->inside, &nest->steps[1]));
	assert_ok(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, running));
	assert_ok(doca_graph_instance_submit(nest->outer_one));
	rig_drain(nest->rig);
	assert_trace(nest->rig, "node before\nnode inside\nnode after\ninstance 1 done\n");
	assert_ok(doca_graph_instance_set_sub_graph_node_data(nest->outer_one, nest->sub, nest->inner_one));
	assert_ok(doca_graph_instance_destroy(running));
	doca_task_free(task);
}

/* ---- depth ---- */

/* Each graph has a copy and the previous graph; all share one task. */
static void test_graphs_nest_deep(void **state)
{
	enum { DEPTH = 500 };
	static struct doca_graph *graphs[DEPTH];
	static struct doca_graph_instance *instances[DEPTH];
	struct rig *rig = *state;
	struct doca_task *task = rig_task(rig, 1, rig_src(rig, 7, 1), rig_dst(rig, 4096, DEPTH));

	for (size_t i = 0; i < DEPTH; i++) {
		struct doca_graph_node *copy, *sub;

		graphs[i] = graph_new(rig, 1);
		copy = ctx_node(graphs[i], rig->ctx);
		sub = i ? sub_node(graphs[i], graphs[i - 1]) : NULL;
		assert_ok(doca_graph_start(graphs[i]));
		instances[i] = instance_new(graphs[i], i);
		assert_ok(doca_graph_instance_set_ctx_node_data(instances[i], copy, task));
		if (sub)
			assert_ok(doca_graph_instance_set_sub_graph_node_data(instances[i], sub, instances[i - 1]));
	}
	assert_ok(doca_graph_instance_submit(instances[DEPTH - 1]));
	rig_drain(rig);
	assert_trace(rig, "instance 499 done\n");
	for (size_t i = 0; i < DEPTH; i++)
		assert_int_equal(rig->arena[4096 + i], rig_byte(7));
	for (size_t i = DEPTH; i-- > 0;) {
		assert_ok(doca_graph_instance_destroy(instances[i]));
		graph_end(graphs[i]);
	}
	doca_task_free(task);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NESTED(test_sub_graph_runs_as_a_node_without_its_own_callback),
		NESTED(test_sub_instance_runs_while_its_node_does),
		NESTED(test_failure_inside_is_the_nodes_failure),
		NESTED(test_failure_outside_keeps_the_inner_nodes_from_beginning),
		NESTED(test_sub_instance_that_is_busy_is_waited_for),
		NESTED(test_sub_instance_without_data_fails_its_node),
		NESTED(test_sub_instance_must_be_of_the_nodes_graph),
		RIG_RUNNING(test_graphs_nest_deep),
	};

	return cmocka_run_group_tests_name("graphs in graphs", tests, NULL, NULL);
}
