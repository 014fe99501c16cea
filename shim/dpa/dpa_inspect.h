/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/dpa/dpa_inspect.h - what the checker may know of the DPA's objects. Handles are any values. */
#ifndef SHIM_DPA_INSPECT_H
#define SHIM_DPA_INSPECT_H

#include "shim/common/process/runtime.h"
#include "shim/dpa/dpa_priv.h"
#include "sim/dpa/exec/inspect.h"

/* A context that is started, or NULL: the handle is another object, or the context is a parent process's. */
static inline const struct doca_dpa *dpa_inspect_started(const void *handle)
{
	const struct doca_dpa *dpa = handle;

	return shim_handle_is(handle, SHIM_DPA) && dpa->process && dpa->fork_generation == shim_fork_generation ? dpa :
														  NULL;
}

/* A DPA thread that is started, or NULL. */
static inline const struct doca_dpa_thread *dpa_inspect_thread(const void *handle)
{
	const struct doca_dpa_thread *thread = handle;

	return shim_handle_is(handle, SHIM_DPA_THREAD) && thread->activity && dpa_inspect_started(thread->dpa) ?
		       thread :
		       NULL;
}

/* A completion context that is started, or NULL. */
static inline const struct doca_dpa_completion *dpa_inspect_completion(const void *handle)
{
	const struct doca_dpa_completion *completion = handle;

	return shim_handle_is(handle, SHIM_DPA_COMPLETION) && completion->is_started &&
			       dpa_inspect_started(completion->dpa) ?
		       completion :
		       NULL;
}

/* A notification completion that is started, or NULL. */
static inline const struct doca_dpa_notification_completion *dpa_inspect_notification(const void *handle)
{
	const struct doca_dpa_notification_completion *completion = handle;

	return shim_handle_is(handle, SHIM_DPA_NOTIFICATION) && completion->is_started &&
			       dpa_inspect_started(completion->dpa) ?
		       completion :
		       NULL;
}

#endif
