/* SPDX-License-Identifier: BSD-3-Clause */
/* The same for the work-queue generation. */
#define DOCA_ALLOW_EXPERIMENTAL_API
#define DOCA_LOGGING_ALLOW_DLOG

#include <doca_log.h>

#include "test_macros_trace.h"

DOCA_LOG_REGISTER(ABI::TRACE)

int trace_file_source(void)
{
	return log_source;
}

void trace_file_log(int value)
{
	DOCA_DLOG_WARN("developer %d", value);
}
