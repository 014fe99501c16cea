/* SPDX-License-Identifier: BSD-3-Clause */
/* What both types of SHA tasks share. */
#include "sha_priv.h"
#include "shim/common/base/check.h"

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

	for (uint64_t left = work->src_bytes; rc == 0 && left > 0 && shim_work_read(work, &data, &len); left -= len)
		rc = sha_digest_update(digest, data, len);
	return rc == 0 ? work->rc : rc;
}

int shim_sha_write(struct shim_work *work, struct sha_digest *digest, enum doca_sha_algorithm algorithm)
{
	uint8_t bytes[SHA_MAX_DIGEST_BYTES];
	int rc = sha_digest_end(digest, bytes);

	return rc == 0 ? shim_work_append(work, bytes, shim_sha_digest_bytes(algorithm)) : rc;
}
