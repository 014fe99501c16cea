/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of queue pairs on a private card: two groups, with up to three queue pairs each, of which pair i is connected to
 * pair i. */
#include "cmocka_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/rdma/queue_pair_priv.h"

#define MS        UINT64_C(1000000)
#define NUM_PAIRS 3

struct end {
	struct sim_qp_group group;
	struct sim_qp *qps[NUM_PAIRS];
};

struct message {
	struct sim_rdma_segment segment;
	struct sim_rdma_work work;
	uint32_t value;
};

struct place {
	struct sim_rdma_segment segment;
	struct sim_rdma_receive receive;
	uint32_t value;
};

struct fixture {
	struct sim_session *session;
	struct end a, b;
	/* They live as long as the queue pairs. */
	struct message messages[NUM_PAIRS + 1];
	struct place places[NUM_PAIRS + 1];
	struct sim_rdma_work held[2];
};

static struct sim_qp *create(struct fixture *f, struct end *end)
{
	const struct sim_qp_cfg cfg = { .arg = end,
					.group = &end->group,
					.max_works = 4,
					.rnr_budget_ns = UINT64_MAX,
					.ack_timeout_ns = UINT64_MAX / 2,
					.wake_fd = -1 };
	struct sim_qp *qp;

	assert_int_equal(sim_qp_create(f->session, &cfg, &qp), 0);
	return qp;
}

static void connect_pair(struct fixture *f, int i)
{
	assert_int_equal(sim_qp_connect(f->a.qps[i], sim_qp_key(f->b.qps[i])), 0);
	assert_int_equal(sim_qp_connect(f->b.qps[i], sim_qp_key(f->a.qps[i])), 0);
}

static int open_pairs(void **state)
{
	const struct sim_session_cfg cfg = { .side = "dpu" };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sim_session_attach(&cfg, &f->session), 0);
	sim_qp_group_init(&f->a.group);
	sim_qp_group_init(&f->b.group);
	for (int i = 0; i < NUM_PAIRS; i++) {
		f->a.qps[i] = create(f, &f->a);
		f->b.qps[i] = create(f, &f->b);
		connect_pair(f, i);
	}
	sim_qp_group_progress(&f->a.group); /* the rings of the connects */
	sim_qp_group_progress(&f->b.group);
	*state = f;
	return 0;
}

static void close_end(struct end *end)
{
	for (int i = 0; i < NUM_PAIRS; i++)
		sim_qp_destroy(end->qps[i]);
	sim_qp_group_close(&end->group);
}

static int close_pairs(void **state)
{
	struct fixture *f = *state;

	close_end(&f->a);
	close_end(&f->b);
	sim_session_detach(f->session);
	free(f);
	return 0;
}

/* ---- messages of four bytes ---- */

static void send_value(struct sim_qp *qp, struct message *message, uint32_t value)
{
	message->value = value;
	message->segment = (struct sim_rdma_segment){ .addr = (uintptr_t)&message->value, .bytes = 4 };
	message->work = (struct sim_rdma_work){
		.has_message = true, .segments = &message->segment, .num_segments = 1, .bytes = 4
	};
	assert_int_equal(sim_qp_post(qp, &message->work), 0);
	sim_qp_progress_requests(qp);
}

static void post_receive(struct end *end, struct place *place)
{
	place->segment = (struct sim_rdma_segment){ .addr = (uintptr_t)&place->value, .bytes = 4 };
	place->receive = (struct sim_rdma_receive){ .segments = &place->segment, .num_segments = 1, .room_bytes = 4 };
	sim_qp_group_post_receive(&end->group, &place->receive);
}

static void expect_received(struct end *end, const struct place *place, uint32_t value)
{
	assert_ptr_equal(sim_receive_pool_reap(&end->group.receives, MS), &place->receive);
	assert_int_equal(place->receive.status, 0);
	assert_int_equal(place->value, value);
}

static void expect_nothing_received(struct end *end)
{
	assert_null(sim_receive_pool_reap(&end->group.receives, MS));
}

static void expect_sent(struct end *end, const struct message *message)
{
	assert_ptr_equal(sim_qp_group_reap(&end->group), &message->work);
	assert_int_equal(message->work.status, 0);
}

/* ---- doorbells ---- */

static void test_progress_finds_what_rang(void **state)
{
	struct fixture *f = *state;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[1], f->messages, 7);
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, f->places, 7);
	assert_ptr_equal(f->places->receive.qp_arg, &f->b);
	assert_null(sim_qp_group_reap(&f->a.group));
	sim_qp_group_progress(&f->b.group); /* rings for the answer */
	sim_qp_group_progress(&f->a.group);
	expect_sent(&f->a, f->messages);
	assert_null(sim_qp_group_reap(&f->a.group));
	assert_int_equal(sim_qp_num_works(f->a.qps[1]), 0);
}

