/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg: messages that take time by the model, and two participants of virtual time that exchange them: each run has the
 * same times. A message takes 1,000 ns one way and costs its sender 100 ns. */
#include <pthread.h>

#include "cmocka_test.h"
#include "pipe_rig.h"

static const struct pcie_comch_timing timing = { .one_way_ps = 1000000, .send_ps = 100000 };

static uint64_t now_ns(const struct rig *rig)
{
	return sim_clock_now_ns(rig->clock);
}

static void expect_message_at(struct rig *rig, char text, uint64_t at_ns)
{
	struct sim_pipe_event event;

	while (rig_poll(&rig->b, &event) == 0)
		rig_pass_time(rig, rig->b.alarm_ns - now_ns(rig));
	assert_int_equal(event.bytes[0], text);
	rig_release(&rig->b, &event);
	assert_int_equal(now_ns(rig), at_ns);
}

/* Three messages at 0: the sender is free again at 100, 200, 300; they arrive at 1,000, 1,100, 1,200. */
static void test_messages_leave_one_after_the_other(void **state)
{
	struct sim_pipe_send sends[3] = { 0 };
	struct rig rig;

	rig_open(&rig, SIM_CLOCK_VIRTUAL, &timing);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rig_send(&rig.a, &sends[i], (const char *[]){ "a", "b", "c" }[i]), 0);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	for (int i = 0; i < 3; i++)
		assert_int_equal(sends[i].due_ns, 100 * (i + 1));
	assert_int_equal(rig.a.alarm_ns, 100);
	rig_pass_time(&rig, 200);
	rig_hear_alarm(&rig.a);
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[0]);
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[1]);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	expect_message_at(&rig, 'a', 1000);
	expect_message_at(&rig, 'b', 1100);
	expect_message_at(&rig, 'c', 1200);
	rig_close(&rig);
}

/* The message stays in the ring until then: room does not depend on when the receiver polls. */
static void test_message_leaves_the_ring_when_it_arrives(void **state)
{
	struct sim_pipe_event event;
	struct rig rig;
	uint32_t status;

	rig_open(&rig, SIM_CLOCK_VIRTUAL, &timing);
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "a", 1, &status), 0);
	assert_int_equal(rig_poll(&rig.b, &event), 0);
	assert_true(sim_ring_has_record(&rig.b.pipe.in));
	assert_false(sim_pipe_has_event(&rig.b.pipe));
	assert_int_equal(rig.b.alarm_ns, 1000);
	rig_close_pipe(&rig.a); /* a sender that leaves does not make its messages faster */
	expect_message_at(&rig, 'a', 1000);
	rig_close(&rig);
}

/* A peer that asks for a delivery in the far future is not obeyed. */
static void test_times_that_no_honest_peer_has_are_ignored(void **state)
{
	const struct sim_pipe_hdr hdr = { .modelled_ns = UINT64_MAX, .due_ns = 0, .reorder_by = 0 };
	struct sim_pipe_event event;
	struct rig rig;

	rig_open(&rig, SIM_CLOCK_VIRTUAL, &timing);
	assert_int_equal(sim_ring_write_parts(&rig.a.pipe.out, SIM_PIPE_MESSAGE_WITH_HDR, &hdr, sizeof(hdr), "x", 1),
			 0);
	sim_doorbell_ring(rig.a.pipe.peer_doorbells, rig.a.pipe.peer_slot);
	assert_int_equal(rig_poll(&rig.b, &event), 1);
	rig_release(&rig.b, &event);
	rig_close(&rig);
}

/* ---- two participants ---- */

#define NUM_ROUNDS 20

struct player {
	struct rig_end *end;
	bool begins;
	char log[NUM_ROUNDS * 24];
};

static void play(struct player *player, struct sim_pipe_send *send, const char *text)
{
	rig_send(player->end, send, text);
	while (sim_poll_group_has_completed(&player->end->group))
		sim_poll_group_pop_completed(&player->end->group);
}

static void *run_player(void *arg)
{
	struct player *player = arg;
	struct rig_end *end = player->end;
	const struct sim_vclock_source_cfg cfg = { .engine = end->engine };
	static __thread struct sim_pipe_send sends[NUM_ROUNDS + 1];
	struct sim_vclock_source *source;
	struct sim_pipe_event event;
	size_t len = 0;
	int round = 0;

	RIG_NEED(sim_vclock_source_create(end->rig->sched, &cfg, &source) == 0);
	if (player->begins) {
		while (!sim_vclock_source_may_poll(source))
			;
		play(player, &sends[NUM_ROUNDS], "0");
	}
	while (round < NUM_ROUNDS) {
		if (!sim_vclock_source_may_poll(source))
			continue;
		if (rig_poll(end, &event) != 1) {
			sim_vclock_source_wait_until(source, end->alarm_ns ? end->alarm_ns : SIM_CLOCK_NEVER_NS);
			continue;
		}
		len += (size_t)snprintf(player->log + len, sizeof(player->log) - len, "%d@%llu ", round,
					(unsigned long long)now_ns(end->rig));
		rig_release(end, &event);
		play(player, &sends[round++], "x");
	}
	sim_vclock_source_destroy(source);
	return NULL;
}

/* Two threads play ball with one message. Returns what they saw. */
static void run_match(struct player players[2])
{
	pthread_t threads[2];
	struct rig rig;

	rig_open(&rig, SIM_CLOCK_VIRTUAL, &timing);
	players[0] = (struct player){ .end = &rig.a, .begins = true };
	players[1] = (struct player){ .end = &rig.b };
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_player, &players[i]), 0);
	sim_vclock_source_destroy(rig.source); /* this thread does not hold the time any more */
	rig.source = NULL;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	rig_close(&rig);
}

/* b receives at 1,000, 3,000, 5,000, ...; a at 2,000, 4,000, ... */
static void test_two_participants_have_the_model_s_times_in_each_run(void **state)
{
	struct player players[2];

	for (int run = 0; run < 10; run++) {
		char expected[2][NUM_ROUNDS * 24];
		size_t len[2] = { 0, 0 };

		run_match(players);
		for (int round = 0; round < NUM_ROUNDS; round++)
			for (int i = 0; i < 2; i++)
				len[i] += (size_t)snprintf(expected[i] + len[i], sizeof(expected[i]) - len[i], "%d@%d ",
							   round, 2000 * round + (i == 0 ? 2000 : 1000));
		assert_string_equal(players[0].log, expected[0]);
		assert_string_equal(players[1].log, expected[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_leave_one_after_the_other),
		cmocka_unit_test(test_message_leaves_the_ring_when_it_arrives),
		cmocka_unit_test(test_times_that_no_honest_peer_has_are_ignored),
		cmocka_unit_test(test_two_participants_have_the_model_s_times_in_each_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
