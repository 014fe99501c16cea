/* SPDX-License-Identifier: BSD-3-Clause */
/* An image in memory. */
#ifndef SIM_DPA_IMAGE_PRIV_H
#define SIM_DPA_IMAGE_PRIV_H

#include "image.h"

struct sim_dpa_image {
	const struct sim_dpa_app *app;
	const void *bytes; /* of the program */
	size_t num_bytes;
	void *object; /* of dlopen() */
	uintptr_t base;
	const struct sim_dpa_image_table *table;
	struct sim_dpa_port port;
	struct sim_dpa_range data;
};

/* Set the guard functions and the thread's place. */
void sim_dpa_guard_port(struct sim_dpa_port *port);

#endif
