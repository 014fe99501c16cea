/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/msg/fault.h: each fault of a message that is sent, or received, in virtual time: drop, duplicate, reorder, truncate,
 * flip, delay, fail, hang, break; a death that is noticed late; and what a recording has of a late message. */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include "pipe_rig.h"
#include "sim/faults/inject/inject.h"
#include "trace_rig.h"

static struct rig rig;
static char seen[200]; /* what the receiver saw: "text@ns " of each message */

static int set_up(void **state)
{
	rig_open(&rig, SIM_CLOCK_VIRTUAL, NULL);
	seen[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

static void add_rule(const char *text)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;

	assert_int_equal(sim_rule_parse(text, &rule, file, &error), 0);
	assert_int_equal(sim_plan_add(rig.plan, &rule, NULL, 0, &id), 0);
}

/* Receive all that is there now. Returns 0 or the pipe's end. */
static int receive_all(void)
{
	struct sim_pipe_event event;
	int rc;

	while ((rc = rig_poll(&rig.b, &event)) == 1) {
		size_t len = strlen(seen);

		if (event.kind == SIM_PIPE_RECEIVE_FAILED)
			snprintf(seen + len, sizeof(seen) - len, "status %u ", event.status);
		else
			snprintf(seen + len, sizeof(seen) - len, "%.*s@%llu ", (int)event.len,
				 (const char *)event.bytes, (unsigned long long)sim_clock_now_ns(rig.clock));
		rig_release(&rig.b, &event);
	}
	return rc;
}

/* Receive over @us microseconds, at each. */
static void receive_for_us(unsigned int us)
{
	for (unsigned int i = 0; i < us; i++) {
		assert_int_equal(receive_all(), 0);
		rig_pass_time(&rig, 1000);
	}
	assert_int_equal(receive_all(), 0);
}

/* A send whose task a rule may hit: its owner has asked. */
static int send_text(struct sim_pipe_send *send, const char *text)
{
	static struct sim_fault_hit hits[8];
	static unsigned int next;
	struct sim_fault_hit *hit = &hits[next++ % 8];
	struct sim_fault_site site = { .op = SIM_OP_COMCH_SEND, .function = SIM_NO_FUNCTION, .size = strlen(text) };

	send->hit = sim_injector_may_hit(rig.injector, site.op) && sim_inject(rig.injector, rig.clock, &site, 0, hit) ?
			    hit :
			    NULL;
	return rig_send(&rig.a, send, text);
}

static struct sim_pipe_send sends[4];

static void send_abc(void)
{
	static const char *const texts[] = { "a", "b", "c" };

	for (int i = 0; i < 3; i++)
		assert_int_equal(send_text(&sends[i], texts[i]), 0);
}

/* ---- sent ---- */

static void test_dropped_message_counts_as_sent(void **state)
{
	add_rule("comch.send nth=2 drop");
	send_abc();
	receive_for_us(1);
	assert_string_equal(seen, "a@0 c@0 ");
	assert_int_equal(rig.a.pipe.counters.sent, 3);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[i]);
}

static void test_message_is_sent_twice(void **state)
{
	add_rule("comch.send nth=2 duplicate");
	send_abc();
	receive_for_us(1);
	assert_string_equal(seen, "a@0 b@0 b@0 c@0 ");
}

static void test_sent_message_is_overtaken(void **state)
{
	add_rule("comch.send nth=1 reorder=1");
	send_abc();
	receive_for_us(1);
	assert_string_equal(seen, "b@0 a@0 c@0 ");
}

/* The end of the pipe is behind the reordered message, which nothing overtakes any more. */
static void test_reordered_message_is_delivered_before_the_end(void **state)
{
	add_rule("comch.send nth=3 reorder=2");
	send_abc();
	rig_close_pipe(&rig.a);
	assert_int_equal(receive_all(), -ECONNRESET);
	assert_string_equal(seen, "a@0 b@0 c@0 ");
}

static void test_sent_message_is_cut_and_changed(void **state)
{
	struct sim_pipe_event event;

	add_rule("comch.send nth=1 truncate=2");
	add_rule("comch.send nth=2 flip=1");
	assert_int_equal(send_text(&sends[0], "abcd"), 0);
	assert_int_equal(send_text(&sends[1], "abcd"), 0);
	assert_int_equal(rig_poll(&rig.b, &event), 1);
	assert_int_equal(event.len, 2);
	rig_release(&rig.b, &event);
	assert_int_equal(rig_poll(&rig.b, &event), 1);
	assert_int_equal(event.len, 4);
	assert_memory_not_equal(event.bytes, "abcd", 4);
	rig_release(&rig.b, &event);
}

