/* SPDX-License-Identifier: BSD-3-Clause */
/* A function under the name that it had in release 2.5, for source code of that release and for programs that were linked with
 * its library. It is no alias, so that debuggers and check-binary see the name that the program uses. */
#include <doca_compress.h>

doca_error_t doca_compress_get_max_num_tasks(struct doca_compress *compress, uint32_t *max_num_tasks)
{
	return doca_compress_cap_get_max_num_tasks(compress, max_num_tasks);
}
