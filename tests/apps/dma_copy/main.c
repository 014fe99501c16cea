/* SPDX-License-Identifier: BSD-3-Clause */
/* dma_copy: copy a file between the host and the DPU. Start reading in copy.c. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_argp.h>

#include "args.h"
#include "copy.h"
#include "logs.h"

int main(int argc, char **argv)
{
	struct args args = { 0 };
	doca_error_t result = logs_start();

	if (result != DOCA_SUCCESS) {
		fprintf(stderr, "cannot log: %s\n", doca_error_get_descr(result));
		return EXIT_FAILURE;
	}
	result = args_parse(&args, argc, argv);
	doca_argp_destroy();
	if (result == DOCA_SUCCESS)
		result = copy_run(&args);
	return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
