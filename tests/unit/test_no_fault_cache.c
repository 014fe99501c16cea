/* SPDX-License-Identifier: BSD-3-Clause */
/* The no-fault cache: after an evaluation without a rule, it holds the range around the site that has none, and no
 * more. */
#include "plan_world.h"

static struct sim_fault_site copy_at(uint64_t size, uint64_t addr)
{
	return (struct sim_fault_site){ .op = SIM_OP_DMA_MEMCPY, .function = DPU_PF0, .size = size, .addr = addr };
}

static struct sim_no_fault_cache cache;

/* Evaluate there: no rule hits, and the cache is filled if possible. */
static void ask(struct world *world, struct sim_fault_site site)
{
	assert_false(sim_injector_evaluate(world->faults, &site, &hit));
	sim_no_fault_cache_find(&cache, world->faults, &site);
}

static bool is_near(const struct world *world, struct sim_fault_site site)
{
	return sim_no_fault_cache_has_near(&cache, world->faults, site.size, site.addr);
}

/* What is near is in the range, too. */
static bool is_cached(const struct world *world, struct sim_fault_site site)
{
	bool is_there = sim_no_fault_cache_has(&cache, world->faults, site.size, site.addr);

	if (is_near(world, site))
		assert_true(is_there);
	return is_there;
}

static int set_up_cache(void **state)
{
	cache = (struct sim_no_fault_cache){ 0 };
	return set_up(state);
}

static void test_before_an_ask_nothing_is_cached(void **state)
{
	assert_false(is_cached(*state, copy_at(0, 0)));
	assert_false(is_cached(*state, copy_at(64, 0x1000)));
}

static void test_no_fault_range_ends_where_the_next_sizes_begin(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy size=10..20 tear");
	add(world, "dma.memcpy size=1..24 tear");
	add(world, "dma.memcpy size=30..40 tear");
	add(world, "dma.memcpy size=33..50 tear");
	ask(world, copy_at(27, 0x1000));
	for (uint64_t size = 0; size < 60; size++)
		if (is_cached(world, copy_at(size, 0x1000)) != (size > 24 && size < 30))
			fail_msg("%u bytes", (unsigned int)size);
}

/* From the first byte behind a range to a copy whose last byte is before the next one. */
static void test_no_fault_range_ends_where_the_next_addresses_begin(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy addr=0x1000..0x1fff tear");
	add(world, "dma.memcpy addr=0x3000..0x3fff tear");
	ask(world, copy_at(64, 0x2800));
	assert_true(is_cached(world, copy_at(64, 0x2000)));
	assert_false(is_cached(world, copy_at(64, 0x1fff)));
	assert_true(is_cached(world, copy_at(64, 0x3000 - 64)));
	assert_false(is_cached(world, copy_at(65, 0x3000 - 64)));
	assert_false(is_cached(world, copy_at(64, UINT64_MAX)));
	assert_false(is_cached(world, copy_at(UINT64_MAX, 0x2000)));
}

/* Of a size that was not looked up, no site is near; of a smaller one, all whose end is as far from the rule. */
static void test_near_sites_are_of_sizes_that_were_looked_up(void **state)
{
	struct world *world = *state;

	add(world, "dma.memcpy addr=0x3000..0x3fff tear");
	add(world, "dma.memcpy size=4096..8192 tear");
	ask(world, copy_at(64, 0x2000));
	assert_true(is_near(world, copy_at(64, 0x3000 - 64)));
	assert_false(is_near(world, copy_at(64, 0x3000 - 63)));
	assert_true(is_near(world, copy_at(32, 0x3000 - 64)));
	assert_false(is_near(world, copy_at(128, 0x2000)));
	assert_true(is_cached(world, copy_at(32, 0x3000 - 32)) && is_cached(world, copy_at(128, 0x2000)));
	ask(world, copy_at(128, 0x2000));
	assert_true(is_near(world, copy_at(128, 0x3000 - 128)));
	assert_false(is_near(world, copy_at(64, 0x3000 - 64)));
	ask(world, copy_at(64, 0x2000));
	assert_true(is_near(world, copy_at(128, 0x2000)));
	assert_false(is_near(world, copy_at(4096, 0x2000)));
	add(world, "dma.memcpy size=1 tear");
	assert_false(is_near(world, copy_at(64, 0x2000)));
}

static void test_other_functions_and_operations_are_not_meant(void **state)
{
	struct world *world = *state;
	struct sim_fault_site site = copy_at(64, 0x1000);

	add(world, "dma.memcpy,comch.send device=03:00.1 delay=1us");
	ask(world, site);
	assert_true(is_cached(world, site));
	cache = (struct sim_no_fault_cache){ 0 }; /* another one, for the second function */
	site.function = DPU_PF1;
	assert_false(sim_no_fault_cache_fill(&cache, world->faults, &site));
	assert_false(is_cached(world, site));
	cache = (struct sim_no_fault_cache){ 0 };
	site = copy_at(64, 0x1000);
	site.op = SIM_OP_COMCH_SEND;
	assert_true(sim_no_fault_cache_fill(&cache, world->faults, &site));
}

