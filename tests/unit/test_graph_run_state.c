/* SPDX-License-Identifier: BSD-3-Clause */
/* States of a graph's runs: every pair of states, and the lists and counts that follow a run. */
#include "cmocka_test.h"
#include "shim/common/graph/graph_priv.h"

/* The picture in graph_priv.h; the other pairs are no edges. */
static const struct {
	enum shim_node_run_state from, to;
} edges[] = {
	{ SHIM_NODE_RUN_IDLE, SHIM_NODE_RUN_READY },      { SHIM_NODE_RUN_READY, SHIM_NODE_RUN_WAITING },
	{ SHIM_NODE_RUN_READY, SHIM_NODE_RUN_RUNNING },   { SHIM_NODE_RUN_READY, SHIM_NODE_RUN_DONE },
	{ SHIM_NODE_RUN_WAITING, SHIM_NODE_RUN_RUNNING }, { SHIM_NODE_RUN_WAITING, SHIM_NODE_RUN_DONE },
	{ SHIM_NODE_RUN_RUNNING, SHIM_NODE_RUN_DONE },    { SHIM_NODE_RUN_DONE, SHIM_NODE_RUN_IDLE },
};

static bool is_edge(enum shim_node_run_state from, enum shim_node_run_state to)
{
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		if (edges[i].from == from && edges[i].to == to)
			return true;
	return false;
}

static void test_a_run_has_the_edges_of_the_picture_alone(void **state)
{
	for (int from = 0; from < SHIM_NODE_RUN_NUM_STATES; from++)
		for (int to = 0; to < SHIM_NODE_RUN_NUM_STATES; to++)
			assert_int_equal(shim_node_run_has_edge(from, to), is_edge(from, to));
}

struct world {
	struct doca_graph graph;
	struct doca_graph_instance instance;
	struct shim_node_run run;
	struct shim_graph_worklist work;
};

static void world_init(struct world *world)
{
	*world = (struct world){ 0 };
	world->instance.graph = &world->graph;
	world->run.instance = &world->instance;
	TAILQ_INIT(&world->graph.waiting);
	TAILQ_INIT(&world->work.ready);
}

static void go(struct world *world, enum shim_node_run_state to)
{
	shim_node_run_set_state(&world->work, &world->run, to);
	assert_int_equal(world->run.state, to);
	assert_int_equal(TAILQ_FIRST(&world->work.ready) == &world->run, to == SHIM_NODE_RUN_READY);
	assert_int_equal(TAILQ_FIRST(&world->graph.waiting) == &world->run, to == SHIM_NODE_RUN_WAITING);
	assert_int_equal(world->graph.ctx.num_posted, to == SHIM_NODE_RUN_WAITING);
	assert_int_equal(world->instance.num_active, to != SHIM_NODE_RUN_IDLE && to != SHIM_NODE_RUN_DONE);
}

/* Each way from idle to done and back walks over all edges. */
static void test_lists_and_counts_follow_the_state(void **state)
{
	static const enum shim_node_run_state ways[][3] = {
		{ SHIM_NODE_RUN_DONE },
		{ SHIM_NODE_RUN_RUNNING, SHIM_NODE_RUN_DONE },
		{ SHIM_NODE_RUN_WAITING, SHIM_NODE_RUN_DONE },
		{ SHIM_NODE_RUN_WAITING, SHIM_NODE_RUN_RUNNING, SHIM_NODE_RUN_DONE },
	};
	struct world world;

	world_init(&world);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		go(&world, SHIM_NODE_RUN_READY);
		for (size_t step = 0; world.run.state != SHIM_NODE_RUN_DONE; step++)
			go(&world, ways[i][step]);
		go(&world, SHIM_NODE_RUN_IDLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_run_has_the_edges_of_the_picture_alone),
		cmocka_unit_test(test_lists_and_counts_follow_the_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
