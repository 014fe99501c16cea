/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets between a command and its helper on another machine: whatever comes is checked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/cli/fault/fault_change.h"
#include "sim/control/reach.h"

static struct sim_reach_packet packet;

static int check(const void *bytes, size_t len)
{
	return sim_reach_check(bytes, len, &packet);
}

static void test_a_packet_has_a_kind_and_a_bounded_length(void **state)
{
	static uint8_t bytes[SIM_REACH_MAX_BYTES + 2] = { SIM_REACH_INPUT };

	assert_int_equal(check(bytes, 0), -EPROTO);
	assert_int_equal(check(bytes, 1), 0);
	assert_int_equal(packet.len, 0);
	assert_int_equal(check(bytes, 1 + SIM_REACH_MAX_BYTES), 0);
	assert_int_equal(check(bytes, 2 + SIM_REACH_MAX_BYTES), -EPROTO);
	assert_int_equal(check("\0abc", 4), -EPROTO);
	bytes[0] = SIM_REACH_NUM_KINDS;
	assert_int_equal(check(bytes, 1), -EPROTO);
}

static void test_a_number_has_four_bytes(void **state)
{
	const uint8_t bytes[6] = { SIM_REACH_EXIT, 7 };

	assert_int_equal(check(bytes, 5), 0);
	assert_int_equal(packet.number, 7);
	assert_int_equal(check(bytes, 4), -EPROTO);
	assert_int_equal(check(bytes, 6), -EPROTO);
}

static void test_words_end_with_a_zero_byte(void **state)
{
	const char words[] = "\2trace\0counts";
	char **list;

	assert_int_equal(check(words, sizeof(words)), 0);
	assert_int_equal(sim_reach_words(&packet, &list), 2);
	assert_string_equal(list[0], "trace");
	assert_string_equal(list[1], "counts");
	assert_null(list[2]);
	free(list);
	assert_int_equal(check(words, sizeof(words) - 1), 0);
	assert_int_equal(sim_reach_words(&packet, &list), -EPROTO);
	assert_int_equal(check(words, 1), 0);
	assert_int_equal(sim_reach_words(&packet, &list), -EPROTO);
}

static void test_a_packet_arrives_as_it_was_sent(void **state)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(sim_reach_recv(pair[1], &packet, 0), -ETIMEDOUT);
	assert_int_equal(sim_reach_send(pair[0], SIM_REACH_OUTPUT, "bytes", 5), 0);
	assert_int_equal(sim_reach_send_number(pair[0], SIM_REACH_LOST, -EPERM), 0);
	assert_int_equal(sim_reach_recv(pair[1], &packet, -1), 0);
	assert_int_equal(packet.kind, SIM_REACH_OUTPUT);
	assert_int_equal(packet.len, 5);
	assert_string_equal((char *)packet.bytes, "bytes");
	assert_int_equal(sim_reach_recv(pair[1], &packet, -1), 0);
	assert_int_equal(packet.number, -EPERM);
	close(pair[0]);
	assert_int_equal(sim_reach_recv(pair[1], &packet, -1), -EPIPE);
	assert_int_equal(sim_reach_send(pair[1], SIM_REACH_OUTPUT, "", 1), -EPIPE);
	close(pair[1]);
}

/* The kernel reports such an end before what was sent. */
static void test_what_was_sent_before_the_end_arrives_though_input_is_left_unread(void **state)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(sim_reach_send(pair[1], SIM_REACH_INPUT, "unread", 6), 0);
	assert_int_equal(sim_reach_send_number(pair[0], SIM_REACH_LOST, -EHOSTUNREACH), 0);
	close(pair[0]);
	assert_int_equal(sim_reach_recv(pair[1], &packet, -1), 0);
	assert_int_equal(packet.number, -EHOSTUNREACH);
	assert_int_equal(sim_reach_recv(pair[1], &packet, -1), -EPIPE);
	close(pair[1]);
}

/* ---- changes of a fault plan ---- */

static struct cli_fault_change change_of(const char *rule)
{
	struct cli_fault_change change = { .change = SIM_FAULT_ADD };
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;

	assert_int_equal(sim_rule_parse(rule, &change.rule, file, &error), 0);
	return change;
}

static void test_a_change_is_checked(void **state)
{
	struct cli_fault_change change = change_of("rdma.write fail=IO_FAILED"), got;
	const struct sim_delays *delays;

	assert_int_equal(cli_fault_change_read(&change, sizeof(change), &got, &delays), 0);
	assert_memory_equal(&got, &change, sizeof(change));
	assert_null(delays);
	assert_int_equal(cli_fault_change_read(&change, sizeof(change) - 1, &got, &delays), -EPROTO);
	change.change = 0;
	assert_int_equal(cli_fault_change_read(&change, sizeof(change), &got, &delays), -EPROTO);
	change.change = SIM_FAULT_BEGIN; /* is the daemon's */
	assert_int_equal(cli_fault_change_read(&change, sizeof(change), &got, &delays), -EPROTO);
	change.change = SIM_FAULT_ADD;
	change.lasts_ns = SIM_RULE_MAX_NS + 1;
	assert_int_equal(cli_fault_change_read(&change, sizeof(change), &got, &delays), -EPROTO);
	change.lasts_ns = 0;
	change.rule.actions = 0;
	assert_int_equal(cli_fault_change_read(&change, sizeof(change), &got, &delays), -EPROTO);
}

static void test_delays_of_a_change_have_the_length_that_they_say(void **state)
{
	const size_t len = sizeof(struct cli_fault_change) + sim_delays_size(2);
	struct cli_fault_change *sent = calloc(1, len), got;
	struct sim_delays *own = (struct sim_delays *)(sent + 1);
	const struct sim_delays *delays;

	*sent = change_of("rdma.write delay=trace(f)");
	sent->has_delays = 1;
	strcpy(own->file, "f");
	own->count = 2;
	assert_int_equal(cli_fault_change_read(sent, len, &got, &delays), 0);
	assert_ptr_equal(delays, own);
	assert_int_equal(cli_fault_change_read(sent, len - 8, &got, &delays), -EPROTO);
	own->count = UINT32_MAX;
	assert_int_equal(cli_fault_change_read(sent, len, &got, &delays), -EPROTO);
	own->count = 2;
	sent->has_delays = 0;
	assert_int_equal(cli_fault_change_read(sent, len, &got, &delays), -EPROTO);
	free(sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_packet_has_a_kind_and_a_bounded_length),
		cmocka_unit_test(test_a_number_has_four_bytes),
		cmocka_unit_test(test_words_end_with_a_zero_byte),
		cmocka_unit_test(test_a_packet_arrives_as_it_was_sent),
		cmocka_unit_test(test_what_was_sent_before_the_end_arrives_though_input_is_left_unread),
		cmocka_unit_test(test_a_change_is_checked),
		cmocka_unit_test(test_delays_of_a_change_have_the_length_that_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
