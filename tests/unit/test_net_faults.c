/* SPDX-License-Identifier: BSD-3-Clause */
/* sim/state/net_faults.c: the functions whose network links a rule takes down, and when. */
#include "fault_events_rig.h"
#include "sim/clock/net_outage.h"

/* A card with two ports: the DPU's PFs, each with the host's PF that it represents; VFs of both, and an SF. */
#define TOPOLOGY                                                              \
	"cards:\n"                                                            \
	"  - profile: bluefield-3\n"                                          \
	"    functions:\n"                                                    \
	"      - {side: dpu, pci: '03:00.0', type: pf}\n"                     \
	"      - {side: dpu, pci: '03:00.1', type: pf}\n"                     \
	"      - {side: dpu, type: sf, pci: '03:00.0'}\n"                     \
	"      - {side: host, pci: 'b1:00.0', type: pf}\n"                    \
	"      - {side: host, pci: 'b1:00.1', type: pf}\n"                    \
	"      - {side: host, pci: 'b1:00.3', type: vf, parent: 'b1:00.0'}\n" \
	"      - {side: host, pci: 'b1:01.3', type: vf, parent: 'b1:00.1'}\n"
enum { DPU0, DPU1, SF, HOST0, HOST1, VF0, VF1, NUM };

static int setup(void **state)
{
	static struct events_world world;

	events_begin(&world, SIM_CLOCK_VIRTUAL, TOPOLOGY);
	*state = &world;
	return 0;
}

static int teardown(void **state)
{
	events_end(*state);
	return 0;
}

/* The functions whose links are down at @at_ns, as bits. */
static unsigned int find_down(struct events_world *world, uint64_t at_ns)
{
	unsigned int down = 0;

	for (uint32_t i = 0; i < NUM; i++)
		if (sim_clock_net_link_up_ns(&events_shared(world)->clock.net, i, at_ns) > 0)
			down |= 1u << i;
	return down;
}

#define BIT(function) (1u << (function))

static void expect_down(struct events_world *world, const char *device, unsigned int expected)
{
	char rule[128];
	uint32_t id;

	snprintf(rule, sizeof(rule), "net.link device=%s down=1us", device);
	id = events_add(world, rule);
	events_run_at(world, 100);
	assert_int_equal(find_down(world, 100), expected);
	assert_string_equal(world->trace, "");
	assert_int_equal(sim_plan_remove(&events_shared(world)->plan, id), 0);
	events_run_at(world, 100);
	assert_int_equal(find_down(world, 100), 0);
}

static void test_functions_follow_their_port_or_their_pf(void **state)
{
	struct events_world *world = *state;

	expect_down(world, "03:00.0", BIT(DPU0) | BIT(SF) | BIT(HOST0) | BIT(VF0));
	expect_down(world, "03:00.1", BIT(DPU1) | BIT(HOST1) | BIT(VF1));
	expect_down(world, "b1:00.0", BIT(HOST0) | BIT(VF0));
	expect_down(world, "b1:00.3", BIT(VF0));
	expect_down(world, "\"*\"", BIT(NUM) - 1);
}

/* ---- trunks ---- */

#define TRUNKS_TOPOLOGY                                   \
	"cards:\n"                                        \
	"  - profile: bluefield-3\n"                      \
	"    functions:\n"                                \
	"      - {side: dpu, pci: '03:00.0', type: pf}\n" \
	"      - {side: dpu, pci: '03:00.1', type: pf}\n" \
	"network:\n"                                      \
	"  switches: [{name: a}, {name: b}, {name: c}]\n" \
	"  links:\n"                                      \
	"    - {from: dpu/03:00.0, to: a}\n"              \
	"    - {from: a, to: b}\n"                        \
	"    - {from: c, to: b}\n"                        \
	"    - {from: a, to: b}\n"                        \
	"    - {from: dpu/03:00.1, to: c}\n"
enum { LINK_AB = 2 + 1, LINK_CB, LINK_AB_TOO, NUM_LINK_IDS = 2 + 5 };

static int setup_trunks(void **state)
{
	static struct events_world world;

	events_begin(&world, SIM_CLOCK_VIRTUAL, TRUNKS_TOPOLOGY);
	*state = &world;
	return 0;
}

static unsigned int find_links_down(struct events_world *world, uint64_t at_ns)
{
	unsigned int down = 0;

	for (uint32_t i = 0; i < NUM_LINK_IDS; i++)
		if (sim_clock_net_link_up_ns(&events_shared(world)->clock.net, i, at_ns) > 0)
			down |= 1u << i;
	return down;
}

