/* SPDX-License-Identifier: BSD-3-Clause */
/* A command that reaches into another machine: how long it waits, what it says, and how recordings from there are merged. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/cli/base/cli.h"
#include "sim/cli/base/session_client.h"
#include "sim/cli/reach/reach.h"
#include "sim/cli/trace/far_recordings.h"
#include "sim/cli/trace/recording_file.h"

#define MAX_PACKETS 64

/* What the helper on node1 says: packets, and then nothing, or the last one again and again. */
static struct sim_reach_packet script[MAX_PACKETS];
static size_t num_packets, next_packet;
static bool repeats_last;
static uint32_t num_timeouts;
static int open_rc;
static uint64_t now_ns; /* a wait that ends with a packet takes a second, another one its whole time */
static char message[512];

/* ---- in place of others ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
int __wrap_sim_reach_open(int dir_fd, const char *machine, enum sim_reach_service service, int *ret_sock);
int __wrap_sim_reach_recv(int sock, struct sim_reach_packet *ret_packet, int timeout_ms);
int __wrap_sim_reach_send(int sock, enum sim_reach_kind kind, const void *bytes, size_t len);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = sim_timespec_from_ns(now_ns);
	return 0;
}

int __wrap_sim_reach_open(int dir_fd, const char *machine, enum sim_reach_service service, int *ret_sock)
{
	(void)dir_fd;
	(void)service;
	assert_string_equal(machine, "node1");
	*ret_sock = -1;
	return open_rc;
}

int __wrap_sim_reach_recv(int sock, struct sim_reach_packet *ret_packet, int timeout_ms)
{
	(void)sock;
	if (next_packet >= num_packets) {
		assert_true(timeout_ms > 0 && timeout_ms <= SIM_REACH_TIMEOUT_MS);
		now_ns += (uint64_t)timeout_ms * SIM_NS_PER_MS;
		num_timeouts++;
		return -ETIMEDOUT;
	}
	now_ns += SIM_NS_PER_S;
	*ret_packet = script[next_packet];
	if (next_packet + 1 < num_packets || !repeats_last)
		next_packet++;
	return 0;
}

int __wrap_sim_reach_send(int sock, enum sim_reach_kind kind, const void *bytes, size_t len)
{
	(void)sock;
	(void)kind;
	(void)bytes;
	(void)len;
	return 0;
}

int cli_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return CLI_FAILED;
}

int cli_session_open(const char *dir)
{
	(void)dir;
	return dup(STDIN_FILENO);
}

/* This machine is node0. */
int cli_machines_read(const char *dir, struct cli_machines *ret_machines)
{
	static struct cli_machine list[] = { { .name = "node0", .is_self = true },
					     { .name = "node1", .is_joined = true } };

	(void)dir;
	*ret_machines = (struct cli_machines){ .list = list, .count = 2, .self = "node0" };
	return 0;
}

void cli_machines_free(struct cli_machines *machines)
{
	(void)machines;
}

/* ---- the helper's words ---- */

static void says(enum sim_reach_kind kind, int32_t number, const void *bytes, size_t len)
{
	struct sim_reach_packet *packet = &script[num_packets++];

	assert_true(num_packets <= MAX_PACKETS && len <= SIM_REACH_MAX_BYTES);
	packet->kind = kind;
	packet->number = number;
	packet->len = len;
	if (len > 0)
		memcpy(packet->bytes, bytes, len);
}

static int setup(void **state)
{
	num_packets = next_packet = 0;
	num_timeouts = 0;
	repeats_last = false;
	open_rc = 0;
	now_ns = SIM_NS_PER_S;
	message[0] = '\0';
	says(SIM_REACH_READY, 0, NULL, 0);
	return 0;
}

/* ---- waits ---- */

static void test_a_machine_that_does_not_tell_its_time_is_waited_for_once(void **state)
{
	struct sim_merged_trace merged = { .zero_ns = 1 };

	assert_int_equal(cli_far_recordings_add("session", false, &merged), 0);
	assert_int_equal(num_timeouts, 1);
	assert_string_equal(message, "the recordings of node1 are left out");
	sim_merged_trace_free(&merged);
}

/* Its helper waits for more questions, and would say nothing before its own time is over. */
static void test_a_machine_that_says_nonsense_is_not_waited_for(void **state)
{
	struct sim_merged_trace merged = { .zero_ns = 1 };

	says(SIM_REACH_OUTPUT, 0, "nonsense, and long", 18);
	assert_int_equal(cli_far_recordings_add("session", false, &merged), 0);
	assert_int_equal(num_timeouts, 0);
	sim_merged_trace_free(&merged);
}

