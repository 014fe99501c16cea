/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration of graphs: permitted nodes and dependencies, states, and refusals. */
#include "graph_util.h"

#include <unistd.h>

/* unreachable: doca_graph_start DOCA_ERROR_NO_MEMORY: a start allocates nothing; instances do */

/* ---- memory that runs out: first, while every object needs new memory ---- */

static struct {
	struct rig *rig;
	struct doca_graph *graph, *sub;
	struct doca_graph_node *nodes[3];
	struct doca_graph_instance *instance;
} scarce;

static doca_error_t make_graph(void)
{
	return doca_graph_create(scarce.rig->pe, &scarce.graph);
}

static doca_error_t make_ctx_node(void)
{
	return doca_graph_node_create_from_ctx(scarce.graph, scarce.rig->ctx, &scarce.nodes[0]);
}

static doca_error_t make_user_node(void)
{
	return doca_graph_node_create_from_user(scarce.graph, take_step, &scarce.nodes[1]);
}

static doca_error_t make_sub_node(void)
{
	return doca_graph_node_create_from_graph(scarce.graph, scarce.sub, &scarce.nodes[2]);
}

static doca_error_t make_dependency(void)
{
	return doca_graph_add_dependency(scarce.graph, scarce.nodes[0], scarce.nodes[1]);
}

static doca_error_t make_instance(void)
{
	return doca_graph_instance_create(scarce.graph, &scarce.instance);
}

/* provokes: doca_graph_create DOCA_ERROR_NO_MEMORY
 * provokes: doca_graph_node_create_from_ctx DOCA_ERROR_NO_MEMORY
 * provokes: doca_graph_node_create_from_user DOCA_ERROR_NO_MEMORY
 * provokes: doca_graph_node_create_from_graph DOCA_ERROR_NO_MEMORY
 * provokes: doca_graph_add_dependency DOCA_ERROR_NO_MEMORY
 * provokes: doca_graph_instance_create DOCA_ERROR_NO_MEMORY */
static void test_what_finds_no_memory_says_so_and_changes_nothing(void **state)
{
	scarce.rig = *state;
	api_fail_each_allocation(make_graph, NULL);
	scarce.sub = graph_new(scarce.rig, 1);
	ctx_node(scarce.sub, scarce.rig->ctx);
	MUST(doca_graph_start(scarce.sub));
	api_fail_each_allocation(make_ctx_node, NULL);
	api_fail_each_allocation(make_user_node, NULL);
	api_fail_each_allocation(make_sub_node, NULL);
	api_fail_each_allocation(make_dependency, NULL);
	MUST(doca_graph_set_conf(scarce.graph, instance_done, instance_failed, 1));
	MUST(doca_graph_start(scarce.graph));
	api_fail_each_allocation(make_instance, NULL);
	MUST(doca_graph_instance_destroy(scarce.instance));
	graph_end(scarce.graph);
	graph_end(scarce.sub);
}

static void test_instances_are_as_many_as_configured(void **state)
{
	struct doca_graph *graph = graph_new(*state, 2);
	struct doca_graph_instance *first, *second, *third;

	ctx_node(graph, ((struct rig *)*state)->ctx);
	assert_ok(doca_graph_start(graph));
	first = instance_new(graph, 1);
	second = instance_new(graph, 2);
	assert_doca(doca_graph_instance_create(graph, &third), DOCA_ERROR_NO_MEMORY);
	assert_ok(doca_graph_instance_destroy(first));
	third = instance_new(graph, 3);
	assert_ok(doca_graph_instance_destroy(second));
	assert_ok(doca_graph_instance_destroy(third));
	graph_end(graph);
}

/* ---- circles ---- */

