/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/consumer.h and remote_consumer.h: a consumer of one end and its producers at the other, in one process. */
#include <errno.h>

#include "cmocka_test.h"
#include "pipe_rig.h"
#include "sim/msg/consumer.h"
#include "sim/msg/remote_consumer.h"

#define NUM_SLOTS 4
#define IMM_BYTES 8
#define ID        5

/* The consumer is of end b, its producers of end a. */
struct fixture {
	struct rig rig;
	struct sim_consumer consumer;
	uint64_t alarm_ns;
	struct sim_wake wake;
	struct sim_receive receives[NUM_SLOTS];
	struct sim_remote_consumer *remote;
};

static struct fixture fixture;
static unsigned int num_releases;

static void set_alarm(struct sim_consumer *consumer, uint64_t due_ns)
{
	if (due_ns != SIM_CLOCK_NEVER_NS)
		fixture.alarm_ns = due_ns;
}

static void release(struct sim_remote *buffers)
{
	assert_null(buffers);
	num_releases++;
}

static const struct sim_remote_consumer_limits limits = { .max_consumers = 2,
							  .max_slots = NUM_SLOTS,
							  .max_imm_bytes = IMM_BYTES };

static void open_consumer(struct sim_handshake_msg *ret_announcement)
{
	const struct sim_consumer_cfg cfg = {
		.info = { .id = ID, .num_slots = NUM_SLOTS, .max_imm_bytes = IMM_BYTES },
		.clock = fixture.rig.clock,
		.set_alarm = set_alarm,
		.alloc = malloc,
		.wake_fd = fixture.wake.send_fd,
	};

	assert_int_equal(sim_consumer_open(&fixture.consumer, &cfg, ret_announcement), 0);
}

static int set_up(void **state)
{
	struct sim_handshake_msg announcement;

	fixture = (struct fixture){ 0 };
	num_releases = 0;
	rig_open(&fixture.rig, SIM_CLOCK_VIRTUAL, NULL);
	assert_int_equal(sim_wake_open(&fixture.wake), 0);
	open_consumer(&announcement);
	assert_int_equal(sim_remote_consumer_add(&fixture.rig.a.pipe, &limits, release, &announcement), 0);
	sim_handshake_msg_close(&announcement);
	fixture.remote = sim_remote_consumer_get(&fixture.rig.a.pipe, ID);
	assert_non_null(fixture.remote);
	return 0;
}

static int tear_down(void **state)
{
	sim_remote_consumer_put(fixture.remote);
	sim_remote_consumers_drop(&fixture.rig.a.pipe);
	assert_int_equal(num_releases, 1);
	sim_consumer_close(&fixture.consumer);
	sim_wake_close(&fixture.wake);
	rig_close(&fixture.rig);
	return 0;
}

static void post(unsigned int i, uint32_t len)
{
	fixture.receives[i] = (struct sim_receive){ .desc.len_bytes = len, .hit = fixture.receives[i].hit };
	sim_consumer_post(&fixture.consumer, &fixture.receives[i]);
}

static int send_as(const char *text, const char *imm, uint64_t due_ns, const struct sim_fault_hit *hit)
{
	struct sim_remote_send send = { .pipe = &fixture.rig.a.pipe,
					.remote = fixture.remote,
					.clock = fixture.rig.clock };
	struct sim_recvq_message message = { .len_bytes = (uint32_t)strlen(text),
					     .imm = (const uint8_t *)imm,
					     .imm_bytes = (uint32_t)strlen(imm),
					     .due_ns = due_ns };
	const uint8_t *bytes = text[0] ? (const uint8_t *)text : NULL;
	int rc = sim_remote_consumer_reserve(fixture.remote, message.len_bytes, message.imm_bytes);

	if (rc < 0)
		return rc;
	return hit ? sim_remote_send_fill_with_fault(&send, hit, message, bytes) :
		     sim_remote_send_fill(&send, message, bytes);
}

static int send_text(const char *text)
{
	return send_as(text, "", 0, NULL);
}

