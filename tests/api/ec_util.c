/* SPDX-License-Identifier: BSD-3-Clause */
/* The rig for erasure coding. */
#include "ec_util.h"

#include "doca_check.h"

#define DEFINE_KIND(name)                                                                                              \
	static void on_##name(struct doca_ec_task_##name *task, union doca_data user_data, union doca_data ctx_data)   \
	{                                                                                                              \
	}                                                                                                              \
                                                                                                                       \
	static doca_error_t set_conf_##name(struct doca_ec *ec, uint32_t num)                                          \
	{                                                                                                              \
		return doca_ec_task_##name##_set_conf(ec, on_##name, on_##name, num);                                  \
	}                                                                                                              \
                                                                                                                       \
	static doca_error_t alloc_##name(struct doca_ec *ec, const struct doca_ec_matrix *matrix,                      \
					 const struct doca_buf *src, struct doca_buf *dst, struct doca_task **task)    \
	{                                                                                                              \
		struct doca_ec_task_##name *allocated;                                                                 \
		doca_error_t result =                                                                                  \
			doca_ec_task_##name##_allocate_init(ec, matrix, src, dst, (union doca_data){ 0 }, &allocated); \
                                                                                                                       \
		if (result == DOCA_SUCCESS)                                                                            \
			*task = doca_ec_task_##name##_as_task(allocated);                                              \
		return result;                                                                                         \
	}

DEFINE_KIND(galois_mul)
DEFINE_KIND(create)
DEFINE_KIND(update)
DEFINE_KIND(recover)

static const struct {
	doca_error_t (*set_conf)(struct doca_ec *ec, uint32_t num);
	doca_error_t (*alloc)(struct doca_ec *ec, const struct doca_ec_matrix *matrix, const struct doca_buf *src,
			      struct doca_buf *dst, struct doca_task **task);
} kinds[EC_NUM_KINDS] = {
	[EC_MUL] = { set_conf_galois_mul, alloc_galois_mul },
	[EC_CREATE] = { set_conf_create, alloc_create },
	[EC_UPDATE] = { set_conf_update, alloc_update },
	[EC_RECOVER] = { set_conf_recover, alloc_recover },
};

doca_error_t ec_set_conf(struct doca_ec *ec, enum ec_kind kind, uint32_t num_tasks)
{
	return kinds[kind].set_conf(ec, num_tasks);
}

doca_error_t ec_alloc(struct ec_rig *rig, enum ec_kind kind, const struct doca_ec_matrix *matrix,
		      const struct doca_buf *src, struct doca_buf *dst, struct doca_task **ret_task)
{
	return kinds[kind].alloc(rig->ec, matrix, src, dst, ret_task);
}

doca_error_t ec_run(struct ec_rig *rig, enum ec_kind kind, const struct doca_ec_matrix *matrix,
		    const struct doca_buf *src, struct doca_buf *dst)
{
	struct doca_task *task;
	doca_error_t result;

	MUST(ec_alloc(rig, kind, matrix, src, dst, &task));
	result = accel_run(rig->accel, task);
	doca_task_free(task);
	return result;
}

struct ec_rig ec_open_idle(void)
{
	struct ec_rig rig = { .accel = accel_open() };

	MUST(doca_ec_create(rig.accel->dev, &rig.ec));
	rig.ctx = doca_ec_as_ctx(rig.ec);
	return rig;
}

struct ec_rig ec_open(void)
{
	struct ec_rig rig = ec_open_idle();

	for (enum ec_kind kind = 0; kind < EC_NUM_KINDS; kind++)
		MUST(ec_set_conf(rig.ec, kind, EC_TASKS));
	accel_start(rig.accel, rig.ctx);
	return rig;
}

void ec_close(struct ec_rig *rig)
{
	if (rig->accel->ctx)
		accel_stop(rig->accel);
	MUST(doca_ec_destroy(rig->ec));
	accel_close(rig->accel);
}

struct doca_ec_matrix *ec_matrix(struct ec_rig *rig, enum doca_ec_matrix_type type, size_t data, size_t rdnc)
{
	struct doca_ec_matrix *matrix;

	MUST(doca_ec_matrix_create(rig->ec, type, data, rdnc, &matrix));
	return matrix;
}

/* ---- the field: polynomials over bits, modulo x^8 + x^4 + x^3 + x^2 + 1 ---- */

uint8_t ec_mul(uint8_t a, uint8_t b)
{
	unsigned int shifted = a, product = 0;

	for (; b; b >>= 1) {
		if (b & 1)
			product ^= shifted;
		shifted <<= 1;
		if (shifted & 0x100)
			shifted ^= 0x11d;
	}
	return (uint8_t)product;
}

uint8_t ec_inverse(uint8_t a)
{
	uint8_t found = 0;

	for (unsigned int i = 1; i < 256; i++)
		if (ec_mul(a, (uint8_t)i) == 1)
			found = (uint8_t)i;
	return found;
}

uint8_t ec_coefficient(enum doca_ec_matrix_type type, size_t num_data, size_t data, size_t rdnc)
{
	uint8_t power = 1;

	if (type == DOCA_EC_MATRIX_TYPE_CAUCHY)
		return ec_inverse((uint8_t)(data ^ (rdnc + num_data)));
	for (size_t i = 0; i < rdnc; i++)
		power = ec_mul(power, (uint8_t)(data + 1));
	return power;
}
