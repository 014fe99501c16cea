/* SPDX-License-Identifier: BSD-3-Clause */
/* shim/workq/ec_core.h - erasure coding of the core, for jobs. ec_core.c is compiled with the core. */
#ifndef SHIM_WORKQ_EC_CORE_H
#define SHIM_WORKQ_EC_CORE_H

#include <stddef.h>

#include "accel_core.h"

struct doca_dev;
struct doca_ec_matrix;

/* Types of tasks, in the order of their library. */
enum { WORKQ_EC_GALOIS_MUL, WORKQ_EC_CREATE, WORKQ_EC_UPDATE, WORKQ_EC_RECOVER };

doca_error_t workq_ec_core_create(struct doca_dev *dev, uint32_t depth, struct workq_attachment *attachment,
				  struct workq_accel_core **ret_core);

/* workq_accel_job.prepare: @arg is a matrix, any value. */
void workq_ec_prepare(struct doca_task *task, const struct workq_accel_job *job);

/* Documented in shim/erasure_coding/ec_priv.h. */
doca_error_t ec_matrix_new(const char *func, int type, size_t num_data, size_t num_rdnc,
			   struct doca_ec_matrix **matrix);
doca_error_t ec_matrix_new_from_raw(const char *func, const uint8_t *data, size_t num_data, size_t num_rdnc,
				    struct doca_ec_matrix **matrix);
doca_error_t ec_matrix_new_recover(const char *func, const struct doca_ec_matrix *coding, const uint32_t *missing,
				   size_t num_missing, struct doca_ec_matrix **matrix);
doca_error_t ec_matrix_new_update(const char *func, const struct doca_ec_matrix *coding, const uint32_t *changed,
				  size_t num_changed, struct doca_ec_matrix **matrix);

#endif
