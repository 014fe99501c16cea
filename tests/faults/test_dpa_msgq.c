/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults at the messages of MsgQs, in both directions, and at the receives of both ends: kernels on the DPA of a private card. Their operations in
 * rules, and what goes with which, are those of Comch's producers and consumers (test_fast.c). */
#include <bfsim.h>
#include <doca_mmap.h>
#include <stdio.h>
#include <string.h>

#include "tests/api/dpa_msgq_util.h"

#define DELAY_NS UINT64_C(200000000)
#define POLL_NS  UINT64_C(2000000) /* a delay for which kernels poll: in virtual time, tens of thousands of times */
#define SENT     UINT64_C(0x123456)
#define FAILED   (UINT64_C(13) << 32 | 0x123456)
#define NONE     UINT64_MAX

static struct doca_dev *dev;
static uint32_t rule;
static uint64_t begin_ns;

static void arm(const char *text)
{
	begin_ns = bfsim_now_ns();
	if (bfsim_fault_add(text, &rule) != 0)
		fail_msg("%s: %s", text, bfsim_error());
}

static void expect_hits(uint64_t num)
{
	struct bfsim_fault fault;

	assert_int_equal(bfsim_fault_get(rule, &fault), 0);
	assert_int_equal(fault.fired, num);
	assert_int_equal(bfsim_fault_clear(), 0);
}

static void assert_late(uint64_t ns)
{
	assert_true(bfsim_now_ns() - begin_ns >= ns);
}

/* ---- from the DPA ---- */

/* A kernel sends a message of so many bytes. */
static void send(struct msgq_rig *rig, uint32_t len)
{
	MSGQ_RPC(rig, send_bytes, rig->handles.producer, rig->handles.consumer_id, len, 1u);
}

static uint64_t take_completion(struct msgq_rig *rig)
{
	return MSGQ_RPC(rig, take_sent, rig->handles.producer_completion);
}

/* A kernel polls for it: an RPC for each look would take much longer in virtual time. */
static void wait_completion(struct msgq_rig *rig, uint64_t expected)
{
	assert_int_equal(MSGQ_RPC(rig, wait_sent, rig->handles.producer_completion), expected);
}

/* Kernels send messages of 1, 2 and 3 bytes under the rule; their lengths arrive as expected, and three completions come. */
static void expect_arrivals(struct msgq_rig *rig, const char *text, const char *expected)
{
	unsigned int num = (unsigned int)strlen(expected);

	msgq_post(rig, MSGQ_DEPTH);
	arm(text);
	for (uint32_t len = 1; len <= 3; len++)
		send(rig, len);
	msgq_progress_until(rig, &rig->num_received, num);
	for (unsigned int i = 0; i < num; i++)
		assert_int_equal(rig->lens[i], expected[i] - '0');
	for (int i = 0; i < 3; i++)
		wait_completion(rig, SENT);
	expect_hits(1);
}

static void test_lost_message_is_sent_in_the_kernels_eyes(void **state)
{
	expect_arrivals(*state, "comch.producer.send nth=2 drop", "13");
}

static void test_message_comes_twice(void **state)
{
	expect_arrivals(*state, "comch.producer.send nth=2 duplicate", "1223");
}

static void test_later_message_overtakes(void **state)
{
	expect_arrivals(*state, "comch.producer.send nth=1 reorder=1", "213");
}

static void test_message_is_cut(void **state)
{
	expect_arrivals(*state, "comch.producer.send nth=3 truncate=1", "121");
}

static void test_late_message_holds_up_those_behind_it(void **state)
{
	expect_arrivals(*state, "comch.producer.send nth=2 delay=200ms", "123");
	assert_late(DELAY_NS);
}

static void test_rules_know_the_size(void **state)
{
	expect_arrivals(*state, "comch.producer.send size>=3 drop", "12");
}

static void test_completions_are_late(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_post(rig, 2);
	arm("comch.producer.send nth=1 delay=2ms");
	send(rig, 1);
	send(rig, 2);
	wait_completion(rig, SENT);
	assert_late(POLL_NS);
	wait_completion(rig, SENT);
	expect_hits(1);
}

