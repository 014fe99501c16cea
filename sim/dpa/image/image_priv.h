/* SPDX-License-Identifier: BSD-3-Clause */
/* An image in memory. */
#ifndef SIM_DPA_IMAGE_PRIV_H
#define SIM_DPA_IMAGE_PRIV_H

#include "image.h"

struct sim_dpa_image {
	const struct sim_dpa_app *app;
	const void *bytes; /* of the program */
	size_t num_bytes;
	bool is_guarded;
	void *object; /* of dlopen() */
	uintptr_t base;
	const struct sim_dpa_image_table *table;
	struct sim_dpa_port port;
	struct sim_dpa_range data;
};

/* Set the guard functions. */
void sim_dpa_guard_port(struct sim_dpa_port *port);

/* What an image knows as its @thread_offset. */
intptr_t sim_dpa_guard_offset(void);

#endif
