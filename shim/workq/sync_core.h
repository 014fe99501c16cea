/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/sync_core.h - sync events of the core, where one event serves any number of queues. */
#ifndef SHIM_WORKQ_SYNC_CORE_H
#define SHIM_WORKQ_SYNC_CORE_H

#include <doca_error.h>

struct doca_sync_event;
struct doca_sync_event_task_wait_neq;

/* Create an event that shares the value of @event, which is started and outlives it. Only its tasks can be configured. */
doca_error_t workq_sync_event_create_alias(const struct doca_sync_event *event, struct doca_sync_event **ret_alias);

/* Have a task that is not submitted wait for a value greater than its operand. */
void workq_sync_task_wait_for_gt(struct doca_sync_event_task_wait_neq *task);

#endif
