/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs that run: order, errors, graphs in graphs, submitting again. */
#include "graph_util.h"

#include <doca_mmap_advise.h>

/* ---- order ---- */

/* A graph of one copy and a user node behind it, and one instance of it. */
struct pair {
	struct doca_graph *graph;
	struct doca_graph_node *copy, *check;
	struct doca_graph_instance *instance;
	struct doca_task *task;
	struct step step;
};

static void pair_open(struct pair *pair, struct rig *rig)
{
	pair->graph = graph_new(rig, 2);
	pair->copy = ctx_node(pair->graph, rig->ctx);
	pair->check = user_node(pair->graph);
	follows(pair->graph, pair->copy, pair->check);
	MUST(doca_graph_start(pair->graph));
	pair->instance = instance_new(pair->graph, 7);
	pair->task = rig_small_task(rig, 1);
	pair->step = (struct step){ .rig = rig, .name = "check" };
	MUST(doca_graph_instance_set_ctx_node_data(pair->instance, pair->copy, pair->task));
	MUST(doca_graph_instance_set_user_node_data(pair->instance, pair->check, &pair->step));
}

static void pair_close(struct pair *pair)
{
	MUST(doca_graph_instance_destroy(pair->instance));
	doca_task_free(pair->task);
	graph_end(pair->graph);
}

/* The copy counts as in flight; its successors run when it completes, in the same progress. */
static void test_task_then_user_node_then_callback(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	assert_ok(doca_graph_instance_submit(pair.instance));
	assert_trace(rig, "");
	assert_int_equal(rig_pe_in_flight(rig), 1);
	assert_int_equal(rig_in_flight(rig), 1);
	rig_drain(rig);
	assert_trace(rig, "node check\ninstance 7 done\n"); /* and not "task 1 done" */
	assert_true(rig_small_is_done(rig, 1));
	assert_ok(doca_task_get_status(pair.task));
	pair_close(&pair);
}

/* The graph leaves the task as it was: after a submission by the user, the task calls the user's callback. */
static void test_task_calls_its_own_callback_again_outside_the_graph(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	assert_ok(doca_graph_instance_submit(pair.instance));
	rig_drain(rig);
	assert_ok(doca_graph_instance_destroy(pair.instance));
	graph_end(pair.graph);
	assert_trace(rig, "node check\ninstance 7 done\n");
	doca_dma_task_memcpy_set_dst((struct doca_dma_task_memcpy *)pair.task, rig_dst(rig, 50000, 64));
	assert_ok(doca_task_submit(pair.task));
	rig_drain(rig); /* the rig's callback frees it */
	assert_trace(rig, "task 1 done\n");
}

/*	    A          all user nodes but B, which is a copy
 *	  B   C
 *	    D      */
static void test_diamond_joins_once_both_branches_are_done(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *d = user_node(graph), *c = user_node(graph), *b = ctx_node(graph, rig->ctx),
			       *a = user_node(graph);
	struct step steps[] = { { .rig = rig, .name = "a" }, { .rig = rig, .name = "c" }, { .rig = rig, .name = "d" } };
	struct doca_task *task = rig_small_task(rig, 1);
	struct doca_graph_instance *instance;

	follows(graph, a, b);
	follows(graph, a, c);
	follows(graph, b, d);
	follows(graph, c, d);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, b, task));
	assert_ok(doca_graph_instance_set_user_node_data(instance, a, &steps[0]));
	assert_ok(doca_graph_instance_set_user_node_data(instance, c, &steps[1]));
	assert_ok(doca_graph_instance_set_user_node_data(instance, d, &steps[2]));
	assert_ok(doca_graph_instance_submit(instance));
	assert_trace(rig, "node a\nnode c\n");
	rig_drain(rig);
	assert_trace(rig, "node d\ninstance 1 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(task);
	graph_end(graph);
}

/* A dependency that is added twice is kept twice, without effect. */
static void test_dependency_may_be_given_twice(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *copy = ctx_node(graph, rig->ctx), *check = user_node(graph);
	struct step step = { .rig = rig, .name = "check" };
	struct doca_task *task = rig_small_task(rig, 1);
	struct doca_graph_instance *instance;

	follows(graph, copy, check);
	follows(graph, copy, check);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, copy, task));
	assert_ok(doca_graph_instance_set_user_node_data(instance, check, &step));
	assert_ok(doca_graph_instance_submit(instance));
	rig_drain(rig);
	assert_trace(rig, "node check\ninstance 1 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(task);
	graph_end(graph);
}

static doca_error_t count(void *cookie)
{
	(*(uint32_t *)cookie)++;
	return DOCA_SUCCESS;
}

