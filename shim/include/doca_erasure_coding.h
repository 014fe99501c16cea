/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_erasure_coding.h - erasure coding by the card's engine (BlueField-3): redundancy blocks, from which lost blocks are
 * computed again.
 *
 *   doca_ec_create --> set_conf --> connect to a progress engine --> doca_ctx_start --> matrices
 *     --> allocate_init, submit, callback ... --> doca_ctx_stop --> doca_ec_destroy
 *
 * A code has N data blocks, with indices 0 to N - 1, and K redundancy blocks, with indices N to N + K - 1; N is at most 128, K at
 * most 32. All blocks of a task have one size, a multiple of 64 bytes, which follows from the length of the source. Blocks may lie
 * in one buffer or in a list, whose elements need not be blocks.
 *
 * A task reads the data segments of its source, multiplies a matrix with its blocks in GF(2^8), and appends the output to the data
 * segment of its destination, whose data length grows by the bytes written. A submission returns DOCA_ERROR_INVALID_VALUE if
 * the sizes do not fit the matrix.
 *
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument. The thread rule is the
 * context's (doca_ctx.h).
 */
#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_ec;
struct doca_ec_matrix;
struct doca_ec_task_galois_mul;
struct doca_ec_task_create;
struct doca_ec_task_update;
struct doca_ec_task_recover;
struct doca_task;

/* Coding matrices: the coefficient of data block i in redundancy block j. */
enum doca_ec_matrix_type {
	DOCA_EC_MATRIX_TYPE_CAUCHY = 1,      /* 1 / (i + j + N): any K lost blocks can be recovered */
	DOCA_EC_MATRIX_TYPE_VANDERMONDE = 2, /* (i + 1) to the power of j: some losses can't */
};

/* --- Life --- */

/* Create an instance on the device. DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec);

/* Destroy it. DOCA_ERROR_BAD_STATE unless its context is idle. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_destroy(struct doca_ec *ec);

/* Get the instance's context; NULL if @ec is none. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec);

/* --- Capabilities --- */

/* Get the maximum number of bytes of a block. DOCA_ERROR_NOT_SUPPORTED. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo, uint64_t *max_block_size);

/* Get the maximum length of a source or destination list. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);

/* --- Matrices. A task keeps what it needs of its matrix when it is submitted. --- */

/* Create the coding matrix of a type. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_ec_matrix **matrix);

/* Create a coding matrix of coefficients: @rdnc_block_count numbers for each data block. They are copied. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data, size_t data_block_count,
					    size_t rdnc_block_count, struct doca_ec_matrix **matrix);

/* Create the matrix that recovers lost blocks, data or redundancy, in the order of their indices in @missing_indices; at most K.
 * DOCA_ERROR_INVALID_VALUE also if @coding_matrix can't recover them. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					   uint32_t *missing_indices, size_t n_missing, struct doca_ec_matrix **matrix);

/* Create the matrix that updates the redundancy blocks when some data blocks change. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					  uint32_t *update_indices, size_t n_updates, struct doca_ec_matrix **matrix);

DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix);

/* --- Multiply a coding matrix with N blocks: K blocks of output. --- */

typedef void (*doca_ec_task_galois_mul_completion_cb_t)(struct doca_ec_task_galois_mul *task,
							union doca_data task_user_data, union doca_data ctx_user_data);

/* DOCA_SUCCESS if the device can run these tasks, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_galois_mul_is_supported(const struct doca_devinfo *devinfo);

/* Have @num_tasks tasks; before the start. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_galois_mul_set_conf(struct doca_ec *ec,
					      doca_ec_task_galois_mul_completion_cb_t successful_task_completion_cb,
					      doca_ec_task_galois_mul_completion_cb_t error_task_completion_cb,
					      uint32_t num_tasks);

/* Allocate a task. DOCA_ERROR_NO_MEMORY if all are allocated, DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_galois_mul_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
						   const struct doca_buf *src_buf, struct doca_buf *dst_buf,
						   union doca_data user_data, struct doca_ec_task_galois_mul **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_galois_mul_as_task(struct doca_ec_task_galois_mul *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_coding_matrix(struct doca_ec_task_galois_mul *task,
					       const struct doca_ec_matrix *coding_matrix);
DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_src_buf(struct doca_ec_task_galois_mul *task, const struct doca_buf *src_buf);
DOCA_EXPERIMENTAL
void doca_ec_task_galois_mul_set_dst_buf(struct doca_ec_task_galois_mul *task, struct doca_buf *dst_buf);
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_galois_mul_get_coding_matrix(const struct doca_ec_task_galois_mul *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_galois_mul_get_src_buf(const struct doca_ec_task_galois_mul *task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_galois_mul_get_dst_buf(const struct doca_ec_task_galois_mul *task);

/* --- Create K redundancy blocks of N data blocks. --- */

