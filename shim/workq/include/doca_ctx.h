/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_ctx.h - contexts, work queues, jobs and events: the common part of all job libraries.
 *
 * Each library has its own object (struct doca_dma, ...) and gives it as a
 * context through its ..._as_ctx() function. A work queue carries jobs to the
 * contexts that were added to it and their results, as events, back.
 *
 *   dev_add --> doca_ctx_start --> workq_add --> submit, progress_retrieve ...
 *           --> workq_rm --> doca_ctx_stop --> dev_rm --> destroy the library's object
 *
 *               submit                        progress_retrieve
 *   program --job, copied--> [ work queue ] --event: the job's type and user_data,
 *                             at most depth     how it ended--> program
 *                             jobs inside
 *
 *   struct doca_dma_job_memcpy job = {
 *           .base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = ctx, .user_data.u64 = 7},
 *           .dst_buff = dst,
 *           .src_buff = src,
 *   };
 *   struct doca_event event = {0};
 *
 *   doca_workq_submit(workq, &job.base);
 *   while (doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) == DOCA_ERROR_AGAIN)
 *           ;
 *   result = (doca_error_t)event.result.u64;
 *
 * Instead of polling, a program may sleep in poll() or epoll until the queue's
 * event handle is readable:
 *
 *   set_event_driven_enable(workq, 1), get_event_handle(workq, &handle)
 *   retrieve until DOCA_ERROR_AGAIN --> arm --> wait for the handle --> clear --> retrieve ...
 *
 * An event that came before the queue was armed makes the handle readable at
 * once.
 *
 * Every function returns DOCA_ERROR_INVALID_VALUE for a NULL argument. A work
 * queue, with its contexts, is used by one thread at a time.
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stdint.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_gpu;
struct doca_workq;

/* Types of jobs and events: each library counts from its FIRST + 1. */
#define DOCA_ACTION_SDK_RANGE 16 /* bits for the types of one library */

enum doca_action_type {
	DOCA_ACTION_NONE = 0,
	DOCA_ACTION_DMA_FIRST = 1 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_DEVEMU_FIRST = 2 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_DEVEMU_PCI_FIRST = 3 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_VIRTIO_FS_FIRST = 4 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_VBLK_FIRST = 5 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_REGEX_FIRST = 6 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_NVME_FIRST = 7 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_APPSHIELD_FIRST = 8 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_SHA_FIRST = 9 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_COMPRESS_FIRST = 10 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_IPSEC_FIRST = 11 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_RMAX_FIRST = 12 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_RDMA_FIRST = 13 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_GRAPH_FIRST = 14 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_SYNC_EVENT_FIRST = 15 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_DPI_FIRST = 16 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_EC_FIRST = 17 << DOCA_ACTION_SDK_RANGE,
	DOCA_ACTION_NVRD_TRANSPORT_FIRST = 18 << DOCA_ACTION_SDK_RANGE,
};

enum doca_job_flags {
	DOCA_JOB_FLAGS_NONE = 0,
};

/* The first member of every job. The job of a library adds fields after it. */
struct doca_job {
	int type;                  /* of the library of @ctx, such as DOCA_DMA_JOB_MEMCPY */
	int flags;                 /* enum doca_job_flags */
	struct doca_ctx *ctx;      /* executes the job; added to the queue */
	union doca_data user_data; /* comes back with the event */
};

/* A job that has ended. */
struct doca_event {
	int type;                  /* the job's */
	union doca_data user_data; /* the job's */
	union doca_data result;    /* of the job's library, mostly a doca_error_t in .u64 */
};

/* --- Contexts --- */

