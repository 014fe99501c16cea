/* SPDX-License-Identifier: BSD-3-Clause */
/* A link between switches that is down, between contexts of one program on ports behind it. In each of the three clocks. */
#include <bfsim.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_test.h"
#include "tests/api/rdma_util.h"

#define MS UINT64_C(1000000)

#define DEADLINE_NS UINT64_C(60000000000)

static uint32_t add_rule(const char *rule)
{
	uint32_t id;

	if (bfsim_fault_add(rule, &id) != 0)
		fail_msg("%s: %s", rule, bfsim_error());
	return id;
}

static void begin(struct peer **a, struct peer **b, uint32_t device_b)
{
	assert_int_equal(bfsim_fault_clear(), 0); /* of a test that failed */
	*a = peer_open(0, RDMA_ALL_ACCESS);
	*b = peer_open(device_b, RDMA_ALL_ACCESS);
	peer_start(*a);
	peer_start(*b);
	peers_connect(*a, *b);
}

static void end(struct peer *a, struct peer *b)
{
	peer_close(a);
	peer_close(b);
	while (bfsim_fault_unfired(NULL) > 0) /* the card's events are run by a thread, in virtual time now and then */
		sched_yield();
	assert_int_equal(bfsim_fault_clear(), 0);
}

static void progress_to(struct peer *a, struct peer *b, const struct peer *peer, const char *text)
{
	uint64_t begin_ns = bfsim_now_ns();

	while (!strstr(peer->trace, text)) {
		if (bfsim_now_ns() - begin_ns > DEADLINE_NS)
			fail_msg("no \"%s\" in \"%s\"", text, peer->trace);
		peer_progress(a);
		peer_progress(b);
	}
}

/* Requests of either side, whichever switch the rule names first; then the rule is over. */
static void test_both_directions_wait_for_the_trunk(void **state)
{
	const char *const rules[] = { "net.link device=leaf0/leaf1 down=100ms",
				      "net.link device=leaf1/leaf0 down=100ms" };
	struct peer *a, *b;

	begin(&a, &b, 1);
	for (int i = 0; i < 2; i++) {
		uint64_t begin_ns = bfsim_now_ns();

		a->trace[0] = b->trace[0] = '\0';
		add_rule(rules[i]);
		peer_write(a, 1, peer_buf(a, 0, 64, 64), peer_remote_buf(a, b, 0, 64, 0));
		peer_write(b, 2, peer_buf(b, 0, 64, 64), peer_remote_buf(b, a, 0, 64, 0));
		progress_to(a, b, a, "write 1 done");
		progress_to(a, b, b, "write 2 done");
		assert_true(bfsim_now_ns() - begin_ns >= 100 * MS);
	}
	end(a, b);
}

static void test_request_fails_when_the_trunk_stays_down(void **state)
{
	struct peer *a, *b;

	begin(&a, &b, 1);
	add_rule("net.link device=leaf0/leaf1 down=1000s");
	peer_write(a, 1, peer_buf(a, 0, 64, 64), peer_remote_buf(a, b, 0, 64, 0));
	progress_to(a, b, a, "write 1 failed: DOCA_ERROR_IO_FAILED");
	end(a, b);
}

/* They have one port: no packet passes a switch. */
static void test_connection_that_needs_no_trunk_goes_on(void **state)
{
	struct peer *a, *b;
	uint32_t id;

	begin(&a, &b, 0);
	id = add_rule("net.link device=leaf0/leaf1 down=1000s");
	peer_write(a, 1, peer_buf(a, 0, 64, 64), peer_remote_buf(a, b, 0, 64, 0));
	progress_to(a, b, a, "write 1 done");
	while (bfsim_fault_unfired(NULL) > 0)
		sched_yield();
	assert_int_equal(bfsim_fault_remove(id), 0);
	end(a, b);
}

/* The first write passes. */
static void test_removed_rule_ends(void **state)
{
	struct peer *a, *b;
	uint32_t id;

	begin(&a, &b, 1);
	id = add_rule("net.link device=leaf0/leaf1 after='rdma.write nth=2' down=1000s");
	peer_write(a, 1, peer_buf(a, 0, 64, 64), peer_remote_buf(a, b, 0, 64, 0));
	progress_to(a, b, a, "write 1 done");
	peer_write(a, 2, peer_buf(a, 0, 64, 64), peer_remote_buf(a, b, 0, 64, 0));
	while (bfsim_fault_unfired(NULL) > 0)
		sched_yield();
	assert_int_equal(bfsim_fault_remove(id), 0);
	progress_to(a, b, a, "write 2 done");
	end(a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_directions_wait_for_the_trunk),
		cmocka_unit_test(test_request_fails_when_the_trunk_stays_down),
		cmocka_unit_test(test_connection_that_needs_no_trunk_goes_on),
		cmocka_unit_test(test_removed_rule_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