static void erase_rings(struct end *end)
{
	struct sim_doorbell_shared *shared = end->group.doorbells.shared;

	atomic_store(&shared->summary, 0);
	for (int i = 0; i < SIM_DOORBELL_WORDS; i++)
		atomic_store(&shared->words[i], 0);
}

/* ---- answers ---- */

static bool has_rung(const struct end *end)
{
	return atomic_load(&end->group.doorbells.shared->summary) != 0;
}

/* The responder's program sends a message after it has received one: its peer is told once. */
static void test_an_answer_is_told_with_the_next_message(void **state)
{
	struct fixture *f = *state;

	post_receive(&f->a, &f->places[0]);
	post_receive(&f->b, &f->places[1]);
	send_value(f->a.qps[1], &f->messages[0], 7);
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, &f->places[1], 7);
	assert_false(has_rung(&f->a));
	send_value(f->b.qps[1], &f->messages[1], 8);
	assert_true(has_rung(&f->a));
	sim_qp_group_progress(&f->a.group);
	expect_received(&f->a, &f->places[0], 8);
	expect_sent(&f->a, &f->messages[0]);
	sim_qp_group_progress(&f->b.group);
	assert_false(has_rung(&f->a));
}

/* A message on another connection says nothing of this one. */
static void test_an_answer_is_told_in_the_next_turn(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++)
		post_receive(&f->b, &f->places[i]);
	send_value(f->a.qps[1], &f->messages[0], 7);
	sim_qp_group_progress(&f->b.group);
	send_value(f->b.qps[0], &f->messages[1], 8);
	sim_qp_group_progress(&f->a.group);
	assert_null(sim_qp_group_reap(&f->a.group));
	sim_qp_group_progress(&f->b.group);
	assert_true(has_rung(&f->a));
	sim_qp_group_progress(&f->a.group);
	expect_sent(&f->a, &f->messages[0]);
}

/* One turn takes messages of two connections: the first peer is told when the second has to be. */
static void test_answers_of_one_turn_are_all_told(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		post_receive(&f->b, &f->places[i]);
		send_value(f->a.qps[i], &f->messages[i], 7);
	}
	sim_qp_group_progress(&f->b.group);
	sim_qp_group_progress(&f->a.group);
	expect_sent(&f->a, &f->messages[0]);
	assert_null(sim_qp_group_reap(&f->a.group));
	sim_qp_group_progress(&f->b.group);
	sim_qp_group_progress(&f->a.group);
	expect_sent(&f->a, &f->messages[1]);
}

/* The responder's program does nothing behind its turn. */
static void test_a_requester_that_polls_finds_an_answer_without_a_ring(void **state)
{
	struct fixture *f = *state;
	struct sim_rdma_work *work = NULL;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[1], f->messages, 7);
	sim_qp_group_progress(&f->b.group);
	for (int i = 0; i < 1000 && !work; i++) {
		sim_qp_group_progress(&f->a.group);
		work = sim_qp_group_reap(&f->a.group);
	}
	assert_ptr_equal(work, &f->messages->work);
}

static void test_a_requester_that_sleeps_is_told_at_once(void **state)
{
	struct fixture *f = *state;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[1], f->messages, 7);
	assert_false(sim_qp_group_arm(&f->a.group));
	sim_qp_group_progress(&f->b.group);
	assert_true(has_rung(&f->a));
	assert_int_equal(atomic_load(&f->b.qps[1]->inbox->asleep), 0);
}

static void test_a_responder_tells_answers_before_it_sleeps(void **state)
{
	struct fixture *f = *state;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[1], f->messages, 7);
	sim_qp_group_progress(&f->b.group);
	assert_false(has_rung(&f->a));
	sim_qp_group_arm(&f->b.group);
	assert_true(has_rung(&f->a));
}

static void test_a_queue_pair_that_ends_has_told_its_answers(void **state)
{
	struct fixture *f = *state;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[1], f->messages, 7);
	sim_qp_group_progress(&f->b.group);
	sim_qp_destroy(f->b.qps[1]);
	f->b.qps[1] = NULL;
	sim_qp_group_progress(&f->b.group);
	sim_qp_group_progress(&f->a.group);
	expect_sent(&f->a, f->messages);
}

/* ---- rings that were erased, and sleep ---- */