/* So long that calls within calls would not fit on the stack. */
static void test_chain_of_100000_user_nodes(void **state)
{
	enum { LENGTH = 100000 };
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *copy = ctx_node(graph, rig->ctx), *last = copy, **nodes;
	struct doca_task *task = rig_small_task(rig, 1);
	struct doca_graph_instance *instance;
	uint32_t counter = 0;

	nodes = calloc(LENGTH, sizeof(*nodes));
	assert_non_null(nodes);
	for (size_t i = 0; i < LENGTH; i++) {
		assert_ok(doca_graph_node_create_from_user(graph, count, &nodes[i]));
		follows(graph, last, nodes[i]);
		last = nodes[i];
	}
	assert_doca(doca_graph_add_dependency(graph, last, copy), DOCA_ERROR_NOT_PERMITTED);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, copy, task));
	for (size_t i = 0; i < LENGTH; i++)
		assert_ok(doca_graph_instance_set_user_node_data(instance, nodes[i], &counter));
	assert_ok(doca_graph_instance_submit(instance));
	rig_drain(rig);
	assert_int_equal(counter, LENGTH);
	assert_trace(rig, "instance 1 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	free(nodes);
	doca_task_free(task);
	graph_end(graph);
}

/* ---- submitting again ---- */

static void test_instance_is_submitted_again_after_its_end(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	for (size_t i = 0; i < 3; i++) {
		doca_dma_task_memcpy_set_dst((struct doca_dma_task_memcpy *)pair.task,
					     rig_dst(rig, rig_small_to(rig, i + 1), 64));
		assert_ok(doca_graph_instance_submit(pair.instance));
		rig_drain(rig);
		assert_trace(rig, "node check\ninstance 7 done\n");
	}
	pair_close(&pair);
}

static int rounds_left;

static void submit_again(struct doca_graph_instance *instance, union doca_data data, union doca_data arg)
{
	struct rig *rig = arg.ptr;
	struct pair *pair = rig->arg;

	if (--rounds_left > 0) {
		doca_dma_task_memcpy_set_dst((struct doca_dma_task_memcpy *)pair->task, rig_dst(rig, 40000, 64));
		MUST(doca_graph_instance_submit(instance));
		return;
	}
	MUST(doca_graph_instance_destroy(instance)); /* and all the rest, from in here */
	doca_task_free(pair->task);
	graph_end(pair->graph);
}

static void test_callback_may_submit_again_and_destroy_everything(void **state)
{
	struct rig *rig = *state;
	struct pair pair;
	union doca_data data;

	pair_open(&pair, rig);
	assert_ok(doca_graph_instance_destroy(pair.instance));
	assert_ok(doca_graph_stop(pair.graph));
	assert_ok(doca_graph_set_conf(pair.graph, submit_again, instance_failed, 1));
	assert_ok(doca_graph_start(pair.graph));
	pair.instance = instance_new(pair.graph, 7);
	assert_ok(doca_graph_instance_set_ctx_node_data(pair.instance, pair.copy, pair.task));
	assert_ok(doca_graph_instance_set_user_node_data(pair.instance, pair.check, &pair.step));
	rig->arg = &pair;
	rounds_left = 3;
	assert_ok(doca_graph_instance_submit(pair.instance));
	rig_drain(rig);
	assert_int_equal(rounds_left, 0);
	assert_trace(rig, "node check\nnode check\nnode check\n");
	assert_invalid(doca_graph_instance_get_user_data(pair.instance, &data));
	assert_invalid(doca_graph_stop(pair.graph));
}

/* provokes: doca_graph_instance_submit DOCA_ERROR_IN_USE
 * provokes: doca_graph_instance_destroy DOCA_ERROR_IN_USE
 * provokes: doca_graph_instance_set_user_data DOCA_ERROR_IN_USE
 * provokes: doca_graph_instance_set_ctx_node_data DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_instance_set_user_node_data DOCA_ERROR_BAD_STATE
 * provokes: doca_graph_stop DOCA_ERROR_IN_USE
 * provokes: doca_graph_destroy DOCA_ERROR_BAD_STATE */
static void test_running_instance_is_left_alone(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	assert_ok(doca_graph_instance_submit(pair.instance));
	assert_doca(doca_graph_instance_submit(pair.instance), DOCA_ERROR_IN_USE);
	assert_doca(doca_graph_instance_destroy(pair.instance), DOCA_ERROR_IN_USE);
	assert_doca(doca_graph_instance_set_user_data(pair.instance, (union doca_data){ 0 }), DOCA_ERROR_IN_USE);
	assert_doca(doca_graph_instance_set_ctx_node_data(pair.instance, pair.copy, pair.task), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_instance_set_user_node_data(pair.instance, pair.check, NULL), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_graph_stop(pair.graph), DOCA_ERROR_IN_USE);
	assert_doca(doca_graph_destroy(pair.graph), DOCA_ERROR_BAD_STATE);
	assert_doca(doca_pe_destroy(rig->pe), DOCA_ERROR_IN_USE);
	assert_doca(doca_task_submit(pair.task), DOCA_ERROR_BAD_STATE);
	doca_task_free(pair.task); /* refused in flight */
	rig_drain(rig);
	assert_trace(rig, "node check\ninstance 7 done\n");
	pair_close(&pair);
}

