/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device's DPA has; the numbers come from the topology. */
#include "dpa_priv.h"

SHIM_DEFINE_IS_SUPPORTED(doca_dpa_cap_is_supported, devinfo->function->caps.dpa)

#define LIMIT(name, object, type, out, value) SHIM_DEFINE_GETTER(name, object, dpa, SHIM_DPA, type, out, value)

LIMIT(doca_dpa_get_core_num, struct doca_dpa, unsigned int, num_cores, dpa_caps(dpa)->dpa_cores)
LIMIT(doca_dpa_get_num_eus_per_core, struct doca_dpa, unsigned int, eus_per_core, dpa_caps(dpa)->dpa_eus_per_core)
LIMIT(doca_dpa_get_total_num_eus_available, struct doca_dpa, unsigned int, total_num_eus, dpa_caps(dpa)->dpa_eus)
LIMIT(doca_dpa_get_max_threads_per_kernel, const struct doca_dpa, unsigned int, value,
      dpa_caps(dpa)->dpa_max_launch_threads)

/* Seconds, of which a part counts as one. */
LIMIT(doca_dpa_get_kernel_max_run_time, const struct doca_dpa, unsigned long long, value,
      (dpa_caps(dpa)->dpa_run_time_ms + 999) / 1000)
