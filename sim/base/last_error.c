/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread's last error message. */
#include "last_error.h"

#include <stdarg.h>
#include <stdio.h>

#include "printable.h"

#define ERROR_SIZE 2048

static _Thread_local char last_error[ERROR_SIZE];

int sim_set_error(int rc, const char *format, ...)
{
	char line[ERROR_SIZE]; /* an argument may be the old message itself */
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	sim_make_printable(line);
	snprintf(last_error, sizeof(last_error), "%s", line);
	return rc;
}

const char *sim_last_error(void)
{
	return last_error;
}
