/* SPDX-License-Identifier: BSD-3-Clause */
/* Submission, callbacks and end of tasks whose second one a fault hits. */
#include "tasks.h"

#include <bfsim.h>

void tasks_submit(struct doca_task *task, int number)
{
	bool is_refused = cell_is("refuse") && number == 2;

	EXPECT(doca_task_submit(task), is_refused ? DOCA_ERROR_AGAIN : DOCA_SUCCESS);
	if (is_refused)
		doca_task_free(task);
}

void tasks_note(struct doca_task *task, const char *what, union doca_data number)
{
	struct comch_actor *actor = comch_actor_of(task);
	doca_error_t status = doca_task_get_status(task);

	if (status == DOCA_SUCCESS)
		comch_note(actor->side, "%s %u\n", what, (unsigned int)number.u64);
	else
		comch_note(actor->side, "%s %u failed: %s\n", what, (unsigned int)number.u64,
			   doca_error_get_name(status));
	doca_task_free(task);
}

void tasks_stop(struct comch_actor *actor, const char *lines)
{
	doca_error_t result = doca_ctx_stop(actor->ctx);

	CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
	comch_expect(actor->side, lines);
	CHECK(comch_state(actor) == DOCA_CTX_STATE_IDLE);
}

void tasks_expect_all(struct side *side, uint64_t begin_ns)
{
	comch_expect(side, cell->on_dpu);
	if (cell_is("delay"))
		CHECK(cell_since_ns(begin_ns) >= CELL_DELAY_NS);
	cell_expect_hit();
}
