/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device's DPA has; the numbers come from the topology. */
#include "dpa_priv.h"

doca_error_t doca_dpa_cap_is_supported(const struct doca_devinfo *devinfo)
{
	SHIM_NEED(devinfo, SHIM_DEVINFO);
	return devinfo->function->caps.dpa ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

#define LIMIT(function_name, qualified, type, out, value)                     \
	doca_error_t function_name(qualified struct doca_dpa *dpa, type *out) \
	{                                                                     \
		SHIM_NEED(dpa, SHIM_DPA);                                     \
		SHIM_NEED_OUT(out);                                           \
		*out = (value);                                               \
		return DOCA_SUCCESS;                                          \
	}

LIMIT(doca_dpa_get_core_num, , unsigned int, num_cores, dpa_caps(dpa)->dpa_cores)
LIMIT(doca_dpa_get_num_eus_per_core, , unsigned int, eus_per_core, dpa_caps(dpa)->dpa_eus_per_core)
LIMIT(doca_dpa_get_total_num_eus_available, , unsigned int, total_num_eus, dpa_caps(dpa)->dpa_eus)
LIMIT(doca_dpa_get_max_threads_per_kernel, const, unsigned int, value, dpa_caps(dpa)->dpa_max_launch_threads)

/* Seconds, of which a part counts as one. */
LIMIT(doca_dpa_get_kernel_max_run_time, const, unsigned long long, value, (dpa_caps(dpa)->dpa_run_time_ms + 999) / 1000)
