/* SPDX-License-Identifier: BSD-3-Clause */
/* leak.c - opens a device and, with LEAK in its environment, loses some memory of its own. */
#include <stdlib.h>

#include <doca_dev.h>
#include <doca_error.h>

static void lose(void)
{
	*(volatile char *)malloc(4242) = 0;
}

int main(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t count;

	if (doca_devinfo_create_list(&list, &count) != DOCA_SUCCESS || count == 0)
		return EXIT_FAILURE;
	if (doca_dev_open(list[0], &dev) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	doca_devinfo_destroy_list(list);
	if (getenv("LEAK"))
		lose();
	return EXIT_SUCCESS; /* the device is left open, as in many programs */
}