/* A peer maps the doorbells, and erases what others have rung. */
static void test_a_group_that_polls_finds_what_an_erased_ring_said(void **state)
{
	struct fixture *f = *state;
	int num_turns = 0;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[2], f->messages, 7);
	erase_rings(&f->b);
	while (!sim_receive_pool_has_done(&f->b.group.receives)) {
		assert_true(++num_turns < 1000);
		sim_qp_group_progress(&f->b.group);
	}
	expect_received(&f->b, f->places, 7);
}

/* Its line of the ring is looked at before the doorbells' say anything. */
static void test_the_next_message_of_the_last_sender_needs_no_ring(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++)
		post_receive(&f->b, &f->places[i]);
	send_value(f->a.qps[2], &f->messages[0], 7);
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, &f->places[0], 7);
	send_value(f->a.qps[2], &f->messages[1], 8);
	erase_rings(&f->b);
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, &f->places[1], 8);
	send_value(f->a.qps[1], &f->messages[2], 9);
	erase_rings(&f->b);
	sim_qp_group_progress(&f->b.group);
	expect_nothing_received(&f->b);
}

static void test_the_last_sender_may_be_gone(void **state)
{
	struct fixture *f = *state;

	post_receive(&f->b, &f->places[0]);
	send_value(f->a.qps[2], &f->messages[0], 7);
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, &f->places[0], 7);
	sim_qp_destroy(f->b.qps[2]);
	f->b.qps[2] = NULL;
	sim_qp_group_progress(&f->b.group);
	expect_nothing_received(&f->b);
}

/* A peer that rings all the time does not hide the rings that it erases. */
static void test_rings_without_an_end_do_not_hide_an_erased_one(void **state)
{
	struct fixture *f = *state;
	int num_turns = 0;

	post_receive(&f->b, f->places);
	send_value(f->a.qps[2], f->messages, 7);
	while (!sim_receive_pool_has_done(&f->b.group.receives)) {
		assert_true(++num_turns < 1000);
		erase_rings(&f->b);
		sim_doorbell_ring(f->b.group.doorbells.shared, 100);
		sim_qp_group_progress(&f->b.group);
	}
	expect_received(&f->b, f->places, 7);
}

static void test_a_group_that_goes_to_sleep_finds_what_an_erased_ring_said(void **state)
{
	struct fixture *f = *state;

	assert_false(sim_qp_group_arm(&f->b.group));
	post_receive(&f->b, f->places);
	send_value(f->a.qps[0], f->messages, 7);
	erase_rings(&f->b);
	assert_true(sim_qp_group_arm(&f->b.group));
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, f->places, 7);
	assert_false(sim_qp_group_arm(&f->b.group));
}

/* The second message finds the ring armed, and the third one, though the first two were taken without a sleep between. */
static void test_a_group_that_was_armed_before_finds_each_message(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 3; i++) {
		assert_false(sim_qp_group_arm(&f->b.group));
		assert_false(sim_qp_group_arm(&f->b.group));
		post_receive(&f->b, f->places);
		send_value(f->a.qps[0], &f->messages[i], i);
		erase_rings(&f->b);
		assert_true(sim_qp_group_arm(&f->b.group));
		sim_qp_group_progress(&f->b.group);
		expect_received(&f->b, f->places, i);
	}
}

static void test_a_message_without_a_receive_keeps_nobody_awake(void **state)
{
	struct fixture *f = *state;

	send_value(f->a.qps[0], f->messages, 7);
	sim_qp_group_progress(&f->b.group);
	assert_false(sim_qp_group_arm(&f->b.group));
	post_receive(&f->b, f->places); /* takes the message */
	expect_received(&f->b, f->places, 7);
}

static void test_queue_pairs_that_lead_to_one_group_share_its_doorbells(void **state)
{
	struct fixture *f = *state;
	struct sim_peer_group *peer = f->a.qps[0]->peer_group;

	assert_non_null(peer);
	assert_int_not_equal(f->a.qps[0]->peer_slot, f->a.qps[1]->peer_slot);
	for (int i = 0; i < NUM_PAIRS; i++)
		assert_ptr_equal(f->a.qps[i]->peer_group, peer);
	assert_int_equal(peer->num_users, NUM_PAIRS);
	sim_qp_destroy(f->a.qps[1]);
	f->a.qps[1] = NULL;
	assert_int_equal(peer->num_users, NUM_PAIRS - 1);
	assert_ptr_equal(f->a.qps[0]->peer_group, peer);
}

