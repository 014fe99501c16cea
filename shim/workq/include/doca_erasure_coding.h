/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_erasure_coding.h - erasure coding by the card's engine (BlueField-3): redundancy blocks, from which lost blocks are
 * computed again.
 *
 *   doca_ec_create --> doca_ctx_dev_add --> doca_ctx_start --> doca_ctx_workq_add
 *     --> matrices; doca_workq_submit, doca_workq_progress_retrieve ...
 *     --> doca_ctx_workq_rm --> doca_ctx_stop --> doca_ctx_dev_rm --> doca_ec_destroy
 *
 * A code has N data blocks, with indices 0 to N - 1, and K redundancy blocks, with indices N to N + K - 1; N is at most 128, K at
 * most 32. All blocks of a job have one size, a multiple of 64 bytes, which follows from the length of the source. A job
 * multiplies its matrix with the blocks of its source, and appends the output to the data of its destination.
 *
 * doca_workq_submit() returns DOCA_ERROR_INVALID_VALUE if the sizes do not fit the matrix. The event's result is a doca_error_t.
 * Functions that return doca_error_t return DOCA_ERROR_INVALID_VALUE for a NULL argument. The thread rule is the
 * work queue's (doca_ctx.h).
 */
#ifndef DOCA_ERASURE_CODING_H_
#define DOCA_ERASURE_CODING_H_

#include <inttypes.h>
#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ec;
struct doca_matrix;

/* Coding matrices: the coefficient of data block i in redundancy block j. */
enum doca_ec_matrix_types {
	DOCA_CODING_MATRIX_CAUCHY = 1,      /* 1 / (i + j + N): any K lost blocks can be recovered */
	DOCA_CODING_MATRIX_VANDERMONDE = 2, /* (i + 1) to the power of j: some losses can't */
};

/* --- Jobs --- */

enum doca_ec_job_types {
	DOCA_EC_JOB_GALOIS_MUL = DOCA_ACTION_EC_FIRST + 1,
	DOCA_EC_JOB_CREATE,
	DOCA_EC_JOB_UPDATE,
	DOCA_EC_JOB_RECOVER,
};

/* Multiply a coding matrix with N blocks. The buffers and the matrix are borrowed until the job's event was retrieved. */
struct doca_ec_job {
	struct doca_job base;
	struct doca_matrix *coding_matrix;
	struct doca_buf const *src_buff;
	struct doca_buf *dst_buff;
};

/* Create K redundancy blocks of N data blocks. */
struct doca_ec_job_create {
	struct doca_job base;
	struct doca_matrix *create_matrix;
	struct doca_buf const *src_original_data_buff;
	struct doca_buf *dst_rdnc_buff;
};

/* Recover lost blocks, of the first N that are left: data blocks, then redundancy blocks, both ascending. */
struct doca_ec_job_recover {
	struct doca_job base;
	struct doca_matrix *recover_matrix;
	struct doca_buf const *src_remaining_data_buff;
	struct doca_buf *dst_recovered_data_buff;
};

/* Update the redundancy blocks. The source has the old and the new block of each data block that changes, ascending, then all old
 * redundancy blocks. */
struct doca_ec_job_update {
	struct doca_job base;
	struct doca_matrix *update_matrix;
	struct doca_buf const *src_data_rdnc_buff;
	struct doca_buf *dst_updated_rdnc_buff;
};

/* --- Matrices --- */

/* Create the coding matrix of a type. DOCA_ERROR_NO_MEMORY. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_create(struct doca_ec *ctx, enum doca_ec_matrix_types type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_matrix **matrix);

/* Create a coding matrix of coefficients: @rdnc_block_count numbers for each data block. They are copied. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_from_raw(struct doca_ec *ctx, uint8_t *data, size_t data_block_count,
				     size_t rdnc_block_count, struct doca_matrix **matrix);

/* Create the matrix that updates the redundancy blocks when some data blocks change. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_update_matrix_create(const struct doca_matrix *coding_matrix, struct doca_ec *ctx,
					  uint32_t *update_indices, size_t n_updates, struct doca_matrix **matrix);

/* Create the matrix that recovers lost blocks, data or redundancy, in the order of their indices; at most K. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_recover_matrix_create(const struct doca_matrix *coding_matrix, struct doca_ec *ctx,
					   uint32_t *missing_indices, size_t n_missing, struct doca_matrix **matrix);

__DOCA_EXPERIMENTAL
doca_error_t doca_ec_matrix_destroy(struct doca_matrix *matrix);

/* --- Creation and destruction --- */

/* An erasure coding context without a device. DOCA_ERROR_NO_MEMORY. destroy stops it; DOCA_ERROR_IN_USE while work queues are
 * added. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_create(struct doca_ec **ec);

__DOCA_EXPERIMENTAL
doca_error_t doca_ec_destroy(struct doca_ec *ec);

/* The same object as a context. NULL for NULL. */
__DOCA_EXPERIMENTAL
struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ctx);

/* --- Capabilities of a device --- */

/* DOCA_SUCCESS if the device can run jobs of that type, else DOCA_ERROR_NOT_SUPPORTED. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_job_get_supported(struct doca_devinfo *devinfo, enum doca_ec_job_types job_type);

/* Get the maximum number of bytes of a block. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_get_max_buffer_size(const struct doca_devinfo *devinfo, enum doca_ec_job_types job_type,
					 uint32_t *max_buffer_size);

/* Get the maximum length of a source or destination list. */
__DOCA_EXPERIMENTAL
doca_error_t doca_ec_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_num_elem);

#ifdef __cplusplus
}
#endif

#endif
