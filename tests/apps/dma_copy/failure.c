/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs the first error and keeps it for the other side. */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COPY);

static char first[512];

doca_error_t failure_report(doca_error_t error, const char *format, ...)
{
	char text[sizeof(first)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	DOCA_LOG_ERR("%s", text);
	if (!first[0])
		memcpy(first, text, sizeof(first));
	return error;
}

doca_error_t failure_report_errno(const char *what, const char *path)
{
	return failure_report(DOCA_ERROR_IO_FAILED, "Cannot %s %s: %s", what, path, strerror(errno));
}

doca_error_t check(doca_error_t result, const char *what)
{
	return result == DOCA_SUCCESS ? result :
					failure_report(result, "Cannot %s: %s", what, doca_error_get_descr(result));
}

const char *failure_first(void)
{
	return first;
}
