/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of the two calls of work queues that the checker follows (shim/common/base/call_hooks.h), as those of the
 * current generation that they stand for. The functions themselves are in workq.c, as shim_doca_... */
#include <doca_common_defines.h>

#include "call_functions.h"
#include "workq_priv.h"

#include "shim/common/base/call_hooks.h"

/* As in the entries of gen_calls.py. */
#define APART __attribute__((noinline, section(".text.watched")))

extern __typeof__(doca_workq_submit) shim_doca_workq_submit;
extern __typeof__(doca_workq_progress_retrieve) shim_doca_workq_progress_retrieve;

static APART doca_error_t watched_submit(const void *caller, struct doca_workq *workq, const struct doca_job *job)
{
	const uint64_t args[] = { (uintptr_t)workq, (uintptr_t)job };
	struct shim_call call = { .function = SHIM_FN_doca_task_submit, .args = args, .caller = caller };
	doca_error_t result;

	shim_call_hooks->enter(&call);
	result = shim_doca_workq_submit(workq, job);
	call.result = result;
	shim_call_hooks->leave(&call);
	return result;
}

doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
{
	return doca_unlikely(shim_call_hooks != NULL) ? watched_submit(__builtin_return_address(0), workq, job) :
							shim_doca_workq_submit(workq, job);
}

static APART doca_error_t watched_retrieve(const void *caller, struct doca_workq *workq, struct doca_event *ev,
					   int flags)
{
	const uint64_t args[] = { (uintptr_t)workq, (uintptr_t)ev, (uint64_t)flags };
	struct shim_call call = { .function = SHIM_FN_doca_pe_progress, .args = args, .caller = caller };
	doca_error_t result;

	shim_call_hooks->enter(&call);
	result = shim_doca_workq_progress_retrieve(workq, ev, flags);
	call.result = result;
	shim_call_hooks->leave(&call);
	return result;
}

doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags)
{
	return doca_unlikely(shim_call_hooks != NULL) ?
		       watched_retrieve(__builtin_return_address(0), workq, ev, flags) :
		       shim_doca_workq_progress_retrieve(workq, ev, flags);
}
