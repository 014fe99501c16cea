/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends log records of the program and of the libraries to their outputs. */
#include "logs.h"

#include <stdio.h>

#include <doca_log.h>

doca_error_t logs_start(void)
{
	struct doca_log_backend *log, *sdk_log;
	doca_error_t result = doca_log_backend_create_with_file(stderr, &log);

	if (result == DOCA_SUCCESS)
		result = doca_log_backend_create_with_file_sdk(stderr, &sdk_log);
	if (result == DOCA_SUCCESS)
		result = doca_log_backend_set_sdk_level(sdk_log, DOCA_LOG_LEVEL_WARNING);
	return result;
}
