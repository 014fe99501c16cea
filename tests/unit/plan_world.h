/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the injector share: a plan, two cards' functions, and the view of
 * a process in between. Included behind cmocka, by one file of a program. */
#ifndef TESTS_UNIT_PLAN_WORLD_H
#define TESTS_UNIT_PLAN_WORLD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "sim/faults/inject/injector.h"

#define MS UINT64_C(1000000)

struct world {
	struct sim_plan *plan;
	struct pcie_topology *topology;
	struct sim_injector *faults; /* of a process "app", pid 100, on side "node0/dpu" */
};

static inline struct sim_injector *view_of(const struct world *world, const char *side, const char *program,
					   int32_t pid)
{
	struct sim_injector_cfg cfg = {
		.plan = world->plan,
		.topology = world->topology,
		.self = { side, program, pid },
	};
	struct sim_injector *faults;

	assert_int_equal(sim_injector_create(&cfg, &faults), 0);
	return faults;
}

static const char topology_yaml[] = "cards:\n"
				    "- profile: bluefield-3\n"
				    "  functions:\n"
				    "  - {side: node0/dpu, type: pf, pci: '03:00.0'}\n"
				    "  - {side: node0/dpu, type: pf, pci: '03:00.1'}\n"
				    "  - {side: node0/host, type: pf, pci: 'b1:00.0', ibdev: mlx5_4}\n"
				    "  - {side: node0/host, type: pf, pci: '0001:b1:00.1'}\n"
				    "  - {side: node0/host, type: vf, parent: 'b1:00.0', pci: 'b1:00.2'}\n";
enum { DPU_PF0, DPU_PF1, HOST_PF0, HOST_PF1, HOST_VF0 };

static inline int set_up(void **state)
{
	static struct world world;
	char error[PCIE_ERROR_SIZE];

	if (pcie_topology_parse("test", topology_yaml, strlen(topology_yaml), &world.topology, error) ||
	    sim_plan_create(42, &world.plan))
		return -1;
	world.faults = view_of(&world, "node0/dpu", "app", 100);
	*state = &world;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *world = *state;

	sim_injector_destroy(world->faults);
	sim_plan_destroy(world->plan);
	pcie_topology_destroy(world->topology);
	return 0;
}

static inline uint32_t add_at(struct world *world, const char *text, uint64_t now_ns)
{
	return plan_add(world->plan, text, now_ns);
}

static inline uint32_t add(struct world *world, const char *text)
{
	return add_at(world, text, 0);
}

static struct sim_fault_hit hit; /* the last one */

static inline bool copy_is_hit(struct world *world, uint64_t size)
{
	struct sim_fault_site site = { .op = SIM_OP_DMA_MEMCPY, .function = DPU_PF0, .size = size, .addr = 0x1000 };

	return sim_injector_evaluate(world->faults, &site, &hit);
}

static inline bool op_is_hit(struct world *world, enum sim_op op)
{
	struct sim_fault_site site = { .op = op, .function = DPU_PF0, .size = 100 };

	return sim_injector_evaluate(world->faults, &site, &hit);
}

/* Which of @count copies a fault hits, as a text of "." and "x". */
static inline const char *pattern(struct world *world, int count)
{
	static char text[256];

	for (int i = 0; i < count; i++)
		text[i] = copy_is_hit(world, 4096) ? 'x' : '.';
	text[count] = '\0';
	return text;
}

static inline void find_counts(void *arg, const struct sim_plan_rule *rule)
{
	struct sim_plan_rule *wanted = arg;

	if (rule->id == wanted->id)
		*wanted = *rule;
}

static inline void assert_counted(struct world *world, uint32_t id, uint64_t matched, uint64_t fired)
{
	struct sim_plan_rule rule = { .id = id, .matched = UINT64_MAX };

	sim_plan_each(world->plan, find_counts, &rule);
	assert_int_equal(rule.matched, matched);
	assert_int_equal(rule.fired, fired);
}

#endif