static void test_bits_of_a_message_are_wrong(void **state)
{
	struct msgq_rig *rig = *state;
	unsigned int wrong = 0;

	msgq_post(rig, 1);
	arm("comch.producer.send flip=3");
	send(rig, 8);
	msgq_progress_until(rig, &rig->num_received, 1);
	for (unsigned int i = 0; i < 8; i++)
		wrong += (unsigned int)__builtin_popcount(rig->last[i] ^ (8 + i));
	assert_int_equal(wrong, 3);
	expect_hits(1);
}

static void test_failed_message_fails_its_producer(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_post(rig, 2);
	arm("comch.producer.send nth=1 fail=IO_FAILED");
	send(rig, 1);
	send(rig, 2);
	wait_completion(rig, FAILED);
	wait_completion(rig, FAILED);
	assert_int_equal(rig->num_received, 0);
	expect_hits(1);
}

/* Its completion, and those behind it, do not come. Later messages do. */
static void test_message_that_hangs_withholds_completions(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_post(rig, 2);
	arm("comch.producer.send nth=2 hang");
	for (uint32_t len = 1; len <= 3; len++)
		send(rig, len);
	msgq_progress_until(rig, &rig->num_received, 2);
	assert_int_equal(rig->lens[1], 3);
	assert_int_equal(take_completion(rig), SENT);
	assert_true(take_completion(rig) == NONE);
	expect_hits(1);
}

static void test_refused_message_is_posted_again(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_post(rig, 1);
	arm("comch.producer.send times=3 refuse");
	send(rig, 5);
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_int_equal(rig->last_len, 5);
	expect_hits(3);
}

static void expect_idle(struct msgq_rig *rig, struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	do {
		doca_pe_progress(rig->pe);
		assert_ok(doca_ctx_get_state(ctx, &state));
	} while (state != DOCA_CTX_STATE_IDLE);
}

