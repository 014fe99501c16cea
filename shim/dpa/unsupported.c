/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous operations of kernels, and trace files: not simulated yet. */
#include "dpa_priv.h"

#define ASYNC_OPS "asynchronous operations of the DPA"
#define TRACES    "trace files of the DPA"

doca_error_t doca_dpa_async_ops_create(struct doca_dpa *dpa, unsigned int queue_size, uint64_t user_data,
				       struct doca_dpa_async_ops **async_ops)
{
	(void)queue_size, (void)user_data;
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(async_ops);
	return SHIM_NOT_SIMULATED(ASYNC_OPS);
}

#define DEFINE_OF_ASYNC_OPS(function_name)                               \
	doca_error_t function_name(struct doca_dpa_async_ops *async_ops) \
	{                                                                \
		SHIM_NEED_OUT(async_ops);                                \
		return SHIM_NOT_SIMULATED(ASYNC_OPS);                    \
	}

DEFINE_OF_ASYNC_OPS(doca_dpa_async_ops_destroy)
DEFINE_OF_ASYNC_OPS(doca_dpa_async_ops_start)
DEFINE_OF_ASYNC_OPS(doca_dpa_async_ops_stop)

doca_error_t doca_dpa_async_ops_attach(struct doca_dpa_async_ops *async_ops, struct doca_dpa_completion *dpa_comp)
{
	SHIM_NEED_OUT(async_ops);
	SHIM_NEED(dpa_comp, SHIM_DPA_COMPLETION);
	return SHIM_NOT_SIMULATED(ASYNC_OPS);
}

#define DEFINE_GETTER(function_name, type, out)                                     \
	doca_error_t function_name(struct doca_dpa_async_ops *async_ops, type *out) \
	{                                                                           \
		SHIM_NEED_OUT(async_ops);                                           \
		SHIM_NEED_OUT(out);                                                 \
		return SHIM_NOT_SIMULATED(ASYNC_OPS);                               \
	}

DEFINE_GETTER(doca_dpa_async_ops_get_dpa_handle, doca_dpa_dev_async_ops_t, handle)
DEFINE_GETTER(doca_dpa_async_ops_get_queue_size, unsigned int, queue_size)
DEFINE_GETTER(doca_dpa_async_ops_get_user_data, uint64_t, user_data)

doca_error_t doca_dpa_trace_file_set_path(struct doca_dpa *dpa, const char *file_path)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	return SHIM_NOT_SIMULATED(TRACES);
}

doca_error_t doca_dpa_trace_file_get_path(struct doca_dpa *dpa, char *file_path, uint32_t *file_path_len)
{
	SHIM_NEED(dpa, SHIM_DPA);
	SHIM_NEED_OUT(file_path);
	SHIM_NEED_OUT(file_path_len);
	return SHIM_NOT_SIMULATED(TRACES);
}
