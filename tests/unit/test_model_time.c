/* SPDX-License-Identifier: BSD-3-Clause */
/* Due times of messages between machines whose clocks differ. */
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"
#include "sim/gateway/gateway.h"
#include "sim/gateway/model_time.h"
#include "sim/rdma/inbox.h"

#define MS SIM_NS_PER_MS
#define S  SIM_NS_PER_S

/* ---- differences ---- */

/* The other clock is 100 s ahead. */
static void test_half_of_the_round_trip_bounds_the_error(void **state)
{
	struct clock_offset offset = { 0 };

	assert_int_equal(clock_offset_error_ns(&offset, 5 * S), 0);
	clock_offset_take(&offset, 1 * S, 101 * S + 3 * MS, 1 * S + 4 * MS); /* it was read late */
	assert_int_equal(offset.ahead_ns, 100 * S + 1 * MS);
	assert_int_equal(clock_offset_error_ns(&offset, 1 * S + 4 * MS), 2 * MS + 1);
	clock_offset_take(&offset, 2 * S, 102 * S + 10000, 2 * S + 20000);
	assert_int_equal(offset.ahead_ns, 100 * S);
	assert_int_equal(clock_offset_error_ns(&offset, 2 * S + 20000), 10001);
}

static void test_a_worse_measurement_is_taken_once_clocks_may_have_run_apart(void **state)
{
	struct clock_offset offset = { 0 };

	clock_offset_take(&offset, 1 * S, 1 * S + 50, 1 * S + 100);
	clock_offset_take(&offset, 2 * S, 2 * S + 7 * MS, 2 * S + 8 * MS);
	assert_int_equal(offset.ahead_ns, 0);
	assert_int_equal(clock_offset_error_ns(&offset, 11 * S + 100), 51 + 10 * 100000); /* 0.1 ms in a second */
	clock_offset_take(&offset, 91 * S, 91 * S + 7 * MS, 91 * S + 8 * MS);
	assert_int_equal(offset.ahead_ns, 3 * MS);
	assert_int_equal(clock_offset_error_ns(&offset, 91 * S + 8 * MS), 4 * MS + 1);
}

static void test_a_clock_may_be_behind(void **state)
{
	struct clock_offset offset = { 0 };

	clock_offset_take(&offset, 50 * S, 1 * S, 50 * S);
	assert_int_equal((int64_t)offset.ahead_ns, -(int64_t)(49 * S));
}

/* ---- records ---- */

const struct sim_clock *__wrap_sim_session_clock(const struct sim_session *session);
uint64_t __wrap_sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns);

static uint64_t start_ns; /* of the session on the machine that is looked at */

const struct sim_clock *__wrap_sim_session_clock(const struct sim_session *session)
{
	(void)session;
	return NULL;
}

uint64_t __wrap_sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns)
{
	(void)clock;
	return start_ns + ns;
}

struct machine {
	struct gateway gateway;
	struct gateway_machine machines[3];
	struct link link;
	uint64_t start_ns;
};

/* Machine @self; 0 is home, whose clock is @ahead_ns ahead. */
static void make(struct machine *machine, uint32_t self, uint64_t machine_start_ns, uint64_t ahead_ns)
{
	memset(machine, 0, sizeof(*machine));
	machine->gateway = (struct gateway){ .cfg.is_home = self == 0,
					     .self = self,
					     .clock = SIM_CLOCK_TIMED,
					     .machines = machine->machines,
					     .num_machines = 3 };
	machine->start_ns = machine_start_ns;
	machine->link.clock = (struct clock_offset){ .ahead_ns = ahead_ns, .error_ns = 1 };
	if (self != 0)
		machine->machines[0].link = &machine->link;
}

static uint64_t now_ns;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = sim_timespec_from_ns(now_ns);
	return 0;
}

static uint64_t send_from(const struct machine *from, uint64_t due_ns)
{
	struct sim_inbox_head head = { .number = 1, .due_ns = due_ns };

	start_ns = from->start_ns;
	model_time_send(&from->gateway, SIM_INBOX_SEND, (uint8_t *)&head, sizeof(head));
	return head.due_ns;
}

