/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events between processes on both sides of one card: one common value, waits that the other side ends, and
 * deaths. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "session_util.h"
#include "sim/control/control.h"
#include "doca_check.h"
#include "sim/protocol/session_dir.h"
#include "sync_actor.h"

#define assert_failed(call) assert_int_equal((call), DOCA_ERROR_IO_FAILED)

static uint64_t value_of(struct sync_actor *actor)
{
	uint64_t value;

	assert_ok(sync_actor_get(actor, &value));
	return value;
}

/* An exporter and an importer. */
struct pair {
	struct sync_actor exporter, importer;
};

static struct pair pair_up(const char *exporter_side, enum sync_memory memory, enum sync_use use, const char *path)
{
	const char *importer_side = exporter_side[0] == 'h' ? "dpu" : "host";
	struct sync_descriptor descriptor;
	struct pair pair;

	sync_actor_start(&pair.exporter, test_session.dir, exporter_side, path);
	sync_actor_start(&pair.importer, test_session.dir, importer_side, path);
	sync_actor_export(&pair.exporter, memory, use, &descriptor);
	assert_ok(sync_actor_import(&pair.importer, use, &descriptor));
	return pair;
}

static void leave(struct sync_actor *actor)
{
	sync_actor_drop(actor);
	sync_actor_end(actor);
}

static void part(struct pair *pair)
{
	leave(&pair->importer);
	leave(&pair->exporter);
	daemon_stop(&test_session.daemon);
}

/* Each waits for the other's update. */
static void take_turns(struct pair *pair)
{
	for (uint64_t turn = 1; turn < 20; turn += 2) {
		sync_actor_begin_wait(&pair->importer, turn);
		sync_actor_await_sleep(&pair->importer);
		assert_ok(sync_actor_set(&pair->exporter, turn));
		assert_ok(sync_actor_finish(&pair->importer));
		sync_actor_begin_wait(&pair->exporter, turn + 1);
		sync_actor_await_sleep(&pair->exporter);
		assert_ok(sync_actor_set(&pair->importer, turn + 1));
		assert_ok(sync_actor_finish(&pair->exporter));
	}
	assert_int_equal(value_of(&pair->exporter), 20);
	assert_int_equal(value_of(&pair->importer), 20);
}

static void test_host_and_dpu_wait_for_each_other(void **state)
{
	struct pair pair = pair_up("host", SYNC_OWN, SYNC_ALONE, NULL);

	take_turns(&pair);
	part(&pair);
}

static void test_events_of_the_dpu_go_to_the_host_too(void **state)
{
	struct pair pair = pair_up("dpu", SYNC_OWN, SYNC_ALONE, NULL);

	take_turns(&pair);
	part(&pair);
}

static void test_sleepers_on_engines_wake_each_other(void **state)
{
	struct pair pair = pair_up("host", SYNC_OWN, SYNC_CONTEXT, NULL);

	take_turns(&pair);
	part(&pair);
}

/* The value is in the exporter's memory, without notifications of changes. */
static void test_value_in_the_programs_own_memory_is_shared(void **state)
{
	struct pair pair = pair_up("host", SYNC_MEMFD, SYNC_ALONE, NULL);

	take_turns(&pair);
	part(&pair);
}

static void test_sleepers_see_changes_in_the_programs_own_memory(void **state)
{
	struct pair pair = pair_up("dpu", SYNC_MEMFD, SYNC_CONTEXT, NULL);

	take_turns(&pair);
	part(&pair);
}

/* All processes use one value, over each data path. */
static void test_forced_paths_make_no_difference(void **state)
{
	static const char *const paths[] = { "mapped", "procmem", "cma", "tcp" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct pair pair = pair_up("host", SYNC_OWN, SYNC_ALONE, paths[i]);

		take_turns(&pair);
		part(&pair);
		if (i + 1 < sizeof(paths) / sizeof(paths[0])) {
			session_teardown(state);
			session_setup(state);
		}
	}
}

/* ---- adding: 4 processes, 25000 each, makes 100000 ---- */

static void test_sum_of_four_processes_is_exact(void **state)
{
	static const char *const sides[] = { "host", "dpu", "dpu", "host" };
	struct sync_descriptor descriptor;
	struct sync_actor actors[4];

	for (int i = 0; i < 4; i++)
		sync_actor_start(&actors[i], test_session.dir, sides[i], NULL);
	sync_actor_export(&actors[0], SYNC_OWN, SYNC_ALONE, &descriptor);
	for (int i = 1; i < 4; i++)
		assert_ok(sync_actor_import(&actors[i], SYNC_ALONE, &descriptor));
	for (int i = 0; i < 4; i++)
		sync_actor_begin_add(&actors[i], 25000);
	for (int i = 0; i < 4; i++)
		assert_ok(sync_actor_finish(&actors[i]));
	for (int i = 0; i < 4; i++)
		assert_int_equal(value_of(&actors[i]), 100000);
	for (int i = 3; i >= 0; i--)
		leave(&actors[i]);
	daemon_stop(&test_session.daemon);
}

/* ---- ends ---- */

static void add_rule(const char *text)
{
	int dir_fd = sim_session_dir_open(test_session.dir, false);
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;

	assert_int_equal(sim_rule_parse(text, &rule, file, &error), 0);
	assert_int_equal(sim_control_add_fault(dir_fd, &rule, NULL, &id), 0);
	close(dir_fd);
}

