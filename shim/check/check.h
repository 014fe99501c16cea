/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/check/check.h - the parts of the checker.
 *
 *   entry of a public function, end of a task, change of a context's state
 *      --start.c--> each part's function for it --a rule is broken--> hit.c: standard error, the file of hits
 *
 * A part has the code of some rules, and the state that they need. A part looks at objects of the shim and never changes
 * them. Any thread may call any function of a part.
 */
#ifndef SHIM_CHECK_CHECK_H
#define SHIM_CHECK_CHECK_H

#include <stddef.h>

#include "call_names.h"
#include "shim/common/base/call_hooks.h"
#include "sim/check/rules.h"

/* What a part does around the calls of one public function. Either may be NULL. */
struct check_watch {
	enum shim_function function;
	void (*enter)(struct shim_call *call);
	void (*leave)(struct shim_call *call);
};

/* A part. Each slot may be NULL. */
struct check_part {
	const struct check_watch *watches;
	size_t num_watches;
	enum sim_check_mode mode; /* the least mode that needs the part */
	void (*start)(void);
	void (*task_posted)(struct doca_task *task);
	void (*task_refused)(struct doca_task *task);
	void (*task_ended)(struct doca_task *task, doca_error_t status);
	void (*ctx_changed)(struct doca_ctx *ctx, enum doca_ctx_states from);
	void (*exit)(void); /* at the program's exit */
};

extern const struct check_part check_object_births, check_ctx_history, check_race, check_submit;
/* Memory maps, buffers and memcpy tasks. */
extern const struct check_part check_mmap_history, check_tasks_in_flight_part, check_dma_submit, check_mmap_order,
	check_mmap_end, check_buf_records, check_buf_life, check_buf_data, check_flush;

extern enum sim_check_mode check_mode;

/* The public function that this thread is in, or NULL. */
const struct shim_call *check_current_call(void);

/* For start.c: this thread enters and leaves a public function. */
void check_begin_call(struct shim_call *call);
void check_end_call(const struct shim_call *call);

/* Argument @i as a pointer. */
static inline void *check_arg(const struct shim_call *call, int i)
{
	return (void *)(uintptr_t)call->args[i];
}

static inline doca_error_t check_result(const struct shim_call *call)
{
	return (doca_error_t)call->result;
}

#endif
