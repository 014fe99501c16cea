/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions under the names that they had in release 2.5, for source code of that release and for programs that were
 * linked with its library. They are no aliases, so that debuggers and check-binary see the name that the program uses. */
#include <doca_sha.h>

doca_error_t doca_sha_cap_get_max_src_buffer_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size)
{
	return doca_sha_cap_get_max_src_buf_size(devinfo, max_buffer_size);
}

doca_error_t doca_sha_cap_get_min_dst_buffer_size(const struct doca_devinfo *devinfo, enum doca_sha_algorithm task_type,
						  uint32_t *min_buffer_size)
{
	return doca_sha_cap_get_min_dst_buf_size(devinfo, task_type, min_buffer_size);
}

doca_error_t doca_sha_task_partial_hash_set_is_final_buffer(struct doca_sha_task_partial_hash *task)
{
	return doca_sha_task_partial_hash_set_is_final_buf(task);
}
