/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/common/sync/sync_event_dpa.h - sync events of kernels and of their launches. Any thread may call. */
#ifndef SHIM_SYNC_EVENT_DPA_H
#define SHIM_SYNC_EVENT_DPA_H

#include <doca_sync_event.h>
#include <stdatomic.h>

#include "shim/common/base/object.h"

/* Operations of a kernel on an event. 0 or -errno. */
SHIM_INTERNAL_API int shim_sync_event_dpa_get(void *event, uint64_t *ret_value);
SHIM_INTERNAL_API int shim_sync_event_dpa_set(void *event, uint64_t value);
SHIM_INTERNAL_API int shim_sync_event_dpa_add(void *event, uint64_t count);

/* Sleep until the masked value may be greater than @value, @ns at most. 0 or -errno. */
SHIM_INTERNAL_API int shim_sync_event_dpa_sleep(void *event, uint64_t value, uint64_t mask, uint64_t ns);

/* Wait until the event is greater than @threshold. Returns 0, -ECANCELED (*is_over is true), or another -errno: the event is
 * gone. */
SHIM_INTERNAL_API int shim_sync_event_dpa_wait(struct doca_sync_event *event, uint64_t threshold,
					       const atomic_bool *is_over);

/* The same without a wait: -EAGAIN if the event is not greater. */
SHIM_INTERNAL_API int shim_sync_event_dpa_poll(struct doca_sync_event *event, uint64_t threshold);

#endif
