/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks of sync events as nodes of a graph: the successors of a wait run when the value is reached. */
#include "sync_event_util.h"

#include <string.h>

#include <doca_graph.h>

static struct doca_dev *dev;

static void note(struct se_ctx *se, const char *line)
{
	strncat(se->trace, line, sizeof(se->trace) - strlen(se->trace) - 1);
}

static doca_error_t on_node(void *cookie)
{
	note(cookie, "node\n");
	return DOCA_SUCCESS;
}

static void on_done(struct doca_graph_instance *instance, union doca_data data, union doca_data graph_data)
{
	note(graph_data.ptr, "instance done\n");
}

static void on_failed(struct doca_graph_instance *instance, union doca_data data, union doca_data graph_data)
{
	note(graph_data.ptr, "instance failed\n");
}

/* wait for 3 --> a user's node --> set 4 */
struct chain {
	struct doca_graph *graph;
	struct doca_graph_instance *instance;
	struct doca_task *wait, *set;
};

static struct chain chain_of(struct se_ctx *se)
{
	struct doca_graph_node *wait, *user, *set;
	struct chain chain = { .wait = se_wait_eq(se, 1, 3, UINT64_MAX), .set = se_set(se, 2, 4) };

	assert_ok(doca_graph_create(se->pe, &chain.graph));
	assert_ok(doca_graph_set_conf(chain.graph, on_done, on_failed, 1));
	assert_ok(doca_graph_set_user_data(chain.graph, (union doca_data){ .ptr = se }));
	assert_ok(doca_graph_node_create_from_ctx(chain.graph, se->ctx, &wait));
	assert_ok(doca_graph_node_create_from_user(chain.graph, on_node, &user));
	assert_ok(doca_graph_node_create_from_ctx(chain.graph, se->ctx, &set));
	assert_ok(doca_graph_add_dependency(chain.graph, wait, user));
	assert_ok(doca_graph_add_dependency(chain.graph, user, set));
	assert_ok(doca_graph_start(chain.graph));
	assert_ok(doca_graph_instance_create(chain.graph, &chain.instance));
	assert_ok(doca_graph_instance_set_ctx_node_data(chain.instance, wait, chain.wait));
	assert_ok(doca_graph_instance_set_user_node_data(chain.instance, user, se));
	assert_ok(doca_graph_instance_set_ctx_node_data(chain.instance, set, chain.set));
	return chain;
}

static void end_chain(struct chain *chain)
{
	assert_ok(doca_graph_instance_destroy(chain->instance));
	assert_ok(doca_graph_stop(chain->graph));
	assert_ok(doca_graph_destroy(chain->graph));
	doca_task_free(chain->wait);
	doca_task_free(chain->set);
}

static void test_nodes_behind_a_wait_run_when_the_value_comes(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	struct chain chain = chain_of(se);

	assert_ok(doca_graph_instance_submit(chain.instance));
	se_progress(se);
	assert_se_trace(se, "");
	assert_ok(doca_sync_event_update_set(se->event, 3));
	se_progress(se);
	assert_se_trace(se, "node\ninstance done\n");
	assert_int_equal(se_value(se->event), 4);
	end_chain(&chain);
	se_close(se);
}

static void test_stop_of_the_event_fails_the_graph_that_waits(void **state)
{
	struct se_ctx *se = se_run(se_new(dev));
	struct chain chain = chain_of(se);

	assert_ok(doca_graph_instance_submit(chain.instance));
	se_progress(se);
	assert_doca(doca_ctx_stop(se->ctx), DOCA_ERROR_IN_PROGRESS);
	se_progress(se);
	assert_se_trace(se, "running -> stopping\ninstance failed\n");
	end_chain(&chain);
	se_close(se);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_nodes_behind_a_wait_run_when_the_value_comes),
	cmocka_unit_test(test_stop_of_the_event_fails_the_graph_that_waits),
};

int main(void)
{
	return API_RUN({ .name = "DPU", .topology = "sync_events.yaml", .side = "dpu", API_WITH(tests), .dev = &dev });
}
