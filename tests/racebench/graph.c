/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs whose copies are nodes of a graph: the graph's callback says that all memory is the program's again. */
#include "racebench.h"

#include "tests/api/graph_util.h"

/* Two copies, each with its source and destination: from SRC to DST, and from @second_from to @second_to. */
struct two {
	struct rig *rig;
	const struct racebench_args *args;
	struct doca_graph *graph;
	struct doca_graph_instance *instance;
	struct doca_task *first, *second;
};

static struct two open_two(const struct racebench_args *args, bool are_ordered, size_t second_to, size_t second_from)
{
	struct two two = { .rig = racebench_rig(), .args = args };
	struct doca_graph_node *first, *second;

	two.graph = graph_new(two.rig, 2);
	first = ctx_node(two.graph, two.rig->ctx);
	second = ctx_node(two.graph, two.rig->ctx);
	if (are_ordered)
		follows(two.graph, first, second);
	MUST(doca_graph_start(two.graph));
	two.instance = instance_new(two.graph, 1);
	two.first = racebench_task(two.rig, args, 1, DST, SRC);
	two.second = racebench_task(two.rig, args, 2, second_to, second_from);
	MUST(doca_graph_instance_set_ctx_node_data(two.instance, first, two.first));
	MUST(doca_graph_instance_set_ctx_node_data(two.instance, second, two.second));
	return two;
}

static void close_two(struct two *two)
{
	rig_drain(two->rig);
	MUST(doca_graph_instance_destroy(two->instance));
	doca_task_free(two->first);
	doca_task_free(two->second);
	graph_end(two->graph);
	rig_close(two->rig);
}

static void submit_two(struct two *two)
{
	MUST(doca_graph_instance_submit(two->instance));
}

/* ---- races ---- */

static void first_source_modified(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	submit_two(&two);
	racebench_write(two.rig, args, SRC);
	close_two(&two);
}

static void first_destination_written(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	submit_two(&two);
	racebench_write(two.rig, args, DST);
	close_two(&two);
}

static void first_destination_read(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	submit_two(&two);
	racebench_read(two.rig, args, DST, SRC);
	close_two(&two);
}

/* The second node has not begun, as the first one has not ended. */
static void result_read(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	submit_two(&two);
	racebench_read(two.rig, args, DST2, SRC);
	close_two(&two);
}

static void parallel_source_modified(const struct racebench_args *args)
{
	struct two two = open_two(args, false, DST2, SRC2);

	submit_two(&two);
	racebench_write(two.rig, args, SRC2);
	close_two(&two);
}

static void parallel_same_destination(const struct racebench_args *args)
{
	struct two two = open_two(args, false, DST, SRC2);

	submit_two(&two);
	close_two(&two);
}

/* The dependency is missing. */
static void parallel_chain(const struct racebench_args *args)
{
	struct two two = open_two(args, false, DST2, DST);

	submit_two(&two);
	close_two(&two);
}

static void task_beside_graph(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	submit_two(&two);
	racebench_copy(two.rig, args, 3, DST, SRC2);
	close_two(&two);
}

/* ---- clean ---- */

static void used_after_end(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	racebench_write(two.rig, args, DST);
	submit_two(&two);
	rig_drain(two.rig);
	racebench_read(two.rig, args, DST, SRC);
	racebench_read(two.rig, args, DST2, SRC);
	racebench_write(two.rig, args, SRC);
	racebench_write(two.rig, args, DST2);
	close_two(&two);
}

static void parallel_neighbours(const struct racebench_args *args)
{
	struct two two = open_two(args, false, DST + args->len, SRC2);

	submit_two(&two);
	rig_drain(two.rig);
	racebench_read(two.rig, args, DST, SRC);
	racebench_read(two.rig, args, DST + args->len, SRC2);
	close_two(&two);
}

static void parallel_readers(const struct racebench_args *args)
{
	struct two two = open_two(args, false, DST2, SRC);

	submit_two(&two);
	racebench_read(two.rig, args, SRC, SRC);
	close_two(&two);
}

/* The second copy writes what the first one has read. */
static void ordered_overwrite(const struct racebench_args *args)
{
	struct two two = open_two(args, true, SRC, SRC2);

	submit_two(&two);
	rig_drain(two.rig);
	racebench_read(two.rig, args, SRC, SRC2);
	close_two(&two);
}

static void empty_destination(struct doca_task *task)
{
	MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst((struct doca_dma_task_memcpy *)task)));
}

static void submitted_twice(const struct racebench_args *args)
{
	struct two two = open_two(args, true, DST2, DST);

	for (int i = 0; i < 2; i++) {
		submit_two(&two);
		rig_drain(two.rig);
		racebench_write(two.rig, args, DST);
		empty_destination(two.first);
		empty_destination(two.second);
	}
	close_two(&two);
}

/* ---- the table ---- */

#define P(name, function, ...) RACEBENCH_PROGRAM(graph, name, 1, run, function, __VA_ARGS__)

const struct racebench_program graph_programs[] = {
	P(source_modified_racy, first_source_modified, RACEBENCH_SMALL),
	P(source_modified_64k_racy, first_source_modified, RACEBENCH_BYTES(65536, 0)),
	P(source_modified_by_thread_racy, first_source_modified, RACEBENCH_SMALL, .in_other_thread = true),
	P(between_nodes_written_racy, first_destination_written, RACEBENCH_SMALL),
	P(between_nodes_read_racy, first_destination_read, RACEBENCH_SMALL),
	P(result_read_racy, result_read, RACEBENCH_SMALL),
	P(result_read_by_thread_racy, result_read, RACEBENCH_SMALL, .in_other_thread = true),
	P(parallel_source_modified_racy, parallel_source_modified, RACEBENCH_SMALL),
	P(parallel_same_destination_racy, parallel_same_destination, RACEBENCH_SMALL),
	P(parallel_chain_racy, parallel_chain, RACEBENCH_SMALL),
	P(parallel_chain_list_racy, parallel_chain, RACEBENCH_SMALL, .is_list = true),
	P(task_beside_graph_racy, task_beside_graph, RACEBENCH_SMALL),
	P(used_after_end_64_clean, used_after_end, RACEBENCH_SMALL),
	P(used_after_end_64k_clean, used_after_end, RACEBENCH_LARGE),
	P(used_after_end_by_thread_clean, used_after_end, RACEBENCH_SMALL, .in_other_thread = true),
	P(parallel_neighbours_clean, parallel_neighbours, RACEBENCH_SMALL),
	P(parallel_readers_clean, parallel_readers, RACEBENCH_SMALL),
	P(ordered_overwrite_clean, ordered_overwrite, RACEBENCH_SMALL),
	P(ordered_overwrite_list_clean, ordered_overwrite, RACEBENCH_SMALL, .is_list = true),
	P(submitted_twice_clean, submitted_twice, RACEBENCH_SMALL),
	{ 0 },
};
