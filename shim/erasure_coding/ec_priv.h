/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/erasure_coding/ec_priv.h - the erasure coding context, for the files of libdoca_erasure_coding.
 *
 *   ec.c           the context; the table of types; capabilities
 *   ec_matrix.c    matrices
 *   ec_task.[ch]   the types of tasks, which differ in names, and their public functions
 *   ec_work.c      check and work of all types
 *   code.[ch]      the coefficients of matrices
 *   galois.[ch]    the field
 */
#ifndef SHIM_EC_PRIV_H
#define SHIM_EC_PRIV_H

#include <doca_erasure_coding.h>

#include "code.h"
#include "shim/common/accel/accel.h"

/* Block sizes are multiples of it. */
#define EC_BLOCK_UNIT_BYTES 64

enum { EC_GALOIS_MUL, EC_CREATE, EC_UPDATE, EC_RECOVER };

struct doca_ec_matrix {
	struct shim_object object; /* first */
	struct ec_code *code;
};

struct doca_ec {
	struct shim_accel accel; /* first: a doca_ec is a doca_ctx */
};

/* A task of any type. */
struct ec_task {
	struct shim_accel_task base; /* first */
	const struct doca_ec_matrix *matrix;
	struct shim_accel_hold *hold; /* of the matrix's code */
};

extern const struct shim_accel_type ec_galois_mul_type, ec_create_type, ec_update_type, ec_recover_type;

/* ec_matrix.c: create matrices for the public function @func, without an instance, which matrices do not need. The errors are
 * those of the public functions. */
doca_error_t ec_matrix_new(const char *func, int type, size_t num_data, size_t num_rdnc,
			   struct doca_ec_matrix **matrix);
doca_error_t ec_matrix_new_from_raw(const char *func, const uint8_t *data, size_t num_data, size_t num_rdnc,
				    struct doca_ec_matrix **matrix);
doca_error_t ec_matrix_new_recover(const char *func, const struct doca_ec_matrix *coding, const uint32_t *missing,
				   size_t num_missing, struct doca_ec_matrix **matrix);
doca_error_t ec_matrix_new_update(const char *func, const struct doca_ec_matrix *coding, const uint32_t *changed,
				  size_t num_changed, struct doca_ec_matrix **matrix);

/* ec_work.c: the operations of the types. */
doca_error_t ec_check(struct shim_accel_task *task, const struct shim_list_size *src, const struct shim_list_size *dst);
uint64_t ec_get_output_bytes(const struct shim_accel_task *task);
uint64_t ec_get_max_src_bytes(const struct shim_accel_task *task, const struct pcie_accel_caps *caps);
int ec_work(struct shim_work *work);

#endif
