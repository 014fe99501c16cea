/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that the loader finds in an image. */
#include "runtime.h"

const struct sim_dpa_port *bfsim_dpa_port;
intptr_t bfsim_dpa_thread_offset;

/* The linker's names for the ends of the section. */
extern const struct sim_dpa_kernel *const __start_bfsim_dpa_kernels[] __attribute__((visibility("hidden")));
extern const struct sim_dpa_kernel *const __stop_bfsim_dpa_kernels[] __attribute__((visibility("hidden")));

__attribute__((visibility("default"))) const struct sim_dpa_image_table bfsim_dpa_image = {
	.version = SIM_DPA_PORT_VERSION,
	.kernels = __start_bfsim_dpa_kernels,
	.kernels_end = __stop_bfsim_dpa_kernels,
	.port = &bfsim_dpa_port,
	.thread_offset = &bfsim_dpa_thread_offset,
};
