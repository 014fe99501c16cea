/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events of the core, as this generation uses them. Compiled with the core. */
#include "sync_core.h"

#include "shim/common/sync/sync_event_priv.h"

doca_error_t workq_sync_event_create_alias(const struct doca_sync_event *event, struct doca_sync_event **ret_alias)
{
	doca_error_t result = doca_sync_event_create(ret_alias);

	if (result != DOCA_SUCCESS)
		return result;
	(*ret_alias)->alias_of = event;
	(*ret_alias)->ctx.is_internal = true;
	return DOCA_SUCCESS;
}

void workq_sync_task_wait_for_gt(struct doca_sync_event_task_wait_neq *task)
{
	((struct shim_sync_task *)task)->relation = SHIM_SYNC_GT;
}
