/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of Comch's connections and of Comm Channel's endpoints: every edge, and every edge that is missing.
 *
 * The pictures are in sim/msg/pipe.h and shim/comm_channel/ep_state.h. */
#include "cmocka_test.h"
#include "sim/msg/pipe.h"
#include "shim/comm_channel/ep_state.h"

static void test_connection_opens_is_lost_and_closes(void **state)
{
	static const bool follows[SIM_PIPE_NUM_STATES][SIM_PIPE_NUM_STATES] = {
		/*                  opening open   lost   closed */
		[SIM_PIPE_OPENING] = { false, true, false, true },
		[SIM_PIPE_OPEN] = { false, false, true, true },
		[SIM_PIPE_LOST] = { false, false, false, true },
		[SIM_PIPE_CLOSED] = { false, false, false, false },
	};

	for (enum sim_pipe_state from = 0; from < SIM_PIPE_NUM_STATES; from++) {
		for (enum sim_pipe_state to = 0; to < SIM_PIPE_NUM_STATES; to++) {
			enum sim_pipe_state now = from;

			assert_int_equal(sim_pipe_state_set(&now, to), follows[from][to]);
			assert_int_equal(now, follows[from][to] ? to : from);
		}
	}
}

static void test_endpoint_takes_a_role_and_gives_it_back(void **state)
{
	static const bool follows[CHANNEL_NUM_ROLES][CHANNEL_NUM_ROLES] = {
		/*                    idle   service client */
		[CHANNEL_IDLE] = { false, true, true },
		[CHANNEL_SERVICE] = { true, false, false },
		[CHANNEL_CLIENT] = { true, false, false },
	};

	for (enum channel_role from = 0; from < CHANNEL_NUM_ROLES; from++) {
		for (enum channel_role to = 0; to < CHANNEL_NUM_ROLES; to++) {
			enum channel_role now = from;

			assert_int_equal(channel_role_set(&now, to), follows[from][to]);
			assert_int_equal(now, follows[from][to] ? to : from);
		}
	}
}

static void test_peer_connects_at_most_once_and_ends_once(void **state)
{
	static const bool follows[CHANNEL_NUM_PEER_STATES][CHANNEL_NUM_PEER_STATES] = {
		/*                       connecting connected ended */
		[CHANNEL_CONNECTING] = { false, true, true },
		[CHANNEL_CONNECTED] = { false, false, true },
		[CHANNEL_ENDED] = { false, false, false },
	};

	for (enum channel_peer_state from = 0; from < CHANNEL_NUM_PEER_STATES; from++) {
		for (enum channel_peer_state to = 0; to < CHANNEL_NUM_PEER_STATES; to++) {
			enum channel_peer_state now = from;

			assert_int_equal(channel_peer_state_set(&now, to), follows[from][to]);
			assert_int_equal(now, follows[from][to] ? to : from);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connection_opens_is_lost_and_closes),
		cmocka_unit_test(test_endpoint_takes_a_role_and_gives_it_back),
		cmocka_unit_test(test_peer_connects_at_most_once_and_ends_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
