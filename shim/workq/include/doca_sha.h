/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_sha.h - message digests: SHA-1, SHA-256 and SHA-512, by the card's engine (BlueField-2) or, where there is none, by the
 * library.
 *
 *   doca_sha_create --> doca_ctx_dev_add --> doca_ctx_start --> doca_ctx_workq_add
 *     --> doca_workq_submit, doca_workq_progress_retrieve ...
 *     --> doca_ctx_workq_rm --> doca_ctx_stop --> doca_ctx_dev_rm --> doca_sha_destroy
 *
 * A job hashes the data segments of its request, a buffer or a list, and appends the digest to the data of the response, a single
 * buffer.
 *
 * A message may come in pieces, a partial job for each, one after the other: all but the last have a multiple of 64 bytes (128
 * for SHA-512), the last has the flag DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL and gives the digest. A session has the state
 * between them; it belongs to one context and one queue, and takes the next message after the last piece of one.
 *
 * doca_workq_submit() returns DOCA_ERROR_INVALID_VALUE for an empty request, a response without room for the digest, a
 * piece of another length and a job that is none of these; DOCA_ERROR_NO_MEMORY if the queue is full; DOCA_ERROR_BAD_STATE. The
 * event's result is a doca_error_t.
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument. The thread rule is the work queue's
 * (doca_ctx.h).
 */
#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_sha;
struct doca_sha_partial_session;

#define DOCA_SHA1_BYTE_COUNT   20
#define DOCA_SHA256_BYTE_COUNT 32
#define DOCA_SHA512_BYTE_COUNT 64

/* --- Jobs --- */

enum doca_sha_job_type {
	DOCA_SHA_JOB_SHA1 = DOCA_ACTION_SHA_FIRST + 1,
	DOCA_SHA_JOB_SHA256,
	DOCA_SHA_JOB_SHA512,
	DOCA_SHA_JOB_SHA1_PARTIAL,
	DOCA_SHA_JOB_SHA256_PARTIAL,
	DOCA_SHA_JOB_SHA512_PARTIAL,
};

enum doca_sha_job_flags {
	DOCA_SHA_JOB_FLAGS_NONE = 0,
	DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL = 1,
};

/* The buffers are borrowed until the job's event was retrieved. */
struct doca_sha_job {
	struct doca_job base;
	struct doca_buf *req_buf;
	struct doca_buf *resp_buf;
	uint64_t flags; /* enum doca_sha_job_flags */
};

struct doca_sha_partial_job {
	struct doca_sha_job sha_job;
	struct doca_sha_partial_session *session;
};

/* --- Creation and destruction --- */

/* A SHA context without a device. DOCA_ERROR_NO_MEMORY. destroy stops it; DOCA_ERROR_IN_USE while work queues are added. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_sha **ctx);

__DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *ctx);

/* The same object as a context. NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *ctx);

/* --- Partial sessions --- */

/* Create a session on a queue that was added to the context. DOCA_ERROR_NO_MEMORY, DOCA_ERROR_BAD_STATE. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_create(struct doca_sha *ctx, struct doca_workq *workq,
					     struct doca_sha_partial_session **session);

/* Destroy it. DOCA_ERROR_BAD_STATE with a job in flight. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_destroy(struct doca_sha *ctx, struct doca_workq *workq,
					      struct doca_sha_partial_session *session);

/* Have the message so far of one session in another one as well. DOCA_ERROR_BAD_STATE with a job in flight. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_partial_session_copy(struct doca_sha *ctx, struct doca_workq *workq,
					   const struct doca_sha_partial_session *from_session,
					   struct doca_sha_partial_session *to_session);

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS on each device: the library does the work where the card has no engine. DOCA_ERROR_NOT_SUPPORTED if it can't. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_job_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type);

/* DOCA_SUCCESS if the device has the engine, else DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_hardware_supported(const struct doca_devinfo *devinfo);

/* Get the maximum length of the request's list, and its maximum number of bytes. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

__DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/* Get the number of bytes of a digest. */
__DOCA_EXPERIMENTAL
doca_error_t doca_sha_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_job_type job_type,
					      uint32_t *min_buffer_size);

#ifdef __cplusplus
}
#endif

#endif
