/* SPDX-License-Identifier: BSD-3-Clause */
/* The load of a port by several machines, by a clock that the test turns: session time is that of the machine. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cmocka_test.h"
#include "sim/base/monotonic.h"
#include "sim/clock/clock.h"
#include "sim/gateway/port_load.h"

#define MS  SIM_NS_PER_MS
#define MTU 4096u
#define BYTES       \
	(1000000u - \
	 240 * PCIE_NET_HEADER_BYTES) /* with the heads of 240 packets a megabyte, a millisecond of the link */
#define LINK(number) ((struct pcie_net_hop){ .station = (number), .fs_per_byte = 1000000 })
#define FAST(number) ((struct pcie_net_hop){ .station = (number), .fs_per_byte = 1000 })

static struct gateway gateway;
static struct pcie_net_state net;
static uint64_t now_ns;
static uint32_t num_sent;
static uint64_t last_id;

static const struct port_load load = { .is_known = true,
				       .in = { .num_hops = 1, .mtu_bytes = MTU, .hops = { LINK(3) } },
				       .out = { .num_hops = 1, .mtu_bytes = MTU, .hops = { LINK(4) } },
				       .deliver_ps = 5000000 };

/* Of two ports behind one link between switches, which is slower than theirs. */
static const struct port_load behind_trunk[2] = {
	{ .is_known = true,
	  .in = { .num_hops = 2, .mtu_bytes = MTU, .hops = { LINK(5), FAST(6) } },
	  .out = { .num_hops = 2, .mtu_bytes = MTU, .hops = { FAST(7), LINK(8) } },
	  .deliver_ps = 5000000 },
	{ .is_known = true,
	  .in = { .num_hops = 2, .mtu_bytes = MTU, .hops = { LINK(5), FAST(9) } },
	  .out = { .num_hops = 2, .mtu_bytes = MTU, .hops = { FAST(10), LINK(8) } },
	  .deliver_ps = 5000000 },
};

/* ---- in place of others ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now);
const struct sim_clock *__wrap_sim_session_clock(const struct sim_session *session);
uint64_t __wrap_sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns);
uint64_t __wrap_sim_clock_now_ns(const struct sim_clock *clock);
uint64_t __wrap_sim_clock_net_pass(const struct sim_clock *clock, const struct pcie_net_path *links, uint64_t bytes,
				   uint64_t arrival_ps);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_now)
{
	(void)clock;
	*ret_now = sim_timespec_from_ns(now_ns);
	return 0;
}

const struct sim_clock *__wrap_sim_session_clock(const struct sim_session *session)
{
	(void)session;
	return NULL;
}

uint64_t __wrap_sim_clock_real_ns(const struct sim_clock *clock, uint64_t ns)
{
	(void)clock;
	return ns;
}

uint64_t __wrap_sim_clock_now_ns(const struct sim_clock *clock)
{
	(void)clock;
	return now_ns;
}

uint64_t __wrap_sim_clock_net_pass(const struct sim_clock *clock, const struct pcie_net_path *links, uint64_t bytes,
				   uint64_t arrival_ps)
{
	(void)clock;
	return pcie_net_pass(links, bytes, arrival_ps, &net);
}

int gateway_send(struct gateway *of, uint32_t machine, struct gateway_frame *frame)
{
	(void)of;
	(void)machine;
	num_sent++;
	last_id = frame->id;
	return 0;
}

/* ---- the fixture ---- */

static int setup(void **state)
{
	memset(&net, 0, sizeof(net));
	gateway = (struct gateway){ .clock = SIM_CLOCK_TIMED };
	TAILQ_INIT(&gateway.late_answers);
	now_ns = SIM_NS_PER_S;
	num_sent = 0;
	return 0;
}

static int teardown(void **state)
{
	port_load_tick(&gateway, UINT64_MAX);
	return TAILQ_EMPTY(&gateway.late_answers) && gateway.late_bytes == 0 ? 0 : -1;
}

/* An answer of a request of @machine's stream, whose data pass the links of @load_of. */
static void answer_by(const struct port_load *load_of, enum gateway_kind kind, uint16_t machine, uint64_t stream,
		      uint64_t number, int status)
{
	static const uint8_t data[BYTES];
	const uint64_t id = stream << GATEWAY_STREAM_SHIFT | number;
	const struct gateway_frame request = {
		.kind = kind, .from = machine, .id = id, .body = data, .len_bytes = kind == GATEWAY_WRITE ? BYTES : 4
	};
	struct gateway_frame done = { .kind = GATEWAY_DONE,
				      .id = id,
				      .status = status,
				      .body = data,
				      .len_bytes = kind == GATEWAY_READ && status == 0 ? BYTES : 0 };

	port_load_answer(&gateway, load_of, &request, &done);
}

static void answer(enum gateway_kind kind, uint16_t machine, uint64_t stream, uint64_t number, int status)
{
	answer_by(&load, kind, machine, stream, number, status);
}