static void expect_links_down(struct events_world *world, const char *where, unsigned int expected)
{
	char rule[128];
	uint32_t id;

	snprintf(rule, sizeof(rule), "net.link %s down=1us", where);
	id = events_add(world, rule);
	events_run_at(world, 100);
	assert_int_equal(find_links_down(world, 100), expected);
	assert_int_equal(sim_plan_remove(&events_shared(world)->plan, id), 0);
	events_run_at(world, 100);
	assert_int_equal(find_links_down(world, 100), 0);
}

/* By the names of their switches, in either order; a rule that names no switches is for functions. */
static void test_trunks_have_names(void **state)
{
	struct events_world *world = *state;

	expect_links_down(world, "device=b/c", BIT(LINK_CB));
	expect_links_down(world, "device=c/b", BIT(LINK_CB));
	expect_links_down(world, "device=b/a", BIT(LINK_AB) | BIT(LINK_AB_TOO));
	expect_links_down(world, "device=\"*/b\"", BIT(LINK_AB) | BIT(LINK_CB) | BIT(LINK_AB_TOO));
	expect_links_down(world, "device=a/c", 0);
	expect_links_down(world, "device=b", 0);
	expect_links_down(world, "device=b/c side=dpu", 0);
	expect_links_down(world, "device=\"*\"", BIT(0) | BIT(1));
	expect_links_down(world, "", BIT(0) | BIT(1));
}

/* Ways to a function pass the trunks; those behind a trunk that is down do not reach each other. */
static void test_way_has_its_trunks(void **state)
{
	struct events_world *world = *state;
	struct sim_clock_net_way way;

	sim_clock_net_find_way(world->guarded.topology, 1, 0, &way);
	assert_int_equal(way.num, 2 + 2 * 2);
	events_add(world, "net.link device=c/b down=1us");
	events_run_at(world, 100);
	assert_true(sim_clock_net_way_up_ns(&events_shared(world)->clock.net, &way, 100) > 0);
	sim_clock_net_find_way(world->guarded.topology, 0, 0, &way);
	assert_int_equal(way.num, 2);
	assert_int_equal(sim_clock_net_way_up_ns(&events_shared(world)->clock.net, &way, 100), 0);
	sim_clock_net_find_way(world->guarded.topology, 0, 2, &way);
	assert_int_equal(way.num, 0);
}

static void add_fired(void *arg, const struct sim_plan_rule *rule)
{
	*(uint64_t *)arg += rule->fired;
}

static uint64_t num_fired(struct events_world *world)
{
	uint64_t fired = 0;

	sim_plan_each(&events_shared(world)->plan, add_fired, &fired);
	return fired;
}