/* Messages behind a late one keep their order. The send ends late, too. */
static void test_late_message_holds_up_those_behind_it(void **state)
{
	add_rule("comch.send nth=2 delay=3us");
	send_abc();
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[0]);
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[2]);
	assert_false(sim_poll_group_has_completed(&rig.a.group));
	receive_for_us(4);
	assert_string_equal(seen, "a@0 b@3000 c@3000 ");
	rig_hear_alarm(&rig.a);
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[1]);
}

static void test_failed_send_says_so_and_sends_nothing(void **state)
{
	add_rule("comch.send nth=1 fail=IO_FAILED");
	send_abc();
	receive_for_us(1);
	assert_string_equal(seen, "b@0 c@0 ");
	assert_int_equal(sends[0].result, -ECANCELED);
	assert_false(sends[0].is_sent);
}

static void test_hung_send_ends_with_the_pipe(void **state)
{
	add_rule("comch.send nth=1 hang");
	send_abc();
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[1]);
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[2]);
	sim_pipe_end_sends(&rig.a.pipe, -ECONNABORTED);
	assert_ptr_equal(sim_poll_group_pop_completed(&rig.a.group), &sends[0]);
	assert_int_equal(sends[0].result, -ECONNABORTED);
}

static void test_break_loses_the_sender_s_pipe(void **state)
{
	add_rule("comch.send nth=1 break");
	assert_int_equal(send_text(&sends[0], "a"), -ECONNABORTED);
}

static void test_message_without_a_send_is_refused_failed_or_changed(void **state)
{
	uint32_t status = SIM_STATUS_SUCCESS;

	add_rule("comm_channel.send nth=1 refuse");
	add_rule("comm_channel.send nth=2 fail=DRIVER");
	add_rule("comm_channel.send nth=3 duplicate");
	add_rule("comm_channel.send nth=4 break");
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "a", 1, &status), -ECANCELED);
	assert_int_equal(status, SIM_STATUS_AGAIN);
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "b", 1, &status), -ECANCELED);
	assert_int_equal(status, SIM_STATUS_DRIVER);
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "c", 1, &status), 0);
	assert_int_equal(sim_pipe_send_now(&rig.a.pipe, "d", 1, &status), -ECONNABORTED);
	receive_for_us(1);
	assert_string_equal(seen, "c@0 c@0 ");
}

/* ---- received ---- */

static void test_received_messages_are_dropped_doubled_and_late(void **state)
{
	add_rule("comm_channel.recv nth=1 drop");
	add_rule("comm_channel.recv nth=2 duplicate");
	add_rule("comm_channel.recv nth=3 delay=2us");
	send_abc();
	receive_for_us(3);
	assert_string_equal(seen, "b@0 b@0 c@2000 ");
}

static void test_received_message_is_overtaken_or_comes_after_all(void **state)
{
	add_rule("comm_channel.recv nth=1 reorder=1");
	add_rule("comm_channel.recv nth=3 reorder=1");
	send_abc();
	receive_for_us(1);
	assert_string_equal(seen, "b@0 a@0 "); /* nothing overtakes c ... */
	rig_pass_time(&rig, SIM_REORDER_TIMEOUT_NS);
	assert_int_equal(receive_all(), 0);
	assert_string_equal(seen, "b@0 a@0 c@100001000 "); /* ... which comes when it has waited long enough */
}

static void test_receipt_fails_and_the_next_one_does_not(void **state)
{
	char expected[40];

	add_rule("comm_channel.recv nth=1 fail=IO_FAILED");
	send_abc();
	receive_for_us(1);
	snprintf(expected, sizeof(expected), "status %u b@0 c@0 ", SIM_STATUS_IO_FAILED);
	assert_string_equal(seen, expected);
}

static void test_receipt_breaks_the_receiver_s_pipe(void **state)
{
	add_rule("comm_channel.recv nth=2 break");
	send_abc();
	assert_int_equal(receive_all(), -ECONNABORTED);
	assert_string_equal(seen, "a@0 ");
}

