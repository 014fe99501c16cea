/* SPDX-License-Identifier: BSD-3-Clause */
/* Two contexts of one program in virtual time: a responder that does not progress is served at a time that is the same in each
 * run, 50 us after the arrival of the message (doc/architecture.md). */
#include <stdlib.h>

#include "cmocka_test.h"
#include "rdma_util.h"
#include "sim/api/bfsim.h"

static void test_responder_that_does_not_progress_receives_at_an_exact_time(void **state)
{
	struct peer *a = peer_open(0, RDMA_ALL_ACCESS), *b = peer_open(0, RDMA_ALL_ACCESS);
	uint64_t first_ns = 0;

	peer_start(a);
	peer_start(b);
	peers_connect(a, b);
	for (int i = 0; i < 20; i++) {
		uint64_t begin_ns = bfsim_now_ns();

		peer_receive(b, 1, peer_buf(b, 0, 8, 0));
		peer_send(a, 1, peer_buf(a, 0, 8, 8));
		peers_drain(a, NULL, 0);
		if (i == 0)
			first_ns = bfsim_now_ns() - begin_ns;
		assert_int_equal(bfsim_now_ns() - begin_ns, first_ns);
		assert_in_range(first_ns, 50001, 55000);
		assert_peer_trace(a, "send 1 done\n");
		peers_drain(b, NULL, 0);
		assert_peer_trace(b, "receive 1 done: 8 bytes by SEND\n");
	}
	peer_close(a);
	peer_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_responder_that_does_not_progress_receives_at_an_exact_time),
	};

	setenv("BFSIM_CLOCK", "virtual", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