/* Take the next message. Returns the number of its receive, or -1. */
static int take(const char *text, const char *imm)
{
	struct sim_recvq_message message;
	struct sim_receive *receive;

	if (!sim_consumer_has_message(&fixture.consumer, false))
		return -1;
	assert_int_equal(sim_consumer_take(&fixture.consumer, &receive, &message), 0);
	assert_int_equal(message.len_bytes, strlen(text));
	assert_int_equal(message.imm_bytes, strlen(imm));
	if (message.len_bytes > 0)
		assert_memory_equal(message.inlined, text, message.len_bytes);
	assert_memory_equal(message.imm, imm, message.imm_bytes);
	if (sim_consumer_must_hold(&fixture.consumer, receive, &message))
		sim_consumer_hold(&fixture.consumer, receive, &message, NULL, 0);
	return (int)(receive - fixture.receives);
}

/* ---- credits ---- */

static void test_message_takes_the_oldest_receive(void **state)
{
	assert_int_equal(send_text("a"), -EAGAIN);
	post(2, 16);
	post(0, 16);
	assert_int_equal(send_as("a", "imm", 0, NULL), 0);
	assert_int_equal(send_as("", "only", 0, NULL), 0);
	assert_int_equal(send_text("c"), -EAGAIN);
	assert_int_equal(take("a", "imm"), 2);
	assert_int_equal(take("", "only"), 0);
	assert_int_equal(take("", ""), -1);
}

static void test_messages_that_do_not_fit_are_refused(void **state)
{
	post(0, 4);
	assert_int_equal(send_text("12345"), -EMSGSIZE);
	assert_int_equal(send_as("1", "123456789", 0, NULL), -E2BIG);
	assert_int_equal(send_text("1234"), 0);
}

static void test_reserved_receive_is_free_again(void **state)
{
	post(0, 4);
	assert_int_equal(sim_remote_consumer_reserve(fixture.remote, 1, 0), 0);
	assert_int_equal(send_text("a"), -EAGAIN);
	sim_remote_consumer_unreserve(fixture.remote);
	assert_int_equal(send_text("a"), 0);
}

static void test_removed_consumer_takes_no_messages(void **state)
{
	uint32_t id = ID + 1;

	post(0, 4);
	assert_int_equal(sim_remote_consumer_reserve(fixture.remote, 1, 0), 0);
	assert_false(sim_remote_consumer_remove(&fixture.rig.a.pipe, &id, &id));
	assert_true(sim_remote_consumer_remove(&fixture.rig.a.pipe, NULL, &id));
	assert_int_equal(id, ID);
	assert_null(sim_remote_consumer_get(&fixture.rig.a.pipe, ID));
	assert_int_equal(num_releases, 0); /* it is held */
	assert_int_equal(sim_remote_consumer_reserve(fixture.remote, 1, 0), -ENOTCONN);
	sim_remote_consumer_unreserve(fixture.remote);
}

static void test_message_that_its_producer_could_not_make_fails_the_receive(void **state)
{
	struct sim_remote_send send = { .pipe = &fixture.rig.a.pipe, .remote = fixture.remote };
	struct sim_recvq_message message = { .failed = true, .len_bytes = 1 }, got;
	struct sim_receive *receive;

	post(0, 4);
	assert_int_equal(sim_remote_consumer_reserve(fixture.remote, 1, 0), 0);
	assert_int_equal(sim_remote_send_fill(&send, message, NULL), -EIO);
	assert_int_equal(sim_consumer_take(&fixture.consumer, &receive, &got), 0);
	assert_true(got.failed);
}

static void test_sleeping_consumer_is_woken(void **state)
{
	char byte;

	post(0, 4);
	post(1, 4);
	sim_recvq_arm(&fixture.consumer.recvq);
	assert_int_equal(send_text("a"), 0);
	assert_int_equal(send_text("b"), 0);
	assert_int_equal(read(fixture.wake.recv_fd, &byte, 1), 1);
	assert_int_equal(read(fixture.wake.recv_fd, &byte, 1), -1);
}

/* ---- time and faults ---- */

/* In virtual time a message stays in its slot until it is due. */
static void test_message_is_taken_when_it_is_due(void **state)
{
	post(0, 4);
	assert_int_equal(send_as("a", "", 3000, NULL), 0);
	assert_false(sim_consumer_has_message(&fixture.consumer, true));
	assert_int_equal(fixture.alarm_ns, 3000);
	rig_pass_time(&fixture.rig, 3000);
	assert_true(sim_consumer_has_message(&fixture.consumer, true));
}