/* provokes: doca_graph_add_dependency DOCA_ERROR_NOT_PERMITTED */
static void test_dependencies_in_a_circle_are_refused(void **state)
{
	struct doca_graph *graph = graph_new(*state, 1);
	struct doca_graph_node *a = user_node(graph), *b = user_node(graph), *c = user_node(graph);

	assert_doca(doca_graph_add_dependency(graph, a, a), DOCA_ERROR_NOT_PERMITTED);
	follows(graph, a, b);
	assert_doca(doca_graph_add_dependency(graph, b, a), DOCA_ERROR_NOT_PERMITTED);
	follows(graph, b, c);
	assert_doca(doca_graph_add_dependency(graph, c, a), DOCA_ERROR_NOT_PERMITTED);
	follows(graph, a, c); /* a shortcut is no circle */
	assert_ok(doca_graph_destroy(graph));
}

/* 60 layers of two nodes, each waiting for both of the layer above: 2^60 ways through. */
static void test_many_ways_through_a_graph_are_no_many_searches(void **state)
{
	struct doca_graph *graph = graph_new(*state, 1);
	struct doca_graph_node *above[] = { user_node(graph), user_node(graph) }, *first = above[0];

	for (int layer = 1; layer < 60; layer++) {
		struct doca_graph_node *below[] = { user_node(graph), user_node(graph) };

		for (int i = 0; i < 4; i++)
			follows(graph, above[i / 2], below[i % 2]);
		above[0] = below[0];
		above[1] = below[1];
	}
	assert_doca(doca_graph_add_dependency(graph, above[1], first), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_destroy(graph));
}

/* A cycle of graphs can only be made by stopping a graph and changing it. */
static void test_graph_that_would_contain_itself_is_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *a = graph_new(rig, 1), *b = graph_new(rig, 1), *c = graph_new(rig, 1);
	struct doca_graph_node *node = NULL;

	/* provokes: doca_graph_node_create_from_graph DOCA_ERROR_NOT_PERMITTED */
	assert_doca(doca_graph_node_create_from_graph(a, a, &node), DOCA_ERROR_NOT_PERMITTED);
	ctx_node(a, rig->ctx);
	ctx_node(b, rig->ctx);
	ctx_node(c, rig->ctx);
	assert_ok(doca_graph_start(a));
	sub_node(b, a);
	assert_ok(doca_graph_start(b));
	sub_node(c, b);
	assert_ok(doca_graph_start(c));
	assert_ok(doca_graph_stop(a));
	assert_doca(doca_graph_node_create_from_graph(a, b, &node), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_node_create_from_graph(a, c, &node), DOCA_ERROR_NOT_PERMITTED);
	assert_null(node);
	graph_end(a);
	graph_end(b);
	graph_end(c);
}

/* ---- when ---- */

/* provokes: doca_graph_set_conf DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_set_user_data DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_node_create_from_ctx DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_node_create_from_user DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_node_create_from_graph DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_add_dependency DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_instance_create DOCA_ERROR_BAD_STATE */
static void test_started_graph_stays_as_it_is(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1), *other = graph_new(rig, 1);
	struct doca_graph_node *a = ctx_node(graph, rig->ctx), *b = user_node(graph), *node;
	struct doca_graph_instance *instance;

	assert_doca(doca_graph_instance_create(graph, &instance), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_node_create_from_graph(other, graph, &node), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_start(graph));
	assert_ok(doca_graph_start(graph)); /* once more is fine */
	assert_doca(doca_graph_set_conf(graph, instance_done, instance_failed, 1), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_set_user_data(graph, (union doca_data){ 0 }), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_node_create_from_ctx(graph, rig->ctx, &node), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_node_create_from_user(graph, take_step, &node), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_node_create_from_graph(graph, other, &node), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_add_dependency(graph, a, b), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_stop(graph));
	assert_ok(doca_graph_stop(graph));
	follows(graph, a, b); /* stopped, it can be changed */
	assert_ok(doca_graph_destroy(graph));
	assert_ok(doca_graph_destroy(other));
}