/* The begin is known when the rule is added; others learn of it before it comes. */
static void test_outage_is_announced(void **state)
{
	struct events_world *world = *state;

	events_add(world, "net.link device=03:00.1 side=dpu from=1us down=1us");
	events_run_at(world, 100);
	assert_int_equal(find_down(world, 999), 0);
	assert_int_equal(find_down(world, 1000), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
	assert_int_equal(find_down(world, 2000), 0);
	assert_int_equal(num_fired(world), 0);
	events_run_at(world, 1700);
	assert_int_equal(num_fired(world), 1);
	assert_int_equal(find_down(world, 1999), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
	assert_int_equal(find_down(world, 2000), 0);
}

static void test_outage_of_a_trunk_is_announced_and_counted(void **state)
{
	struct events_world *world = *state;

	events_add(world, "net.link device=b/c from=1us down=1us");
	events_add(world, "net.link device=a/b from=1us nth=2 down=1us");
	events_run_at(world, 100);
	assert_int_equal(find_links_down(world, 999), 0);
	assert_int_equal(find_links_down(world, 1000), BIT(LINK_CB));
	events_run_at(world, 1200);
	assert_int_equal(num_fired(world), 2);
	assert_int_equal(find_links_down(world, 1999), BIT(LINK_CB) | BIT(LINK_AB_TOO));
	assert_int_equal(find_links_down(world, 2000), BIT(LINK_AB_TOO));
	assert_int_equal(find_links_down(world, 2200), 0);
}

/* What decides by a count is known when it begins. */
static void test_outage_that_counts_begins_with_its_evaluation(void **state)
{
	struct events_world *world = *state;

	events_add(world, "net.link side=dpu from=1us nth=2 down=1us");
	events_run_at(world, 100);
	assert_int_equal(find_down(world, 1500), 0);
	events_run_at(world, 1200);
	assert_int_equal(find_down(world, 1500), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
	assert_int_equal(find_down(world, 2200), 0);
}

/* An outage of which nobody reads the begin is there at once: time stands still while a rule is added. */
static void test_outage_without_a_begin_is_there_at_once(void **state)
{
	struct events_world *world = *state;

	events_run_at(world, 100);
	events_add(world, "net.link device=03:00.1 side=dpu down=1us");
	sim_fault_events_announce_net_links(&world->events);
	assert_int_equal(find_down(world, 100), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
	events_run_at(world, 600);
	assert_int_equal(find_down(world, 1099), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
	assert_int_equal(find_down(world, 1100), 0);
}

/* Its place at the link is another rule's by now, and rules are announced again. */
static void expect_no_return(struct events_world *world, uint64_t now_ns)
{
	atomic_store(&events_shared(world)->clock.now_ns, now_ns);
	events_add(world, "net.link device=03:00.1 side=dpu from=9us down=1us");
	for (int i = 0; i < 2; i++)
		sim_fault_events_announce_net_links(&world->events);
	assert_int_equal(find_down(world, now_ns), 0);
	assert_int_equal(find_down(world, 9000), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
}

static void test_outage_that_is_over_does_not_return(void **state)
{
	struct events_world *world = *state;

	events_run_at(world, 100);
	events_add(world, "net.link device=03:00.1 side=dpu down=1us");
	sim_fault_events_announce_net_links(&world->events);
	events_run_at(world, 1200);
	expect_no_return(world, 1200);
}

/* The last events were those of its begin. */
static void test_outage_that_began_with_the_last_event_does_not_return(void **state)
{
	struct events_world *world = *state;

	events_add(world, "net.link device=03:00.1 side=dpu from=1us down=1us");
	events_run_at(world, 1000);
	expect_no_return(world, 2500);
}

static void test_rule_that_is_added_at_its_end_has_no_outage(void **state)
{
	struct events_world *world = *state;

	events_run_at(world, 1000);
	assert_int_equal(sim_fault_events_rule_begin_ns(&world->events), 1001);
	events_add(world, "net.link device=03:00.1 side=dpu until=1001ns down=1us");
	sim_fault_events_announce_net_links(&world->events);
	assert_int_equal(find_down(world, 1001), 0);
	events_add(world, "net.link device=03:00.1 side=dpu until=1002ns down=1us");
	sim_fault_events_announce_net_links(&world->events);
	assert_int_equal(find_down(world, 1001), BIT(DPU1) | BIT(HOST1) | BIT(VF1));
}

static unsigned int num_lines;

static void count_line(int level, const char *file, int line, const char *func, const char *format, va_list args)
{
	num_lines += strstr(format, "finds no room") != NULL; /* others tell of faults that are applied */
}

static void test_outage_without_room_is_told(void **state)
{
	struct events_world *world = *state;

	num_lines = 0;
	sim_log_set_sink(count_line);
	for (unsigned int i = 0; i < SIM_CLOCK_MAX_WINDOWS; i++)
		events_add(world, "net.link device=03:00.1 side=dpu down=1us");
	events_run_at(world, 100);
	assert_int_equal(num_lines, 0);
	events_add(world, "net.link device=03:00.1 side=dpu down=1us");
	events_run_at(world, 200);
	assert_int_equal(num_lines, 1);
	sim_log_set_sink(NULL);
}

#define TEST(name)       cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_TRUNK(name) cmocka_unit_test_setup_teardown(name, setup_trunks, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_functions_follow_their_port_or_their_pf),
		TEST(test_outage_is_announced),
		TEST(test_outage_that_counts_begins_with_its_evaluation),
		TEST(test_outage_without_a_begin_is_there_at_once),
		TEST(test_outage_that_is_over_does_not_return),
		TEST(test_outage_that_began_with_the_last_event_does_not_return),
		TEST(test_rule_that_is_added_at_its_end_has_no_outage),
		TEST(test_outage_without_room_is_told),
		TEST_TRUNK(test_trunks_have_names),
		TEST_TRUNK(test_way_has_its_trunks),
		TEST_TRUNK(test_outage_of_a_trunk_is_announced_and_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
