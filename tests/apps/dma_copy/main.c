/* SPDX-License-Identifier: BSD-3-Clause */
/* dma_copy: copy a file between the host and the DPU. Start reading in copy.c. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_argp.h>
#include <doca_log.h>

#include "args.h"
#include "copy.h"

/* The program's own records, and from the libraries what a user has to know.
 * Standard output is for the result alone. */
static doca_error_t start_logs(void)
{
	struct doca_log_backend *log, *sdk_log;
	doca_error_t result = doca_log_backend_create_with_file(stderr, &log);

	if (result == DOCA_SUCCESS)
		result = doca_log_backend_create_with_file_sdk(stderr, &sdk_log);
	if (result == DOCA_SUCCESS)
		result = doca_log_backend_set_sdk_level(sdk_log, DOCA_LOG_LEVEL_WARNING);
	return result;
}

int main(int argc, char **argv)
{
	struct args args = {0};
	doca_error_t result = start_logs();

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
