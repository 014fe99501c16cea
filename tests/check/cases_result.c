/* SPDX-License-Identifier: BSD-3-Clause */
/* The case of the rule about results of tasks: a receive of Comch's data path, with both sides of a session. */
#include "comch_fast.h"

#include "cases.h"

/* Run both sides. They poll: a card may not wake them. */
static void run_sides(void (*dpu)(struct side *side), void (*host)(struct side *side))
{
	struct comch_halves halves = { dpu, host };
	const struct CMUnitTest tests[] = {
		{ .name = "sides", .test_func = comch_run_halves, .initial_state = &halves }
	};

	CHECK(setenv("COMCH_WAIT", "busy", 1) == 0);
	CHECK(comch_run(tests) == 0);
}

static void produce_nothing(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	fast_close(&fast);
}

static void read_at_once(struct side *side)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct fast fast;

	fast_open_dpu(&fast, side);
	recv = fast_recv(fast.consumer, 1, NULL);
	MUST(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	(void)doca_comch_consumer_task_post_recv_get_imm_data_len(recv);
	fast_close(&fast);
}

static void result_not_ready(void)
{
	run_sides(read_at_once, produce_nothing);
}

static void produce(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	comch_sync_recv_progressing(side);
	fast_put(fast.producer, 1, NULL, "imm", fast.peer);
	comch_expect(side, "put 1\n");
	fast_close(&fast);
}

/* The rig reads the immediate data in the completion callback. */
static void read_in_callback(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, NULL);
	comch_sync_send(side, 0);
	comch_expect(side, "got 1: + \"imm\"\n");
	fast_close(&fast);
}

static void result_in_callback(void)
{
	run_sides(read_in_callback, produce);
}

const struct check_case result_cases[] = {
	{ "result-not-ready", result_not_ready, result_in_callback },
	{ 0 },
};