/* The queue breaks for both ends: the kernel's sends fail, and the consumer stops. Neither starts again. */
static void test_broken_queue_ends_both_ends(void **state)
{
	struct msgq_rig *rig = *state;
	struct doca_ctx *ctx = doca_comch_consumer_as_ctx(rig->cpu_consumer);

	msgq_post(rig, 2);
	arm("comch.producer.send nth=2 break");
	send(rig, 1);
	send(rig, 2);
	wait_completion(rig, SENT);
	wait_completion(rig, FAILED);
	expect_idle(rig, ctx);
	assert_int_equal(rig->num_received, 1);
	assert_int_equal(rig->num_receive_errors, 1);
	assert_doca(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	ctx = doca_comch_producer_as_ctx(rig->dpa_producer);
	msgq_stop(rig, ctx);
	assert_doca(doca_ctx_start(ctx), DOCA_ERROR_NOT_CONNECTED);
	expect_hits(1);
}

static void test_rule_waits_with_its_message_for_a_receive(void **state)
{
	struct msgq_rig *rig = *state;

	arm("comch.producer.send nth=2 truncate=1");
	send(rig, 4);
	send(rig, 5);
	msgq_post(rig, 2);
	msgq_progress_until(rig, &rig->num_received, 2);
	assert_int_equal(rig->lens[0], 4);
	assert_int_equal(rig->lens[1], 1);
	expect_hits(1);
}

/* ---- copies ---- */

static uint8_t from[64], to[64];

/* A kernel copies @from to @to and tells. Returns the number of wrong bits. */
static unsigned int copy(struct msgq_rig *rig, const char *text, uint64_t completion)
{
	struct copy_args args = { .dst = (uintptr_t)to, .src = (uintptr_t)from, .len = sizeof(from) };
	struct doca_mmap *maps[2];
	unsigned int wrong = 0;

	for (int i = 0; i < 2; i++) {
		assert_ok(doca_mmap_create(&maps[i]));
		assert_ok(doca_mmap_add_dev(maps[i], dev));
		assert_ok(doca_mmap_set_memrange(maps[i], i ? to : from, sizeof(from)));
		assert_ok(doca_mmap_start(maps[i]));
		assert_ok(doca_mmap_dev_get_dpa_handle(maps[i], dev, i ? &args.dst_map : &args.src_map));
	}
	for (size_t i = 0; i < sizeof(from); i++) {
		from[i] = (uint8_t)(i + 1);
		to[i] = 0;
	}
	arm(text);
	MSGQ_RPC(rig, copy_and_tell, rig->handles.producer, rig->handles.consumer_id, args);
	wait_completion(rig, completion);
	expect_hits(1);
	assert_ok(doca_mmap_destroy(maps[0]));
	assert_ok(doca_mmap_destroy(maps[1]));
	for (size_t i = 0; i < sizeof(from); i++)
		wrong += (unsigned int)__builtin_popcount(from[i] ^ to[i]);
	return wrong;
}

static bool has_copied(size_t len)
{
	static const uint8_t zeros[sizeof(to)];

	return memcmp(from, to, len) == 0 && memcmp(to + len, zeros, sizeof(to) - len) == 0;
}

static void test_faults_of_a_copy_are_at_what_is_copied(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_post(rig, MSGQ_DEPTH);
	assert_int_equal(copy(rig, "comch.producer.send size=64 flip=2", SENT), 2);
	copy(rig, "comch.producer.send truncate=10", SENT);
	assert_true(has_copied(10));
	msgq_progress_until(rig, &rig->num_received, 2);
	assert_int_equal(rig->lens[0], 4);
	assert_int_equal(rig->lens[1], 4);
	copy(rig, "comch.producer.send drop", SENT);
	assert_true(has_copied(0));
	copy(rig, "comch.producer.send fail=IO_FAILED", FAILED);
	assert_true(has_copied(0));
	assert_int_equal(rig->num_received, 2);
}

/* ---- to the DPA ---- */

static uint64_t take(struct msgq_rig *rig)
{
	return MSGQ_RPC(rig, take_message, rig->handles.consumer_completion, UINT64_C(0));
}

static uint64_t wait_byte(struct msgq_rig *rig)
{
	return MSGQ_RPC(rig, wait_message, rig->handles.consumer_completion);
}

/* Bytes 1, 2 and 3 are sent to the DPA under the rule, for which kernels have posted receives; they arrive as expected. */
static void expect_messages(struct msgq_rig *rig, const char *text, const char *expected)
{
	arm(text);
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, MSGQ_DEPTH);
	for (uint8_t byte = 1; byte <= 3; byte++)
		msgq_send_byte(rig, byte);
	msgq_progress_until(rig, &rig->num_sent, 3);
	for (; *expected; expected++)
		assert_int_equal(wait_byte(rig), (uint64_t)(*expected - '0'));
	assert_int_equal(take(rig), 256);
	expect_hits(1);
}

static void test_dpa_misses_a_lost_message(void **state)
{
	expect_messages(*state, "comch.producer.send nth=2 drop", "13");
}

static void test_dpa_gets_a_message_twice(void **state)
{
	expect_messages(*state, "comch.producer.send nth=2 duplicate", "1223");
}

static void test_dpa_gets_messages_in_another_order(void **state)
{
	expect_messages(*state, "comch.producer.send nth=1 reorder=1", "213");
}

static void test_dpa_gets_a_late_message_in_order(void **state)
{
	expect_messages(*state, "comch.producer.send nth=2 delay=2ms", "123");
	assert_late(POLL_NS);
}

/* A late message wakes the thread that sleeps: no kernel polls. */
static void test_late_message_runs_the_thread(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_run_echo(rig);
	msgq_post(rig, 1);
	arm("comch.producer.send nth=1 delay=200ms");
	msgq_send_byte(rig, 9);
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_late(DELAY_NS);
	assert_int_equal(rig->last[0], 9);
	expect_hits(1);
}

