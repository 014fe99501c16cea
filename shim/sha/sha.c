/* SPDX-License-Identifier: BSD-3-Clause */
/* The SHA context: life, configuration, capabilities. */
#include <stdlib.h>

#include "sha_priv.h"
#include "shim/common/base/check.h"

static void forget_tasks(struct shim_accel *accel)
{
	struct doca_sha *sha = (struct doca_sha *)accel;
	struct sha_state *state;

	while ((state = SLIST_FIRST(&sha->states)) != NULL) {
		SLIST_REMOVE_HEAD(&sha->states, link);
		sha_digest_free(state->digest);
		free(state);
	}
	sha_digest_free(sha->digest);
	sha->digest = NULL;
}

static const struct shim_accel_lib sha_lib = {
	.ops = SHIM_ACCEL_OPS("sha"),
	.kind = SHIM_SHA,
	.num_types = 2,
	.types = { [SHA_HASH] = &shim_sha_hash_type, [SHA_PARTIAL_HASH] = &shim_sha_partial_hash_type },
	.forget_tasks = forget_tasks,
};

doca_error_t doca_sha_create(struct doca_dev *dev, struct doca_sha **sha)
{
	struct doca_sha *created;

	SHIM_NEED(dev, SHIM_DEV);
	SHIM_NEED_OUT(sha);
	created = shim_accel_new(&sha_lib, sizeof(*created), dev);
	if (!created)
		return DOCA_ERROR_NO_MEMORY;
	*sha = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sha_destroy(struct doca_sha *sha)
{
	SHIM_NEED(sha, SHIM_SHA);
	return shim_accel_destroy(&sha->accel);
}

struct doca_ctx *doca_sha_as_ctx(struct doca_sha *sha)
{
	return shim_handle_is(sha, SHIM_SHA) ? &sha->accel.ctx : NULL;
}

/* ---- capabilities ---- */

static doca_error_t check_support(const char *func, const struct doca_devinfo *devinfo,
				  const struct shim_accel_type *type, enum doca_sha_algorithm algorithm)
{
	doca_error_t result = shim_sha_check_algorithm(func, algorithm);

	return result == DOCA_SUCCESS ? shim_accel_check_support(func, devinfo->function, type) : result;
}

doca_error_t doca_sha_cap_task_hash_get_supported(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return check_support(__func__, devinfo, &shim_sha_hash_type, algorithm);
}

doca_error_t doca_sha_cap_task_partial_hash_get_supported(const struct doca_devinfo *devinfo,
							  enum doca_sha_algorithm algorithm)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return check_support(__func__, devinfo, &shim_sha_partial_hash_type, algorithm);
}

doca_error_t doca_sha_cap_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo, uint32_t *max_list_buf_num_elem)
{
	struct pcie_accel_caps caps;
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_list_buf_num_elem);
	result = shim_accel_get_caps(__func__, devinfo->function, &shim_sha_hash_type, &caps);
	if (result == DOCA_SUCCESS)
		*max_list_buf_num_elem = caps.max_list_len;
	return result;
}

doca_error_t doca_sha_cap_get_max_src_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_src_buf_size)
{
	struct pcie_accel_caps caps;
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(max_src_buf_size);
	result = shim_accel_get_caps(__func__, devinfo->function, &shim_sha_hash_type, &caps);
	if (result == DOCA_SUCCESS)
		*max_src_buf_size = caps.max_buf_bytes;
	return result;
}

doca_error_t doca_sha_cap_get_min_dst_buf_size(const struct doca_devinfo *devinfo, enum doca_sha_algorithm algorithm,
					       uint32_t *min_dst_buf_size)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(min_dst_buf_size);
	result = check_support(__func__, devinfo, &shim_sha_hash_type, algorithm);
	if (result == DOCA_SUCCESS)
		*min_dst_buf_size = shim_sha_digest_bytes(algorithm);
	return result;
}

doca_error_t doca_sha_cap_get_partial_hash_block_size(const struct doca_devinfo *devinfo,
						      enum doca_sha_algorithm algorithm, uint32_t *partial_block_size)
{
	doca_error_t result;

	SHIM_NEED(devinfo, SHIM_DEVINFO);
	SHIM_NEED_OUT(partial_block_size);
	result = check_support(__func__, devinfo, &shim_sha_partial_hash_type, algorithm);
	if (result == DOCA_SUCCESS)
		*partial_block_size = shim_sha_block_bytes(algorithm);
	return result;
}

SHIM_DEFINE_GETTER(doca_sha_cap_get_max_num_tasks, struct doca_sha, sha, SHIM_SHA, uint32_t, max_num_tasks,
		   shim_accel_max_tasks(&sha->accel))
