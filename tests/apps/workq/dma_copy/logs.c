/* SPDX-License-Identifier: BSD-3-Clause */
/* Log outputs for the work-queue generation. */
#include "logs.h"

#include <stdio.h>

#include <doca_log.h>

/* The libraries' own records go to standard error by default. */
doca_error_t logs_start(void)
{
	struct doca_logger_backend *log;

	return doca_log_create_file_backend(stderr, &log);
}