static void test_queue_pairs_beyond_the_slots_share_them(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		sim_qp_destroy(f->a.qps[i]);
		sim_qp_destroy(f->b.qps[i]);
		f->b.group.next_slot = 5 + (uint32_t)i * SIM_DOORBELL_SLOTS;
		f->a.qps[i] = create(f, &f->a);
		f->b.qps[i] = create(f, &f->b);
		assert_int_equal(f->b.qps[i]->slot, 5);
		connect_pair(f, i);
		post_receive(&f->b, &f->places[i]);
	}
	send_value(f->a.qps[0], &f->messages[0], 1);
	send_value(f->a.qps[1], &f->messages[1], 2);
	sim_qp_group_progress(&f->b.group);
	expect_received(&f->b, &f->places[0], 1);
	expect_received(&f->b, &f->places[1], 2);
}

/* What the peer's inbox says of its doorbells. */
static void test_forged_doorbells_refuse_the_connection(void **state)
{
	struct fixture *f = *state;
	struct sim_qp *forged;

	sim_qp_destroy(f->a.qps[0]);
	sim_qp_destroy(f->b.qps[0]);
	f->a.qps[0] = create(f, &f->a);
	f->b.qps[0] = forged = create(f, &f->b);
	forged->inbox->slot = SIM_DOORBELL_SLOTS;
	assert_int_equal(sim_qp_connect(f->a.qps[0], sim_qp_key(forged)), -EPROTO);
	forged->inbox->slot = forged->slot;
	forged->inbox->doorbells = *sim_qp_key(f->b.qps[1]); /* an inbox, and no doorbells */
	assert_int_equal(sim_qp_connect(f->a.qps[0], sim_qp_key(forged)), -EPROTO);
	forged->inbox->doorbells = f->b.group.key;
	forged->inbox->doorbells.secret[0] ^= 1; /* also when the group has imported those with the number */
	assert_true(sim_qp_connect(f->a.qps[0], sim_qp_key(forged)) < 0);
	assert_int_equal(sim_qp_get_state(f->a.qps[0]), SIM_QP_RESET);
	forged->inbox->doorbells = f->b.group.key;
	assert_int_equal(sim_qp_connect(f->a.qps[0], sim_qp_key(forged)), 0);
}

/* ---- turns ---- */

static void test_the_queue_pair_that_waits_longest_gets_the_next_receive(void **state)
{
	static const int order[] = { 2, 0, 1 };
	struct fixture *f = *state;

	for (int i = 0; i < NUM_PAIRS; i++) {
		send_value(f->a.qps[order[i]], &f->messages[i], (uint32_t)i);
		sim_qp_group_progress(&f->b.group);
	}
	expect_nothing_received(&f->b);
	send_value(f->a.qps[2], &f->messages[NUM_PAIRS], NUM_PAIRS); /* behind the first one */
	for (int i = 0; i < NUM_PAIRS + 1; i++) {
		post_receive(&f->b, &f->places[i]);
		sim_qp_group_progress(&f->b.group);
		expect_received(&f->b, &f->places[i], (uint32_t)i);
		expect_nothing_received(&f->b);
	}
}

static void test_works_are_reaped_in_the_order_of_their_ends(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < NUM_PAIRS; i++)
		post_receive(&f->b, &f->places[i]);
	for (int i = 0; i < NUM_PAIRS; i++)
		send_value(f->a.qps[i], &f->messages[i], 1);
	for (int i = NUM_PAIRS - 1; i >= 0; i--) {
		sim_qp_progress(f->b.qps[i], MS);
		sim_qp_progress(f->a.qps[i], MS);
	}
	for (int i = NUM_PAIRS - 1; i >= 0; i--)
		expect_sent(&f->a, &f->messages[i]);
}

static void test_completed_works_of_a_queue_pair_that_ends_are_forgotten(void **state)
{
	struct fixture *f = *state;

	send_value(f->a.qps[0], &f->messages[0], 1);
	send_value(f->a.qps[1], &f->messages[1], 2);
	sim_qp_fail(f->a.qps[0], -EIO);
	sim_qp_fail(f->a.qps[1], -EIO);
	sim_qp_destroy(f->a.qps[0]);
	f->a.qps[0] = NULL;
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &f->messages[1].work);
	assert_null(sim_qp_group_reap(&f->a.group));
}

