/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_sha.h - digests of SHA-1, SHA-256 and SHA-512, by the card's SHA engine (BlueField-2).
 *
 *   doca_sha_create --> set_conf --> connect to a progress engine --> doca_ctx_start
 *     --> alloc_init, submit, callback ... --> doca_ctx_stop --> doca_sha_destroy
 *
 * A hash task reads the data segments of its source buffer or list, and appends the digest to the data segment of its
 * destination. A partial hash task does that for a message that comes in pieces: the one task is submitted for each
 * piece, with a new source, after the piece before has completed. The length of each piece but the last is a multiple of
 * doca_sha_cap_get_partial_hash_block_size(). doca_sha_task_partial_hash_set_is_final_buf() announces the last piece, whose
 * completion brings the digest.
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument. The thread rule is the
 * context's (doca_ctx.h).
 */
#ifndef DOCA_SHA_H_
#define DOCA_SHA_H_

#include <inttypes.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_sha;
struct doca_sha_task_hash;
struct doca_sha_task_partial_hash;
struct doca_task;

enum doca_sha_algorithm {
	DOCA_SHA_ALGORITHM_SHA1 = 0,
	DOCA_SHA_ALGORITHM_SHA256 = 1,
	DOCA_SHA_ALGORITHM_SHA512 = 2,
};

/* --- Capabilities: DOCA_ERROR_NOT_SUPPORTED without a SHA engine --- */

/* DOCA_SUCCESS if the device can run hash tasks of this algorithm. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo,
						  enum doca_sha_algorithm algorithm);

/* DOCA_SUCCESS if the device can run partial hash tasks of this algorithm. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_task_partial_hash_get_supported(const struct doca_devinfo *devinfo,
							  enum doca_sha_algorithm algorithm);

/* Get the maximum length of a source list. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
						    uint32_t *max_list_buf_num_elem);

/* Get the maximum number of bytes of one source. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_src_buf_size);

/* Get the room that a destination needs: the length of the digest. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm,
					       uint32_t *min_dst_buf_size);

/* Get the unit of the lengths of pieces. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
						      enum doca_sha_algorithm algorithm, uint32_t *partial_block_size);

/* Get the maximum number of tasks of both types together. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks);

/* --- Life --- */

/* Create an instance on the device. DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha);

/* Destroy it. DOCA_ERROR_IN_USE unless its context is idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_destroy(struct doca_sha *sha);

/* Get the instance's context; NULL if @sha is none. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha);

/* --- Hash tasks --- */

/* Called when the task is done; the task is the program's again. */
typedef void (*doca_sha_task_hash_completion_cb_t)(struct doca_sha_task_hash *task, union doca_data task_user_data,
						   union doca_data ctx_user_data);

/* Have 2 to the power of @log_num_tasks tasks; before the start. DOCA_ERROR_BAD_STATE unless the context is idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_conf(struct doca_sha *sha, doca_sha_task_hash_completion_cb_t task_completion_cb,
					 doca_sha_task_hash_completion_cb_t task_error_cb, uint8_t log_num_tasks);

/* Allocate a task. DOCA_ERROR_NO_MEMORY if all are allocated, DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
					   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
					   union doca_data user_data, struct doca_sha_task_hash **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_hash_as_task(struct doca_sha_task_hash *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_algorithm(struct doca_sha_task_hash *task, enum doca_sha_algorithm algorithm);
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_src(struct doca_sha_task_hash *task, const struct doca_buf *src_buf);
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_hash_set_dst(struct doca_sha_task_hash *task, struct doca_buf *dst_buf);

DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_hash_get_algorithm(const struct doca_sha_task_hash *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_sha_task_hash_get_src(const struct doca_sha_task_hash *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_sha_task_hash_get_dst(const struct doca_sha_task_hash *task);

/* --- Partial hash tasks --- */

typedef void (*doca_sha_task_partial_hash_completion_cb_t)(struct doca_sha_task_partial_hash *task,
							   union doca_data task_user_data,
							   union doca_data ctx_user_data);

/* As doca_sha_task_hash_set_conf(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_conf(struct doca_sha *sha,
						 doca_sha_task_partial_hash_completion_cb_t task_completion_cb,
						 doca_sha_task_partial_hash_completion_cb_t task_error_cb,
						 uint8_t log_num_tasks);

/* As doca_sha_task_hash_alloc_init(). */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_alloc_init(struct doca_sha *sha, enum doca_sha_algorithm algorithm,
						   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_sha_task_partial_hash **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_sha_task_partial_hash_as_task(struct doca_sha_task_partial_hash *task);

/* Before the first piece, or after a reset; else DOCA_ERROR_BAD_STATE. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_algorithm(struct doca_sha_task_partial_hash *task,
						      enum doca_sha_algorithm algorithm);
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_dst(struct doca_sha_task_partial_hash *task, struct doca_buf *dst_buf);

/* Set the next piece, while the task is not in flight. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_src(struct doca_sha_task_partial_hash *task,
						const struct doca_buf *src_buf);

/* The next piece is the last. DOCA_ERROR_BAD_STATE while the task is in flight. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buf(struct doca_sha_task_partial_hash *task);

/* Forget the pieces so far, and begin another message. */
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_reset(struct doca_sha_task_partial_hash *task);

DOCA_EXPERIMENTAL
enum doca_sha_algorithm doca_sha_task_partial_hash_get_algorithm(const struct doca_sha_task_partial_hash *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_sha_task_partial_hash_get_src(const struct doca_sha_task_partial_hash *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_sha_task_partial_hash_get_dst(const struct doca_sha_task_partial_hash *task);

/* 1 if the next piece, or the last that completed, is announced as the last. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_is_final(const struct doca_sha_task_partial_hash *task);

/* 1 if the destination has the digest. */
DOCA_EXPERIMENTAL
uint8_t doca_sha_task_partial_hash_get_has_result(const struct doca_sha_task_partial_hash *task);

/* --- Release 2.5 only: the vendor's later headers have these functions under other names --- */

DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_src_buffer_size);
DOCA_EXPERIMENTAL
doca_error_t doca_sha_cap_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm,
						  uint32_t *min_dst_buffer_size);
DOCA_EXPERIMENTAL
doca_error_t doca_sha_task_partial_hash_set_is_final_buffer(struct doca_sha_task_partial_hash *task);

#ifdef __cplusplus
}
#endif

#endif
