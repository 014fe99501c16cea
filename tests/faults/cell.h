/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/faults/cell.h - the matrix of faults: each action at each operation that it can hit.
 *
 * A cell is a rule and its expected effects, observed by two processes on one card
 * (tests/api/comch_util.h). A family is the cells of some operations: a table,
 *
 *   static const struct cell cells[] = {
 *           {"comch.send", "drop", "nth=2 drop", dpu, host, "trace of the DPU", "trace of the host"}, ...
 *   };
 *   return cell_run("messages", cells, sizeof(cells) / sizeof(cells[0]));
 *
 * cell_run() prints the family's part of the matrix. It fails if a pair of operation
 * and action of sim_op_actions() has no cell, if a rule did not fire, or if an
 * operation belongs to no family.
 */
#ifndef TESTS_FAULTS_CELL_H
#define TESTS_FAULTS_CELL_H

#include "tests/api/comch_util.h"

struct cell {
	const char *op, *act;
	const char *rest; /* of the rule, behind the operation */
	comch_half *dpu, *host;
	const char *on_dpu, *on_host; /* parameters of the halves, mostly traces */
};

/* The cell under test, for the halves. */
extern const struct cell *cell;

/* Add the cell's rule to the plan; expect that it fired once, and remove it. One of the sides calls them for both. */
void cell_arm(void);
void cell_expect_hit(void);

/* Whether the rule has fired. */
bool cell_has_hit(void);

/* Add the rule if @is_mine, and meet the other side. */
void cell_begin(struct side *side, bool is_mine);

bool cell_is(const char *act);

/* Run the tests of a family (families in cell.c). */
int cell_run(const char *family, const struct cell *cells, size_t num_cells);

/* Session time since @from_ns. */
uint64_t cell_since_ns(uint64_t from_ns);

/* At least the length of "delay=500ms" and "stall=500ms". Cells that observe events during the delay use 3 s, which
 * a busy machine manages too. */
#define CELL_DELAY_NS 500000000u

#endif
