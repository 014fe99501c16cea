/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/faults/engine.h - faults at the tasks of an accelerator.
 *
 * Three tasks are submitted, and a fault hits the second one, or the third, if its end never comes. A failed task
 * leaves the part of its output that the rule says, and adds no data. A flip shows in the output as one wrong bit.
 *
 * A test program defines engine and its table of ENGINE_CELLS(). Callbacks call tasks_note() with "task".
 */
#ifndef TESTS_FAULTS_ENGINE_H
#define TESTS_FAULTS_ENGINE_H

#include <doca_buf.h>
#include <doca_dev.h>

#include "cell.h"
#include "tasks.h"

#define ENGINE_TASKS 3
#define ENGINE_ROOM  256 /* bytes: the largest room */

struct engine {
	size_t room;                                    /* of a source, and of a destination */
	size_t moved;                                   /* bytes that a failed task has written */
	struct doca_ctx *(*open)(struct doca_dev *dev); /* create the context, configured for the tasks */
	void (*prepare)(void);                          /* when it runs; NULL = nothing */
	size_t (*fill)(uint8_t *src, int number);       /* write the source of a task and return its length */
	struct doca_task *(*make)(const struct doca_buf *src, struct doca_buf *dst, union doca_data number);
	/* The output of a task without a fault; NULL = that of the first task, which no fault hits. */
	const uint8_t *(*expected)(int number);
	size_t (*len)(void);                              /* of that output */
	void (*check)(const uint8_t *output, int number); /* what else a task leaves; NULL = nothing */
	void (*close)(void);                              /* destroy the context */
};

extern const struct engine engine;

void engine_dpu(struct side *side);

bool engine_task_succeeds(int number);

unsigned int engine_wrong_bits(const uint8_t *output, const uint8_t *expected, size_t len);

#define ENGINE_STOPS     "engine: running -> stopping\n"
#define ENGINE_IDLE      "engine: stopping -> idle\n"
#define ENGINE_IO_FAILED " failed: DOCA_ERROR_IO_FAILED\n"
#define ENGINE_ALL       "task 1\ntask 2\ntask 3\n"

/* The host's field of the cell holds the trace of stopping the context; NULL = a failed task stopped it. */
#define ENGINE_CELL(op, act, rest, on_dpu, on_host)                       \
	{                                                                 \
		op, act, rest, engine_dpu, comch_nothing, on_dpu, on_host \
	}

#define ENGINE_CELLS(op, moved)                                                                        \
	ENGINE_CELL(op, "refuse", "nth=2 refuse", "task 1\ntask 3\n", ENGINE_STOPS ENGINE_IDLE),       \
		ENGINE_CELL(op, "fail", "nth=2 fail=TIME_OUT moved=" moved,                            \
			    "task 1\n" ENGINE_STOPS                                                    \
			    "task 2 failed: DOCA_ERROR_TIME_OUT\ntask 3" ENGINE_IO_FAILED ENGINE_IDLE, \
			    NULL),                                                                     \
		ENGINE_CELL(op, "hang", "nth=3 hang", "task 1\ntask 2\n",                              \
			    ENGINE_STOPS "task 3" ENGINE_IO_FAILED ENGINE_IDLE),                       \
		ENGINE_CELL(op, "delay", "nth=2 delay=500ms", ENGINE_ALL, ENGINE_STOPS ENGINE_IDLE),   \
		ENGINE_CELL(op, "flip", "nth=2 flip=1", ENGINE_ALL, ENGINE_STOPS ENGINE_IDLE)

#endif
