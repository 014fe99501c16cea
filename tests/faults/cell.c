/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one cell of the fault matrix and compares what both sides observe. */
#include "cell.h"

#include <bfsim.h>

#include "sim/faults/rule/op.h"

#define MAX_CELLS 64

const struct cell *cell;

static const struct {
	const char *name;
	sim_bits ops;
} families[] = {
	{ "messages",
	  SIM_OP_BIT(SIM_OP_COMCH_SEND) | SIM_OP_BIT(SIM_OP_COMCH_RECV) | SIM_OP_BIT(SIM_OP_COMCH_CONNECT) },
	{ "death", SIM_OP_BIT(SIM_OP_COMCH_PEER_DEATH) },
	{ "fast", SIM_OP_BIT(SIM_OP_COMCH_PRODUCER_SEND) | SIM_OP_BIT(SIM_OP_COMCH_CONSUMER_RECV) },
	{ "channel", SIM_OP_BIT(SIM_OP_COMM_CHANNEL_CONNECT) | SIM_OP_BIT(SIM_OP_COMM_CHANNEL_SEND) |
			     SIM_OP_BIT(SIM_OP_COMM_CHANNEL_RECV) },
	{ "tasks",
	  SIM_OP_BIT(SIM_OP_DMA_MEMCPY) | SIM_OP_BIT(SIM_OP_SYNC_EVENT_UPDATE) | SIM_OP_BIT(SIM_OP_SYNC_EVENT_WAIT) },
	{ "sha", SIM_OP_BIT(SIM_OP_SHA_HASH) | SIM_OP_BIT(SIM_OP_SHA_PARTIAL_HASH) },
	{ "compress", SIM_OP_BIT(SIM_OP_COMPRESS_DEFLATE) | SIM_OP_BIT(SIM_OP_DECOMPRESS_DEFLATE) |
			      SIM_OP_BIT(SIM_OP_DECOMPRESS_LZ4_STREAM) | SIM_OP_BIT(SIM_OP_DECOMPRESS_LZ4_BLOCK) },
	{ "erasure coding", SIM_OP_BIT(SIM_OP_EC_GALOIS_MUL) | SIM_OP_BIT(SIM_OP_EC_CREATE) |
				    SIM_OP_BIT(SIM_OP_EC_UPDATE) | SIM_OP_BIT(SIM_OP_EC_RECOVER) },
	{ "AES-GCM", SIM_OP_BIT(SIM_OP_AES_GCM_ENCRYPT) | SIM_OP_BIT(SIM_OP_AES_GCM_DECRYPT) },
	{ "rdma", SIM_OP_BIT(SIM_OP_RDMA_RECEIVE) | SIM_OP_BIT(SIM_OP_RDMA_SEND) | SIM_OP_BIT(SIM_OP_RDMA_SEND_IMM) |
			  SIM_OP_BIT(SIM_OP_RDMA_READ) | SIM_OP_BIT(SIM_OP_RDMA_WRITE) |
			  SIM_OP_BIT(SIM_OP_RDMA_WRITE_IMM) | SIM_OP_BIT(SIM_OP_RDMA_CMP_SWP) |
			  SIM_OP_BIT(SIM_OP_RDMA_FETCH_ADD) | SIM_OP_BIT(SIM_OP_RDMA_EVENT_GET) |
			  SIM_OP_BIT(SIM_OP_RDMA_EVENT_SET) | SIM_OP_BIT(SIM_OP_RDMA_EVENT_ADD) },
	{ "rdma connections",
	  SIM_OP_BIT(SIM_OP_RDMA_CONNECT) | SIM_OP_BIT(SIM_OP_RDMA_ACCEPT) | SIM_OP_BIT(SIM_OP_RDMA_LISTEN) },
	{ "dpa", SIM_OP_BIT(SIM_OP_DPA_START) | SIM_OP_BIT(SIM_OP_DPA_COPY) | SIM_OP_BIT(SIM_OP_DPA_RPC) |
			 SIM_OP_BIT(SIM_OP_DPA_LAUNCH) | SIM_OP_BIT(SIM_OP_DPA_NOTIFY) |
			 SIM_OP_BIT(SIM_OP_DPA_KERNEL) },
	{ "calls", SIM_OP_BIT(SIM_OP_MMAP_EXPORT) | SIM_OP_BIT(SIM_OP_MMAP_IMPORT) | SIM_OP_BIT(SIM_OP_CTX_START) |
			   SIM_OP_BIT(SIM_OP_DEV_OPEN) | SIM_OP_BIT(SIM_OP_ALLOC) },
};

