/* SPDX-License-Identifier: BSD-3-Clause */
/* The first device and its representor, for the programs that communicate. */
#include "old_card.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef OLD_IS_2_2
#define DOCA_DEVINFO_REP_FILTER_NET   DOCA_DEV_REP_FILTER_NET
#define doca_devinfo_create_list      doca_devinfo_list_create
#define doca_devinfo_destroy_list     doca_devinfo_list_destroy
#define doca_devinfo_rep_create_list  doca_devinfo_rep_list_create
#define doca_devinfo_rep_destroy_list doca_devinfo_rep_list_destroy
#define doca_error_get_descr          doca_get_error_string
#endif

void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_descr(result));
	exit(EXIT_FAILURE);
}

struct doca_dev *open_first(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	must(doca_devinfo_create_list(&list, &num), "list the devices");
	must(num > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a device");
	must(doca_dev_open(list[0], &dev), "open a device");
	must(doca_devinfo_destroy_list(list), "free the list");
	return dev;
}

struct doca_dev_rep *open_first_rep(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep;
	uint32_t num;

	must(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num), "list the representors");
	must(num > 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "find a representor");
	must(doca_dev_rep_open(list[0], &rep), "open a representor");
	must(doca_devinfo_rep_destroy_list(list), "free the list");
	return rep;
}
