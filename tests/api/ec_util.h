/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/api/ec_util.h - a rig for erasure coding: an instance with tasks of all types, and a plain model of the field. */
#ifndef TESTS_API_EC_UTIL_H
#define TESTS_API_EC_UTIL_H

#include <doca_erasure_coding.h>

#include "accel_util.h"

#define EC_TASKS 2 /* of each type */

enum ec_kind { EC_MUL, EC_CREATE, EC_UPDATE, EC_RECOVER, EC_NUM_KINDS };

struct ec_rig {
	struct accel *accel;
	struct doca_ec *ec;
	struct doca_ctx *ctx;
};

/* Without a configuration; with all types, and started. */
struct ec_rig ec_open_idle(void);
struct ec_rig ec_open(void);
void ec_close(struct ec_rig *rig);

doca_error_t ec_set_conf(struct doca_ec *ec, enum ec_kind kind, uint32_t num_tasks);

/* Allocate a task of any type, as a task. */
doca_error_t ec_alloc(struct ec_rig *rig, enum ec_kind kind, const struct doca_ec_matrix *matrix,
		      const struct doca_buf *src, struct doca_buf *dst, struct doca_task **ret_task);

/* Run a task of any type once, and free it. */
doca_error_t ec_run(struct ec_rig *rig, enum ec_kind kind, const struct doca_ec_matrix *matrix,
		    const struct doca_buf *src, struct doca_buf *dst);

struct doca_ec_matrix *ec_matrix(struct ec_rig *rig, enum doca_ec_matrix_type type, size_t data, size_t rdnc);

/* The product of two numbers, and 1 / @a, by the definition of the field. */
uint8_t ec_mul(uint8_t a, uint8_t b);
uint8_t ec_inverse(uint8_t a);

/* What the reference says about the coefficient of a coding matrix. */
uint8_t ec_coefficient(enum doca_ec_matrix_type type, size_t num_data, size_t data, size_t rdnc);

#endif