/* Add a device to the context, remove it again; while stopped, else
 * DOCA_ERROR_BAD_STATE. @dev is borrowed, and can't be closed meanwhile. add:
 * DOCA_ERROR_IN_USE (it has one), DOCA_ERROR_NOT_SUPPORTED. rm:
 * DOCA_ERROR_NOT_FOUND. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_add(struct doca_ctx *ctx, struct doca_dev *dev);

__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_dev_rm(struct doca_ctx *ctx, struct doca_dev *dev);

/* Freeze the configuration and start. DOCA_ERROR_INVALID_VALUE also without a
 * device; DOCA_ERROR_BAD_STATE when started; DOCA_ERROR_NOT_SUPPORTED,
 * DOCA_ERROR_INITIALIZATION. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/* Stop, so that the context can be configured again or destroyed.
 * DOCA_ERROR_NOT_PERMITTED while it is in a work queue, DOCA_ERROR_BAD_STATE when
 * not started. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/* Add a started context to a work queue, take it out again. add:
 * DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_IN_USE (it is in this queue),
 * DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION. rm: DOCA_ERROR_BAD_STATE,
 * DOCA_ERROR_NOT_FOUND, DOCA_ERROR_NOT_PERMITTED while the queue has jobs or
 * events of the context. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_add(struct doca_ctx *ctx, struct doca_workq *workq);

__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_workq_rm(struct doca_ctx *ctx, struct doca_workq *workq);

/* Can it be added to an event-driven queue? 1 or 0. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_get_event_driven_supported(struct doca_ctx *ctx, uint8_t *event_supported);

/* How many contexts a process can have. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_get_max_num_ctx(uint32_t *max_num_ctx);

/* Let kernels on a GPU submit the jobs, not the CPU: bfsim has no GPU and returns
 * DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/* --- Work queues --- */

/* A queue for at most @depth jobs at a time, not 0; owned by the caller.
 * create: DOCA_ERROR_NO_MEMORY. destroy: DOCA_ERROR_IN_USE while it has contexts. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq);

__DOCA_EXPERIMENTAL
doca_error_t doca_workq_destroy(struct doca_workq *workq);

__DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_depth(const struct doca_workq *workq, uint32_t *depth);

/* Submit a job. It is copied: the structure may be used again at once, the
 * buffers in it only after its event was retrieved. DOCA_ERROR_NO_MEMORY when the
 * queue is full, DOCA_ERROR_INVALID_VALUE also for a type the context does not have,
 * DOCA_ERROR_BAD_STATE when the context is not started, DOCA_ERROR_NOT_FOUND when
 * it is not in the queue. When a job fails, all later jobs in flight for the same context fail
 * too. A job that is submitted afterwards is not affected. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job);

enum doca_workq_retrieve_flags {
	DOCA_WORKQ_RETRIEVE_FLAGS_NONE = 0,
};

/* Progress the queue and retrieve an event. DOCA_ERROR_AGAIN: no job completed, *@ev
 * is unchanged. DOCA_ERROR_IO_FAILED: *@ev is a failed job; its result has the cause. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_progress_retrieve(struct doca_workq *workq, struct doca_event *ev, int flags);

/* --- Waiting instead of polling --- */

/* Make the queue event driven, or not: before it has contexts, else
 * DOCA_ERROR_BAD_STATE. 1 or 0. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_driven_enable(struct doca_workq *workq, uint8_t enable);

__DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_event_driven_enable(struct doca_workq *workq, uint8_t *enabled);

/* The queue's handle, borrowed until it is destroyed; a file descriptor to wait
 * on, not to read from. DOCA_ERROR_BAD_STATE unless event driven. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_get_event_handle(struct doca_workq *workq, doca_event_handle_t *handle);

/* Use a completion port of the caller's: not on Linux, DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_set_event_handle(struct doca_workq *workq, doca_event_handle_t event_handle,
					 uintptr_t completion_key);

/* Ask for the handle to become readable with the next event, and make it unreadable
 * again afterwards. DOCA_ERROR_BAD_STATE unless event driven. */
__DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_arm(struct doca_workq *workq);

__DOCA_EXPERIMENTAL
doca_error_t doca_workq_event_handle_clear(struct doca_workq *workq, doca_event_handle_t handle);

#ifdef __cplusplus
}
#endif

#endif