/* A helper that goes on to say something each second keeps a command for ten seconds, as one that says nothing. */
static void test_a_call_has_a_limit_for_the_whole(void **state)
{
	const char *const words[] = { "faults", NULL };
	uint64_t begin_ns = now_ns;

	says(SIM_REACH_OUTPUT, 0, " ", 1);
	repeats_last = true;
	assert_int_equal(cli_reach_call("session", "node1", words, NULL, 0, NULL), -1);
	assert_true(now_ns - begin_ns <= (SIM_REACH_TIMEOUT_MS + 1000) * SIM_NS_PER_MS);
	assert_non_null(strstr(message, "node1 has not answered for 10 s"));
}

static void test_a_trace_may_take_longer(void **state)
{
	const char *const words[] = { "trace", NULL };
	struct cli_reach reach;

	for (int i = 0; i < 30; i++)
		says(SIM_REACH_OUTPUT, 0, " ", 1);
	says(SIM_REACH_EXIT, 3, NULL, 0);
	assert_int_equal(cli_reach_begin("session", "node1", SIM_REACH_CONTROL, words, &reach), 0);
	assert_int_equal(cli_reach_end(&reach), 3);
}

/* ---- words ---- */

static void test_who_forbids_programs_is_named(void **state)
{
	const char *const words[] = { "true", NULL };
	struct cli_reach reach;

	open_rc = -EPERM; /* of this machine's daemon */
	assert_int_equal(cli_reach_begin("session", "node1", SIM_REACH_EXEC, words, &reach), -1);
	assert_non_null(strstr(message, "for the user of this machine's session"));
	open_rc = 0; /* of the other machine */
	num_packets = 0;
	says(SIM_REACH_LOST, -EPERM, NULL, 0);
	assert_int_equal(cli_reach_begin("session", "node1", SIM_REACH_EXEC, words, &reach), -1);
	assert_non_null(strstr(message, "node1 does not let other machines start programs there"));
}

/* ---- rules ---- */

static void says_trace(const struct sim_merged_trace *far)
{
	char *bytes = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&bytes, &len);

	assert_non_null(out);
	cli_recording_write(far, out);
	fclose(out);
	for (size_t at = 0; at < len; at += SIM_REACH_MAX_BYTES)
		says(SIM_REACH_OUTPUT, 0, bytes + at, len - at < SIM_REACH_MAX_BYTES ? len - at : SIM_REACH_MAX_BYTES);
	says(SIM_REACH_EXIT, CLI_OK, NULL, 0);
	free(bytes);
}

static void add_rule(struct sim_merged_trace *merged, uint32_t id, const char *text, uint64_t fired)
{
	assert_int_equal(sim_merged_trace_add_rule(merged, id, text), 0);
	merged->rules[merged->num_rules - 1].fired = fired;
}

/* node0 has "a" and "b", and node1 "b", "a" and again "a": three rules, the second "a" of node1 alone. */
static void test_two_rules_of_one_text_keep_their_hits_apart(void **state)
{
	struct sim_merged_trace merged = { .zero_ns = 1 }, far = { .zero_ns = 1 };

	add_rule(&merged, 1, "a", 1);
	add_rule(&merged, 2, "b", 2);
	add_rule(&far, 1, "b", 10);
	add_rule(&far, 2, "a", 20);
	add_rule(&far, 3, "a", 30);
	says_trace(&far);
	assert_int_equal(cli_far_recordings_add("session", true, &merged), 0);
	assert_string_equal(message, "");
	assert_int_equal(merged.num_rules, 3);
	assert_int_equal(merged.rules[0].fired, 21);
	assert_int_equal(merged.rules[1].fired, 12);
	assert_string_equal(merged.rules[2].text, "a");
	assert_int_equal(merged.rules[2].fired, 30);
	sim_merged_trace_free(&merged);
	sim_merged_trace_free(&far);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_machine_that_does_not_tell_its_time_is_waited_for_once),
		TEST(test_a_machine_that_says_nonsense_is_not_waited_for),
		TEST(test_a_call_has_a_limit_for_the_whole),
		TEST(test_a_trace_may_take_longer),
		TEST(test_who_forbids_programs_is_named),
		TEST(test_two_rules_of_one_text_keep_their_hits_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
