/* SPDX-License-Identifier: BSD-3-Clause */
/* Event-driven work queues: the handle on which a program sleeps until the next event. */
#include <string.h>

#include "shim/common/base/check.h"
#include "sim/base/watch.h"
#include "workq_priv.h"

#define NEED_EVENT_DRIVEN(workq)                                                                                        \
	do {                                                                                                            \
		NEED_WORKQ(workq);                                                                                      \
		if (!(workq)->event_driven)                                                                             \
			return SHIM_REFUSE(                                                                             \
				DOCA_ERROR_BAD_STATE,                                                                   \
				"the work queue is not event-driven; call doca_workq_set_event_driven_enable() first"); \
	} while (0)

static doca_notification_handle_t handle_of(const struct doca_pe *pe)
{
	doca_notification_handle_t handle = -1;

	core_pe_get_notification_handle(pe, &handle);
	return handle;
}

/* The queue's handle watches the handle of the other engine. */
doca_error_t workq_add_engine(struct workq_attachment *attachment)
{
	struct doca_workq *workq = attachment->workq;
	int fd = handle_of(attachment->own_pe), rc = 0;

	if (workq->event_driven)
		rc = sim_watch_add(handle_of(workq->pe), fd, EPOLLIN, (epoll_data_t){ .fd = fd });
	if (rc < 0) {
		sim_err("doca_ctx_workq_add: the queue's event handle can't watch the context: %s", strerror(-rc));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	workq->num_own_pes++;
	return DOCA_SUCCESS;
}

void workq_remove_engine(struct workq_attachment *attachment)
{
	struct doca_workq *workq = attachment->workq;

	workq->num_own_pes--;
	if (workq->event_driven && workq_attachment_is_of_process(attachment))
		sim_watch_remove(handle_of(workq->pe), handle_of(attachment->own_pe));
}

static doca_error_t request_of_own_engines(const struct doca_workq *workq)
{
	const struct workq_attachment *attachment;
	doca_error_t result = DOCA_SUCCESS;

	LIST_FOREACH(attachment, &workq->attachments, of_workq)
		if (attachment->own_pe && result == DOCA_SUCCESS)
			result = core_pe_request_notification(attachment->own_pe);
	return result;
}

doca_error_t workq_arm_notification(struct doca_workq *workq)
{
	doca_error_t result = core_pe_request_notification(workq->pe);

	if (result == DOCA_SUCCESS)
		result = request_of_own_engines(workq);
	if (result == DOCA_SUCCESS && workq->num_queued > 0)
		shim_pe_wake(workq->pe);
	return result;
}

doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable)
{
	NEED_WORKQ(workq);
	if (enable > 1)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%u is neither 0 nor 1", enable);
	if (workq->event_driven == enable)
		return DOCA_SUCCESS;
	if (!LIST_EMPTY(&workq->attachments))
		return SHIM_REFUSE(DOCA_ERROR_BAD_STATE, "the work queue is added to a context; change it before");
	workq->event_driven = enable;
	workq->armed = false;
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled)
{
	NEED_WORKQ(workq);
	SHIM_NEED_OUT(enabled);
	*enabled = workq->event_driven;
	return DOCA_SUCCESS;
}

doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle)
{
	NEED_EVENT_DRIVEN(workq);
	SHIM_NEED_OUT(handle);
	return core_pe_get_notification_handle(workq->pe, handle);
}

/* On Linux the queue has its own handle. Only Windows programs bring a completion port. */
doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle,
					 uintptr_t completion_key)
{
	(void)completion_key;
	NEED_EVENT_DRIVEN(workq);
	if (event_handle < 0)
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "%d is no descriptor", event_handle);
	return SHIM_NOT_SIMULATED("event handles that the program brings");
}

doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq)
{
	NEED_EVENT_DRIVEN(workq);
	workq->armed = true;
	return workq_arm_notification(workq);
}

doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle)
{
	const struct workq_attachment *attachment;

	NEED_EVENT_DRIVEN(workq);
	workq->armed = false;
	LIST_FOREACH(attachment, &workq->attachments, of_workq)
		if (attachment->own_pe)
			core_pe_clear_notification(attachment->own_pe, handle_of(attachment->own_pe));
	return core_pe_clear_notification(workq->pe, handle);
}
