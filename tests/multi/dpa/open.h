/* SPDX-License-Identifier: BSD-3-Clause */
/* tests/multi/dpa/open.h - what each program with kernels begins with: the first device with a DPA, and its context. */
#ifndef TESTS_MULTI_DPA_OPEN_H
#define TESTS_MULTI_DPA_OPEN_H

#include <doca_dev.h>
#include <doca_dpa.h>
#include <stdio.h>
#include <stdlib.h>

static struct doca_dev *dev;
static struct doca_dpa *dpa;

static void check_result(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	printf("%s: %s\n", what, doca_error_get_name(result));
	exit(1);
}

#define OK(call) check_result(call, #call)

/* Start @dpa with the kernels of @app. */
static void open_dpa(struct doca_dpa_app *app)
{
	struct doca_devinfo **list;
	uint32_t num = 0;

	OK(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && !dev; i++)
		if (doca_dpa_cap_is_supported(list[i]) == DOCA_SUCCESS)
			OK(doca_dev_open(list[i], &dev));
	OK(doca_devinfo_destroy_list(list));
	OK(doca_dpa_create(dev, &dpa));
	OK(doca_dpa_set_app(dpa, app));
	OK(doca_dpa_start(dpa));
}

#endif
