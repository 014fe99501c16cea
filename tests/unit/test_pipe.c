/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/pipe.h: two ends in one process, without an API. Time and faults: test_pipe_fault.c, test_pipe_time.c. */
#include <errno.h>

#include "cmocka_test.h"
#include "pipe_rig.h"

static struct rig rig;

static int set_up(void **state)
{
	rig_open(&rig, SIM_CLOCK_FUNCTIONAL, NULL);
	return 0;
}

static int tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

static void expect_message(struct rig_end *end, const char *text)
{
	struct sim_pipe_event event;

	assert_int_equal(rig_poll(end, &event), 1);
	assert_int_equal(event.kind, SIM_PIPE_RECEIVED);
	assert_int_equal(event.len, strlen(text));
	assert_memory_equal(event.bytes, text, event.len);
	rig_release(end, &event);
}

static void expect_poll(struct rig_end *end, int rc)
{
	struct sim_pipe_event event;

	assert_int_equal(rig_poll(end, &event), rc);
}

static void expect_completed(struct rig_end *end, const struct sim_pipe_send *send, int result)
{
	assert_ptr_equal(sim_poll_group_pop_completed(&end->group), send);
	assert_int_equal(send->result, result);
}

/* ---- messages ---- */

static void test_messages_arrive_in_order_and_are_counted(void **state)
{
	struct sim_pipe_send sends[3] = { 0 };

	assert_int_equal(rig_send(&rig.a, &sends[0], "one"), 0);
	assert_int_equal(rig_send(&rig.a, &sends[1], "two"), 0);
	assert_int_equal(rig_send(&rig.b, &sends[2], "back"), 0);
	expect_completed(&rig.a, &sends[0], 0);
	expect_completed(&rig.a, &sends[1], 0);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	expect_message(&rig.b, "one");
	expect_message(&rig.b, "two");
	expect_poll(&rig.b, 0);
	expect_message(&rig.a, "back");
	assert_int_equal(rig.a.pipe.counters.sent, 2);
	assert_int_equal(rig.a.pipe.counters.sent_bytes, 6);
	assert_int_equal(rig.b.pipe.counters.received, 2);
	assert_int_equal(rig.b.pipe.counters.received_bytes, 6);
	assert_int_equal(rig.b.pipe.counters.sent, 1);
}

/* The ring has room for four. The reader says that there is room when half of it is free. */
static void test_sends_wait_for_room_with_a_copy_of_their_message(void **state)
{
	static const char *const texts[] = { "m0", "m1", "m2", "m3", "m4", "m5" };
	struct sim_pipe_send sends[6] = { 0 };
	char text[3];

	for (int i = 0; i < 6; i++) {
		strcpy(text, texts[i]);
		assert_int_equal(rig_send(&rig.a, &sends[i], text), 0);
		memset(text, '-', 2);
	}
	for (int i = 0; i < 4; i++)
		expect_completed(&rig.a, &sends[i], 0);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	expect_message(&rig.b, "m0");
	expect_poll(&rig.a, 0);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	expect_message(&rig.b, "m1");
	expect_poll(&rig.a, 0);
	expect_completed(&rig.a, &sends[4], 0);
	expect_completed(&rig.a, &sends[5], 0);
	for (int i = 2; i < 6; i++)
		expect_message(&rig.b, texts[i]);
}

static void test_message_without_a_send_is_refused_without_room(void **state)
{
	uint32_t status;

	for (int i = 0; i < RIG_RECORDS; i++)
		assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "x", 1, &status), 0);
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "y", 1, &status), -EAGAIN);
	assert_false(sim_pipe_has_room(&rig.a.pipe, 1));
	expect_message(&rig.b, "x");
	assert_true(sim_pipe_has_room(&rig.a.pipe, 1));
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "y", 1, &status), 0);
}

/* In a receiver's callback its thread may receive again: the first message's memory stays. */
static void test_event_keeps_its_memory_while_another_is_received(void **state)
{
	struct sim_pipe_event first, second;
	uint32_t status;

	sim_pipe_send_now(&rig.a.pipe, "one", 3, &status);
	sim_pipe_send_now(&rig.a.pipe, "two", 3, &status);
	assert_int_equal(rig_poll(&rig.b, &first), 1);
	assert_int_equal(rig_poll(&rig.b, &second), 1);
	assert_memory_equal(first.bytes, "one", 3);
	assert_memory_equal(second.bytes, "two", 3);
	rig_release(&rig.b, &first);
	rig_release(&rig.b, &second);
}