/* In the other modes it is taken at once, and its receive ends when it is due; those behind it wait. */
static void test_receive_is_held_until_it_is_due(void **state)
{
	post(0, 4);
	post(1, 4);
	assert_int_equal(send_as("a", "", 3000, NULL), 0);
	assert_int_equal(send_text("b"), 0);
	assert_int_equal(take("a", ""), 0);
	assert_int_equal(take("b", ""), -1);
	assert_null(sim_consumer_pop_due(&fixture.consumer));
	assert_int_equal(fixture.alarm_ns, 3000);
	rig_pass_time(&fixture.rig, 3000);
	assert_ptr_equal(sim_consumer_pop_due(&fixture.consumer), &fixture.receives[0]);
	assert_int_equal(take("b", ""), 1);
}

static void test_hung_receive_ends_with_a_stop_alone(void **state)
{
	const struct sim_fault_hit hang = { .actions = SIM_ACT_BIT(SIM_ACT_HANG) };

	fixture.receives[0].hit = &hang;
	post(0, 4);
	post(1, 4);
	post(2, 4);
	assert_int_equal(send_text("a"), 0);
	assert_int_equal(send_text("b"), 0);
	assert_int_equal(take("a", ""), 0);
	assert_int_equal(take("b", ""), 1);
	assert_null(sim_consumer_pop_held(&fixture.consumer));
	assert_ptr_equal(sim_consumer_pop_any(&fixture.consumer), &fixture.receives[0]);
	assert_ptr_equal(sim_consumer_pop_any(&fixture.consumer), &fixture.receives[2]); /* was not filled */
	assert_null(sim_consumer_pop_any(&fixture.consumer));
}

/* The producer has not learned of the stop: its message "a" finds a receive that the stop has returned, so "b" is not delivered. */
static void test_stop_delivers_no_message_behind_one_that_is_lost(void **state)
{
	post(0, 4);
	post(1, 4);
	post(2, 4);
	assert_ptr_equal(sim_consumer_pop_any(&fixture.consumer), &fixture.receives[0]);
	assert_int_equal(send_text("a"), 0);
	assert_int_equal(send_text("b"), 0);
	assert_int_equal(take("b", ""), -1);
	assert_ptr_equal(sim_consumer_pop_any(&fixture.consumer), &fixture.receives[1]);
	assert_ptr_equal(sim_consumer_pop_any(&fixture.consumer), &fixture.receives[2]);
	assert_null(sim_consumer_pop_any(&fixture.consumer));
}

static void test_fault_of_a_receive_delays_it_and_flips_bits(void **state)
{
	const struct sim_fault_hit hit = { .actions = SIM_ACT_BIT(SIM_ACT_DELAY) | SIM_ACT_BIT(SIM_ACT_FLIP),
					   .delay_ns = 2000,
					   .flip_bits = 1 };
	struct sim_recvq_message message;
	struct sim_receive *receive;
	uint8_t byte = 0;

	fixture.receives[0].hit = &hit;
	post(0, 4);
	assert_int_equal(send_text("a"), 0);
	assert_int_equal(sim_consumer_take(&fixture.consumer, &receive, &message), 0);
	assert_true(sim_consumer_must_hold(&fixture.consumer, receive, &message));
	sim_consumer_hold(&fixture.consumer, receive, &message, &byte, 1);
	assert_int_equal(__builtin_popcount(byte), 1);
	assert_null(sim_consumer_pop_due(&fixture.consumer));
	rig_pass_time(&fixture.rig, 2000);
	assert_ptr_equal(sim_consumer_pop_due(&fixture.consumer), receive);
}

static void test_faults_of_a_message_cut_it_and_send_it_twice(void **state)
{
	const struct sim_fault_hit hit = { .actions = SIM_ACT_BIT(SIM_ACT_TRUNCATE) | SIM_ACT_BIT(SIM_ACT_DUPLICATE),
					   .truncate_bytes = 2 };

	post(0, 8);
	post(1, 8);
	assert_int_equal(send_as("abcd", "", 0, &hit), 0);
	assert_int_equal(take("ab", ""), 0);
	assert_int_equal(take("ab", ""), 1);
	post(2, 8);
	assert_int_equal(send_as("abcd", "", 0, &hit), 0); /* no receive for the second */
	assert_int_equal(take("ab", ""), 2);
	assert_int_equal(take("", ""), -1);
}

