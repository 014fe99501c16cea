/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of the rules about contexts, tasks and progress engines. */
#include "cases.h"

static void submit_not_running(void)
{
	struct rig *rig = rig_start(rig_open(NULL));
	struct doca_task *task = rig_small_task(rig, 1);

	CHECK(doca_ctx_stop(rig->ctx) == DOCA_ERROR_IN_PROGRESS); /* the task is not freed */
	CHECK(doca_task_submit(task) == DOCA_ERROR_BAD_STATE);
	doca_task_free(task);
	rig_close(rig);
}

static void submit_while_running(void)
{
	struct rig *rig = rig_start(rig_open(NULL));

	rig_submit_small(rig, 1);
	rig_drain(rig);
	rig_close(rig);
}

const struct check_case task_cases[] = {
	{ "submit-not-running", submit_not_running, submit_while_running },
	{ 0 },
};
