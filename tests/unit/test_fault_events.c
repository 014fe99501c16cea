/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/fault_events.c: the schedule; also against other processes, which can write to the clock and to the plan at any
 * time. */
#include "fault_events_rig.h"

/* Another process moves the begin of the event that happens just now. */
static void move_begin(struct events_world *world)
{
	atomic_fetch_add(&events_shared(world)->plan.slots[0].added_ns, 1);
}

static int setup(void **state)
{
	static struct events_world world;

	events_begin(&world, SIM_CLOCK_VIRTUAL, pcie_topology_default_yaml());
	world.on_revoked = move_begin;
	*state = &world;
	return 0;
}

static int teardown(void **state)
{
	events_end(*state);
	return 0;
}

static void test_events_end_at_the_end_of_time(void **state)
{
	struct events_world *world = *state;

	events_add(world, "function reset");
	atomic_store(&events_shared(world)->clock.now_ns, UINT64_MAX);
	sim_fault_events_run(&world->events);
	assert_true(world->num_revoked > 0);
	events_add(world, "function reset");
	sim_fault_events_run(&world->events);
}

/* Its plan says that the event begins now, then a nanosecond later, and so on. */
static void test_an_event_whose_begin_moves_on_ends(void **state)
{
	struct events_world *world = *state;
	struct sim_plan_slot *slot = &events_shared(world)->plan.slots[0];

	events_add(world, "function device=mlx5_0 after='dma.memcpy nth=1' reset");
	atomic_store(&slot->has_begun, 1);
	atomic_store(&slot->added_ns, 2);
	atomic_fetch_add(&events_shared(world)->plan.generation, 1);
	atomic_store(&events_shared(world)->clock.now_ns, UINT64_MAX / 2);
	sim_fault_events_run(&world->events);
	assert_int_equal(world->num_revoked, SIM_PLAN_MAX_RULES);
}

/* ---- the schedule ---- */

static void begin_again(struct events_world *world, enum sim_clock_mode mode)
{
	events_end(world);
	events_begin(world, mode, EVENTS_TOPOLOGY);
}

static void test_rules_begin_at_their_times(void **state)
{
	struct events_world *world = *state;

	begin_again(world, SIM_CLOCK_VIRTUAL);
	events_add(world, "function device=c1:00.0 from=100ns reset");
	events_add(world, "function device=b1:00.2 from=200ns reset");
	events_run_at(world, 99);
	assert_string_equal(world->trace, "");
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), 100);
	events_run_at(world, 100);
	assert_string_equal(world->trace, "revoke 7\nchanged\n");
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), 200);
	events_run_at(world, 300);
	assert_string_equal(world->trace, "revoke 2\nchanged\n");
	assert_int_equal(sim_fault_events_deadline_ns(&world->events), SIM_NEVER_NS);
}

/* Virtual time has no timer; a real deadline is an hour after the begin of the session. */
static void test_deadline_is_polled_for_in_virtual_time_alone(void **state)
{
	struct events_world *world = *state;

	begin_again(world, SIM_CLOCK_VIRTUAL);
	sim_fault_events_run(&world->events);
	assert_true(sim_fault_events_deadline_ms(&world->events, 500) == UINT64_MAX);
	events_add(world, "function device=c1:00.0 from=3600s reset");
	sim_fault_events_run(&world->events);
	assert_int_equal(sim_fault_events_deadline_ms(&world->events, 500), 501);
	begin_again(world, SIM_CLOCK_FUNCTIONAL);
	events_add(world, "function device=c1:00.0 from=3600s reset");
	sim_fault_events_run(&world->events);
	assert_int_equal(sim_fault_events_deadline_ms(&world->events, 500),
			 sim_clock_real_ns(world->clock, 3600 * UINT64_C(1000000000)) / 1000000 + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_events_end_at_the_end_of_time),
		TEST(test_an_event_whose_begin_moves_on_ends),
		TEST(test_rules_begin_at_their_times),
		TEST(test_deadline_is_polled_for_in_virtual_time_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
