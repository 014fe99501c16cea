/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: to the user about the arguments, to the log about wrong calls by the program. */
#include <stdio.h>

#include "argp_priv.h"

DOCA_LOG_REGISTER(DOCA_ARGP);

static void report_to_stderr(const char *format, va_list args)
{
	char line[512];

	vsnprintf(line, sizeof(line), format, args);
	fprintf(stderr, "%s: %s\n", shim_argp_program_name(), line);
}

void shim_argp_report(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (shim_argp.logger)
		shim_argp.logger(DOCA_LOG_LEVEL_ERROR, format, args);
	else
		report_to_stderr(format, args);
	va_end(args);
}

doca_error_t shim_argp_report_no_memory(void)
{
	shim_argp_report("out of memory while reading the arguments");
	return DOCA_ERROR_NO_MEMORY;
}

void shim_argp_log_misuse(const char *func, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	DOCA_LOG_ERR("%s(): %s", func, line);
}

doca_error_t shim_argp_check_open(const char *func)
{
	if (shim_argp.state == SHIM_ARGP_OPEN)
		return DOCA_SUCCESS;
	shim_argp_log_misuse(func, "%s",
			     shim_argp.state == SHIM_ARGP_OFF ? "call doca_argp_init() first" :
								"too late: doca_argp_start() was called");
	return DOCA_ERROR_BAD_STATE;
}
