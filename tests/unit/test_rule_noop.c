/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that would change nothing on a PF with its VFs: by each action, and each state of the PF and of a VF. */
#include <stdatomic.h>
#include <string.h>

#include "guarded_topology.h"
#include "sim/state/rule_noop.h"

#define TOPOLOGY                                                              \
	"cards:\n"                                                            \
	"  - name: card\n"                                                    \
	"    profile: bluefield-3\n"                                          \
	"    functions:\n"                                                    \
	"      - {side: host, pci: 'b1:00.0', type: pf}\n"                    \
	"      - {side: host, pci: 'b1:00.2', type: vf, parent: 'b1:00.0'}\n" \
	"      - {side: host, pci: 'b1:00.3', type: vf, parent: 'b1:00.0'}\n" \
	"      - {side: host, pci: 'b1:00.1', type: pf}\n"                    \
	"      - {side: host, pci: 'b1:01.2', type: vf, parent: 'b1:00.1'}\n" \
	"      - {side: host, pci: 'b1:00.0', type: sf}\n"

enum { PF, VF0, VF1, OTHER_PF, OTHER_VF, SF };

#define REMOVED SIM_FUNCTION_REMOVED
#define FATAL   SIM_FUNCTION_FATAL
#define NO_REP  SIM_FUNCTION_REP_REMOVED

static struct guarded_topology guarded;
static struct sim_function_table functions;

static int setup(void **state)
{
	guarded_topology_parse(&guarded, TOPOLOGY);
	return 0;
}

static int teardown(void **state)
{
	guarded_topology_destroy(&guarded);
	return 0;
}

static bool is_noop(sim_bits actions, uint32_t num_vfs, uint32_t function)
{
	const struct sim_rule rule = { .ops = SIM_OP_BIT(SIM_OP_FUNCTION), .actions = actions, .num_vfs = num_vfs };
	const char *reason = NULL;
	bool is = sim_rule_is_noop(&rule, &functions, guarded.topology, function, &reason);

	assert_int_equal(is, reason != NULL);
	return is;
}

static void set_words(uint64_t pf, uint64_t vf0, uint64_t vf1)
{
	atomic_store(&functions.status_words[PF], pf);
	atomic_store(&functions.status_words[VF0], vf0);
	atomic_store(&functions.status_words[VF1], vf1);
	atomic_store(&functions.status_words[SF], pf & ~NO_REP);
}

/* Bits of the PF and of its VFs. */
static const struct {
	uint64_t pf, vf0, vf1;
	uint32_t noop; /* actions that would change nothing on the PF */
} states[] = {
#define DOES(act) SIM_ACT_BIT(SIM_ACT_##act)
	{ 0, 0, 0, DOES(ADD) },
	{ 0, REMOVED, REMOVED, 0 },
	{ 0, FATAL, 0, 0 },
	{ 0, NO_REP, 0, 0 },
	{ REMOVED, 0, 0, 0 },
	{ REMOVED, REMOVED, 0, 0 },
	{ REMOVED, 0, REMOVED, 0 },
	{ REMOVED, REMOVED, REMOVED, DOES(RESET) | DOES(REMOVE) | DOES(FATAL) },
	{ FATAL, FATAL, FATAL, DOES(FATAL) },
	{ FATAL, REMOVED, FATAL, DOES(FATAL) },
	{ FATAL, FATAL, 0, 0 },
	{ NO_REP, 0, 0, DOES(REP_REMOVE) },
	{ NO_REP, REMOVED, REMOVED, DOES(REP_REMOVE) },
	{ REMOVED | NO_REP, REMOVED, REMOVED, DOES(RESET) | DOES(REMOVE) | DOES(FATAL) | DOES(REP_REMOVE) },
};

static void test_actions_on_a_pf_with_its_vfs(void **state)
{
	static const sim_bits actions[] = { DOES(RESET), DOES(FATAL), DOES(REMOVE), DOES(ADD), DOES(REP_REMOVE) };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		set_words(states[i].pf, states[i].vf0, states[i].vf1);
		for (size_t a = 0; a < sizeof(actions) / sizeof(actions[0]); a++)
			if (is_noop(actions[a], 0, PF) != !!(states[i].noop & actions[a]))
				fail_msg("state %zu, action %zu", i, a);
	}
}

static void test_a_vf_is_by_itself(void **state)
{
	set_words(0, REMOVED, 0);
	assert_true(is_noop(DOES(REMOVE), 0, VF0));
	assert_false(is_noop(DOES(REMOVE), 0, VF1));
	assert_false(is_noop(DOES(ADD), 0, VF0));
	assert_true(is_noop(DOES(ADD), 0, VF1));
	set_words(REMOVED, 0, 0);
	assert_false(is_noop(DOES(REMOVE), 0, VF0));
}

static void test_all_actions_of_a_rule_count(void **state)
{
	set_words(REMOVED, REMOVED, REMOVED);
	assert_true(is_noop(DOES(REMOVE) | DOES(FATAL), 0, PF));
	assert_false(is_noop(DOES(REMOVE) | DOES(REP_REMOVE), 0, PF));
	assert_false(is_noop(DOES(REMOVE) | DOES(DOWN), 0, PF)); /* the link's part is none of a state */
	assert_false(is_noop(0, 0, PF));
}

static void test_numbers_of_vfs(void **state)
{
	set_words(0, 0, 0);
	assert_true(is_noop(DOES(NUM_VFS), 2, PF));
	assert_true(is_noop(DOES(NUM_VFS), 3, PF)); /* there are no more */
	assert_false(is_noop(DOES(NUM_VFS), 1, PF));
	set_words(0, 0, REMOVED);
	assert_true(is_noop(DOES(NUM_VFS), 1, PF));
	assert_false(is_noop(DOES(NUM_VFS), 2, PF));
	assert_false(is_noop(DOES(NUM_VFS), 0, PF));
	set_words(0, REMOVED, 0);
	assert_false(is_noop(DOES(NUM_VFS), 1, PF));
	set_words(REMOVED, REMOVED, REMOVED); /* the PF's own state does not count */
	assert_true(is_noop(DOES(NUM_VFS), 0, PF));
	set_words(0, FATAL, REMOVED);
	assert_false(is_noop(DOES(NUM_VFS), 1, PF));
	set_words(0, 0, FATAL); /* it is there, and is to be removed */
	assert_false(is_noop(DOES(NUM_VFS), 1, PF));
	set_words(0, REMOVED, REMOVED); /* an SF is no VF, and the other PF has VFs of its own */
	assert_true(is_noop(DOES(NUM_VFS), 0, PF));
	assert_true(is_noop(DOES(NUM_VFS), 1, OTHER_PF));
	assert_false(is_noop(DOES(NUM_VFS), 0, OTHER_PF));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actions_on_a_pf_with_its_vfs),
		cmocka_unit_test(test_a_vf_is_by_itself),
		cmocka_unit_test(test_all_actions_of_a_rule_count),
		cmocka_unit_test(test_numbers_of_vfs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
