/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks and errors that all operations of a sync event share. */
#include <errno.h>

#include "shim/common/base/check.h"
#include "sync_event_priv.h"

doca_error_t shim_sync_event_fail(const char *func, int rc)
{
	if (rc == -ENOTCONN) {
		sim_err("%s: the event is not started, or was stopped meanwhile", func);
		return DOCA_ERROR_BAD_STATE;
	}
	sim_err("%s: the exporter of the event has stopped it, died or left the session", func);
	return DOCA_ERROR_IO_FAILED;
}

doca_error_t shim_sync_event_check(const char *func, const struct doca_sync_event *event)
{
	if (!shim_ctx_is_same_process(&event->ctx)) {
		sim_err("%s: the event is of the process before fork(); make one in the child", func);
		return DOCA_ERROR_BAD_STATE;
	}
	if (event->buf && !shim_buf_has_usable_mmap(event->buf)) {
		sim_err("%s: the memory map that the event's value lies in was stopped or destroyed", func);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}