static void end_during_wait(enum sync_use use, int signal)
{
	struct pair pair = pair_up("host", SYNC_OWN, use, NULL);
	uint64_t value;

	sync_actor_begin_wait(&pair.importer, 1);
	sync_actor_await_sleep(&pair.importer);
	if (signal)
		proc_signal(&pair.exporter.proc, signal);
	else
		leave(&pair.exporter);
	assert_failed(sync_actor_finish(&pair.importer));
	if (use == SYNC_ALONE) {
		assert_failed(sync_actor_set(&pair.importer, 1));
		assert_failed(sync_actor_get(&pair.importer, &value));
	}
	leave(&pair.importer);
	daemon_stop(&test_session.daemon);
}

static void test_death_of_the_exporter_ends_a_blocking_wait(void **state)
{
	end_during_wait(SYNC_ALONE, SIGKILL);
}

static void test_death_of_the_exporter_ends_a_sleepers_wait(void **state)
{
	end_during_wait(SYNC_CONTEXT, SIGKILL);
}

static void test_exporters_stop_ends_a_blocking_wait(void **state)
{
	end_during_wait(SYNC_ALONE, 0);
}

static void test_exporters_stop_ends_a_sleepers_wait(void **state)
{
	end_during_wait(SYNC_CONTEXT, 0);
}

/* Both processes stay alive; only @rule ends their shared event. */
static void reset_during_wait(enum sync_use use, const char *rule)
{
	struct pair pair = pair_up("host", SYNC_OWN, use, NULL);
	uint64_t value;

	sync_actor_begin_wait(&pair.importer, 1);
	sync_actor_await_sleep(&pair.importer);
	add_rule(rule);
	assert_failed(sync_actor_finish(&pair.importer));
	if (use == SYNC_ALONE) {
		assert_failed(sync_actor_set(&pair.importer, 1));
		assert_failed(sync_actor_get(&pair.importer, &value));
		assert_ok(sync_actor_set(&pair.exporter, 3)); /* its own memory, by its own processor */
		assert_int_equal(value_of(&pair.exporter), 3);
	}
	part(&pair);
}

static void test_reset_of_the_exporters_function_ends_a_blocking_wait(void **state)
{
	reset_during_wait(SYNC_ALONE, "function device=b1:00.0 reset");
}

static void test_reset_of_the_exporters_function_ends_a_sleepers_wait(void **state)
{
	reset_during_wait(SYNC_CONTEXT, "function device=b1:00.0 reset");
}

static void test_reset_of_the_importers_function_ends_a_blocking_wait(void **state)
{
	reset_during_wait(SYNC_ALONE, "function device=03:00.0 reset");
}

static void test_reset_of_the_importers_function_ends_a_sleepers_wait(void **state)
{
	reset_during_wait(SYNC_CONTEXT, "function device=03:00.0 reset");
}

/* The killed waiter stays registered in the shared memory: that costs time only. */
static void test_death_of_a_waiting_importer_does_no_harm(void **state)
{
	struct pair pair = pair_up("host", SYNC_OWN, SYNC_ALONE, NULL);

	sync_actor_begin_wait(&pair.importer, 1000);
	sync_actor_await_sleep(&pair.importer);
	proc_signal(&pair.importer.proc, SIGKILL);
	sync_actor_begin_add(&pair.exporter, 500);
	assert_ok(sync_actor_finish(&pair.exporter));
	assert_int_equal(value_of(&pair.exporter), 500);
	leave(&pair.exporter);
	daemon_stop(&test_session.daemon);
}

/* Without the daemon the other side's death cannot be known: an importer gets an error, an exporter continues. */
static void test_death_of_the_daemon_ends_the_importers_wait(void **state)
{
	struct pair pair = pair_up("host", SYNC_OWN, SYNC_ALONE, NULL);

	sync_actor_begin_wait(&pair.importer, 1);
	sync_actor_await_sleep(&pair.importer);
	proc_signal(&test_session.daemon, SIGKILL);
	assert_failed(sync_actor_finish(&pair.importer));
	assert_ok(sync_actor_set(&pair.exporter, 3));
	assert_int_equal(value_of(&pair.exporter), 3);
	leave(&pair.importer);
	leave(&pair.exporter);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, session_setup, session_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_host_and_dpu_wait_for_each_other),
		TEST(test_events_of_the_dpu_go_to_the_host_too),
		TEST(test_sleepers_on_engines_wake_each_other),
		TEST(test_value_in_the_programs_own_memory_is_shared),
		TEST(test_sleepers_see_changes_in_the_programs_own_memory),
		TEST(test_forced_paths_make_no_difference),
		TEST(test_sum_of_four_processes_is_exact),
		TEST(test_death_of_the_exporter_ends_a_blocking_wait),
		TEST(test_death_of_the_exporter_ends_a_sleepers_wait),
		TEST(test_exporters_stop_ends_a_blocking_wait),
		TEST(test_exporters_stop_ends_a_sleepers_wait),
		TEST(test_reset_of_the_exporters_function_ends_a_blocking_wait),
		TEST(test_reset_of_the_exporters_function_ends_a_sleepers_wait),
		TEST(test_reset_of_the_importers_function_ends_a_blocking_wait),
		TEST(test_reset_of_the_importers_function_ends_a_sleepers_wait),
		TEST(test_death_of_a_waiting_importer_does_no_harm),
		TEST(test_death_of_the_daemon_ends_the_importers_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
