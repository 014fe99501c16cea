/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_sync_event.h - a 64-bit counter that both sides of the card can wait for.
 *
 *   create --> publisher_add_location_*, subscriber_add_location_* --> doca_sync_event_start
 *     --> set, add, get, wait ... --> doca_sync_event_stop --> destroy
 *
 * Publishers change the counter, subscribers read it and wait. The location
 * of each (cpu: this process, dpu: the other side, a DPA, a GPU) is set before
 * the start, one for publishers and one for subscribers.
 *
 * To share the counter with the DPU, the host exports the event, and the DPU creates
 * another event from the descriptor:
 *
 *   host:  export_to_dpu(event) --> descriptor
 *   DPU:   create_from_export(descriptor) --> an event for the same counter
 *
 * Calls use the counter directly and return when they are done. Jobs use it through
 * a work queue: the event is then a context (doca_ctx.h), started with
 * doca_ctx_start() instead of doca_sync_event_start().
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL
 * argument, configuring functions DOCA_ERROR_BAD_STATE when the event is started or
 * was created from an export, functions on the counter DOCA_ERROR_BAD_STATE when it is not started and
 * DOCA_ERROR_IO_FAILED after the death of its exporter. DPA and GPU are not simulated: DOCA_ERROR_NOT_SUPPORTED. One thread
 * at a time per event.
 */
#ifndef DOCA_SYNC_EVENT_H_
#define DOCA_SYNC_EVENT_H_

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_ctx.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dpa;
struct doca_gpu;
struct doca_sync_event;

/* The handle of the event for code on a DPA or a GPU. */
typedef uint64_t doca_dpa_dev_sync_event_t;
typedef uint64_t doca_gpu_dev_sync_event_t;

/* The handle of the event for another machine. */
struct doca_sync_event_remote {
	uint64_t data[2];
};
typedef struct doca_sync_event_remote doca_sync_event_remote_t;

/* --- Jobs --- */

enum doca_sync_event_job_types {
	DOCA_SYNC_EVENT_JOB_WAIT_GT = DOCA_ACTION_SYNC_EVENT_FIRST + 1,
	DOCA_SYNC_EVENT_JOB_GET,
	DOCA_SYNC_EVENT_JOB_UPDATE_SET,
	DOCA_SYNC_EVENT_JOB_UPDATE_ADD,
};

/* WAIT_GT: done when (counter & @mask) is greater than @value. */
struct doca_sync_event_job_wait {
	struct doca_job base;
	uint64_t value;
	uint64_t mask;
};

/* GET: *@value becomes the counter. It stays valid until the job's event was retrieved. */
struct doca_sync_event_job_get {
	struct doca_job base;
	uint64_t *value;
};

/* UPDATE_SET: the counter becomes @value. */
struct doca_sync_event_job_update_set {
	struct doca_job base;
	uint64_t value;
};

/* UPDATE_ADD: adds @value to the counter; *@fetched becomes its previous value. */
struct doca_sync_event_job_update_add {
	struct doca_job base;
	uint64_t value;
	uint64_t *fetched;
};

/* The result field of such an event, read as this structure. */
struct doca_sync_event_result {
	doca_error_t result;
};

/* --- Capabilities of a device: DOCA_SUCCESS, or DOCA_ERROR_NOT_SUPPORTED --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_job_get_supported(struct doca_devinfo *devinfo, enum doca_sync_event_job_types type);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_create_from_export_supported(const struct doca_devinfo *devinfo);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_dpu_supported(const struct doca_devinfo *devinfo);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_dpa_supported(const struct doca_devinfo *devinfo);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get_export_to_gpu_supported(const struct doca_devinfo *devinfo);

/* --- Creation and destruction --- */

/* An event with the value 0, owned by the caller. DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create(struct doca_sync_event **event);

/* The event of a descriptor of @sz bytes at @data, which is read during the call
 * only; @dev is borrowed. DOCA_ERROR_INVALID_VALUE also for a descriptor that is
 * damaged or of another session. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_create_from_export(struct doca_dev *dev, const uint8_t *data, size_t sz,
						struct doca_sync_event **event);

/* Stops the event if it is started. DOCA_ERROR_IN_USE while it is in a work queue. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_destroy(struct doca_sync_event *event);

/* The same object as a context, valid as long as @event, which stays a context from then on. NULL
 * for NULL, and for an event that was started on its own. The context takes no device. */
__DOCA_EXPERIMENTAL
struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event);

/* Freeze the configuration; allow changes again. start: DOCA_ERROR_BAD_STATE without a
 * publisher or a subscriber. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_start(struct doca_sync_event *event);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_stop(struct doca_sync_event *event);

/* --- Configuration --- */

/* Keep the counter at @addr, 8 bytes of the caller's that stay valid until destroy. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_dpu(struct doca_sync_event *event);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_publisher_add_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_cpu(struct doca_sync_event *event, struct doca_dev *dev);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_dpu(struct doca_sync_event *event);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_dpa(struct doca_sync_event *event, struct doca_dpa *dpa);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_subscriber_add_location_gpu(struct doca_sync_event *event, struct doca_gpu *gpu);

/* --- Export of a started event with a location on the other side --- */

/* The descriptor, *@sz bytes at *@data, belongs to the event and is valid until the event
 * stops. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpu(struct doca_sync_event *event, struct doca_dev *dev, const uint8_t **data,
					   size_t *sz);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_dpa(struct doca_sync_event *event, struct doca_dpa *dpa,
					   doca_dpa_dev_sync_event_t *dpa_dev_se_handle);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_to_gpu(struct doca_sync_event *event, struct doca_gpu *gpu,
					   doca_gpu_dev_sync_event_t **gpu_dev_se);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_export_remote(struct doca_sync_event *event, doca_sync_event_remote_t *handle);

/* --- The counter, directly: while started --- */

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_get(struct doca_sync_event *event, uint64_t *value);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_set(struct doca_sync_event *event, uint64_t value);

/* *@fetched becomes the previous value of the counter. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_update_add(struct doca_sync_event *event, uint64_t value, uint64_t *fetched);

/* Return when (counter & @mask) is greater than @value: spin, or yield the processor
 * while waiting. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt(struct doca_sync_event *event, uint64_t value, uint64_t mask);

__DOCA_EXPERIMENTAL
doca_error_t doca_sync_event_wait_gt_yield(struct doca_sync_event *event, uint64_t value, uint64_t mask);

#ifdef __cplusplus
}
#endif

#endif