static uint64_t tick_at(uint64_t at_ns)
{
	now_ns = at_ns;
	return port_load_tick(&gateway, now_ns);
}

/* ---- tests ---- */

static void test_writes_of_two_machines_follow_each_other(void **state)
{
	const uint64_t begin_ns = now_ns;

	answer(GATEWAY_WRITE, 1, 1, 1, 0);
	answer(GATEWAY_WRITE, 2, 1, 2, 0);
	assert_int_equal(tick_at(begin_ns + 1 * MS - 1), begin_ns + 1 * MS);
	assert_int_equal(num_sent, 0);
	assert_int_equal(tick_at(begin_ns + 1 * MS), begin_ns + 2 * MS);
	assert_int_equal(num_sent, 1);
	assert_int_equal(tick_at(begin_ns + 2 * MS), UINT64_MAX);
	assert_int_equal(num_sent, 2);
}

/* The other direction of the link. */
static void test_reads_do_not_wait_for_writes(void **state)
{
	const uint64_t begin_ns = now_ns;

	answer(GATEWAY_WRITE, 1, 1, 1, 0);
	answer(GATEWAY_WRITE, 1, 1, 2, 0);
	answer(GATEWAY_READ, 2, 1, 3, 0);
	tick_at(begin_ns + 1 * MS);
	assert_int_equal(num_sent, 2);
	assert_int_equal(last_id & 0xFF, 3);
}

static void test_a_stream_keeps_its_order(void **state)
{
	const uint64_t begin_ns = now_ns;

	answer(GATEWAY_WRITE, 1, 1, 1, 0);
	answer(GATEWAY_OPERATE, 1, 2, 2, 0); /* of another stream */
	assert_int_equal(num_sent, 1);
	answer(GATEWAY_WRITE, 1, 1, 3, -EIO);
	assert_int_equal(num_sent, 1);
	tick_at(begin_ns + 1 * MS);
	assert_int_equal(num_sent, 3);
	assert_int_equal(last_id & 0xFF, 3);
}

static void test_answers_for_a_lost_machine_go(void **state)
{
	answer(GATEWAY_READ, 1, 1, 1, 0);
	answer(GATEWAY_READ, 2, 1, 2, 0);
	port_load_drop(&gateway, 1);
	tick_at(now_ns + 2 * MS);
	assert_int_equal(num_sent, 1);
	assert_int_equal(last_id & 0xFF, 2);
}

/* The first one is due as its own machine says. */
static void test_messages_of_two_machines_follow_each_other(void **state)
{
	const uint64_t due_ns = now_ns + 10 * MS;

	assert_int_equal(port_load_message(&gateway, &load, BYTES, due_ns), due_ns);
	assert_int_equal(port_load_message(&gateway, &load, BYTES, due_ns), due_ns + 1 * MS);
	assert_int_equal(port_load_message(&gateway, &load, BYTES, due_ns + 5 * MS), due_ns + 5 * MS);
	assert_int_equal(port_load_message(&gateway, &(struct port_load){ 0 }, BYTES, due_ns), due_ns);
	assert_true(port_load_message(&gateway, &load, UINT64_MAX, 0) >
		    0); /* no number that another machine says stops the port */
	assert_true(port_load_message(&gateway, &load, 1, due_ns) < due_ns + 3 * SIM_NS_PER_S);
}

static void test_two_ports_share_a_link_between_switches(void **state)
{
	const enum gateway_kind kinds[] = { GATEWAY_WRITE, GATEWAY_READ };

	for (int i = 0; i < 2; i++) {
		const uint64_t begin_ns = now_ns;

		answer_by(&behind_trunk[0], kinds[i], 1, 1, 1, 0);
		answer_by(&behind_trunk[1], kinds[i], 2, 1, 2, 0);
		tick_at(begin_ns + 1 * MS - 1);
		assert_int_equal(num_sent, 2 * i);
		tick_at(begin_ns + 2 * MS - 1);
		assert_int_equal(num_sent, 2 * i + 1);
		assert_int_equal(tick_at(begin_ns + 3 * MS), UINT64_MAX);
		assert_int_equal(num_sent, 2 * i + 2);
	}
}

static void test_messages_share_a_link_between_switches(void **state)
{
	const uint64_t due_ns = now_ns + 10 * MS;

	assert_int_equal(port_load_message(&gateway, &behind_trunk[0], BYTES, due_ns), due_ns);
	assert_int_equal(port_load_message(&gateway, &behind_trunk[1], BYTES, due_ns), due_ns + 1 * MS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_writes_of_two_machines_follow_each_other),
		TEST(test_reads_do_not_wait_for_writes),
		TEST(test_a_stream_keeps_its_order),
		TEST(test_answers_for_a_lost_machine_go),
		TEST(test_messages_of_two_machines_follow_each_other),
		TEST(test_two_ports_share_a_link_between_switches),
		TEST(test_messages_share_a_link_between_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
