/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions under the names that they had in release 2.5, for source code of that release and for programs that were
 * linked with its library. They are no aliases, so that debuggers and check-binary see the name that the program uses. */
#include <doca_aes_gcm.h>

doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_length(const struct doca_devinfo *devinfo,
							     uint32_t *max_iv_length)
{
	return doca_aes_gcm_cap_task_encrypt_get_max_iv_len(devinfo, max_iv_length);
}

doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_length(const struct doca_devinfo *devinfo,
							     uint32_t *max_iv_length)
{
	return doca_aes_gcm_cap_task_decrypt_get_max_iv_len(devinfo, max_iv_length);
}