typedef void (*doca_ec_task_create_completion_cb_t)(struct doca_ec_task_create *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

/* DOCA_SUCCESS if the device can run these tasks, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_create_is_supported(const struct doca_devinfo *devinfo);

/* Have @num_tasks tasks; before the start. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_create_set_conf(struct doca_ec *ec,
					  doca_ec_task_create_completion_cb_t successful_task_completion_cb,
					  doca_ec_task_create_completion_cb_t error_task_completion_cb,
					  uint32_t num_tasks);

/* Allocate a task. DOCA_ERROR_NO_MEMORY if all are allocated, DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_create_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					       const struct doca_buf *original_data_blocks,
					       struct doca_buf *rdnc_blocks, union doca_data user_data,
					       struct doca_ec_task_create **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_create_as_task(struct doca_ec_task_create *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_create_set_coding_matrix(struct doca_ec_task_create *task,
					   const struct doca_ec_matrix *coding_matrix);
DOCA_EXPERIMENTAL
void doca_ec_task_create_set_original_data_blocks(struct doca_ec_task_create *task,
						  const struct doca_buf *original_data_blocks);
DOCA_EXPERIMENTAL
void doca_ec_task_create_set_rdnc_blocks(struct doca_ec_task_create *task, struct doca_buf *rdnc_blocks);
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_create_get_coding_matrix(const struct doca_ec_task_create *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_create_get_original_data_blocks(const struct doca_ec_task_create *task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_create_get_rdnc_blocks(const struct doca_ec_task_create *task);

/* --- Update the redundancy blocks. The source has the old and the new block of each data block that changes, ascending,
 * then all old redundancy blocks; the output are all new redundancy blocks. --- */

typedef void (*doca_ec_task_update_completion_cb_t)(struct doca_ec_task_update *task, union doca_data task_user_data,
						    union doca_data ctx_user_data);

/* DOCA_SUCCESS if the device can run these tasks, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_update_is_supported(const struct doca_devinfo *devinfo);

/* Have @num_tasks tasks; before the start. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_update_set_conf(struct doca_ec *ec,
					  doca_ec_task_update_completion_cb_t successful_task_completion_cb,
					  doca_ec_task_update_completion_cb_t error_task_completion_cb,
					  uint32_t num_tasks);

/* Allocate a task. DOCA_ERROR_NO_MEMORY if all are allocated, DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_update_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *update_matrix,
					       const struct doca_buf *original_updated_and_rdnc_blocks,
					       struct doca_buf *updated_rdnc_blocks, union doca_data user_data,
					       struct doca_ec_task_update **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_update_as_task(struct doca_ec_task_update *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_update_set_update_matrix(struct doca_ec_task_update *task,
					   const struct doca_ec_matrix *update_matrix);
DOCA_EXPERIMENTAL
void doca_ec_task_update_set_original_updated_and_rdnc_blocks(struct doca_ec_task_update *task,
							      const struct doca_buf *original_updated_and_rdnc_blocks);
DOCA_EXPERIMENTAL
void doca_ec_task_update_set_updated_rdnc_blocks(struct doca_ec_task_update *task,
						 struct doca_buf *updated_rdnc_blocks);
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_update_get_update_matrix(const struct doca_ec_task_update *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_update_get_original_updated_and_rdnc_blocks(const struct doca_ec_task_update *task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_update_get_updated_rdnc_blocks(const struct doca_ec_task_update *task);

/* --- Recover lost blocks. The source has the first N blocks that are left: data blocks, then redundancy blocks, both
 * ascending. --- */

typedef void (*doca_ec_task_recover_completion_cb_t)(struct doca_ec_task_recover *task, union doca_data task_user_data,
						     union doca_data ctx_user_data);

/* DOCA_SUCCESS if the device can run these tasks, DOCA_ERROR_NOT_SUPPORTED if it can't. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_cap_task_recover_is_supported(const struct doca_devinfo *devinfo);

/* Have @num_tasks tasks; before the start. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_recover_set_conf(struct doca_ec *ec,
					   doca_ec_task_recover_completion_cb_t successful_task_completion_cb,
					   doca_ec_task_recover_completion_cb_t error_task_completion_cb,
					   uint32_t num_tasks);

/* Allocate a task. DOCA_ERROR_NO_MEMORY if all are allocated, DOCA_ERROR_BAD_STATE unless the context runs. */
DOCA_EXPERIMENTAL
doca_error_t doca_ec_task_recover_allocate_init(struct doca_ec *ec, const struct doca_ec_matrix *recover_matrix,
						const struct doca_buf *available_blocks,
						struct doca_buf *recovered_data_blocks, union doca_data user_data,
						struct doca_ec_task_recover **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_ec_task_recover_as_task(struct doca_ec_task_recover *task);

/* Change a task that is not in flight. */
DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_recover_matrix(struct doca_ec_task_recover *task,
					     const struct doca_ec_matrix *recover_matrix);
DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_available_blocks(struct doca_ec_task_recover *task,
					       const struct doca_buf *available_blocks);
DOCA_EXPERIMENTAL
void doca_ec_task_recover_set_recovered_data_blocks(struct doca_ec_task_recover *task,
						    struct doca_buf *recovered_data_blocks);
DOCA_EXPERIMENTAL
const struct doca_ec_matrix *doca_ec_task_recover_get_recover_matrix(const struct doca_ec_task_recover *task);
DOCA_EXPERIMENTAL
const struct doca_buf *doca_ec_task_recover_get_available_blocks(const struct doca_ec_task_recover *task);
DOCA_EXPERIMENTAL
struct doca_buf *doca_ec_task_recover_get_recovered_data(const struct doca_ec_task_recover *task);

#ifdef __cplusplus
}
#endif

#endif