/* Two works are held, the second for a shorter time; a third waits for its answer alone. */
static void test_the_deadline_is_the_earliest_of_all(void **state)
{
	struct fixture *f = *state;
	uint64_t now_ns = sim_session_now_ns(f->session);

	assert_true(sim_qp_group_take_deadline(&f->a.group) == UINT64_MAX);
	for (int i = 0; i < 2; i++) {
		f->held[i].not_before_ns = now_ns + (i == 0 ? 3600 : 1800) * 1000 * MS;
		assert_int_equal(sim_qp_post(f->a.qps[i], &f->held[i]), 0);
		sim_qp_progress_requests(f->a.qps[i]);
	}
	send_value(f->a.qps[2], f->messages, 1);
	assert_true(sim_qp_group_take_deadline(&f->a.group) == now_ns + 1800 * 1000 * MS);
	assert_true(sim_qp_group_take_deadline(&f->a.group) == UINT64_MAX);
	sim_qp_group_on_alarm(&f->a.group);
	assert_true(sim_qp_group_take_deadline(&f->a.group) == now_ns + 1800 * 1000 * MS);
	sim_qp_fail(f->a.qps[1], -EIO);
	sim_qp_group_on_alarm(&f->a.group);
	assert_true(sim_qp_group_take_deadline(&f->a.group) == now_ns + 3600 * 1000 * MS);
}

/* ---- large messages ---- */

/* A message of many times the inbox's size, and room in pieces of odd lengths. */
static void test_a_message_larger_than_the_inbox_arrives_whole(void **state)
{
	enum { BYTES = 40 * SIM_INBOX_BYTES + 77, PIECE = 4099 };
	static uint8_t from[BYTES], to[BYTES];
	struct fixture *f = *state;
	struct sim_rdma_segment data[2] = { { .addr = (uintptr_t)from, .bytes = 5001 },
					    { .addr = (uintptr_t)from + 5001, .bytes = BYTES - 5001 } };
	static struct sim_rdma_segment rooms[BYTES / PIECE + 1];
	struct sim_rdma_work work = { .has_message = true, .segments = data, .num_segments = 2, .bytes = BYTES };
	struct sim_rdma_receive receive = { .segments = rooms, .room_bytes = BYTES };

	for (size_t at = 0; at < BYTES; at += PIECE)
		rooms[receive.num_segments++] =
			(struct sim_rdma_segment){ .addr = (uintptr_t)to + at,
						   .bytes = BYTES - at < PIECE ? BYTES - at : PIECE };
	for (size_t i = 0; i < BYTES; i++)
		from[i] = (uint8_t)(i * 7 + i / 251);
	sim_qp_group_post_receive(&f->b.group, &receive);
	assert_int_equal(sim_qp_post(f->a.qps[0], &work), 0);
	sim_qp_progress_requests(f->a.qps[0]);
	/* Each step follows a ring: the responder's of records, the requester's of space. */
	for (int i = 0; i < 1000 && !sim_receive_pool_has_done(&f->b.group.receives); i++) {
		sim_qp_group_progress(&f->b.group);
		sim_qp_group_progress(&f->a.group);
	}
	assert_ptr_equal(sim_receive_pool_reap(&f->b.group.receives, MS), &receive);
	assert_int_equal(receive.status, 0);
	assert_int_equal(receive.bytes, BYTES);
	assert_memory_equal(to, from, BYTES);
	sim_qp_group_progress(&f->a.group);
	assert_ptr_equal(sim_qp_group_reap(&f->a.group), &work);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, open_pairs, close_pairs)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_progress_finds_what_rang),
		TEST(test_an_answer_is_told_with_the_next_message),
		TEST(test_an_answer_is_told_in_the_next_turn),
		TEST(test_answers_of_one_turn_are_all_told),
		TEST(test_a_requester_that_polls_finds_an_answer_without_a_ring),
		TEST(test_a_requester_that_sleeps_is_told_at_once),
		TEST(test_a_responder_tells_answers_before_it_sleeps),
		TEST(test_a_queue_pair_that_ends_has_told_its_answers),
		TEST(test_a_group_that_polls_finds_what_an_erased_ring_said),
		TEST(test_the_next_message_of_the_last_sender_needs_no_ring),
		TEST(test_the_last_sender_may_be_gone),
		TEST(test_rings_without_an_end_do_not_hide_an_erased_one),
		TEST(test_a_group_that_goes_to_sleep_finds_what_an_erased_ring_said),
		TEST(test_a_group_that_was_armed_before_finds_each_message),
		TEST(test_a_message_without_a_receive_keeps_nobody_awake),
		TEST(test_queue_pairs_that_lead_to_one_group_share_its_doorbells),
		TEST(test_queue_pairs_beyond_the_slots_share_them),
		TEST(test_forged_doorbells_refuse_the_connection),
		TEST(test_the_queue_pair_that_waits_longest_gets_the_next_receive),
		TEST(test_works_are_reaped_in_the_order_of_their_ends),
		TEST(test_completed_works_of_a_queue_pair_that_ends_are_forgotten),
		TEST(test_the_deadline_is_the_earliest_of_all),
		TEST(test_a_message_larger_than_the_inbox_arrives_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
