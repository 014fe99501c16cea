/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/faults/cell.h - the matrix of faults: each action at each operation that it can strike.
 *
 * A cell is a rule and what its victim sees, told by two processes on one card
 * (tests/api/comch_util.h). A family is the cells of some operations: a table,
 *
 *   static const struct cell cells[] = {
 *           {"comch.send", "drop", "nth=2 drop", dpu, host, "what the DPU's trace is", "what the host's is"}, ...
 *   };
 *   return cell_run("messages", cells, sizeof(cells) / sizeof(cells[0]));
 *
 * which prints its part of the matrix. A pair of operation and action that
 * sim_op_actions() has and no cell is a failure, as is a rule that did not fire, and
 * an operation that belongs to no family.
 */
#ifndef TESTS_FAULTS_CELL_H
#define TESTS_FAULTS_CELL_H

#include "tests/api/comch_util.h"

struct cell {
	const char *op, *act;
	const char *rest; /* of the rule, behind the operation */
	comch_half *dpu, *host;
	const char *on_dpu, *on_host; /* as the halves take them: traces, most of them */
};

/* The cell that is being tested; for the halves. */
extern const struct cell *cell;

/* Put its rule into the plan, or take all out: by one of the sides, for both. Taking it
 * out, the rule must have fired once. */
void cell_strike(void);
void cell_struck(void);

/* The same, and the other side waits for it. */
void cell_begin(struct side *side, bool is_mine);

bool cell_is(const char *act);

/* Run the tests of a family (families in cell.c). */
int cell_run(const char *family, const struct cell *cells, size_t num_cells);

/* Session time since @from_ns. */
uint64_t cell_since_ns(uint64_t from_ns);

/* What "delay=500ms" is, and "stall=500ms", at least. Where a cell is to see what happens meanwhile, it is 3 s: that
 * happens sooner on a busy machine, too. */
#define CELL_DELAY_NS 500000000u

#endif
