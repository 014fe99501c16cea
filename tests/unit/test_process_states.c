/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a process's connection to the daemon, and the phases of a run: every edge, and every edge that is missing.
 *
 * The pictures are in sim/daemon/conn_state.h and sim/cli/run/run_phase.h. */

#include "cmocka_test.h"
#include "sim/cli/run/run_phase.h"
#include "sim/daemon/conn_state.h"

static void test_connection_attaches_answers_or_not_and_ends_once(void **state)
{
	static const bool follows[DAEMON_CONN_NUM_STATES][DAEMON_CONN_NUM_STATES] = {
		/*                             conn.  attac. unresp. leav. lost   gone */
		[DAEMON_CONN_CONNECTED] = { false, true, false, false, false, true },
		[DAEMON_CONN_ATTACHED] = { false, false, true, true, true, false },
		[DAEMON_CONN_UNRESPONSIVE] = { false, true, false, true, true, false },
		[DAEMON_CONN_LEAVING] = { false, false, false, false, false, true },
		[DAEMON_CONN_LOST] = { false, false, false, false, false, true },
		[DAEMON_CONN_GONE] = { false, false, false, false, false, false },
	};

	for (enum daemon_conn_state from = 0; from < DAEMON_CONN_NUM_STATES; from++) {
		for (enum daemon_conn_state to = 0; to < DAEMON_CONN_NUM_STATES; to++) {
			enum daemon_conn_state now = from;

			assert_int_equal(daemon_conn_state_set(&now, to), follows[from][to]);
			assert_int_equal(now, follows[from][to] ? to : from);
		}
	}
}

/* The card has a process until its objects are removed; a connection that ended gets no messages before. */
static void test_an_ended_connection_is_attached_until_it_is_gone(void **state)
{
	static const struct {
		bool is_attached, has_ended;
	} is[DAEMON_CONN_NUM_STATES] = {
		[DAEMON_CONN_CONNECTED] = { false, false },   [DAEMON_CONN_ATTACHED] = { true, false },
		[DAEMON_CONN_UNRESPONSIVE] = { true, false }, [DAEMON_CONN_LEAVING] = { true, true },
		[DAEMON_CONN_LOST] = { true, true },          [DAEMON_CONN_GONE] = { false, true },
	};

	for (enum daemon_conn_state i = 0; i < DAEMON_CONN_NUM_STATES; i++) {
		assert_int_equal(daemon_conn_state_is_attached(i), is[i].is_attached);
		assert_int_equal(daemon_conn_state_has_ended(i), is[i].has_ended);
	}
}

static void test_run_ends_once_and_waits_for_what_programs_left(void **state)
{
	static const bool follows[CLI_RUN_NUM_PHASES][CLI_RUN_NUM_PHASES] = {
		/*                     running ending orphaned done */
		[CLI_RUN_RUNNING] = { false, true, false, false },
		[CLI_RUN_ENDING] = { false, false, true, true },
		[CLI_RUN_ORPHANED] = { false, false, false, true },
		[CLI_RUN_DONE] = { false, false, false, false },
	};

	for (enum cli_run_phase from = 0; from < CLI_RUN_NUM_PHASES; from++) {
		for (enum cli_run_phase to = 0; to < CLI_RUN_NUM_PHASES; to++) {
			enum cli_run_phase now = from;

			assert_int_equal(cli_run_phase_set(&now, to), follows[from][to]);
			assert_int_equal(now, follows[from][to] ? to : from);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connection_attaches_answers_or_not_and_ends_once),
		cmocka_unit_test(test_an_ended_connection_is_attached_until_it_is_gone),
		cmocka_unit_test(test_run_ends_once_and_waits_for_what_programs_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
