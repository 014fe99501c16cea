/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of producers take the time that the topology gives them (doc/time.md). */
#include <stdlib.h>

#include "comch_fast.h"
#include "sim/api/bfsim.h"

#define ONE_WAY_NS 3000 /* tests/api/data/timing.yaml */

static void test_message_of_a_producer_arrives_after_its_time_dpu(struct side *side)
{
	struct fast fast;

	fast_open_dpu(&fast, side);
	fast_post(fast.consumer, 1, arena_empty(fast.arena, 0, 64));
	fast_post(fast.consumer, 2, arena_empty(fast.arena, 64, 64));
	comch_forget(side);
	comch_meet_progressing(side);
	for (int i = 0; i < 2; i++) {
		comch_until(side, side->trace[0]);
		uint64_t came_ns = bfsim_now_ns();

		comch_expect(side, i ? "got 2: \"second\"\n" : "got 1: \"first\"\n");
		CHECK(came_ns - comch_sync_recv(side) == ONE_WAY_NS);
		comch_sync_send(side, came_ns);
	}
	fast_close(&fast);
}

static void test_message_of_a_producer_arrives_after_its_time_host(struct side *side)
{
	struct fast fast;

	fast_open_host(&fast, side);
	comch_forget(side);
	comch_meet_progressing(side);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t sent_ns = bfsim_now_ns();

		fast_put(fast.producer, i, arena_text(fast.arena, i * 64, i ? "second" : "first"), NULL, fast.peer);
		comch_until(side, side->num_sent == i + 1);
		CHECK(bfsim_now_ns() == sent_ns); /* the producer is free at once */
		comch_sync_send(side, sent_ns);
		CHECK(comch_sync_recv_progressing(side) == sent_ns + ONE_WAY_NS);
	}
	fast_close(&fast);
}

static const struct CMUnitTest timing_tests[] = {
	COMCH_TEST(test_message_of_a_producer_arrives_after_its_time),
};

int main(void)
{
	comch_session = (struct comch_session){ .topology = "timing.yaml", .clock = "virtual" };
	return comch_run(timing_tests);
}