/* provokes: doca_graph_start DOCA_ERROR_BAD_STATE */
static void test_start_wants_a_configuration_and_a_context_node(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph;

	assert_ok(doca_graph_create(rig->pe, &graph));
	assert_doca(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_set_conf(graph, instance_done, instance_failed, 1));
	user_node(graph);
	assert_doca(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	ctx_node(graph, rig->ctx);
	assert_ok(doca_graph_start(graph));
	graph_end(graph);
}

static void test_start_wants_running_contexts(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);

	ctx_node(graph, rig->ctx);
	assert_ok(doca_ctx_stop(rig->ctx));
	assert_doca(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	rig_start(rig);
	assert_ok(doca_graph_start(graph));
	graph_end(graph);
}

static void test_start_wants_started_sub_graphs(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *sub = graph_new(rig, 1), *graph = graph_new(rig, 1), *another;

	ctx_node(sub, rig->ctx);
	assert_ok(doca_graph_start(sub));
	ctx_node(graph, rig->ctx);
	sub_node(graph, sub);
	assert_ok(doca_graph_stop(sub));
	assert_doca(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	assert_ok(doca_graph_destroy(sub));
	assert_doca(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	another = graph_new(rig, 1); /* the same address, but another object */
	ctx_node(another, rig->ctx);
	assert_ok(doca_graph_start(another));
	assert_doca(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
	graph_end(another);
	assert_ok(doca_graph_destroy(graph));
}

/* provokes: doca_graph_start DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_node_create_from_graph DOCA_ERROR_INVALID_VALUE */
static void test_everything_belongs_to_one_engine(void **state)
{
	struct rig *rig = *state, *other = rig_start(rig_open(NULL));
	struct doca_graph *foreign = graph_new(other, 1), *graph = graph_new(rig, 1);
	struct doca_graph_node *node;

	ctx_node(foreign, other->ctx);
	assert_ok(doca_graph_start(foreign));
	assert_invalid(doca_graph_node_create_from_graph(graph, foreign, &node));
	ctx_node(graph, other->ctx);
	assert_invalid(doca_graph_start(graph));
	assert_ok(doca_graph_destroy(graph));
	graph_end(foreign);
	rig_close(other);
}

/* ---- data ---- */

/* provokes: doca_graph_instance_set_ctx_node_data DOCA_ERROR_NOT_PERMITTED
 * provokes: doca_graph_instance_set_user_node_data DOCA_ERROR_NOT_PERMITTED */
static void test_data_must_fit_the_node(void **state)
{
	struct rig *rig = *state, *beside = rig_start(rig_open(&(struct rig_cfg){ .beside = rig }));
	struct doca_graph *graph = graph_new(rig, 1), *other = graph_new(rig, 1);
	struct doca_graph_node *copy = ctx_node(graph, rig->ctx), *user = user_node(graph),
			       *others_copy = ctx_node(other, rig->ctx), *others_user = user_node(other);
	struct doca_task *task = rig_small_task(rig, 1), *foreign = rig_small_task(beside, 1);
	struct doca_graph_instance *instance;

	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_doca(doca_graph_instance_set_ctx_node_data(instance, others_copy, task), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_instance_set_ctx_node_data(instance, user, task), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_instance_set_ctx_node_data(instance, copy, foreign), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_instance_set_user_node_data(instance, others_user, NULL), DOCA_ERROR_NOT_PERMITTED);
	assert_doca(doca_graph_instance_set_user_node_data(instance, copy, NULL), DOCA_ERROR_NOT_PERMITTED);
	/* provokes: doca_graph_instance_submit DOCA_ERROR_INVALID_VALUE */
	assert_invalid(doca_graph_instance_submit(instance)); /* nothing fitted */
	assert_ok(doca_graph_instance_destroy(instance));
	graph_end(graph);
	assert_ok(doca_graph_destroy(other));
	doca_task_free(task);
	doca_task_free(foreign);
	rig_close(beside);
}

static void test_user_data_is_what_was_set(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_instance *instance;
	union doca_data data = { .u64 = 99 };

	assert_ok(doca_graph_get_user_data(graph, &data));
	assert_ptr_equal(data.ptr, rig);
	ctx_node(graph, rig->ctx);
	assert_ok(doca_graph_start(graph));
	assert_ok(doca_graph_instance_create(graph, &instance));
	assert_ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 0);
	assert_ok(doca_graph_instance_set_user_data(instance, (union doca_data){ .u64 = 5 }));
	assert_ok(doca_graph_instance_get_user_data(instance, &data));
	assert_int_equal(data.u64, 5);
	assert_ok(doca_graph_instance_destroy(instance));
	graph_end(graph);
}

/* ---- handles ---- */

/* provokes: doca_graph_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_set_conf DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_set_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_node_create_from_ctx DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_node_create_from_user DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_add_dependency DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_stop DOCA_ERROR_INVALID_VALUE */
static void test_bad_handles_of_graphs_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1), *other = graph_new(rig, 1), *none = (struct doca_graph *)rig->pe;
	struct doca_graph_node *node, *user = user_node(graph), *others = user_node(other);
	struct doca_graph *bad[] = { NULL, none };
	union doca_data data = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_invalid(doca_graph_destroy(bad[i]));
		assert_invalid(doca_graph_set_conf(bad[i], instance_done, instance_failed, 1));
		assert_invalid(doca_graph_set_user_data(bad[i], data));
		assert_invalid(doca_graph_get_user_data(bad[i], &data));
		assert_invalid(doca_graph_node_create_from_ctx(bad[i], rig->ctx, &node));
		assert_invalid(doca_graph_node_create_from_user(bad[i], take_step, &node));
		assert_invalid(doca_graph_node_create_from_graph(bad[i], graph, &node));
		assert_invalid(doca_graph_node_create_from_graph(graph, bad[i], &node));
		assert_invalid(doca_graph_add_dependency(bad[i], user, user));
		assert_invalid(doca_graph_start(bad[i]));
		assert_invalid(doca_graph_stop(bad[i]));
		assert_invalid(doca_graph_create((struct doca_pe *)(bad[i] ? (void *)graph : NULL), &none));
	}
	assert_invalid(doca_graph_create(rig->pe, NULL));
	assert_invalid(doca_graph_set_conf(graph, NULL, instance_failed, 1));
	assert_invalid(doca_graph_set_conf(graph, instance_done, NULL, 1));
	assert_invalid(doca_graph_set_conf(graph, instance_done, instance_failed, 0));
	assert_invalid(doca_graph_get_user_data(graph, NULL));
	assert_invalid(doca_graph_node_create_from_ctx(graph, NULL, &node));
	assert_invalid(doca_graph_node_create_from_ctx(graph, (struct doca_ctx *)graph, &node));
	assert_invalid(doca_graph_node_create_from_ctx(graph, rig->ctx, NULL));
	assert_invalid(doca_graph_node_create_from_user(graph, NULL, &node));
	assert_invalid(doca_graph_node_create_from_user(graph, take_step, NULL));
	assert_invalid(doca_graph_node_create_from_graph(graph, other, NULL));
	assert_invalid(doca_graph_add_dependency(graph, NULL, user));
	assert_invalid(doca_graph_add_dependency(graph, user, NULL));
	assert_invalid(doca_graph_add_dependency(graph, user, others));
	assert_invalid(doca_graph_add_dependency(graph, others, user));
	assert_ok(doca_graph_destroy(other));
	assert_invalid(doca_graph_destroy(other));
	assert_invalid(doca_graph_add_dependency(graph, user, others)); /* gone with its graph */
	assert_ok(doca_graph_destroy(graph));
}