static void test_received_message_is_cut_and_changed(void **state)
{
	struct sim_pipe_event event;

	add_rule("comm_channel.recv nth=1 truncate=1 flip=1");
	assert_int_equal(send_text(&sends[0], "abcd"), 0);
	assert_int_equal(rig_poll(&rig.b, &event), 1);
	assert_int_equal(event.len, 1);
	assert_int_not_equal(event.bytes[0], 'a');
	rig_release(&rig.b, &event);
}

/* ---- the peer's death ---- */

static void test_death_is_noticed_late(void **state)
{
	add_rule("comch.peer_death delay=5us");
	sim_pipe_set_peer_status(&rig.b.pipe, -EPIPE);
	assert_int_equal(rig.b.pipe.peer_status, 0);
	assert_int_equal(rig.b.alarm_ns, 5000);
	rig_pass_time(&rig, 5000);
	rig_hear_alarm(&rig.b); /* the pipe is to be polled, and its owner asks the carrier again */
	sim_pipe_set_peer_status(&rig.b.pipe, -EPIPE);
	assert_int_equal(receive_all(), -EPIPE);
}

/* ---- recordings ---- */

static _Atomic int64_t step_ns, stepped_ns; /* of each look at the clock, and so far */

int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int64_t later_ns = atomic_fetch_add(&stepped_ns, step_ns);
	int rc = __real_clock_gettime(clock, ret_time);

	later_ns += ret_time->tv_nsec;
	ret_time->tv_sec += later_ns / 1000000000;
	ret_time->tv_nsec = later_ns % 1000000000;
	return rc;
}

/* The sender may lose its CPU at each step: a second goes by. The delay counts from where the recording has the message sent. */
static void test_recorded_message_is_late_by_the_whole_delay(void **state)
{
	struct sim_trace_recording recording;
	struct sim_pipe_event event;
	uint64_t sent_ns = 0, received_ns = 0;

	rig_open(&rig, SIM_CLOCK_FUNCTIONAL, NULL);
	sim_trace_conn_stats_open(&rig.a.pipe.trace, 0, "sender", "", 2, 4);
	sim_trace_conn_stats_open(&rig.b.pipe.trace, 0, "receiver", "", 4, 2);
	add_rule("comch.send delay=10s");
	step_ns = 1000000000;
	assert_int_equal(send_text(&sends[0], "a"), 0);
	step_ns = 1000000; /* the receiver comes soon */
	while (rig_poll(&rig.b, &event) == 0)
		continue;
	step_ns = 0;
	rig_release(&rig.b, &event);
	recording = read_all();
	for (size_t i = 0; i < recording.num_events; i++) {
		const struct sim_trace_event *one = &recording.events[i];

		if (one->kind == SIM_TRACE_SENT)
			sent_ns = one->time_ns;
		else if (one->kind == SIM_TRACE_RECEIVED)
			received_ns = one->time_ns;
	}
	assert_int_not_equal(sent_ns, 0);
	assert_true(received_ns >= sent_ns + 10000000000);
	sim_trace_recording_free(&recording);
	rig_close(&rig);
}

#define VIRTUAL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VIRTUAL_TEST(test_dropped_message_counts_as_sent),
		VIRTUAL_TEST(test_message_is_sent_twice),
		VIRTUAL_TEST(test_sent_message_is_overtaken),
		VIRTUAL_TEST(test_reordered_message_is_delivered_before_the_end),
		VIRTUAL_TEST(test_sent_message_is_cut_and_changed),
		VIRTUAL_TEST(test_late_message_holds_up_those_behind_it),
		VIRTUAL_TEST(test_failed_send_says_so_and_sends_nothing),
		VIRTUAL_TEST(test_hung_send_ends_with_the_pipe),
		VIRTUAL_TEST(test_break_loses_the_sender_s_pipe),
		VIRTUAL_TEST(test_message_without_a_send_is_refused_failed_or_changed),
		VIRTUAL_TEST(test_received_messages_are_dropped_doubled_and_late),
		VIRTUAL_TEST(test_received_message_is_overtaken_or_comes_after_all),
		VIRTUAL_TEST(test_receipt_fails_and_the_next_one_does_not),
		VIRTUAL_TEST(test_receipt_breaks_the_receiver_s_pipe),
		VIRTUAL_TEST(test_received_message_is_cut_and_changed),
		VIRTUAL_TEST(test_death_is_noticed_late),
		TEST(test_recorded_message_is_late_by_the_whole_delay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