static const struct cell *family_cells;
static size_t num_family_cells;
static sim_bits family_ops;

/* ---- the rule ---- */

static uint32_t rule_id;

void cell_arm(void)
{
	char rule[256];

	snprintf(rule, sizeof(rule), "%s %s", cell->op, cell->rest);
	if (bfsim_fault_add(rule, &rule_id) != 0)
		check_fail(__FILE__, __LINE__, rule, bfsim_error(), "a rule");
}

bool cell_has_hit(void)
{
	struct bfsim_fault fault;

	return bfsim_fault_get(rule_id, &fault) == 0 && fault.fired > 0;
}

void cell_expect_hit(void)
{
	struct bfsim_fault fault;

	if (bfsim_fault_get(rule_id, &fault) != 0 || fault.fired != 1)
		check_fail(__FILE__, __LINE__, cell->op, "fired not once", cell->rest);
	CHECK(bfsim_fault_clear() == 0);
}

void cell_begin(struct side *side, bool is_mine)
{
	if (is_mine)
		cell_arm();
	comch_meet(side);
}

bool cell_is(const char *act)
{
	return strcmp(cell->act, act) == 0;
}

uint64_t cell_since_ns(uint64_t from_ns)
{
	return bfsim_now_ns() - from_ns;
}

/* ---- the matrix ---- */

static bool has_cell(enum sim_op op, enum sim_act act)
{
	for (size_t i = 0; i < num_family_cells; i++)
		if (strcmp(family_cells[i].op, sim_op_name(op)) == 0 &&
		    strcmp(family_cells[i].act, sim_act_name(act)) == 0)
			return true;
	return false;
}

/* Print one line: the existing actions, "-" before untested ones. Returns the number of untested ones. */
static int print_line(enum sim_op op)
{
	int missing = 0;

	print_message("%-20s", sim_op_name(op));
	for (enum sim_act act = 0; act < SIM_ACT_COUNT; act++) {
		if (!(sim_op_actions(op) & SIM_ACT_BIT(act)))
			continue;
		missing += !has_cell(op, act);
		print_message(" %s%s", has_cell(op, act) ? "" : "-", sim_act_name(act));
	}
	print_message("\n");
	return missing;
}

static void test_each_action_at_each_operation_has_a_cell(void **state)
{
	int missing = 0;

	for (enum sim_op op = 0; op < SIM_OP_COUNT; op++)
		if (family_ops & SIM_OP_BIT(op))
			missing += print_line(op);
	assert_int_equal(missing, 0);
}

static void test_each_operation_belongs_to_a_family(void **state)
{
	sim_bits ops = SIM_OPS_EVENTS;

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		ops |= families[i].ops;
	assert_true(ops == SIM_OPS_ALL);
}

/* ---- running ---- */

static void run_cell(void **state)
{
	struct comch_halves halves;
	void *both = &halves;

	cell = *state;
	halves = (struct comch_halves){ cell->dpu, cell->host };
	comch_run_halves(&both);
}

int cell_run(const char *family, const struct cell *cells, size_t num_cells)
{
	static char names[MAX_CELLS][64];
	struct CMUnitTest tests[MAX_CELLS + 2] = {
		cmocka_unit_test(test_each_operation_belongs_to_a_family),
		cmocka_unit_test(test_each_action_at_each_operation_has_a_cell),
	};

	assert_true(num_cells <= MAX_CELLS);
	family_cells = cells;
	num_family_cells = num_cells;
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strcmp(families[i].name, family) == 0)
			family_ops = families[i].ops;
	assert_true(family_ops != 0);
	for (size_t i = 0; i < num_cells; i++) {
		snprintf(names[i], sizeof(names[i]), "%s %s", cells[i].op, cells[i].rest);
		tests[i + 2] = (struct CMUnitTest){ .name = names[i],
						    .test_func = run_cell,
						    .initial_state = (void *)(uintptr_t)&cells[i] };
	}
	return comch_run_all(family, tests, num_cells + 2);
}