static void test_message_is_overtaken(void **state)
{
	const struct sim_fault_hit hit = { .actions = SIM_ACT_BIT(SIM_ACT_REORDER), .reorder_by = 1 };

	post(0, 8);
	post(1, 8);
	assert_int_equal(send_as("a", "", 0, &hit), 0);
	assert_int_equal(send_text("b"), 0);
	assert_int_equal(take("a", ""), 0);
	assert_int_equal(take("b", ""), 1);
	assert_ptr_equal(sim_consumer_pop_due(&fixture.consumer), &fixture.receives[1]);
	assert_ptr_equal(sim_consumer_pop_due(&fixture.consumer), &fixture.receives[0]);
}

/* ---- hostile ends ---- */

static int add_with(void change(struct sim_consumer_info *info, struct sim_handshake_msg *msg))
{
	struct sim_handshake_msg announcement;
	struct sim_consumer_info info;
	int rc;

	sim_consumer_close(&fixture.consumer);
	open_consumer(&announcement);
	memcpy(&info, announcement.body, sizeof(info));
	info.id = ID + 1;
	change(&info, &announcement);
	memcpy(announcement.body, &info, sizeof(info));
	rc = sim_remote_consumer_add(&fixture.rig.a.pipe, &limits, release, &announcement);
	sim_handshake_msg_close(&announcement);
	return rc;
}

static void change_nothing(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
}

static void have_no_slots(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
	info->num_slots = 0;
}

static void have_too_many_slots(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
	info->num_slots = NUM_SLOTS + 1;
}

static void have_too_much_imm(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
	info->max_imm_bytes = IMM_BYTES + 1;
}

static void have_no_socket(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
	dup2(msg->fds[0], msg->fds[1]);
}

static void have_one_descriptor(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
	close(msg->fds[--msg->num_fds]);
}

static void have_no_memory(struct sim_consumer_info *info, struct sim_handshake_msg *msg)
{
	dup2(msg->fds[1], msg->fds[0]);
}

static void test_malformed_announcements_are_refused(void **state)
{
	uint32_t id = ID + 1;

	assert_int_equal(add_with(have_no_slots), -EPROTO);
	assert_int_equal(add_with(have_too_many_slots), -EPROTO);
	assert_int_equal(add_with(have_too_much_imm), -EPROTO);
	assert_int_equal(add_with(have_no_socket), -EPROTO);
	assert_int_equal(add_with(have_one_descriptor), -EPROTO);
	assert_int_equal(add_with(have_no_memory), -EPROTO);
	assert_int_equal(add_with(change_nothing), 0);
	assert_int_equal(add_with(change_nothing), -ENOSPC);
	assert_true(sim_remote_consumer_remove(&fixture.rig.a.pipe, &id, &id));
	num_releases = 0;
}

static void test_invalid_slot_reads_as_a_failed_message(void **state)
{
	struct sim_recvq_message message;
	struct sim_receive *receive;

	post(0, 4);
	assert_int_equal(send_text("abcd"), 0);
	fixture.receives[0].desc.len_bytes = 2; /* as if the other end had written more than the buffer has */
	assert_int_equal(sim_consumer_take(&fixture.consumer, &receive, &message), -EPROTO);
	assert_true(message.failed);
	assert_int_equal(message.len_bytes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_message_takes_the_oldest_receive),
		TEST(test_messages_that_do_not_fit_are_refused),
		TEST(test_reserved_receive_is_free_again),
		TEST(test_removed_consumer_takes_no_messages),
		TEST(test_message_that_its_producer_could_not_make_fails_the_receive),
		TEST(test_sleeping_consumer_is_woken),
		TEST(test_message_is_taken_when_it_is_due),
		TEST(test_receive_is_held_until_it_is_due),
		TEST(test_hung_receive_ends_with_a_stop_alone),
		TEST(test_stop_delivers_no_message_behind_one_that_is_lost),
		TEST(test_fault_of_a_receive_delays_it_and_flips_bits),
		TEST(test_faults_of_a_message_cut_it_and_send_it_twice),
		TEST(test_message_is_overtaken),
		TEST(test_malformed_announcements_are_refused),
		TEST(test_invalid_slot_reads_as_a_failed_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
