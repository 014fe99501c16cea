/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of erasure coding: arguments and life. */
#include <errno.h>

#include "ec_priv.h"
#include "galois.h"
#include "shim/common/base/check.h"

/* The first check of all functions that create a matrix. */
static doca_error_t check_result(const char *func, struct doca_ec_matrix **matrix)
{
	const char *lack;

	if (!matrix) {
		sim_err("%s: the pointer for the matrix is NULL", func);
		return DOCA_ERROR_INVALID_VALUE;
	}
	lack = galois_find_lack();
	if (!lack)
		return DOCA_SUCCESS;
	sim_err("%s: %s", func, lack);
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t check_counts(const char *func, size_t data_block_count, size_t rdnc_block_count)
{
	if (data_block_count > 0 && data_block_count <= EC_MAX_DATA_BLOCKS && rdnc_block_count > 0 &&
	    rdnc_block_count <= EC_MAX_RDNC_BLOCKS)
		return DOCA_SUCCESS;
	sim_err("%s: %zu data and %zu redundancy blocks; give 1 to %d and 1 to %d", func, data_block_count,
		rdnc_block_count, EC_MAX_DATA_BLOCKS, EC_MAX_RDNC_BLOCKS);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Check that indices are below @end and differ; there are 1 to @max. */
static doca_error_t check_indices(const char *func, const uint32_t *indices, size_t count, size_t max, size_t end)
{
	if (!indices || count == 0 || count > max) {
		sim_err("%s: %zu indices; give 1 to %zu", func, count, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (size_t i = 0; i < count; i++) {
		bool is_twice = false;

		for (size_t j = 0; j < i; j++)
			is_twice = is_twice || indices[j] == indices[i];
		if (is_twice || indices[i] >= end) {
			sim_err("%s: index %u is %s; the code has blocks 0 to %zu", func, indices[i],
				is_twice ? "there twice" : "too large", end - 1);
			return DOCA_ERROR_INVALID_VALUE;
		}
	}
	return DOCA_SUCCESS;
}

static doca_error_t check_coding(const char *func, const struct doca_ec_matrix *coding)
{
	if (shim_handle_is(coding, SHIM_EC_MATRIX) && coding->code->is_coding)
		return DOCA_SUCCESS;
	sim_err("%s: coding_matrix is no live matrix, or was made of another one; take one of doca_ec_matrix_create()",
		func);
	return DOCA_ERROR_INVALID_VALUE;
}

/* Make a matrix of a code, which may be NULL; it belongs to the matrix, also on failure. */
static doca_error_t wrap(struct ec_code *code, struct doca_ec_matrix **ret_matrix)
{
	struct doca_ec_matrix *matrix = code ? shim_object_new(SHIM_EC_MATRIX, sizeof(*matrix)) : NULL;

	if (!matrix) {
		ec_code_unref(code);
		return DOCA_ERROR_NO_MEMORY;
	}
	matrix->code = code;
	*ret_matrix = matrix;
	return DOCA_SUCCESS;
}

doca_error_t ec_matrix_new(const char *func, int type, size_t num_data, size_t num_rdnc, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_result(func, matrix);

	if (result == DOCA_SUCCESS)
		result = check_counts(func, num_data, num_rdnc);
	if (result != DOCA_SUCCESS)
		return result;
	switch (type) {
	case DOCA_EC_MATRIX_TYPE_CAUCHY:
		return wrap(ec_code_new_cauchy(num_data, num_rdnc), matrix);
	case DOCA_EC_MATRIX_TYPE_VANDERMONDE:
		return wrap(ec_code_new_vandermonde(num_data, num_rdnc), matrix);
	default:
		sim_err("%s: there is no type %d of matrices", func, type);
		return DOCA_ERROR_INVALID_VALUE;
	}
}

doca_error_t ec_matrix_new_from_raw(const char *func, const uint8_t *data, size_t num_data, size_t num_rdnc,
				    struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_result(func, matrix);

	if (result == DOCA_SUCCESS)
		result = check_counts(func, num_data, num_rdnc);
	if (result == DOCA_SUCCESS && !data) {
		sim_err("%s: the coefficients are NULL", func);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	return result == DOCA_SUCCESS ? wrap(ec_code_new_from_raw(data, num_data, num_rdnc), matrix) : result;
}

doca_error_t ec_matrix_new_recover(const char *func, const struct doca_ec_matrix *coding, const uint32_t *missing,
				   size_t num_missing, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_result(func, matrix);
	struct ec_code *code = NULL;

	if (result == DOCA_SUCCESS)
		result = check_coding(func, coding);
	if (result == DOCA_SUCCESS)
		result = check_indices(func, missing, num_missing, coding->code->num_out,
				       coding->code->num_in + coding->code->num_out);
	if (result != DOCA_SUCCESS)
		return result;
	if (ec_code_new_recover(coding->code, missing, num_missing, &code) != -EDOM)
		return wrap(code, matrix);
	sim_err("%s: the blocks that are left do not determine the missing ones, with this matrix; a Cauchy matrix recovers any loss",
		func);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t ec_matrix_new_update(const char *func, const struct doca_ec_matrix *coding, const uint32_t *changed,
				  size_t num_changed, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_result(func, matrix);
	struct ec_code *code = NULL;

	if (result == DOCA_SUCCESS)
		result = check_coding(func, coding);
	if (result == DOCA_SUCCESS)
		result = check_indices(func, changed, num_changed, coding->code->num_in, coding->code->num_in);
	if (result != DOCA_SUCCESS)
		return result;
	ec_code_new_update(coding->code, changed, num_changed, &code);
	return wrap(code, matrix);
}

/* ---- public functions ---- */

doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
	SHIM_NEED(ec, SHIM_EC);
	return ec_matrix_new(__func__, type, data_block_count, rdnc_block_count, matrix);
}

doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data, size_t data_block_count,
					    size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
	SHIM_NEED(ec, SHIM_EC);
	return ec_matrix_new_from_raw(__func__, data, data_block_count, rdnc_block_count, matrix);
}

doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					   uint32_t *missing_indices, size_t n_missing, struct doca_ec_matrix **matrix)
{
	SHIM_NEED(ec, SHIM_EC);
	return ec_matrix_new_recover(__func__, coding_matrix, missing_indices, n_missing, matrix);
}

doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					  uint32_t *update_indices, size_t n_updates, struct doca_ec_matrix **matrix)
{
	SHIM_NEED(ec, SHIM_EC);
	return ec_matrix_new_update(__func__, coding_matrix, update_indices, n_updates, matrix);
}

/* Tasks in flight keep the code. */
doca_error_t doca_ec_matrix_destroy(struct doca_ec_matrix *matrix)
{
	SHIM_NEED(matrix, SHIM_EC_MATRIX);
	ec_code_unref(matrix->code);
	matrix->code = NULL;
	shim_object_free(matrix, SHIM_EC_MATRIX);
	return DOCA_SUCCESS;
}