/* ---- announcements ---- */

static void announce(struct rig_end *end, uint32_t id, int fd)
{
	struct sim_handshake_msg msg = { .len_bytes = sizeof(id), .num_fds = 1, .fds = { fd } };

	memcpy(msg.body, &id, sizeof(id));
	assert_int_equal(sim_pipe_announce(&end->pipe, id, end, &msg), 0);
}

static void expect_object(struct rig_end *end, enum sim_pipe_event_kind kind, uint32_t id)
{
	struct sim_pipe_event event;

	assert_int_equal(rig_poll(end, &event), 1);
	assert_int_equal(event.kind, kind);
	assert_int_equal(event.id, id);
	if (kind == SIM_PIPE_OBJECT_NEW) {
		assert_int_equal(event.announcement.num_fds, 1);
		assert_true(fcntl(event.announcement.fds[0], F_GETFD) >= 0);
		sim_handshake_msg_close(&event.announcement);
	}
	rig_release(end, &event);
}

static void test_object_is_known_before_later_messages(void **state)
{
	uint32_t status;

	announce(&rig.a, 7, memfd_create("object", MFD_CLOEXEC));
	expect_poll(&rig.a, 0);
	assert_int_equal(rig.a.num_announced, 1);
	sim_pipe_send_now(&rig.a.pipe, "later", 5, &status);
	expect_poll(&rig.b, 0); /* the carrier is slow: the message waits behind the record */
	assert_int_equal(rig.b.group.num_awaiting, 1);
	assert_int_equal(rig_arrive(&rig.b), 0);
	expect_object(&rig.b, SIM_PIPE_OBJECT_NEW, 7);
	assert_int_equal(rig.b.group.num_awaiting, 0);
	expect_message(&rig.b, "later");
}

static void test_announcement_that_comes_first_waits_for_its_record(void **state)
{
	uint32_t status;

	sim_pipe_send_now(&rig.a.pipe, "before", 6, &status);
	announce(&rig.a, 9, memfd_create("object", MFD_CLOEXEC));
	expect_poll(&rig.a, 0);
	rig_arrive(&rig.b);
	expect_message(&rig.b, "before");
	expect_object(&rig.b, SIM_PIPE_OBJECT_NEW, 9);
	sim_pipe_withdraw(&rig.a.pipe, 9, &rig.a);
	expect_poll(&rig.a, 0);
	expect_object(&rig.b, SIM_PIPE_OBJECT_GONE, 9);
}

/* The group's thread sends a message after another thread has announced an object, or withdrawn it; it does not poll between. */
static void test_object_is_announced_and_withdrawn_before_a_later_send(void **state)
{
	struct sim_pipe_send sends[2] = { 0 };

	announce(&rig.a, 7, memfd_create("object", MFD_CLOEXEC));
	assert_int_equal(rig_send(&rig.a, &sends[0], "use it"), 0);
	assert_int_equal(rig_arrive(&rig.b), 0);
	expect_object(&rig.b, SIM_PIPE_OBJECT_NEW, 7);
	expect_message(&rig.b, "use it");
	sim_pipe_withdraw(&rig.a.pipe, 7, &rig.a);
	assert_int_equal(rig_send(&rig.a, &sends[1], "done"), 0);
	expect_object(&rig.b, SIM_PIPE_OBJECT_GONE, 7);
	expect_message(&rig.b, "done");
}

/* The withdrawal waits for room; the send, which comes later, waits behind it, also when there is some. */
static void test_send_waits_behind_a_withdrawal_that_waits_for_room(void **state)
{
	struct sim_pipe_send sends[RIG_RECORDS] = { 0 };

	announce(&rig.a, 7, memfd_create("object", MFD_CLOEXEC));
	for (int i = 0; i < RIG_RECORDS - 1; i++)
		assert_int_equal(rig_send(&rig.a, &sends[i], "full"), 0);
	sim_pipe_withdraw(&rig.a.pipe, 7, &rig.a);
	assert_int_equal(rig_send(&rig.a, &sends[RIG_RECORDS - 1], "done"), 0);
	assert_int_equal(rig_arrive(&rig.b), 0);
	expect_object(&rig.b, SIM_PIPE_OBJECT_NEW, 7);
	for (int i = 0; i < RIG_RECORDS - 1; i++)
		expect_message(&rig.b, "full");
	expect_poll(&rig.a, 0);
	expect_object(&rig.b, SIM_PIPE_OBJECT_GONE, 7);
	expect_message(&rig.b, "done");
}