/* After a while, in which no kernel polls. */
static void test_reordered_message_comes_though_none_follows(void **state)
{
	struct msgq_rig *rig = *state;

	msgq_run_echo(rig);
	msgq_post(rig, 1);
	arm("comch.producer.send nth=1 reorder=2");
	msgq_send_byte(rig, 9);
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_int_equal(rig->last[0], 9);
	expect_hits(1);
}

/* ---- receives of kernels ---- */

static void test_failed_receive_loses_its_message(void **state)
{
	expect_messages(*state, "comch.consumer.recv nth=2 fail=IO_FAILED", "13");
}

static void test_receive_that_hangs_keeps_its_message(void **state)
{
	expect_messages(*state, "comch.consumer.recv nth=2 hang", "13");
}

static void test_late_receive_holds_up_those_behind_it(void **state)
{
	expect_messages(*state, "comch.consumer.recv nth=1 delay=2ms", "123");
	assert_late(POLL_NS);
}

static void test_bits_of_a_received_message_are_wrong(void **state)
{
	struct msgq_rig *rig = *state;
	uint64_t found;

	arm("comch.consumer.recv flip=1");
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, 1u);
	msgq_send_byte(rig, 7);
	found = wait_byte(rig);
	assert_int_equal(__builtin_popcountll(found ^ 7), 1);
	expect_hits(1);
}

static void test_refused_receive_is_posted_again(void **state)
{
	struct msgq_rig *rig = *state;

	arm("comch.consumer.recv skip=1 times=3 refuse");
	MSGQ_RPC(rig, post_receives, rig->handles.consumer, MSGQ_DEPTH);
	for (uint8_t byte = 1; byte <= MSGQ_DEPTH; byte++)
		msgq_send_byte(rig, byte);
	for (uint8_t byte = 1; byte <= MSGQ_DEPTH; byte++)
		assert_int_equal(wait_byte(rig), byte);
	expect_hits(3);
}

/* ---- receives of this processor ---- */

static void test_failed_receive_of_this_side_loses_a_kernels_message(void **state)
{
	struct msgq_rig *rig = *state;

	arm("comch.consumer.recv nth=1 fail=IO_FAILED");
	msgq_post(rig, 2);
	send(rig, 1);
	send(rig, 2);
	msgq_progress_until(rig, &rig->num_received, 1);
	assert_int_equal(rig->last_len, 2);
	assert_int_equal(rig->num_receive_errors, 1);
	expect_hits(1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, msgq_setup, msgq_teardown)

static const struct CMUnitTest tests[] = {
	TEST(lost_message_is_sent_in_the_kernels_eyes),
	TEST(message_comes_twice),
	TEST(later_message_overtakes),
	TEST(message_is_cut),
	TEST(late_message_holds_up_those_behind_it),
	TEST(rules_know_the_size),
	TEST(completions_are_late),
	TEST(bits_of_a_message_are_wrong),
	TEST(failed_message_fails_its_producer),
	TEST(message_that_hangs_withholds_completions),
	TEST(refused_message_is_posted_again),
	TEST(broken_queue_ends_both_ends),
	TEST(rule_waits_with_its_message_for_a_receive),
	TEST(faults_of_a_copy_are_at_what_is_copied),
	TEST(dpa_misses_a_lost_message),
	TEST(dpa_gets_a_message_twice),
	TEST(dpa_gets_messages_in_another_order),
	TEST(reordered_message_comes_though_none_follows),
	TEST(dpa_gets_a_late_message_in_order),
	TEST(late_message_runs_the_thread),
	TEST(failed_receive_loses_its_message),
	TEST(receive_that_hangs_keeps_its_message),
	TEST(late_receive_holds_up_those_behind_it),
	TEST(bits_of_a_received_message_are_wrong),
	TEST(refused_receive_is_posted_again),
	TEST(failed_receive_of_this_side_loses_a_kernels_message),
};

int main(void)
{
	return API_RUN({ .name = "dpu", .side = "dpu", .dev = &dev, API_WITH(tests) });
}
