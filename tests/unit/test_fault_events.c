/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/fault_events.c against other processes, which can write to the clock and to the plan at any time. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_test.h"
#include "sim/state/fault_events.h"

#define DEADLINE_S 30

struct world {
	struct sim_segment segment;
	struct pcie_topology *topology;
	struct sim_clock *clock;
	struct sim_fault_events events;
	unsigned int num_revoked;
};

static struct sim_shared_state *shared_of(struct world *world)
{
	return sim_shared_state_of(&world->segment);
}

/* Another process moves the begin of the event that happens just now. */
static void move_begin(void *arg, uint32_t function)
{
	struct world *world = arg;

	world->num_revoked++;
	atomic_fetch_add(&shared_of(world)->plan.slots[0].added_ns, 1);
}

static void ignore_function(void *arg, uint32_t function)
{
}

static void ignore_change(void *arg)
{
}

static void ignore_others(void *arg, uint64_t since_ns)
{
}

static int setup(void **state)
{
	static const struct sim_fault_events_ops ops = { .revoke_function = move_begin,
							 .disconnect_rep = ignore_function,
							 .notify_functions_changed = ignore_change,
							 .inject_others = ignore_others };
	static struct world world;
	struct sim_fault_events_cfg cfg = { .ops = &ops, .arg = &world };
	const char *yaml = pcie_topology_default_yaml();
	char error[PCIE_ERROR_SIZE];
	int fd;

	world = (struct world){ 0 };
	assert_int_equal(sim_shared_state_create(SIM_CLOCK_VIRTUAL, &world.segment, &fd), 0);
	close(fd);
	assert_int_equal(pcie_topology_parse("test", yaml, strlen(yaml), &world.topology, error), 0);
	assert_int_equal(sim_clock_create(&shared_of(&world)->clock, world.topology, &world.clock), 0);
	cfg.shared = shared_of(&world);
	cfg.topology = world.topology;
	cfg.clock = world.clock;
	assert_int_equal(sim_fault_events_init(&world.events, &cfg), 0);
	alarm(DEADLINE_S);
	*state = &world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	alarm(0);
	sim_fault_events_fini(&world->events);
	sim_clock_destroy(world->clock);
	pcie_topology_destroy(world->topology);
	sim_shared_state_release(&world->segment);
	return 0;
}

static void add(struct world *world, const char *text)
{
	char file[SIM_DELAYS_FILE_SIZE];
	struct sim_rule_error error;
	struct sim_rule rule;
	uint32_t id;

	assert_int_equal(sim_rule_parse(text, &rule, file, &error), 0);
	assert_int_equal(
		sim_plan_add(&shared_of(world)->plan, &rule, NULL, sim_fault_events_rule_begin_ns(&world->events), &id),
		0);
}

static void test_events_end_at_the_end_of_time(void **state)
{
	struct world *world = *state;

	add(world, "function reset");
	atomic_store(&shared_of(world)->clock.now_ns, UINT64_MAX);
	sim_fault_events_run(&world->events);
	assert_true(world->num_revoked > 0);
	add(world, "function reset");
	sim_fault_events_run(&world->events);
}

/* Its plan says that the event begins now, then a nanosecond later, and so on. */
static void test_an_event_whose_begin_moves_on_ends(void **state)
{
	struct world *world = *state;
	struct sim_plan_slot *slot = &shared_of(world)->plan.slots[0];

	add(world, "function device=mlx5_0 after='dma.memcpy nth=1' reset");
	atomic_store(&slot->has_begun, 1);
	atomic_store(&slot->added_ns, 2);
	atomic_fetch_add(&shared_of(world)->plan.generation, 1);
	atomic_store(&shared_of(world)->clock.now_ns, UINT64_MAX / 2);
	sim_fault_events_run(&world->events);
	assert_in_range(world->num_revoked, 2, 2 * SIM_PLAN_MAX_RULES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_events_end_at_the_end_of_time),
		TEST(test_an_event_whose_begin_moves_on_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