/* The carrier has failed, and its owner ends the pipe; a send does not overtake the announcement. */
static void test_send_waits_behind_an_announcement_without_carrier(void **state)
{
	static struct sim_pipe_send send; /* it is in the queue until the pipe's end */

	rig.a.carry_error = -ESHUTDOWN;
	announce(&rig.a, 7, memfd_create("object", MFD_CLOEXEC));
	assert_int_equal(rig_send(&rig.a, &send, "use it"), 0);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	expect_poll(&rig.b, 0);
}

static void test_object_that_is_withdrawn_at_once_is_never_announced(void **state)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	announce(&rig.a, 7, fd);
	sim_pipe_withdraw(&rig.a.pipe, 7, &rig.a);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	expect_poll(&rig.a, 0);
	assert_int_equal(rig.b.num_carried, 0);
	expect_poll(&rig.b, 0);
	assert_int_equal(rig.a.num_announced, 0);
}

static void test_announcement_without_carrier_is_given_up_with_the_pipe(void **state)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	rig.a.carry_error = -ESHUTDOWN;
	announce(&rig.a, 7, fd);
	expect_poll(&rig.a, 0);
	assert_int_equal(rig.a.num_announced, 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void test_record_whose_announcement_never_comes_is_passed_over(void **state)
{
	uint32_t status;

	announce(&rig.a, 7, memfd_create("object", MFD_CLOEXEC));
	expect_poll(&rig.a, 0);
	sim_pipe_send_now(&rig.a.pipe, "later", 5, &status);
	expect_poll(&rig.b, 0);
	sim_pipe_set_peer_status(&rig.b.pipe, -ESHUTDOWN); /* the carrier is gone */
	sim_doorbell_requeue(&rig.b.group.doorbells, rig.b.pipe.slot);
	expect_message(&rig.b, "later");
	assert_int_equal(rig.b.group.num_awaiting, 0);
	expect_poll(&rig.b, -ESHUTDOWN);
}

static void test_arrivals_of_wrong_length_are_refused_and_closed(void **state)
{
	struct sim_handshake_msg msg = { .len_bytes = 3, .num_fds = 1, .fds = { memfd_create("x", MFD_CLOEXEC) } };
	int fd = msg.fds[0];

	assert_int_equal(sim_pipe_add_arrival(&rig.b.pipe, &msg, 4), -EPROTO);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* ---- ends ---- */

static void test_end_comes_behind_the_last_message(void **state)
{
	uint32_t status;

	sim_pipe_send_now(&rig.a.pipe, "last", 4, &status);
	rig_close_pipe(&rig.a);
	expect_message(&rig.b, "last");
	expect_poll(&rig.b, -ECONNRESET);
}

static void test_dead_peer_s_messages_are_delivered(void **state)
{
	uint32_t status;

	sim_pipe_send_now(&rig.a.pipe, "last", 4, &status);
	sim_pipe_set_peer_status(&rig.b.pipe, -EPIPE);
	expect_message(&rig.b, "last");
	expect_poll(&rig.b, -EPIPE);
}

static void test_sends_that_wait_end_with_the_pipe(void **state)
{
	struct sim_pipe_send sends[6] = { 0 };

	for (int i = 0; i < 6; i++)
		assert_int_equal(rig_send(&rig.a, &sends[i], "x"), 0);
	sim_pipe_set_state(&rig.a.pipe, SIM_PIPE_LOST, -EPIPE);
	sim_pipe_end_sends(&rig.a.pipe, -ECONNABORTED);
	for (int i = 0; i < 6; i++)
		expect_completed(&rig.a, &sends[i], i < 4 ? 0 : -ECONNABORTED);
	assert_int_equal(rig.a.pipe.lost_error, -EPIPE);
	rig_close_pipe(&rig.a);
	assert_int_equal(rig.a.pipe.lost_error, -EPIPE); /* the first reason stays */
}

static void test_abort_ends_the_pipe_in_its_own_thread(void **state)
{
	sim_poll_group_arm(&rig.a.group);
	sim_pipe_abort(&rig.a.pipe);
	assert_int_equal(rig.a.num_wakes, 1);
	expect_poll(&rig.a, -ECONNABORTED);
}

static void test_nothing_is_announced_on_a_pipe_that_ended(void **state)
{
	struct sim_handshake_msg msg = { .len_bytes = 4, .num_fds = 1, .fds = { memfd_create("x", MFD_CLOEXEC) } };
	int fd = msg.fds[0];

	rig_close_pipe(&rig.a);
	assert_int_equal(sim_pipe_announce(&rig.a.pipe, 7, &rig.a, &msg), -ENOTCONN);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

/* ---- invalid records ---- */

static void expect_refused(uint32_t kind, size_t len)
{
	static const uint8_t zeros[RIG_MSG_BYTES + sizeof(struct sim_pipe_hdr)];

	rig_close(&rig);
	rig_open(&rig, SIM_CLOCK_FUNCTIONAL, NULL);
	assert_int_equal(sim_ring_write(&rig.a.pipe.out, kind, zeros, len), 0);
	sim_doorbell_ring(rig.a.pipe.peer_doorbells, rig.a.pipe.peer_slot);
	expect_poll(&rig.b, -EPROTO);
}

static void test_invalid_records_lose_the_pipe(void **state)
{
	expect_refused(99, 4);
	expect_refused(SIM_PIPE_MESSAGE, 0);
	expect_refused(SIM_PIPE_MESSAGE, RIG_MSG_BYTES + 1);
	expect_refused(SIM_PIPE_MESSAGE_WITH_HDR, sizeof(struct sim_pipe_hdr) - 1);
	expect_refused(SIM_PIPE_ANNOUNCED, 3);
	expect_refused(SIM_PIPE_WITHDRAWN, 5);
}

/* ---- wake-ups ---- */

static bool is_woken(const struct rig_end *end)
{
	char byte;

	return read(end->wake.recv_fd, &byte, 1) == 1;
}

static void test_sleeping_end_is_woken_once(void **state)
{
	uint32_t status;

	sim_pipe_send_now(&rig.a.pipe, "x", 1, &status);
	assert_false(is_woken(&rig.b));
	expect_message(&rig.b, "x");
	assert_false(sim_poll_group_arm(&rig.b.group));
	sim_pipe_send_now(&rig.a.pipe, "y", 1, &status);
	sim_pipe_send_now(&rig.a.pipe, "z", 1, &status);
	assert_true(is_woken(&rig.b));
	assert_false(is_woken(&rig.b));
	assert_true(sim_poll_group_arm(&rig.b.group)); /* there is work */
}

static void test_carrier_wakes_an_end_whose_socket_is_gone(void **state)
{
	uint32_t status;

	sim_poll_group_arm(&rig.b.group);
	sim_wake_close(&rig.b.wake);
	sim_pipe_send_now(&rig.a.pipe, "x", 1, &status);
	assert_int_equal(rig.a.num_peer_wakes, 1);
	sim_pipe_request_wake_peer(&rig.a.pipe);
	expect_poll(&rig.a, 0);
	assert_int_equal(rig.a.num_peer_wakes, 2);
}

static void test_erased_rings_are_found(void **state)
{
	uint32_t status, slot;

	expect_poll(&rig.b, 0);
	assert_false(sim_pipe_has_missed_ring(&rig.b.pipe));
	sim_pipe_send_now(&rig.a.pipe, "x", 1, &status);
	memset(rig.b.group.memory.base, 0, sizeof(struct sim_doorbell_shared));
	assert_false(sim_doorbell_next(&rig.b.group.doorbells, &slot));
	sim_poll_group_find_missed_rings(&rig.b.group);
	expect_message(&rig.b, "x");
}

/* ---- addresses ---- */

static void expect_bad_address(void change(struct sim_pipe_address *address, struct sim_handshake_msg *msg))
{
	struct sim_pipe_address address;
	struct sim_handshake_msg msg;

	rig_close(&rig);
	rig_open_unconnected(&rig, SIM_CLOCK_FUNCTIONAL, NULL);
	rig_carry_address(&rig.a, &msg);
	memcpy(&address, msg.body, sizeof(address));
	change(&address, &msg);
	memcpy(msg.body, &address, sizeof(address));
	assert_int_equal(rig_connect(&rig.b, &msg), -EPROTO);
}

static void change_version(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	address->version++;
}

static void change_length(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	msg->len_bytes--;
}

static void take_descriptor(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	close(msg->fds[--msg->num_fds]);
}

static void change_slot(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	address->slot = SIM_DOORBELL_SLOTS;
}

static void change_records(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	address->recv_queue_size = RIG_RECORDS + 1;
}

static void empty_ring(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	address->recv_queue_size = 0;
}

static void change_socket(struct sim_pipe_address *address, struct sim_handshake_msg *msg)
{
	dup2(msg->fds[SIM_PIPE_FD_DOORBELL], msg->fds[SIM_PIPE_FD_WAKE]);
}

static void test_wrong_addresses_are_refused(void **state)
{
	expect_bad_address(change_version);
	expect_bad_address(change_length);
	expect_bad_address(take_descriptor);
	expect_bad_address(change_slot);
	expect_bad_address(change_records);
	expect_bad_address(empty_ring);
	expect_bad_address(change_socket);
}

static void test_short_ring_is_refused(void **state)
{
	struct sim_segment small;
	struct sim_handshake_msg msg;
	int fd;

	rig_close(&rig);
	rig_open_unconnected(&rig, SIM_CLOCK_FUNCTIONAL, NULL);
	rig_carry_address(&rig.a, &msg);
	assert_int_equal(sim_segment_create(8, &small, &fd), 0);
	dup2(fd, msg.fds[SIM_PIPE_FD_RING]);
	assert_int_equal(rig_connect(&rig.b, &msg), -EPROTO);
	sim_segment_unmap(&small);
	close(fd);
}

/* A group has one slot for each pipe, and uses it again. */
static void test_slots_are_used_again(void **state)
{
	static struct sim_pipe pipes[5];

	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(sim_pipe_open(&pipes[i], &rig.a.group), 0);
		assert_int_equal(pipes[i].slot, i + 1);
	}
	sim_pipe_close(&pipes[2]);
	sim_pipe_leave(&pipes[2]);
	sim_pipe_fini(&pipes[2]);
	assert_int_equal(sim_pipe_open(&pipes[2], &rig.a.group), 0);
	assert_int_equal(pipes[2].slot, 3);
	for (uint32_t i = 0; i < 5; i++) {
		sim_pipe_close(&pipes[i]);
		sim_pipe_leave(&pipes[i]);
		sim_pipe_fini(&pipes[i]);
	}
	assert_int_equal(rig.a.group.num_pipes, 1);
}

/* The ring in the group's memory is that of the first pipe, which may have written to it. */
static void test_second_pipe_has_a_ring_of_its_own(void **state)
{
	static struct sim_pipe pipe;

	assert_null(rig.b.pipe.in_memory.base);
	assert_int_equal(sim_pipe_open(&pipe, &rig.b.group), 0);
	assert_non_null(pipe.in_memory.base);
	sim_pipe_close(&pipe);
	sim_pipe_leave(&pipe);
	sim_pipe_fini(&pipe);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_messages_arrive_in_order_and_are_counted),
		TEST(test_sends_wait_for_room_with_a_copy_of_their_message),
		TEST(test_message_without_a_send_is_refused_without_room),
		TEST(test_event_keeps_its_memory_while_another_is_received),
		TEST(test_object_is_known_before_later_messages),
		TEST(test_announcement_that_comes_first_waits_for_its_record),
		TEST(test_object_is_announced_and_withdrawn_before_a_later_send),
		TEST(test_send_waits_behind_a_withdrawal_that_waits_for_room),
		TEST(test_send_waits_behind_an_announcement_without_carrier),
		TEST(test_object_that_is_withdrawn_at_once_is_never_announced),
		TEST(test_announcement_without_carrier_is_given_up_with_the_pipe),
		TEST(test_record_whose_announcement_never_comes_is_passed_over),
		TEST(test_arrivals_of_wrong_length_are_refused_and_closed),
		TEST(test_end_comes_behind_the_last_message),
		TEST(test_dead_peer_s_messages_are_delivered),
		TEST(test_sends_that_wait_end_with_the_pipe),
		TEST(test_abort_ends_the_pipe_in_its_own_thread),
		TEST(test_nothing_is_announced_on_a_pipe_that_ended),
		TEST(test_invalid_records_lose_the_pipe),
		TEST(test_sleeping_end_is_woken_once),
		TEST(test_carrier_wakes_an_end_whose_socket_is_gone),
		TEST(test_erased_rings_are_found),
		TEST(test_wrong_addresses_are_refused),
		TEST(test_short_ring_is_refused),
		TEST(test_slots_are_used_again),
		TEST(test_second_pipe_has_a_ring_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