/* provokes: doca_graph_instance_create DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_instance_destroy DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_instance_set_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_instance_get_user_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_instance_set_ctx_node_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_instance_set_user_node_data DOCA_ERROR_INVALID_VALUE
 * provokes: doca_graph_instance_set_sub_graph_node_data DOCA_ERROR_INVALID_VALUE */
static void test_bad_handles_of_instances_are_refused(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *copy = ctx_node(graph, rig->ctx), *user = user_node(graph);
	struct doca_graph_instance *instance, *bad[] = { NULL, (struct doca_graph_instance *)graph };
	struct doca_task *task = rig_small_task(rig, 1);
	union doca_data data = { 0 };

	assert_ok(doca_graph_start(graph));
	assert_invalid(doca_graph_instance_create(NULL, &instance));
	assert_invalid(doca_graph_instance_create(graph, NULL));
	instance = instance_new(graph, 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_invalid(doca_graph_instance_destroy(bad[i]));
		assert_invalid(doca_graph_instance_set_user_data(bad[i], data));
		assert_invalid(doca_graph_instance_get_user_data(bad[i], &data));
		assert_invalid(doca_graph_instance_set_ctx_node_data(bad[i], copy, task));
		assert_invalid(doca_graph_instance_set_user_node_data(bad[i], user, NULL));
		assert_invalid(doca_graph_instance_set_sub_graph_node_data(bad[i], user, instance));
		assert_invalid(doca_graph_instance_set_sub_graph_node_data(instance, user, bad[i]));
		assert_invalid(doca_graph_instance_submit(bad[i]));
	}
	assert_invalid(doca_graph_instance_get_user_data(instance, NULL));
	assert_invalid(doca_graph_instance_set_ctx_node_data(instance, NULL, task));
	assert_invalid(doca_graph_instance_set_ctx_node_data(instance, copy, NULL));
	assert_invalid(doca_graph_instance_set_user_node_data(instance, NULL, NULL));
	assert_invalid(doca_graph_instance_set_sub_graph_node_data(instance, NULL, instance));
	assert_ok(doca_graph_instance_destroy(instance));
	assert_invalid(doca_graph_instance_destroy(instance));
	assert_invalid(doca_graph_instance_submit(instance));
	doca_task_free(task);
	graph_end(graph);
}