static void test_a_changed_plan_ends_it(void **state)
{
	struct world *world = *state;
	struct sim_fault_site site = copy_at(64, 0x1000);
	uint32_t id;

	add(world, "dma.memcpy size=10 tear");
	ask(world, site);
	assert_true(is_cached(world, site));
	id = add(world, "dma.memcpy size=64 tear");
	assert_false(is_cached(world, site));
	assert_true(sim_injector_evaluate(world->faults, &site, &hit));
	assert_false(is_cached(world, site));
	assert_int_equal(sim_plan_remove(world->plan, id), 0);
	ask(world, site);
	assert_true(is_cached(world, site));
}

/* A rule that matched the site may fire at the next match: by chance, by count, by the clock. An event waits for operations of
 * any device. */
static void test_where_a_rule_waits_nothing_is_cached(void **state)
{
	static const char *const waiting[] = { "dma.memcpy nth=100 tear",
					       "dma.memcpy p=1e-9 tear",
					       "dma.memcpy skip=99 tear",
					       "dma.memcpy from=1s tear",
					       "link device=03:00.1 after='dma.memcpy nth=100' down=1s",
					       "link side=host after='dma.memcpy nth=100' down=1s" };
	struct world *world = *state;

	for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
		add(world, waiting[i]);
		ask(world, copy_at(64, 0x1000));
		if (is_cached(world, copy_at(64, 0x1000)))
			fail_msg("%s", waiting[i]);
		sim_plan_clear(world->plan);
	}
}

/* ---- any rules, any sites ---- */

#define NUM_RANGES 60
#define SPACE      400

struct range {
	uint64_t size_min, size_max, addr_min, addr_max;
};

static bool is_met(const struct range *ranges, uint64_t size, uint64_t addr)
{
	uint64_t last = addr + (size ? size - 1 : 0);

	for (int i = 0; i < NUM_RANGES; i++)
		if (size >= ranges[i].size_min && size <= ranges[i].size_max && addr <= ranges[i].addr_max &&
		    last >= ranges[i].addr_min)
			return true;
	return false;
}

static void add_range(struct world *world, struct range *ret_range)
{
	char text[128];

	ret_range->size_min = (uint64_t)(rand() % SPACE);
	ret_range->size_max = ret_range->size_min + (uint64_t)(rand() % 20);
	ret_range->addr_min = (uint64_t)(rand() % SPACE);
	ret_range->addr_max = ret_range->addr_min + (uint64_t)(rand() % 100);
	snprintf(text, sizeof(text), "dma.memcpy size=%u..%u addr=%u..%u delay=1ns", (unsigned int)ret_range->size_min,
		 (unsigned int)ret_range->size_max, (unsigned int)ret_range->addr_min,
		 (unsigned int)ret_range->addr_max);
	add(world, text);
}

static void test_with_any_rules_each_site_is_hit_as_without_the_cache(void **state)
{
	struct world *world = *state;
	struct range ranges[NUM_RANGES];
	unsigned int num_cached = 0, num_near = 0;

	srand(1);
	for (int round = 0; round < 20; round++) {
		sim_plan_clear(world->plan);
		for (int i = 0; i < NUM_RANGES; i++)
			add_range(world, &ranges[i]);
		for (int i = 0; i < 2000; i++) {
			/* often near the previous one */
			static uint64_t size, addr;
			struct sim_fault_site site;

			size = rand() % 3 ? size + (uint64_t)(rand() % 3) : (uint64_t)(rand() % SPACE);
			addr = rand() % 3 ? addr + (uint64_t)(rand() % 3) : (uint64_t)(rand() % SPACE);
			site = copy_at(size, addr);
			if (is_cached(world, site)) { /* found for another site, some time ago */
				num_cached++;
				assert_false(is_met(ranges, size, addr));
			}
			if (sim_no_fault_cache_find(&cache, world->faults, &site))
				assert_false(is_met(ranges, size, addr));
			num_near += is_near(world, site);
			if (sim_injector_evaluate(world->faults, &site, &hit) != is_met(ranges, size, addr))
				fail_msg("round %d: %u bytes at %u", round, (unsigned int)size, (unsigned int)addr);
		}
	}
	assert_true(num_cached > 100 && num_near > 100); /* else the test proves nothing */
}

int main(void)
{
#define test(name) cmocka_unit_test_setup_teardown(name, set_up_cache, tear_down)
	const struct CMUnitTest tests[] = {
		test(test_before_an_ask_nothing_is_cached),
		test(test_no_fault_range_ends_where_the_next_sizes_begin),
		test(test_no_fault_range_ends_where_the_next_addresses_begin),
		test(test_near_sites_are_of_sizes_that_were_looked_up),
		test(test_other_functions_and_operations_are_not_meant),
		test(test_a_changed_plan_ends_it),
		test(test_where_a_rule_waits_nothing_is_cached),
		test(test_with_any_rules_each_site_is_hit_as_without_the_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
