/* SPDX-License-Identifier: BSD-3-Clause */
/* The SHA context: life, configuration, capabilities. */
#include <errno.h>
#include <stdlib.h>

#include "sha_priv.h"
#include "shim/common/base/check.h"

struct pcie_accel_caps shim_sha_get_caps(const struct pcie_caps *caps)
{
	return caps->accel[PCIE_ACCEL_SHA];
}

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

/* ---- for the types of tasks ---- */

doca_error_t shim_sha_set_conf(const char *func, struct doca_sha *sha, uint32_t index, void (*done)(void),
			       void (*failed)(void), uint8_t log_num_tasks)
{
	if (log_num_tasks < 32)
		return shim_accel_set_conf(func, &sha->accel, index, done, failed, UINT32_C(1) << log_num_tasks);
	sim_err("%s: 2 to the power of %u tasks; log_num_tasks is the logarithm of their number", func, log_num_tasks);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t shim_sha_check_algorithm(const char *func, enum doca_sha_algorithm algorithm)
{
	if (doca_likely(shim_sha_is_algorithm(algorithm)))
		return DOCA_SUCCESS;
	sim_err("%s: algorithm %d is none of enum doca_sha_algorithm", func, (int)algorithm);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t shim_sha_check_room(enum doca_sha_algorithm algorithm, const struct shim_list_size *dst)
{
	if (doca_likely(dst->room_bytes >= shim_sha_digest_bytes(algorithm)))
		return DOCA_SUCCESS;
	sim_err("doca_task_submit: a SHA task's destination has room for %llu bytes behind its data, and the digest has %u (doca_sha_cap_get_min_dst_buf_size)",
		(unsigned long long)dst->room_bytes, shim_sha_digest_bytes(algorithm));
	return DOCA_ERROR_INVALID_VALUE;
}

int shim_sha_read(struct shim_work *work, struct sha_digest *digest)
{
	const uint8_t *data;
	size_t len;
	int rc = 0;

	while (rc == 0 && shim_work_read(work, &data, &len))
		rc = sha_digest_update(digest, data, len);
	return rc == 0 ? work->rc : rc;
}

int shim_sha_write(struct shim_work *work, struct sha_digest *digest, enum doca_sha_algorithm algorithm)
{
	uint8_t bytes[SHA_MAX_DIGEST_BYTES];
	int rc = sha_digest_end(digest, bytes);

	return rc == 0 ? shim_work_append(work, bytes, shim_sha_digest_bytes(algorithm)) : rc;
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

doca_error_t doca_sha_cap_get_max_num_tasks(struct doca_sha *sha, uint32_t *max_num_tasks)
{
	SHIM_NEED(sha, SHIM_SHA);
	SHIM_NEED_OUT(max_num_tasks);
	*max_num_tasks = shim_accel_max_tasks(&sha->accel);
	return DOCA_SUCCESS;
}