/* ---- failures ---- */

/*	first copy --> bad --> never
 *	second copy (in flight meanwhile)	*/
static void test_failed_user_node_ends_the_instance_after_what_is_in_flight(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *first = ctx_node(graph, rig->ctx), *second = ctx_node(graph, rig->ctx),
			       *bad = user_node(graph), *never = user_node(graph), *after = user_node(graph);
	struct step failing = { .rig = rig, .name = "bad", .result = DOCA_ERROR_AGAIN },
		    skipped = { .rig = rig, .name = "never" };
	struct doca_task *tasks[] = { rig_small_task(rig, 1), rig_small_task(rig, 2) };
	struct doca_graph_instance *instance;

	follows(graph, first, bad);
	follows(graph, bad, never);
	follows(graph, second, after);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, first, tasks[0]));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, second, tasks[1]));
	assert_ok(doca_graph_instance_set_user_node_data(instance, bad, &failing));
	assert_ok(doca_graph_instance_set_user_node_data(instance, never, &skipped));
	assert_ok(doca_graph_instance_set_user_node_data(instance, after, &skipped));
	assert_ok(doca_graph_instance_submit(instance));
	while (doca_pe_progress(rig->pe) == 0)
		;
	assert_trace(rig, "node bad\n");
	assert_int_equal(rig_pe_in_flight(rig), 1);
	assert_doca(doca_graph_instance_destroy(instance), DOCA_ERROR_IN_USE);
	rig_drain(rig);
	assert_trace(rig, "instance 1 failed\n");
	assert_true(rig_small_is_done(rig, 2));
	assert_int_equal(rig_state(rig), DOCA_CTX_STATE_RUNNING);
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(tasks[0]);
	doca_task_free(tasks[1]);
	graph_end(graph);
}

static void test_failed_instance_can_be_submitted_again(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	pair.step.result = DOCA_ERROR_NOT_FOUND;
	assert_ok(doca_graph_instance_submit(pair.instance));
	rig_drain(rig);
	assert_trace(rig, "node check\ninstance 7 failed\n");
	pair.step.result = DOCA_SUCCESS;
	doca_dma_task_memcpy_set_dst((struct doca_dma_task_memcpy *)pair.task, rig_dst(rig, 50000, 64));
	assert_ok(doca_graph_instance_submit(pair.instance));
	rig_drain(rig);
	assert_trace(rig, "node check\ninstance 7 done\n");
	pair_close(&pair);
}

/* The task's failure stops its context, as it does without a graph. When that runs again, so does the graph. */
static void test_failed_task_fails_the_instance_and_stops_its_context(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	doca_dma_task_memcpy_set_dst((struct doca_dma_task_memcpy *)pair.task, rig_dst(rig, 40000, 63));
	assert_ok(doca_graph_instance_submit(pair.instance));
	rig_drain(rig);
	assert_trace(rig, "running -> stopping\ninstance 7 failed\n");
	assert_doca(doca_task_get_status(pair.task), DOCA_ERROR_IO_FAILED);
	assert_doca(doca_graph_instance_submit(pair.instance), DOCA_ERROR_BAD_STATE);
	doca_task_free(pair.task);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	rig_start(rig);
	pair.task = rig_small_task(rig, 2);
	assert_ok(doca_graph_instance_set_ctx_node_data(pair.instance, pair.copy, pair.task));
	assert_ok(doca_graph_instance_submit(pair.instance));
	rig_drain(rig);
	assert_trace(rig, "node check\ninstance 7 done\n");
	pair_close(&pair);
}

/* When the context stops, its first copy may be done or not: its second cannot begin. */
static void test_stopped_context_fails_the_instance(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *first = ctx_node(graph, rig->ctx), *second = ctx_node(graph, rig->ctx);
	struct doca_task *tasks[] = { rig_small_task(rig, 1), rig_small_task(rig, 2) };
	struct doca_graph_instance *instance;

	follows(graph, first, second);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, first, tasks[0]));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, second, tasks[1]));
	assert_ok(doca_graph_instance_submit(instance));
	assert_doca(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	rig_drain(rig);
	assert_trace(rig, "running -> stopping\ninstance 1 failed\n");
	assert_true(rig_is_untouched(rig, rig_small_to(rig, 2), 64));
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(tasks[0]);
	doca_task_free(tasks[1]);
	rig_progress_to(rig, DOCA_CTX_STATE_IDLE);
	graph_end(graph);
}

