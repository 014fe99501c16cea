/* SPDX-License-Identifier: BSD-3-Clause */
/* The erasure coding context: life and capabilities. */
#include "ec_priv.h"
#include "shim/common/base/check.h"

static void *ref_code(void *code)
{
	return ec_code_ref(code);
}

static void unref_code(void *code)
{
	ec_code_unref(code);
}

static const struct shim_accel_lib ec_lib = {
	.ops = SHIM_ACCEL_OPS("erasure_coding"),
	.kind = SHIM_EC,
	.num_types = 4,
	.types = {
		[EC_GALOIS_MUL] = &ec_galois_mul_type,
		[EC_CREATE] = &ec_create_type,
		[EC_UPDATE] = &ec_update_type,
		[EC_RECOVER] = &ec_recover_type,
	},
	.ref_held = ref_code,
	.unref_held = unref_code,
};

doca_error_t doca_ec_create(struct doca_dev *dev, struct doca_ec **ec)
{
	struct doca_ec *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(ec);
	created = shim_accel_new(&ec_lib, sizeof(*created), dev);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*ec = created;
	return DOCA_SUCCESS;
}

/* The reference has BAD_STATE where other libraries have IN_USE. */
doca_error_t doca_ec_destroy(struct doca_ec *ec)
{
	doca_error_t result;

	SHIM_NEED(ec, SHIM_EC);
	result = shim_accel_destroy(&ec->accel);
	return result == DOCA_ERROR_IN_USE ? DOCA_ERROR_BAD_STATE : result;
}

struct doca_ctx *doca_ec_as_ctx(struct doca_ec *ec)
{
	return shim_handle_is(ec, SHIM_EC) ? &ec->accel.ctx : NULL;
}

/* ---- capabilities ---- */

doca_error_t doca_ec_cap_get_max_block_size(const struct doca_devinfo *devinfo, uint64_t *max_block_size)
{
	struct pcie_accel_caps caps;
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_block_size);
	result = shim_accel_get_caps(__func__, devinfo->function, &ec_create_type, &caps);
	if (result == DOCA_SUCCESS)
		*max_block_size = caps.max_buf_bytes;
	return result;
}

doca_error_t doca_ec_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
{
	struct pcie_accel_caps caps;
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_buf_list_len);
	result = shim_accel_get_caps(__func__, devinfo->function, &ec_create_type, &caps);
	if (result == DOCA_SUCCESS)
		*max_buf_list_len = caps.max_list_len;
	return result;
}
