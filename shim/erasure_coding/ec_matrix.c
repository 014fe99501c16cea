/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of erasure coding: arguments and life. */
#include <errno.h>

#include "ec_priv.h"
#include "galois.h"
#include "shim/common/base/check.h"

/* Check what all functions that create a matrix take. */
static doca_error_t check_common(const char *func, struct doca_ec *ec, struct doca_ec_matrix **matrix)
{
	const char *lack;

	if (!shim_handle_is(ec, SHIM_EC) || !matrix) {
		sim_err("%s: ec is no live instance, or the pointer for the result is NULL", func);
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

doca_error_t doca_ec_matrix_create(struct doca_ec *ec, enum doca_ec_matrix_type type, size_t data_block_count,
				   size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_common(__func__, ec, matrix);

	if (result == DOCA_SUCCESS)
		result = check_counts(__func__, data_block_count, rdnc_block_count);
	if (result != DOCA_SUCCESS)
		return result;
	switch (type) {
	case DOCA_EC_MATRIX_TYPE_CAUCHY:
		return wrap(ec_code_new_cauchy(data_block_count, rdnc_block_count), matrix);
	case DOCA_EC_MATRIX_TYPE_VANDERMONDE:
		return wrap(ec_code_new_vandermonde(data_block_count, rdnc_block_count), matrix);
	default:
		return SHIM_REFUSE(DOCA_ERROR_INVALID_VALUE, "type %d is none of enum doca_ec_matrix_type", (int)type);
	}
}

doca_error_t doca_ec_matrix_create_from_raw(struct doca_ec *ec, uint8_t *data, size_t data_block_count,
					    size_t rdnc_block_count, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_common(__func__, ec, matrix);

	SHIM_NEED_OUT(data);
	if (result == DOCA_SUCCESS)
		result = check_counts(__func__, data_block_count, rdnc_block_count);
	return result == DOCA_SUCCESS ? wrap(ec_code_new_from_raw(data, data_block_count, rdnc_block_count), matrix) :
					result;
}

doca_error_t doca_ec_matrix_create_recover(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					   uint32_t *missing_indices, size_t n_missing, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_common(__func__, ec, matrix);
	struct ec_code *code = NULL;
	int rc;

	if (result == DOCA_SUCCESS)
		result = check_coding(__func__, coding_matrix);
	if (result == DOCA_SUCCESS)
		result = check_indices(__func__, missing_indices, n_missing, coding_matrix->code->num_out,
				       coding_matrix->code->num_in + coding_matrix->code->num_out);
	if (result != DOCA_SUCCESS)
		return result;
	rc = ec_code_new_recover(coding_matrix->code, missing_indices, n_missing, &code);
	if (rc == -EDOM)
		return SHIM_REFUSE(
			DOCA_ERROR_INVALID_VALUE,
			"the blocks that are left do not determine the missing ones, with this matrix; a Cauchy matrix recovers any loss");
	return wrap(code, matrix);
}

doca_error_t doca_ec_matrix_create_update(struct doca_ec *ec, const struct doca_ec_matrix *coding_matrix,
					  uint32_t *update_indices, size_t n_updates, struct doca_ec_matrix **matrix)
{
	doca_error_t result = check_common(__func__, ec, matrix);
	struct ec_code *code = NULL;

	if (result == DOCA_SUCCESS)
		result = check_coding(__func__, coding_matrix);
	if (result == DOCA_SUCCESS)
		result = check_indices(__func__, update_indices, n_updates, coding_matrix->code->num_in,
				       coding_matrix->code->num_in);
	if (result != DOCA_SUCCESS)
		return result;
	ec_code_new_update(coding_matrix->code, update_indices, n_updates, &code);
	return wrap(code, matrix);
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
