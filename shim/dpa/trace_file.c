/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of device code: entries of five numbers, in the context's file. An entry is written at once, so that a flush has nothing to do, and
 * the file has the entries before a crash. */
#include <inttypes.h>
#include <stdio.h>

#include "dpa_priv.h"

void dpa_trace(void *arg, const uint64_t values[5])
{
	const struct doca_dpa *dpa = arg;

	if (dpa->trace.stream)
		fprintf(dpa->trace.stream, "0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 "\n",
			values[0], values[1], values[2], values[3], values[4]);
}

doca_error_t doca_dpa_trace_file_set_path(struct doca_dpa *dpa, const char *file_path)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	return dpa_file_set_path(__func__, dpa, &dpa->trace, file_path);
}

doca_error_t doca_dpa_trace_file_get_path(struct doca_dpa *dpa, char *file_path, uint32_t *file_path_len)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	SHIM_NEED_OUT(file_path_len);
	return dpa_file_get_path(__func__, &dpa->base->trace, file_path, file_path_len);
}
