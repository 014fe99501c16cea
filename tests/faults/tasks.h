/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/faults/tasks.h - what cells do with tasks, of which a fault hits the second one. */
#ifndef TESTS_FAULTS_TASKS_H
#define TESTS_FAULTS_TASKS_H

#include <doca_ctx.h>

#include "cell.h"

/* Submit task @number; a refusal, if the cell says so, frees the task. */
void tasks_submit(struct doca_task *task, int number);

/* Add a line to the trace of the task's side, "@what NUMBER", with its status unless it succeeded, and free the task. */
void tasks_note(struct doca_task *task, const char *what, union doca_data number);

/* Stop the context; that completes hanging tasks. */
void tasks_stop(struct comch_actor *actor, const char *lines);

/* Check result and time against the cell. */
void tasks_expect_all(struct side *side, uint64_t begin_ns);

#endif