static void test_root_that_fails_at_once_is_the_result_of_submit(void **state)
{
	struct rig *rig = *state;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *root = user_node(graph), *copy = ctx_node(graph, rig->ctx);
	struct step step = { .rig = rig, .name = "root", .result = DOCA_ERROR_FULL };
	struct doca_task *task = rig_small_task(rig, 1);
	struct doca_graph_instance *instance;

	follows(graph, root, copy);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_user_node_data(instance, root, &step));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, copy, task));
	assert_doca(doca_graph_instance_submit(instance), DOCA_ERROR_FULL);
	assert_int_equal(rig_pe_in_flight(rig), 0);
	assert_int_equal(doca_pe_progress(rig->pe), 0);
	assert_trace(rig, "node root\n");
	step.result = DOCA_SUCCESS;
	assert_ok(doca_graph_instance_submit(instance));
	rig_drain(rig);
	assert_trace(rig, "node root\ninstance 1 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(task);
	graph_end(graph);
}

static void test_task_freed_before_its_turn_fails_the_instance(void **state)
{
	struct rig *rig = *state;
	struct pair pair;

	pair_open(&pair, rig);
	doca_task_free(pair.task);
	assert_invalid(doca_graph_instance_submit(pair.instance));
	assert_trace(rig, "");
	assert_ok(doca_graph_instance_destroy(pair.instance));
	graph_end(pair.graph);
}

/* ---- contexts of several libraries ---- */

static void no_call(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data,
		    union doca_data ctx_data)
{
	CHECK(false);
}

static void test_nodes_may_be_of_different_contexts(void **state)
{
	struct rig *rig = *state;
	struct doca_mmap_advise_task_invalidate_cache *invalidate;
	struct doca_buf *src = rig_src(rig, 0, 64);
	struct doca_task *copy = rig_task(rig, 1, src, rig_dst(rig, 4096, 64)), *drop;
	struct doca_graph *graph = graph_new(rig, 1);
	struct doca_graph_node *first, *second;
	struct doca_graph_instance *instance;
	struct doca_mmap_advise *advise;

	MUST(doca_mmap_advise_create(rig->dev, &advise));
	MUST(doca_mmap_advise_task_invalidate_cache_set_conf(advise, no_call, no_call, 1));
	MUST(doca_pe_connect_ctx(rig->pe, doca_mmap_advise_as_ctx(advise)));
	MUST(doca_ctx_start(doca_mmap_advise_as_ctx(advise)));
	MUST(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, src, (union doca_data){ 0 }, &invalidate));
	drop = doca_mmap_advise_task_invalidate_cache_as_doca_task(invalidate);
	first = ctx_node(graph, rig->ctx);
	second = ctx_node(graph, doca_mmap_advise_as_ctx(advise));
	follows(graph, first, second);
	assert_ok(doca_graph_start(graph));
	instance = instance_new(graph, 1);
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, first, copy));
	assert_ok(doca_graph_instance_set_ctx_node_data(instance, second, drop));
	assert_ok(doca_graph_instance_submit(instance));
	rig_drain(rig);
	assert_trace(rig, "instance 1 done\n");
	assert_ok(doca_graph_instance_destroy(instance));
	doca_task_free(copy);
	doca_task_free(drop);
	graph_end(graph);
	assert_ok(doca_ctx_stop(doca_mmap_advise_as_ctx(advise)));
	assert_ok(doca_mmap_advise_destroy(advise));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_RUNNING(test_task_then_user_node_then_callback),
		RIG_RUNNING(test_task_calls_its_own_callback_again_outside_the_graph),
		RIG_RUNNING(test_diamond_joins_once_both_branches_are_done),
		RIG_RUNNING(test_dependency_may_be_given_twice),
		RIG_RUNNING(test_chain_of_100000_user_nodes),
		RIG_RUNNING(test_instance_is_submitted_again_after_its_end),
		RIG_RUNNING(test_callback_may_submit_again_and_destroy_everything),
		RIG_RUNNING(test_running_instance_is_left_alone),
		RIG_RUNNING(test_failed_user_node_ends_the_instance_after_what_is_in_flight),
		RIG_RUNNING(test_failed_instance_can_be_submitted_again),
		RIG_RUNNING(test_failed_task_fails_the_instance_and_stops_its_context),
		RIG_RUNNING(test_stopped_context_fails_the_instance),
		RIG_RUNNING(test_root_that_fails_at_once_is_the_result_of_submit),
		RIG_RUNNING(test_task_freed_before_its_turn_fails_the_instance),
		RIG_RUNNING(test_nodes_may_be_of_different_contexts),
	};

	return cmocka_run_group_tests_name("graphs that run", tests, NULL, NULL);
}