/* ---- a forked child ---- */

/* The parent's graphs do not run in the child: it cannot submit, only destroy. */
static void test_forked_child_can_only_clear_away(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *copy = ctx_node(graph, rig->ctx);
	struct doca_task *task = rig_small_task(rig, 1);
	struct doca_graph_instance *instance;
	pid_t child;

	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, copy, task));
	assert_ok(doca_graph_instance_submit(instance));
	child = api_fork();
	if (child == 0)
		_exit(!(doca_graph_instance_submit(instance) == DOCA_ERROR_BAD_STATE &&
			doca_graph_instance_destroy(instance) == DOCA_SUCCESS &&
			doca_graph_stop(graph) == DOCA_SUCCESS && doca_graph_destroy(graph) == DOCA_SUCCESS));
	api_join(child);
	rig_drain(rig);
	assert_trace(rig, "instance 1 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(task);
	graph_end(graph);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_what_finds_no_memory_says_so_and_changes_nothing),
		RIG_RUNNING(test_instances_are_as_many_as_configured),
		RIG_RUNNING(test_dependencies_in_a_circle_are_refused),
		RIG_RUNNING(test_many_ways_through_a_graph_are_no_many_searches),
		RIG_RUNNING(test_graph_that_would_contain_itself_is_refused),
		RIG_RUNNING(test_started_graph_stays_as_it_is),
		RIG_RUNNING(test_start_wants_a_configuration_and_a_context_node),
		RIG_RUNNING(test_start_wants_running_contexts),
		RIG_RUNNING(test_start_wants_started_sub_graphs),
		RIG_RUNNING(test_everything_belongs_to_one_engine),
		RIG_RUNNING(test_data_must_fit_the_node),
		RIG_RUNNING(test_user_data_is_what_was_set),
		RIG_RUNNING(test_bad_handles_of_graphs_are_refused),
		RIG_RUNNING(test_bad_handles_of_instances_are_refused),
		RIG_RUNNING(test_forked_child_can_only_clear_away),
	};

	return API_RUN({ .name = "graphs as plans", .side = "dpu", API_WITH(tests) });
}