static uint64_t receive_at(struct machine *to, uint64_t due_ns, uint64_t at_ns)
{
	struct sim_inbox_head head = { .number = 1, .due_ns = due_ns };

	start_ns = to->start_ns;
	now_ns = at_ns;
	model_time_receive(&to->gateway, SIM_INBOX_SEND, (uint8_t *)&head, sizeof(head));
	return head.due_ns;
}

/* Home's session began at 1000 s of its clock, node1's at 5 s of its own, which is 1020 s of home's, node2's at 99 s, 1030 s of home's.
 * A message that is due at 3 s of node1's session is due at 1023 s of home's clock: at 23 s of home's session. */
static void test_a_due_time_is_that_of_the_receivers_session(void **state)
{
	struct machine home, node1, node2;
	uint64_t sent_ns;

	make(&home, 0, 1000 * S, 0);
	make(&node1, 1, 5 * S, 1015 * S);
	make(&node2, 2, 99 * S, 931 * S);
	sent_ns = send_from(&node1, 3 * S);
	assert_int_equal(receive_at(&home, sent_ns, 1001 * S), 23 * S);
	assert_int_equal(home.gateway.num_timed, 1);
	assert_int_equal(home.gateway.num_late, 0);
	sent_ns = send_from(&node1, 13 * S); /* 1033 s of home's clock, 102 s of node2's */
	assert_int_equal(receive_at(&node2, sent_ns, 101 * S), 3 * S);
	sent_ns = send_from(&node2, 3 * S);
	assert_int_equal(receive_at(&node1, sent_ns, 6 * S), 13 * S);
	sent_ns = send_from(&home, 23 * S);
	assert_int_equal(receive_at(&node1, sent_ns, 6 * S), 3 * S);
}

static void test_messages_that_come_late_are_counted(void **state)
{
	struct machine home, node1;
	uint64_t sent_ns;

	make(&home, 0, 1000 * S, 0);
	make(&node1, 1, 5 * S, 1015 * S);
	sent_ns = send_from(&node1, 3 * S);
	assert_int_equal(receive_at(&home, sent_ns, 1023 * S + 7 * MS), 23 * S);
	receive_at(&home, sent_ns, 1023 * S + 2 * MS);
	assert_int_equal(home.gateway.num_late, 2);
	assert_int_equal(home.gateway.max_late_ns, 7 * MS);
}

/* Functional time; a message that is due at once; data of a message; before the first heartbeat's answer. */
static void test_what_has_no_time_keeps_none(void **state)
{
	struct machine node1;
	struct sim_inbox_head head = { .due_ns = 3 * S };

	make(&node1, 1, 5 * S, 1015 * S);
	assert_int_equal(send_from(&node1, 0), 0);
	assert_int_equal(receive_at(&node1, 0, 6 * S), 0);
	model_time_send(&node1.gateway, SIM_INBOX_MORE, (uint8_t *)&head, sizeof(head));
	model_time_send(&node1.gateway, SIM_INBOX_SEND, (uint8_t *)&head, sizeof(head) - 1);
	assert_int_equal(head.due_ns, 3 * S);
	node1.link.clock.error_ns = 0;
	assert_int_equal(send_from(&node1, 3 * S), 0);
	assert_int_equal(receive_at(&node1, 3 * S, 6 * S), 1 * S); /* now */
	node1.gateway.clock = SIM_CLOCK_FUNCTIONAL;
	assert_int_equal(send_from(&node1, 3 * S), 3 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_half_of_the_round_trip_bounds_the_error),
		cmocka_unit_test(test_a_worse_measurement_is_taken_once_clocks_may_have_run_apart),
		cmocka_unit_test(test_a_clock_may_be_behind),
		cmocka_unit_test(test_a_due_time_is_that_of_the_receivers_session),
		cmocka_unit_test(test_messages_that_come_late_are_counted),
		cmocka_unit_test(test_what_has_no_time_keeps_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
